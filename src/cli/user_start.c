/*
 * "my.cu --kernel saxpy --grid n/block --block 256 n=1M ..." to a selection: what verbs that run a
 * kernel share of it.
 */
#include "cli/cli.h"
#include "lab/user_trial.h"

#include <string.h>

unsigned user_options(struct user_spec *s, struct option_spec *o)
{
	const struct option_spec all[] = {
		{ "--kernel", OPT_TEXT, &s->kernel, "NAME",
		  "own file: the __global__ function to launch (with a descriptor: the variant)" },
		{ "--grid", OPT_TEXT, &s->grid, "X[,Y[,Z]]",
		  "own file: blocks; may be worked out, as n/block (a division rounds up)" },
		{ "--block", OPT_TEXT, &s->block, "X[,Y[,Z]]", "own file: threads per block" },
		{ "--shared", OPT_TEXT, &s->shared, "BYTES",
		  "own file: dynamic shared memory (default 0)" },
		{ "--define", OPT_TEXT, &s->define, "A=1,B=2",
		  "own file: macros, to be changed like parameters" },
	};
	memcpy(o, all, sizeof all);
	return ARRAY_LEN(all);
}

/* A file with a descriptor: --kernel names a variant, the rest are parameters. */
static bool user_variant(const struct user_spec *s, unsigned n, char **args, struct selection *sel,
                         struct err *err)
{
	const int v = s->kernel ? kernel_variant_index(sel->kernel, s->kernel) : 0;
	if (v < 0) {
		struct text names = { 0 };
		for (unsigned i = 0; i < sel->kernel->n_variants; i++)
			text_add(&names, "%s%s", i ? ", " : "", sel->kernel->variants[i].name);
		err_set(err, ERR_USAGE, "%s has no variant '%s'", s->path, s->kernel);
		err_remedy(err, "variants: %s", names.s);
		text_free(&names);
		return false;
	}
	sel->variant = (unsigned)v;
	for (unsigned i = 1; i < n; i++)
		if (!select_param(args[i], sel, err))
			return false;
	return true;
}

/* Words for the compiler go to the front, arguments behind them. */
static void take_compiler_words(struct user_spec *s, unsigned n, char **args)
{
	unsigned words = 0;
	for (unsigned i = 0; i < n;) {
		const unsigned taken = user_compiler_words(n - i, args + i);
		for (unsigned k = 0; k < taken; k++, words++) {
			char *word = args[i + k];
			memmove(args + words + 1, args + words, (i + k - words) * sizeof *args);
			args[words] = word;
		}
		i += taken ? taken : 1;
	}
	s->words = (const char *const *)args;
	s->n_words = words;
	s->args = (const char *const *)args + words;
	s->n_args = n - words;
}

bool user_start(struct user_spec *s, unsigned n, char **args, struct selection *sel,
                struct err *err)
{
	if (!n || !user_file_named(args[0])) {
		if (!s->kernel && !s->grid && !s->block && !s->shared && !s->define)
			return select_by_words(n, args, sel, err);
		err_set(err, ERR_USAGE,
		        "--kernel, --grid, --block, --shared and --define belong to a file of your own");
		return err_remedy(err, "give the file first: pmpp-explore my.cu --grid ...");
	}
	if (!select_named_once(NULL, n, args, err))
		return false;
	s->path = args[0];
	s->trial = user_trial_run;
	take_compiler_words(s, n - 1, args + 1);
	if (!user_file_load(s, &sel->kernel, err))
		return false;
	sel->variant = 0;
	kernel_defaults(sel->kernel, sel->params);
	return sel->kernel->user || user_variant(s, n, args, sel, err);
}
