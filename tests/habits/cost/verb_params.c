/* params: a kernel's parameters; the verb that make cost adds to see what that touches. */
#include "cli/cli.h"
#include "lab/selection_words.h"

static unsigned options(void *state, struct option_spec *o)
{
	(void)state;
	(void)o;
	return 0;
}

static int run(struct cli *c, void *state, unsigned n, char **args)
{
	struct selection sel = { 0 };
	struct err err = { 0 };
	(void)state;
	if (!select_by_words(n, args, &sel, &err))
		return cli_fail(c, &err);
	for (unsigned p = 0; p < sel.kernel->n_params; p++)
		fprintf(c->out, "%s: %s\n", sel.kernel->params[p].name, sel.kernel->params[p].title);
	return CLI_OK;
}

const struct verb verb_params = {
	.name = "params",
	.order = 90,
	.about = "the parameters of a kernel, each with its title",
	.usage = "KERNEL[/VARIANT]",
	.help = "",
	.options = options,
	.state_bytes = 1,
	.run = run,
};
