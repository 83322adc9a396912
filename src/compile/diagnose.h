/*
 * Turns NVRTC's log into a message for a person. Internal to compile/.
 */
#ifndef PMPP_COMPILE_DIAGNOSE_H
#define PMPP_COMPILE_DIAGNOSE_H

#include "base/err.h"

/*
 * ERR_COMPILE from @log: errors first and, where there is room, warnings, as "file:line: error:
 * ..." with the source line and a caret below. @file and @source are what was compiled. @ptx, when
 * not NULL, is what the assembler refused: its lines are traced back to the source. Returns false.
 */
bool diagnose(const char *log, const char *file, const char *source, const char *ptx,
              struct err *err);

#endif
