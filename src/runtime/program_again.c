/* A kept launch run again; see program_again.h. */
#include "runtime/program_again.h"

#include "base/mem.h"
#include "base/monotonic.h"
#include "runtime/program_collect.h"
#include "runtime/record.h"

#include <math.h>
#include <string.h>
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

bool program_again(struct program *p, uint64_t number, const unsigned grid[3],
                   const unsigned block[3], const atomic_bool *cancel, struct program *out,
                   struct err *err)
{
	memset(out, 0, sizeof *out);
	struct program_keeper *keeper = keeper_of(p, program_kept(p, number));
	if (!keeper) {
		err_set(err, ERR_UNAVAILABLE, "launch %llu was not kept", (unsigned long long)number);
		return err_remedy(err, "r runs the program again");
	}
	struct record_again again;
	memcpy(again.grid, grid, sizeof again.grid);
	memcpy(again.block, block, sizeof again.block);
	copy_frame(p, out);
	struct wire_msg m;
	record_put_again(&m, &again);
	bool ok = wire_send(keeper->fd, &m, -1, clock_now_s() + 10, cancel) == WIRE_OK, ended = false;
	wire_free(&m);
	while (ok && !ended) {
		m = (struct wire_msg){ 0 };
		ok = wire_recv(keeper->fd, &m, INFINITY, cancel) == WIRE_OK &&
		     program_collect(out, &m, NULL);
		ended = m.type == RECORD_END;
		wire_free(&m);
	}
	if (!ok) {
		close(keeper->fd); /* what it still sends is of no order */
		keeper->fd = -1;
		if (cancel && atomic_load(cancel))
			return err_set(err, ERR_CANCELLED, "the launch was ended on request");
		return err_set(err, ERR_UNAVAILABLE, "the process that kept launch %llu is gone",
		               (unsigned long long)number);
	}
	program_sum_up(out);
	if (out->n_launches)
		return true;
	return err_set(err, ERR_FAULT, "launch %llu with this block ended the process that ran it",
	               (unsigned long long)number);
}
