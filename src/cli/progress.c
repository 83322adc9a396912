/* How far long work is; see progress.h. Knows no verb. */
#include "cli/progress.h"

#include "base/lang.h"
#include "base/monotonic.h"
#include "base/utf8.h"
#include "cli/early_option.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define EVERY_S 0.1        /* no row more often than this */
#define QUIET_S 0.3        /* what is done sooner is not spoken of */
#define ESTIMATE_FROM 0.03 /* share of the work from which the rest is estimated */
#define ROW_COLUMNS 78

static atomic_bool interrupted;
static int told_fd = -1; /* of PROGRESS_OPTION */

static void on_interrupt(int signal)
{
	(void)signal;
	atomic_store(&interrupted, true);
}

bool progress_cancelled(void)
{
	return atomic_load(&interrupted);
}

static void seconds_text(double s, char *out, size_t n)
{
	if (s < 10)
		snprintf(out, n, "%.1f s", s);
	else if (s < 100)
		snprintf(out, n, "%.0f s", s);
	else
		snprintf(out, n, "%ld min %02ld s", (long)s / 60, (long)s % 60);
}

void progress_text(const struct progress *p, double elapsed_s, char *out, size_t n)
{
	char gone[32], left[48] = "", rate[48] = "", count[48] = "";
	const double share = p->n ? (p->done + p->fraction) / p->n : 0;
	seconds_text(elapsed_s, gone, sizeof gone);
	if (share >= ESTIMATE_FROM) {
		char rest[32];
		seconds_text(elapsed_s * (1 - share) / share, rest, sizeof rest);
		snprintf(left, sizeof left, ", about %s to go", rest);
	}
	if (p->n > 1)
		snprintf(count, sizeof count, "%u of %u  ", p->done + 1 < p->n ? p->done + 1 : p->n, p->n);
	if (p->done > 1 && elapsed_s > 0)
		snprintf(rate, sizeof rate, "   %.2g per second", p->done / elapsed_s);
	snprintf(out, n, "%s%s  %.0f %%   %s%s%s", count, p->item, 100 * p->fraction, gone, left, rate);
}

bool progress_choose(int *argc, char **argv, struct err *err)
{
	int64_t fd;
	const char *word = early_option(PROGRESS_OPTION, argc, argv);
	if (!word)
		return true;
	if (!parse_int(word, &fd) || fd < 0 || fd > INT_MAX || fcntl((int)fd, F_GETFL) < 0)
		return err_set(err, ERR_USAGE, "option '%s' needs the number of an open descriptor",
		               PROGRESS_OPTION);
	told_fd = (int)fd;
	return true;
}

/* A line for who reads PROGRESS_OPTION's descriptor. */
static void tell(const char *mark, const char *line)
{
	if (told_fd >= 0 && dprintf(told_fd, "%s%s\n", mark, line) < 0 && errno != EAGAIN)
		told_fd = -1; /* nobody reads any more */
}

static void empty_row(const struct progress *p)
{
	if (p->drawn)
		fprintf(p->to, "\r%*s\r", ROW_COLUMNS, "");
}

/* The bytes of @row that stay in one row: what wraps cannot be rewritten. */
static size_t fitting(const char *row)
{
	const char *end = row, *next = row;
	int columns = 0;
	while (*end && (columns += char_columns(utf8_next(&next))) <= ROW_COLUMNS)
		end = next;
	return (size_t)(end - row);
}

static void put_row(FILE *to, const char *before, const char *row)
{
	char cut[4 * ROW_COLUMNS + 1];
	snprintf(cut, sizeof cut, "%.*s", (int)fitting(row), row);
	fprintf(to, "%s%s%*s", before, cut, ROW_COLUMNS - text_columns(cut), "");
}

static void show_results(struct progress *p)
{
	if (!p->held.len)
		return;
	empty_row(p);
	for (size_t i = 0; i < p->held.len; i++)
		p->rows += p->held.s[i] == '\n';
	fwrite(p->held.s, 1, p->held.len, p->to);
	text_free(&p->held);
}

static void draw(struct progress *p)
{
	const double now = clock_now_s();
	if ((!p->to && told_fd < 0) || now - p->started_s < QUIET_S || now - p->drawn_s < EVERY_S)
		return;
	char row[256];
	progress_text(p, now - p->started_s, row, sizeof row);
	p->drawn_s = now;
	tell("", row);
	if (!p->to)
		return;
	show_results(p);
	p->drawn = true;
	put_row(p->to, "\r", lang_text(row));
	fflush(p->to);
}

void progress_begin(struct progress *p, unsigned n)
{
	*p = (struct progress){ .to = isatty(STDERR_FILENO) ? stderr : NULL,
		                    .n = n,
		                    .started_s = clock_now_s() };
	const struct sigaction end = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };
	sigaction(SIGINT, &end, NULL);
}

void progress_item(struct progress *p, const char *item)
{
	snprintf(p->item, sizeof p->item, "%.60s", item);
	p->fraction = 0;
	draw(p);
}

void progress_done(struct progress *p)
{
	p->done++;
	p->fraction = 0;
}

void progress_result(struct progress *p, const char *fmt, ...)
{
	char row[256], mark[] = { PROGRESS_RESULT, '\0' };
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(row, sizeof row, fmt, ap);
	va_end(ap);
	tell(mark, row);
	if (p->to)
		text_add(&p->held, "%.*s\n", (int)fitting(row), row);
}

/* Are the results over the row still on the screen, each in one row of it? */
static bool can_take_back(const struct progress *p)
{
	const char *term = getenv("TERM");
	struct winsize size;
	return term && strcmp(term, "dumb") != 0 && !ioctl(fileno(p->to), TIOCGWINSZ, &size) &&
	       size.ws_col > ROW_COLUMNS && size.ws_row > p->rows + 1;
}

void progress_end(struct progress *p)
{
	if (p->drawn) {
		empty_row(p);
		if (p->rows && can_take_back(p))
			fprintf(p->to, "\033[%uA\033[J", p->rows);
		fflush(p->to);
	}
	text_free(&p->held);
	p->to = NULL;
}

static void on_fraction(void *ctx, double fraction)
{
	struct progress *p = ctx;
	p->fraction = fraction;
	draw(p);
}

struct run_hooks progress_hooks(struct progress *p)
{
	return (struct run_hooks){ .progress = on_fraction, .ctx = p, .cancel = &interrupted };
}
