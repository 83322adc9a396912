/* No verb: the interactive screen, started on the kernel that the arguments name. */
#include "cli/cli.h"
#include "cli/view_list.h"

#include "cli/beside.h"
#include "cli/consent.h"
#include "cli/program_start.h"
#include "lab/program_file.h"
#include "cli/settings_file.h"
#include "cli/settings_keep.h"
#include "cli/tui_host.h"
#include "base/file.h"
#include "base/mem.h"
#include "model/program_session.h"
#include "runtime/record.h"
#include "ui/settings.h"

#include <stdlib.h>
#include <string.h>

#define START_KERNEL "sgemm/tiled"
#define OPEN_AT_ONCE_S 0.5              /* how long a snapshot is read before the screen opens */
#define RESERVE_BYTES ((size_t)4 << 20) /* enough to draw, and to write a session */

struct state {
	const char *gpu, *backend, *preset;
	uint64_t seed;
	struct user_spec user;
};

static unsigned options(void *state, struct option_spec *o)
{
	struct state *s = state;
	const struct option_spec all[] = {
		{ "--gpu", OPT_TEXT, &s->gpu, "SHEET",
		  "GPU to start with: id of 'list gpus', a .yaml file, or cuda0, cuda1 .. of this "
		  "machine" },
		{ "--backend", OPT_TEXT, &s->backend, "NAME", "emu, cuda or auto (default)" },
		{ "--preset", OPT_TEXT, &s->preset, "NAME", "start with the first step of this preset" },
		OPTION_SEED(&s->seed),
	};
	s->seed = 1;
	memcpy(o, all, sizeof all);
	return ARRAY_LEN(all) + user_options(&s->user, o + ARRAY_LEN(all));
}

/* What the screen was left with: a file that is still being written is waited for, and a snapshot
 * that was never shown is a failure. */
static bool shown(struct lab *a, struct err *err)
{
	if (!lab_written(a, err))
		return false;
	lab_opened(a, 0, err);
	return err->code == ERR_NONE;
}

static int show(struct cli *c, struct lab *a)
{
	struct err err = { 0 };
	struct screen_host host;
	tui_host(a, &host);
	bool ok = screen_run(&host, &err);
	beside_end();
	const struct session *s = lab_session(a);
	if (ok && s->program && s->program->from_file && !s->program->now) {
		err = s->run_err; /* never shown, as a snapshot that cannot be read */
		ok = false;
	}
	/* the screen is closed by now: what is wrong is said once, and the session is not lost for it
	 */
	struct err unkept = { 0 };
	if (!settings_keep_end(&unkept))
		fprintf(c->err, "pmpp-explore: settings are not kept: %s\n", unkept.msg);
	if (ok)
		ok = shown(a, &err);
	c->busy = !lab_free(a);
	return ok ? CLI_OK : cli_fail(c, &err);
}

/* A snapshot draws as it was saved; nothing runs until a key changes something. One that takes its
 * time is read while the screen is there. */
static int show_snapshot(struct cli *c, const struct state *s, const char *path)
{
	struct err err = { 0 };
	struct lab *a;
	if (!lab_new(&a, s->gpu, "emu", view_panel, &err))
		return cli_fail(c, &err);
	lab_open(a, path);
	if (lab_opened(a, OPEN_AT_ONCE_S, &err) && err.code != ERR_NONE) {
		lab_free(a);
		return cli_fail(c, &err);
	}
	if (lab_note(a)[0])
		fprintf(c->err, "pmpp-explore: %s: %s\n", path, lab_note(a));
	return show(c, a);
}

/* A whole program: built and run, or read from a file, off the screen's thread. */
static int show_program(struct cli *c, const struct state *s, unsigned n, char **args)
{
	const struct record_config config = { .count_first = 1, .level = RUN_LEVEL_AUTO };
	struct err err = { 0 };
	struct program_words words;
	struct lab *a;
	program_words_parse(n, args, &words);
	const struct program_options o = { .gpu = s->gpu, .backend = s->backend };
	struct selection sel = { 0 };
	const char *gpu = s->gpu ? s->gpu : program_words_gpu(&words, gpu_find(LAB_DEFAULT_GPU))->id;
	if (!program_where(&o, &sel, &err) ||
	    !lab_new(&a, strcmp(sel.backend, "emu") ? NULL : gpu, "emu", view_panel, &err)) {
		program_words_free(&words);
		return cli_fail(c, &err);
	}
	if (!words.recorded)
		consent_announce(words.command);
	const bool measured = !words.recorded && strcmp(sel.backend, "emu") != 0;
	const bool ok =
		lab_program(a, &words, &config, measured ? sel.gpu : NULL, !s->gpu && !measured, &err);
	program_words_free(&words);
	if (!ok) {
		lab_free(a);
		return cli_fail(c, &err);
	}
	lab_session(a)->view = program_view_at(0)->name;
	lab_start(a);
	return show(c, a);
}

/* Where the last session ended, as the settings keep it: kernel, parameters, and the GPU where no
 * other is asked for. False: nothing is kept, or it is not to be had any more. */
static bool where_it_ended(struct state *s, struct selection *sel)
{
	char path[300], *args[KERNEL_MAX_PARAMS + 4], *rest = NULL;
	struct err err = { 0 };
	struct settings kept;
	struct selection found = { 0 };
	unsigned n = 0;
	char *text = settings_file_read(path, sizeof path, &err);
	settings_default(&kept);
	settings_read(text ? text : "", path, &kept, &err);
	free(text);
	for (char *w = strtok_r(kept.start, " ", &rest); w && n < ARRAY_LEN(args);
	     w = strtok_r(NULL, " ", &rest))
		args[n++] = w;
	unsigned words = 0;
	while (words < n && args[words][0] != '-')
		words++;
	if (!words || !word_names_kernel(args[0]) || !select_by_words(words, args, &found, &err))
		return false;
	*sel = found;
	if (!s->gpu && words + 1 < n && !strcmp(args[words], "--gpu") && gpu_find(args[words + 1]))
		s->gpu = gpu_find(args[words + 1])->id;
	return true;
}

static int run(struct cli *c, void *state, unsigned n, char **args)
{
	struct state *s = state;
	struct err err = { 0 };
	struct selection sel = { 0 };
	char start[] = START_KERNEL;
	char *just_start[] = { start };
	struct lab *a;
	mem_keep_reserve(RESERVE_BYTES);
	const char *dot = n == 1 ? strrchr(args[0], '.') : NULL;
	const bool named_json = dot && str_ieq(dot, ".json");
	if ((!named_json || program_file_is(args[0])) && program_meant(&s->user, false, n, args))
		return show_program(c, s, n, args);
	if (dot && str_ieq(dot, ".cubin")) {
		err_set(&err, ERR_USAGE, "%s: a cubin has no launch to be shown", args[0]);
		err_remedy(&err, "its machine code: pmpp-explore sass %s", args[0]);
		return cli_fail(c, &err);
	}
	if (n == 1 && !word_names_kernel(args[0]) && !user_file_named(args[0]) &&
	    file_looks_like_path(args[0], ".json"))
		return show_snapshot(c, s, args[0]);
	/* Only parameters: they are the start kernel's. */
	if (!n && !s->preset && where_it_ended(s, &sel)) {
		/* on with it */
	} else if (!n || strchr(args[0], '=')) {
		if (!select_by_words(1, just_start, &sel, &err))
			return cli_fail(c, &err);
		for (unsigned i = 0; i < n; i++)
			if (!select_param(args[i], &sel, &err))
				return cli_fail(c, &err);
	} else if (!user_start(&s->user, n, args, &sel, &err)) {
		return cli_fail(c, &err);
	}
	if (!lab_new(&a, s->gpu, s->backend, view_panel, &err))
		return cli_fail(c, &err);
	lab_select(a, sel.kernel, sel.variant);
	for (unsigned i = 0; i < sel.kernel->n_params; i++)
		lab_param(a, i, sel.params[i]);
	lab_seed(a, s->seed);
	lab_start(a);
	if (s->preset && !lab_tour(a, s->preset, &err)) {
		lab_free(a);
		return cli_fail(c, &err);
	}
	return show(c, a);
}

const struct verb verb_tui = {
	.name = "",
	.order = 0,
	.about = "the interactive laboratory (? shows its keys); without a kernel: the last one, at "
			 "first " START_KERNEL,
	.usage = "PROG.cu [nvcc options] [-- arguments] | ./a.out [arguments] | [KERNEL[/VARIANT] | "
			 "FILE.cu] [name=value ...] [options] | SNAPSHOT.json",
	.help =
		"A file with a main(), or an executable, is run whole, and every launch of it is shown;\n"
		"when the file changes it is built and run again.\n"
		"Of a file of your own, what is not said of one kernel's launch is guessed; of several\n"
		"kernels, each is listed with a line to start from. 'pmpp-explore run --help' tells how\n"
		"arguments are written. r reads the file again.\n\n"
		"  pmpp-explore vec_add/chunks block=128 --gpu rtx4090\n"
		"  pmpp-explore my.cu --kernel saxpy --grid n/block --block 256 n=1M a=2 'x=f32[n]:rand' "
		"'y=f32[n]:zero'\n",
	.options = options,
	.state_bytes = sizeof(struct state),
	.run = run,
	.of_programs = true,
};
