/*
 * export: a run, or an existing snapshot, written as a snapshot, as notes, for a spreadsheet, or
 * as the panels' text.
 */
#include "cli/cli.h"
#include "cli/export_digest.h"
#include "cli/program_out.h"
#include "cli/program_start.h"
#include "lab/program_file.h"
#include "lab/program_family.h"
#include "cli/view_list.h"
#include "lab/reference_run.h"

#include "base/file.h"
#include "base/plain.h"
#include "model/record_tables.h"
#include "model/snapshot.h"
#include "lab/session_file.h"
#include "lab/session_sign.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct state {
	const char *gpu, *backend, *format, *out, *sign;
	uint64_t seed;
	bool schema, check;
	struct user_spec user;
	uint64_t launch; /* of a program; 0 = the first of the group that takes longest */
};

static unsigned options(void *state, struct option_spec *o)
{
	struct state *s = state;
	const struct option_spec all[] = {
		{ "--out", OPT_TEXT, &s->out, "FILE",
		  "file to write ('-' = standard output); default: a name of kernel, GPU and time" },
		{ "--format", OPT_TEXT, &s->format, "FORM",
		  "json (a snapshot, default), md (notes), csv (spreadsheet), txt (every panel)" },
		OPTIONS_ENGINE(s),
		OPTION_SEED(&s->seed),
		{ "--sign", OPT_TEXT, &s->sign, "KEY",
		  "sign the snapshot with this SSH key (ssh-keygen -Y): FILE.sig, checked on opening" },
		{ "--check", OPT_FLAG, &s->check, NULL,
		  "say what FILE, an export of any form, is, and whether it was changed since" },
		{ "--launch", OPT_ORDINAL, &s->launch, "N",
		  "of a program, as md, csv or txt: launch N (default: one that takes longest)" },
		{ "--schema", OPT_FLAG, &s->schema, NULL,
		  "write the JSON Schema of snapshots to standard output, nothing else" },
	};
	s->seed = 1;
	memcpy(o, all, sizeof all);
	return ARRAY_LEN(all) + user_options(&s->user, o + ARRAY_LEN(all));
}

/* --- forms --- */

static void value_text(const struct metric_set *m, enum metric_id id, char *out, size_t n)
{
	const struct metric_value *v = &m->v[id];
	if (v->origin == ORIGIN_NONE)
		snprintf(out, n, "n/a");
	else if (metric_catalogue[id].kind == METRIC_TEXT)
		snprintf(out, n, "%s", v->text);
	else
		fmt_num(out, n, v->num, 9);
}

/* What was measured where the run was recorded; "" = nothing was. */
static void recorded_text(const struct run_brief *g, enum metric_id id, char *out, size_t n)
{
	out[0] = '\0';
	if (g && g->metrics.v[id].origin == ORIGIN_MEASURED)
		value_text(&g->metrics, id, out, n);
}

/* Words of somebody else's file as words: no table, heading or link comes of them. */
static void md_words(struct text *t, const char *words)
{
	for (; *words; words++) {
		if (strchr("|<[*_`\\", *words))
			text_put(t, "\\", 1);
		text_put(t, *words == '\n' || *words == '\t' ? " " : words, 1);
	}
}

/* Where the figures come from, if from a file: an export of it can be traced. */
static void md_source(struct text *t, const struct session *s)
{
	char about[500];
	if (!s->written.tool[0])
		return;
	session_provenance(&s->written, about, sizeof about);
	text_add(t, "\n");
	md_words(t, about);
	text_add(t, "  \n%s\n", s->written.digest);
}

static char *as_md(const struct session *s)
{
	struct text t = { 0 };
	const struct run_record *r = s->now;
	char params[256], value[96];
	params_text(&s->sel, params, sizeof params);
	text_add(&t, "# %s/%s on ", s->sel.kernel->name, s->sel.kernel->variants[s->sel.variant].name);
	md_words(&t, s->sel.gpu->name);
	text_add(&t, "\n\n%s\n\n", params);
	if (!r) {
		text_add(&t, "Nothing has been run.\n");
		return t.s;
	}
	const struct run_brief *reference = session_reference_run(s);
	md_words(&t, r->verify_text);
	text_add(&t, "  \ncompiler ");
	md_words(&t, r->compiler);
	text_add(&t, ", back end ");
	md_words(&t, r->sel.backend);
	text_add(&t, ", seed %llu\n\n", (unsigned long long)r->sel.seed);
	text_add(&t, "| metric | value | unit | origin |%s", reference ? " measured on " : "");
	md_words(&t, reference ? reference->sel.gpu->name : "");
	text_add(&t, "%s\n|---|---:|---|---|%s\n", reference ? " |" : "", reference ? "---:|" : "");
	for (int i = 0; i < METRIC_COUNT; i++) {
		value_text(&r->metrics, (enum metric_id)i, value, sizeof value);
		text_add(&t, "| %s | ", metric_catalogue[i].title);
		md_words(&t, value);
		text_add(&t, " | %s | %s |", metric_catalogue[i].unit, origin_name(r->metrics.v[i].origin));
		recorded_text(reference, (enum metric_id)i, value, sizeof value);
		text_add(&t, reference ? " " : "");
		md_words(&t, value);
		text_add(&t, reference ? " |\n" : "\n");
	}
	md_source(&t, s);
	return t.s;
}

static char *as_csv(const struct session *s)
{
	const struct run_brief *reference = session_reference_run(s);
	char value[96], *out = NULL;
	size_t bytes;
	FILE *f = open_memstream(&out, &bytes);
	if (!f)
		return NULL;
	fputs("kernel,variant,gpu,metric,value,unit,origin,recorded,recorded_on\n", f);
	for (int i = 0; s->now && i < METRIC_COUNT; i++) {
		const enum metric_id id = (enum metric_id)i;
		const struct metric_set *m = &s->now->metrics;
		fprintf(f, "%s,%s,", s->now->sel.kernel->name,
		        s->now->sel.kernel->variants[s->now->sel.variant].name);
		print_csv_field(f, s->now->sel.gpu->name);
		value_text(m, id, value, sizeof value);
		fprintf(f, ",%s,", metric_catalogue[i].key);
		print_csv_field(f, value);
		fprintf(f, ",%s,%s,", metric_catalogue[i].unit, origin_name(m->v[i].origin));
		recorded_text(reference, id, value, sizeof value);
		print_csv_field(f, value);
		fputc(',', f);
		print_csv_field(f, value[0] ? reference->sel.gpu->name : "");
		fputc('\n', f);
	}
	return fclose(f) ? NULL : out;
}

static char *as_txt(const struct session *s, bool ascii)
{
	struct text t = { 0 };
	for (size_t i = 0; i < kernel_view_count(); i++) {
		const struct view_desc *v = kernel_view_at(i);
		struct session shown = *s;
		struct canvas c;
		shown.view = v->name;
		shown.cursor = (struct view_cursor){ .row = v->start ? v->start(&shown) : 0 };
		canvas_init(&c, 40, 100, ascii);
		canvas_clear(&c);
		v->draw(&shown, &c);
		char *dump = canvas_dump(&c, false);
		text_add(&t, "== %s ==\n%s\n", v->title, dump);
		free(dump);
		canvas_free(&c);
	}
	return t.s;
}

/* --- what is exported --- */

static bool from_run(struct state *s, unsigned n, char **args, struct run_record **r,
                     struct err *err)
{
	struct selection sel = { .seed = s->seed };
	return user_start(&s->user, n, args, &sel, err) &&
	       choose_gpu_and_backend(s->gpu, s->backend, &sel, err) &&
	       run_selection_with(
			   &sel, &(struct run_options){ .stalls = true, .code = true, .level = RUN_LEVEL_AUTO },
			   NULL, r, err);
}

static bool write_form(struct cli *c, const struct state *s, const struct session *session,
                       char *name, size_t n, const char *text, struct err *err)
{
	if (s->out && !strcmp(s->out, "-")) {
		char *snapshot = text ? NULL : session_document(session);
		const bool ok = text || snapshot;
		fputs(text ? text : ok ? snapshot : "", c->out);
		free(snapshot);
		return ok || err_set(err, ERR_INTERNAL, "this session is no document");
	}
	if (s->out)
		snprintf(name, n, "%s", s->out);
	else
		session_file_name(session, (long long)time(NULL), name, n);
	if (!s->out && text)
		snprintf(name + strlen(name) - 4, 5, "%s", s->format);
	return text ? file_replace(name, text, strlen(text), err) : session_save(session, name, err);
}

static int write_out(struct cli *c, const struct state *s, const struct session *session)
{
	struct err err = { 0 };
	char name[4096] = "";
	char *text = NULL;
	const char *form = s->format ? s->format : "json";
	if (!strcmp(form, "md"))
		text = as_md(session);
	else if (!strcmp(form, "csv"))
		text = as_csv(session);
	else if (!strcmp(form, "txt"))
		text = as_txt(session, !c->utf8);
	else if (strcmp(form, "json") != 0) {
		err_set(&err, ERR_USAGE, "--format: there is no form '%s'", form);
		err_remedy(&err, "forms: json, md, csv, txt");
		return cli_fail(c, &err);
	}
	if (text)
		text = export_with_digest(plain_text(text), !strcmp(form, "csv"));
	const bool ok = write_form(c, s, session, name, sizeof name, text, &err) &&
	                (!s->sign || session_sign(name, s->sign, &err));
	free(text);
	if (!ok)
		return cli_fail(c, &err);
	if (*name)
		fprintf(c->err, "%s\n", name);
	return CLI_OK;
}

static int check_snapshot(struct cli *c, const char *path)
{
	struct err err = { 0 };
	struct session s;
	char about[SESSION_NOTE_BYTES];
	if (!session_open(path, &s, about, sizeof about, &err))
		return cli_fail(c, &err);
	fprintf(c->out, "%s: %s\n", path, about);
	const int status = s.written.changed     ? CLI_WRONG
	                   : s.written.digest[0] ? CLI_OK
	                                         : CLI_IMPOSSIBLE;
	session_drop(&s);
	return status;
}

/* An export of before: what it says of itself, and whether that holds. */
static int check(struct cli *c, unsigned n, char **args)
{
	static const struct {
		const char *words;
		int status;
	} says[] = {
		[EXPORT_HOLDS] = { "exported by pmpp-explore; its digest holds", CLI_OK },
		[EXPORT_CHANGED] = { "CHANGED since pmpp-explore exported it: its digest is of something "
		                     "else",
		                     CLI_WRONG },
		[EXPORT_NO_DIGEST] = { "no export of pmpp-explore, or its last line was taken away: it has "
		                       "no digest",
		                       CLI_IMPOSSIBLE },
	};
	struct err err = { 0 };
	struct text file;
	if (n != 1) {
		err_set(&err, ERR_USAGE, "--check: one file is needed");
		err_remedy(&err, "pmpp-explore export --check FILE");
		return cli_fail(c, &err);
	}
	const char *dot = strrchr(args[0], '.');
	if (dot && str_ieq(dot, ".json"))
		return check_snapshot(c, args[0]);
	if (!file_read(args[0], SNAPSHOT_MAX_BYTES, &file, &err))
		return cli_fail(c, &err);
	const enum export_state state = export_digest_of(&file);
	text_free(&file);
	fprintf(c->out, "%s: %s\n", args[0], says[state].words);
	return says[state].status;
}

/* --- programs --- */

struct program_export {
	struct cli *c;
	const struct state *s;
};

/* The machine code of every kernel that was launched, and what each launch ran of it. */
static void add_code(json_t *document, const struct program *p)
{
	program_json_counts(document, p);
	for (unsigned k = 0; k < p->n_kernels; k++)
		for (size_t i = 0; i < p->n_launches; i++) {
			if (p->launches[i].kernel != k)
				continue;
			struct code_listing *c = program_code(p, p->launches[i].number, NULL);
			program_json_listing(document, &p->kernels[k], c);
			code_listing_free(c);
			break;
		}
}

/* All launches, as `launches --json` has them, with machine code: diff and its readers take it. */
static int program_document(struct cli *c, const struct state *s, const struct program_words *words,
                            const struct program *p, int status)
{
	struct err err = { 0 };
	char name[4096];
	json_t *all = program_json(p, words->arguments);
	add_code(all, p);
	program_file_add_session(all, p);
	if (s->out && !strcmp(s->out, "-"))
		return cli_emit(c, all, status);
	char base[200];
	program_words_name(words, base, sizeof base);
	if (s->out)
		snprintf(name, sizeof name, "%s", s->out);
	else
		snprintf(name, sizeof name, "%s.launches.json", base);
	char *text = json_dumps(all, JSON_INDENT(1));
	json_decref(all);
	const bool ok = text && file_replace(name, text, strlen(text), &err);
	free(text);
	if (!ok)
		return cli_fail(c, &err);
	fprintf(c->err, "%s\n", name);
	return status;
}

static int export_program(void *ctx, const struct program_words *words, struct program *p,
                          int status)
{
	const struct program_export *e = ctx;
	struct session session;
	if (!e->s->format || !strcmp(e->s->format, "json"))
		return program_document(e->c, e->s, words, p, status);
	struct run_record *r = program_longest(words, p);
	session_of_record(r, "occupancy", &session);
	session_remember(&session, r, session.source);
	const int written = write_out(e->c, e->s, &session);
	session_forget(&session);
	record_free(r);
	return written == CLI_OK ? status : written;
}

static int from_program(struct cli *c, const struct state *s, unsigned n, char **args)
{
	const struct program_options o = {
		.gpu = s->gpu,
		.backend = s->backend,
		.kernel = s->user.kernel,
		.launch = s->launch,
		.count = 1,
	};
	struct err err = { 0 };
	const bool document = !s->format || !strcmp(s->format, "json");
	const bool catch = document || (s->out && !strcmp(s->out, "-"));
	if (!s->sign)
		return program_with(c, &o, n, args, catch, export_program,
		                    &(struct program_export){ c, s });
	err_set(&err, ERR_USAGE, "--sign: only a snapshot of one kernel is signed; this is a program");
	err_remedy(&err, "leave it out, or sign the file: ssh-keygen -Y sign");
	return cli_fail(c, &err);
}

static int run(struct cli *c, void *state, unsigned n, char **args)
{
	struct state *s = state;
	struct err err = { 0 };
	struct session session;
	char note[SESSION_NOTE_BYTES];
	if (s->check)
		return check(c, n, args);
	if (s->sign &&
	    ((s->format && strcmp(s->format, "json") != 0) || (s->out && !strcmp(s->out, "-")))) {
		err_set(&err, ERR_USAGE, "--sign: only a snapshot in a file is signed");
		err_remedy(&err, "--format json --out FILE.json");
		return cli_fail(c, &err);
	}
	if (s->schema) {
		json_t *schema = snapshot_schema();
		json_dumpf(schema, c->out, JSON_INDENT(2));
		json_decref(schema);
		fputc('\n', c->out);
		return CLI_OK;
	}
	if (program_meant(&s->user, s->launch != 0, n, args))
		return from_program(c, s, n, args);
	if (n == 1 && !word_names_kernel(args[0]) && file_looks_like_path(args[0], ".json")) {
		if (!session_open(args[0], &session, note, sizeof note, &err))
			return cli_fail(c, &err);
		if (*note)
			fprintf(c->err, "pmpp-explore: %s: %s\n", args[0], note);
		const int status = write_out(c, s, &session);
		session_drop(&session);
		return status;
	}
	struct run_record *r = NULL;
	if (!from_run(s, n, args, &r, &err))
		return cli_fail(c, &err);
	session_of_record(r, "occupancy", &session);
	reference_run_of_session(&session);
	session_remember(&session, r, session.source);
	int status = write_out(c, s, &session);
	if (status == CLI_OK && r->verify == VERIFY_WRONG)
		status = CLI_WRONG;
	session_forget(&session);
	record_free(r);
	return status;
}

CLI_VERB(export, .order = 6,
         .about = "write a run or a snapshot as a snapshot, notes, a spreadsheet or text panels",
         .usage = "KERNEL[/VARIANT] | FILE.cu [name=value ...] | PROG.cu [nvcc options] | "
                  "SNAPSHOT.json [options]",
         .help =
             "'pmpp-explore SNAPSHOT.json' opens a snapshot again, with no GPU and no toolkit.\n"
             "A whole program is written with all of its launches: 'pmpp-explore RUN.json' opens\n"
             "that again, diff compares it; as md, csv or txt one launch of it.\n\n"
             "  pmpp-explore export sgemm/tiled TILE=32 --gpu h100 --out tiled.json\n"
             "  pmpp-explore export tiled.json --format md --out -\n"
             "  pmpp-explore export --check notes.md\n"
             "  pmpp-explore export prog.cu --out before.json\n",
         .of_programs = true);
