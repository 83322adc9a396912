/*
 * doctor: what works here, what does not, why, and what to do about it. Probes everything; changes
 * nothing.
 */
#include "cli/cli.h"

#include "base/lang.h"

#include "cli/ptx_report.h"
#include "cli/settings_file.h"
#include "ui/settings.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct state {
	bool json;
	const char *ptx;
};

enum health { WORKS, LIMITED, MISSING };
static const char *const health_names[] = { "works", "limited", "missing" };

struct finding {
	const char *name;
	enum health health;
	char text[4096];   /* what there is, or why not */
	char remedy[1024]; /* "" = nothing to do */
};

#define MAX_FINDINGS 32

struct report {
	unsigned n;
	struct finding f[MAX_FINDINGS];
};

static unsigned options(void *state, struct option_spec *o)
{
	struct state *s = state;
	o[0] = (struct option_spec){ "--json", OPT_FLAG, &s->json, NULL,
		                         "one JSON object instead of text" };
	o[1] = (struct option_spec){
		"--ptx", OPT_TEXT, &s->ptx, "FILE",
		"which kernels of a file of PTX, a cubin, or a folder of them, the emulator "
		"refuses"
	};
	return 2;
}

static struct finding *finding_of(struct report *r, const char *name, enum health health)
{
	struct finding *f = &r->f[r->n < MAX_FINDINGS ? r->n++ : MAX_FINDINGS - 1];
	*f = (struct finding){ .name = name, .health = health };
	return f;
}

static void look_at_terminal(struct report *r)
{
	const char *term = getenv("TERM");
	const bool tty = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	const bool able = term && *term && strcmp(term, "dumb");
	struct winsize w = { 0 };
	struct finding *f = finding_of(r, "terminal", tty && able ? WORKS : LIMITED);
	if (tty && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w))
		snprintf(f->text, sizeof f->text, "%s, %u columns x %u rows%s",
		         able ? term : "TERM not set", w.ws_col, w.ws_row,
		         getenv("NO_COLOR") ? ", NO_COLOR" : "");
	else
		snprintf(f->text, sizeof f->text, "standard input or output is not a terminal");
	if (!tty)
		snprintf(f->remedy, sizeof f->remedy,
		         "the screen needs a terminal; run, occupancy and list work without");
	else if (!able)
		snprintf(f->remedy, sizeof f->remedy, "export TERM=xterm-256color");
	else if (w.ws_col && (w.ws_col < 80 || w.ws_row < 24)) {
		f->health = LIMITED;
		snprintf(f->remedy, sizeof f->remedy, "80x24 shows one whole panel, 200x60 all of them");
	}
}

static void look_at_locale(struct report *r)
{
	const char *codeset = nl_langinfo(CODESET);
	const bool utf8 = !strcmp(codeset, "UTF-8");
	struct finding *f = finding_of(r, "locale", utf8 ? WORKS : LIMITED);
	snprintf(f->text, sizeof f->text, "%s: %s", codeset,
	         utf8 ? "bars and plots in full" : "bars and plots in plain ASCII");
	if (!utf8)
		snprintf(f->remedy, sizeof f->remedy, "export LC_ALL=C.UTF-8");
}

/* The person's settings: where they are kept, and the first line that is wrong. */
static void look_at_settings(struct report *r)
{
	char path[300] = "";
	struct err err = { 0 };
	struct settings kept;
	char *text = settings_file_read(path, sizeof path, &err);
	settings_default(&kept);
	const bool ok = text && settings_read(text, path, &kept, &err);
	struct finding *f = finding_of(r, "settings", ok ? WORKS : LIMITED);
	if (ok && !*text)
		snprintf(f->text, sizeof f->text, "%.300s, none kept yet", path);
	else
		snprintf(f->text, sizeof f->text, "%.300s", ok ? path : err.msg);
	snprintf(f->remedy, sizeof f->remedy, "%.900s", ok ? "" : err.remedy);
	free(text);
}

static void look_at_compiler(struct report *r)
{
	struct compile_info info;
	compile_probe(&info);
	struct finding *f = finding_of(r, "compiler",
	                               info.nvrtc      ? WORKS
	                               : info.built_in ? LIMITED
	                                               : MISSING);
	if (info.nvrtc) {
		snprintf(f->text, sizeof f->text, "NVRTC %d.%d, %s", info.major, info.minor,
		         info.nvrtc_path);
	} else {
		snprintf(f->text, sizeof f->text,
		         "no NVRTC: only shipped kernels at built-in parameters. %s", info.why_not);
		snprintf(f->remedy, sizeof f->remedy,
		         "install the CUDA toolkit and set CUDA_HOME, or: pip install nvidia-cuda-nvrtc");
	}
	f = finding_of(r, "built-in kernels", info.built_in ? WORKS : MISSING);
	snprintf(f->text, sizeof f->text, "%u compiled entries inside the program", info.built_in);
	f = finding_of(r, "compile cache", info.cache_dir[0] && !info.cache_note[0] ? WORKS : LIMITED);
	snprintf(f->text, sizeof f->text, "%s%s%s", info.cache_dir[0] ? info.cache_dir : "none",
	         info.cache_note[0] ? ": " : "", info.cache_note);
	if (f->health != WORKS)
		snprintf(f->remedy, sizeof f->remedy,
		         "set XDG_CACHE_HOME to a folder you can write; results are the same without");
}

static const char *const cap_names[] = { "kernel times", "static facts", "counters", "timeline",
	                                     "per-line figures" };

static void look_at_backend(struct report *r, const struct backend_ops *ops)
{
	const struct backend_status *st = backend_probe(ops);
	struct finding *f = finding_of(r, ops->name, st->usable ? WORKS : MISSING);
	if (!st->usable) {
		snprintf(f->text, sizeof f->text, "%.4095s", st->err.msg);
		snprintf(f->remedy, sizeof f->remedy, "%.1023s", st->err.remedy);
		return;
	}
	size_t at = (size_t)snprintf(f->text, sizeof f->text, "%s", st->info.title);
	for (unsigned d = 0; d < st->info.n_devices && d < ARRAY_LEN(st->info.device); d++)
		at += (size_t)snprintf(f->text + at, sizeof f->text - at, ", %s%u: %s%s", ops->name, d,
		                       st->info.device[d],
		                       st->info.n_devices > 1 && d == st->info.chosen ? " (chosen)" : "");
	if (st->info.n_devices > 1)
		snprintf(f->remedy, sizeof f->remedy, "another one: --gpu %s%u, or PMPP_CUDA_DEVICE=%u",
		         ops->name, !st->info.chosen, !st->info.chosen);
	for (unsigned bit = 0; bit < ARRAY_LEN(cap_names); bit++) {
		if ((st->info.caps >> bit & 1) || !st->info.missing[bit].reason[0])
			continue;
		f = finding_of(r, cap_names[bit], LIMITED); /* the rest of it works */
		snprintf(f->text, sizeof f->text, "%s: %s", ops->name, st->info.missing[bit].reason);
		snprintf(f->remedy, sizeof f->remedy, "%s", st->info.missing[bit].remedy);
	}
}

static void print_report(struct cli *c, const struct report *r)
{
	static const char *const marks[2][3] = { { "ok", "!", "-" }, { "✓", "!", "✗" } };
	static const enum style looks[] = { STYLE_GOOD, STYLE_WATCH, STYLE_BAD };
	struct table t = { .cols = 3, .said = true, .looks = { [1] = STYLE_BOLD } };
	for (unsigned i = 0; i < r->n; i++) {
		const struct finding *f = &r->f[i];
		const char *m = marks[c->utf8][f->health];
		table_row(&t, m, f->name, f->text);
		table_style(&t, 0, looks[f->health]);
		if (f->remedy[0]) {
			char remedy[sizeof f->remedy + 8];
			snprintf(remedy, sizeof remedy, "-> %s", lang_text(f->remedy));
			table_row(&t, "", "", remedy);
			table_style(&t, 2, STYLE_KNOB);
		}
	}
	table_print(&t, c->out, "");
}

static json_t *json_report(const struct report *r)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < r->n; i++) {
		const struct finding *f = &r->f[i];
		json_t *o = json_pack("{s:s, s:s}", "name", f->name, "state", health_names[f->health]);
		json_t *text = json_string(f->text);
		json_object_set_new(o, "text", text ? text : json_string("?"));
		json_object_set_new(o, "remedy", f->remedy[0] ? json_string(f->remedy) : json_null());
		json_array_append_new(list, o);
	}
	return json_pack("{s:s, s:s, s:o}", "schema", CLI_SCHEMA, "version", PMPP_VERSION, "findings",
	                 list);
}

static int run(struct cli *c, void *state, unsigned n, char **args)
{
	const struct state *s = state;
	struct err err = { 0 };
	if (n) {
		err_set(&err, ERR_USAGE, "doctor takes no '%s'", args[0]);
		return cli_fail(c, &err);
	}
	if (s->ptx)
		return ptx_report(c, s->ptx);
	struct report r = { 0 };
	look_at_terminal(&r);
	look_at_locale(&r);
	look_at_settings(&r);
	look_at_compiler(&r);
	for (size_t i = 0; i < backend_count(); i++)
		look_at_backend(&r, backend_at(i));
	if (c->json)
		return cli_emit(c, json_report(&r), CLI_OK);
	print_report(c, &r);
	return CLI_OK;
}

CLI_VERB(doctor, .order = 9,
         .about = "what works on this machine, what does not, why, and what to do about it",
         .usage = "[--ptx FILE] [--json]", .help = "");
