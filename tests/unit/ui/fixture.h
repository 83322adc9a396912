/*
 * Sessions as literals: a plausible tiled sgemm on an A100, a reduction, and every way in which
 * there is nothing to show. Figures are set, not computed, so that goldens change with ui/ only.
 */
#ifndef TESTS_UI_FIXTURE_H
#define TESTS_UI_FIXTURE_H

#include "base/mem.h"
#include "base/text.h"
#include "model/brief.h"
#include "model/ladder.h"
#include "model/program_session.h"
#include "model/session.h"
#include "model/sweep_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every state that a view must cope with. X(name): struct session *fixture_name(void), freed with
 * fixture_free(). Goldens and sweeps go through this list. */
#define FIXTURES(X)         \
	X(done)                 \
	X(sampled)              \
	X(reduced)              \
	X(none)                 \
	X(first)                \
	X(running)              \
	X(compiling)            \
	X(compile_error)        \
	X(refused)              \
	X(failed)               \
	X(cancelled)            \
	X(wrong)                \
	X(no_counts)            \
	X(measured)             \
	X(hardware)             \
	X(no_kernel)            \
	X(ladder)               \
	X(ladder_reference)     \
	X(map)                  \
	X(streams)              \
	X(reference_run)        \
	X(reference_run_hidden) \
	X(opened)               \
	X(tour)                 \
	X(tour_judged)          \
	X(mystery)              \
	X(program)              \
	X(program_moved)        \
	X(program_faulty)       \
	X(program_chosen)       \
	X(program_running)      \
	X(program_error)        \
	X(program_idle)
#define X(name) struct session *fixture_##name(void);
FIXTURES(X)
#undef X
void fixture_free(struct session *s);
/* @s, whose run failed with an error of that text, and a remedy unless NULL. Returns @s. */
struct session *fixture_with_error(struct session *s, enum err_code code, const char *text,
                                   const char *remedy);

struct fixture {
	const char *name;
	struct session *(*make)(void);
};
extern const struct fixture fixtures[];
extern const size_t n_fixtures;
/* NULL = there is none of that name. */
const struct fixture *fixture_named(const char *name);

/* --- what fixtures are made of --- */

extern const struct kernel_desc fixture_sgemm, fixture_reduction;
extern const struct param_desc fixture_sgemm_params[4]; /* M, N, K, TILE */
extern const char fixture_sgemm_source[], fixture_reduction_source[];
const struct gpu_spec *fixture_a100(void);
/* A kernel with its default parameters on the A100; nothing has run. */
struct session *fixture_session(const struct kernel_desc *k, unsigned variant);
/* The instant part of a session: a block of @threads with 32 registers and @shared bytes. */
void fixture_occupancy(struct session *s, unsigned threads, unsigned shared);

struct fixture_metric {
	enum metric_id id;
	enum origin origin;
	double value;
};
void fixture_metrics(struct run_record *r, const struct fixture_metric *list, size_t n);

struct fixture_line {
	uint32_t line;
	uint64_t warps, lanes;
};
/* Makes the record's lines; what else a line counts is set by the caller. */
struct line_counts *fixture_lines(struct run_record *r, const struct fixture_line *list,
                                  unsigned n);
/* Makes the record's accesses, all 32 lanes active, 4 bytes each, every offset 0. */
struct access_sample *fixture_accesses(struct run_record *r, const struct access_sample *list,
                                       unsigned n);
/* Machine code that was counted (fixture_code.c). */
void fixture_code(struct run_record *r);
/* Buffers as a launch left them (fixture_data.c). */
struct buffer_looks *fixture_data(void);
/* Copies in, kernel, copy out, as activity records would show them. */
void fixture_spans(struct run_record *r, double kernel_ns);

#endif
