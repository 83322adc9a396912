/*
 * The stream program around one kernel: inputs up, kernel, outputs down, in chunks and streams.
 *
 * The usual pipeline of PMPP 20.5 and CUDA guide 3.2.8.5. A family whose parameters include any of
 * the names below (kind PARAM_STREAM) can have it turned; the others get one chunk in one stream.
 */
#ifndef PMPP_MODEL_STREAM_PLAN_H
#define PMPP_MODEL_STREAM_PLAN_H

#include "base/enum_list.h"
#include "model/kernel.h"
#include "model/stream.h"

/* X(ID, "word", "what it is") */
#define STREAM_DEALS(X)                                                                   \
	X(DEAL_PIECES, "pieces", "a piece's copies and kernel in one stream, pieces in turn") \
	X(DEAL_ENGINES, "engines",                                                            \
	  "copies up, kernels, copies down in a stream each; events order them")              \
	X(DEAL_TRAP, "trap", "like pieces, but results come down by plain cudaMemcpy: default stream")

enum stream_deal { STREAM_DEALS(LIST_ID) };

struct stream_knobs {
	unsigned streams;      /* "streams": 0 = everything in the legacy default stream */
	unsigned chunks;       /* "chunks": pieces of the data, dealt to the streams in turn */
	bool pinned;           /* "pinned": page-locked host memory */
	bool resident;         /* "resident": data stays on the device; no copies */
	enum stream_deal deal; /* "deal": who goes into which stream */
};

void stream_knobs_of(const struct kernel_desc *k, unsigned variant, const int64_t *params,
                     struct stream_knobs *out);
/* @share: part of the SMs the whole kernel fills, 0..1. */
void stream_pipeline(const struct launch_plan *plan, const struct stream_knobs *knobs,
                     double kernel_ns, double share, struct stream_program *out);
/* The family's own program or the pipeline. */
void kernel_stream_program(const struct kernel_desc *k, unsigned variant,
                           const struct launch_plan *plan, const int64_t *params, double kernel_ns,
                           double share, struct stream_program *out);

/* Kernels of a program differ in their piece of the data only, and pieces in at most one element.
 */
#define STREAM_LAUNCHES 2
/* The launches that stream_op.launch means: @plan, or the family's plan for N = a piece's count. */
bool stream_launches(const struct kernel_desc *k, unsigned variant, const struct launch_plan *plan,
                     const int64_t *params, const struct stream_program *p, struct launch_plan *out,
                     struct err *err);

#endif
