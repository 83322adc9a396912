/* Programs of verbs; see program_start.h. */
#include "cli/program_start.h"

#include "base/mem.h"
#include "base/monotonic.h"
#include "cli/consent.h"
#include "compile/program_build.h"
#include "runtime/record.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_bool interrupted;

#define MAX_KEPT 64 /* launches, a process each, where none was named */

/* On a terminal: that a program that takes long goes on, and where it is. */
#define FIRST_TOLD_S 3
#define TOLD_EVERY_S 5
struct watched {
	double started_s, told_s;
};

static void show_progress(void *ctx, const struct program *p)
{
	struct watched *w = ctx;
	const double now = clock_now_s();
	if (now - w->started_s < FIRST_TOLD_S || now - w->told_s < TOLD_EVERY_S)
		return;
	w->told_s = now;
	fprintf(stderr, "pmpp-explore: %.0f s, %zu launches", now - w->started_s, p->n_launches);
	if (p->running > p->n_launches)
		fprintf(stderr, "; launch %llu, %s, is %.0f %% done", (unsigned long long)p->running,
		        p->kernels[p->running_kernel].name, 100 * p->running_fraction);
	fprintf(stderr, "\n");
}

static void on_interrupt(int signal)
{
	(void)signal;
	atomic_store(&interrupted, true);
}

/* An option that only the emulator can follow; NULL = none is given. */
static const char *only_emulated(const struct program_options *o)
{
	const struct {
		bool given;
		const char *option;
	} all[] = {
		{ o->strict, "--strict" },
		{ o->races.all, "--races" },
		{ o->level != NULL, "--level" },
		{ o->stop_after != 0, "--stop-after" },
		{ o->max_blocks != 0, "--sample" },
		{ program_wants_again(o), "--block, --grid, --shared, --set and --dump" },
	};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].given)
			return all[i].option;
	return NULL;
}

bool program_where(const struct program_options *o, struct selection *sel, struct err *err)
{
	const char *option = only_emulated(o);
	const char *backend = o->backend ? o->backend : "auto";
	if (option && !strcmp(backend, "auto"))
		backend = "emu";
	if (option && strcmp(backend, "emu") != 0) {
		err_set(err, ERR_USAGE, "%s: only the emulator can do that", option);
		return err_remedy(err, "leave it out, or say --backend emu");
	}
	return choose_gpu_and_backend(o->gpu, backend, sel, err);
}

/* First and last launch asked for; 0, 0 = all. */
static bool read_range(const struct program_options *o, uint64_t range[2], struct err *err)
{
	range[0] = range[1] = o->launch;
	if (!o->range)
		return true;
	if (o->launch) {
		err_set(err, ERR_USAGE, "--launch and --launches: one of them says which launches");
		return err_remedy(err, "leave one of them out");
	}
	if (program_wants_again(o) || o->csv) {
		err_set(err, ERR_USAGE,
		        "--launches is several launches: --csv, --block, --grid, --shared, "
		        "--set and --dump are of one");
		return err_remedy(err, "--launch N instead; 'pmpp-explore launches PROGRAM --csv' lists "
		                       "them all");
	}
	char *end;
	range[0] = range[1] = strtoull(o->range, &end, 10);
	if (!strncmp(end, "..", 2))
		range[1] = end[2] ? strtoull(end + 2, &end, 10) : UINT64_MAX;
	else if (*end)
		range[0] = 0;
	if (range[0] && range[0] <= range[1] && (!*end || !strcmp(end, "..")))
		return true;
	err_set(err, ERR_USAGE, "option '--launches': '%s' is no range of launches", o->range);
	return err_remedy(err, "they are numbered from 1: --launches 3..10, 3.. or 3");
}

/* On a GPU each counted launch is replayed, which takes its time: none, unless it is asked for. */
static uint64_t count_first(const struct program_options *o, bool measured, uint64_t named)
{
	if (measured && named)
		return 0;
	return o->count || measured ? o->count : 1;
}

bool program_start(const struct program_options *o, unsigned n, char **args, bool catch,
                   struct program_words *words, struct program *out, struct err *err)
{
	struct selection sel = { 0 };
	uint64_t range[2];
	enum run_level level;
	enum race_check races;
	memset(out, 0, sizeof *out);
	*words = (struct program_words){ 0 };
	if (!program_where(o, &sel, err) || !read_range(o, range, err) ||
	    !cli_level(o->level, &level, err) || !cli_races(&o->races, &races, err))
		return false;
	if (!program_words_parse(n, args, words)) {
		err_set(err, ERR_USAGE, "a program is needed");
		return err_remedy(err, "a source with a main(), or an executable: prog.cu, ./a.out");
	}
	if (!program_words_are_there(words, n, args, err))
		return false;
	const bool measured = !words->recorded && strcmp(sel.backend, "emu") != 0;
	if (!o->gpu && !measured)
		sel.gpu = program_words_gpu(words, sel.gpu);
	if (!words->recorded)
		consent_announce(words->command);
	const struct sigaction end = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };
	sigaction(SIGINT, &end, NULL);
	struct watched watched = { .started_s = clock_now_s() };
	const struct program_job job = {
		.words = words,
		.gpu = sel.gpu,
		.newer = !o->gpu && !measured,
		.measured = measured,
		.config = { .strict = o->strict,
		            .races = races,
		            .threads = (unsigned)o->threads,
		            .count_first = count_first(o, measured, range[0]),
		            .count_from = range[0],
		            .count_to = range[1],
		            .level = level,
		            .max_blocks = o->max_blocks,
		            .keep = program_wants_again(o) ? MAX_KEPT : 0,
		            .stop_after = o->stop_after },
		.catch_output = catch,
		.timeout_s = o->timeout_s,
		.cancel = &interrupted,
		.progress = isatty(STDERR_FILENO) ? show_progress : NULL,
		.ctx = &watched,
	};
	if (!program_job_run(&job, out, err))
		return false;
	if (words->recorded && !catch) {
		fputs(out->output, stdout);
		fputs(out->errors, stderr);
	}
	return true;
}

/* --- which launches --- */

struct wanted {
	const struct program *program;
	const struct program_options *options;
	uint64_t range[2];
};

/* "gemm<128>", "gemm" of any instance, or the mangled name. */
static bool is_kernel(const struct program_kernel *k, const char *name)
{
	const size_t n = strlen(name);
	return !strcmp(k->name, name) || !strcmp(k->mangled, name) ||
	       (!strncmp(k->name, name, n) && k->name[n] == '<');
}

static bool is_wanted(void *ctx, const struct program_launch *l)
{
	const struct wanted *w = ctx;
	return (!w->options->kernel ||
	        is_kernel(&w->program->kernels[l->kernel], w->options->kernel)) &&
	       (!w->range[0] || (l->number >= w->range[0] && l->number <= w->range[1]));
}

bool program_select(struct program *p, const struct program_options *o, struct err *err)
{
	struct wanted w = { .program = p, .options = o };
	if (!read_range(o, w.range, err))
		return false;
	if (!o->kernel && !w.range[0])
		return true;
	const size_t all = p->n_launches;
	program_keep(p, is_wanted, &w);
	if (p->n_launches)
		return true;
	struct text names = { 0 };
	for (unsigned k = 0; k < p->n_kernels; k++)
		text_add(&names, "%s%s", k ? ", " : "", p->kernels[k].name);
	err_set(err, ERR_USAGE, "%s made no such launch", p->command);
	err_remedy(err, "it made %zu; kernels: %.400s", all, names.s ? names.s : "none");
	text_free(&names);
	return false;
}

/* Sources of one program: main() may be in any of them. */
static bool has_program(unsigned n, char **args)
{
	if (!n || !program_is_source(args[0]))
		return n && program_words_begin(args[0]);
	for (unsigned i = 0; i < n && strcmp(args[i], "--") != 0; i++)
		if (program_is_source(args[i]) && program_words_begin(args[i]))
			return true;
	return false;
}

bool program_meant(const struct user_spec *spec, bool numbered, unsigned n, char **args)
{
	if (!has_program(n, args) && !(numbered && n && program_is_source(args[0])))
		return false;
	for (unsigned i = 1; i < n && strcmp(args[i], "--") != 0; i++)
		if (args[i][0] != '-' && strchr(args[i], '='))
			return false;
	return !spec->define && (numbered || (!spec->grid && !spec->block && !spec->shared));
}

int program_status(const struct program *p)
{
	return p->ended && !p->exit_status && !program_errors(p) ? CLI_OK : CLI_WRONG;
}
