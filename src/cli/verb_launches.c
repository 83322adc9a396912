/* launches: a whole program, compiled if need be and run, and every launch of it. */
#include "cli/cli.h"

#include "base/mem.h"
#include "cli/program_out.h"
#include "compile/program_build.h"
#include "runtime/program_run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct state {
	const char *gpu, *backend;
	bool json, csv, strict, races;
	uint64_t threads, count, stop_after;
	double timeout_s;
};

static unsigned options(void *state, struct option_spec *o)
{
	struct state *s = state;
	const struct option_spec all[] = {
		{ "--gpu", OPT_TEXT, &s->gpu, "SHEET",
		  "GPU to answer for: an id of 'list gpus' or a .yaml file (default " LAB_DEFAULT_GPU ")" },
		{ "--backend", OPT_TEXT, &s->backend, "NAME", "emu or auto (default): the emulator" },
		{ "--json", OPT_FLAG, &s->json, NULL, "one JSON object; the program's output is in it" },
		{ "--csv", OPT_FLAG, &s->csv, NULL,
		  "a row per launch; the program's output is kept apart" },
		{ "--strict", OPT_FLAG, &s->strict, NULL,
		  "the first out-of-bounds access stops its launch" },
		{ "--races", OPT_FLAG, &s->races, NULL, "also look for shared-memory races (slower)" },
		{ "--count", OPT_COUNT, &s->count, "N",
		  "count the first N launches of each kernel, grid and block (default 1)" },
		{ "--stop-after", OPT_COUNT, &s->stop_after, "N", "end the program behind launch N" },
		{ "--threads", OPT_THREADS, &s->threads, "N", "CPU threads (default all)" },
		{ "--timeout", OPT_SECONDS, &s->timeout_s, "S", "end the program after S seconds" },
	};
	s->count = 1;
	memcpy(o, all, sizeof all);
	return ARRAY_LEN(all);
}

static atomic_bool interrupted;

static void on_interrupt(int signal)
{
	(void)signal;
	atomic_store(&interrupted, true);
}

/* The words before "--" that are sources and compiler options, or an executable and its arguments.
 */
static unsigned split(unsigned n, char **args, unsigned *rest)
{
	unsigned i = 0;
	while (i < n && strcmp(args[i], "--") != 0)
		i++;
	*rest = i < n ? i + 1 : n;
	return i;
}

static bool any_source(unsigned n, char **words)
{
	for (unsigned i = 0; i < n; i++)
		if (program_is_source(words[i]))
			return true;
	return false;
}

static int launch_program(struct cli *c, const struct state *s, const struct gpu_spec *gpu,
                          const char *path, char **arguments)
{
	struct err err = { 0 };
	struct program p;
	const struct program_request req = {
		.path = path,
		.arguments = arguments,
		.gpu = gpu,
		.config = { .strict = s->strict,
		            .check_races = s->races,
		            .threads = (unsigned)s->threads,
		            .count_first = s->count,
		            .stop_after = s->stop_after },
		.catch_output = s->json || s->csv,
		.cancel = &interrupted,
		.timeout_s = s->timeout_s,
	};
	const bool ran = program_run(&req, &p, &err);
	if (!ran && !p.path) {
		program_free(&p);
		return cli_fail(c, &err);
	}
	int status = ran && p.ended && !p.exit_status && !program_errors(&p) ? CLI_OK : CLI_WRONG;
	if (s->json)
		status = cli_emit(c, program_json(&p, arguments), status);
	else if (s->csv)
		program_print_csv(c->out, &p);
	else
		program_print(c, c->err, &p);
	if (!ran && !s->json)
		cli_fail(c, &err);
	program_free(&p);
	return status;
}

static int run(struct cli *c, void *state, unsigned n, char **args)
{
	struct state *s = state;
	struct err err = { 0 };
	struct selection sel = { 0 };
	unsigned rest;
	const unsigned words = split(n, args, &rest);
	if (!words) {
		err_set(&err, ERR_USAGE, "launches needs a program");
		err_remedy(&err, "pmpp-explore launches prog.cu, or pmpp-explore launches ./a.out");
		return cli_fail(c, &err);
	}
	if (s->backend && strcmp(s->backend, "emu") != 0 && strcmp(s->backend, "auto") != 0) {
		err_set(&err, ERR_UNSUPPORTED, "whole programs run in the emulator only, not on '%s'",
		        s->backend);
		err_remedy(&err,
		           "leave --backend out; single kernels run on a GPU: pmpp-explore run --help");
		return cli_fail(c, &err);
	}
	if (!choose_gpu_and_backend(s->gpu, "emu", &sel, &err))
		return cli_fail(c, &err);
	const struct sigaction end = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };
	sigaction(SIGINT, &end, NULL);
	char built[4400];
	const char *path = args[0];
	char **arguments = mem_calloc(n + 2u, sizeof *arguments);
	arguments[0] = args[0];
	if (any_source(words, args)) {
		const struct program_source source = { .n_words = words,
			                                   .words = args,
			                                   .cc_major = sel.gpu->cc_major,
			                                   .cc_minor = sel.gpu->cc_minor,
			                                   .cancel = &interrupted };
		if (!program_build(&source, built, sizeof built, &err)) {
			free(arguments);
			return cli_fail(c, &err);
		}
		path = built;
		memcpy(arguments + 1, args + rest, (n - rest) * sizeof *arguments);
	} else {
		unsigned k = 1;
		for (unsigned i = 1; i < n; i++)
			if (i != words)
				arguments[k++] = args[i];
	}
	const int status = launch_program(c, s, sel.gpu, path, arguments);
	free(arguments);
	return status;
}

const struct verb verb_launches = {
	.name = "launches",
	.order = 2,
	.about = "run a whole CUDA program, with or without a GPU, and show every launch",
	.usage = "PROG.cu [nvcc options] | ./a.out [options] [-- arguments of the program]",
	.help =
		"The program runs unmodified: its arguments, environment, folder, input and output are\n"
		"its own; its host code runs as the program that it is. Without --json or --csv its\n"
		"output goes where it always went and the table follows on standard error.\n"
		"Status: 0 the program ended well and no fault was found, 1 otherwise, 2 bad usage,\n"
		"3 not possible here.\n\n"
		"  pmpp-explore launches saxpy.cu -O3 -- 1000000\n"
		"  pmpp-explore launches ./a.out --gpu h200 --json\n",
	.options = options,
	.state_bytes = sizeof(struct state),
	.run = run,
	.keeps_unknown = true,
};
