/* launches: a whole program, compiled if need be and run, and every launch of it. */
#include "cli/cli.h"

#include "cli/program_out.h"
#include "cli/program_start.h"

#include <string.h>

struct state {
	struct program_options program;
	bool json, csv, all;
};

static unsigned options(void *state, struct option_spec *o)
{
	struct state *s = state;
	struct program_options *p = &s->program;
	const struct option_spec all[] = {
		{ "--gpu", OPT_TEXT, &p->gpu, "SHEET",
		  "GPU to answer for: an id of 'list gpus' or a .yaml file (default: what -arch "
		  "names, else " LAB_DEFAULT_GPU ")" },
		{ "--backend", OPT_TEXT, &p->backend, "NAME",
		  "emu, cuda (this machine's GPU), or auto (default): the GPU where one works" },
		{ "--json", OPT_FLAG, &s->json, NULL, "one JSON object; the program's output is in it" },
		{ "--csv", OPT_FLAG, &s->csv, NULL,
		  "a row per launch; the program's output is kept apart" },
		{ "--all", OPT_FLAG, &s->all, NULL,
		  "a row for every kernel, grid and block, however many" },
		{ "--kernel", OPT_TEXT, &p->kernel, "NAME", "only launches of this kernel" },
		{ "--launch", OPT_ORDINAL, &p->launch, "N", "only launch N, counted in full" },
		{ "--launches", OPT_TEXT, &p->range, "A..B", "only launches A to B, counted in full" },
		{ "--stop-after", OPT_ORDINAL, &p->stop_after, "N", "end the program behind launch N" },
		{ "--count", OPT_ORDINAL, &p->count, "N",
		  "count the first N launches of each kernel, grid and block (default 1; on a GPU 0)" },
		{ "--level", OPT_TEXT, &p->level, "LEVEL", CLI_LEVEL_HELP },
		{ "--strict", OPT_FLAG, &p->strict, NULL,
		  "the first out-of-bounds access stops its launch" },
		RACE_OPTIONS(p->races),
		{ "--threads", OPT_THREADS, &p->threads, "N", "CPU threads (default all)" },
		{ "--timeout", OPT_SECONDS, &p->timeout_s, "S", "end the program after S seconds" },
	};
	memcpy(o, all, sizeof all);
	return ARRAY_LEN(all);
}

static int run(struct cli *c, void *state, unsigned n, char **args)
{
	const struct state *s = state;
	struct err err = { 0 }, why = { 0 };
	struct program_words words;
	struct program p;
	const bool ran = program_start(&s->program, n, args, s->json || s->csv, &words, &p, &err);
	int status = ran ? program_status(&p) : CLI_WRONG;
	if (!p.path) {
		status = cli_fail(c, &err);
	} else if (!program_select(&p, &s->program, &why)) {
		status = cli_fail(c, &why);
	} else {
		if (s->json)
			status = cli_emit(c, program_json(&p, words.arguments), status);
		else if (s->csv)
			program_print_csv(c->out, &p);
		else
			program_print(c, c->err, &p, s->all);
		if (!ran && !s->json)
			cli_fail(c, &err);
	}
	program_free(&p);
	program_words_free(&words);
	return status;
}

CLI_VERB(
	launches, .order = 2,
	.about = "run a whole CUDA program, with or without a GPU, and show every launch",
	.usage = "PROG.cu [nvcc options] | ./a.out | RUN.json [options] [-- arguments of the program]",
	.help =
		"The program runs unmodified: its arguments, environment, folder, input and output are\n"
		"its own; its host code runs as the program that it is. Without --json or --csv its\n"
		"output goes where it always went and the table follows on standard error.\n"
		"RUN.json is a run that 'export' or the key e wrote: it is shown again, with no\n"
		"compiler, no GPU and no program.\n"
		"Status: 0 the program ended well and no fault was found, 1 otherwise, 2 bad usage,\n"
		"3 not possible here.\n\n"
		"  pmpp-explore launches saxpy.cu -O3 -- 1000000\n"
		"  pmpp-explore launches ./a.out --gpu h200 --json\n",
	.keeps_unknown = true);
