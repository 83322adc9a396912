/* Errors as values; see err.h. Knows nothing of who reads the message. */
#include "base/err.h"

#include <stdio.h>
#include <string.h>

bool(err_set)(struct err *err, enum err_code code, const char *fmt, ...)
{
	if (!err)
		return false;
	va_list ap;
	va_start(ap, fmt);
	err->code = code;
	err->remedy[0] = '\0';
	vsnprintf(err->msg, sizeof err->msg, fmt, ap);
	va_end(ap);
	return false;
}

bool(err_remedy)(struct err *err, const char *fmt, ...)
{
	if (!err)
		return false;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(err->remedy, sizeof err->remedy, fmt, ap);
	va_end(ap);
	return false;
}

bool(err_prefix)(struct err *err, const char *fmt, ...)
{
	if (!err)
		return false;
	char old[sizeof err->msg];
	memcpy(old, err->msg, sizeof old);
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(err->msg, sizeof err->msg, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof err->msg)
		snprintf(err->msg + n, sizeof err->msg - (size_t)n, "%s", old);
	return false;
}

void err_clear(struct err *err)
{
	if (err)
		*err = (struct err){ .code = ERR_NONE };
}

const char *err_code_name(enum err_code code)
{
	static const char *const names[] = {
#define X(code, status) [ERR_##code] = #code,
		ERR_CODES(X)
#undef X
	};
	return (unsigned)code < sizeof names / sizeof *names ? names[code] : "?";
}

int err_exit_status(enum err_code code)
{
	static const unsigned char status[] = {
#define X(code, status) [ERR_##code] = status,
		ERR_CODES(X)
#undef X
	};
	return (unsigned)code < sizeof status ? status[code] : 1;
}
