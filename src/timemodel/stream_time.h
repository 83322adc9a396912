/*
 * How long a stream program takes on a GPU sheet, and what a GPU's own spans say of it.
 *
 * The model gives every operation a span, with CUDA's rules: a stream is a queue; one copy engine
 * per direction (PCIe is full duplex; a sheet with one engine shares it); copies and kernels
 * overlap across streams; the legacy default stream (0) waits for all others and they for it; a
 * copy of pageable memory is staged by the host and holds the calling thread, even when it is asked
 * to be asynchronous. CUDA programming guide 3.2.8; PMPP 20.5. Runs no kernel: their time is given.
 */
#ifndef PMPP_TIMEMODEL_STREAM_TIME_H
#define PMPP_TIMEMODEL_STREAM_TIME_H

#include "base/err.h"
#include "model/gpu.h"
#include "model/span.h"
#include "model/stream.h"

/* What the model takes for calls and copies; GB/s are bytes per ns. */
struct stream_rates {
	double copy_call_ns, launch_call_ns; /* host: one asynchronous call */
	double held_ns, staged_ns;     /* host: beyond the copy's end, when the call waits for it; of
	                                * pageable memory, which is staged */
	double copy_latency_ns;        /* fixed cost of one copy */
	double pinned_gbs, duplex_gbs; /* alone; while the other direction is busy */
	double pageable_gbs[2];        /* up, down: staged by the host */
};
/* The sheet's figures; where it has none, the H200's as shares of the link. */
struct stream_rates stream_rates_of(const struct gpu_spec *g);

/* ERR_USAGE: a wait on an event that nothing records before it, a stream out of range. */
bool stream_run(const struct stream_program *p, const struct gpu_spec *g,
                const struct stream_rates *rates, struct stream_outcome *out, struct err *err);

/* The same from what a GPU did: stream_seen.c. A span belongs to op correlation - 1, be it the call
 * or its work. False, with @out untouched, unless every copy and kernel of @p was seen. */
bool stream_seen(const struct stream_program *p, const struct span *spans, unsigned n,
                 struct stream_outcome *out);

/* Measured where @spans have it, else modelled: stream_init.c. */
void stream_init_of(const struct stream_program *p, const struct span *spans, unsigned n,
                    struct stream_init *out);

/* For both: serial time, overlap and critical path from spans, busy times and makespan.
 * @held_by: op whose end let the call of an op return; -1 = it did not wait. */
void stream_sum_up(const struct stream_program *p, const int *held_by, struct stream_outcome *out);

#endif
