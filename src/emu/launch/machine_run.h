/* The machine code of a launch, after its PTX: counts as hardware has them, and a check of both. */
#ifndef PMPP_EMU_MACHINE_RUN_H
#define PMPP_EMU_MACHINE_RUN_H

#include "emu/launch/launch.h"

/* The module that was disassembled last; all zero: none. */
struct machine_code {
	bool there;
	uint64_t hash;
	size_t length;
	struct sass_module module;
};
void machine_code_free(struct machine_code *c);

/* Buffers as they are before the PTX runs, of those that a kernel may change; NULL: of the others,
 * and where no machine code is to run. */
struct machine_buffers {
	void *data[KERNEL_MAX_BUFFERS];
};
void machine_buffers_save(struct machine_buffers *b, const struct run_request *req);
void machine_buffers_free(struct machine_buffers *b, const struct run_request *req);

/*
 * Runs the machine code of req's module on @b and puts its counts, of the launch and of its lines,
 * into @res, the result of the PTX; res->level then tells whose they are, res->note whether the
 * outputs are the same. False, with @res untouched: there is no machine code, or the emulator does
 * not know an instruction of it.
 */
bool machine_run(struct machine_code *c, struct machine_buffers *b, const struct run_request *req,
                 const struct run_hooks *hooks, const struct gpu_spec *gpu,
                 const struct ptx_module *ptx, struct run_result *res, struct err *err);

#endif
