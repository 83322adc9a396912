/*
 * Counts for machine code: one launch of a kernel, of a file or of a whole program in the emulator,
 * and the cubin that ran.
 */
#include "cli/sass_subject.h"

#include "base/mem.h"
#include "cli/program_start.h"
#include "cli/progress.h"
#include "lab/program_family.h"
#include "lab/workbench.h"

#include <inttypes.h>
#include <string.h>

/* The counts outlive the record. */
static void keep_counts(const struct run_record *r, struct sass_counts *out)
{
	static const char refused[] = "not of machine code: ";
	const struct run_result *run = &r->run;
	const char *why = strstr(run->note, refused);
	out->asked = true;
	run_counts_copy(&out->counts, &run->counts);
	snprintf(out->level, sizeof out->level, "%s", run->level);
	memcpy(out->grid, (unsigned[]){ r->plan.grid.x, r->plan.grid.y, r->plan.grid.z },
	       sizeof out->grid);
	memcpy(out->block, (unsigned[]){ r->plan.block.x, r->plan.block.y, r->plan.block.z },
	       sizeof out->block);
	if (run->counts.n_code)
		snprintf(out->note, sizeof out->note, "%s", run->note);
	else
		snprintf(out->why, sizeof out->why, "%s",
		         why            ? why + sizeof refused - 1
		         : run->note[0] ? run->note
		                        : "the launch ran no machine code");
}

/* A fault ends the kernel somewhere: its counts are of the way to there. */
static void say_faults(struct cli *c, const struct run_record *r, struct sass_code *out)
{
	const struct run_finding *f = run_findings_fault(&r->run.found);
	if (!f)
		return;
	out->status = CLI_WRONG;
	fprintf(c->err, "pmpp-explore: %s\n  %s\n", f->text, f->remedy);
}

/* --- a kernel, or a file's ------------------------------------------------------------------- */

static bool run_kernel(struct cli *c, const struct selection *sel, struct workbench *bench,
                       struct sass_code *out, struct err *err)
{
	struct run_record *r = NULL;
	struct progress progress;
	const struct run_options options = {
		.level = RUN_LEVEL_AUTO,
		.no_verify = true,
		.races = RACES_OFF,
		.bench = bench,
	};
	progress_begin(&progress, 1);
	progress_item(&progress, "running");
	const struct run_hooks hooks = progress_hooks(&progress);
	const bool ran = run_selection_with(sel, &options, &hooks, &r, err);
	progress_end(&progress);
	if (!ran)
		return false;
	keep_counts(r, &out->counts);
	say_faults(c, r, out);
	snprintf(out->only, sizeof out->only, "%s", r->plan.entry);
	record_free(r);
	return true;
}

static bool of_kernel(struct cli *c, const struct sass_ask *s, unsigned n, char **args,
                      struct sass_code *out, struct err *err)
{
	struct selection sel = { .seed = 1 };
	struct user_spec user = s->user;
	struct workbench bench = { 0 };
	char file[64];
	if (!user_start(&user, n, args, &sel, err) || !choose_gpu_and_backend(s->gpu, "emu", &sel, err))
		return false;
	bool good = run_kernel(c, &sel, &bench, out, err);
	if (good && !bench.module.cubin)
		good = err_set(err, ERR_UNAVAILABLE, "the cache holds no machine code of it");
	if (good) {
		const struct kernel_desc *k = sel.kernel;
		text_put(&out->cubin, bench.module.cubin, bench.module.cubin_len);
		snprintf(out->compiler, sizeof out->compiler, "%s", bench.module.compiler);
		snprintf(out->file, sizeof out->file, "%s", kernel_file(k, file, sizeof file));
		out->source = mem_strdup(kernel_source(k));
		if (k->guessed)
			fprintf(c->err, "pmpp-explore: not said, so guessed: %s\n%s%s%s", k->guessed,
			        k->guessed_line ? "  " : "", k->guessed_line ? k->guessed_line : "",
			        k->guessed_line ? "\n" : "");
	}
	workbench_close(&bench);
	return good;
}

/* --- a program ------------------------------------------------------------------------------- */

struct taking {
	struct cli *c;
	struct sass_code *code;
	bool took;
	struct err err;
};

/* The launch asked for, or the first of the group that takes longest. */
static int take_launch(void *ctx, const struct program_words *words, struct program *p, int status)
{
	struct taking *t = ctx;
	struct sass_code *out = t->code;
	const uint64_t number = p->groups[0].first;
	const struct program_launch *l = program_launch_numbered(p, number);
	const struct program_kernel *k = &p->kernels[l->kernel];
	struct program_module *m = program_machine_code(p, number, NULL, &t->err);
	if (!m)
		return cli_fail(t->c, &t->err);
	struct run_record *r = program_longest(words, p);
	keep_counts(r, &out->counts);
	out->counts.launch = number;
	snprintf(out->counts.program, sizeof out->counts.program, "%s", p->command);
	snprintf(out->only, sizeof out->only, "%s", k->mangled);
	snprintf(out->file, sizeof out->file, "%s", k->file);
	text_put(&out->cubin, m->cubin, m->cubin_bytes);
	out->source = mem_strdup(kernel_source(r->sel.kernel));
	record_free(r);
	t->took = true;
	return status;
}

static bool of_program(struct cli *c, const struct sass_ask *s, unsigned n, char **args,
                       struct sass_code *out)
{
	const struct program_options o = {
		.gpu = s->gpu,
		.backend = "emu",
		.kernel = s->user.kernel,
		.launch = s->launch,
		.count = 1,
	};
	struct taking t = { .c = c, .code = out };
	out->status = program_with(c, &o, n, args, c->json, take_launch, &t);
	return t.took;
}

bool sass_run(struct cli *c, const struct sass_ask *s, unsigned n, char **args,
              struct sass_code *out, struct err *err)
{
	const bool program = program_meant(&s->user, s->launch != 0, n, args);
	if (s->max_registers) {
		err_set(err, ERR_USAGE,
		        "--maxrregcount: counts are of the kernel as it is compiled for a launch");
		return err_remedy(err, "leave --counts out, or put __launch_bounds__() at the kernel");
	}
	if (!program && s->launch) {
		err_set(err, ERR_USAGE, "--launch belongs to a whole program");
		return err_remedy(err, "give a source with a main(), or an executable: sass prog.cu "
		                       "--launch 3; a kernel's own launch is counted by --counts");
	}
	if (program && (s->user.block || s->user.grid || s->user.shared)) {
		err_set(err, ERR_USAGE, "--block, --grid and --shared: a program's launch has its own");
		return err_remedy(err,
		                  "leave them out; 'pmpp-explore run %s --launch N --block 128' runs "
		                  "a launch with others",
		                  args[0]);
	}
	return program ? of_program(c, s, n, args, out) : of_kernel(c, s, n, args, out, err);
}
