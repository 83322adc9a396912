/*
 * PTX text and a launch, run on the emulator in the ways it can run: reference or fast, each
 * instruction-set level, one or more threads. Shared by the emulator's unit tests.
 */
#ifndef PMPP_TEST_EMU_FIXTURE_H
#define PMPP_TEST_EMU_FIXTURE_H

#include "../unit.h"
#include "backend/backend.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef EMU_SHEET
#define EMU_SHEET "a100"
#endif
#define PTX_HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

struct emu_way {
	const char *name, *isa;
	bool reference;
	unsigned threads;
};
static const struct emu_way emu_ways[] = {
	{ "reference", "", true, 1 },        { "sse", "sse", false, 1 }, { "avx2", "avx2", false, 1 },
	{ "best, 2 threads", "", false, 2 }, { "best", "", false, 1 },
};

struct emu_case {
	char *ptx;
	struct launch_plan plan;
	struct run_buffer buffers[KERNEL_MAX_BUFFERS];
	struct run_result res;
	struct err err;
	bool check_races;
	uint64_t max_blocks;
	double timeout_s;
	const struct run_hooks *hooks;
};

static inline void emu_launch(struct emu_case *c, const char *entry, struct dim3u grid,
                              struct dim3u block)
{
	c->plan.entry = entry;
	c->plan.grid = grid;
	c->plan.block = block;
}

/* Adds a buffer and the argument that passes it; returns its zeroed memory. */
static inline void *emu_buffer(struct emu_case *c, const char *name, enum elem_type type,
                               enum buffer_role role, size_t count)
{
	const unsigned i = c->plan.n_buffers++;
	c->plan.buffers[i] =
		(struct buffer_plan){ .name = name, .type = type, .role = role, .count = count };
	c->plan.args[c->plan.n_args++] = (struct kernel_arg){ .kind = ARG_BUFFER, .buffer = i };
	c->buffers[i].bytes = count * elem_size(type);
	c->buffers[i].data = mem_zalloc(c->buffers[i].bytes);
	return c->buffers[i].data;
}

static inline void emu_arg(struct emu_case *c, int32_t value)
{
	c->plan.args[c->plan.n_args++] = (struct kernel_arg){ .kind = ARG_I32, .i32 = value };
}

static inline bool emu_run_way(struct emu_case *c, const struct emu_way *way)
{
	static struct backend *be;
	struct module m = { .ptx = c->ptx, .ptx_len = strlen(c->ptx) };
	struct run_request req = {
		.module = &m,
		.plan = &c->plan,
		.source_file = "test.cu",
		.threads = way->threads,
		.check_races = c->check_races ? RACES_ALL : RACES_OFF,
		.max_blocks = c->max_blocks,
		.timeout_s = c->timeout_s,
	};
	memcpy(req.buffers, c->buffers, sizeof req.buffers);
	if (!be && !backend_emu.open(&be, gpu_find(EMU_SHEET), &c->err))
		return false;
	setenv("PMPP_EMU_ISA", way->isa, 1);
	setenv("PMPP_EMU_REFERENCE", way->reference ? "1" : "0", 1);
	run_result_free(&c->res);
	err_clear(&c->err);
	return backend_emu.run(be, &req, c->hooks, &c->res, &c->err);
}

/* Runs the best way and requires success. */
static inline void emu_must_run(struct emu_case *c)
{
	if (!emu_run_way(c, &emu_ways[ARRAY_LEN(emu_ways) - 1]))
		fail_msg("%s", c->err.msg);
}

static inline void emu_case_free(struct emu_case *c)
{
	for (unsigned i = 0; i < c->plan.n_buffers; i++)
		free(c->buffers[i].data);
	run_result_free(&c->res);
	free(c->ptx);
	*c = (struct emu_case){ 0 };
}

/* The first count that differs, or NULL. */
static inline const char *emu_counts_differ(const struct counts *a, const struct counts *b)
{
#define X(field, ...)         \
	if (a->field != b->field) \
		return #field;
	COUNT_FIELDS(X)
#undef X
	return NULL;
}

/* The same bits, or both no number. */
static inline bool emu_same_floats(const float *a, const float *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const bool same = !(a[i] < b[i]) && !(a[i] > b[i]) && signbit(a[i]) == signbit(b[i]);
		if (isnan(a[i]) || isnan(b[i]) ? isnan(a[i]) != isnan(b[i]) : !same)
			return false;
	}
	return true;
}

#endif
