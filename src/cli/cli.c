/*
 * From argv to a verb: options, help, errors, output. Knows no kernel and no GPU.
 */
#include "cli/beside.h"
#include "cli/cli.h"
#include "cli/consent.h"
#include "cli/language.h"
#include "cli/progress.h"

#include "base/enum_list.h"
#include "base/file.h"
#include "base/lang.h"
#include "base/mem.h"
#include "base/plain.h"
#include "base/scratch.h"
#include "compile/program_build.h"
#include "lab/program_words.h"

#include <errno.h>
#include <langinfo.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_OPTIONS 24

#define VERB(name) extern const struct verb verb_##name;
#include "verbs.def"
#undef VERB

static const struct verb *const verbs[] = {
#define VERB(name) &verb_##name,
#include "verbs.def"
#undef VERB
};

size_t verb_count(void)
{
	return ARRAY_LEN(verbs);
}

static int order_of(size_t i)
{
	return verbs[i]->order;
}

const struct verb *verb_at(size_t i)
{
	const size_t at = list_nth(i, ARRAY_LEN(verbs), order_of);
	return at < ARRAY_LEN(verbs) ? verbs[at] : NULL;
}

static const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		if (!strcmp(verbs[i]->name, name))
			return verbs[i];
	return NULL;
}

/* --- help --- */

static void help_options(struct cli *c, const struct verb *v, void *state)
{
	struct option_spec o[MAX_OPTIONS];
	unsigned n = v->options ? v->options(state, o) : 0;
	struct table t = { .cols = 2, .looks = { STYLE_BOLD } };
	for (unsigned i = 0; i < n; i++) {
		char left[64];
		snprintf(left, sizeof left, "%s%s%s", o[i].name, o[i].value ? " " : "",
		         o[i].value ? o[i].value : "");
		table_row(&t, left, lang_text(o[i].about));
	}
	if (!v->keeps_unknown)
		table_row(&t, PLUGIN_OPTION,
		          lang_text("own file: its descriptor may run inside this program"));
	if (v->keeps_unknown || v->of_programs)
		table_row(&t, SANDBOX_OPTION,
		          lang_text("a program runs without network, on files that it cannot change "
		                    "(bubblewrap)"));
	table_row(&t, LANG_OPTION " LANG", lang_text("language of the screen, of help and of errors"));
	table_row(
		&t, COLOUR_OPTION " " COLOUR_WHENS,
		lang_text("colour of what is printed (default auto: on a terminal, unless NO_COLOR)"));
	table_row(&t, PROGRESS_OPTION " N",
	          lang_text("how far long work is, a line each, to the open descriptor N"));
	table_row(&t, "--help", lang_text("this text"));
	cli_line_in(c, STYLE_TITLE, "Options:");
	table_print(&t, c->out, "  ");
}

static int help_verb(struct cli *c, const struct verb *v, void *state)
{
	cli_say(c->out, STYLE_TITLE, "Usage:");
	fprintf(c->out, " pmpp-explore%s%s %s\n\n", v->name[0] ? " " : "", v->name, v->usage);
	fprintf(c->out, "%s\n\n", lang_text(v->about));
	help_options(c, v, state);
	if (v->help[0])
		fprintf(c->out, "\n%s", lang_text(v->help));
	return CLI_OK;
}

static int help_all(struct cli *c)
{
	cli_line(c, "pmpp-explore: see why a GPU kernel is fast or slow, with or without a GPU.");
	fputc('\n', c->out);
	cli_line_in(c, STYLE_TITLE, "Usage:");
	for (size_t i = 0; i < verb_count(); i++) {
		const struct verb *v = verb_at(i);
		fprintf(c->out, "  pmpp-explore%s", v->name[0] ? " " : "");
		cli_name(c->out, STYLE_BOLD, v->name);
		fprintf(c->out, " %s\n      %s\n", v->usage, lang_text(v->about));
	}
	fprintf(
		c->out, "  pmpp-explore --version\n  pmpp-explore VERB --help\n\n%s\n",
		lang_text("Exit status: 0 verified or shown, 1 wrong result or failed run, 2 bad usage, "
	              "3 not possible here."));
	return CLI_OK;
}

static int version(struct cli *c)
{
	if (c->json)
		return cli_emit(c,
		                json_pack("{s:s, s:s, s:s}", "schema", CLI_SCHEMA, "program",
		                          "pmpp-explore", "version", PMPP_VERSION),
		                CLI_OK);
	fprintf(c->out, "pmpp-explore %s\n", PMPP_VERSION);
	return CLI_OK;
}

/* --- options --- */

static bool store_value(const struct option_spec *o, const char *value, struct err *err)
{
	int64_t whole;
	int least;
	char *end;
	switch (o->kind) {
	case OPT_FLAG: *(bool *)o->to = true; return true;
	case OPT_TEXT:
		if (!*value)
			return err_set(err, ERR_USAGE, "option '%s': the value is empty", o->name);
		*(const char **)o->to = value;
		return true;
	case OPT_ORDINAL:
	case OPT_COUNT:
	case OPT_THREADS:
		least = o->kind == OPT_ORDINAL;
		if (!parse_int(value, &whole) || whole < least)
			return err_set(err, ERR_USAGE, "option '%s': '%s' is not a whole number of %d or more",
			               o->name, value, least);
		if (o->kind == OPT_THREADS && whole > CLI_MAX_THREADS)
			return err_set(err, ERR_USAGE, "option '%s': '%s' is more than %d", o->name, value,
			               CLI_MAX_THREADS);
		*(uint64_t *)o->to = (uint64_t)whole;
		return true;
	case OPT_SECONDS:
		*(double *)o->to = strtod(value, &end);
		if (end == value || *end || !(*(double *)o->to > 0) || !isfinite(*(double *)o->to))
			return err_set(err, ERR_USAGE, "option '%s': '%s' is not a time in seconds", o->name,
			               value);
		return true;
	}
	return false;
}

static bool store(const struct option_spec *o, const char *value, bool *given, struct err *err)
{
	if (*given && o->kind != OPT_FLAG) {
		err_set(err, ERR_USAGE, "option '%s' is given twice", o->name);
		return err_remedy(err, "leave one of them away");
	}
	*given = true;
	return store_value(o, value, err);
}

static bool unknown_option(const char *arg, const struct option_spec *o, unsigned n, bool own_file,
                           struct err *err)
{
	const char *names[MAX_OPTIONS + 1] = { "--help" };
	struct text all = { 0 };
	text_add(&all, "--help");
	for (unsigned i = 0; i < n; i++) {
		names[i + 1] = o[i].name;
		text_add(&all, ", %s", o[i].name);
	}
	const char *near = str_nearest(arg, names, n + 1);
	err_set(err, ERR_USAGE, "unknown option '%s'", arg);
	if (near)
		err_remedy(err, "did you mean '%s'? There are: %s", near, all.s);
	else if (own_file)
		err_remedy(err,
		           "options of nvcc are for whole programs, with main(); a file of kernels takes "
		           "those of NVRTC, -I and -D among them. options: %s",
		           all.s);
	else
		err_remedy(err, "options: %s", all.s);
	text_free(&all);
	return false;
}

/* What may run on this machine. */
static bool consent_option(const char *arg, bool of_program)
{
	if (!of_program && !strcmp(arg, PLUGIN_OPTION))
		consent_given();
	else if (of_program && !strcmp(arg, SANDBOX_OPTION))
		consent_in_sandbox();
	else
		return false;
	return true;
}

static bool any_own_file(unsigned n, char **args)
{
	for (unsigned i = 0; i < n; i++)
		if (user_file_named(args[i]))
			return true;
	return false;
}

/* Which of @n options is called @name, of @len characters; @n = none. */
static unsigned option_named(const struct option_spec *o, unsigned n, const char *name, size_t len)
{
	unsigned k = 0;
	while (k < n && (strlen(o[k].name) != len || strncmp(o[k].name, name, len)))
		k++;
	return k;
}

/* Refuses an option of other verbs, which is none of nvcc's. */
static bool no_other_verbs(const char *name, size_t len, struct err *err)
{
	static const char *const nvcc_has[] = { "--maxrregcount", "--ptx", "--shared", "--threads" };
	char having[100] = "";
	size_t used = 0;
	for (unsigned i = 0; i < ARRAY_LEN(nvcc_has); i++)
		if (strlen(nvcc_has[i]) == len && !strncmp(nvcc_has[i], name, len))
			return true;
	for (size_t i = 0; i < verb_count(); i++) {
		const struct verb *v = verb_at(i);
		struct option_spec o[MAX_OPTIONS];
		void *state = mem_zalloc(v->state_bytes ? v->state_bytes : 1);
		const unsigned n = v->options && v->name[0] ? v->options(state, o) : 0;
		if (option_named(o, n, name, len) < n && used < sizeof having)
			used += (size_t)snprintf(having + used, sizeof having - used, "%s%s", used ? ", " : "",
			                         v->name);
		free(state);
	}
	if (!having[0])
		return true;
	err_set(err, ERR_USAGE, "'%.*s' is no option here", (int)len, name);
	return err_remedy(err, "it belongs to: %s; for the program itself, put it behind --", having);
}

/* An option that the verb does not know is left in @args, with its value, if it may be for a
 * compiler. */
static bool keep_word(bool any, bool own_file, unsigned n, char **args, unsigned *i, unsigned *left)
{
	unsigned words = own_file ? user_compiler_words(n - *i, args + *i) : 0;
	if (!any && !words)
		return false;
	for (args[(*left)++] = args[*i]; words > 1; words--)
		args[(*left)++] = args[++*i];
	return true;
}

/* Options may stand anywhere; "--" ends them; "--gpu=a100" is "--gpu a100". What is left is moved
 * to the front of @args. */
static bool parse_options(const struct option_spec *o, unsigned n, bool keeps_unknown,
                          unsigned *n_args, char **args, bool *help, struct err *err)
{
	unsigned left = 0, i = 0;
	bool given[MAX_OPTIONS] = { false };
	const bool own_file = any_own_file(*n_args, args);
	for (; i < *n_args; i++) {
		char *arg = args[i];
		if (!strcmp(arg, "--")) {
			i += !keeps_unknown;
			break;
		}
		if (arg[0] != '-' || !arg[1]) {
			args[left++] = arg;
			continue;
		}
		if (!strcmp(arg, "--help") || !strcmp(arg, "-h")) {
			*help = true;
			continue;
		}
		if (consent_option(arg, keeps_unknown))
			continue;
		char *equals = strchr(arg, '=');
		size_t len = equals ? (size_t)(equals - arg) : strlen(arg);
		const unsigned k = option_named(o, n, arg, len);
		if (k == n && keeps_unknown && own_file && !no_other_verbs(arg, len, err))
			return false;
		if (k == n && keep_word(keeps_unknown, own_file, *n_args, args, &i, &left))
			continue;
		if (k == n)
			return unknown_option(arg, o, n, own_file, err);
		char *value = equals ? equals + 1 : NULL;
		if (o[k].kind == OPT_FLAG && value)
			return err_set(err, ERR_USAGE, "option '%s' takes no value", o[k].name);
		if (o[k].kind != OPT_FLAG && !value) {
			if (i + 1 == *n_args)
				return err_set(err, ERR_USAGE, "option '%s' needs a value: %s", o[k].name,
				               o[k].value);
			value = args[++i];
		}
		if (!store(&o[k], value, &given[k], err))
			return false;
	}
	for (; i < *n_args; i++)
		args[left++] = args[i];
	*n_args = left;
	return true;
}

/* Is one of the words before "--" a whole program, or a source of which a launch is named? */
static bool any_program(unsigned n, char **args)
{
	bool source = false, numbered = false;
	for (unsigned i = 0; i < n && strcmp(args[i], "--") != 0; i++) {
		if (args[i][0] != '-' && program_words_begin(args[i]))
			return true;
		source = source || program_is_source(args[i]);
		numbered = numbered || !strncmp(args[i], "--launch", strlen("--launch"));
	}
	return source && numbered;
}

static int run_verb(struct cli *c, const struct verb *v, unsigned n, char **args)
{
	struct option_spec o[MAX_OPTIONS];
	struct err err = { 0 };
	void *state = mem_zalloc(v->state_bytes ? v->state_bytes : 1);
	unsigned n_options = v->options ? v->options(state, o) : 0;
	const bool keeps = v->keeps_unknown || (v->of_programs && any_program(n, args));
	bool help = false;
	int status;

	if (!parse_options(o, n_options, keeps, &n, args, &help, &err)) {
		char usage[300];
		snprintf(usage, sizeof usage, "pmpp-explore %s --help tells more", v->name);
		if (!err.remedy[0])
			err_remedy(&err, "%s", usage);
		status = cli_fail(c, &err);
	} else if (help) {
		status = help_verb(c, v, state);
	} else {
		status = v->run(c, state, n, args);
	}
	free(state);
	return status;
}

/* --- dispatch --- */

/* Neither a verb nor a kernel: names of both are near enough to be meant. */
static int unknown_word(struct cli *c, const char *word)
{
	const char *names[128];
	size_t n = 0;
	struct text list = { 0 };
	for (size_t i = 0; i < verb_count(); i++)
		if (verb_at(i)->name[0]) {
			text_add(&list, "%s%s", n ? ", " : "", verb_at(i)->name);
			names[n++] = verb_at(i)->name;
		}
	text_add(&list, "; kernels:");
	for (size_t i = 0; i < kernel_count() && n < ARRAY_LEN(names); i++) {
		text_add(&list, " %s", kernel_at(i)->name);
		names[n++] = kernel_at(i)->name;
	}
	struct err err = { 0 };
	const char *near = str_nearest(word, names, n);
	err_set(&err, ERR_USAGE, "'%s' is neither a verb nor a kernel", word);
	struct text path = { 0 };
	text_add(&path, "./%s", word);
	if (program_words_begin(path.s)) /* as a shell has it, a program is named with its folder */
		err_remedy(&err, "the program of that name here: pmpp-explore %s", path.s);
	else if (near)
		err_remedy(&err, "did you mean '%s'? Verbs: %s", near, list.s);
	else
		err_remedy(&err, "verbs: %s", list.s);
	text_free(&path);
	text_free(&list);
	return cli_fail(c, &err);
}

static int dispatch(struct cli *c, unsigned n, char **args)
{
	const struct verb *tui = verb_find("");
	if (n && !strcmp(args[0], "--version"))
		return version(c);
	if (n && (!strcmp(args[0], "--help") || !strcmp(args[0], "-h") ||
	          (!strcmp(args[0], "help") && n == 1)))
		return help_all(c);
	if (n > 1 && !strcmp(args[0], "help")) {
		char *as_option[] = { (char[]){ "--help" } };
		const struct verb *v = verb_find(args[1]);
		return v ? run_verb(c, v, 1, as_option) : unknown_word(c, args[1]);
	}
	if (n && args[0][0] != '-' && !strchr(args[0], '=')) {
		const struct verb *v = verb_find(args[0]);
		if (v)
			return run_verb(c, v, n - 1, args + 1);
		const bool kernel = word_names_kernel(args[0]);
		struct err err = { 0 };
		if (!kernel && !program_words_no_folder(args[0], &err))
			return cli_fail(c, &err);
		if (!kernel && !file_looks_like_path(args[0], ".json") && !user_file_named(args[0]) &&
		    !program_words_begin(args[0]))
			return unknown_word(c, args[0]);
	}
	return run_verb(c, tui, n, args);
}

/* "... | head -1": what the reader wanted, it has. The error may lie in an earlier write. */
static bool reader_has_left(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
	return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

/* Nothing was lost on its way out; an earlier write may have failed, too. */
static bool all_written(FILE *out)
{
	errno = 0;
	const bool failed = fflush(out) || ferror(out);
	const int why = errno;
	fclose(out);
	if (!failed || why == EPIPE || reader_has_left())
		return true;
	fprintf(stderr, "pmpp-explore: standard output: %s\n", why ? strerror(why) : "write error");
	return false;
}

int cli_main(int argc, char **argv, bool *busy)
{
	struct cli c = {
		.out = plain_stream(STDOUT_FILENO, _IOFBF),
		.err = plain_stream(STDERR_FILENO, _IOLBF),
		.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8"),
	};
	if (!c.out || !c.err)
		mem_exhausted(BUFSIZ);
	/* Known before anything can go wrong, so that errors take the form that was asked for. */
	for (int i = 1; i < argc; i++)
		c.json = c.json || !strcmp(argv[i], "--json");
	struct err err = { 0 };
	const bool known = language_choose(&argc, argv, c.utf8, &err) &&
	                   colour_choose(&argc, argv, &err) && progress_choose(&argc, argv, &err);
	colour_open(c.out, STDOUT_FILENO);
	colour_open(c.err, STDERR_FILENO);
	consent_open();
	beside_verbs(verb_count, verb_at);
	scratch_sweep(); /* what a run that was killed left behind */
	const int status =
		!known ? cli_fail(&c, &err) : dispatch(&c, argc > 0 ? (unsigned)argc - 1 : 0, argv + 1);
	*busy = c.busy;
	fclose(c.err);
	return all_written(c.out) ? status : CLI_IMPOSSIBLE;
}
