/* Costs of instruction classes, from their table; see inst_class.def. */
#include "timemodel/timing_program.h"

#include "timemodel/constants.h"

float inst_issued(enum inst_class c, bool wide)
{
	static const float issued[INST_CLASS_COUNT][2] = {
#define X(id, pipe, narrow, wide_, first, more, what) [INST_##id] = { narrow, wide_ },
#include "timemodel/inst_class.def"
#undef X
	};
	return issued[c][wide];
}

enum sm_pipe inst_pipe(enum inst_class c)
{
	static const enum sm_pipe pipes[INST_CLASS_COUNT] = {
#define X(id, pipe, narrow, wide, first, more, what) [INST_##id] = SM_PIPE_##pipe,
#include "timemodel/inst_class.def"
#undef X
	};
	return pipes[c];
}

double inst_latency_cycles(enum inst_class c, double issued)
{
	switch (c) {
#define X(id, pipe, narrow, wide, first, more, what) \
	case INST_##id: return (first) + (issued - 1) * (more);
#include "timemodel/inst_class.def"
#undef X
	default: return 0;
	}
}

bool inst_orders_memory(const struct timing_inst *i)
{
	return i->space != MEMORY_NONE && i->space != MEMORY_CONST;
}
