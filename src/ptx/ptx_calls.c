/* Which functions without a body, as the system's, a function may come to call. */
#include "ptx/link.h"
#include "ptx/ptx.h"

#include "base/mem.h"

#include <stdlib.h>

struct search {
	const struct ptx_module *m;
	bool *seen; /* by function */
	bool (*wanted)(const char *name);
};

static bool leads_there(struct search *s, int32_t index)
{
	index = link_resolve(s->m, index);
	const struct ptx_func *f = &s->m->funcs[index];
	if (s->seen[index])
		return false;
	s->seen[index] = true;
	if (!f->has_body)
		return s->wanted(f->name);
	bool found = false;
	for (unsigned i = 0; i < f->n_insts && !found; i++) {
		const struct ptx_inst *in = &f->insts[i];
		for (unsigned k = 0; k < in->n_opnds && !found; k++)
			found = in->opnd[k].kind == OPND_FUNC && leads_there(s, in->opnd[k].symbol);
		/* by a pointer, which may have come from anywhere */
		for (unsigned k = 0;
		     in->op == OP_CALL && in->opnd[0].kind == OPND_REG && !found && k < s->m->n_funcs; k++)
			found = !s->m->funcs[k].is_entry && leads_there(s, (int32_t)k);
	}
	return found;
}

bool ptx_func_calls(const struct ptx_module *m, const struct ptx_func *f,
                    bool (*wanted)(const char *name))
{
	struct search s = { m, mem_zalloc(m->n_funcs + 1u), wanted };
	bool any = false;
	for (unsigned i = 0; i < m->n_funcs && !any; i++)
		any = !m->funcs[i].has_body && wanted(m->funcs[i].name);
	const bool found = any && leads_there(&s, (int32_t)(f - m->funcs));
	free(s.seen);
	return found;
}
