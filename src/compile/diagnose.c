/*
 * NVRTC's log to err; see diagnose.h.
 *
 * The log is a list of messages "name(line): error: text", usually followed by the source line
 * and a line with a caret. ptxas speaks as "ptxas error   : text", or of a line of the PTX, whose
 * last .loc before it says where in the source that is. What looks like neither belongs to the
 * message above it. Errors come before warnings, because err.msg is finite.
 *
 * One refusal of ptxas has no message in NVRTC's log: too much static shared memory. It is found
 * in the resource lines.
 */
#include "compile/diagnose.h"

#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t line_len(const char *s)
{
	return strcspn(s, "\n");
}

static const char *after_line(const char *s)
{
	s += line_len(s);
	return *s ? s + 1 : s;
}

/* "name(12): error" -> 12 and the place after "): "; 0 = not the start of a message. */
static unsigned message_line(const char *s, const char **text)
{
	size_t len = line_len(s);
	for (size_t i = 1; i < len; i++) {
		if (s[i] != '(' || !isdigit((unsigned char)s[i + 1]))
			continue;
		char *end;
		unsigned long n = strtoul(s + i + 1, &end, 10);
		if (!strncmp(end, "): ", 3)) {
			*text = end + 3;
			return (unsigned)n;
		}
	}
	return 0;
}

static bool starts_message(const char *s)
{
	const char *text;
	return message_line(s, &text) || !strncmp(s, "ptxas ", 6) || !strncmp(s, "nvrtc: ", 7);
}

static bool is_error(const char *s)
{
	size_t len = line_len(s);
	for (size_t i = 0; i + 5 <= len; i++)
		if (!strncmp(s + i, "error", 5) || !strncmp(s + i, "fatal", 5))
			return true;
	return false;
}

/* "ptxas application ptx input, line 29; error   : text" -> 29 and the text; 0 = not of this form.
 */
static unsigned assembler_line(const char *s, const char **text)
{
	static const char before[] = ", line ";
	size_t len = line_len(s);
	for (size_t i = 0; !strncmp(s, "ptxas ", 6) && i + sizeof before < len; i++) {
		if (strncmp(s + i, before, sizeof before - 1) != 0)
			continue;
		char *end;
		unsigned long n = strtoul(s + i + sizeof before - 1, &end, 10);
		if (strncmp(end, "; ", 2) != 0)
			return 0;
		*text = end + 2;
		return (unsigned)n;
	}
	return 0;
}

/* "	.loc	1 line column" -> line: only file 1 is the source itself. 0 = another line. */
static unsigned loc_line(const char *s)
{
	static const char directive[] = ".loc";
	s += strspn(s, " \t");
	if (strncmp(s, directive, sizeof directive - 1) != 0)
		return 0;
	char *end;
	if (strtoul(s + sizeof directive - 1, &end, 10) != 1)
		return 0;
	return (unsigned)strtoul(end, NULL, 10);
}

/* The source line of PTX line @n: the last ".loc file line column" above it. 0 = none. */
static unsigned loc_before(const char *ptx, unsigned n)
{
	unsigned line = 0;
	for (unsigned i = 1; ptx && *ptx && i <= n; i++, ptx = after_line(ptx)) {
		const unsigned at = loc_line(ptx);
		if (at)
			line = at;
	}
	return line;
}

/* Line @n of @source, without its newline; len 0 = there is none. */
static const char *source_line(const char *source, unsigned n, size_t *len)
{
	while (--n && *source)
		source = after_line(source);
	*len = line_len(source);
	return source;
}

/* One message with its source line, from @s to the next message. Returns the place after it. */
static const char *add_message(struct text *out, const char *s, const char *file,
                               const char *source, const char *ptx)
{
	const char *words = s;
	unsigned line = message_line(s, &words);
	size_t name_len = line ? strcspn(s, "(") : 0;
	bool ours = line && (size_t)name_len == strlen(file) && !strncmp(s, file, name_len);
	if (!line) {
		unsigned ptx_line = assembler_line(s, &words);
		line = loc_before(ptx, ptx_line);
		ours = line > 0;
		if (line)
			text_add(out, "%s:%u: PTX line %u: ", file, line, ptx_line);
		else
			words = s;
	} else {
		text_add(out, "%.*s:%u: ", (int)name_len, s, line);
	}
	text_put(out, words, line_len(words));
	text_put(out, "\n", 1);
	bool shown = false; /* NVRTC printed the line itself */
	const char *next = after_line(s);
	for (; *next && !starts_message(next); next = after_line(next)) {
		size_t len = line_len(next);
		if (!len || !strncmp(next, "Remark:", 7) ||
		    isdigit((unsigned char)*next)) /* "2 errors detected in the compilation of ..." */
			continue;
		text_put(out, next, len);
		text_put(out, "\n", 1);
		shown = true;
	}
	if (ours && !shown) {
		size_t len;
		const char *code = source_line(source, line, &len);
		if (len)
			text_add(out, "  %.*s\n", (int)len, code);
	}
	return next;
}

/* CUDA programming guide, "technical specifications": more than this must be dynamic. */
static const unsigned max_static_shared_bytes = 48 << 10;

static void add_shared_excess(struct text *out, const char *log, const char *file)
{
	static const char compiling[] = "Compiling entry function '";
	static const char smem[] = " bytes smem";
	const char *entry = NULL;
	for (const char *s = log; *s; s = after_line(s)) {
		size_t len = line_len(s);
		for (size_t i = 0; i < len; i++) {
			if (!strncmp(s + i, compiling, sizeof compiling - 1))
				entry = s + i + sizeof compiling - 1;
			if (!i || s[i - 1] != ' ' || !isdigit((unsigned char)s[i]) || !entry)
				continue;
			char *end;
			const unsigned long bytes = strtoul(s + i, &end, 10);
			if (!strncmp(end, smem, sizeof smem - 1) && bytes > max_static_shared_bytes)
				text_add(out,
				         "%s: entry '%.*s' declares %lu bytes of shared memory; "
				         "at most %u can be static (the rest must be extern)\n",
				         file, (int)strcspn(entry, "'\n"), entry, bytes, max_static_shared_bytes);
		}
	}
}

bool diagnose(const char *log, const char *file, const char *source, const char *ptx,
              struct err *err)
{
	struct text all = { 0 };
	unsigned left_out = 0;
	err_set(err, ERR_COMPILE, "%s", "");
	for (int pass = 0; pass < 2; pass++) {
		const char *s = log;
		while (*s && !starts_message(s))
			s = after_line(s);
		while (*s) {
			bool info = !strncmp(s, "ptxas info", 10) || !strncmp(s, "ptxas    ", 9) ||
			            !strncmp(s, "ptxas fatal   : Ptx assembly aborted", 36);
			struct text one = { 0 };
			bool wanted = is_error(s) == (pass == 0) && !info;
			s = add_message(&one, s, file, source, ptx);
			if (wanted && all.len + one.len < sizeof err->msg - 64)
				text_put(&all, one.s, one.len);
			else if (wanted)
				left_out++;
			text_free(&one);
		}
	}
	if (!all.len)
		add_shared_excess(&all, log, file);
	if (!all.len)
		text_add(&all, "%s: %.*s", file, 1500, *log ? log : "the compiler gave no reason");
	while (all.len && all.s[all.len - 1] == '\n')
		all.s[--all.len] = '\0';
	if (left_out)
		text_add(&all, "\n... and %u more message%s", left_out, left_out == 1 ? "" : "s");
	err_set(err, ERR_COMPILE, "%s", all.s);
	text_free(&all);
	return false;
}
