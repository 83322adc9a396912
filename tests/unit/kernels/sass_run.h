/*
 * For tests of machine code in the emulator: a shipped kernel compiled once, and launches of it as
 * PTX and as machine code, with their outputs and counts.
 */
#ifndef PMPP_TEST_SASS_RUN_H
#define PMPP_TEST_SASS_RUN_H

#include "../sass/sass_fixture.h"

#include "base/mem.h"
#include "emu/launch/launch.h"
#include "model/kernel_check.h"
#include "ptx/ptx.h"

/* One family, compiled with the values of its compile parameters. */
struct built {
	const struct kernel_desc *kernel;
	char file[64];
	struct module module;
	struct ptx_module ptx;
	struct sass_module sass;
};

static inline void built_free(struct built *b)
{
	sass_free(&b->sass);
	ptx_free(&b->ptx);
	module_free(&b->module);
}

static inline void build(const struct kernel_desc *k, const int64_t *params, unsigned sm,
                         struct built *b)
{
	struct compile_macro macros[KERNEL_MAX_PARAMS];
	struct text listing = { 0 };
	struct err err = { 0 };
	*b = (struct built){ .kernel = k };
	const struct compile_request req = {
		.file = kernel_file(k, b->file, sizeof b->file),
		.source = kernel_source(k),
		.n_macros = kernel_macros(k, params, macros),
		.macros = macros,
		.cc_major = (int)sm / 10,
		.cc_minor = (int)sm % 10,
	};
	if (!compile_module(&req, &b->module, &err) ||
	    !ptx_parse(b->module.ptx, req.file, &b->ptx, &err) ||
	    !disassemble(b->module.cubin, b->module.cubin_len, NULL, &listing, &err) ||
	    !sass_read(&b->sass, b->module.cubin, b->module.cubin_len, listing.s, listing.len, &err))
		fail_msg("%s for sm_%u: %s", req.file, sm, err.msg);
	text_free(&listing);
}

struct outcome {
	unsigned n;
	size_t bytes[KERNEL_MAX_BUFFERS];
	void *data[KERNEL_MAX_BUFFERS];
	struct run_result res;
	bool ran;
	struct err err;
};

static inline void outcome_free(struct outcome *o)
{
	for (unsigned b = 0; b < o->n; b++)
		free(o->data[b]);
	run_result_free(&o->res);
}

static inline const struct gpu_spec *sheet_of(unsigned sm)
{
	for (size_t g = 0; g < gpu_count(); g++)
		if ((unsigned)(gpu_at(g)->cc_major * 10 + gpu_at(g)->cc_minor) == sm)
			return gpu_at(g);
	fail_msg("no sheet of an sm_%u", sm);
	return NULL;
}

/* @sass NULL: the PTX. */
static inline void run_level(const struct built *b, const struct launch_plan *plan,
                             const int64_t *params, const struct sass_module *sass,
                             struct outcome *o)
{
	struct emu_launch l = { .sass = sass };
	struct run_request req = {
		.module = &b->module, .plan = plan, .source_file = b->file, .threads = 1, .timeout_s = 600
	};
	*o = (struct outcome){ .n = plan->n_buffers };
	for (unsigned n = 0; n < o->n; n++) {
		const struct buffer_plan *bp = &plan->buffers[n];
		o->bytes[n] = bp->count * elem_size(bp->type);
		o->data[n] = mem_aligned(256, o->bytes[n]);
		memset(o->data[n], 0xff, o->bytes[n]);
		if (bp->role != BUF_OUT || bp->partial)
			b->kernel->fill(plan, params, n, 1, o->data[n]);
		req.buffers[n] = (struct run_buffer){ .data = o->data[n], .bytes = o->bytes[n] };
	}
	o->ran = emu_launch_prepare(&l, &req, NULL, sheet_of(b->sass.cubin.sm), &b->ptx, &o->err) &&
	         emu_launch_run(&l, &o->err);
	if (o->ran)
		emu_launch_results(&l, &o->res);
	emu_launch_free(&l);
}

#endif
