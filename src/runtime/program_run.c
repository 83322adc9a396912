#define _GNU_SOURCE /* SOCK_CLOEXEC, pipe2 */
/*
 * A program's life; see program_run.h. One thread polls the records, the program's output and its
 * end. The program is a process group of its own only where its output is caught: on a terminal it
 * stays in ours, so that Ctrl-C reaches it.
 */
#include "runtime/program_run.h"
#include "base/monotonic.h"

#include "base/mem.h"
#include "base/text.h"
#include "compile/compile.h"
#include "cuda/cuda_fault.h"
#include "runtime/guest_library.h"
#include "runtime/code_answer.h"
#include "runtime/program_collect.h"
#include "runtime/program_measured.h"
#include "runtime/program_places.h"
#include "runtime/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_MS 20
#define INJECTION_VARIABLE "CUDA_INJECTION64_PATH" /* what NVIDIA's driver reads */
#define MAX_OUTPUT ((size_t)16 << 20) /* of each stream that is kept; more is counted, not kept */

struct running {
	struct measured *measured; /* on a real GPU; NULL = emulated */
	pid_t pid;
	bool sandboxed;
	int records, out, err; /* ours; -1 = closed */
	struct text out_text, err_text;
	double started, reported;
	bool late;    /* the time is over: the launch that runs is to tell what it found */
	uint64_t in;  /* that launch; 0 = none */
	char *kernel; /* of it */
};

/* --- starting --- */

static char *environment_entry(const char *name, const char *folder, const char *file,
                               const char *before)
{
	return mem_printf("%s=%s%s%s%s", name, folder, file, before && *before ? ":" : "",
	                  before ? before : "");
}

/* Ours, where there is one, the person's, and the toolkit's: NVRTC is NVIDIA's own. */
static char *library_path(const char *folder)
{
	const char *before = getenv("LD_LIBRARY_PATH"), *home = cuda_home();
	struct text all = { 0 };
	text_add(&all, "LD_LIBRARY_PATH=%s", folder ? folder : "");
	if (before && *before)
		text_add(&all, "%s%s", folder ? ":" : "", before);
	if (home[0])
		text_add(&all, ":%s/lib64:%s/lib", home, home);
	return all.s;
}

#define N_OURS 3

/* What we set for the program: our library in front of NVIDIA's, or for the driver to load. @place:
 * the folder of the one, or the other's file. To be freed one by one. */
static void make_ours(const struct program_request *req, const char *place, int fd,
                      char *ours[N_OURS + 1])
{
	ours[0] = req->measured
	              ? environment_entry(INJECTION_VARIABLE, place, "", NULL)
	              : environment_entry("LD_PRELOAD", place, "/" GUEST_LIBRARY, getenv("LD_PRELOAD"));
	ours[1] = library_path(req->measured ? NULL : place);
	ours[2] = mem_printf(RECORD_FD_VARIABLE "=%d", fd);
	ours[N_OURS] = NULL;
}

static bool is_set_by(char *const *ours, const char *entry)
{
	for (unsigned i = 0; i < N_OURS; i++)
		if (!strncmp(ours[i], entry, strcspn(ours[i], "=") + 1))
			return true;
	return false;
}

/* The person's environment with @ours in it, lent. A sandbox sets them itself: what opens it must
 * not load the library. Caller frees the array. */
static char **make_environment(char *const *ours, bool sandboxed)
{
	size_t n = 0;
	while (environ[n])
		n++;
	char **all = mem_calloc(n + N_OURS + 1, sizeof *all);
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (!is_set_by(ours, environ[i]))
			all[kept++] = environ[i];
	for (unsigned i = 0; i < N_OURS && !sandboxed; i++)
		all[kept++] = ours[i];
	return all;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* @argv in @environment, with these descriptors; an errno. */
static int spawn_words(struct running *r, const struct program_request *req, const char *path,
                       char *const *argv, char *const *environment, int records, int out, int err)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	/* dup2 onto itself takes the close-on-exec mark away */
	posix_spawn_file_actions_adddup2(&actions, records, records);
	if (req->no_input)
		posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (out >= 0) {
		posix_spawn_file_actions_adddup2(&actions, out, 1);
		posix_spawn_file_actions_adddup2(&actions, err, 2);
	}
	sigset_t none;
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attributes, &none);
	sigset_t usual;
	sigfillset(&usual);
	posix_spawnattr_setsigdefault(&attributes, &usual);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
	                                              (out >= 0 ? POSIX_SPAWN_SETPGROUP : 0)));
	const int rc = posix_spawn(&r->pid, path, &actions, &attributes, argv, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

static bool spawn(struct running *r, const struct program_request *req, const char *folder,
                  int records, int out, int err_fd, struct err *err)
{
	char *ours[N_OURS + 1], **sandbox = NULL;
	make_ours(req, folder, records, ours);
	r->sandboxed = sandbox_is_wanted();
	bool ok =
		!r->sandboxed || sandbox_command(req->path, req->arguments, ours, folder, &sandbox, err);
	if (ok) {
		char **environment = make_environment(ours, r->sandboxed);
		const int rc =
			spawn_words(r, req, sandbox ? sandbox[0] : req->path,
		                sandbox ? sandbox : req->arguments, environment, records, out, err_fd);
		free(environment);
		ok = !rc || err_set(err, ERR_IO, "%s: %s", req->path, strerror(rc));
	}
	for (unsigned i = 0; i < N_OURS; i++)
		free(ours[i]);
	sandbox_free(sandbox);
	return ok;
}

/* When the time is over, we look first what runs; then it ends by itself, and says what was found
 * in it, or does not. */
#define FIRST_WORD_S 0.2
#define LAST_WORDS_S 3

static void send_config(int fd, const struct program_request *req, double started)
{
	struct wire_msg m;
	struct record_config config = req->config;
	config.deadline_s = req->timeout_s > 0 ? started + req->timeout_s + FIRST_WORD_S : 0;
	record_put_config(&m, &config, req->gpu);
	wire_send(fd, &m, -1, clock_now_s() + 10, NULL);
	wire_free(&m);
}

static bool start(struct running *r, const struct program_request *req, const char *folder,
                  struct err *err)
{
	int pair[2] = { -1, -1 }, out[2] = { -1, -1 }, errors[2] = { -1, -1 };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) ||
	    (req->catch_output && (pipe2(out, O_CLOEXEC) || pipe2(errors, O_CLOEXEC))))
		return err_set(err, ERR_IO, "pipes to the program: %s", strerror(errno));
	/* not where the program's own descriptors begin */
	int theirs = fcntl(pair[1], F_DUPFD_CLOEXEC, 200);
	close_fd(&pair[1]);
	send_config(pair[0], req, r->started); /* waits there for the program's first call */
	const bool ok = theirs < 0 ? err_set(err, ERR_IO, "%s: %s", req->path, strerror(errno))
	                           : spawn(r, req, folder, theirs, out[1], errors[1], err);
	close_fd(&theirs);
	close_fd(&out[1]);
	close_fd(&errors[1]);
	r->records = pair[0];
	r->out = out[0];
	r->err = errors[0];
	if (ok)
		return true;
	close_fd(&r->records);
	close_fd(&r->out);
	close_fd(&r->err);
	return false;
}

/* --- while it runs --- */

static void read_output(int *fd, struct text *into)
{
	char bytes[16384];
	const ssize_t n = read(*fd, bytes, sizeof bytes);
	if (n > 0 && into->len < MAX_OUTPUT)
		text_put(into, bytes, (size_t)n);
	else if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
		close_fd(fd);
}

static bool read_record(struct running *r, struct program *p, const atomic_bool *cancel,
                        struct err *err)
{
	struct wire_msg m = { 0 };
	const enum wire_status s = wire_recv(r->records, &m, clock_now_s() + 60, NULL);
	bool ok = true;
	if (s == WIRE_OK && m.type == RECORD_CODE)
		code_answer(r->records, &m, p, cancel);
	else if (s == WIRE_OK && r->measured)
		ok = measured_take(r->measured, p, &m, err);
	else if (s == WIRE_OK)
		ok = program_collect(p, &m, err);
	else
		close_fd(&r->records);
	wire_free(&m);
	return ok;
}

static void stop(const struct running *r, const struct program_request *req, int signal)
{
	kill(req->catch_output ? -r->pid : r->pid, signal);
}

static bool told_of(const struct program *p, uint64_t launch)
{
	for (size_t i = p->n_findings; i--;)
		if (p->findings[i].launch == launch && !strcmp(p->findings[i].kind, "timeout"))
			return true;
	return false;
}

/* The time is over. */
static void note_late(struct running *r, const struct program *p)
{
	const uint64_t last = p->n_launches ? p->launches[p->n_launches - 1].number : 0;
	r->late = true;
	if (p->running <= last)
		return;
	r->in = p->running;
	r->kernel = mem_strdup(p->kernels[p->running_kernel].name);
}

static bool tell_late(struct running *r, const struct program_request *req, const struct program *p,
                      struct err *err)
{
	const uint64_t last = p->n_launches ? p->launches[p->n_launches - 1].number : 0;
	if (r->in)
		err_set(err, ERR_TIMEOUT, "the program still runs after %.3g s, in launch %llu, %s",
		        req->timeout_s, (unsigned long long)r->in, r->kernel);
	else
		err_set(err, ERR_TIMEOUT, "the program still runs after %.3g s, behind launch %llu",
		        req->timeout_s, (unsigned long long)last);
	return err_remedy(err, "give it more time with --timeout, or smaller work");
}

/* True while there is something to wait for. */
static bool turn(struct running *r, const struct program_request *req, struct program *p,
                 struct err *err)
{
	struct pollfd fds[3] = { { .fd = r->records, .events = POLLIN },
		                     { .fd = r->out, .events = POLLIN },
		                     { .fd = r->err, .events = POLLIN } };
	if (r->records < 0 && r->out < 0 && r->err < 0)
		return r->late && r->in && tell_late(r, req, p, err);
	poll(fds, 3, POLL_MS);
	if (r->out >= 0 && fds[1].revents)
		read_output(&r->out, &r->out_text);
	if (r->err >= 0 && fds[2].revents)
		read_output(&r->err, &r->err_text);
	if (r->records >= 0 && fds[0].revents && !read_record(r, p, req->cancel, err))
		return false;
	const double now = clock_now_s();
	if (req->cancel && atomic_load(req->cancel))
		return err_set(err, ERR_CANCELLED, "the program was ended on request");
	const double over = req->timeout_s > 0 ? now - r->started - req->timeout_s : -1;
	if (over > 0 && !r->late)
		note_late(r, p);
	if (r->late && (!r->in || over > LAST_WORDS_S || told_of(p, r->in)))
		return tell_late(r, req, p, err);
	if (req->progress && now - r->reported > 1.0 / 30) {
		r->reported = now;
		p->output = r->out_text.s; /* lent for the call: the buffer still grows */
		p->errors = r->err_text.s;
		req->progress(req->ctx, p);
		p->output = p->errors = NULL;
	}
	return true;
}

static void reap(const struct running *r, struct program *p)
{
	int status = 0;
	while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
		;
	p->ended = WIFEXITED(status);
	p->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (p->ended && r->sandboxed && sandbox_signal(WEXITSTATUS(status))) {
		p->ended = false;
		p->signal = sandbox_signal(WEXITSTATUS(status));
	}
	p->exit_status = p->ended ? WEXITSTATUS(status) : 128 + p->signal;
}

static void remark(struct program *p, const char *kind, char *text, const char *remedy)
{
	p->findings = mem_realloc(p->findings, p->n_findings + 1, sizeof *p->findings);
	p->findings[p->n_findings++] = (struct program_finding){
		.times = 1,
		.kind = mem_strdup(kind),
		.text = text,
		.remedy = mem_strdup(remedy),
		.file = mem_strdup(""),
	};
}

/* Kernels without a line table: what is found has no source line. */
static void remark_lines(struct program *p)
{
	unsigned without = 0;
	for (unsigned k = 0; k < p->n_kernels; k++)
		without += !p->kernels[k].file[0];
	if (without)
		remark(p, "no-lines",
		       mem_printf("%u of %u kernels have no line table: their source cannot be shown",
		                  without, p->n_kernels),
		       "compile with nvcc -lineinfo, or give the source file in its place");
}

/* A program of another kind, a script's interpreter, one that another program starts. */
static void remark_silence(struct program *p)
{
	if (!p->told)
		remark(p, "no-cuda-call", mem_strdup("the program made no CUDA call"),
		       "give the program that launches kernels: its source, or an executable of nvcc's");
}

/* Can the program run so, and where is what it loads? */
static bool prepare(const struct program_request *req, char *place, size_t n, struct err *err)
{
	enum program_form form;
	if (!req->measured)
		return program_inspect(req->path, &form, err) && guest_library_place(place, n, err);
	if (sandbox_is_wanted()) {
		err_set(err, ERR_UNSUPPORTED, "a sandbox holds no GPU");
		return err_remedy(err, "leave --sandbox out, or take --backend emu");
	}
	if (getenv(INJECTION_VARIABLE)) {
		const struct cuda_fault tool = { .id = FAULT_PROFILER_ATTACHED,
			                             .detail = INJECTION_VARIABLE " is set" };
		return fault_to_err(&tool, err);
	}
	return program_inspect_for_gpu(req->path, err) && inject_library_place(place, n, err);
}

bool program_run(const struct program_request *req, struct program *out, struct err *err)
{
	char place[4300];
	struct running r = { .records = -1, .out = -1, .err = -1 };
	memset(out, 0, sizeof *out);
	r.started = clock_now_s();
	if (!prepare(req, place, sizeof place, err) || !start(&r, req, place, err))
		return false;
	r.measured = req->measured ? measured_new() : NULL;
	out->path = mem_strdup(req->path);
	struct text command = { 0 };
	for (unsigned i = 0; req->arguments[i]; i++)
		text_add(&command, "%s%s", i ? " " : "", req->arguments[i]);
	out->command = command.s;
	out->gpu = req->gpu;
	snprintf(out->backend, sizeof out->backend, req->measured ? "cuda" : "emu");
	out->time_origin = req->measured ? ORIGIN_MEASURED : ORIGIN_MODELLED;
	r.reported = clock_now_s();
	struct err why = { 0 };
	while (turn(&r, req, out, &why))
		;
	if (why.code != ERR_NONE)
		stop(&r, req, SIGKILL);
	close_fd(&r.records);
	close_fd(&r.out);
	close_fd(&r.err);
	reap(&r, out);
	out->output = r.out_text.s;
	out->errors = r.err_text.s;
	if (r.measured) {
		program_read_code(out, req->path);
		measured_finish(r.measured, out);
	}
	measured_free(r.measured);
	program_name_places(out, req->path, req->arguments[0]);
	remark_lines(out);
	if (!req->measured)
		remark_silence(out);
	program_sum_up(out);
	free(r.kernel);
	if (why.code == ERR_NONE)
		return true;
	*err = why;
	return false;
}
