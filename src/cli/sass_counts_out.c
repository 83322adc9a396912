/*
 * What a launch executed of a function's machine code: beside every instruction of the verb sass,
 * and in sum. The columns of a row, and the foot:
 *
 *       0060      4096  12.5  32.0
 *
 *   Executed: 32 768 = warp instructions, 31.2 of 32 lanes on average
 *   hottest lines:
 *       41.2 %    13 500 warp instructions  32.0 lanes    41 | acc += a[i];
 *   loops:
 *     0110-0250   95.1 %   31 162 warp instructions    lines 38-44
 */
#include "cli/sass_out.h"

#include "base/mem.h"
#include "model/code_listing.h"
#include "model/record_tables.h"
#include "sass/code_of.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_LINES = 8, SHOWN_LOOPS = 8 };

bool sass_is_counted(const struct sass_show *show)
{
	return show->counts && show->counts->counts.n_code;
}

const struct code_count *sass_count(const struct sass_show *show, const struct sass_inst *i)
{
	return sass_is_counted(show) ? run_counts_code_at(&show->counts->counts, i->offset) : NULL;
}

static double share_of(const struct sass_show *show, uint64_t warps)
{
	const uint64_t all = show->counts->counts.total.warp_executed;
	return all ? (double)warps / (double)all : 0;
}

static double mean_lanes(uint64_t lanes, uint64_t warps)
{
	return warps ? (double)lanes / (double)warps : 0;
}

static enum style heat(double share)
{
	return share >= 0.1 ? STYLE_HEAT3 : share >= 0.03 ? STYLE_HEAT2 : STYLE_HEAT1;
}

void sass_print_count(struct cli *c, const struct sass_show *show, const struct sass_inst *i)
{
	const struct code_count *count = sass_count(show, i);
	if (!sass_is_counted(show))
		return;
	if (!count || !count->warps) {
		colour_style(c->out, STYLE_DIM);
		fprintf(c->out, "  %9d %5s %5s", 0, "-", "-");
	} else {
		const double share = share_of(show, count->warps);
		fprintf(c->out, "  %9" PRIu64 " ", count->warps);
		colour_style(c->out, heat(share));
		fprintf(c->out, "%5.1f", 100 * share);
		colour_style(c->out, STYLE_NORMAL);
		fprintf(c->out, " %5.1f", mean_lanes(count->lanes, count->warps));
	}
	colour_style(c->out, STYLE_NORMAL);
}

/* --- in sum ----------------------------------------------------------------------------------- */

/* A source line of what ran. */
struct hot_line {
	uint32_t file, line;
	uint64_t warps, lanes;
};

static int hotter(const void *a, const void *b)
{
	const struct hot_line *x = a, *y = b;
	if (x->warps != y->warps)
		return x->warps > y->warps ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* Lines by what was executed of them; returns how many. */
static unsigned hot_lines(const struct sass_show *show, const struct sass_func *f,
                          struct hot_line **out)
{
	struct hot_line *all = mem_calloc(f->n_insts + 1u, sizeof *all);
	unsigned n = 0;
	for (unsigned k = 0; k < f->n_insts; k++) {
		const struct sass_inst *i = &f->insts[k];
		const struct code_count *count = sass_count(show, i);
		unsigned at = 0;
		if (!count || !count->warps)
			continue;
		while (at < n && (all[at].file != i->file || all[at].line != i->line))
			at++;
		if (at == n)
			all[n++] = (struct hot_line){ .file = i->file, .line = i->line };
		all[at].warps += count->warps;
		all[at].lanes += count->lanes;
	}
	qsort(all, n, sizeof *all, hotter);
	*out = all;
	return n;
}

static int hotter_loop(const void *a, const void *b)
{
	const struct code_loop *x = a, *y = b;
	if (x->warps != y->warps)
		return x->warps > y->warps ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* Loops that ran, by what was executed in them. */
static unsigned hot_loops(const struct sass_show *show, const struct sass_func *f,
                          struct code_loop *out)
{
	struct code_listing *code = sass_code_of(show->module, f, NULL, "");
	unsigned n = code_listing_loops(code, &show->counts->counts, out), ran = 0;
	code_listing_free(code);
	for (unsigned k = 0; k < n; k++)
		if (out[k].warps)
			out[ran++] = out[k];
	qsort(out, ran, sizeof *out, hotter_loop);
	return ran;
}

/* First and last line of the loop's own file; 0 = none is known. */
static void loop_lines(const struct sass_func *f, const struct code_loop *loop, uint32_t *first,
                       uint32_t *last)
{
	const uint32_t file = f->insts[loop->last].file;
	*first = *last = 0;
	for (unsigned k = loop->first; k <= loop->last; k++) {
		const struct sass_inst *i = &f->insts[k];
		if (i->file != file || !i->line)
			continue;
		*first = !*first || i->line < *first ? i->line : *first;
		*last = i->line > *last ? i->line : *last;
	}
}

static void print_lines(struct cli *c, const struct sass_show *show, const struct sass_func *f)
{
	struct hot_line *lines;
	const unsigned n = hot_lines(show, f, &lines);
	struct table t = { .cols = 4,
		               .right = { true, true, true },
		               .names = { [3] = true },
		               .looks = { [3] = STYLE_KNOB } };
	cli_line_in(c, STYLE_TITLE, "\n  Hottest lines: share, warp instructions, mean lanes");
	for (unsigned k = 0; k < n && k < SHOWN_LINES; k++) {
		const struct hot_line *l = &lines[k];
		char share[16], warps[32], lanes[16], code[160], place[200];
		snprintf(share, sizeof share, "%.1f %%", 100 * share_of(show, l->warps));
		fmt_count(warps, sizeof warps, (double)l->warps);
		snprintf(lanes, sizeof lanes, "%.1f", mean_lanes(l->lanes, l->warps));
		if (l->line)
			snprintf(place, sizeof place, "%4" PRIu32 " | %s", l->line,
			         sass_line_text(show, l->file, l->line, code, sizeof code));
		else
			snprintf(place, sizeof place, "   ? |");
		table_row(&t, share, warps, lanes, place);
	}
	table_print(&t, c->out, "    ");
	free(lines);
}

static void print_loops(struct cli *c, const struct sass_show *show, const struct sass_func *f)
{
	struct code_loop loops[CODE_MAX_LOOPS];
	const unsigned n = hot_loops(show, f, loops);
	struct table t = { .cols = 4, .right = { [1] = true, [2] = true } };
	if (!n)
		return;
	cli_line_in(c, STYLE_TITLE, "\n  Loops that ran: offsets, share, warp instructions, lines");
	for (unsigned k = 0; k < n && k < SHOWN_LOOPS; k++) {
		char from[24], share[16], warps[32], place[32] = "";
		uint32_t first, last;
		loop_lines(f, &loops[k], &first, &last);
		snprintf(from, sizeof from, "%04" PRIx32 "-%04" PRIx32, f->insts[loops[k].first].offset,
		         f->insts[loops[k].last].offset);
		snprintf(share, sizeof share, "%.1f %%", 100 * share_of(show, loops[k].warps));
		fmt_count(warps, sizeof warps, (double)loops[k].warps);
		if (first)
			snprintf(place, sizeof place, "%" PRIu32 "-%" PRIu32, first, last);
		table_row(&t, from, share, warps, place);
	}
	table_print(&t, c->out, "    ");
}

void sass_print_counts(struct cli *c, const struct sass_show *show, const struct sass_func *f)
{
	const struct sass_counts *s = show->counts;
	char warps[32];
	if (!s->asked)
		return;
	if (!sass_is_counted(show)) {
		cli_line_in(c, STYLE_WATCH, "\n  Executed instructions are not counted: %s", s->why);
		return;
	}
	const struct counts *all = &s->counts.total;
	fmt_count(warps, sizeof warps, (double)all->warp_executed);
	fputc('\n', c->out);
	if (s->launch)
		cli_line(c, "  Launch %" PRIu64 " of %s:", s->launch, s->program);
	cli_line_in(c, STYLE_TITLE, "  Executed: %s %s warp instructions, %.1f of 32 lanes on average",
	            warps, origin_mark(s->counts.origin, !c->utf8),
	            mean_lanes(all->thread_executed, all->warp_executed));
	cli_line(c, "    grid %u x %u x %u, block %u x %u x %u", s->grid[0], s->grid[1], s->grid[2],
	         s->block[0], s->block[1], s->block[2]);
	if (s->note[0])
		cli_line_in(c, STYLE_DIM, "    %s", s->note);
	cli_print_variation(c, &s->counts.variation, "    ");
	print_lines(c, show, f);
	print_loops(c, show, f);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *lines_json(const struct sass_show *show, const struct sass_func *f)
{
	struct hot_line *lines;
	const unsigned n = hot_lines(show, f, &lines);
	json_t *all = json_array();
	for (unsigned k = 0; k < n; k++) {
		const struct hot_line *l = &lines[k];
		json_array_append_new(
			all, json_pack("{s:o, s:o, s:I, s:I}", "file",
		                   l->line ? json_string(sass_file_name(show->module->files[l->file]))
		                           : json_null(),
		                   "line", l->line ? json_integer(l->line) : json_null(), "warps",
		                   (json_int_t)l->warps, "lanes", (json_int_t)l->lanes));
	}
	free(lines);
	return all;
}

static json_t *loops_json(const struct sass_show *show, const struct sass_func *f)
{
	struct code_loop loops[CODE_MAX_LOOPS];
	const unsigned n = hot_loops(show, f, loops);
	json_t *all = json_array();
	for (unsigned k = 0; k < n; k++)
		json_array_append_new(all, json_pack("{s:i, s:i, s:I}", "first",
		                                     (int)f->insts[loops[k].first].offset, "last",
		                                     (int)f->insts[loops[k].last].offset, "warps",
		                                     (json_int_t)loops[k].warps));
	return all;
}

json_t *sass_counts_json(const struct sass_show *show, const struct sass_func *f)
{
	const struct sass_counts *s = show->counts;
	if (!sass_is_counted(show))
		return json_pack("{s:s, s:s}", "origin", origin_name(ORIGIN_NONE), "why", s->why);
	const struct run_counts *c = &s->counts;
	json_t *o =
		json_pack("{s:s, s:s, s:[i,i,i], s:[i,i,i]}", "origin", origin_name(c->origin), "level",
	              s->level, "grid", (int)s->grid[0], (int)s->grid[1], (int)s->grid[2], "block",
	              (int)s->block[0], (int)s->block[1], (int)s->block[2]);
	json_object_set_new(o, "blocks_run", json_integer((json_int_t)c->blocks_run));
	json_object_set_new(o, "blocks", json_integer((json_int_t)c->blocks_total));
	json_object_set_new(o, "launch", s->launch ? json_integer((json_int_t)s->launch) : json_null());
	json_object_set_new(o, "warps", json_integer((json_int_t)c->total.warp_executed));
	json_object_set_new(o, "lanes", json_integer((json_int_t)c->total.thread_executed));
	json_object_set_new(o, "lines", lines_json(show, f));
	json_object_set_new(o, "loops", loops_json(show, f));
	if (s->note[0])
		json_object_set_new(o, "note", json_string(s->note));
	if (variation_any(&c->variation))
		json_object_set_new(o, "varies", record_variation(&c->variation));
	return o;
}
