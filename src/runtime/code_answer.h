/* Machine code for a program's runtime, which can neither assemble nor disassemble it. */
#ifndef PMPP_RUNTIME_CODE_ANSWER_H
#define PMPP_RUNTIME_CODE_ANSWER_H

#include "base/wire.h"

#include <stdatomic.h>

/* Answers the request that @m holds, to descriptor @fd. Blocks while tools run. */
void code_answer(int fd, struct wire_msg *m, const atomic_bool *cancel);

#endif
