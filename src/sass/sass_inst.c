/*
 * One instruction from its text: "@!P0 LDG.E.128 R4, desc[UR4][R26.64+0x10]".
 *
 * Annotations of the disassembler, (*"SpillRefill"*), are noted and left out. Operands are parted
 * by commas; a few instructions put two of them side by side: "RET.REL.NODEC R4 `(name)".
 */
#include "sass/sass_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static struct slice skip_blanks(struct slice t)
{
	while (t.len && isspace((unsigned char)*t.s)) {
		t.s++;
		t.len--;
	}
	while (t.len && isspace((unsigned char)t.s[t.len - 1]))
		t.len--;
	return t;
}

static struct slice word_of(struct slice *t)
{
	struct slice w = { t->s, 0 };
	while (w.len < t->len && !isspace((unsigned char)t->s[w.len]))
		w.len++;
	*t = skip_blanks((struct slice){ t->s + w.len, t->len - w.len });
	return w;
}

static void strange(struct sass_inst *i, struct sass_pool **pool, const char *what, struct slice t)
{
	char text[160];
	if (i->why_not)
		return;
	const int n =
		snprintf(text, sizeof text, "%s '%.*s'", what, (int)(t.len < 100 ? t.len : 100), t.s);
	i->why_not = sass_pool_text(pool, (struct slice){ text, (size_t)n });
}

/* "@!UP0" */
static void read_guard(struct slice w, struct sass_inst *i, struct sass_pool **pool)
{
	const struct sass_operand o = sass_operand_read((struct slice){ w.s + 1, w.len - 1 }, pool);
	if (o.kind != SASS_OPND_PRED && o.kind != SASS_OPND_UPRED) {
		strange(i, pool, "guard", w);
		return;
	}
	i->guard = (uint8_t)o.reg;
	i->guard_not = o.flags & SASS_NOT;
	i->guard_uniform = o.kind == SASS_OPND_UPRED;
}

static void read_opcode(struct slice w, struct sass_inst *i, struct sass_pool **pool)
{
	size_t n = 0;
	while (n < w.len && w.s[n] != '.')
		n++;
	i->opcode = sass_pool_text(pool, w);
	i->op = (uint16_t)sass_op_find(w.s, n);
	if (i->op == SASS_UNKNOWN)
		strange(i, pool, "opcode", (struct slice){ w.s, n });
	while (n < w.len) {
		const size_t start = ++n;
		while (n < w.len && w.s[n] != '.')
			n++;
		const enum sass_mod m = sass_mod_find(w.s + start, n - start);
		if (m == SASS_MOD_UNKNOWN)
			strange(i, pool, "modifier", (struct slice){ w.s + start - 1, n - start + 1 });
		if (i->n_mods < SASS_MAX_MODS)
			i->mods[i->n_mods++] = (uint16_t)m;
		else
			strange(i, pool, "more modifiers than are foreseen:", w);
	}
}

/* "c[0x0] [0x160].F32": the blank at @n is inside of one operand. */
static bool inside_constant(struct slice t, size_t n)
{
	return n && *t.s != '[' && t.s[n - 1] == ']' && n + 1 < t.len && t.s[n + 1] == '[';
}

/* The end of the first operand in @t: a comma outside all brackets, or a blank before a second. */
static size_t operand_end(struct slice t)
{
	int depth = 0;
	for (size_t n = 0; n < t.len; n++) {
		const char c = t.s[n];
		if (c == '(' || c == '[' || c == '{')
			depth++;
		else if (c == ')' || c == ']' || c == '}')
			depth--;
		else if (depth <= 0 && (c == ',' || (isspace((unsigned char)c) && n)) &&
		         !inside_constant(t, n))
			return n;
	}
	return t.len;
}

static void read_operands(struct slice t, struct sass_inst *i, struct sass_pool **pool)
{
	struct sass_operand all[SASS_MAX_OPERANDS];
	unsigned n = 0;
	while (t.len && n < SASS_MAX_OPERANDS) {
		const size_t end = operand_end(t);
		const struct slice one = { t.s, end };
		all[n] = sass_operand_read(one, pool);
		if (all[n].kind == SASS_OPND_OTHER)
			strange(i, pool, "operand", one);
		n++;
		t = skip_blanks((struct slice){ t.s + end, t.len - end });
		if (t.len && *t.s == ',')
			t = skip_blanks((struct slice){ t.s + 1, t.len - 1 });
	}
	if (t.len)
		strange(i, pool, "more operands than are foreseen:", t);
	struct sass_operand *kept = n ? sass_pool_get(pool, n * sizeof *kept) : NULL;
	if (n)
		memcpy(kept, all, n * sizeof *kept);
	i->operands = kept;
	i->n_operands = (uint8_t)n;
}

static bool is_pred(const struct sass_operand *o)
{
	return o->kind == SASS_OPND_PRED || o->kind == SASS_OPND_UPRED;
}

/* Destinations stand first, in the numbers that opcode.def allows; a load of 256 bits has two. */
static void mark_destinations(struct sass_inst *i)
{
	struct sass_operand *o = (struct sass_operand *)i->operands;
	const struct sass_op_info *info = sass_op_info(i->op);
	unsigned n = 0;
	for (unsigned p = 0; p < info->pred_dsts && n < i->n_operands && is_pred(&o[n]); p++)
		n++;
	const uint8_t kind = n < i->n_operands ? o[n].kind : SASS_OPND_OTHER;
	if (info->reg_dsts &&
	    (kind == SASS_OPND_REG || kind == SASS_OPND_UREG || kind == SASS_OPND_RPC ||
	     (kind == SASS_OPND_BARRIER && i->op == SASS_BMOV))) {
		n++;
		const bool two = info->reg_dsts > 1 || sass_has(i, SASS_MOD_256);
		if (two && n < i->n_operands && o[n].kind == SASS_OPND_REG)
			n++;
		for (unsigned p = 0; p < info->carry_dsts && n < i->n_operands && is_pred(&o[n]); p++)
			n++;
	}
	if (i->op == SASS_BSSY || ((i->op == SASS_R2P || i->op == SASS_UR2UP) && i->n_operands))
		n = 1;
	i->n_dsts = (uint8_t)(n < i->n_operands ? n : i->n_operands);
	for (unsigned d = 0; d < i->n_dsts; d++)
		o[d].flags |= SASS_DST;
}

/* Takes (*"..."*) out of the end of @t. */
static struct slice note_of(struct slice *t)
{
	for (size_t n = 0; n + 1 < t->len; n++) {
		if (t->s[n] != '(' || t->s[n + 1] != '*')
			continue;
		const struct slice note = { t->s + n, t->len - n };
		*t = skip_blanks((struct slice){ t->s, n });
		return note;
	}
	return (struct slice){ "", 0 };
}

static bool contains(struct slice t, const char *word)
{
	const size_t n = strlen(word);
	for (size_t i = 0; i + n <= t.len; i++)
		if (!memcmp(t.s + i, word, n))
			return true;
	return false;
}

void sass_inst_read(struct slice text, struct sass_inst *i, struct sass_pool **pool)
{
	struct slice t = skip_blanks(text);
	i->guard = SASS_PT;
	i->target = SASS_NO_TARGET;
	i->live_regs = i->live_preds = i->live_uregs = i->live_upreds = SASS_UNKNOWN_LIVE;
	i->spill = contains(note_of(&t), "SpillRefill");
	if (t.len && *t.s == '@')
		read_guard(word_of(&t), i, pool);
	read_opcode(word_of(&t), i, pool);
	i->text = sass_pool_text(pool, t);
	read_operands(t, i, pool);
	mark_destinations(i);
	sass_set_words(i, (struct sass_operand *)i->operands);
}
