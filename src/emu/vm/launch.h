/* One launch: device memory, parameters, the program, and its end. */
#ifndef PMPP_EMU_LAUNCH_H
#define PMPP_EMU_LAUNCH_H

#include "backend/backend.h"
#include "emu/vm/emu_vm.h"

/* Everything before the first block. @l is zeroed; on failure too, launch_free() it. */
bool launch_prepare(struct launch *l, const struct run_request *req, const struct run_hooks *hooks,
                    const struct gpu_spec *gpu, const struct ptx_module *module, struct err *err);
void launch_results(struct launch *l, struct run_result *res);
void launch_free(struct launch *l);

#endif
