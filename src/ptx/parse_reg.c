/*
 * Registers: .reg, ranges (PTX ISA 4.4), vectors and their elements (5.4.2), and registers of 128
 * bits (5.2.2), which are pairs of 64 bits here.
 */
#include "ptx/parser.h"

#define MAX_REGS (1u << 20) /* in a module: ptxas gives up long before */

/* Appends @number in decimal to @name of @cap bytes that holds @len. */
static void append_number(char *name, size_t cap, size_t len, uint32_t number)
{
	char digits[10];
	size_t n = 0;
	do {
		digits[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (n && len < cap - 1)
		name[len++] = digits[--n];
	name[len] = '\0';
}

static struct ptx_reg *add_reg(struct parser *p, const struct token *name, enum ptx_type type,
                               bool numbered, uint32_t number)
{
	struct ptx_func *f = func_at_hand(p);
	grow_array(&f->regs, f->n_regs, &p->regs_cap, sizeof *f->regs);
	struct ptx_reg *r = &f->regs[f->n_regs++];
	size_t len = name->len < sizeof r->name - 1 ? name->len : sizeof r->name - 1;
	memcpy(r->name, name->s, len);
	r->name[len] = '\0';
	r->type = type;
	if (numbered)
		append_number(r->name, sizeof r->name, len, number);
	return r;
}

int32_t add_nameless_reg(struct parser *p, enum ptx_type type)
{
	const struct token constant = { .s = "(constant)", .len = 10 };
	add_reg(p, &constant, type, false, 0);
	return (int32_t)func_at_hand(p)->n_regs - 1;
}

/* A vector of @lanes elements, or @count of them that a range declares. */
static bool declare_vectors(struct parser *p, const struct token *name, uint32_t lanes,
                            uint32_t count)
{
	const int32_t first = (int32_t)func_at_hand(p)->n_regs;
	if (!declare_name(p, name, SYM_VECTOR, first, count))
		return false;
	struct sym *whole = &p->names.syms[p->names.n - 1];
	whole->lanes = (uint8_t)lanes;
	struct sym elements = *whole;
	elements.kind = SYM_REG;
	elements.hash ^= ELEMENT_HASH;
	names_add(&p->names, &elements);
	return true;
}

static void add_elements(struct parser *p, const struct token *name, enum ptx_type type,
                         uint32_t lanes, bool numbered, uint32_t number)
{
	for (uint32_t lane = 0; lane < lanes; lane++) {
		struct ptx_reg *r = add_reg(p, name, type, numbered, number);
		const size_t len = strlen(r->name);
		if (len + 2 < sizeof r->name) {
			r->name[len] = '.';
			r->name[len + 1] = "xyzw"[lane];
		}
	}
}

/* One name of a .reg: "%p", or "%r<10>" for %r0 to %r9. */
static bool parse_reg_name(struct parser *p, enum ptx_type type, uint32_t lanes)
{
	struct token name;
	uint64_t count = 1;
	bool range;
	if (!expect_name(p, &name, "the name of a register") || !accept_punct(p, '<', &range))
		return false;
	if (range && (!expect_uint(p, MAX_REGS, &count, "a number of registers") ||
	              !expect(p, '>', "after the number of registers")))
		return false;
	p->regs_total += count * (lanes ? lanes : 1);
	if (p->regs_total > MAX_REGS)
		return fail_at(p, name.s, name.line, ERR_UNSUPPORTED, "more than %u registers", MAX_REGS);
	struct ptx_func *f = func_at_hand(p);
	if (range && name.prefix_len < name.len) /* "%r1<5>": %r10 .. %r14, which %r<n> might own */
		return fail_at(p, name.s, name.line, ERR_UNSUPPORTED,
		               "a range of registers whose name ends with a digit is not supported");
	const uint32_t members = range ? (uint32_t)count : 0;
	if (!range || count)
		if (lanes ? !declare_vectors(p, &name, lanes, members)
		          : !declare_name(p, &name, SYM_REG, (int32_t)f->n_regs, members))
			return false;
	for (uint32_t i = 0; i < count; i++)
		if (lanes)
			add_elements(p, &name, type, lanes, range, i);
		else
			add_reg(p, &name, type, range, i);
	return true;
}

bool parse_reg_decl(struct parser *p)
{
	enum ptx_type type;
	bool more = true;
	uint32_t lanes = 0;
	if (!advance(p))
		return false;
	if (at_dot(p, "v2") || at_dot(p, "v4")) {
		lanes = at_dot(p, "v2") ? 2 : 4;
		if (!advance(p))
			return false;
	}
	const struct token at = p->tok;
	if (!parse_type(p, &type))
		return false;
	if (lanes && (type == PTX_PRED || type == PTX_B128))
		return fail_at(p, at.s - 1, at.line, ERR_PARSE, "no vector has elements of type .%s",
		               ptx_type_name(type));
	if (type == PTX_B128) {
		type = PTX_B64;
		lanes = 2;
	}
	while (more)
		if (!parse_reg_name(p, type, lanes) || !accept_punct(p, ',', &more))
			return false;
	return expect(p, ';', "after a register");
}
