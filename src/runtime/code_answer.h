/*
 * Machine code of a program's modules: for its runtime, which can neither assemble nor disassemble
 * it, and for whoever lists it.
 */
#ifndef PMPP_RUNTIME_CODE_ANSWER_H
#define PMPP_RUNTIME_CODE_ANSWER_H

#include "base/wire.h"
#include "model/whole_program.h"

#include <stdatomic.h>

/* Answers the request that @m holds, to descriptor @fd, and keeps what it gave with the module of
 * @p. Blocks while tools run. */
void code_answer(int fd, struct wire_msg *m, struct program *p, const atomic_bool *cancel);
/*
 * The module's machine code for the GPU of @p and its disassembly: what ran or lies in the program,
 * else what the assembler makes of its PTX. Blocks while tools run. False: there is none, with the
 * reason.
 */
bool code_need(const struct program *p, struct program_module *m, const atomic_bool *cancel,
               struct err *err);

#endif
