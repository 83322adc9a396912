/* run: one kernel, one launch, every metric. The record's two forms are made elsewhere. */
#include "cli/cli.h"
#include "cli/dump_out.h"
#include "cli/program_start.h"
#include "cli/progress.h"
#include "lab/head_start.h"
#include "lab/workbench.h"

#include <inttypes.h>
#include <string.h>

struct state {
	const char *gpu, *backend, *level;
	uint64_t seed, sample, threads;
	double timeout_s;
	bool json, csv, no_verify;
	struct race_options races;
	struct user_spec user;
	const char *dump;
	struct program_options program; /* what only programs have */
};

static unsigned options(void *state, struct option_spec *o)
{
	struct state *s = state;
	const struct option_spec all[] = {
		{ "--gpu", OPT_TEXT, &s->gpu, "SHEET",
		  "GPU to answer for: an id of 'list gpus', a .yaml file, or cuda0, cuda1 .. of this "
		  "machine (default " LAB_DEFAULT_GPU ")" },
		{ "--backend", OPT_TEXT, &s->backend, "NAME",
		  "emu, cuda, or auto: cuda where there is a GPU (default)" },
		OPTION_JSON(&s->json),
		{ "--csv", OPT_FLAG, &s->csv, NULL,
		  "every figure as a row for a spreadsheet: key, value, unit, origin, title" },
		OPTION_SEED(&s->seed),
		{ "--sample", OPT_COUNT, &s->sample, "N",
		  "emulator: run at most N blocks, spread over the grid; not verified. Of a program's "
		  "launch: count so many of them" },
		{ "--no-verify", OPT_FLAG, &s->no_verify, NULL,
		  "do not compare with the CPU reference, which takes long for large products" },
		RACE_OPTIONS(s->races),
		{ "--level", OPT_TEXT, &s->level, "LEVEL", CLI_LEVEL_HELP },
		{ "--threads", OPT_THREADS, &s->threads, "N", "emulator: CPU threads (default all)" },
		{ "--timeout", OPT_SECONDS, &s->timeout_s, "S",
		  "end the run after S seconds (default 60)" },
		{ "--dump", OPT_TEXT, &s->dump, "NAME[:FORM[:FILE]]",
		  "what the kernel left in a buffer: figures, NAME-OTHER or NAME-@FILE for the difference; "
		  "or all of it as text, csv, npy, raw" },
		{ "--launch", OPT_ORDINAL, &s->program.launch, "N", "of a program: launch N" },
		{ "--launches", OPT_TEXT, &s->program.range, "A..B", "of a program: launches A to B" },
		{ "--set", OPT_TEXT, &s->program.set, "NAME=VALUES",
		  "of a program: memory in front of the launch, which is run again alone: numbers, @FILE, "
		  "rand, iota or zero; several between semicolons" },
		{ "--stop-after", OPT_ORDINAL, &s->program.stop_after, "N",
		  "of a program: end it behind launch N" },
	};
	s->seed = 1;
	memcpy(o, all, sizeof all);
	return ARRAY_LEN(all) + user_options(&s->user, o + ARRAY_LEN(all));
}

/* A whole program: the options that it shares with kernels. */
static int run_program(struct cli *c, const struct state *s, unsigned n, char **args)
{
	struct program_options o = s->program;
	o.gpu = s->gpu;
	o.level = s->level;
	o.backend = s->backend;
	o.kernel = s->user.kernel;
	o.count = 1;
	o.threads = s->threads;
	o.races = s->races;
	o.timeout_s = s->timeout_s;
	o.max_blocks = s->sample;
	o.block = s->user.block;
	o.grid = s->user.grid;
	o.shared = s->user.shared;
	o.csv = s->csv;
	o.dump = s->dump;
	return program_show(c, &o, n, args);
}

/* The record, and what --dump asked for. */
static json_t *json_with(const struct run_record *r, const struct dump *dump)
{
	json_t *o = json_record(r);
	if (dump->json)
		json_object_set(o, "buffers", dump->json);
	return o;
}

static int end_dump(struct cli *c, struct dump *dump)
{
	const int status = cli_fail(c, &dump->err);
	dump_free(dump);
	return status;
}

/* The record in the form that was asked for, and what was wrong. Returns the status. */
static int show(struct cli *c, const struct state *s, const struct run_record *r, struct dump *dump)
{
	int status =
		r->verify == VERIFY_WRONG || run_findings_fault(&r->run.found) ? CLI_WRONG : CLI_OK;
	if (c->json)
		status = cli_emit(c, json_with(r, dump), status);
	else if (s->csv)
		print_record_csv(c, r);
	else
		print_record(c, r);
	if (!c->json && dump->shown.len) /* rows have no place for it */
		fprintf(s->csv ? c->err : c->out, "%sBuffers after the launch:\n%s", s->csv ? "" : "\n",
		        dump->shown.s);
	dump_free(dump);
	fflush(c->out);               /* the message comes after what it speaks of */
	if (s->csv && r->run.note[0]) /* rows have no place for it */
		fprintf(c->err, "pmpp-explore: %s\n", r->run.note);
	const struct kernel_desc *k = r->sel.kernel;
	if (k->guessed)
		fprintf(c->err, "pmpp-explore: not said, so guessed: %s\n%s%s%s", k->guessed,
		        k->guessed_line ? "  " : "", k->guessed_line ? k->guessed_line : "",
		        k->guessed_line ? "\n" : "");
	if (r->verify == VERIFY_WRONG)
		fprintf(c->err, "pmpp-explore: wrong result: %s\n", r->verify_text);
	for (unsigned i = 0; i < r->run.found.n; i++)
		fprintf(c->err, "pmpp-explore: %s%s\n  %s\n",
		        r->run.found.finding[i].customary ? "remark: " : "", r->run.found.finding[i].text,
		        r->run.found.finding[i].remedy);
	return status;
}

/* A launch that is known, where the person wants it. */
static int run_kernel(struct cli *c, struct state *s, struct selection *sel,
                      const struct run_options *given)
{
	struct run_options options_ = *given;
	struct err err = { 0 };
	struct run_record *r;
	struct progress progress;
	if (!choose_gpu_and_backend(s->gpu, s->backend, sel, &err) ||
	    !cli_level_here(s->level, sel->backend, &options_.level, &err))
		return cli_fail(c, &err);
	struct launch_plan plan = { 0 };
	struct dump dump = { .words = s->dump, .ok = true };
	if (s->dump && (!selection_plan(sel, &plan, &err) || !dump_legal(s->dump, &plan, &err)))
		return cli_fail(c, &err);
	options_.outputs = s->dump ? dump_take : NULL;
	options_.outputs_ctx = &dump;
	progress_begin(&progress, 1);
	progress_item(&progress, "running");
	const struct run_hooks hooks = progress_hooks(&progress);
	bool ok = run_selection_with(sel, &options_, &hooks, &r, &err);
	progress_end(&progress);
	if (!ok)
		return cli_fail(c, &err);
	if (!dump.ok) {
		record_free(r);
		return end_dump(c, &dump);
	}
	const int status = show(c, s, r, &dump);
	record_free(r);
	return status;
}

static int run(struct cli *c, void *state, unsigned n, char **args)
{
	struct state *s = state;
	struct err err = { 0 };
	struct selection sel = { .seed = s->seed };
	struct run_options options_ = {
		.max_blocks = s->sample,
		.timeout_s = s->timeout_s,
		.no_verify = s->no_verify,
		.stalls = true,
		.threads = (unsigned)s->threads,
	};

	if (!cli_races(&s->races, &options_.races, &err))
		return cli_fail(c, &err);
	const bool whole = program_meant(&s->user, s->program.launch || s->program.range, n, args);
	if (s->csv && s->json) {
		err_set(&err, ERR_USAGE, "--csv: a run is written as --csv or as --json, not both");
		err_remedy(&err, "leave one of them out");
		return cli_fail(c, &err);
	}
	if (whole)
		return run_program(c, s, n, args);
	if (s->program.set) {
		err_set(&err, ERR_USAGE, "--set belongs to a launch of a whole program");
		err_remedy(&err, "a kernel by itself takes its variables as arguments: coef=1,2,3");
		return cli_fail(c, &err);
	}
	if (s->program.launch || s->program.range || s->program.stop_after) {
		err_set(&err, ERR_USAGE, "--launch, --launches and --stop-after belong to a whole program");
		err_remedy(&err, "give a source with a main(), or an executable: run prog.cu --launch 3");
		return cli_fail(c, &err);
	}
	if (!user_start(&s->user, n, args, &sel, &err))
		return cli_fail(c, &err);
	struct workbench bench = { 0 };
	options_.bench = &bench;
	if (s->backend && !strcmp(s->backend, "cuda"))
		head_start(&bench, &sel);
	const int status = run_kernel(c, s, &sel, &options_);
	workbench_close(&bench);
	return status;
}

CLI_VERB(
	run, .order = 1,
	.about = "run a kernel once, verify it against its CPU reference, and show every metric",
	.usage = "KERNEL[/VARIANT] | FILE.cu [name=value ...] [options] | PROG.cu [nvcc options] "
			 "[--launch N] [-- arguments]",
	.help =
		"Without a variant, the usual one is run, or the first that takes the named parameters.\n"
		"Parameters: 'pmpp-explore list kernels' shows every kernel's names and values.\n"
		"Numbers may end in k, M or G (2^10, 2^20, 2^30).\n"
		"Status: 0 verified (or not compared), 1 wrong result or failed run, 2 bad usage, "
		"3 not possible here.\n\n"
		"A source with a main(), or an executable, is run whole, and one launch of it is shown:\n"
		"the first of the kernel, grid and block that take longest, or the one asked for.\n"
		"--set, --dump and, with --launch N, --block, --grid and --shared run it again alone, "
		"from\n"
		"the memory that it found (the grid follows the block): its buffers by the names of its\n"
		"parameters, variables, and other allocations as mem1, mem2 ...; y=i32 takes y as another\n"
		"type.\n"
		"Of a file of your own, what is not said of one kernel's launch is guessed. Its arguments "
		"are\n"
		"  n=1M              a number, which sizes and the grid may use\n"
		"  x=f32[n]:rand     a buffer: type (f32 f64 f16 bf16, i8 to i64, u8 to u64), size, first\n"
		"                    contents (rand, rand(K), rand(A,B), iota, zero, a number, @FILE,\n"
		"                    out = undefined)\n"
		"  x=@FILE           a buffer from a .npy, .csv, .txt or raw file\n"
		"  y=x+n, y=null     a pointer into another buffer, or none\n"
		"  p=1,2.5,f64:3     a vector or structure by value: its members in order\n"
		"  coef=1,2,3        a __constant__ or __device__ variable of the file, also as a buffer "
		"is\n"
		"                    given: coef=f32[3]:rand, coef=@FILE\n\n"
		"  pmpp-explore run sgemm/tiled M=512 N=512 K=512 TILE=32 --gpu h100\n"
		"  pmpp-explore run vec_add/chunks --json\n"
		"  pmpp-explore run my.cu --kernel saxpy --grid n/block --block 256 n=1M a=2 "
		"'x=f32[n]:rand' 'y=f32[n]:zero'\n"
		"  pmpp-explore run train.cu --launch 3 --block 128 --set coef=1,2,3 --dump y,loss\n",
	.of_programs = true);
