/* How a verb ends: one JSON object, or a message and its remedy. See cli.h. */
#include "cli/cli.h"

#include "base/lang.h"

#include <stdarg.h>

void cli_line(struct cli *c, const char *fmt, ...)
{
	char english[4096];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(english, sizeof english, fmt, ap);
	va_end(ap);
	fprintf(c->out, "%s\n", lang_formatted(fmt, english));
}

int cli_emit(struct cli *c, json_t *object, int status)
{
	/* cli_main() asks the stream whether all of it was written */
	(void)json_dumpf(object, c->out, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	json_decref(object);
	fputc('\n', c->out);
	return status;
}

int cli_fail(struct cli *c, const struct err *err)
{
	static const struct err unsaid = { .code = ERR_INTERNAL,
		                               .msg = "this failed without saying why; please report it" };
	if (err->code == ERR_NONE)
		err = &unsaid;
	const int status = err_exit_status(err->code);
	fprintf(c->err, "pmpp-explore: %s\n", lang_text(err->msg));
	if (err->remedy[0])
		fprintf(c->err, "  %s\n", lang_text(err->remedy));
	return c->json ? cli_emit(c, json_error(err), status) : status;
}
