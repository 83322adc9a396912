#define _GNU_SOURCE /* pipe2 */
/* See beside.h. A thread waits for the verb's process, an eventfd wakes the screen. */
#include "cli/beside.h"

#include "base/mem.h"
#include "base/plain.h"
#include "base/text.h"
#include "base/tool.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "model/preset.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MOST_WORDS 40
#define MOST_RESULTS 12
#define MOST_BYTES (4u << 20)
#define LIMIT_S 3600
#define RUNNING "running … Esc ends it\n"

static struct {
	pthread_t thread;
	bool started;
	atomic_bool cancel;
	int event; /* 0 = not made yet */
	char *words;
	const char *argv[MOST_WORDS + 4];
	int far[2]; /* a pipe: rows of progress (PROGRESS_OPTION); 0 = not made yet */
	struct text out, shown;
	struct text part;               /* of a row that is not whole yet */
	char row[128];                  /* how far it is */
	char result[MOST_RESULTS][128]; /* what it has come to so far: the last rows, in order */
	unsigned n_results;             /* that there were */
	struct err err;
} b;

/* Told, not called by name: the table of verbs stands above the screen. */
static struct {
	size_t (*count)(void);
	const struct verb *(*at)(size_t i);
} verbs;

void beside_verbs(size_t (*count)(void), const struct verb *(*at)(size_t i))
{
	verbs.count = count;
	verbs.at = at;
}

/* --- a verb --- */

static void *wait_for_it(void *unused)
{
	const struct tool_request req = {
		.path = "/proc/self/exe",
		.argv = b.argv,
		.fd = b.far[1] ? b.far[1] : -1,
		.limit_s = LIMIT_S,
		.max_bytes = MOST_BYTES,
		.cancel = &b.cancel,
	};
	const uint64_t one = 1;
	(void)unused;
	tool_run(&req, &b.out, &b.err);
	if (write(b.event, &one, sizeof one) != (ssize_t)sizeof one)
		b.err.code = ERR_INTERNAL;
	return NULL;
}

void beside_end(void)
{
	if (b.started) {
		atomic_store(&b.cancel, true);
		pthread_join(b.thread, NULL);
	}
	free(b.words);
	text_free(&b.out);
	b.words = NULL;
	b.started = false;
}

/* --- how far it is --- */

static void take_row(const char *row)
{
	if (*row != PROGRESS_RESULT) {
		snprintf(b.row, sizeof b.row, "%.120s", row);
		return;
	}
	if (b.n_results >= MOST_RESULTS)
		memmove(b.result[0], b.result[1], sizeof b.result - sizeof *b.result);
	const unsigned at = b.n_results < MOST_RESULTS ? b.n_results : MOST_RESULTS - 1;
	snprintf(b.result[at], sizeof b.result[at], "%.120s", row + 1);
	b.n_results++;
}

/* What the pipe holds. False: no row of it is whole. */
static bool take_rows(void)
{
	char bytes[4096];
	bool any = false;
	ssize_t got;
	while (b.far[0] && (got = read(b.far[0], bytes, sizeof bytes)) > 0) {
		text_put(&b.part, bytes, (size_t)got);
		char *from = b.part.s;
		for (char *end; (end = strchr(from, '\n')); from = end + 1) {
			*end = '\0';
			take_row(from);
			any = true;
		}
		b.part.len -= (size_t)(from - b.part.s);
		memmove(b.part.s, from, b.part.len + 1);
	}
	return any;
}

/* Nothing is known of a verb that begins. */
static void forget_rows(void)
{
	take_rows();
	text_free(&b.part);
	b.row[0] = '\0';
	b.n_results = 0;
}

static void show_rows(void)
{
	text_free(&b.shown);
	text_add(&b.shown, "%s%s\n", RUNNING, b.row);
	if (b.n_results)
		text_put(&b.shown, "\n", 1);
	if (b.n_results > MOST_RESULTS)
		text_add(&b.shown, "… %u before these\n", b.n_results - MOST_RESULTS);
	for (unsigned i = 0; i < b.n_results && i < MOST_RESULTS; i++)
		text_add(&b.shown, "%s\n", b.result[i]);
	plain_text(b.shown.s);
}

static bool start(const char *line, struct err *err)
{
	char *rest = NULL;
	unsigned n = 0;
	beside_end();
	b.words = mem_strdup(line);
	b.argv[n++] = "pmpp-explore";
	b.argv[n++] = PROGRESS_OPTION;
	b.argv[n++] = TOOL_FD_WORD;
	for (char *w = strtok_r(b.words, " ", &rest); w && n <= MOST_WORDS + 2;
	     w = strtok_r(NULL, " ", &rest))
		b.argv[n++] = w;
	b.argv[n] = NULL;
	b.err = (struct err){ 0 };
	text_free(&b.shown);
	forget_rows();
	text_add(&b.shown, "%s", RUNNING);
	atomic_store(&b.cancel, false);
	b.started = !pthread_create(&b.thread, NULL, wait_for_it, NULL);
	return b.started || err_set(err, ERR_UNAVAILABLE, "no thread is to be had to wait for it");
}

int beside_wake_fd(int lab_fd)
{
	static int both = -1;
	if (both >= 0)
		return both;
	struct epoll_event e = { .events = EPOLLIN };
	const int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), all = epoll_create1(EPOLL_CLOEXEC);
	if (event < 0 || all < 0 || pipe2(b.far, O_CLOEXEC | O_NONBLOCK) ||
	    epoll_ctl(all, EPOLL_CTL_ADD, lab_fd, &e) || epoll_ctl(all, EPOLL_CTL_ADD, event, &e) ||
	    epoll_ctl(all, EPOLL_CTL_ADD, b.far[0], &e)) {
		if (event >= 0)
			close(event);
		if (all >= 0)
			close(all);
		return lab_fd; /* without it the screen works, verbs beside it do not */
	}
	b.event = event;
	both = all;
	return both;
}

/* A message of one long line, in rows that fit the narrowest screen. */
static void add_folded(struct text *to, const char *msg)
{
	const size_t width = 74;
	while (strlen(msg) > width) {
		size_t n = width;
		while (n && msg[n] != ' ')
			n--;
		n = n ? n : width;
		text_add(to, "%.*s\n", (int)n, msg);
		msg += n + (msg[n] == ' ');
	}
	text_add(to, "%s\n", msg);
}

static bool has_ended(void)
{
	uint64_t n;
	if (!b.started || read(b.event, &n, sizeof n) != (ssize_t)sizeof n)
		return false;
	pthread_join(b.thread, NULL);
	b.started = false;
	text_free(&b.shown);
	if (b.out.len)
		text_put(&b.shown, b.out.s, b.out.len);
	if (b.err.code != ERR_NONE && b.out.len)
		text_put(&b.shown, "\n", 1);
	if (b.err.code != ERR_NONE)
		add_folded(&b.shown, b.err.msg);
	text_put(&b.shown, "", 0);
	plain_text(b.shown.s);
	return true;
}

bool beside_poll(void)
{
	/* (of a verb that was ended, too: the screen would be woken for ever) */
	const bool further = take_rows() && b.started;
	if (further)
		show_rows();
	return has_ended() || further;
}

const char *beside_text(void)
{
	return b.shown.s ? b.shown.s : "";
}

/* --- a line --- */

static const struct verb *verb_of(const char *word)
{
	for (size_t i = 0; i < verbs.count(); i++)
		if (verbs.at(i)->name[0] && !strcmp(verbs.at(i)->name, word))
			return verbs.at(i);
	return NULL;
}

/* "sgemm/tiled M=64 --gpu h100", "TILE=8", "--gpu l4": what this screen shows next. */
static bool choose(struct lab *lab, unsigned n, char **words, struct err *err)
{
	struct selection sel = lab_session(lab)->sel;
	unsigned k = 0;
	while (k < n && words[k][0] != '-')
		k++;
	if (k && word_names_kernel(words[0])) {
		if (!select_by_words(k, words, &sel, err))
			return false;
	} else {
		for (unsigned i = 0; i < k; i++)
			if (!select_param(words[i], &sel, err))
				return false;
	}
	if (k < n && (k + 2 != n || strcmp(words[k], "--gpu") != 0)) {
		err_set(err, ERR_USAGE, "option '%s' is not for this screen", words[k]);
		return err_remedy(err, "only --gpu SHEET is; a verb before the kernel takes others");
	}
	if (k < n && !gpu_find(words[k + 1])) {
		err_set(err, ERR_USAGE, "there is no GPU sheet '%s'", words[k + 1]);
		return err_remedy(err, "g shows them all");
	}
	if (k < n)
		sel.gpu = gpu_find(words[k + 1]);
	lab_selection(lab, &sel);
	return true;
}

bool beside_line(struct lab *lab, const char *line, bool *runs, struct err *err)
{
	char *copy = mem_strdup(line), *words[MOST_WORDS], *rest = NULL;
	unsigned n = 0;
	bool ok = true;
	*runs = false;
	for (char *w = strtok_r(copy, " ", &rest); w && n < MOST_WORDS; w = strtok_r(NULL, " ", &rest))
		words[n++] = w;
	if (n && verb_of(words[0])) {
		*runs = true;
		ok = start(line, err);
	} else if (n && lab_session(lab)->program) {
		ok = err_set(err, ERR_USAGE, "a program is on this screen; only verbs run beside it");
	} else if (n) {
		ok = choose(lab, n, words, err);
		const char *names[32];
		size_t n_verbs = 0;
		for (size_t i = 0; i < verbs.count() && n_verbs < ARRAY_LEN(names); i++)
			names[n_verbs++] = verbs.at(i)->name;
		const char *near = ok ? NULL : str_nearest(words[0], names, n_verbs);
		if (near && near[0] && !strchr(words[0], '='))
			err_remedy(err, "did you mean the verb '%s'?", near);
	}
	free(copy);
	return ok;
}

/* --- completion --- */

struct candidates {
	const char *part; /* what is typed of the last word */
	size_t left;      /* how many fitting ones come before the one that is wanted */
	char *out;
	size_t n;
	bool found;
};

static void offer(struct candidates *c, const char *head, const char *tail)
{
	char word[128];
	snprintf(word, sizeof word, "%s%s", head, tail);
	if (c->found || strncmp(word, c->part, strlen(c->part)) != 0)
		return;
	if (c->left--)
		return;
	snprintf(c->out, c->n, "%s", word);
	c->found = true;
}

static void offer_kernels(struct candidates *c)
{
	char word[128];
	for (size_t i = 0; i < kernel_count(); i++) {
		const struct kernel_desc *k = kernel_at(i);
		const size_t len = strlen(k->name);
		if (strncmp(c->part, k->name, len) != 0 || c->part[len] != '/')
			offer(c, k->name, "");
		else
			for (unsigned v = 0; v < k->n_variants; v++) {
				snprintf(word, sizeof word, "%s/%s", k->name, k->variants[v].name);
				offer(c, word, "");
			}
	}
}

/* Those of variant @named; @any: of every variant, since none is named. */
static void offer_parameters(struct candidates *c, const struct kernel_desc *k, unsigned named,
                             bool any)
{
	for (unsigned i = 0; i < k->n_params; i++) {
		if (!any && !kernel_param_used(k, named, i))
			continue;
		const size_t len = strlen(k->params[i].name);
		char word[128], value[64];
		if (strncmp(c->part, k->params[i].name, len) != 0 || c->part[len] != '=') {
			offer(c, k->params[i].name, "=");
			continue;
		}
		for (unsigned v = 0; k->params[i].choices && k->params[i].choices[v] != INT64_MIN; v++) {
			kernel_param_format(k, i, k->params[i].choices[v], value, sizeof value);
			snprintf(word, sizeof word, "%s=%s", k->params[i].name, value);
			offer(c, word, "");
		}
	}
}

static void offer_options(struct candidates *c, const struct verb *v)
{
	struct option_spec o[24];
	void *state = mem_zalloc(v->state_bytes ? v->state_bytes : 1);
	const unsigned n = v->options ? v->options(state, o) : 0;
	for (unsigned i = 0; i < n; i++)
		offer(c, o[i].name, "");
	offer(c, "--help", "");
	free(state);
}

/* "kernels|gpus|metrics [--json]": the words of which one follows. False: it takes others. */
static bool offer_words(struct candidates *c, const struct verb *v)
{
	const size_t len = strcspn(v->usage, " ");
	char words[200], *rest = NULL;
	if (len >= sizeof words || !memchr(v->usage, '|', len) || strcspn(v->usage, "[.") < len)
		return false;
	snprintf(words, sizeof words, "%.*s", (int)len, v->usage);
	for (char *w = strtok_r(words, "|", &rest); w; w = strtok_r(NULL, "|", &rest))
		offer(c, w, "");
	return true;
}

/* The first of the words that names a kernel; @any: no variant of it. NULL = none does. */
static const struct kernel_desc *named(unsigned n, char **words, struct selection *sel, bool *any)
{
	struct err err;
	for (unsigned i = 0; i < n; i++)
		if (word_names_kernel(words[i]) && select_by_name(words[i], sel, &err)) {
			*any = !strchr(words[i], '/');
			return sel->kernel;
		}
	return NULL;
}

/* What may follow @n whole words. */
static void offer_all(struct candidates *c, unsigned n, char **words)
{
	const struct verb *v = n ? verb_of(words[0]) : NULL;
	const char *before = n ? words[n - 1] : "";
	struct selection sel = { 0 };
	bool any = true;
	const struct kernel_desc *k = named(n - (v != NULL), words + (v != NULL), &sel, &any);
	if (!strcmp(before, "--gpu")) {
		for (size_t i = 0; i < gpu_count(); i++)
			offer(c, gpu_at(i)->id, "");
	} else if (!strcmp(before, "--backend")) {
		for (size_t i = 0; i < backend_count(); i++)
			offer(c, backend_at(i)->name, "");
	} else if (c->part[0] == '-') {
		if (v)
			offer_options(c, v);
		else
			offer(c, "--gpu", "");
	} else if (v && !strcmp(v->name, "preset")) {
		for (size_t i = 0; i < preset_count(); i++)
			offer(c, preset_name(i), "");
	} else if (k) {
		offer_parameters(c, k, sel.variant, any);
	} else if (v && n == 1 && offer_words(c, v)) {
		return;
	} else if (!v || strstr(v->usage, "KERNEL")) {
		for (size_t i = 0; !v && i < verbs.count(); i++)
			if (verbs.at(i)->name[0])
				offer(c, verbs.at(i)->name, "");
		offer_kernels(c);
	}
}

bool beside_complete(const char *line, size_t i, char *out, size_t n)
{
	char *copy = mem_strdup(line), *words[MOST_WORDS], *rest = NULL;
	unsigned n_words = 0;
	const char *blank = strrchr(line, ' ');
	struct candidates c = { .part = blank ? blank + 1 : line, .left = i, .out = out, .n = n };
	copy[c.part - line] = '\0';
	for (char *w = strtok_r(copy, " ", &rest); w && n_words < MOST_WORDS;
	     w = strtok_r(NULL, " ", &rest))
		words[n_words++] = w;
	offer_all(&c, n_words, words);
	free(copy);
	return c.found;
}
