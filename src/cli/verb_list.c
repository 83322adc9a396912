/* list: what there is: kernels, gpus, metrics, presets, recordings, views, backends. */
#include "cli/cli.h"
#include "cli/view_list.h"

#include "base/asset.h"
#include "base/lang.h"
#include "lab/reference_run.h"
#include "model/page.h"
#include "model/preset.h"
#include "model/record_tables.h"
#include "lab/session_file.h"

#include <inttypes.h>
#include <string.h>

struct state {
	bool json;
};

static unsigned options(void *state, struct option_spec *o)
{
	struct state *s = state;
	o[0] = (struct option_spec){ "--json", OPT_FLAG, &s->json, NULL,
		                         "one JSON object instead of text" };
	return 1;
}

/* --- kernels --- */

/* "32, 64, 128" or "1 to 1024". */
static void legal_values(const struct kernel_desc *k, unsigned p, char *out, size_t n)
{
	const struct param_desc *d = &k->params[p];
	size_t at = 0;
	if (!d->choices) {
		char range[64];
		snprintf(range, sizeof range, "%" PRId64 " to %" PRId64, d->min, d->max);
		snprintf(out, n, "%s", lang_formatted("%" PRId64 " to %" PRId64, range));
		return;
	}
	out[0] = '\0';
	for (unsigned i = 0; d->choices[i] != INT64_MIN && at < n; i++) {
		char value[64];
		kernel_param_format(k, p, d->choices[i], value, sizeof value);
		int len = snprintf(out + at, n - at, "%s%s", i ? ", " : "", value);
		at += len > 0 ? (size_t)len : 0;
	}
}

static bool incomplete; /* a row says what is wrong in place of what there is */

static void text_kernels(FILE *f)
{
	for (size_t i = 0; i < kernel_count(); i++) {
		const struct kernel_desc *k = kernel_at(i);
		struct table t = {
			.cols = 3, .said = true, .names = { true }, .looks = { STYLE_BOLD, STYLE_DIM }
		};
		fputs(i ? "\n" : "", f);
		cli_name(f, STYLE_TITLE, k->name);
		fprintf(f, ": %s (%s)\n", lang_text(k->title), lang_text(k->section));
		for (unsigned v = 0; v < k->n_variants; v++) {
			char name[128];
			snprintf(name, sizeof name, "%s/%s", k->name, k->variants[v].name);
			table_row(&t, name, k->variants[v].section, k->variants[v].idea);
		}
		table_print(&t, f, "  ");
		t.names[1] = true;
		t.looks[0] = STYLE_KNOB;
		for (unsigned p = 0; p < k->n_params; p++) {
			char def[64], head[128], legal[300], of[300];
			kernel_param_format(k, p, k->params[p].def, def, sizeof def);
			snprintf(head, sizeof head, "%s=%s", k->params[p].name, def);
			legal_values(k, p, legal, sizeof legal);
			size_t at = 0;
			of[0] = '\0';
			for (unsigned v = 0; k->params[p].variants && v < k->n_variants && at < sizeof of; v++)
				if (kernel_param_used(k, v, p)) {
					int len = snprintf(of + at, sizeof of - at, "%s%s", at ? ", " : "",
					                   k->variants[v].name);
					at += len > 0 ? (size_t)len : 0;
				}
			char what[700];
			snprintf(what, sizeof what, "%s%s%s", lang_text(k->params[p].title),
			         of[0] ? lang_text("; only ") : "", of);
			table_row(&t, head, legal, what);
		}
		table_print(&t, f, "    ");
	}
}

static json_t *json_param(const struct kernel_desc *k, unsigned p)
{
	const struct param_desc *d = &k->params[p];
	char def[64];
	kernel_param_format(k, p, d->def, def, sizeof def);
	json_t *o =
		json_pack("{s:s, s:s, s:s, s:s}", "name", d->name, "title", d->title, "unit",
	              d->unit ? d->unit : "", "kind", d->kind == PARAM_COMPILE ? "compile" : "launch");
	json_object_set_new(o, "default", d->words ? json_string(def) : json_integer(d->def));
	if (d->choices) {
		json_t *list = json_array();
		for (unsigned i = 0; d->choices[i] != INT64_MIN; i++) {
			kernel_param_format(k, p, d->choices[i], def, sizeof def);
			json_array_append_new(list, d->words ? json_string(def) : json_integer(d->choices[i]));
		}
		json_object_set_new(o, "choices", list);
	} else {
		json_object_set_new(o, "min", json_integer(d->min));
		json_object_set_new(o, "max", json_integer(d->max));
	}
	json_t *variants = json_array();
	for (unsigned v = 0; v < k->n_variants; v++)
		if (kernel_param_used(k, v, p))
			json_array_append_new(variants, json_string(k->variants[v].name));
	json_object_set_new(o, "variants", variants);
	return o;
}

static json_t *json_kernels(void)
{
	json_t *list = json_array();
	for (size_t i = 0; i < kernel_count(); i++) {
		const struct kernel_desc *k = kernel_at(i);
		json_t *variants = json_array(), *params = json_array();
		for (unsigned v = 0; v < k->n_variants; v++) {
			const struct variant_desc *d = &k->variants[v];
			json_array_append_new(
				variants, json_pack("{s:s, s:s, s:s, s:s, s:s, s:b}", "name", d->name, "entry",
			                        d->entry, "title", d->title, "idea", d->idea, "section",
			                        d->section ? d->section : "", "wrong", d->wrong));
		}
		for (unsigned p = 0; p < k->n_params; p++)
			json_array_append_new(params, json_param(k, p));
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "name", k->name,
		                                      "title", k->title, "section", k->section, "about",
		                                      k->about ? k->about : "", "variants", variants,
		                                      "params", params));
	}
	return list;
}

/* --- the other lists --- */

/* A name, a word about it, and what it is. */
#define LISTED                                                                         \
	{                                                                                  \
		.cols = 3, .said = true, .names = { true }, .looks = { STYLE_BOLD, STYLE_DIM } \
	}

static void text_gpus(FILE *f)
{
	struct table t = { .cols = 8,
		               .said = true,
		               .head = true,
		               .names = { true, true, true },
		               .right = { [4] = true, true, true, true },
		               .looks = { STYLE_BOLD } };
	table_row(&t, "id", "name", "architecture", "cc", "SMs", "FP32 GFLOPS", "DRAM GB/s", "memory");
	for (size_t i = 0; i < gpu_count(); i++) {
		const struct gpu_spec *g = gpu_at(i);
		char cc[24], sms[16], flops[32], gbs[32], dram[32];
		snprintf(cc, sizeof cc, "%d.%d", g->cc_major, g->cc_minor);
		snprintf(sms, sizeof sms, "%u", g->sm_count);
		table_row(
			&t, g->id, g->name, g->arch, cc, sms, fmt_count(flops, sizeof flops, g->fp32_gflops),
			fmt_count(gbs, sizeof gbs, g->dram_gbs), fmt_gb(dram, sizeof dram, g->dram_bytes));
	}
	table_print(&t, f, "");
}

static json_t *json_gpus(void)
{
	json_t *list = json_array();
	for (size_t i = 0; i < gpu_count(); i++)
		json_array_append_new(list, record_write_run(&gpu_table, gpu_at(i)));
	return list;
}

static void text_metrics(FILE *f)
{
	struct table t = LISTED;
	for (size_t i = 0; i < METRIC_COUNT; i++)
		table_row(&t, metric_catalogue[i].key, metric_catalogue[i].unit,
		          metric_catalogue[i].definition);
	table_print(&t, f, "");
}

static json_t *json_metric_list(void)
{
	json_t *list = json_array();
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		const struct metric_desc *d = &metric_catalogue[i];
		json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s}", "key", d->key, "unit", d->unit, "kind",
		                      d->kind == METRIC_TEXT ? "text" : "number", "title", d->title,
		                      "definition", d->definition);
		json_object_set_new(o, "cupti", d->cupti[0] ? json_string(d->cupti) : json_null());
		json_array_append_new(list, o);
	}
	return list;
}

static void text_presets(FILE *f)
{
	struct table t = LISTED;
	for (size_t i = 0; i < preset_count(); i++) {
		struct preset *p;
		struct err err = { 0 };
		if (!preset_load(preset_name(i), &p, &err)) {
			table_row(&t, preset_name(i), "", err.msg);
			incomplete = true;
			continue;
		}
		char steps[32];
		snprintf(steps, sizeof steps, "%u steps", p->n_steps);
		table_row(&t, p->name, steps, p->title);
		preset_free(p);
	}
	table_print(&t, f, "");
}

static void text_recordings(FILE *f)
{
	struct table t = LISTED;
	char gpu[64], name[64];
	for (size_t i = 0; i < asset_count(); i++) {
		struct session s;
		char note[SESSION_NOTE_BYTES];
		struct err err = { 0 };
		const struct asset *a = asset_at(i);
		if (!reference_run_recording(a, gpu, name))
			continue;
		if (!session_open(a->path, &s, note, sizeof note, &err)) {
			table_row(&t, a->path, "", err.msg);
			incomplete = true;
			continue;
		}
		char runs[32];
		snprintf(runs, sizeof runs, "%u runs", s.n_history);
		table_row(&t, a->path, runs, s.sel.gpu->name);
		session_drop(&s);
	}
	table_print(&t, f, "");
}

static json_t *json_recordings(void)
{
	json_t *list = json_array();
	char gpu[64], name[64];
	for (size_t i = 0; i < asset_count(); i++)
		if (reference_run_recording(asset_at(i), gpu, name))
			json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "name", name, "gpu", gpu,
			                                      "path", asset_at(i)->path));
	return list;
}

static json_t *json_presets(void)
{
	json_t *list = json_array();
	for (size_t i = 0; i < preset_count(); i++) {
		struct preset *p;
		struct err err = { 0 };
		if (!preset_load(preset_name(i), &p, &err)) {
			json_array_append_new(
				list, json_pack("{s:s, s:s}", "name", preset_name(i), "error", err.msg));
			continue;
		}
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:i}", "name", p->name, "title",
		                                      p->title, "chapter", p->chapter, "about", p->about,
		                                      "steps", (int)p->n_steps));
		preset_free(p);
	}
	return list;
}

static void text_views(FILE *f)
{
	struct table t = LISTED;
	for (size_t i = 0; i < view_count(); i++)
		table_row(&t, view_at(i)->name, view_at(i)->title, view_at(i)->about);
	table_print(&t, f, "");
}

static json_t *json_views(void)
{
	json_t *list = json_array();
	for (size_t i = 0; i < view_count(); i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "name", view_at(i)->name, "title",
		                                      view_at(i)->title, "about", view_at(i)->about));
	return list;
}

static void text_backends(FILE *f)
{
	struct table t = { .cols = 2, .said = true, .names = { true }, .looks = { STYLE_BOLD } };
	for (size_t i = 0; i < backend_count(); i++) {
		const struct backend_status *st = backend_probe(backend_at(i));
		char line[400];
		snprintf(line, sizeof line, "%s%.300s",
		         st->usable ? "" : "not here: ", st->usable ? st->info.title : st->err.msg);
		table_row(&t, backend_at(i)->name, line);
	}
	table_print(&t, f, "");
}

static json_t *json_backends(void)
{
	json_t *list = json_array();
	for (size_t i = 0; i < backend_count(); i++) {
		const struct backend_status *st = backend_probe(backend_at(i));
		json_t *o = json_pack("{s:s, s:b}", "name", backend_at(i)->name, "usable", st->usable);
		json_object_set_new(o, "title", st->usable ? json_string(st->info.title) : json_null());
		json_object_set_new(o, "reason", st->usable ? json_null() : json_string(st->err.msg));
		json_object_set_new(o, "remedy", st->usable ? json_null() : json_string(st->err.remedy));
		json_array_append_new(list, o);
	}
	return list;
}

static void text_pages(FILE *f)
{
	struct table t = { .cols = 3,
		               .said = true,
		               .head = true,
		               .names = { [0] = true, [2] = true },
		               .looks = { STYLE_BOLD, STYLE_NORMAL, STYLE_DIM } };
	table_row(&t, "page", "title", "panels");
	for (size_t i = 0; i < page_count(); i++)
		table_row(&t, page_at(i)->name, page_at(i)->title, page_at(i)->panels);
	table_print(&t, f, "");
}

static json_t *json_pages(void)
{
	json_t *list = json_array();
	for (size_t i = 0; i < page_count(); i++) {
		const struct text_page *p = page_at(i);
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "name", p->name, "title",
		                                      p->title, "explains", p->panels, "text", p->text));
	}
	return list;
}

static const struct {
	const char *name;
	void (*text)(FILE *f);
	json_t *(*json)(void);
} lists[] = {
	{ "kernels", text_kernels, json_kernels },          { "gpus", text_gpus, json_gpus },
	{ "metrics", text_metrics, json_metric_list },      { "presets", text_presets, json_presets },
	{ "recordings", text_recordings, json_recordings }, { "views", text_views, json_views },
	{ "backends", text_backends, json_backends },       { "pages", text_pages, json_pages },
};

static int run(struct cli *c, void *state, unsigned n, char **args)
{
	(void)state;
	struct err err = { 0 };
	const char *what = n == 1 ? args[0] : "";
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		if (strcmp(lists[i].name, what))
			continue;
		if (c->json)
			return cli_emit(c, json_pack("{s:s, s:o}", "schema", CLI_SCHEMA, what, lists[i].json()),
			                CLI_OK);
		lists[i].text(c->out);
		return incomplete ? CLI_IMPOSSIBLE : CLI_OK;
	}
	const char *names[ARRAY_LEN(lists)];
	struct text all = { 0 };
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		names[i] = lists[i].name;
		text_add(&all, "%s%s", i ? ", " : "", names[i]);
	}
	const char *near = n == 1 ? str_nearest(what, names, ARRAY_LEN(names)) : NULL;
	if (n == 1)
		err_set(&err, ERR_USAGE, "there is no list of '%s'", what);
	else
		err_set(&err, ERR_USAGE, "list what? One of: %s", all.s);
	if (near)
		err_remedy(&err, "did you mean '%s'? There are: %s", near, all.s);
	else if (n == 1)
		err_remedy(&err, "there are: %s", all.s);
	text_free(&all);
	return cli_fail(c, &err);
}

CLI_VERB(list, .order = 3,
         .about = "what there is: kernels with variants and parameters, GPU sheets, metrics, ...",
         .usage = "kernels|gpus|metrics|presets|recordings|views|backends [--json]", .help = "");
