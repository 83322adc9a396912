/* A kernel of a program's module. */
#ifndef PMPP_EMU_PROGRAM_FUNCTION_H
#define PMPP_EMU_PROGRAM_FUNCTION_H

#include "ptx/ptx.h"

struct emu_function {
	struct emu_module *module;
	const struct ptx_func *func;
};

#endif
