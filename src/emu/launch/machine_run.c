/* Runs a launch's machine code after its PTX; see launch.h. */
#include "emu/launch/launch.h"

#include "base/mem.h"
#include "base/text.h"
#include "compile/disassemble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void machine_code_free(struct machine_code *c)
{
	if (c->there)
		sass_free(&c->module);
	*c = (struct machine_code){ .there = false };
}

bool machine_code_find(struct machine_code *c, const struct module *m, const atomic_bool *cancel,
                       struct err *err)
{
	struct text listing = { 0 };
	if (!m->cubin)
		return err_set(err, ERR_UNAVAILABLE, "the cache holds no machine code of this module");
	const uint64_t hash = hash_bytes(HASH_SEED, m->cubin, m->cubin_len);
	if (c->there && c->hash == hash && c->length == m->cubin_len)
		return true;
	machine_code_free(c);
	c->there = disassemble(m->cubin, m->cubin_len, cancel, &listing, err) &&
	           sass_read(&c->module, m->cubin, m->cubin_len, listing.s, listing.len, err);
	c->hash = hash;
	c->length = m->cubin_len;
	text_free(&listing);
	return c->there;
}

static bool changes(const struct run_request *req, unsigned b)
{
	return req->plan->buffers[b].role != BUF_IN;
}

void machine_buffers_save(struct machine_buffers *b, const struct run_request *req)
{
	for (unsigned n = 0; n < req->plan->n_buffers; n++) {
		if (!changes(req, n) || !req->buffers[n].bytes)
			continue;
		b->data[n] = mem_pages(req->buffers[n].bytes); /* all of it is written */
		memcpy(b->data[n], req->buffers[n].data, req->buffers[n].bytes);
	}
}

void machine_buffers_free(struct machine_buffers *b, const struct run_request *req)
{
	for (unsigned n = 0; n < req->plan->n_buffers; n++)
		free(b->data[n]);
	*b = (struct machine_buffers){ .data = { NULL } };
}

/* The same bits, or both no number: which of them an operation gives, PTX leaves open. */
static bool same_values(enum elem_type type, const void *a, const void *b, size_t bytes)
{
	const float *x = a, *y = b;
	const double *v = a, *w = b;
	if (!memcmp(a, b, bytes))
		return true;
	if (type != ELEM_F32 && type != ELEM_F64)
		return false;
	for (size_t i = 0; i < bytes / elem_size(type); i++) {
		const bool same = type == ELEM_F32
		                      ? bits_f32(x[i]) == bits_f32(y[i]) || (x[i] != x[i] && y[i] != y[i])
		                      : bits_f64(v[i]) == bits_f64(w[i]) || (v[i] != v[i] && w[i] != w[i]);
		if (!same)
			return false;
	}
	return true;
}

/* Do outputs depend on the order of the blocks, which is another one each time? */
static bool order_matters(const struct ir *ir)
{
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		const struct xop *x = &ir->ops[o];
		const bool sum_of_floats = x->op == ATOM_ADD && x->type >= PTX_F16 && x->type <= PTX_F64;
		if ((x->kind == X_ATOM || x->kind == X_RED) && x->space != SPACE_SHARED &&
		    ((x->kind == X_ATOM && !x->blind) || x->op == ATOM_EXCH || sum_of_floats))
			return true;
	}
	return false;
}

/* The first output that is not what the PTX gave; NULL = all are. */
static const char *differing_output(const struct machine_buffers *b, const struct run_request *req)
{
	for (unsigned n = 0; n < req->plan->n_buffers; n++)
		if (b->data[n] && !same_values(req->plan->buffers[n].type, b->data[n], req->buffers[n].data,
		                               req->buffers[n].bytes))
			return req->plan->buffers[n].name;
	return NULL;
}

static void tell(struct run_result *res, const struct sass_module *m, const char *differs,
                 bool by_order)
{
	const size_t n = strlen(res->note);
	sass_title(m, res->level, sizeof res->level);
	if (differs && by_order)
		snprintf(res->note + n, sizeof res->note - n,
		         "%sthe machine code gave another %s than the PTX, as it may: that depends on the "
		         "order in which blocks run",
		         n ? "; " : "", differs);
	else if (differs)
		snprintf(res->note + n, sizeof res->note - n,
		         "%sthe machine code gives another %s than the PTX", n ? "; " : "", differs);
}

bool machine_run(struct machine_code *c, struct machine_buffers *b, struct arena_spare *spare,
                 const struct run_request *req, const struct run_hooks *hooks,
                 const struct gpu_spec *gpu, const struct ptx_module *ptx, struct run_result *res,
                 struct err *err)
{
	const struct run_hooks quiet = { .cancel = hooks ? hooks->cancel : NULL };
	struct run_request own = *req;
	struct run_result result = { .wall_s = 0 };
	if (!machine_code_find(c, req->module, quiet.cancel, err))
		return false;
	for (unsigned n = 0; n < req->plan->n_buffers; n++)
		if (b->data[n])
			own.buffers[n].data = b->data[n];
	struct emu_launch l = { .sass = &c->module, .spare = spare };
	const bool ok = emu_launch_prepare(&l, &own, &quiet, gpu, ptx, err) && emu_launch_run(&l, err);
	if (ok) {
		run_counts_clear(&result.counts, "");
		emu_launch_results(&l, &result);
		run_counts_take_code(&res->counts, &result.counts);
		res->wall_s += result.wall_s;
		tell(res, &c->module, differing_output(b, req), order_matters(&l.image.ir));
	}
	emu_launch_free(&l);
	run_result_free(&result);
	return ok;
}
