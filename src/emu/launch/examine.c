/* What would be refused of each kernel of a module, without a launch; see backend.h. */
#include "emu/launch/launch.h"

#include "base/mem.h"
#include "emu/lower/lower.h"

#include <stdlib.h>

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

bool emu_examine(const char *text, const char *name,
                 void (*tell)(void *ctx, const struct examine_finding *r), void *ctx,
                 struct err *err)
{
	struct ptx_module m;
	if (!ptx_parse(text, name, &m, err))
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
