/*
 * The compile worker, both ends; see compile_worker.h.
 *
 * A message is a list of byte strings. Request: file, source, options. Answer: a letter (y
 * compiled, n the source does not compile, e error), then log, PTX and cubin, or code, message and
 * remedy.
 */
#include "compile/compile_worker.h"
#include "base/monotonic.h"

#include "base/child.h"
#include "base/mem.h"
#include "base/text.h"
#include "compile/module_store.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAGIC 0x70636d70u
#define MAX_PARTS 128
#define MAX_PART ((uint64_t)1 << 30)
#define GRACE_S 0.3 /* a compilation that nobody wants any more is soon over, or ended */
#define TICK_MS 20

struct part {
	void *bytes;
	uint64_t n;
};

struct parts {
	uint32_t magic, n;
	struct part part[MAX_PARTS];
};

/* --- messages --- */

struct waiting {
	double deadline; /* 0 = for ever */
	const atomic_bool *cancel;
	bool grace; /* cancelled already: the deadline is the grace's */
};

/* All @n bytes there or back. False: the other end is gone, or it takes too long. */
static bool transfer(int fd, void *bytes, uint64_t n, bool out, struct waiting *w)
{
	for (uint64_t at = 0; at < n;) {
		if (w && w->cancel && !w->grace && atomic_load(w->cancel)) {
			w->grace = true;
			w->deadline = clock_now_s() + GRACE_S;
		}
		struct pollfd p = { .fd = fd, .events = out ? POLLOUT : POLLIN };
		const int ready = poll(&p, 1, w ? TICK_MS : -1);
		if (ready < 0 && errno != EINTR)
			return false;
		if (ready <= 0) {
			if (w && clock_now_s() >= w->deadline)
				return false;
			continue;
		}
		const ssize_t k = out ? send(fd, (char *)bytes + at, n - at, MSG_NOSIGNAL | MSG_DONTWAIT)
		                      : recv(fd, (char *)bytes + at, n - at, MSG_DONTWAIT);
		if (k == 0 || (k < 0 && errno != EINTR && errno != EAGAIN))
			return false;
		at += k > 0 ? (uint64_t)k : 0;
	}
	return true;
}

static void append_part(struct parts *m, const void *bytes, size_t n)
{
	m->part[m->n++] = (struct part){ (void *)(uintptr_t)bytes, n };
}

static void append_text(struct parts *m, const char *s)
{
	append_part(m, s, strlen(s));
}

static bool send_parts(int fd, struct parts *m, struct waiting *w)
{
	uint32_t head[2] = { MAGIC, m->n };
	bool ok = transfer(fd, head, sizeof head, true, w);
	for (uint32_t i = 0; ok && i < m->n; i++)
		ok = transfer(fd, &m->part[i].n, sizeof m->part[i].n, true, w) &&
		     transfer(fd, m->part[i].bytes, m->part[i].n, true, w);
	return ok;
}

/* Every part ends in a NUL that is not counted. Free with free_parts(), also after false. */
static bool receive_parts(int fd, struct parts *m, struct waiting *w)
{
	uint32_t head[2] = { 0 };
	m->n = 0;
	if (!transfer(fd, head, sizeof head, false, w) || head[0] != MAGIC || head[1] > MAX_PARTS)
		return false;
	for (uint32_t i = 0; i < head[1]; i++) {
		uint64_t n;
		if (!transfer(fd, &n, sizeof n, false, w) || n > MAX_PART)
			return false;
		m->part[i] = (struct part){ mem_zalloc(n + 1), n };
		m->n = i + 1;
		if (!transfer(fd, m->part[i].bytes, n, false, w))
			return false;
	}
	return true;
}

static void free_parts(struct parts *m)
{
	while (m->n)
		free(m->part[--m->n].bytes);
}

/* --- the worker --- */

static bool answer_request(int fd, const struct parts *q)
{
	struct rtc_output out = { .ok = false };
	struct err err = { 0 };
	struct parts a = { .n = 0 };
	const char *options[MAX_PARTS];
	const int n = (int)q->n - 2;
	char code[12];
	for (int i = 0; i < n; i++)
		options[i] = q->part[i + 2].bytes;
	if (rtc_compile(q->part[0].bytes, q->part[1].bytes, options, n, &out, &err)) {
		append_text(&a, out.ok ? "y" : "n");
		append_text(&a, out.log);
		append_part(&a, out.ptx, out.ptx ? out.ptx_len : 0);
		append_part(&a, out.cubin, out.cubin ? out.cubin_len : 0);
	} else {
		snprintf(code, sizeof code, "%d", (int)err.code);
		append_text(&a, "e");
		append_text(&a, code);
		append_text(&a, err.msg);
		append_text(&a, err.remedy);
	}
	const bool sent = send_parts(fd, &a, NULL);
	rtc_free(&out);
	return sent;
}

int compile_worker_main(int fd)
{
	if (!child_begin(fd))
		return 2;   /* started by hand */
	rtc_load(NULL); /* while the program sends */
	struct parts q;
	bool ok = true;
	while (ok) {
		ok = receive_parts(fd, &q, NULL) && q.n >= 2 && answer_request(fd, &q);
		free_parts(&q);
	}
	_exit(0); /* no library's exit handlers */
}

/* --- the program --- */

static struct {
	pthread_mutex_t lock;
	double limit_s; /* 0 = not used */
	struct child child;
} worker = { .lock = PTHREAD_MUTEX_INITIALIZER, .child = CHILD_INIT };

void compile_use_worker(double limit_s)
{
	worker.limit_s = limit_s;
}

bool compile_worker_used(void)
{
	return worker.limit_s > 0;
}

/* "/sgemm.cu" is how compile.c names a source without a folder. */
static const char *shown(const char *file)
{
	return file[0] == '/' && !strchr(file + 1, '/') ? file + 1 : file;
}

/* Source and options of a compilation that NVRTC did not survive, for a report. */
static void write_crash_report(const char *file, const char *source, const char *const *options,
                               int n_options, const char *how, char *path, size_t size)
{
	struct text t = { 0 };
	char name[64];
	text_add(&t, "// %s: %s ended (%s) while compiling this.\n// Options:", shown(file), rtc_name(),
	         how);
	for (int i = 0; i < n_options; i++)
		if (strncmp(options[i], "-I", 2) != 0)
			text_add(&t, " %s", options[i]);
	text_add(&t, "\n%s", source);
	snprintf(name, sizeof name, "crash-%016llx.cu",
	         (unsigned long long)hash_bytes(HASH_SEED, t.s, t.len));
	store_keep(name, t.s, t.len, path, size);
	text_free(&t);
}

static bool report_crash(const char *file, const char *source, const char *const *options,
                         int n_options, struct err *err)
{
	char how[64], words[300], path[1200];
	child_ended_by(child_reap(&worker.child, 2), how, sizeof how);
	child_last_words(&worker.child, words, sizeof words);
	child_stop(&worker.child);
	write_crash_report(file, source, options, n_options, how, path, sizeof path);
	err_set(err, ERR_COMPILE, "%s: the compiler %s itself ended (%s)%s%s%s%s", shown(file),
	        rtc_name(), how, words[0] ? ": " : "", words,
	        path[0] ? "; source and options are kept in " : "", path);
	return err_remedy(err, "a fault of the compiler, not of this source: write it a little "
	                       "differently, take another CUDA toolkit (CUDA_HOME), or report the kept "
	                       "file to NVIDIA");
}

static bool read_answer(struct parts *a, struct rtc_output *out, struct err *err)
{
	const char *kind = a->n == 4 ? a->part[0].bytes : "";
	if (*kind == 'e') {
		err_set(err, (enum err_code)strtol(a->part[1].bytes, NULL, 10), "%s",
		        (char *)a->part[2].bytes);
		return err_remedy(err, "%s", (char *)a->part[3].bytes);
	}
	if (*kind != 'y' && *kind != 'n')
		return err_set(err, ERR_INTERNAL, "the compile worker's answer could not be read");
	out->ok = *kind == 'y';
	out->log = a->part[1].bytes;
	a->part[1].bytes = NULL;
	if (a->part[2].n) {
		out->ptx = a->part[2].bytes;
		out->ptx_len = a->part[2].n;
		a->part[2].bytes = NULL;
	}
	if (out->ok) {
		out->cubin = a->part[3].bytes;
		out->cubin_len = a->part[3].n;
		a->part[3].bytes = NULL;
	}
	return true;
}

static bool ask_worker(const char *file, const char *source, const char *const *options,
                       int n_options, const atomic_bool *cancel, struct rtc_output *out,
                       struct err *err)
{
	struct parts q = { .n = 0 }, a = { .n = 0 };
	if (n_options > MAX_PARTS - 2)
		return err_set(err, ERR_USAGE, "%s: %d options for the compiler", shown(file), n_options);
	append_text(&q, file);
	append_text(&q, source);
	for (int i = 0; i < n_options; i++)
		append_text(&q, options[i]);
	if (worker.child.pid && child_gone(&worker.child))
		child_stop(&worker.child);
	if (!worker.child.pid &&
	    !child_start(&worker.child, COMPILE_WORKER_OPTION, "compile worker", err))
		return false;
	struct waiting w = { .deadline = clock_now_s() + worker.limit_s, .cancel = cancel };
	const bool ok = send_parts(worker.child.fd, &q, &w) && receive_parts(worker.child.fd, &a, &w);
	bool got = false;
	if (ok) {
		got = read_answer(&a, out, err);
	} else if (w.grace) {
		child_stop(&worker.child);
		err_set(err, ERR_CANCELLED, "%s: cancelled while it was compiled", shown(file));
	} else if (clock_now_s() >= w.deadline) {
		child_stop(&worker.child);
		err_set(err, ERR_TIMEOUT, "%s: the compiler %s was not done after %g s", shown(file),
		        rtc_name(), worker.limit_s);
		err_remedy(err, "compile less at a time: fewer unrolled loops, smaller tiles");
	} else {
		report_crash(file, source, options, n_options, err);
	}
	free_parts(&a);
	return got;
}

bool compile_in_worker(const char *file, const char *source, const char *const *options,
                       int n_options, const atomic_bool *cancel, struct rtc_output *out,
                       struct err *err)
{
	*out = (struct rtc_output){ .ok = false };
	pthread_mutex_lock(&worker.lock);
	const bool ok = ask_worker(file, source, options, n_options, cancel, out, err);
	pthread_mutex_unlock(&worker.lock);
	return ok;
}
