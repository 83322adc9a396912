/* How a verb ends: one JSON object, or a message and its remedy. See cli.h. */
#include "cli/cli.h"

#include "base/lang.h"

#include <stdarg.h>

static void say(FILE *f, enum style style, const char *fmt, va_list ap)
{
	char english[4096];
	vsnprintf(english, sizeof english, fmt, ap);
	colour_style(f, style);
	fputs(lang_formatted(fmt, english), f);
	colour_style(f, STYLE_NORMAL);
}

void cli_say(FILE *f, enum style style, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	say(f, style, fmt, ap);
	va_end(ap);
}

void cli_name(FILE *f, enum style style, const char *name)
{
	colour_style(f, style);
	fputs(name, f);
	colour_style(f, STYLE_NORMAL);
}

void cli_line(struct cli *c, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	say(c->out, STYLE_NORMAL, fmt, ap);
	va_end(ap);
	fputc('\n', c->out);
}

void cli_line_in(struct cli *c, enum style style, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	say(c->out, style, fmt, ap);
	va_end(ap);
	fputc('\n', c->out);
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
	colour_style(c->err, STYLE_ERROR);
	fputs("pmpp-explore:", c->err);
	colour_style(c->err, STYLE_NORMAL);
	fprintf(c->err, " %s\n", lang_text(err->msg));
	if (err->remedy[0])
		fprintf(c->err, "  %s\n", lang_text(err->remedy));
	return c->json ? cli_emit(c, json_error(err), status) : status;
}
