/* What a launch of a person's own kernel lacks, and command lines to start from. */
#include "userkernel/user_family.h"
#include "userkernel/user_suggest.h"

#include "base/text.h"

#include <string.h>

/* Room for what does not fit: "and 7 more". */
#define ROOM (sizeof((struct err *)0)->msg - 200)

bool user_usage(const struct user_family *o, const struct user_kernel *k, const char *what,
                struct err *err)
{
	const struct user_source *s = &o->source;
	struct text t = { 0 }, first = { 0 };
	char signature[4096];
	unsigned left_out = 0, shown = 0;
	text_add(&t, "%s: %s", o->file, what);
	for (unsigned i = 0; i < s->n_kernels; i++) {
		const struct user_kernel *one = &s->kernels[i];
		struct text line = { 0 };
		if (k && one != k)
			continue;
		user_signature(one, signature, sizeof signature);
		text_add(&line, "\n  %s:%u: %s%s%s", o->file, one->line, signature,
		         one->why_not[0] ? "  - " : "", one->why_not);
		if (!one->why_not[0] && t.len + line.len < ROOM) {
			struct text command = { 0 };
			user_suggest(o, one, &command);
			if (!first.len)
				text_add(&first, "%s", command.s);
			if (!k)
				text_add(&line, "\n    %s", command.s);
			text_free(&command);
		}
		if (t.len + line.len < ROOM) {
			text_put(&t, line.s, line.len);
			shown++;
		} else {
			left_out++;
		}
		text_free(&line);
	}
	if (left_out)
		text_add(&t, "\n  ... and %u more; --kernel NAME shows one", left_out);
	err_set(err, ERR_USAGE, "%s", t.s);
	if (first.len)
		err_remedy(err, "%s", first.s);
	text_free(&t);
	text_free(&first);
	return false;
}
