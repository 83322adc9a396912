/* What a launch of a person's own kernel lacks, and a command line to start from; see
 * user_source.h. */
#include "userkernel/user_source.h"

#include "base/text.h"

#include <string.h>

/* Whole numbers of a signature, as names of sizes. */
static unsigned size_names(const struct user_kernel *k, const char *names[KERNEL_MAX_ARGS])
{
	unsigned n = 0;
	for (unsigned i = 0; i < k->n_params; i++)
		if (!k->params[i].pointer && k->params[i].known && k->params[i].kind != ARG_F32)
			names[n++] = k->params[i].name;
	return n;
}

/* A command line that launches @k: sizes are guesses, to be changed. */
static void example_line(const char *path, const struct user_kernel *k, struct text *t)
{
	const char *sizes[KERNEL_MAX_ARGS];
	const unsigned n = size_names(k, sizes);
	text_add(t, "pmpp-explore %s --kernel %s", path, k->name);
	if (n > 1)
		text_add(t, " --grid %s/block_x,%s/block_y --block 16,16", sizes[1], sizes[0]);
	else if (n)
		text_add(t, " --grid %s/block --block 256", sizes[0]);
	else
		text_add(t, " --grid 4096 --block 256");
	for (unsigned i = 0; i < k->n_params; i++) {
		const struct user_param *p = &k->params[i];
		if (!p->pointer && p->known && p->kind != ARG_F32)
			text_add(t, " %s=%s", p->name, n > 1 ? "512" : "1M");
		else if (!p->pointer)
			text_add(t, " %s=1.5", p->name);
		else if (n > 1)
			text_add(t, " '%s=%s[%s%s*%s]'", p->name, p->known ? elem_name(p->elem) : "f32",
			         p->lanes > 1 ? "4*" : "", sizes[0], sizes[1]);
		else
			text_add(t, " '%s=%s[%s%s]%s'", p->name, p->known ? elem_name(p->elem) : "f32",
			         p->lanes > 1 ? "4*" : "", n ? sizes[0] : "1M",
			         p->is_const ? ":rand" : ":zero");
	}
}

bool user_usage(const struct user_source *s, const char *path, const struct user_kernel *k,
                const char *what, struct err *err)
{
	struct text t = { 0 }, line = { 0 };
	char signature[600];
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
	text_add(&t, "%s: %s", file, what);
	for (unsigned i = 0; i < s->n_kernels && t.len < 1500; i++) {
		const struct user_kernel *one = &s->kernels[i];
		user_signature(one, signature, sizeof signature);
		text_add(&t, "\n  %s:%u: %s%s%s", file, one->line, signature, one->why_not[0] ? "  - " : "",
		         one->why_not);
		if (!k && !one->why_not[0])
			k = one;
	}
	err_set(err, ERR_USAGE, "%s", t.s);
	if (k) {
		example_line(path, k, &line);
		err_remedy(err, "%s", line.s);
	}
	text_free(&t);
	text_free(&line);
	return false;
}
