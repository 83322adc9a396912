/* What would be refused of each kernel of a module, without a launch; see backend.h. */
#include "emu/launch/launch.h"

#include "base/mem.h"
#include "base/text.h"
#include "compile/disassemble.h"
#include "emu/lower/lower.h"

#include <stdlib.h>
#include <string.h>

struct teller {
	void (*tell)(void *ctx, const struct examine_finding *r);
	void *ctx;
	const char *kernel;
};

static void tell_refusal(void *ctx, const struct lower_refusal *r)
{
	const struct teller *t = ctx;
	const struct examine_finding k = { t->kernel, r->what, r->why, r->remedy, r->line, r->listing };
	t->tell(t->ctx, &k);
}

/* As they lie in the cubin: no address is filled in. */
static void set_banks(struct lower_env *env, const struct sass_module *m, unsigned func)
{
	for (unsigned k = 2; k < LOWER_BANKS; k++) {
		const struct cubin_bank *b = cubin_bank(&m->cubin, k, k == 2 ? (int)func : -1);
		if (b)
			env->bank[k] = (struct lower_bank){ b->data, ARENA_BASE, (uint32_t)b->bytes };
	}
}

static void examine_machine_code(const struct sass_module *m, const char *name, struct teller *t)
{
	const struct launch_plan plan = { .grid = { 1, 1, 1 }, .block = { 32, 1, 1 } };
	for (unsigned i = 0; i < m->n_funcs; i++) {
		const struct sass_func *f = &m->funcs[i];
		if (!f->cubin->entry)
			continue;
		t->kernel = f->name;
		uint8_t *params = mem_zalloc(f->cubin->param_bytes + 1u);
		struct lower_env env = {
			.plan = &plan,
			.params = params,
			.param_base = ARENA_BASE,
			.sm_count = 1,
			.refused = tell_refusal,
			.ctx = t,
		};
		t->tell(t->ctx, &(struct examine_finding){ .kernel = f->name });
		struct ir ir;
		set_banks(&env, m, i);
		if (lower_sass(&ir, m, f, &env, name, NULL))
			ir_free(&ir);
		free(params);
	}
}

static bool examine_cubin(const struct text *code, const char *name, struct teller *t,
                          struct err *err)
{
	struct sass_module m;
	struct text listing = { 0 };
	bool good = disassemble(code->s, code->len, NULL, &listing, err) &&
	            sass_read(&m, code->s, code->len, listing.s, listing.len, err);
	text_free(&listing);
	if (!good)
		return err_prefix(err, "%s: ", name);
	examine_machine_code(&m, name, t);
	sass_free(&m);
	return true;
}

bool emu_examine(const struct text *code, const char *name,
                 void (*tell)(void *ctx, const struct examine_finding *r), void *ctx,
                 struct err *err)
{
	struct ptx_module m;
	if (code->len > 4 && !memcmp(code->s, "\177ELF", 4))
		return examine_cubin(code, name, &(struct teller){ tell, ctx, NULL }, err);
	if (!ptx_parse(code->s ? code->s : "", name, &m, err))
		return false;
	const struct launch_plan plan = { .grid = { 1, 1, 1 }, .block = { 32, 1, 1 } };
	uint64_t *var_addr = mem_calloc(m.n_vars + 1u, sizeof *var_addr);
	for (unsigned i = 0; i < m.n_funcs; i++) {
		const struct ptx_func *f = &m.funcs[i];
		if (!f->is_entry || !f->has_body)
			continue;
		struct teller t = { tell, ctx, f->name };
		uint8_t *params = mem_zalloc(f->param_bytes + 1u);
		const struct lower_env env = { .plan = &plan,
			                           .params = params,
			                           .var_addr = var_addr,
			                           .sm_count = 1,
			                           .refused = tell_refusal,
			                           .ctx = &t };
		tell(ctx, &(struct examine_finding){ .kernel = f->name });
		struct ir ir;
		if (lower_ptx(&ir, &m, f, &env, name, NULL))
			ir_free(&ir);
		free(params);
	}
	free(var_addr);
	ptx_free(&m);
	return true;
}
