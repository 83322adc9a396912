/*
 * nvdisasm's listing of a cubin, line by line.
 *
 *     // nvdisasm 13.5.37                     put there by compile/disassemble.c
 *     .section .text.NAME,"ax",@progbits      the function that follows
 *     // | GPR   | PRED   | UGPR   |          which registers the columns count
 *     .L_x_20:             // ...             a label of the next instruction
 *     (offset in a comment) @!P0 SHFL.DOWN PT, R2, R5, 0x10, 0x1f ;   // |   6   |   2    |
 *
 * Blanks do not matter, and whatever is none of these is passed over. Labels are unique in a
 * listing; one may stand in another function than where it is used (a call).
 */
#include "base/mem.h"
#include "base/text.h"
#include "sass/sass_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct label {
	const char *name;
	unsigned func;
	uint32_t inst; /* index */
};

/* The labels that a remark lists for an instruction. */
struct branch_note {
	unsigned func;
	uint32_t inst;
	struct slice names; /* in the listing */
};

enum { MAX_COLUMNS = 6 };

struct listing {
	struct sass_module *m;
	struct label *labels;
	size_t n_labels, cap_labels;
	struct branch_note *notes;
	size_t n_notes;
	int func; /* of the section we are in; -1 = none of the cubin's */
	unsigned cap_insts;
	unsigned line;
	char columns[MAX_COLUMNS]; /* 'R', 'P', 'U', 'Q' (uniform predicates) or '?' */
	unsigned n_columns;
};

static struct slice trimmed(const char *s, size_t n)
{
	while (n && isspace((unsigned char)*s)) {
		s++;
		n--;
	}
	while (n && isspace((unsigned char)s[n - 1]))
		n--;
	return (struct slice){ s, n };
}

static bool begins(struct slice t, const char *word)
{
	return t.len >= strlen(word) && !memcmp(t.s, word, strlen(word));
}

static const char *find_text(struct slice t, const char *word)
{
	const size_t n = strlen(word);
	for (size_t i = 0; i + n <= t.len; i++)
		if (t.s[i] == *word && !memcmp(t.s + i, word, n))
			return t.s + i;
	return NULL;
}

/* "R1 | P | U": parts between bars; returns how many. */
static unsigned between_bars(struct slice t, struct slice *parts, unsigned most)
{
	unsigned n = 0;
	const char *end = t.s + t.len;
	const char *at = memchr(t.s, '|', t.len);
	while (at && n < most) {
		const char *next = memchr(at + 1, '|', (size_t)(end - at - 1));
		if (!next)
			break;
		parts[n++] = trimmed(at + 1, (size_t)(next - at - 1));
		at = next;
	}
	return n;
}

static void read_columns(struct listing *l, struct slice t)
{
	struct slice parts[MAX_COLUMNS];
	const unsigned n = between_bars(t, parts, MAX_COLUMNS);
	l->n_columns = n;
	for (unsigned i = 0; i < n; i++)
		l->columns[i] = begins(parts[i], "GPR")     ? 'R'
		                : begins(parts[i], "PRED")  ? 'P'
		                : begins(parts[i], "UGPR")  ? 'U'
		                : begins(parts[i], "UPRED") ? 'Q'
		                                            : '?';
}

static uint16_t number_in(struct slice t)
{
	unsigned v = 0;
	for (size_t i = 0; i < t.len; i++) {
		if (!isdigit((unsigned char)t.s[i]) || v > 9999)
			return SASS_UNKNOWN_LIVE;
		v = v * 10 + (unsigned)(t.s[i] - '0');
	}
	return (uint16_t)v;
}

/* An empty column is 0. */
static void read_live(struct listing *l, struct slice comment, struct sass_inst *i)
{
	struct slice parts[MAX_COLUMNS];
	const unsigned n = between_bars(comment, parts, MAX_COLUMNS);
	if (!n || n != l->n_columns)
		return;
	i->live_regs = i->live_preds = i->live_uregs = i->live_upreds = 0;
	for (unsigned c = 0; c < n; c++) {
		const uint16_t count = number_in(parts[c]);
		if (l->columns[c] == 'R')
			i->live_regs = count;
		else if (l->columns[c] == 'P')
			i->live_preds = count;
		else if (l->columns[c] == 'U')
			i->live_uregs = count;
		else if (l->columns[c] == 'Q')
			i->live_upreds = count;
	}
	l->m->live = true;
}

/* ".section .text.NAME,..." with blanks between */
static void read_section(struct listing *l, struct slice t)
{
	const struct slice name = trimmed(t.s + strlen(".section"), t.len - strlen(".section"));
	l->func = -1;
	if (!begins(name, ".text."))
		return;
	const char *comma = memchr(name.s, ',', name.len);
	const char *start = name.s + strlen(".text.");
	const size_t len = comma ? (size_t)(comma - start) : name.len - strlen(".text.");
	for (unsigned f = 0; f < l->m->n_funcs; f++)
		if (strlen(l->m->funcs[f].name) == len && !memcmp(l->m->funcs[f].name, start, len))
			l->func = (int)f;
	l->cap_insts = l->func < 0 ? 0 : l->m->funcs[l->func].n_insts;
}

static void add_label(struct listing *l, struct slice name)
{
	if (l->func < 0 || begins(name, ".text."))
		return;
	MEM_ROOM(l->labels, l->n_labels, l->cap_labels, 64);
	l->labels[l->n_labels++] = (struct label){
		.name = sass_pool_text(&l->m->pool, name),
		.func = (unsigned)l->func,
		.inst = l->m->funcs[l->func].n_insts,
	};
}

static bool wrong(const struct listing *l, struct err *err, const char *what)
{
	return err_set(err, ERR_PARSE, "line %u of the disassembly: %s", l->line, what);
}

static void note_targets(struct listing *l, struct slice t, uint32_t inst)
{
	static const char start[] = "BRANCH_TARGETS ";
	const char *at = find_text(t, start);
	const char *end = at ? memchr(at, '"', (size_t)(t.s + t.len - at)) : NULL;
	if (!end)
		return;
	at += sizeof start - 1;
	l->notes = mem_realloc(l->notes, l->n_notes + 1, sizeof *l->notes);
	l->notes[l->n_notes++] = (struct branch_note){
		.func = (unsigned)l->func,
		.inst = inst,
		.names = { at, (size_t)(end - at) },
	};
}

/* "/" "*03d0*" "/ text ; // comment" */
static bool read_instruction(struct listing *l, struct slice t, struct slice comment,
                             struct err *err)
{
	uint64_t offset = 0;
	size_t n = 2;
	for (; n < t.len && n < 18 && isxdigit((unsigned char)t.s[n]); n++)
		offset = offset * 16 + (uint64_t)(isdigit((unsigned char)t.s[n])
		                                      ? t.s[n] - '0'
		                                      : tolower((unsigned char)t.s[n]) - 'a' + 10);
	if (n == 2 || n + 2 > t.len || t.s[n] != '*' || t.s[n + 1] != '/' || t.s[t.len - 1] != ';')
		return true; /* data, or a comment of its own */
	struct sass_func *f = &l->m->funcs[l->func];
	const struct cubin_func *code = f->cubin;
	if (offset % CUBIN_INST_BYTES || offset >= code->code_bytes)
		return wrong(l, err, "an offset at which the cubin has no instruction");
	if (f->n_insts && offset <= f->insts[f->n_insts - 1].offset)
		return wrong(l, err, "offsets do not ascend");
	MEM_ROOM(f->insts, f->n_insts, l->cap_insts, 64);
	struct sass_inst *i = &f->insts[f->n_insts++];
	*i = (struct sass_inst){ .offset = (uint32_t)offset };
	memcpy(i->code, code->code + offset, sizeof i->code);
	i->control = sass_control_of(i->code[1]);
	sass_inst_read(trimmed(t.s + n + 2, t.len - n - 3), i, &l->m->pool);
	read_live(l, comment, i);
	note_targets(l, t, f->n_insts - 1);
	return true;
}

static bool read_line(struct listing *l, struct slice t, struct err *err)
{
	struct slice comment = { "", 0 };
	const char *slashes = find_text(t, "//");
	if (slashes) {
		comment = (struct slice){ slashes, t.len - (size_t)(slashes - t.s) };
		t = trimmed(t.s, (size_t)(slashes - t.s));
		if (find_text(comment, "GPR"))
			read_columns(l, comment);
		if (begins(comment, "// nvdisasm ") && comment.len < sizeof l->m->disassembler)
			memcpy(l->m->disassembler, comment.s + 3, comment.len - 3);
	}
	if (begins(t, ".section") && t.len > 9 && isspace((unsigned char)t.s[8]))
		read_section(l, t);
	else if (l->func < 0 || !t.len)
		return true;
	else if (begins(t, "/*"))
		return read_instruction(l, t, comment, err);
	else if (t.s[t.len - 1] == ':')
		add_label(l, (struct slice){ t.s, t.len - 1 });
	return true;
}

static int by_name(const void *a, const void *b)
{
	const struct label *x = a;
	const struct label *y = b;
	return strcmp(x->name, y->name);
}

static const struct label *label_named(const struct listing *l, const char *name)
{
	const struct label key = { .name = name };
	return l->n_labels ? bsearch(&key, l->labels, l->n_labels, sizeof key, by_name) : NULL;
}

/* A label behind the last instruction names nothing. */
static bool is_here(const struct listing *l, const struct label *a, unsigned func)
{
	return a && a->func == func && a->inst < l->m->funcs[func].n_insts;
}

/* "R4 `(name)" is an address relative to the label, no place to go to. */
static bool goes_to_label(const struct sass_inst *i)
{
	const enum sass_flow flow = sass_op_info(i->op)->flow;
	for (unsigned n = 0; flow == SASS_FLOW_CALL && n < i->n_operands; n++)
		if (i->operands[n].kind == SASS_OPND_REG || i->operands[n].kind == SASS_OPND_UREG)
			return false;
	return flow == SASS_FLOW_BRANCH || flow == SASS_FLOW_CALL || flow == SASS_FLOW_SYNC_BEGIN ||
	       i->op == SASS_WARPSYNC;
}

/* The address of a place in its own function; the offset stands for it. */
static void resolve_address(struct listing *l, unsigned func, struct sass_operand *o)
{
	const struct label *to = *o->symbol == '.' ? label_named(l, o->symbol) : NULL;
	if (!is_here(l, to, func))
		return;
	const bool high = o->sel == SASS_MOD_HI;
	o->kind = SASS_OPND_INT;
	o->sel = SASS_MOD_NONE;
	o->value = high ? 0 : l->m->funcs[func].insts[to->inst].offset;
	o->symbol = high ? NULL : l->m->funcs[func].name;
}

static void resolve(struct listing *l, unsigned func, struct sass_inst *i)
{
	const struct sass_func *f = &l->m->funcs[func];
	for (unsigned n = 0; n < i->n_operands; n++) {
		struct sass_operand *o = (struct sass_operand *)&i->operands[n];
		const struct label *to = o->kind == SASS_OPND_LABEL ? label_named(l, o->symbol) : NULL;
		if (o->kind == SASS_OPND_RELOC)
			resolve_address(l, func, o);
		if (!is_here(l, to, func))
			continue;
		o->value = f->insts[to->inst].offset;
		o->symbol = NULL;
		if (goes_to_label(i))
			i->target = (int32_t)to->inst;
	}
}

/* "BRANCH_TARGETS .L_x_1,.L_x_2": where the disassembler saw an indirect branch go. */
static void resolve_targets(struct listing *l, const struct branch_note *b)
{
	struct sass_inst *i = &l->m->funcs[b->func].insts[b->inst];
	const char *end = b->names.s + b->names.len;
	uint32_t *targets = sass_pool_get(&l->m->pool, (b->names.len + 1) * sizeof *targets);
	i->targets = targets;
	for (const char *at = b->names.s; at < end;) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		const struct slice one = trimmed(at, (size_t)((comma ? comma : end) - at));
		const struct label *to = label_named(l, sass_pool_text(&l->m->pool, one));
		if (is_here(l, to, b->func))
			targets[i->n_targets++] = to->inst;
		at = comma ? comma + 1 : end;
	}
}

bool sass_listing_read(struct sass_module *m, const char *text, size_t len, struct err *err)
{
	struct listing l = { .m = m, .func = -1 };
	bool good = true;
	for (const char *at = text, *end = text + len; good && at < end;) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		const size_t n = nl ? (size_t)(nl - at) : (size_t)(end - at);
		l.line++;
		good = read_line(&l, trimmed(at, n), err);
		at += n + 1;
	}
	if (l.n_labels)
		qsort(l.labels, l.n_labels, sizeof *l.labels, by_name);
	for (unsigned f = 0; good && f < m->n_funcs; f++)
		for (unsigned i = 0; i < m->funcs[f].n_insts; i++)
			resolve(&l, f, &m->funcs[f].insts[i]);
	for (size_t n = 0; good && n < l.n_notes; n++)
		resolve_targets(&l, &l.notes[n]);
	free(l.labels);
	free(l.notes);
	return good;
}
