/*
 * Records and occupancy as aligned text for people: verdict first, then every group of metrics,
 * each value with its unit and origin mark. Computes nothing.
 */
#include "cli/cli.h"
#include "base/lang.h"
#include "lab/reference_run.h"
#include "ui/canvas.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void params_text(const struct selection *sel, char *out, size_t n)
{
	const struct kernel_desc *k = sel->kernel;
	size_t at = 0;
	out[0] = '\0';
	for (unsigned i = 0; i < k->n_params && at < n; i++) {
		char value[64];
		if (!kernel_param_used(k, sel->variant, i))
			continue;
		kernel_param_format(k, i, sel->params[i], value, sizeof value);
		int len = snprintf(out + at, n - at, "%s%s=%s", at ? " " : "", k->params[i].name, value);
		at += len > 0 ? (size_t)len : 0;
	}
}

static const char *mark(const struct cli *c, enum origin o)
{
	return origin_mark(o, !c->utf8);
}

/* --- occupancy --- */

static void print_carveout(struct cli *c, const struct gpu_spec *g, const struct occ_result *r)
{
	char shared[32], l1[32];
	if (!r->launchable)
		return;
	fmt_bytes(shared, sizeof shared, r->carveout_bytes);
	fmt_bytes(l1, sizeof l1, fmax(0, g->l1_bytes - r->carveout_bytes));
	if (r->carveout_blocks == OCC_UNLIMITED)
		cli_line(c, "Shared memory carve-out: %s; L1 has %s", shared, l1);
	else
		cli_line(c, "Shared memory carve-out: %s (%u block%s); L1 has %s", shared,
		         r->carveout_blocks, r->carveout_blocks == 1 ? "" : "s", l1);
}

void print_occupancy(struct cli *c, const struct gpu_spec *g, const struct occ_result *r)
{
	char needs[32], has[32], blocks[32];
	if (r->limiters[0])
		cli_line_in(c, STYLE_BOLD,
		            "Occupancy: %.4g %%, %u of %u warps, %u blocks per SM; limited by %s", r->pct,
		            r->warps_per_sm, gpu_max_warps_per_sm(g), r->blocks_per_sm, r->limiters);
	else
		cli_line_in(c, STYLE_BOLD, "Occupancy: %.4g %%, %u of %u warps, %u blocks per SM", r->pct,
		            r->warps_per_sm, gpu_max_warps_per_sm(g), r->blocks_per_sm);
	if (!r->launchable)
		cli_line_in(c, STYLE_BAD, "Cannot launch: %s", r->why_not);
	struct table t = { .cols = 6,
		               .said = true,
		               .head = true,
		               .right = { [1] = true, [2] = true, [3] = true },
		               .looks = { [4] = STYLE_WATCH, [5] = STYLE_DIM } };
	table_row(&t, "limit", "per block", "SM has", "blocks", "", "arithmetic");
	for (unsigned i = 0; i < OCC_LIMIT_COUNT; i++) {
		const struct occ_limit *l = &r->limits[i];
		fmt_count(needs, sizeof needs, l->needs);
		fmt_count(has, sizeof has, l->has);
		snprintf(blocks, sizeof blocks, "%u", l->blocks);
		table_row(&t, l->name, needs, has, l->blocks == OCC_UNLIMITED ? "any" : blocks,
		          l->limits ? "limits" : "", l->arithmetic);
		if (l->limits)
			table_style(&t, 3, STYLE_WATCH);
	}
	table_print(&t, c->out, "  ");
	print_carveout(c, g, r);
	if (r->book_note[0])
		cli_line(c, "By the book (plain division): %u blocks, %.4g %%. %s", r->book_blocks,
		         r->book_pct, r->book_note);
	else
		cli_line(c, "By the book (plain division): %u blocks, %.4g %%; the same", r->book_blocks,
		         r->book_pct);
}

/* --- a record --- */

void cli_print_variation(struct cli *c, const struct run_variation *v, const char *indent)
{
	char words[1024];
	for (unsigned w = variation_next(v, 0); w < VARIATION_WHYS; w = variation_next(v, w + 1)) {
		fputs(indent, c->out);
		cli_line(c, "a card may count differently: %s",
		         lang_text(variation_text((enum variation_why)w)));
		fprintf(c->out, "%s  %s\n", indent,
		        lang_text(variation_counts_text(v, w, words, sizeof words)));
	}
}

static void print_head(struct cli *c, const struct run_record *r)
{
	const struct selection *sel = &r->sel;
	const struct variant_desc *v = &sel->kernel->variants[sel->variant];
	char params[300], wall[256];
	params_text(sel, params, sizeof params);
	cli_name(c->out, STYLE_TITLE, sel->kernel->name);
	cli_name(c->out, STYLE_TITLE, "/");
	cli_name(c->out, STYLE_TITLE, v->name);
	fputs(": ", c->out);
	cli_line(c, "%s (%s)", v->title, v->section);
	cli_line(c, "%s, grid %ux%ux%u, block %ux%ux%u", params, r->plan.grid.x, r->plan.grid.y,
	         r->plan.grid.z, r->plan.block.x, r->plan.block.y, r->plan.block.z);
	if (r->run.wall_s > 0)
		cli_line(c, "%s, cc %d.%d; back end %s, %s, ran in %s", sel->gpu->name, sel->gpu->cc_major,
		         sel->gpu->cc_minor, sel->backend, r->compiler,
		         fmt_ns(wall, sizeof wall, r->run.wall_s * 1e9));
	else
		cli_line(c, "%s, cc %d.%d; back end %s, %s", sel->gpu->name, sel->gpu->cc_major,
		         sel->gpu->cc_minor, sel->backend, r->compiler);
	if (r->run.level[0] && strcmp(r->run.level, "PTX"))
		cli_line(c, "counts, time and bottleneck: %s", r->run.level);
	if (r->run.note[0])
		cli_line(c, "%s", r->run.note);
	if (r->run.races.of)
		cli_line(c, "%s", run_races_text(&r->run.races, wall, sizeof wall));
	if (r->run.counts.fidelity.known) {
		char words[1024];
		cli_line(c, "%s", run_fidelity_text(&r->run.counts.fidelity, words, sizeof words));
	}
	cli_print_variation(c, &r->run.counts.variation, "");
}

static void print_verdict(struct cli *c, const struct run_record *r)
{
	const struct variant_desc *v = &r->sel.kernel->variants[r->sel.variant];
	fputc('\n', c->out);
	if (r->verify == VERIFY_OK)
		cli_line_in(c, STYLE_GOOD, "Result: %sverified, %s", c->utf8 ? "✓ " : "", r->verify_text);
	else if (r->verify == VERIFY_WRONG)
		cli_line_in(c, STYLE_BAD, "Result: %sWRONG, %s", c->utf8 ? "✗ " : "", r->verify_text);
	else
		cli_line_in(c, STYLE_WATCH, "Result: %s%s", c->utf8 ? "≈ " : "", r->verify_text);
	if (r->check.note[0])
		cli_line(c, "%s", r->check.note);
	for (unsigned k = 0; k < r->run.found.n; k++) {
		const struct run_finding *f = &r->run.found.finding[k];
		cli_line_in(c, f->customary ? STYLE_WATCH : STYLE_BAD, "%s%s: %s",
		            !c->utf8       ? ""
		            : f->customary ? "≈ "
		                           : "✗ ",
		            f->kind, f->text);
		fprintf(c->out, "  %s\n", lang_text(f->remedy));
	}
	if (v->wrong)
		cli_line_in(c, STYLE_WATCH, "This variant is wrong by design: it shows a mistake.");

	char time[64], low[64], high[64], achieved[64], attainable[64];
	metric_format(&r->metrics, M_TIME_KERNEL, time, sizeof time);
	metric_format(&r->metrics, M_ROOF_ACHIEVED, achieved, sizeof achieved);
	metric_format(&r->metrics, M_ROOF_ATTAINABLE, attainable, sizeof attainable);
	const char *origin = mark(c, r->metrics.v[M_TIME_KERNEL].origin);
	if (metric_known(&r->metrics, M_ROOF_ACHIEVED))
		cli_line_in(c, STYLE_BOLD, "Time: %s %s, %s of %s attainable GFLOPS", time, origin,
		            achieved, attainable);
	else
		cli_line_in(c, STYLE_BOLD, "Time: %s %s", time, origin);
	if (metric_known(&r->metrics, M_TIME_LOW)) {
		metric_format(&r->metrics, M_TIME_LOW, low, sizeof low);
		metric_format(&r->metrics, M_TIME_HIGH, high, sizeof high);
		cli_line(c, "Measured, four of five such launches take %s to %s.", low, high);
	}
	const struct run_brief *reference = reference_run_find(&r->sel);
	if (reference && metric_known(&reference->metrics, M_TIME_KERNEL)) {
		metric_format(&reference->metrics, M_TIME_KERNEL, time, sizeof time);
		cli_line(c, "Recorded: %s %s on %s", time,
		         mark(c, reference->metrics.v[M_TIME_KERNEL].origin), reference->sel.gpu->name);
	}
	if (metric_known(&r->metrics, M_TIME_BOTTLENECK))
		cli_line(c, "Bottleneck: %s (%s)", r->metrics.v[M_TIME_BOTTLENECK].text,
		         perf_resource_about(r->perf.bottleneck));
	if (metric_known(&r->metrics, M_ROOF_BOUND))
		cli_line(c, "Roofline: %s", r->metrics.v[M_ROOF_BOUND].text);
	fputc('\n', c->out);
}

/* metric_format() writes these units itself. */
static const char *unit_beside(const struct metric_desc *d)
{
	static const char *const written[] = { "pct", "bytes", "ns" };
	for (size_t i = 0; i < ARRAY_LEN(written); i++)
		if (!strcmp(d->unit, written[i]))
			return "";
	return d->unit;
}

/* Kinds of instructions that did not run would fill the screen. */
static bool left_out(const struct metric_desc *d, const struct metric_value *v)
{
	return !strcmp(d->source, "code mix") && !(v->origin && v->num > 0);
}

/* Metrics in the catalogue's order, a blank line between groups ("mem.", "occ." ...). */
static void print_metrics(struct cli *c, const struct metric_set *m)
{
	struct table t = { .cols = 5,
		               .said = true,
		               .right = { [1] = true },
		               .looks = { [1] = STYLE_BOLD, STYLE_DIM, STYLE_DIM, STYLE_DIM } };
	const char *group = "";
	bool seen[ORIGIN_COUNT] = { false };
	for (int i = 0; i < METRIC_COUNT; i++) {
		const struct metric_desc *d = &metric_catalogue[i];
		const struct metric_value *v = &m->v[i];
		char value[96];
		if (left_out(d, v))
			continue;
		metric_format(m, (enum metric_id)i, value, sizeof value);
		const size_t len = strcspn(d->key, ".");
		if (*group && (strncmp(group, d->key, len) || group[len] != '.'))
			table_row(&t, "", "", "", "", "");
		group = d->key;
		seen[v->origin] = true;
		table_row(&t, d->title, value, mark(c, v->origin), v->origin ? unit_beside(d) : "",
		          v->origin   ? d->key
		          : v->reason ? v->reason
		                      : "");
		if (!v->origin)
			table_style(&t, 1, STYLE_DIM);
	}
	table_print(&t, c->out, "");
	fprintf(c->out, "\n%s", lang_text("Origin:"));
	for (int o = 1; o < ORIGIN_COUNT; o++)
		if (seen[o])
			fprintf(c->out, " %s %s;", mark(c, (enum origin)o),
			        lang_text(origin_name((enum origin)o)));
	fprintf(c->out, " %s\n", lang_text("n/a: the reason stands beside it."));
}

/* The tagged lines of the source that ran: the figures that teaching text speaks of. */
static void print_tags(struct cli *c, const struct run_record *r)
{
	const char *source = kernel_source(r->sel.kernel);
	struct table t = { .cols = 8,
		               .said = true,
		               .head = true,
		               .names = { [1] = true, [7] = true },
		               .right = { true, [2] = true, true, true, true, true } };
	struct line_tag tags[256];
	unsigned n = source_tags(source, tags, ARRAY_LEN(tags));
	table_row(&t, "line", "tag", "warp inst", "lanes", "divergent", "ld sect/req", "st sect/req",
	          "source");
	for (unsigned i = 0; i < r->run.counts.n_lines; i++) {
		const struct line_counts *l = &r->run.counts.lines[i];
		for (unsigned k = 0; k < n && k < ARRAY_LEN(tags); k++) {
			if (tags[k].line != l->line || !l->c.warp_executed)
				continue;
			char line[16], warp[32], lane[32], div[32], ld[64], st[64], text[80];
			struct metric_set m;
			metrics_clear(&m, "");
			metrics_from_counts(&m, &l->c, &r->run.counts.of_lines, r->run.counts.origin);
			snprintf(line, sizeof line, "%u", l->line);
			fmt_count(warp, sizeof warp, (double)l->c.warp_executed);
			fmt_count(lane, sizeof lane, (double)l->c.thread_executed);
			fmt_count(div, sizeof div, (double)l->c.divergent_branches);
			metric_format(&m, M_MEM_LD_SPR, ld, sizeof ld);
			metric_format(&m, M_MEM_ST_SPR, st, sizeof st);
			if (!source_line(source, l->line, text, sizeof text))
				text[0] = '\0';
			char *tag = strstr(text, "//@");
			if (tag)
				*tag = '\0';
			for (size_t e = strlen(text); e && strchr(" \t", text[e - 1]); e--)
				text[e - 1] = '\0';
			table_row(&t, line, tags[k].name, warp, lane, div, l->c.ld_requests ? ld : "-",
			          l->c.st_requests ? st : "-", text + strspn(text, " \t"));
		}
	}
	fputc('\n', c->out);
	cli_line(c, "Tagged lines of the source:");
	table_print(&t, c->out, "  ");
}

/* What the kernel's printf() gave, block by block. */
static void print_printed(struct cli *c, const struct run_record *r)
{
	const size_t shown = r->run.printed ? strlen(r->run.printed) : 0;
	if (!r->run.printed_bytes)
		return;
	fputc('\n', c->out);
	cli_line(c, "Printed by the kernel (printf, %zu bytes):", r->run.printed_bytes);
	fputs(r->run.printed ? r->run.printed : "", c->out);
	if (shown && r->run.printed[shown - 1] != '\n')
		fputc('\n', c->out);
	if (shown < r->run.printed_bytes)
		cli_line(c, "(%zu bytes more are not shown)", r->run.printed_bytes - shown);
}

void print_record(struct cli *c, const struct run_record *r)
{
	print_head(c, r);
	print_verdict(c, r);
	print_metrics(c, &r->metrics);
	fputc('\n', c->out);
	print_occupancy(c, r->sel.gpu, &r->occ);
	print_tags(c, r);
	print_printed(c, r);
}

void print_csv_field(FILE *f, const char *text)
{
	if (!text[strcspn(text, ",\"\n\r")]) {
		fputs(text, f);
		return;
	}
	fputc('"', f);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', f);
		fputc(*text, f);
	}
	fputc('"', f);
}

void print_record_csv(struct cli *c, const struct run_record *r)
{
	fputs("key,value,unit,origin,title\n", c->out);
	for (int i = 0; i < METRIC_COUNT; i++) {
		const enum metric_id id = (enum metric_id)i;
		const struct metric_desc *d = &metric_catalogue[id];
		fprintf(c->out, "%s,", d->key);
		if (metric_known(&r->metrics, id) && d->kind == METRIC_TEXT)
			print_csv_field(c->out, r->metrics.v[id].text);
		else if (metric_known(&r->metrics, id))
			fprintf(c->out, "%.15g", metric_get(&r->metrics, id));
		fprintf(c->out, ",%s,%s,", d->unit, origin_name(r->metrics.v[id].origin));
		print_csv_field(c->out, d->title);
		fputc('\n', c->out);
	}
}
