/*
 * What the parser does not know inside a function: noted there, so that every other kernel of the
 * module runs. Errors of the text (ERR_PARSE) remain errors of the module.
 */
#include "ptx/parser.h"

#include <stdlib.h>

static void note_refusal(struct parser *p, const struct token *what)
{
	struct ptx_func *f = func_at_hand(p);
	f->refusals = mem_realloc(f->refusals, f->n_refusals + 1u, sizeof *f->refusals);
	f->refusals[f->n_refusals++] = (struct ptx_refusal){
		.ptx_line = p->why_line,
		.column = p->why_column,
		.line = p->line,
		.what = mem_strndup(what->s, what->len),
		.why = mem_strdup(p->why),
		.remedy = mem_strdup(p->err->remedy),
	};
	err_clear(p->err);
}

static bool is_refusal(const struct parser *p)
{
	return p->func >= 0 && p->err->code == ERR_UNSUPPORTED;
}

bool refuse_statement(struct parser *p, const struct token *what, size_t n_refs)
{
	if (!is_refusal(p))
		return false;
	while (!at_punct(p, ';')) {
		if (p->tok.kind == TOK_END || p->tok.kind == TOK_BAD)
			return false;
		lex_next(&p->lx, &p->tok);
	}
	note_refusal(p, what);
	p->n_refs = n_refs;
	struct ptx_func *f = func_at_hand(p);
	grow_array(&f->insts, f->n_insts, &p->insts_cap, sizeof *f->insts);
	struct ptx_inst *inst = &f->insts[f->n_insts++];
	*inst = (struct ptx_inst){ .op = OP_REFUSED,
		                       .vec = 1,
		                       .guard = -1,
		                       .line = p->line,
		                       .leaf_line = p->leaf_line,
		                       .ptx_line = what->line };
	inst->opnd[0] = (struct ptx_operand){ .kind = OPND_INT, .i64 = f->n_refusals - 1 };
	inst->n_opnds = 1;
	const size_t n = what->len < sizeof inst->text ? what->len : sizeof inst->text - 1;
	memcpy(inst->text, what->s, n);
	return advance(p);
}

bool refuse_head(struct parser *p, const struct token *what)
{
	if (!is_refusal(p))
		return false;
	note_refusal(p, what);
	struct ptx_func *f = func_at_hand(p);
	f->refusals[f->n_refusals - 1].of_head = true;
	do {
		if (p->tok.kind == TOK_END || p->tok.kind == TOK_BAD)
			return fail(p, "the text ends in the head of a function");
		lex_next(&p->lx, &p->tok);
	} while (p->tok.kind != TOK_DOT && !at_punct(p, '{') && !at_punct(p, ';'));
	return true;
}
