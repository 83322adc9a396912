/* A kept launch run again; see program_again.h. */
#include "runtime/program_again.h"

#include "base/mem.h"
#include "base/monotonic.h"
#include "runtime/code_answer.h"
#include "runtime/program_collect.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct program_keeper *keeper_of(const struct program *p, uint64_t number)
{
	for (size_t i = 0; i < p->n_keepers; i++)
		if (p->keepers[i].launch == number && p->keepers[i].fd >= 0)
			return &p->keepers[i];
	return NULL;
}

uint64_t program_kept(const struct program *p, uint64_t number)
{
	const struct program_launch *l = number ? program_launch_numbered(p, number) : NULL;
	if (!l)
		return 0;
	return keeper_of(p, number) ? number : keeper_of(p, l->like) ? l->like : 0;
}

/* What records of a launch refer to. */
static void copy_frame(const struct program *p, struct program *out)
{
	out->path = mem_strdup(p->path);
	out->command = mem_strdup(p->command);
	out->gpu = p->gpu;
	memcpy(out->backend, p->backend, sizeof out->backend);
	out->time_origin = p->time_origin;
	out->kernels = mem_calloc(p->n_kernels + 1u, sizeof *out->kernels);
	for (unsigned k = 0; k < p->n_kernels; k++) {
		const struct program_kernel *from = &p->kernels[k];
		out->kernels[k] = *from;
		out->kernels[k].name = mem_strdup(from->name);
		out->kernels[k].signature = mem_strdup(from->signature);
		out->kernels[k].mangled = mem_strdup(from->mangled);
		out->kernels[k].file = mem_strdup(from->file);
	}
	out->n_kernels = p->n_kernels;
}

static bool not_kept(const struct program *p, uint64_t number, struct err *err)
{
	if (p->time_origin == ORIGIN_MEASURED) {
		err_set(err, ERR_UNAVAILABLE, "on a GPU no launch is kept, to be run again alone");
		return err_remedy(err, "the emulator keeps them: --backend emu");
	}
	err_set(err, ERR_UNAVAILABLE, "launch %llu was not kept", (unsigned long long)number);
	return err_remedy(err, "r runs the program again; run --launch %llu keeps this launch",
	                  (unsigned long long)number);
}

#define POLL_MS 20
#define STOP_S 2 /* how long a launch may take to be ended */

/* Ends what runs there; it is kept on. What was sent before is of no order. */
static bool stopped(int fd)
{
	const double deadline = clock_now_s() + STOP_S;
	struct wire_msg m;
	wire_begin(&m, RECORD_STOP);
	bool ok = wire_send(fd, &m, -1, deadline, NULL) == WIRE_OK, answered = false;
	wire_free(&m);
	while (ok && !answered) {
		m = (struct wire_msg){ .fd = -1 };
		ok = wire_recv(fd, &m, deadline, NULL) == WIRE_OK;
		answered = ok && m.type == RECORD_STOP;
		wire_free(&m);
	}
	return ok;
}

/* An order came to no end: by request, or what keeps the launch is out of order. */
static bool gone(struct program_keeper *k, const atomic_bool *cancel, struct err *err)
{
	const bool ended = cancel && atomic_load(cancel);
	if (ended && stopped(k->fd))
		return err_set(err, ERR_CANCELLED, "the launch was ended on request");
	close(k->fd);
	k->fd = -1;
	if (ended)
		return err_set(err, ERR_CANCELLED, "the launch was ended on request");
	return err_set(err, ERR_UNAVAILABLE, "the process that kept launch %llu is gone",
	               (unsigned long long)k->launch);
}

/* Whole bytes of a file of somebody else's; NULL = it has not so many. */
static void *read_contents(int fd, uint64_t bytes)
{
	struct stat is;
	if (fstat(fd, &is) != 0 || !S_ISREG(is.st_mode) || (uint64_t)is.st_size != bytes)
		return NULL;
	char *data = mem_alloc(bytes ? bytes : 1);
	for (uint64_t done = 0; done < bytes;) {
		const ssize_t n = pread(fd, data + done, bytes - done, (off_t)done);
		if (n <= 0) {
			free(data);
			return NULL;
		}
		done += (uint64_t)n;
	}
	return data;
}

/* Contents go where they are wanted, first those in front of the launch if they are asked for; any
 * other record is the program's. */
static bool take(const struct record_again *again, struct wire_msg *m, struct program *out,
                 void **contents)
{
	struct record_range r;
	if (m->type != RECORD_CONTENTS)
		return program_collect(out, m, NULL);
	if (!record_get_contents(m, &r))
		return false;
	const unsigned n = again->n_wanted, sets = again->before ? 2 : 1;
	for (unsigned i = 0; i < n * sets; i++)
		if (!contents[i] && again->wanted[i % n].address == r.address &&
		    again->wanted[i % n].bytes == r.bytes) {
			contents[i] = read_contents(m->fd, r.bytes);
			break;
		}
	return true;
}

/* Cancelled between two records only: what is sent behind one that was cut would be unreadable. */
static bool next_record(int fd, struct wire_msg *m, const atomic_bool *cancel)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	while (poll(&p, 1, POLL_MS) <= 0)
		if (cancel && atomic_load(cancel))
			return false;
	return wire_recv(fd, m, INFINITY, NULL) == WIRE_OK;
}

bool program_again(struct program *p, uint64_t number, const struct record_again *again,
                   const atomic_bool *cancel, struct program *out, void **contents, struct err *err)
{
	memset(out, 0, sizeof *out);
	struct program_keeper *keeper = keeper_of(p, program_kept(p, number));
	struct wire_msg m;
	if (!keeper)
		return not_kept(p, number, err);
	copy_frame(p, out);
	for (unsigned i = 0; i < again->n_wanted * (again->before ? 2 : 1); i++)
		contents[i] = NULL;
	record_put_again(&m, again);
	bool ok = wire_send(keeper->fd, &m, -1, clock_now_s() + 10, cancel) == WIRE_OK, ended = false;
	wire_free(&m);
	while (ok && !ended) {
		m = (struct wire_msg){ .fd = -1 };
		ok = next_record(keeper->fd, &m, cancel);
		if (ok && m.type == RECORD_CODE)
			code_answer(keeper->fd, &m, p, cancel);
		else
			ok = ok && take(again, &m, out, contents);
		ended = m.type == RECORD_END;
		wire_free(&m);
	}
	if (!ok)
		return gone(keeper, cancel, err);
	program_sum_up(out);
	if (out->n_launches)
		return true;
	return err_set(err, ERR_FAULT, "launch %llu as it is asked for ended the process that ran it",
	               (unsigned long long)number);
}

bool program_look(struct program *p, uint64_t number, const atomic_bool *cancel,
                  struct record_memory **out, size_t *n, struct err *err)
{
	struct program_keeper *keeper = keeper_of(p, program_kept(p, number));
	struct wire_msg m;
	size_t cap = 0;
	*out = NULL;
	*n = 0;
	if (!keeper)
		return not_kept(p, number, err);
	wire_begin(&m, RECORD_LOOK);
	bool ok = wire_send(keeper->fd, &m, -1, clock_now_s() + 10, cancel) == WIRE_OK, ended = false;
	wire_free(&m);
	while (ok && !ended) {
		m = (struct wire_msg){ .fd = -1 };
		ok = wire_recv(keeper->fd, &m, INFINITY, cancel) == WIRE_OK;
		ended = m.type == RECORD_END;
		if (ok && !ended) {
			MEM_ROOM(*out, *n, cap, 32);
			ok = m.type == RECORD_MEMORY && record_get_memory(&m, &(*out)[*n]);
			*n += ok;
		}
		wire_free(&m);
	}
	return ok || gone(keeper, cancel, err);
}
