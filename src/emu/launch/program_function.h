/* A kernel of a program's module. */
#ifndef PMPP_EMU_PROGRAM_FUNCTION_H
#define PMPP_EMU_PROGRAM_FUNCTION_H

#include "ptx/ptx.h"

struct emu_function {
	struct emu_module *module;
	const struct ptx_func *func;
};

/* The file that the lines of its instructions are of; NULL = no line table. */
const char *emu_function_file(const struct emu_function *f);

#endif
