/*
 * A program on a real GPU: from what CUPTI saw, in no order, to launches and copies in the order of
 * the program's calls. Private to runtime/.
 */
#ifndef PMPP_RUNTIME_PROGRAM_MEASURED_H
#define PMPP_RUNTIME_PROGRAM_MEASURED_H

#include "model/whole_program.h"
#include "runtime/record.h"

/* What is known of a run beyond its launches and copies. */
struct measured;
struct measured *measured_new(void);
void measured_free(struct measured *m);
/* Takes one frame; launches and copies stand in @p at once, numbered as they come. False: it is
 * malformed; @err says which record. */
bool measured_take(struct measured *m, struct program *p, struct wire_msg *msg, struct err *err);
/* After the last frame: order, numbers, streams, metrics with their origin. In front of
 * program_sum_up(). */
void measured_finish(struct measured *m, struct program *p);

/* kernel_facts.c: registers, bounds and source files of kernels whose machine code is in the
 * executable @path. In front of measured_finish(). */
void program_read_code(struct program *p, const char *path);

/* program_gauge.c: metrics of a launch as the GPU told them; @c: its counters, NULL = none were
 * read, because of @why (lasting text). */
void gauge_launch(const struct program *p, struct program_launch *l,
                  const struct record_measured *c, const char *why);

#endif
