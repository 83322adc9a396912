/*
 * Mnemonics: opcode and modifiers, from opcode.def and modifier.def. PTX ISA 9.7.
 * Each distinct mnemonic is taken apart once per module and then copied.
 */
#include "ptx/parser.h"
#include "ptx/forms.h"

#include "base/mem.h"
#include "base/text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define CLUSTER_SPACE 0x100 /* of a SPACE: memory of the cluster */
static const struct modifier {
	const char *name;
	enum group group;
	int value;
} modifiers[] = {
#define MODIFIER(name, group, value) { name, GROUP_##group, value },
#include "ptx/modifier.def"
#undef MODIFIER
};

static_assert(OP_COUNT * 2 < OP_HASH, "the opcode table needs empty places");
static_assert(ARRAY_LEN(modifiers) * 2 < MODIFIER_HASH, "the modifier table needs empty places");

static void hash_put(uint16_t *table, size_t size, const char *name, size_t index)
{
	size_t h = lex_hash(name, strlen(name)) & (size - 1);
	while (table[h])
		h = (h + 1) & (size - 1);
	table[h] = (uint16_t)(index + 1);
}

void inst_tables(struct parser *p)
{
	for (size_t i = 0; i < OP_COUNT; i++)
		hash_put(p->op_hash, OP_HASH, opcode_names[i], i);
	for (size_t i = 0; i < ARRAY_LEN(modifiers); i++)
		hash_put(p->modifier_hash, MODIFIER_HASH, modifiers[i].name, i);
}

static bool same_word(const char *name, const char *s, size_t n)
{
	return strncmp(name, s, n) == 0 && name[n] == '\0';
}

static int find_op(const struct parser *p, const char *s, size_t n)
{
	for (size_t h = lex_hash(s, n) & (OP_HASH - 1); p->op_hash[h]; h = (h + 1) & (OP_HASH - 1))
		if (same_word(opcode_names[p->op_hash[h] - 1], s, n))
			return p->op_hash[h] - 1;
	return -1;
}

/* The modifier of that name in one of @groups; NULL = none. */
static const struct modifier *find_modifier(const struct parser *p, const char *s, size_t n,
                                            uint64_t groups)
{
	size_t h = lex_hash(s, n) & (MODIFIER_HASH - 1);
	for (; p->modifier_hash[h]; h = (h + 1) & (MODIFIER_HASH - 1)) {
		const struct modifier *m = &modifiers[p->modifier_hash[h] - 1];
		if ((groups >> m->group & 1) && same_word(m->name, s, n))
			return m;
	}
	return NULL;
}

static void list_types(struct text *t, uint32_t types)
{
	for (int i = 0; i < PTX_TYPE_COUNT; i++)
		if (types >> i & 1)
			text_add(t, " .%s", ptx_type_name((enum ptx_type)i));
}

static void list_modifiers(struct text *t, uint64_t groups)
{
	for (size_t i = 0; i < ARRAY_LEN(modifiers); i++)
		if (groups >> modifiers[i].group & 1)
			text_add(t, " .%s", modifiers[i].name);
	if (groups & G(SHAPE))
		text_add(t, " a shape such as .m16n8k16");
}

static bool bad_modifier(struct parser *p, const struct token *word, const char *at, size_t n,
                         enum ptx_op op)
{
	struct text t = { 0 };
	const char *remedy = mnemonic_remedy(word);
	list_modifiers(&t, opcode_forms[op].takes);
	list_types(&t, opcode_forms[op].types | opcode_forms[op].types2);
	report_at(p, at, word->line, ERR_UNSUPPORTED,
	          "modifier '.%.*s' of '%s' is not supported; PTX ISA %s", n > 40 ? 40 : (int)n, at,
	          opcode_names[op], ptx_op_section(op));
	if (remedy)
		err_remedy(p->err, "%s", remedy);
	else
		err_remedy(p->err, "Supported:%s.", t.len ? t.s : " none");
	text_free(&t);
	return false;
}

static bool report_missing(struct parser *p, const struct token *word, enum ptx_op op,
                           uint64_t groups, uint32_t types)
{
	struct text t = { 0 };
	list_modifiers(&t, groups);
	list_types(&t, types);
	report_at(p, word->s, word->line, ERR_PARSE, "'%s' needs one of%s", opcode_names[op], t.s);
	text_free(&t);
	return false;
}

/* --- modifiers --- */
/* Takes @letter and one to three digits from the text between @s and @end. */
static bool take_dimension(const char **s, const char *end, char letter, unsigned *value)
{
	const char *p = *s;
	if (p == end || *p != letter)
		return false;
	const char *digits = ++p;
	for (*value = 0; p < end && p - digits < 3 && *p >= '0' && *p <= '9'; p++)
		*value = 10 * *value + (unsigned)(*p - '0');
	*s = p;
	return p > digits;
}

/* m16n8k16, m8n8 */
static bool parse_shape(const char *s, size_t n, struct ptx_mma *mma)
{
	const char *end = s + n;
	unsigned m = 0, cols = 0, k = 0;
	if (!take_dimension(&s, end, 'm', &m) || !take_dimension(&s, end, 'n', &cols))
		return false;
	if (s < end && (!take_dimension(&s, end, 'k', &k) || s != end))
		return false;
	if (!m || !cols || m > 256 || cols > 256 || k > 256)
		return false;
	mma->m = (uint16_t)m;
	mma->n = (uint16_t)cols;
	mma->k = (uint16_t)k;
	return true;
}

/* Groups that set the mode of an instruction, and those of which nothing is kept. */
static const uint64_t mode_groups =
	G(SHFL) | G(VOTE) | G(PRMT) | G(BOUNDS) | G(CHANNEL) | G(LOD) | G(TEST) | G(DONE);
static const uint64_t idle_groups = G(LEVEL) | G(HINT) | G(BARCTA) | G(SHAPE) | G(TILE) | G(MAP) |
                                    G(NOCOMPLETE) | G(PROXY) | G(POPC) | G(MMIO);

static void apply_modifier(const struct modifier *m, bool again, struct ptx_inst *inst)
{
	if (idle_groups >> m->group & 1)
		return;
	if (mode_groups >> m->group & 1) {
		inst->mode = (enum ptx_mode)m->value;
		return;
	}
	switch (m->group) {
	case GROUP_SPACE:
		if (again) { /* copies: the first is the destination's */
			inst->space2 = (enum ptx_space)(m->value & ~CLUSTER_SPACE);
			break;
		}
		inst->space = (enum ptx_space)(m->value & ~CLUSTER_SPACE);
		inst->flags |= m->value & CLUSTER_SPACE ? PF_CLUSTER : 0;
		break;
	case GROUP_ROUND: inst->round = (enum ptx_round)m->value; break;
	case GROUP_CMP: inst->cmp = (enum ptx_cmp)m->value; break;
	case GROUP_BOOL: inst->boolop = (enum ptx_boolop)m->value; break;
	case GROUP_ATOM:
	case GROUP_BITS:
	case GROUP_BARRED: inst->atom = (enum ptx_atom)m->value; break;
	case GROUP_GEOMETRY: inst->geometry = (enum ptx_geometry)m->value; break;
	case GROUP_SEM: inst->sem = (enum ptx_sem)m->value; break;
	case GROUP_SCOPE: inst->scope = (enum ptx_scope)m->value; break;
	case GROUP_CACHE: inst->cache = (enum ptx_cache)m->value; break;
	case GROUP_VEC: inst->vec = (uint8_t)m->value; break;
	case GROUP_SCALE:
	case GROUP_DIMS: inst->mma.k = (uint16_t)m->value; break;
	case GROUP_PLUS_ONE:
	case GROUP_TILES: inst->mma.count = (uint8_t)m->value; break;
	case GROUP_FRAG: inst->mma.frag = (char)m->value; break;
	case GROUP_LAYOUT: *(again ? &inst->mma.b_col : &inst->mma.a_col) = m->value != 0; break;
	default: /* a flag */ inst->flags |= (uint32_t)m->value; break;
	}
}

static int find_type(const char *s, size_t n)
{
	for (int t = PTX_NONE + 1; t < PTX_TYPE_COUNT; t++)
		if (same_word(ptx_type_name((enum ptx_type)t), s, n))
			return t;
	return -1;
}

static bool is_video(enum ptx_op op)
{
	return op >= OP_VABSDIFF2 && op <= OP_VMAD;
}

/* Products of matrices in registers: types of d, a, b, c. */
static bool is_product(enum ptx_op op)
{
	return op == OP_MMA || op == OP_MMA_SP || op == OP_MMA_SP_ORDERED || op == OP_WMMA_MMA;
}

/* Copies that run by themselves, whose operands parse_bulk.c reads. */
static bool is_bulk(enum ptx_op op)
{
	return op >= OP_CP_ASYNC_BULK && op <= OP_CP_REDUCE_ASYNC_BULK_TENSOR;
}

static bool is_group_product(enum ptx_op op)
{
	return op == OP_WGMMA || op == OP_WGMMA_SP;
}

static int max_types(enum ptx_op op)
{
	if (is_video(op) || is_group_product(op))
		return 3;
	if (is_product(op))
		return 4;
	return opcode_forms[op].types2 ? 2 : opcode_forms[op].types ? 1 : 0;
}

/* Groups of which two may stand in one mnemonic. */
static uint64_t may_repeat(enum ptx_op op)
{
	uint64_t groups = G(HINT);
	if (op == OP_CP_ASYNC || op == OP_MAP_COPY || is_bulk(op))
		groups |= G(SPACE);
	if (is_product(op))
		groups |= G(LAYOUT);
	return groups;
}

static bool check_types(struct parser *p, const struct token *word, const struct ptx_inst *inst,
                        const enum ptx_type *types, int n)
{
	const struct opcode_form *form = &opcode_forms[inst->op];
	const bool is_bar = inst->op == OP_BAR || inst->op == OP_BARRIER;
	int want = max_types(inst->op);
	if (is_bar && !(inst->flags & PF_RED))
		want = 0;
	if (inst->op == OP_CVT_PACK && n == 3) /* that of c, too */
		want = n;
	if (inst->op == OP_WMMA_MMA && n == 2) /* f16 inputs: only d and c are written */
		return true;
	for (int i = 0; i < n && i < want; i++) {
		uint32_t allowed = i == 1 && want == 2 ? form->types2 : form->types;
		if (!(allowed >> types[i] & 1)) {
			struct text t = { 0 };
			list_types(&t, allowed);
			report_at(p, word->s, word->line, ERR_UNSUPPORTED,
			          "'%s' with type .%s is not supported; PTX ISA %s", opcode_names[inst->op],
			          ptx_type_name(types[i]), ptx_op_section(inst->op));
			err_remedy(p->err, "Supported:%s.", t.s);
			text_free(&t);
			return false;
		}
	}
	if (n > want)
		return fail_at(p, word->s, word->line, ERR_UNSUPPORTED,
		               "'%.*s' with %d types is not supported", (int)word->len, word->s, n);
	if (n == want)
		return true;
	return report_missing(p, word, inst->op, 0, n == 1 && want == 2 ? form->types2 : form->types);
}

/* --- conditions that the groups alone cannot say --- */

static bool check_product(struct parser *p, const struct token *word, const struct ptx_inst *inst,
                          uint64_t seen)
{
	const uint32_t type = 1u << inst->type;
	if ((type & TS_INT) && !(seen & (G(HALF) | G(WIDE))))
		return report_missing(p, word, inst->op, G(HALF) | G(WIDE), 0);
	if ((inst->flags & PF_WIDE) && (!(type & TS_INT) || ptx_type_bytes(inst->type) > 4))
		return fail_at(p, word->s, word->line, ERR_PARSE,
		               "'.wide' is for integers of 16 and 32 bits");
	if (!(type & TS_INT) && (seen & G(HALF)))
		return fail_at(p, word->s, word->line, ERR_PARSE, "'.lo' and '.hi' are for integers");
	return true;
}

static bool check_atomic(struct parser *p, const struct token *word, const struct ptx_inst *inst)
{
	if ((inst->atom == ATOM_INC || inst->atom == ATOM_DEC) && inst->type != PTX_U32)
		return report_missing(p, word, inst->op, 0, TS(U32));
	if (inst->op == OP_RED && (inst->atom == ATOM_CAS || inst->atom == ATOM_EXCH))
		return fail_at(p, word->s, word->line, ERR_PARSE, "'red' has no .cas and no .exch");
	return true;
}

static bool check_warp_wide(struct parser *p, const struct token *word, const struct ptx_inst *inst)
{
	if (inst->op == OP_REDUX && inst->atom > ATOM_XOR)
		return fail_at(p, word->s, word->line, ERR_PARSE,
		               "'redux' takes .add .min .max .and .or "
		               ".xor");
	if (inst->op == OP_VOTE && (inst->mode == MODE_BALLOT) != (inst->type == PTX_B32))
		return fail_at(p, word->s, word->line, ERR_PARSE,
		               "'vote.ballot' is of type .b32, the other votes are .pred");
	if (inst->op == OP_MATCH && inst->mode != MODE_ALL && inst->mode != MODE_ANY)
		return report_missing(p, word, inst->op, 0, 0);
	return true;
}

/* ld.mmio, st.mmio: .relaxed.sys, of one element of global memory (PTX ISA 9.7.9.8, 9.7.9.11). */
static bool check_mmio(struct parser *p, const struct token *word, const struct ptx_inst *inst)
{
	const bool reached = inst->space == SPACE_GLOBAL || inst->space == SPACE_GENERIC;
	if (inst->sem == SEM_RELAXED && inst->scope == SCOPE_SYS && reached && inst->vec == 1)
		return true;
	return fail_at(p, word->s, word->line, ERR_PARSE,
	               "'%s.mmio' is .relaxed.sys, of one element of global memory",
	               opcode_names[inst->op]);
}

static bool check_meaning(struct parser *p, const struct token *word, const struct ptx_inst *inst,
                          uint64_t seen, int n_spaces)
{
	const bool single = inst->op >= OP_VABSDIFF && inst->op <= OP_VSET;
	if (single && inst->atom > ATOM_MAX)
		return fail_at(p, word->s, word->line, ERR_PARSE, "'%s' takes .add .min .max",
		               opcode_names[inst->op]);
	const bool several = inst->op >= OP_VABSDIFF2 && inst->op <= OP_VSET4 && !single;
	if (several && (inst->atom > ATOM_ADD || (inst->atom && inst->flags & PF_SAT)))
		return fail_at(p, word->s, word->line, ERR_PARSE, "'%s' takes .sat or .add",
		               opcode_names[inst->op]);
	switch (inst->op) {
	case OP_MUL:
	case OP_MAD: return check_product(p, word, inst, seen);
	case OP_ATOM:
	case OP_RED: return check_atomic(p, word, inst);
	case OP_REDUX:
	case OP_VOTE:
	case OP_MATCH: return check_warp_wide(p, word, inst);
	case OP_CP_ASYNC:
		if (n_spaces == 2 && inst->space == SPACE_SHARED)
			return true;
		return fail_at(p, word->s, word->line, ERR_PARSE,
		               "'cp.async' copies from .global to .shared: cp.async.ca.shared.global");
	case OP_BAR:
	case OP_BARRIER:
		if (!(inst->flags & PF_RED) == !(seen & G(BARRED)))
			return true;
		return fail_at(p, word->s, word->line, ERR_PARSE,
		               "'%s.red' and no other takes .popc .and .or", opcode_names[inst->op]);
	default: return true;
	}
}

/* --- taking a mnemonic apart --- */

/* The opcode of the longest mnemonic that @word begins with, -1 = none; *@matched its length. */
static int longest_op(const struct parser *p, const struct token *word, size_t *matched)
{
	const char *end = word->s + word->len, *c = word->s;
	int op = -1;
	for (int parts = 0; parts < 5 && c < end; parts++) {
		c = memchr(c + 1, '.', (size_t)(end - c - 1));
		c = c ? c : end;
		int longer = find_op(p, word->s, (size_t)(c - word->s));
		if (longer >= 0) {
			op = longer;
			*matched = (size_t)(c - word->s);
		}
	}
	return op;
}

struct modifiers_seen {
	uint64_t groups;
	enum ptx_type types[4];
	int n_types, n_spaces;
};

/* One word behind a dot: a modifier, a type, or a shape. */
static bool read_modifier(struct parser *p, const struct token *word, const char *s, size_t n,
                          struct modifiers_seen *seen, struct ptx_inst *inst)
{
	const struct opcode_form *form = &opcode_forms[inst->op];
	const struct modifier *m = find_modifier(p, s, n, form->takes);
	const int type = m ? -1 : find_type(s, n);
	if (type >= 0 && form->types && seen->n_types < 4) {
		seen->types[seen->n_types++] = (enum ptx_type)type;
		return true;
	}
	if (m) {
		const bool again = seen->groups >> m->group & 1;
		if (again && !(may_repeat(inst->op) >> m->group & 1))
			return fail_at(p, s, word->line, ERR_PARSE,
			               "modifier '.%s' where one of its kind stands already", m->name);
		apply_modifier(m, again, inst);
		seen->groups |= (uint64_t)1 << m->group;
		seen->n_spaces += m->group == GROUP_SPACE;
		return true;
	}
	if ((form->takes & G(SHAPE)) && parse_shape(s, n, &inst->mma)) {
		seen->groups |= G(SHAPE);
		return true;
	}
	return bad_modifier(p, word, s, n, inst->op);
}

static bool read_mnemonic(struct parser *p, const struct token *word, struct ptx_inst *inst)
{
	const char *end = word->s + word->len;
	size_t matched = 0;
	const int op = longest_op(p, word, &matched);
	if (op < 0)
		return unknown_opcode(p, word);
	*inst = (struct ptx_inst){ .op = (enum ptx_op)op, .vec = 1, .guard = -1 };
	size_t shown = word->len < sizeof inst->text ? word->len : sizeof inst->text - 1;
	memcpy(inst->text, word->s, shown);
	const struct opcode_form *form = &opcode_forms[op];
	struct modifiers_seen seen = { 0 };
	for (const char *c = word->s + matched; c < end;) {
		const char *s = c + 1;
		c = memchr(s, '.', (size_t)(end - s));
		c = c ? c : end;
		if (!read_modifier(p, word, s, (size_t)(c - s), &seen, inst))
			return false;
	}
	for (int g = 0; g < GROUP_COUNT; g++)
		if ((form->needs & ~seen.groups) >> g & 1)
			return report_missing(p, word, (enum ptx_op)op, (uint64_t)1 << g, 0);
	const int n_types = seen.n_types;
	if (!check_types(p, word, inst, seen.types, n_types))
		return false;
	inst->type = n_types > 0 ? seen.types[0] : PTX_NONE;
	inst->type2 = n_types >= 2 && form->types2 ? seen.types[1] : PTX_NONE;
	if (is_product((enum ptx_op)op))
		for (int i = 0; i < n_types; i++) /* d c, or d a b c */
			inst->mma.types[n_types == 2 ? i * 3 : i] = seen.types[i];
	if (is_video((enum ptx_op)op) || is_group_product((enum ptx_op)op))
		memcpy(inst->mma.types, seen.types, sizeof inst->mma.types);
	if (seen.groups & G(MMIO))
		return check_mmio(p, word, inst);
	return check_meaning(p, word, inst, seen.groups, seen.n_spaces);
}

bool parse_mnemonic(struct parser *p, const struct token *word, struct ptx_inst *inst)
{
	size_t h = word->hash & (MNEMONIC_HASH - 1);
	for (; p->mnemonic_hash[h]; h = (h + 1) & (MNEMONIC_HASH - 1)) {
		const struct mnemonic *m = &p->mnemonics[p->mnemonic_hash[h] - 1];
		if (m->hash == word->hash && m->len == word->len && memcmp(m->text, word->s, m->len) == 0) {
			*inst = m->inst;
			return true;
		}
	}
	if (!read_mnemonic(p, word, inst))
		return false;
	if (p->n_mnemonics < MNEMONIC_HASH / 2) { /* more are still read, only not kept */
		grow_array(&p->mnemonics, p->n_mnemonics, &p->mnemonics_cap, sizeof *p->mnemonics);
		p->mnemonics[p->n_mnemonics] = (struct mnemonic){ word->s, word->len, word->hash, *inst };
		p->mnemonic_hash[h] = (uint16_t)++p->n_mnemonics;
	}
	return true;
}
