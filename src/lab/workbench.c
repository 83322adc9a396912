/* The compiled module and the open back end; see workbench.h. */
#include "workbench.h"

#include "choose.h"
#include "registry.h"

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
	if (w->ops && w->ops->rest)
		w->ops->rest(w->be);
#ifdef __GLIBC__
	malloc_trim(0); /* threads' heaps else keep what was freed in them */
#endif
}

void workbench_close(struct workbench *w)
{
	close_backend(w);
	if (w->has_module)
		module_free(&w->module);
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
	if (w->has_module)
		module_free(&w->module);
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
