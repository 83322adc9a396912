/* Records, one after the other, into a struct program. Private to runtime/. */
#ifndef PMPP_RUNTIME_PROGRAM_COLLECT_H
#define PMPP_RUNTIME_PROGRAM_COLLECT_H

#include "model/whole_program.h"
#include "runtime/record.h"

/* Takes one frame. False: it is malformed; @err says which record. */
bool program_collect(struct program *p, struct wire_msg *m, struct err *err);

#endif
