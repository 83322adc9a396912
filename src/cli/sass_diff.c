/*
 * What another architecture, parameter, launch bound or pragma changed in the machine code:
 * registers, spills, the mix of instructions, and line by line which instructions went and came.
 *
 * Lines of two texts are those of a longest common subsequence; instructions of a line are held
 * against each other by their opcodes, since registers are numbered anew by every compilation.
 */
#include "cli/sass_diff.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 6000, MAX_OF_LINE = 2000, SIDE_COLS = 44 };

/* --- longest common subsequence --------------------------------------------------------------- */

/* out[i] = 1 + partner of i among b's, 0 = it has none; by equal numbers. */
static void common(const uint64_t *a, unsigned n, const uint64_t *b, unsigned m, unsigned *out)
{
	const size_t width = (size_t)m + 1;
	uint16_t *best = mem_calloc((n + 1u) * width, sizeof *best);
	for (unsigned i = n; i-- > 0;)
		for (unsigned k = m; k-- > 0;) {
			const uint16_t down = best[(i + 1) * width + k], right = best[i * width + k + 1];
			best[i * width + k] = a[i] == b[k]   ? (uint16_t)(best[(i + 1) * width + k + 1] + 1)
			                      : down > right ? down
			                                     : right;
		}
	for (unsigned i = 0, k = 0; i < n && k < m;) {
		if (a[i] == b[k])
			out[i++] = ++k;
		else if (best[(i + 1) * width + k] >= best[i * width + k + 1])
			i++;
		else
			k++;
	}
	free(best);
}

/* Hashes of a text's lines, without blanks at their ends. */
static uint64_t *line_hashes(const char *text, unsigned *n)
{
	uint64_t *hash = mem_calloc(MAX_LINES, sizeof *hash);
	*n = 0;
	for (const char *s = text; s && *s && *n < MAX_LINES;) {
		const char *nl = strchr(s, '\n'), *end = nl ? nl : s + strlen(s), *from = s;
		while (from < end && (*from == ' ' || *from == '\t'))
			from++;
		while (end > from && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
			end--;
		hash[(*n)++] = hash_bytes(HASH_SEED, from, (size_t)(end - from));
		s = nl ? nl + 1 : NULL;
	}
	return hash;
}

/* By line of b's text, 1 to MAX_LINES: a's line; 0 = a does not have it. */
static uint32_t *lines_of_a(const struct sass_side *a, const struct sass_side *b)
{
	uint32_t *map = mem_calloc(MAX_LINES + 1, sizeof *map);
	unsigned n, m;
	const bool one =
		a->show.source && b->show.source && strcmp(a->show.source, b->show.source) != 0;
	if (!one) { /* the same text, or cubins: their numbers are all that is known */
		for (uint32_t i = 0; i <= MAX_LINES; i++)
			map[i] = i;
		return map;
	}
	uint64_t *of_a = line_hashes(a->show.source, &n), *of_b = line_hashes(b->show.source, &m);
	unsigned *partner = mem_calloc(m + 1u, sizeof *partner);
	common(of_b, m, of_a, n, partner);
	for (unsigned i = 0; i < m; i++)
		map[i + 1] = partner[i];
	free(partner);
	free(of_a);
	free(of_b);
	return map;
}

/* Where rows go: to the screen, or into the object of a function. */
struct out {
	struct cli *c; /* NULL: JSON */
	json_t *func;  /* the object */
	json_t *pairs; /* of the present line */
};

static json_t *list_of(const struct out *o, const char *key)
{
	json_t *list = json_object_get(o->func, key);
	if (list)
		return list;
	json_object_set_new(o->func, key, json_array());
	return json_object_get(o->func, key);
}

/* --- the mix ---------------------------------------------------------------------------------- */

/* Unpadded: what follows the last EXIT is never run. */
static void count(const struct sass_func *f, unsigned by_op[SASS_OP_COUNT],
                  unsigned by_class[SASS_CLASS_COUNT], unsigned *spills)
{
	for (unsigned i = 0; i < f->n_insts; i++) {
		by_op[f->insts[i].op]++;
		by_class[sass_op_info(f->insts[i].op)->class]++;
		*spills += f->insts[i].spill;
	}
}

static void add_row(struct table *t, const char *name, const struct out *o, const char *list,
                    uint64_t a, uint64_t b)
{
	if (!o->c) {
		json_array_append_new(list_of(o, list), json_pack("{s:s, s:I, s:I}", "name", name, "before",
		                                                  (json_int_t)a, "after", (json_int_t)b));
		return;
	}
	char of_a[24], of_b[24], change[24] = "";
	snprintf(of_a, sizeof of_a, "%" PRIu64, a);
	snprintf(of_b, sizeof of_b, "%" PRIu64, b);
	if (a != b)
		snprintf(change, sizeof change, "%+" PRId64, (int64_t)(b - a));
	table_row(t, name, of_a, of_b, change);
}

static unsigned bytes_of(unsigned stack)
{
	return stack == CUBIN_NO_COUNT ? 0 : stack;
}

static bool both_counted(const struct sass_side *a, const struct sass_side *b)
{
	return sass_is_counted(&a->show) && sass_is_counted(&b->show);
}

static void tell_executed(const struct out *o, struct table *t, const struct sass_side *a,
                          const struct sass_side *b)
{
	const struct counts *of_a = &a->show.counts->counts.total,
						*of_b = &b->show.counts->counts.total;
	if (!both_counted(a, b))
		return;
	add_row(t, "executed warp instructions", o, "facts", of_a->warp_executed, of_b->warp_executed);
	add_row(t, "executed by lanes", o, "facts", of_a->thread_executed, of_b->thread_executed);
}

static void tell_facts(const struct out *o, const struct sass_side *side_a,
                       const struct sass_func *a, const struct sass_side *side_b,
                       const struct sass_func *b)
{
	unsigned op_a[SASS_OP_COUNT] = { 0 }, op_b[SASS_OP_COUNT] = { 0 }, spill_a = 0, spill_b = 0;
	unsigned class_a[SASS_CLASS_COUNT] = { 0 }, class_b[SASS_CLASS_COUNT] = { 0 };
	struct table t = {
		.cols = 4, .said = true, .right = { false, true, true, true }, .looks = { [3] = STYLE_BOLD }
	};
	list_of(o, "opcodes");
	count(a, op_a, class_a, &spill_a);
	count(b, op_b, class_b, &spill_b);
	add_row(&t, "registers", o, "facts", a->cubin->registers, b->cubin->registers);
	add_row(&t, "instructions", o, "facts", a->n_insts, b->n_insts);
	tell_executed(o, &t, side_a, side_b);
	add_row(&t, "spills and refills", o, "facts", spill_a, spill_b);
	add_row(&t, "stack bytes", o, "facts", bytes_of(a->cubin->stack_bytes),
	        bytes_of(b->cubin->stack_bytes));
	add_row(&t, "static shared bytes", o, "facts", a->cubin->shared_bytes, b->cubin->shared_bytes);
	for (unsigned k = 0; k < SASS_CLASS_COUNT; k++)
		if (class_a[k] || class_b[k])
			add_row(&t, sass_class_name(k), o, "facts", class_a[k], class_b[k]);
	if (o->c)
		table_print(&t, o->c->out, "  ");
	struct table ops = { .cols = 4,
		                 .right = { false, true, true, true },
		                 .looks = { [3] = STYLE_BOLD } };
	for (unsigned k = 1; k < SASS_OP_COUNT; k++)
		if (op_a[k] != op_b[k])
			add_row(&ops, sass_op_info(k)->name, o, "opcodes", op_a[k], op_b[k]);
	if (!o->c)
		return;
	if (ops.n)
		cli_line_in(o->c, STYLE_TITLE, "\n  opcodes that differ in number:");
	table_print(&ops, o->c->out, "  ");
}

/* --- line by line ----------------------------------------------------------------------------- */

/* Instructions of one line, in the order they stand; returns how many of MAX_OF_LINE. */
static unsigned of_line(const struct sass_show *show, const struct sass_func *f, uint32_t line,
                        const struct sass_inst **out)
{
	unsigned n = 0;
	for (unsigned i = 0; i < f->n_insts && n < MAX_OF_LINE; i++) {
		const struct sass_inst *x = &f->insts[i];
		const char *file = sass_file_name(show->module->files[x->file]);
		const bool ours = !show->source_file || !strcmp(file, show->source_file);
		if ((ours ? x->line : 0) == line)
			out[n++] = x;
	}
	return n;
}

/* Instructions of @b that come from @line of a's text. */
static unsigned of_mapped(const struct sass_side *b, const struct sass_func *f, const uint32_t *map,
                          uint32_t line, const struct sass_inst **out)
{
	unsigned n = 0;
	if (!line)
		return of_line(&b->show, f, 0, out);
	for (uint32_t k = 1; k <= MAX_LINES && !n; k++)
		if (map[k] == line)
			n = of_line(&b->show, f, k, out);
	return n;
}

static json_t *text_or_null(const struct sass_inst *i, const char *text)
{
	return i ? json_string(text) : json_null();
}

static void tell_pair(const struct out *o, const struct sass_func *fa, const struct sass_inst *a,
                      const struct sass_func *fb, const struct sass_inst *b)
{
	char left[256] = "", right[256] = "";
	if (a)
		sass_inst_text(fa, a, left, sizeof left);
	if (b)
		sass_inst_text(fb, b, right, sizeof right);
	if (!o->c) {
		json_array_append_new(o->pairs, json_pack("{s:o, s:o}", "before", text_or_null(a, left),
		                                          "after", text_or_null(b, right)));
		return;
	}
	if (strlen(left) > SIDE_COLS)
		snprintf(left + SIDE_COLS - 3, 4, "...");
	FILE *f = o->c->out;
	colour_style(f, a && b ? STYLE_NORMAL : a ? STYLE_BAD : STYLE_GOOD);
	fprintf(f, "  %c %-*s  %s", a && b ? ' ' : a ? '-' : '+', SIDE_COLS, left, right);
	colour_style(f, STYLE_NORMAL);
	fputc('\n', f);
}

struct pairing {
	const struct sass_inst *a[MAX_OF_LINE], *b[MAX_OF_LINE];
	uint64_t of_a[MAX_OF_LINE], of_b[MAX_OF_LINE];
	unsigned n, m, partner[MAX_OF_LINE + 1];
	bool counted; /* how often those of the line ran: */
	uint64_t ran_a, ran_b;
};

/* Executed warp instructions of the line, on both sides. */
static void sum_up(struct pairing *p, const struct sass_side *a, const struct sass_side *b)
{
	const struct code_count *count;
	p->counted = both_counted(a, b);
	p->ran_a = p->ran_b = 0;
	for (unsigned i = 0; i < p->n; i++)
		p->ran_a += (count = sass_count(&a->show, p->a[i])) ? count->warps : 0;
	for (unsigned i = 0; i < p->m; i++)
		p->ran_b += (count = sass_count(&b->show, p->b[i])) ? count->warps : 0;
}

/* False: the same opcodes in the same order, each its own partner. */
static bool pair_up(struct pairing *p)
{
	bool differs = p->n != p->m;
	for (unsigned i = 0; i < p->n; i++)
		p->of_a[i] = hash_bytes(HASH_SEED, p->a[i]->opcode, strlen(p->a[i]->opcode));
	for (unsigned i = 0; i < p->m; i++)
		p->of_b[i] = hash_bytes(HASH_SEED, p->b[i]->opcode, strlen(p->b[i]->opcode));
	for (unsigned i = 0; i < p->n && !differs; i++)
		differs = p->of_a[i] != p->of_b[i];
	memset(p->partner, 0, sizeof p->partner);
	for (unsigned i = 0; i < p->n && !differs; i++)
		p->partner[i] = i + 1;
	if (differs)
		common(p->of_a, p->n, p->of_b, p->m, p->partner);
	return differs;
}

/* @of_b: a line that only the second text has. */
static void tell_place(struct out *o, const struct sass_side *side, uint32_t line, bool of_b,
                       const struct pairing *p)
{
	char code[160] = "";
	if (line && side->show.source)
		source_line(side->show.source, line, code, sizeof code);
	if (!o->c) {
		o->pairs = json_array();
		json_array_append_new(list_of(o, "lines"),
		                      json_pack("{s:o, s:s, s:s, s:i, s:i, s:o}", "line",
		                                line ? json_integer(line) : json_null(), "of",
		                                of_b ? "after" : "before", "source", code, "before",
		                                (int)p->n, "after", (int)p->m, "instructions", o->pairs));
		if (p->counted)
			json_object_update_new(
				json_array_get(list_of(o, "lines"), json_array_size(list_of(o, "lines")) - 1),
				json_pack("{s:I, s:I}", "warps_before", (json_int_t)p->ran_a, "warps_after",
			              (json_int_t)p->ran_b));
		return;
	}
	if (line)
		fprintf(o->c->out, "%4" PRIu32 " | %s   (%u, %u)", line, code, p->n, p->m);
	else
		cli_say(o->c->out, STYLE_NORMAL, "   ? | (no line of the file)   (%u, %u)", p->n, p->m);
	if (p->counted)
		cli_say(o->c->out, STYLE_WATCH, "   ran %" PRIu64 ", %" PRIu64, p->ran_a, p->ran_b);
	fputc('\n', o->c->out);
}

static void tell_pairs(const struct out *o, const struct pairing *p, const struct sass_func *fa,
                       const struct sass_func *fb)
{
	unsigned k = 0;
	for (unsigned i = 0; i < p->n; i++) {
		if (!p->partner[i]) {
			tell_pair(o, fa, p->a[i], fb, NULL);
			continue;
		}
		for (; k + 1 < p->partner[i]; k++)
			tell_pair(o, fa, NULL, fb, p->b[k]);
		tell_pair(o, fa, p->a[i], fb, p->b[k++]);
	}
	for (; k < p->m; k++)
		tell_pair(o, fa, NULL, fb, p->b[k]);
}

/* Lines that a has, then those that only b has. Returns how many differ. */
static unsigned tell_lines(struct out *o, const struct sass_side *a, const struct sass_func *fa,
                           const struct sass_side *b, const struct sass_func *fb)
{
	struct pairing *p = mem_zalloc(sizeof *p);
	uint32_t *map = lines_of_a(a, b);
	unsigned differ = 0;
	for (uint32_t line = 0; line <= MAX_LINES; line++) {
		p->n = of_line(&a->show, fa, line, p->a);
		p->m = of_mapped(b, fb, map, line, p->b);
		if (!p->n && !p->m)
			continue;
		sum_up(p, a, b);
		if (!pair_up(p) && p->ran_a == p->ran_b)
			continue;
		differ++;
		tell_place(o, a, line, false, p);
		tell_pairs(o, p, fa, fb);
	}
	p->n = 0;
	for (uint32_t line = 1; line <= MAX_LINES; line++) {
		p->m = map[line] ? 0 : of_line(&b->show, fb, line, p->b);
		if (!p->m)
			continue;
		differ++;
		sum_up(p, a, b);
		tell_place(o, b, line, true, p);
		tell_pairs(o, p, fa, fb);
	}
	free(map);
	free(p);
	return differ;
}

/* --- pairs of functions ----------------------------------------------------------------------- */

/* Function @i of those that are meant; NULL = there are no more. */
static const struct sass_func *meant(const struct sass_side *s, unsigned i)
{
	const struct sass_module *m = s->show.module;
	for (unsigned f = 0; f < m->n_funcs; f++)
		if ((!s->only[0] || sass_is_named(m->funcs[f].name, s->only)) && !i--)
			return &m->funcs[f];
	return NULL;
}

/* A kernel keeps its own name where NVRTC compiles it, and has a mangled one by nvcc. */
static bool same_function(const struct sass_func *a, const struct sass_func *b)
{
	return sass_is_named(a->name, b->name) || sass_is_named(b->name, a->name);
}

static const struct sass_func *partner(const struct sass_side *a, const struct sass_func *f,
                                       const struct sass_side *b)
{
	const struct sass_func *of_b, *found = NULL;
	if (!meant(a, 1) && !meant(b, 1))
		return meant(b, 0);
	for (unsigned i = 0; (of_b = meant(b, i)); i++)
		if (!strcmp(of_b->name, f->name))
			return of_b;
		else if (same_function(f, of_b))
			found = of_b;
	return found;
}

static bool none_in_common(const struct sass_side *a, const struct sass_side *b, struct err *err)
{
	return err_set(err, ERR_USAGE, "'%s' and '%s' have no function in common", a->name, b->name);
}

bool sass_diff(struct cli *c, const struct sass_side *a, const struct sass_side *b, struct err *err)
{
	struct out o = { .c = c };
	unsigned pairs = 0;
	const struct sass_func *fa;
	for (unsigned i = 0; (fa = meant(a, i)); i++) {
		const struct sass_func *fb = partner(a, fa, b);
		if (!fb)
			continue;
		fputs(pairs++ ? "\n" : "", c->out);
		sass_say_name(c, fa);
		fprintf(c->out, ": %s, sm_%u -> ", a->name, a->show.module->cubin.sm);
		if (!same_function(fa, fb)) {
			sass_say_name(c, fb);
			fputs(": ", c->out);
		}
		fprintf(c->out, "%s, sm_%u\n", b->name, b->show.module->cubin.sm);
		sass_say_registers(c, &a->show, fa);
		sass_say_registers(c, &b->show, fb);
		tell_facts(&o, a, fa, b, fb);
		if (both_counted(a, b))
			cli_line_in(c, STYLE_TITLE,
			            "\n  lines whose instructions differ, or how often they ran: (how many "
			            "before, after)");
		else
			cli_line_in(c, STYLE_TITLE,
			            "\n  lines whose instructions differ: (how many before, after)");
		if (!tell_lines(&o, a, fa, b, fb))
			cli_line(c, "  none");
	}
	return pairs || none_in_common(a, b, err);
}

static json_t *side_json(const struct sass_side *s, const struct sass_func *f)
{
	char arch[16];
	snprintf(arch, sizeof arch, "sm_%u", s->show.module->cubin.sm);
	return json_pack("{s:s, s:s, s:b}", "words", s->name, "architecture", arch,
	                 "ignores_max_registers", sass_ignores_registers(&s->show, f));
}

json_t *sass_diff_json(const struct sass_side *a, const struct sass_side *b, struct err *err)
{
	json_t *all = json_array();
	const struct sass_func *fa;
	for (unsigned i = 0; (fa = meant(a, i)); i++) {
		const struct sass_func *fb = partner(a, fa, b);
		if (!fb)
			continue;
		struct out o = { .func = json_pack("{s:s, s:o, s:o}", "name", fa->name, "before",
			                               side_json(a, fa), "after", side_json(b, fb)) };
		tell_facts(&o, a, fa, b, fb);
		list_of(&o, "lines");
		tell_lines(&o, a, fa, b, fb);
		json_array_append_new(all, o.func);
	}
	if (json_array_size(all))
		return all;
	json_decref(all);
	none_in_common(a, b, err);
	return NULL;
}
