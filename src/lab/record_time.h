/* What the time model says of a run, put into its record. */
#ifndef PMPP_LAB_RECORD_TIME_H
#define PMPP_LAB_RECORD_TIME_H

#include "model/session.h"

/* The kernel: record.perf, and time.*, roof.*, dram.*, l2.* as perf_metrics() says. Needs sel,
 * plan, occ, counts and cost. */
void record_time(struct run_record *r);
/* What surrounds it: record.program, record.timeline, record.init, stream.*. From spans where they
 * show every operation, else modelled. Without a kernel time they stay NULL. */
void record_timeline(struct run_record *r);

#endif
