#define _GNU_SOURCE /* dladdr() */
/* The program's end of the records; see guest_record.h. */
#include "runtime/guest/guest_record.h"
#include "base/monotonic.h"

#include "base/demangle.h"
#include "base/mem.h"
#include "base/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
	int fd;
	uint64_t launches, copies;
	unsigned kernels;
} out = { .fd = -1 };

/*
 * What the explorer asks comes once. The process that takes it, the first of those that the program
 * forks to use the GPU, is the one that is recorded; it leaves a copy for the others, which share
 * this memory with it: their calls are served as well.
 */
enum { ASKED_UNREAD, ASKED_TAKEN, ASKED_KNOWN, ASKED_NOTHING };
static struct asked {
	_Atomic int state;
	pthread_mutex_t writing; /* a frame, to the descriptor that they share */
	atomic_bool others;      /* use the GPU, and the explorer was told */
	uint32_t type;
	size_t len;
	uint8_t data[1 << 16];
} *asked;

__attribute__((constructor)) static void share_what_is_asked(void)
{
	void *p = mmap(NULL, sizeof *asked, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	asked = p == MAP_FAILED ? NULL : p;
	if (!asked)
		return;
	pthread_mutexattr_t shared;
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST); /* who writes may be killed */
	pthread_mutex_init(&asked->writing, &shared);
	pthread_mutexattr_destroy(&shared);
}

/* False: it did not get there. */
static bool send_frame(int to, struct wire_msg *m, int fd)
{
	if (asked && pthread_mutex_lock(&asked->writing) == EOWNERDEAD)
		pthread_mutex_consistent(&asked->writing);
	const bool sent = wire_send(to, m, fd, INFINITY, NULL) == WIRE_OK;
	if (asked)
		pthread_mutex_unlock(&asked->writing);
	return sent;
}

/* That a process is served and not recorded, once for all that are. */
static void tell_of_others(int to)
{
	if (!asked || atomic_exchange(&asked->others, true))
		return;
	struct wire_msg m;
	struct record_finding r = { .kind = "not-recorded", .times = 1 };
	snprintf(r.text, sizeof r.text,
	         "processes that the program forked use the GPU: what the first of them does is shown "
	         "here; the others' launches are done, too, but not recorded");
	snprintf(r.remedy, sizeof r.remedy,
	         "to see another process, run its work by itself, or in the process that comes first");
	record_put_finding(&m, &r);
	(void)send_frame(to, &m, -1);
	wire_free(&m);
}

static bool take_asked(int fd, struct wire_msg *m)
{
	const bool ok = wire_recv(fd, m, clock_now_s() + 10, NULL) == WIRE_OK;
	if (!asked)
		return ok;
	if (ok && m->len <= sizeof asked->data) {
		memcpy(asked->data, m->data, m->len);
		asked->type = m->type;
		asked->len = m->len;
	}
	atomic_store(&asked->state, asked->len ? ASKED_KNOWN : ASKED_NOTHING);
	return ok;
}

/* Another process has taken it. */
static bool copy_asked(struct wire_msg *m)
{
	const double until_s = clock_now_s() + 10;
	while (atomic_load(&asked->state) == ASKED_TAKEN && clock_now_s() < until_s)
		usleep(1000);
	if (atomic_load(&asked->state) != ASKED_KNOWN)
		return false;
	wire_begin(m, asked->type);
	wire_put(m, asked->data, asked->len);
	return true;
}

static void write_frame(struct wire_msg *m)
{
	if (out.fd >= 0 && !send_frame(out.fd, m, -1))
		out.fd = -1; /* the explorer has gone; the program goes on */
	wire_free(m);
}

bool record_open(struct record_config *config, struct gpu_spec *gpu, struct err *err)
{
	const char *text = getenv(RECORD_FD_VARIABLE);
	struct wire_msg m = { 0 };
	char *end;
	const long fd = text ? strtol(text, &end, 10) : -1;
	if (!text || *end || fd < 3 || fd > 1 << 20)
		return err_set(err, ERR_UNAVAILABLE,
		               "this is pmpp-explore's CUDA runtime: it works in "
		               "programs that pmpp-explore starts");
	int unread = ASKED_UNREAD;
	const bool first =
		!asked || atomic_compare_exchange_strong(&asked->state, &unread, ASKED_TAKEN);
	if (fcntl((int)fd, F_SETFD, FD_CLOEXEC) != 0 ||
	    !(first ? take_asked((int)fd, &m) : copy_asked(&m)) ||
	    !record_get_config(&m, config, gpu)) {
		wire_free(&m);
		return err_set(err, ERR_UNAVAILABLE,
		               "descriptor %ld does not lead to the pmpp-explore of this version", fd);
	}
	wire_free(&m);
	if (!first) {
		tell_of_others((int)fd);
		return true;
	}
	out.fd = (int)fd;
	wire_begin(&m, RECORD_HELLO);
	wire_put_u32(&m, RECORD_VERSION);
	write_frame(&m);
	return true;
}

void record_close(void)
{
	out.fd = -1;
}

void record_redirect(int fd, uint64_t launches)
{
	out.fd = fd;
	out.launches = launches;
}

bool record_ask_code(const struct record_code_request *ask, struct wire_msg *answer,
                     struct record_code *code)
{
	struct wire_msg m;
	if (out.fd < 0)
		return false;
	record_put_code_request(&m, ask);
	write_frame(&m);
	return out.fd >= 0 && wire_recv(out.fd, answer, INFINITY, NULL) == WIRE_OK &&
	       record_get_code(answer, code);
}

void record_keeper(uint64_t number, int fd)
{
	struct wire_msg m;
	record_put_keeper(&m, number);
	if (out.fd >= 0 && !send_frame(out.fd, &m, fd))
		out.fd = -1;
	wire_free(&m);
}

bool record_is_open(void)
{
	return out.fd >= 0;
}

void record_module(struct guest_module *module, const char *ptx, size_t n,
                   const struct fatbin_entry *cubin)
{
	(void)cubin;
	struct wire_msg m;
	const struct record_module r = { .id = module->id, .hash = hash_bytes(HASH_SEED, ptx, n) };
	record_put_module(&m, &r, ptx, n);
	write_frame(&m);
}

void record_plain_name(const char *mangled, char *name, size_t n)
{
	if (!strncmp(mangled, "_Z", 2))
		demangle(mangled, false, name, n);
	else
		name[0] = '\0';
	if (!name[0])
		snprintf(name, n, "%s", mangled);
}

/* Names in a note as the person wrote them; those in findings are the explorer's to say. */
static void demangle_names(char *text, size_t n)
{
	static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$";
	char *from = mem_strdup(text);
	size_t at = 0;
	for (const char *s = from; *s && at < n;) {
		const size_t length = strspn(s, word);
		char name[RECORD_MAX_NAME], signature[RECORD_MAX_NAME] = "";
		snprintf(name, sizeof name, "%.*s", (int)length, s);
		if (!strncmp(name, "_Z", 2))
			demangle(name, false, signature, sizeof signature);
		if (signature[0])
			at += (size_t)snprintf(text + at, n - at, "%s", signature);
		else
			at += (size_t)snprintf(text + at, n - at, "%.*s", length ? (int)length : 1, s);
		s += length ? length : 1;
	}
	free(from);
}

void record_kernel(struct guest_function *f)
{
	if (f->id)
		return;
	struct wire_msg m;
	struct emu_function_info info;
	emu_function_info(f->loaded, &info);
	struct record_kernel r = {
		.id = f->id = ++out.kernels,
		.module = f->module->id,
		.registers = f->registers,
		.static_shared_bytes = info.static_shared_bytes,
		.local_bytes = info.local_bytes,
		.max_threads = info.max_threads,
	};
	snprintf(r.name, sizeof r.name, "%s", f->name);
	snprintf(r.file, sizeof r.file, "%s", info.file ? info.file : "");
	demangle(f->name, false, r.signature, sizeof r.signature);
	record_put_kernel(&m, &r);
	write_frame(&m);
}

void record_launch(const struct record_launch *r, const struct run_counts *counts)
{
	struct wire_msg m;
	struct record_launch readable = *r;
	out.launches = r->number;
	demangle_names(readable.note, sizeof readable.note);
	record_put_launch(&m, &readable);
	write_frame(&m);
	if (!counts)
		return;
	record_put_counts(&m, r->number, counts);
	write_frame(&m);
}

void record_copy(struct record_copy *r)
{
	struct wire_msg m;
	r->number = ++out.copies;
	record_put_copy(&m, r);
	write_frame(&m);
}

void record_progress(const struct record_progress *r)
{
	struct wire_msg m;
	record_put_progress(&m, r);
	write_frame(&m);
}

void record_event(const struct record_event *r)
{
	struct wire_msg m;
	record_put_event(&m, r);
	write_frame(&m);
}

void record_finding(const struct record_finding *r)
{
	struct wire_msg m;
	record_put_finding(&m, r);
	write_frame(&m);
}

void record_memory(const struct record_memory *r)
{
	struct wire_msg m;
	record_put_memory(&m, r);
	write_frame(&m);
}

void record_contents(const struct record_range *r, int fd)
{
	struct wire_msg m;
	record_put_contents(&m, r);
	if (out.fd >= 0 && !send_frame(out.fd, &m, fd))
		out.fd = -1;
	wire_free(&m);
}

void record_problem(const char *kind, const struct err *err)
{
	static uint64_t told[64];
	static unsigned n_told;
	const uint64_t hash = hash_bytes(HASH_SEED, err->msg, strlen(err->msg));
	for (unsigned i = 0; i < n_told; i++)
		if (told[i] == hash)
			return;
	if (n_told < 64)
		told[n_told++] = hash;
	struct record_finding r = { .error = true, .times = 1 };
	snprintf(r.kind, sizeof r.kind, "%s", kind);
	snprintf(r.text, sizeof r.text, "%.1023s", err->msg);
	snprintf(r.remedy, sizeof r.remedy, "%.511s", err->remedy);
	if (out.fd < 0)
		fprintf(stderr, "pmpp-explore: %s\n", r.text);
	record_finding(&r);
}

void record_end(struct record_end *r)
{
	struct wire_msg m;
	r->launches = out.launches;
	r->copies = out.copies;
	record_put_end(&m, r);
	write_frame(&m);
}

uint64_t record_launch_number(void)
{
	return out.launches;
}

void record_place(const void *address, char *text, size_t n)
{
	Dl_info info;
	text[0] = '\0';
	if (!address || !dladdr(address, &info) || !info.dli_fname)
		return;
	snprintf(text, n, "%s+0x%zx", info.dli_fname,
	         (size_t)((const char *)address - (const char *)info.dli_fbase));
}
