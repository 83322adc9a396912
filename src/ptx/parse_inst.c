/*
 * Mnemonics: opcode and modifiers, from opcode.def, modifier.def and form.def. PTX ISA 9.7.
 * Each distinct mnemonic is taken apart once per module and then copied.
 */
#include "ptx/parser.h"

#include "base/mem.h"
#include "base/text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Groups of modifiers; what a group sets is in apply(). */
#define GROUPS(X)                                                                                \
	X(SPACE)                                                                                     \
	X(ROUND) X(SAT) X(SATF) X(FTZ) X(NOFTZ) X(HALF) X(WIDE) X(CARRY) X(APPROX) X(UNI) X(SYNC)    \
		X(ALIGNED) X(VOLATILE) X(NC) X(TO) X(SHIFT) X(WRAP) X(NAN) X(XORSIGN) X(ABS) X(RELU)     \
			X(SHIFTAMT) X(PARITY) X(TRANS) X(CMP) X(BOOL) X(ATOM) X(BARRED) X(BAROP) X(BARCTA)   \
				X(SHFL) X(VOTE) X(PRMT) X(TEST) X(SEM) X(SCOPE) X(CACHE) X(LEVEL) X(HINT) X(VEC) \
					X(TILES) X(FRAG) X(LAYOUT) X(SHAPE)
enum group {
#define X(g) GROUP_##g,
	GROUPS(X)
#undef X
		GROUP_COUNT
};
#define G(g) ((uint64_t)1 << GROUP_##g)

/* Sets of types. */
#define TS(t) (1u << PTX_##t)
#define TS_BYTE (TS(B8) | TS(U8) | TS(S8))
#define TS_SIGNED (TS(S16) | TS(S32) | TS(S64))
#define TS_INT (TS_SIGNED | TS(U16) | TS(U32) | TS(U64))
#define TS_INT32 (TS(U32) | TS(S32))
#define TS_INT32_64 (TS_INT32 | TS(U64) | TS(S64))
#define TS_BITS32_64 (TS(B32) | TS(B64))
#define TS_BITS (TS(B16) | TS_BITS32_64)
#define TS_FLOAT (TS(F32) | TS(F64))
#define TS_HALF (TS(F16) | TS(F16X2) | TS(BF16) | TS(BF16X2))
#define TS_MEM (TS_BYTE | TS_BITS | TS(B128) | TS_INT | TS_FLOAT)
#define TS_MMA (TS(F16) | TS(BF16) | TS(TF32) | TS_FLOAT | TS(S32) | TS(U8) | TS(S8))

static const struct modifier {
	const char *name;
	enum group group;
	int value;
} modifiers[] = {
#define MODIFIER(name, group, value) { name, GROUP_##group, value },
#include "ptx/modifier.def"
#undef MODIFIER
};

static const struct form {
	uint64_t takes, needs;
	uint32_t types, types2;
	const char *operands;
} forms[OP_COUNT] = {
#define FORM(id, takes, needs, types, types2, operands) \
	[OP_##id] = { (takes) | (needs), needs, types, types2, operands },
#include "ptx/form.def"
#undef FORM
};

static const char *const op_names[OP_COUNT] = {
#define OPCODE(id, name, cls, section) name,
#include "ptx/opcode.def"
#undef OPCODE
};

static_assert(OP_COUNT * 2 < OP_HASH, "the opcode table needs empty places");
static_assert(ARRAY_LEN(modifiers) * 2 < MODIFIER_HASH, "the modifier table needs empty places");
static_assert(GROUP_COUNT <= 64, "groups are bits of 64");
static_assert(PTX_TYPE_COUNT <= 32, "types are bits of 32");

const char *form_operands(enum ptx_op op)
{
	return forms[op].operands;
}

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
		hash_put(p->op_hash, OP_HASH, op_names[i], i);
	for (size_t i = 0; i < ARRAY_LEN(modifiers); i++)
		hash_put(p->modifier_hash, MODIFIER_HASH, modifiers[i].name, i);
}

static bool same(const char *name, const char *s, size_t n)
{
	return strncmp(name, s, n) == 0 && name[n] == '\0';
}

static int find_op(const struct parser *p, const char *s, size_t n)
{
	for (size_t h = lex_hash(s, n) & (OP_HASH - 1); p->op_hash[h]; h = (h + 1) & (OP_HASH - 1))
		if (same(op_names[p->op_hash[h] - 1], s, n))
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
		if ((groups >> m->group & 1) && same(m->name, s, n))
			return m;
	}
	return NULL;
}

/* --- errors --- */
/* Families of opcodes that PTX has and this parser refuses: what they are, what to do instead. */
#define TEXTURE "Textures and surfaces are not supported; read through a pointer instead."
#define CLUSTER "Thread-block clusters are not supported."
#define POLICY "Cache policies are not supported; leave the hint out."
#define STACK "Stack memory of variable size is not supported; use an array."
#define VIDEO "Video (SIMD) instructions are not supported; use plain arithmetic."
static const char *family_remedy(const struct token *word)
{
	static const struct {
		const char *prefix, *remedy;
	} families[] = {
		{ "tex.", TEXTURE },
		{ "tld4.", TEXTURE },
		{ "txq.", TEXTURE },
		{ "suld.", TEXTURE },
		{ "sust.", TEXTURE },
		{ "sured.", TEXTURE },
		{ "suq.", TEXTURE },
		{ "cp.async.bulk", "Bulk copies (TMA) are not supported; use cp.async or plain copies." },
		{ "cp.async.mbarrier", "Use cp.async.commit_group and cp.async.wait_group." },
		{ "wgmma.", "Warp-group matrix instructions are not supported; use mma.sync or wmma." },
		{ "tcgen05.", "Tensor memory is not supported; use mma.sync or wmma." },
		{ "barrier.cluster", CLUSTER },
		{ "mapa", CLUSTER },
		{ "getctarank", CLUSTER },
		{ "clusterlaunchcontrol", CLUSTER },
		{ "griddepcontrol", "Dependent launches are not supported." },
		{ "fence.proxy", "Proxy fences belong to bulk copies, which are not supported." },
		{ "multimem.", "Multicast memory is not supported." },
		{ "createpolicy", POLICY },
		{ "applypriority", POLICY },
		{ "discard", POLICY },
		{ "alloca", STACK },
		{ "stacksave", STACK },
		{ "stackrestore", STACK },
		{ "vadd", VIDEO },
		{ "vsub", VIDEO },
		{ "vabsdiff", VIDEO },
		{ "vmin", VIDEO },
		{ "vmax", VIDEO },
		{ "vavrg", VIDEO },
		{ "vshl", VIDEO },
		{ "vshr", VIDEO },
		{ "vmad", VIDEO },
		{ "vset", VIDEO },
	};
	for (size_t i = 0; i < ARRAY_LEN(families); i++) {
		size_t n = strlen(families[i].prefix);
		if (word->len >= n && memcmp(word->s, families[i].prefix, n) == 0)
			return families[i].remedy;
	}
	return NULL;
}

static bool unknown_opcode(struct parser *p, const struct token *word)
{
	const char *dot = memchr(word->s, '.', word->len);
	size_t n = dot ? (size_t)(dot - word->s) : word->len;
	char base[32];
	snprintf(base, sizeof base, "%.*s", n > 31 ? 31 : (int)n, word->s);
	report_at(p, word->s, word->line, ERR_UNSUPPORTED, "opcode '%.*s' is not supported",
	          word->len > 80 ? 80 : (int)word->len, word->s);
	const char *remedy = family_remedy(word);
	const char *near = str_nearest(base, op_names, OP_COUNT);
	struct text known = { 0 };
	for (size_t i = 0; i < OP_COUNT; i++)
		if (op_names[i][0] == base[0])
			text_add(&known, " %s", op_names[i]);
	if (remedy)
		err_remedy(p->err, "%s", remedy);
	else if (near && str_distance(base, near) <= 1)
		err_remedy(p->err, "Did you mean '%s'?", near);
	else if (known.len)
		err_remedy(p->err, "Supported with the letter '%c':%s.", base[0], known.s);
	else
		err_remedy(p->err, "No opcode with the letter '%c' is supported.", base[0]);
	text_free(&known);
	return false;
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
	const char *remedy = family_remedy(word);
	list_modifiers(&t, forms[op].takes);
	list_types(&t, forms[op].types | forms[op].types2);
	report_at(p, at, word->line, ERR_UNSUPPORTED, "modifier '.%.*s' of '%s' is not supported",
	          n > 40 ? 40 : (int)n, at, op_names[op]);
	if (remedy)
		err_remedy(p->err, "%s", remedy);
	else
		err_remedy(p->err, "Supported:%s.", t.len ? t.s : " none");
	text_free(&t);
	return false;
}

static bool missing(struct parser *p, const struct token *word, enum ptx_op op, uint64_t groups,
                    uint32_t types)
{
	struct text t = { 0 };
	list_modifiers(&t, groups);
	list_types(&t, types);
	report_at(p, word->s, word->line, ERR_PARSE, "'%s' needs one of%s", op_names[op], t.s);
	text_free(&t);
	return false;
}

/* --- modifiers --- */
/* m16n8k16, m8n8 */
static bool parse_shape(const char *s, size_t n, struct ptx_mma *mma)
{
	char text[16];
	unsigned m = 0, cols = 0, k = 0;
	int used = 0;
	if (n >= sizeof text || s[0] != 'm')
		return false;
	memcpy(text, s, n);
	text[n] = '\0';
	if (sscanf(text, "m%3un%3uk%3u%n", &m, &cols, &k, &used) != 3 || used != (int)n) {
		k = 0;
		if (sscanf(text, "m%3un%3u%n", &m, &cols, &used) != 2 || used != (int)n)
			return false;
	}
	if (!m || !cols || m > 255 || cols > 255 || k > 255)
		return false;
	mma->m = (uint8_t)m;
	mma->n = (uint8_t)cols;
	mma->k = (uint8_t)k;
	return true;
}

static void apply(const struct modifier *m, bool again, struct ptx_inst *inst)
{
	switch (m->group) {
	case GROUP_SPACE:
		if (!again) /* cp.async: the first is the destination's */
			inst->space = (enum ptx_space)m->value;
		break;
	case GROUP_ROUND: inst->round = (enum ptx_round)m->value; break;
	case GROUP_CMP: inst->cmp = (enum ptx_cmp)m->value; break;
	case GROUP_BOOL: inst->boolop = (enum ptx_boolop)m->value; break;
	case GROUP_ATOM:
	case GROUP_BARRED: inst->atom = (enum ptx_atom)m->value; break;
	case GROUP_SHFL:
	case GROUP_VOTE:
	case GROUP_PRMT:
	case GROUP_TEST: inst->mode = (enum ptx_mode)m->value; break;
	case GROUP_SEM: inst->sem = (enum ptx_sem)m->value; break;
	case GROUP_SCOPE: inst->scope = (enum ptx_scope)m->value; break;
	case GROUP_CACHE: inst->cache = (enum ptx_cache)m->value; break;
	case GROUP_VEC: inst->vec = (uint8_t)m->value; break;
	case GROUP_TILES: inst->mma.count = (uint8_t)m->value; break;
	case GROUP_FRAG: inst->mma.frag = (char)m->value; break;
	case GROUP_LAYOUT: *(again ? &inst->mma.b_col : &inst->mma.a_col) = m->value != 0; break;
	case GROUP_LEVEL:
	case GROUP_HINT:
	case GROUP_BARCTA:
	case GROUP_SHAPE: break;
	default: /* a flag */ inst->flags |= (uint32_t)m->value; break;
	}
}

static int find_type(const char *s, size_t n)
{
	for (int t = PTX_NONE + 1; t < PTX_TYPE_COUNT; t++)
		if (same(ptx_type_name((enum ptx_type)t), s, n))
			return t;
	return -1;
}

static int max_types(enum ptx_op op)
{
	if (op == OP_MMA || op == OP_WMMA_MMA)
		return 4;
	return forms[op].types2 ? 2 : forms[op].types ? 1 : 0;
}

/* Groups of which two may stand in one mnemonic. */
static uint64_t may_repeat(enum ptx_op op)
{
	uint64_t groups = G(HINT);
	if (op == OP_CP_ASYNC)
		groups |= G(SPACE);
	if (op == OP_MMA || op == OP_WMMA_MMA)
		groups |= G(LAYOUT);
	return groups;
}

static bool check_types(struct parser *p, const struct token *word, const struct ptx_inst *inst,
                        const enum ptx_type *types, int n)
{
	const struct form *form = &forms[inst->op];
	const bool is_bar = inst->op == OP_BAR || inst->op == OP_BARRIER;
	int want = max_types(inst->op);
	if (is_bar && !(inst->flags & PF_RED))
		want = 0;
	if (inst->op == OP_WMMA_MMA && n == 2) /* f16 inputs: only d and c are written */
		return true;
	for (int i = 0; i < n && i < want; i++) {
		uint32_t allowed = i == 1 && want == 2 ? form->types2 : form->types;
		if (!(allowed >> types[i] & 1)) {
			struct text t = { 0 };
			list_types(&t, allowed);
			report_at(p, word->s, word->line, ERR_UNSUPPORTED,
			          "'%s' with type .%s is not supported", op_names[inst->op],
			          ptx_type_name(types[i]));
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
	return missing(p, word, inst->op, 0, n == 1 && want == 2 ? form->types2 : form->types);
}

/* Conditions that the groups alone cannot say. */
static bool check_meaning(struct parser *p, const struct token *word, const struct ptx_inst *inst,
                          uint64_t seen, int n_spaces)
{
	const uint32_t type = 1u << inst->type;
	const enum ptx_op op = inst->op;
	const bool product = op == OP_MUL || op == OP_MAD;
	if (product && (type & TS_INT) && !(seen & (G(HALF) | G(WIDE))))
		return missing(p, word, op, G(HALF) | G(WIDE), 0);
	if (product && (inst->flags & PF_WIDE) && (!(type & TS_INT) || ptx_type_bytes(inst->type) > 4))
		return fail_at(p, word->s, word->line, ERR_PARSE,
		               "'.wide' is for integers of 16 and 32 bits");
	if (product && !(type & TS_INT) && (seen & G(HALF)))
		return fail_at(p, word->s, word->line, ERR_PARSE, "'.lo' and '.hi' are for integers");
	if ((op == OP_ATOM || op == OP_RED) && (inst->atom == ATOM_INC || inst->atom == ATOM_DEC) &&
	    inst->type != PTX_U32)
		return missing(p, word, op, 0, TS(U32));
	if (op == OP_RED && (inst->atom == ATOM_CAS || inst->atom == ATOM_EXCH))
		return fail_at(p, word->s, word->line, ERR_PARSE, "'red' has no .cas and no .exch");
	if (op == OP_REDUX && inst->atom > ATOM_XOR)
		return fail_at(p, word->s, word->line, ERR_PARSE,
		               "'redux' takes .add .min .max .and .or "
		               ".xor");
	if (op == OP_VOTE && (inst->mode == MODE_BALLOT) != (inst->type == PTX_B32))
		return fail_at(p, word->s, word->line, ERR_PARSE,
		               "'vote.ballot' is of type .b32, the other votes are .pred");
	if (op == OP_MATCH && inst->mode != MODE_ALL && inst->mode != MODE_ANY)
		return missing(p, word, op, 0, 0);
	if (op == OP_CP_ASYNC && (n_spaces != 2 || inst->space != SPACE_SHARED))
		return fail_at(p, word->s, word->line, ERR_PARSE,
		               "'cp.async' copies from .global to .shared: cp.async.ca.shared.global");
	if ((op == OP_BAR || op == OP_BARRIER) && !(inst->flags & PF_RED) != !(seen & G(BARRED)))
		return fail_at(p, word->s, word->line, ERR_PARSE,
		               "'%s.red' and no other takes .popc .and .or", op_names[op]);
	return true;
}

static bool take_apart(struct parser *p, const struct token *word, struct ptx_inst *inst)
{
	const char *end = word->s + word->len, *c = word->s;
	size_t matched = 0;
	int op = -1;
	for (int parts = 0; parts < 3 && c < end; parts++) {
		c = memchr(c + 1, '.', (size_t)(end - c - 1));
		c = c ? c : end;
		int longer = find_op(p, word->s, (size_t)(c - word->s));
		if (longer >= 0) {
			op = longer;
			matched = (size_t)(c - word->s);
		}
	}
	if (op < 0)
		return unknown_opcode(p, word);
	*inst = (struct ptx_inst){ .op = (enum ptx_op)op, .vec = 1, .guard = -1 };
	size_t shown = word->len < sizeof inst->text ? word->len : sizeof inst->text - 1;
	memcpy(inst->text, word->s, shown);
	if (op == OP_BRX_IDX) {
		report_at(p, word->s, word->line, ERR_UNSUPPORTED,
		          "opcode 'brx.idx' (a table of branch targets) is not supported");
		return err_remedy(p->err, "Write the switch as a chain of 'if's; nvcc writes none.");
	}

	const struct form *form = &forms[op];
	uint64_t seen = 0;
	enum ptx_type types[4];
	int n_types = 0, n_spaces = 0;
	for (c = word->s + matched; c < end;) {
		const char *s = c + 1;
		c = memchr(s, '.', (size_t)(end - s));
		c = c ? c : end;
		const size_t n = (size_t)(c - s);
		const struct modifier *m = find_modifier(p, s, n, form->takes);
		int type = m ? -1 : find_type(s, n);
		if (type >= 0 && form->types && n_types < 4) {
			types[n_types++] = (enum ptx_type)type;
		} else if (m) {
			bool again = seen >> m->group & 1;
			if (again && !(may_repeat((enum ptx_op)op) >> m->group & 1))
				return fail_at(p, s, word->line, ERR_PARSE,
				               "modifier '.%s' where one of its kind stands already", m->name);
			apply(m, again, inst);
			seen |= (uint64_t)1 << m->group;
			n_spaces += m->group == GROUP_SPACE;
		} else if ((form->takes & G(SHAPE)) && parse_shape(s, n, &inst->mma)) {
			seen |= G(SHAPE);
		} else {
			return bad_modifier(p, word, s, n, (enum ptx_op)op);
		}
	}
	for (int g = 0; g < GROUP_COUNT; g++)
		if ((form->needs & ~seen) >> g & 1)
			return missing(p, word, (enum ptx_op)op, (uint64_t)1 << g, 0);
	if (!check_types(p, word, inst, types, n_types))
		return false;
	inst->type = n_types > 0 ? types[0] : PTX_NONE;
	inst->type2 = n_types == 2 && form->types2 ? types[1] : PTX_NONE;
	if (op == OP_MMA || op == OP_WMMA_MMA)
		for (int i = 0; i < n_types; i++) /* d c, or d a b c */
			inst->mma.types[n_types == 2 ? i * 3 : i] = types[i];
	return check_meaning(p, word, inst, seen, n_spaces);
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
	if (!take_apart(p, word, inst))
		return false;
	if (p->n_mnemonics < MNEMONIC_HASH / 2) { /* more are still read, only not kept */
		grow(&p->mnemonics, p->n_mnemonics, &p->mnemonics_cap, sizeof *p->mnemonics);
		p->mnemonics[p->n_mnemonics] = (struct mnemonic){ word->s, word->len, word->hash, *inst };
		p->mnemonic_hash[h] = (uint16_t)++p->n_mnemonics;
	}
	return true;
}

bool parse_inst(struct parser *p, const struct token *word, int32_t guard, bool guard_negated)
{
	struct ptx_func *f = func_at_hand(p);
	grow(&f->insts, f->n_insts, &p->insts_cap, sizeof *f->insts);
	struct ptx_inst *inst = &f->insts[f->n_insts];
	if (!parse_mnemonic(p, word, inst))
		return false;
	inst->guard = guard;
	inst->guard_negated = guard_negated;
	inst->line = p->line;
	inst->leaf_line = p->leaf_line;
	inst->ptx_line = word->line;
	inst->nounroll = p->nounroll;
	p->nounroll = false;
	if (!parse_operands(p, inst))
		return false;
	for (int i = 0; i < PTX_MAX_OPERANDS; i++)
		if (inst->opnd[i].kind != OPND_NONE)
			inst->n_opnds = (uint8_t)(i + 1);
	f->n_insts++;
	if (!at_punct(p, ';'))
		return at_punct(p, ',') ? fail(p, "too many operands for '%s'", inst->text)
		                        : expect(p, ';', "after the instruction");
	return advance(p);
}
