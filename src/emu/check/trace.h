/* What the observed warp (block 0, warp 0) does: its path and the first run of each access. */
#ifndef PMPP_EMU_TRACE_H
#define PMPP_EMU_TRACE_H

#include "emu/vm/emu_vm.h"
#include "model/counts.h"

struct trace {
	unsigned n_steps, n_accesses;
	bool cut;
	struct mask_step steps[TRACE_MAX_STEPS];
	struct access_sample accesses[TRACE_MAX_ACCESSES];
	uint32_t access_mem[TRACE_MAX_ACCESSES]; /* memory number, for the executions */
	uint8_t *seen;                           /* by memory number and space */
};
struct trace *trace_new(const struct image *im);
void trace_free(struct trace *t);

#endif
