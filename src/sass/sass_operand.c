/*
 * One operand of an instruction, from its text.
 *
 *   R4  -R4  |R4|  ~R4  R4.reuse  R4.64  R4.H0_H0  R4.F32x2.HI_LO.NP  RZ      UR4  URZ      P0  !P0
 * PT  UP0  PR 0x10  -0x10  1.5  +INF  -QNAN                          c[0x0][0x210]  c[0x3][R2+0x8]
 * cx[UR4][0x8] [R4]  [R4.64+UR6+-0x8]  [R4.X4+0x10]  [UR4]  [0x10]    desc[UR4][R2.64+0x10]
 *   SR_TID.X  SRZ  B0  SB0  {3,2}                          `(.L_x_4)  0x1d0 of a branch  32@lo((f +
 * 8))
 */
#include "sass/sass_parts.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool starts(struct slice t, const char *word)
{
	const size_t n = strlen(word);
	return t.len >= n && !memcmp(t.s, word, n);
}

static bool is(struct slice t, const char *word)
{
	return t.len == strlen(word) && starts(t, word);
}

static struct slice from(struct slice t, size_t n)
{
	return (struct slice){ t.s + n, t.len - n };
}

static struct slice trim(struct slice t)
{
	while (t.len && isspace((unsigned char)*t.s))
		t = from(t, 1);
	while (t.len && isspace((unsigned char)t.s[t.len - 1]))
		t.len--;
	return t;
}

/* "0x10", "-0x10", "+0x8", "12": the whole of it. */
static bool integer(struct slice t, int64_t *value)
{
	char word[32];
	t = trim(t);
	const bool neg = t.len && *t.s == '-';
	if (t.len && (*t.s == '-' || *t.s == '+'))
		t = from(t, 1);
	if (!t.len || t.len >= sizeof word || !isdigit((unsigned char)*t.s))
		return false;
	memcpy(word, t.s, t.len);
	word[t.len] = '\0';
	char *end;
	const uint64_t v = strtoull(word, &end, starts(t, "0x") ? 16 : 10);
	*value = (int64_t)(neg ? 0 - v : v);
	return !*end;
}

/* "1.5", "-2e-10", "+INF", "-QNAN", "+SNAN" */
static bool floating(struct slice t, double *value)
{
	char word[64];
	const double sign = t.len && *t.s == '-' ? -1 : 1;
	if (t.len && (*t.s == '-' || *t.s == '+'))
		t = from(t, 1);
	if (is(t, "INF") || is(t, "QNAN") || is(t, "SNAN")) {
		*value = copysign(is(t, "INF") ? (double)INFINITY : (double)NAN, sign);
		return true;
	}
	if (!t.len || t.len >= sizeof word || !(isdigit((unsigned char)*t.s) || *t.s == '.'))
		return false;
	memcpy(word, t.s, t.len);
	word[t.len] = '\0';
	char *end;
	*value = sign * strtod(word, &end); /* the locale of numbers is C: see main.c */
	return !*end;
}

struct reg_name {
	uint8_t kind;
	uint16_t reg;
	uint16_t sel;  /* the one suffix that is none of the flags */
	uint8_t flags; /* SASS_REUSE, SASS_PAIR, SASS_NEG_HIGH */
};

static bool number_of(struct slice t, unsigned most, uint16_t *n)
{
	if (!t.len || t.len > 3)
		return false;
	unsigned v = 0;
	for (size_t i = 0; i < t.len; i++) {
		if (!isdigit((unsigned char)t.s[i]))
			return false;
		v = v * 10 + (unsigned)(t.s[i] - '0');
	}
	*n = (uint16_t)v;
	return v <= most;
}

static bool plain_register(struct slice t, struct reg_name *r)
{
	static const struct {
		const char *prefix, *neutral;
		uint8_t kind;
		uint16_t most, neutral_reg;
	} files[] = {
		{ "UR", "URZ", SASS_OPND_UREG, 254, SASS_RZ }, { "UP", "UPT", SASS_OPND_UPRED, 6, SASS_PT },
		{ "R", "RZ", SASS_OPND_REG, 254, SASS_RZ },    { "P", "PT", SASS_OPND_PRED, 6, SASS_PT },
		{ "SB", "", SASS_OPND_SCOREBOARD, 7, 0 },      { "B", "", SASS_OPND_BARRIER, 15, 0 },
	};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		r->kind = files[i].kind;
		r->reg = files[i].neutral_reg;
		if (*files[i].neutral && is(t, files[i].neutral))
			return true;
		if (starts(t, files[i].prefix) &&
		    number_of(from(t, strlen(files[i].prefix)), files[i].most, &r->reg))
			return true;
	}
	return false;
}

/* "R4.64.reuse": name, then suffixes. */
static bool reg_of(struct slice t, struct reg_name *r)
{
	size_t n = 0;
	while (n < t.len && t.s[n] != '.')
		n++;
	*r = (struct reg_name){ .sel = SASS_MOD_NONE };
	if (!plain_register((struct slice){ t.s, n }, r))
		return false;
	while (n < t.len) {
		const size_t start = ++n;
		while (n < t.len && t.s[n] != '.')
			n++;
		const enum sass_mod m = sass_mod_find(t.s + start, n - start);
		if (m == SASS_MOD_reuse)
			r->flags |= SASS_REUSE;
		else if (m == SASS_MOD_F32x2)
			r->flags |= SASS_PAIR;
		else if (r->flags & SASS_PAIR && is((struct slice){ t.s + start, n - start }, "NP"))
			r->flags |= SASS_NEG_HIGH;
		else if (m == SASS_MOD_UNKNOWN || r->sel)
			return false;
		else
			r->sel = (uint16_t)m;
	}
	return true;
}

/* The text between the bracket that @t starts with and its partner; @rest: what is behind. */
static bool bracketed(struct slice t, struct slice *in, struct slice *rest)
{
	if (!t.len || *t.s != '[')
		return false;
	const char *close = memchr(t.s, ']', t.len);
	if (!close)
		return false;
	*in = (struct slice){ t.s + 1, (size_t)(close - t.s) - 1 };
	*rest = from(t, (size_t)(close - t.s) + 1);
	return true;
}

/* One of the terms of an address: a number, a register or a uniform register. */
static bool address_term(struct slice term, struct sass_operand *o)
{
	struct reg_name r;
	int64_t value;
	if (integer(term, &value)) {
		o->value += value;
		return true;
	}
	if (!reg_of(term, &r))
		return false;
	if (r.kind == SASS_OPND_REG && o->reg == SASS_NO_REG) {
		o->reg = r.reg;
		o->sel = r.sel;
		return true;
	}
	if (r.kind == SASS_OPND_UREG && o->ureg == SASS_NO_REG) {
		o->ureg = r.reg;
		o->usel = r.sel;
		return true;
	}
	return false;
}

/* "R4.64+UR6+-0x8" into base, second base and offset. */
static bool address(struct slice t, struct sass_operand *o)
{
	while (t.len) {
		size_t n = 1; /* a sign belongs to what follows */
		while (n < t.len && t.s[n] != '+' && !(t.s[n] == '-' && t.s[n - 1] != '+'))
			n++;
		if (!address_term(trim((struct slice){ t.s, n }), o))
			return false;
		t = from(t, n);
		if (t.len && *t.s == '+')
			t = from(t, 1);
	}
	return true;
}

/* The one uniform register in brackets. */
static bool handle(struct slice in, uint16_t *ureg)
{
	struct reg_name r;
	if (!reg_of(in, &r) || r.kind != SASS_OPND_UREG)
		return false;
	*ureg = r.reg;
	return true;
}

/* "[0x3][R2+0x8]", behind "c"; "[UR4][0x8]", behind "cx" */
static bool constant(struct slice t, bool bindless, struct sass_operand *o)
{
	struct slice in, at, rest;
	int64_t bank = 0;
	if (!bracketed(t, &in, &rest))
		return false;
	if (rest.len && *rest.s == ' ') /* c[0x0] [0x160].F32 */
		rest = from(rest, 1);
	if (!bracketed(rest, &at, &rest))
		return false;
	o->kind = SASS_OPND_CONST;
	if (bindless ? !handle(in, &o->desc) : !integer(in, &bank) || bank < 0 || bank > 31)
		return false;
	o->bank = (uint8_t)bank;
	if (!address(at, o))
		return false;
	if (rest.len) { /* c[0x0][0x4].H0_H0 */
		const enum sass_mod m =
			*rest.s == '.' ? sass_mod_find(rest.s + 1, rest.len - 1) : SASS_MOD_UNKNOWN;
		o->sel = (uint16_t)m;
		return m != SASS_MOD_UNKNOWN;
	}
	return true;
}

static bool memory(struct slice t, struct sass_operand *o)
{
	struct slice in, rest;
	o->kind = SASS_OPND_MEM;
	if (starts(t, "desc")) {
		if (!bracketed(from(t, 4), &in, &rest) || !handle(in, &o->desc))
			return false;
		if (!rest.len) {
			o->kind = SASS_OPND_POLICY;
			return true;
		}
		t = rest;
	}
	return bracketed(t, &in, &rest) && !rest.len && address(in, o);
}

/* "[UR4].tnspA.negB", behind "gdesc" */
static bool matrix(struct slice t, struct sass_operand *o)
{
	static const struct {
		const char *suffix;
		unsigned bit;
	} all[] = { { ".tnspA", SASS_MATRIX_ACROSS_A },
		        { ".tnspB", SASS_MATRIX_ACROSS_B },
		        { ".negA", SASS_MATRIX_MINUS_A },
		        { ".negB", SASS_MATRIX_MINUS_B } };
	struct slice in, rest;
	o->kind = SASS_OPND_MATRIX;
	if (!bracketed(t, &in, &rest) || !handle(in, &o->ureg))
		return false;
	for (size_t k = 0; k < sizeof all / sizeof *all; k++)
		if (starts(rest, all[k].suffix)) {
			o->value |= all[k].bit;
			rest = from(rest, strlen(all[k].suffix));
		}
	return !rest.len;
}

static struct slice inner_name(struct slice t)
{
	size_t start = t.len;
	while (start && t.s[start - 1] != '(')
		start--;
	size_t end = start;
	while (end < t.len && t.s[end] != ')' && t.s[end] != ' ' && t.s[end] != '@')
		end++;
	return (struct slice){ t.s + start, end - start };
}

/* What "32@lo((name + .L_x_1@srel))" or "32@lo((name+0x10))" is the address of: the label, or the
 * name and how far behind it. */
static void loader_address(struct slice t, struct sass_operand *o, struct sass_pool **pool)
{
	const struct slice name = inner_name(t);
	const char *at = name.s + name.len, *end = t.s + t.len;
	while (at < end && (*at == ' ' || *at == '+'))
		at++;
	const char *word = at;
	while (at < end && *at != '@' && *at != ')' && *at != ' ')
		at++;
	const struct slice more = { word, (size_t)(at - word) };
	const bool label = more.len && *word == '.';
	o->symbol = sass_pool_text(pool, label ? more : name);
	o->value = label ? 0 : (int64_t)strtoull(sass_pool_text(pool, more), NULL, 0);
}

/* "`(.L_x_4)": a label; "32@lo((name + .L_x_1@srel))", "`(name)" with more: an address. */
static bool place(struct slice t, struct sass_operand *o, struct sass_pool **pool)
{
	if (starts(t, "`(") && t.s[t.len - 1] == ')') {
		o->kind = SASS_OPND_LABEL;
		o->value = -1;
		o->symbol = sass_pool_text(pool, (struct slice){ t.s + 2, t.len - 3 });
		return true;
	}
	if (memchr(t.s, '@', t.len) && memchr(t.s, '(', t.len)) {
		o->kind = SASS_OPND_RELOC;
		o->sel = starts(t, "32@hi(") ? SASS_MOD_HI : SASS_MOD_NONE;
		loader_address(t, o, pool);
		return true;
	}
	return false;
}

static bool scoreboards(struct slice t, struct sass_operand *o)
{
	if (t.len < 2 || *t.s != '{' || t.s[t.len - 1] != '}')
		return false;
	o->kind = SASS_OPND_SCOREBOARD;
	o->reg = SASS_NO_REG;
	for (size_t i = 1; i + 1 < t.len; i++) {
		if (t.s[i] >= '0' && t.s[i] <= '7')
			o->value |= 1 << (t.s[i] - '0');
		else if (t.s[i] != ',' && t.s[i] != ' ')
			return false;
	}
	return true;
}

static bool special(struct slice t, struct sass_operand *o)
{
	if (!starts(t, "SR"))
		return false;
	o->kind = SASS_OPND_SPECIAL;
	o->value = sass_special_find(t.s, t.len);
	return o->value != SASS_SR_COUNT;
}

static bool shape(struct slice t, struct sass_operand *o)
{
	static const enum sass_mod shapes[] = { SASS_MOD_1D,        SASS_MOD_2D,
		                                    SASS_MOD_3D,        SASS_MOD_CUBE,
		                                    SASS_MOD_ARRAY_1D,  SASS_MOD_ARRAY_2D,
		                                    SASS_MOD_ARRAY_CUBE };
	const enum sass_mod m = sass_mod_find(t.s, t.len);
	for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
		if (m == shapes[k]) {
			o->kind = SASS_OPND_SHAPE;
			o->sel = (uint16_t)m;
			return true;
		}
	return false;
}

/* What is left when signs are gone. */
static bool unsigned_form(struct slice t, struct sass_operand *o, struct sass_pool **pool)
{
	struct reg_name r;
	if (reg_of(t, &r)) {
		o->kind = r.kind;
		o->reg = r.reg;
		o->sel = r.sel;
		o->flags |= r.flags;
		return true;
	}
	if (is(t, "PR") || is(t, "UPR")) {
		o->kind = SASS_OPND_PREDS;
		return true;
	}
	if (is(t, "Rpc.LO") || is(t, "Rpc.HI")) {
		o->kind = SASS_OPND_RPC;
		o->reg = is(t, "Rpc.HI");
		return true;
	}
	if (starts(t, "cx["))
		return constant(from(t, 2), true, o);
	if (starts(t, "c["))
		return constant(from(t, 1), false, o);
	if (*t.s == '[' || starts(t, "desc["))
		return memory(t, o);
	if (starts(t, "gdesc["))
		return matrix(from(t, 5), o);
	if (is(t, "gsb0")) {
		o->kind = SASS_OPND_GROUP;
		return true;
	}
	return scoreboards(t, o) || special(t, o) || shape(t, o) || place(t, o, pool);
}

static bool literal(struct slice t, struct sass_operand *o)
{
	if (integer(t, &o->value) && (starts(t, "0x") || starts(t, "-0x"))) {
		o->kind = SASS_OPND_INT;
		return true;
	}
	if (!floating(t, &o->number))
		return false;
	o->kind = SASS_OPND_FLOAT;
	o->value = 0;
	return true;
}

struct sass_operand sass_operand_read(struct slice text, struct sass_pool **pool)
{
	struct sass_operand o = { .reg = SASS_NO_REG, .ureg = SASS_NO_REG, .desc = SASS_NO_REG };
	struct slice t = trim(text);
	if (!t.len || literal(t, &o))
		return o;
	if (*t.s == '-' || *t.s == '~' || *t.s == '!') {
		o.flags |= *t.s == '-' ? SASS_NEG : SASS_NOT;
		t = from(t, 1);
	}
	if (t.len > 2 && *t.s == '|') { /* |R4|.reuse: suffixes may stand behind the bar */
		const char *close = memchr(t.s + 1, '|', t.len - 1);
		if (close) {
			char inside[64];
			const size_t n = (size_t)(close - t.s) - 1;
			const size_t tail = t.len - n - 2;
			o.flags |= SASS_ABS;
			if (n + tail < sizeof inside) {
				memcpy(inside, t.s + 1, n);
				memcpy(inside + n, close + 1, tail);
				if (!n || !unsigned_form((struct slice){ inside, n + tail }, &o, pool))
					o.kind = SASS_OPND_OTHER;
				return o;
			}
		}
	}
	if (!t.len || !unsigned_form(t, &o, pool))
		o.kind = SASS_OPND_OTHER;
	return o;
}
