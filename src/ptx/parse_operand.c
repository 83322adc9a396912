/*
 * The operands of an instruction in the order that the opcode's row in opcode.def gives; bar and
 * call have an order of their own. PTX ISA 6.
 */
#include "ptx/parser.h"

#include "ptx/forms.h"

/* [reg+4], [reg+-4], [sym], [sym+4*2], [64] */
static bool parse_address(struct parser *p, const struct ptx_inst *inst, struct ptx_operand *o)
{
	uint32_t member;
	if (!expect(p, '[', "before an address"))
		return false;
	o->kind = OPND_ADDR;
	if (p->tok.kind == TOK_NAME) {
		const struct token t = p->tok;
		const struct sym *s = names_find_token(&p->names, &t, &member);
		if (s && s->kind == SYM_REG) {
			const struct want w = { .bytes = 4, .wider = true };
			o->addr_base = ADDR_REG;
			o->reg = s->index + (int32_t)member;
			if (!check_reg(p, &t, o->reg, &w, inst))
				return false;
			enum ptx_type type = func_at_hand(p)->regs[o->reg].type;
			if (type == PTX_F32 || type == PTX_F64)
				return fail(p, "'%.*s' is .%s; an address is an integer", (int)t.len, t.s,
				            ptx_type_name(type));
		} else if (s && (s->kind == SYM_VAR || s->kind == SYM_PARAM)) {
			o->addr_base = ADDR_SYMBOL;
			o->symbol = s->kind == SYM_PARAM ? -1 - s->index : s->index;
		} else {
			return s ? fail(p, "'%.*s' has no address", (int)t.len, t.s) : unknown_name(p, &t);
		}
		if (!advance(p) || !parse_symbol_offset(p, o))
			return false;
	} else {
		o->addr_base = ADDR_ABSOLUTE;
		if (!expect_int(p, &o->i64, "an address"))
			return false;
	}
	return expect(p, ']', "after the address");
}

static bool parse_predicate(struct parser *p, const struct ptx_inst *inst, struct ptx_operand *o)
{
	const struct want w = { .bytes = 1, .pred = true, .type = PTX_PRED };
	struct lexer ahead = p->lx;
	struct token t;
	lex_next(&ahead, &t);
	const bool expression = t.kind != TOK_NAME || tok_is(&t, TOK_NAME, "WARP_SZ"); /* "!1" */
	if (!expression && !accept_punct(p, '!', &o->negated))
		return false;
	return parse_source(p, &w, inst, false, o);
}

/* Does a predicate stand here? */
static bool at_predicate(struct parser *p)
{
	uint32_t member;
	const struct sym *s =
		p->tok.kind == TOK_NAME ? names_find_token(&p->names, &p->tok, &member) : NULL;
	return at_punct(p, '!') ||
	       (s && s->kind == SYM_REG && func_at_hand(p)->regs[s->index].type == PTX_PRED);
}

/* A branch target, resolved at the end of the function. */
static bool parse_label(struct parser *p, struct ptx_operand *o)
{
	struct token t;
	if (!expect_name(p, &t, "a label"))
		return false;
	grow_array(&p->refs, p->n_refs, &p->refs_cap, sizeof *p->refs);
	p->refs[p->n_refs++] = (struct label_ref){
		.tok = t,
		.scope = p->scope,
		.inst = func_at_hand(p)->n_insts,
	};
	o->kind = OPND_LABEL;
	o->label = -1;
	return true;
}

/* The name of a table of branch targets, which stands before the instruction. */
static bool parse_branch_table(struct parser *p, struct ptx_operand *o)
{
	struct token t;
	uint32_t member;
	if (!expect_name(p, &t, "a table of branch targets"))
		return false;
	const struct sym *s = names_find_token(&p->names, &t, &member);
	if (!s || s->kind != SYM_TARGETS)
		return fail_at(p, t.s, t.line, ERR_PARSE, "no table of branch targets '%.*s' stands above",
		               (int)t.len, t.s);
	o->kind = OPND_LIST;
	o->label = LIST_BLOCKS;
	o->reg = s->index + 1;
	o->i64 = func_at_hand(p)->lists[s->index];
	return true;
}

/* A tensor map that is a variable: a move before the instruction puts its address into a register.
 */
static bool parse_map_variable(struct parser *p, const struct ptx_inst *inst, struct ptx_operand *o)
{
	const struct want address = { .bytes = 8, .type = PTX_B64 };
	struct ptx_inst *move = &p->constants[p->n_constants++];
	*move = (struct ptx_inst){ .op = OP_MOV, .type = PTX_B64, .vec = 1, .guard = -1, .made = true };
	move->n_opnds = 2;
	move->opnd[0] = (struct ptx_operand){ .kind = OPND_REG, .reg = add_nameless_reg(p, PTX_B64) };
	o->vec[o->n_vec++] = move->opnd[0].reg;
	return parse_source(p, &address, inst, false, &move->opnd[1]);
}

/* The register that names a texture, a surface or a tensor map. */
static bool parse_handle(struct parser *p, const struct ptx_inst *inst, struct ptx_operand *o)
{
	uint32_t member;
	const struct token t = p->tok;
	const struct sym *s = t.kind == TOK_NAME ? names_find_token(&p->names, &t, &member) : NULL;
	const bool map = inst->geometry == GEOMETRY_NONE;
	const bool variable = s && (s->kind == SYM_VAR || s->kind == SYM_PARAM);
	if (map && variable)
		return parse_map_variable(p, inst, o);
	if (variable) {
		report_at(p, t.s, t.line, ERR_UNSUPPORTED,
		          "a texture that is named by a variable is not supported; PTX ISA %s",
		          ptx_op_section(inst->op));
		return err_remedy(p->err,
		                  "No host can bind one since CUDA 12; pass a texture object, whose "
		                  "value a register holds.");
	}
	if (!s)
		return unknown_name(p, &t);
	if (s->kind != SYM_REG)
		return fail(p, "expected a register with a texture or a tensor map");
	o->vec[o->n_vec++] = s->index + (int32_t)member;
	return advance(p);
}

/* A register, or a constant, which a move before the instruction puts into one. */
static bool parse_coordinate(struct parser *p, const struct ptx_inst *inst, struct ptx_operand *o)
{
	const bool layered = inst->geometry == GEOMETRY_A1D || inst->geometry == GEOMETRY_A2D ||
	                     inst->geometry == GEOMETRY_ACUBE;
	const bool fetch = inst->op == OP_TEX || inst->op == OP_TLD4;
	const bool layer = layered && o->n_vec == 1;
	const struct want w = { .bytes = 4, .type = fetch && !layer ? inst->type2 : PTX_B32 };
	uint32_t member;
	const struct token t = p->tok;
	if (o->n_vec == 8)
		return fail(p, "too many coordinates");
	if (at_constant(p))
		return parse_element_constant(p, &w, inst, &o->vec[o->n_vec++]);
	const struct sym *s = t.kind == TOK_NAME ? names_find_token(&p->names, &t, &member) : NULL;
	if (!s || s->kind != SYM_REG)
		return fail(p, "expected a register or a constant as a coordinate");
	o->vec[o->n_vec++] = s->index + (int32_t)member;
	return advance(p);
}

/* [handle, {x, y}] or [handle, x] */
static bool parse_texture(struct parser *p, const struct ptx_inst *inst, struct ptx_operand *o)
{
	bool list, more;
	o->kind = OPND_VEC;
	if (!expect(p, '[', "before a texture, a surface or a tensor map") ||
	    !parse_handle(p, inst, o) || !expect(p, ',', "before the coordinates") ||
	    !accept_punct(p, '{', &list))
		return false;
	do {
		const unsigned before = o->n_vec;
		if (!list && !take_vector_reg(p, o))
			return false;
		if ((o->n_vec == before && !parse_coordinate(p, inst, o)) || !accept_punct(p, ',', &more))
			return false;
	} while (list && more);
	return (!list || expect(p, '}', "after the coordinates")) &&
	       expect(p, ']', "after the coordinates");
}

bool parse_one(struct parser *p, char role, char width, const struct ptx_inst *inst,
               struct ptx_operand *o)
{
	const struct want w = want_of(inst, width);
	switch (role) {
	case 'd':
	case 'D': return parse_destination(p, &w, inst, role == 'D', o);
	case 's':
	case 'S': return parse_source(p, &w, inst, role == 'S', o);
	case 'q': return parse_predicate(p, inst, o);
	case 'z':
		return at_predicate(p) ? parse_predicate(p, inst, o) : parse_source(p, &w, inst, false, o);
	case 'm': return parse_address(p, inst, o);
	case 'x': return parse_texture(p, inst, o);
	case 'l': return parse_label(p, o);
	case 'b': return parse_branch_table(p, o);
	default: /* 'i' */ o->kind = OPND_INT; return expect_int(p, &o->i64, "an integer constant");
	}
}

bool expect_comma(struct parser *p, const struct ptx_inst *inst)
{
	if (at_punct(p, ';') || p->tok.kind == TOK_END)
		return fail(p, "too few operands for '%s'", inst->text);
	return expect(p, ',', "between operands");
}

/* sync: a{, b}   arrive: a, b   red: d, a{, b}, {!}p */
static bool parse_bar(struct parser *p, struct ptx_inst *inst)
{
	struct ptx_operand *o = inst->opnd;
	const struct want word = { .bytes = 4, .type = PTX_U32 };
	bool more;
	if (inst->flags & PF_RED) {
		const struct want result = want_of(inst, 't');
		if (!parse_destination(p, &result, inst, false, &o[0]) || !expect_comma(p, inst) ||
		    !parse_source(p, &word, inst, false, &o[1]) || !expect_comma(p, inst))
			return false;
		if (!at_predicate(p) &&
		    (!parse_source(p, &word, inst, false, &o[2]) || !expect_comma(p, inst)))
			return false;
		return parse_predicate(p, inst, &o[3]);
	}
	if (!parse_source(p, &word, inst, false, &o[0]) || !accept_punct(p, ',', &more))
		return false;
	if (!more)
		return inst->flags & PF_ARRIVE ? expect_comma(p, inst) : true;
	return parse_source(p, &word, inst, false, &o[1]);
}

/* One .param variable or parameter of a call, or a register or constant that becomes one. */
static bool parse_call_symbol(struct parser *p, const struct ptx_inst *inst, bool result,
                              int32_t *symbol)
{
	uint32_t member;
	const struct token t = p->tok;
	if (t.kind != TOK_NAME)
		return pass_register(p, inst, result, symbol);
	const struct sym *s = names_find_token(&p->names, &t, &member);
	if (!s)
		return unknown_name(p, &t);
	if (s->kind == SYM_REG)
		return pass_register(p, inst, result, symbol);
	bool param =
		s->kind == SYM_PARAM || (s->kind == SYM_VAR && p->m->vars[s->index].space == SPACE_PARAM);
	if (!param)
		return fail_at(p, t.s, t.line, ERR_UNSUPPORTED,
		               "'%.*s' is no .param variable; nothing else can be passed to a function",
		               (int)t.len, t.s);
	*symbol = s->kind == SYM_PARAM ? -1 - s->index : s->index;
	return advance(p);
}

static bool parse_callee(struct parser *p, const struct ptx_inst *inst, struct ptx_operand *o)
{
	const struct want address = { .bytes = 8, .type = PTX_B64 };
	if (p->tok.kind != TOK_NAME)
		return fail(p, "expected a function");
	const struct token t = p->tok;
	if (!parse_source(p, &address, inst, false, o))
		return false;
	if (o->kind != OPND_FUNC && o->kind != OPND_REG)
		return fail_at(p, t.s, t.line, ERR_PARSE, "'%.*s' is no function", (int)t.len, t.s);
	return true;
}

static bool parse_arguments(struct parser *p, const struct ptx_inst *inst, struct ptx_operand *o)
{
	struct ptx_func *f = func_at_hand(p);
	bool more;
	o->kind = OPND_LIST;
	o->reg = (int32_t)f->n_lists;
	if (!expect(p, '(', "before the arguments"))
		return false;
	more = !at_punct(p, ')');
	while (more) {
		grow_array(&f->lists, f->n_lists, &p->lists_cap, sizeof *f->lists);
		if (!parse_call_symbol(p, inst, false, &f->lists[f->n_lists]) ||
		    !accept_punct(p, ',', &more))
			return false;
		f->n_lists++;
		o->i64++;
	}
	return expect(p, ')', "after the arguments");
}

/* call (ret), function, (arguments), prototype; all but the function may be missing. */
static bool parse_call(struct parser *p, struct ptx_inst *inst)
{
	struct ptx_operand *o = inst->opnd;
	struct token prototype;
	bool more;
	if (!accept_punct(p, '(', &more))
		return false;
	if (more) {
		o[1].kind = OPND_SYMBOL;
		if (!parse_call_symbol(p, inst, true, &o[1].symbol) ||
		    !expect(p, ')', "after the return value") || !expect_comma(p, inst))
			return false;
	}
	if (!parse_callee(p, inst, &o[0]) || !accept_punct(p, ',', &more))
		return false;
	if (more && at_punct(p, '('))
		if (!parse_arguments(p, inst, &o[2]) || !accept_punct(p, ',', &more))
			return false;
	return !more || expect_name(p, &prototype, "a prototype");
}

/* Elements of a vector of atomics: as many as .vN says, or none. */
static bool vector_fits(const struct ptx_inst *inst, const struct ptx_operand *o)
{
	if (inst->vec == 1)
		return o->kind != OPND_VEC;
	return o->kind == OPND_NONE || (o->kind == OPND_VEC && o->n_vec == inst->vec);
}

static bool same_length(const struct ptx_operand *a, const struct ptx_operand *b)
{
	return a->kind == OPND_VEC && b->kind == OPND_VEC && a->n_vec == b->n_vec;
}

/* Rules over the operands of what moves vectors, or tests a result of logic. */
static bool check_pairs(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
	const struct ptx_operand *o = inst->opnd;
	const bool logic = inst->boolop != BOOL_NONE;
	if (inst->op == OP_LOP3 && (inst->boolop == BOOL_XOR || logic != (o[1].kind == OPND_REG) ||
	                            logic != (o[5].kind != OPND_NONE)))
		return fail_at(p, at->s, at->line, ERR_PARSE,
		               "'%s': two predicates and .and or .or belong together", inst->text);
	if (inst->op == OP_MOV && (inst->vec > 1 || o[0].kind == OPND_VEC) &&
	    (inst->vec > 1 || o[1].kind == OPND_VEC) && !same_length(&o[0], &o[1]))
		return fail_at(p, at->s, at->line, ERR_PARSE, "'%s' needs two vectors of one length",
		               inst->text);
	return true;
}

/* Rules over several operands. */
static bool check_operands(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
	const struct ptx_operand *o = inst->opnd;
	const bool third = (inst->op == OP_SETP ? o[4].kind : o[3].kind) != OPND_NONE;
	if ((inst->op == OP_SETP || inst->op == OP_SET) && third != (inst->boolop != BOOL_NONE))
		return fail_at(p, at->s, at->line, ERR_PARSE,
		               "'%s': a third source and .and .or .xor belong together", inst->text);
	if (inst->op == OP_ATOM && (o[3].kind != OPND_NONE) != (inst->atom == ATOM_CAS))
		return fail_at(p, at->s, at->line, ERR_PARSE,
		               "'%s': .cas has two values, every other operation has one", inst->text);
	if ((inst->op == OP_ATOM && (!vector_fits(inst, &o[0]) || !vector_fits(inst, &o[2]))) ||
	    (inst->op == OP_RED && !vector_fits(inst, &o[1])))
		return fail_at(p, at->s, at->line, ERR_PARSE, "'%s' takes vectors of %u elements",
		               inst->text, inst->vec);
	if ((inst->op == OP_SHFL || inst->op == OP_VOTE) &&
	    (o[inst->op == OP_SHFL ? 5 : 2].kind != OPND_NONE) != !!(inst->flags & PF_SYNC))
		return fail_at(p, at->s, at->line, ERR_PARSE,
		               "'%s': .sync and a member mask belong together", inst->text);
	if ((inst->op == OP_LD || inst->op == OP_LDU || inst->op == OP_ST) && inst->vec > 1 &&
	    o[inst->op == OP_ST].kind != OPND_VEC)
		return fail_at(p, at->s, at->line, ERR_PARSE, "'%s' needs a vector {..}", inst->text);
	return true;
}

/* Is what follows the comma at hand no operand of width @width, but a cache policy? */
static bool at_policy(const struct parser *p, const struct ptx_inst *inst, char width)
{
	struct lexer ahead = p->lx;
	struct token t;
	uint32_t member;
	if (!(inst->flags & PF_POLICY) || !at_punct(p, ','))
		return false;
	lex_next(&ahead, &t);
	const struct sym *s = t.kind == TOK_NAME ? names_find_token(&p->names, &t, &member) : NULL;
	if (!s || s->kind != SYM_REG || ptx_type_bytes(p->m->funcs[p->func].regs[s->index].type) != 8)
		return false;
	return want_of(inst, width).bytes != 8 || (inst->op == OP_ATOM && inst->atom != ATOM_CAS);
}

/* A hint that changes no result: read, not kept. */
static bool parse_policy(struct parser *p, const struct ptx_inst *inst)
{
	struct ptx_operand policy = { 0 };
	return expect_comma(p, inst) && parse_one(p, 's', '8', inst, &policy);
}

bool parse_operands(struct parser *p, struct ptx_inst *inst)
{
	const struct token at = p->tok;
	if (inst->op == OP_BAR || inst->op == OP_BARRIER)
		return parse_bar(p, inst);
	if (inst->op == OP_CALL)
		return parse_call(p, inst);
	bool first = true;
	int slot = 0;
	for (const char *s = opcode_forms[inst->op].operands; *s; slot++) {
		const bool optional = *s == '?';
		struct ptx_operand *o = &inst->opnd[slot];
		s += optional;
		if (s[0] == '|') {
			bool bar;
			const struct want pred = want_of(inst, s[1]);
			if (!accept_punct(p, '|', &bar) ||
			    (bar && !parse_destination(p, &pred, inst, false, o)))
				return false;
		} else if (*s == 'k') {
			int64_t table;
			slot--;
			if (!expect_comma(p, inst) || !expect_int(p, &table, "an integer constant"))
				return false;
			inst->mma.k = (uint16_t)(table & 0xff);
		} else if (!(optional && (at_punct(p, ';') || at_policy(p, inst, s[1])))) {
			if ((!first && !expect_comma(p, inst)) || !parse_one(p, s[0], s[1], inst, o))
				return false;
		}
		first = false;
		s += s[2] == ' ' ? 3 : 2;
	}
	return check_operands(p, inst, &at) && check_pairs(p, inst, &at) &&
	       (!(inst->flags & PF_POLICY) || parse_policy(p, inst));
}
