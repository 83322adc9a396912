/* The compiled module and the open back end; see workbench.h. */
#include "workbench.h"

#include "choose.h"
#include "head_start.h"
#include "registry.h"

#include "compile/disassemble.h"

#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static void close_backend(struct workbench *w)
{
	if (w->ops)
		w->ops->close(w->be);
	w->ops = NULL;
	w->be = NULL;
}

void workbench_rest(struct workbench *w)
{
	run_buffers_free(&w->kept);
	if (w->ops && w->ops->rest)
		w->ops->rest(w->be);
#ifdef __GLIBC__
	malloc_trim(0); /* threads' heaps else keep what was freed in them */
#endif
}

static void drop_module(struct workbench *w)
{
	if (w->has_module)
		module_free(&w->module);
	if (w->code_state == CODE_THERE)
		sass_free(&w->code);
	w->code_state = CODE_NOT_ASKED;
}

void workbench_close(struct workbench *w)
{
	head_start_end(w);
	run_buffers_free(&w->kept);
	close_backend(w);
	drop_module(w);
	w->has_module = false;
}

bool workbench_compile(struct workbench *w, const struct selection *sel, const atomic_bool *cancel,
                       struct err *err)
{
	const struct kernel_desc *k = sel->kernel;
	struct build_id id;
	build_id_of(sel, &id);
	if (w->has_module && build_id_equal(&w->id, &id))
		return true;

	struct compile_macro macros[KERNEL_MAX_PARAMS];
	const unsigned n = kernel_macros(k, id.macros, macros);
	char file[64];
	const struct compile_request req = {
		.file = kernel_file(k, file, sizeof file),
		.source = k->device_source ? k->device_source : kernel_source(k),
		.n_macros = n,
		.macros = macros,
		.cc_major = sel->gpu->cc_major,
		.cc_minor = sel->gpu->cc_minor,
		.cancel = cancel,
		.own = k->own_build,
	};
	struct module m = { 0 };
	if (!compile_module(&req, &m, err))
		return false;
	drop_module(w);
	w->module = m;
	w->id = id;
	w->has_module = true;
	return true;
}

bool workbench_open(struct workbench *w, const struct selection *sel, struct err *err)
{
	const struct backend_ops *ops = backend_find(sel->backend);
	if (!ops)
		return backend_named(sel->backend, err) &&
		       err_set(err, ERR_INTERNAL, "back end '%s' was not chosen", sel->backend);
	if (w->ops == ops && w->be_gpu == sel->gpu)
		return true;
	close_backend(w);
	const struct backend_status *st = backend_probe(ops);
	if (!st->usable) {
		if (err)
			*err = st->err;
		return err_prefix(err, "back end '%s': ", ops->name);
	}
	if (!ops->open(&w->be, sel->gpu, err))
		return false;
	w->ops = ops;
	w->be_gpu = sel->gpu;
	return true;
}

/* --- machine code --- */

/* Reads the listing, or keeps why there is none; a cancelled one may be asked for again. */
static void take_listing(struct workbench *w, bool found, const struct text *listing)
{
	const struct module *m = &w->module;
	if (found &&
	    sass_read(&w->code, m->cubin, m->cubin_len, listing->s, listing->len, &w->code_err))
		w->code_state = CODE_THERE;
	else if (w->code_err.code != ERR_CANCELLED)
		w->code_state = CODE_MISSING;
}

bool workbench_code_ready(struct workbench *w)
{
	struct text listing = { 0 };
	char path[4096];
	if (w->code_state != CODE_NOT_ASKED)
		return true;
	w->code_err = (struct err){ 0 };
	if (!w->module.cubin) {
		err_set(&w->code_err, ERR_UNAVAILABLE, "the cache holds no machine code of this module");
		err_remedy(&w->code_err, "a compiler makes it: see pmpp-explore doctor");
		w->code_state = CODE_MISSING;
	} else if (disassembled(w->module.cubin, w->module.cubin_len, &listing)) {
		take_listing(w, true, &listing);
	} else if (!disassembler_find(path, sizeof path, &w->code_err)) {
		w->code_state = CODE_MISSING;
	}
	text_free(&listing);
	return w->code_state != CODE_NOT_ASKED;
}

const struct sass_module *workbench_code(struct workbench *w, const atomic_bool *cancel,
                                         struct err *err)
{
	struct text listing = { 0 };
	if (!workbench_code_ready(w)) {
		const bool found =
			disassemble(w->module.cubin, w->module.cubin_len, cancel, &listing, &w->code_err);
		take_listing(w, found, &listing);
		text_free(&listing);
	}
	if (w->code_state == CODE_THERE)
		return &w->code;
	if (err)
		*err = w->code_err;
	return NULL;
}
