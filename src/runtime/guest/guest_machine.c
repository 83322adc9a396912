/* The machine code of a launch, in a fork; see guest_machine.h. */
#include "runtime/guest/guest_machine.h"
#include "runtime/guest/guest_fork.h"
#include "runtime/guest/guest_record.h"

#include "base/mem.h"
#include "base/monotonic.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* A kernel that waits for the host never ends in a fork, where the host's memory does not change:
 * it gets this long, or so many times what the PTX took. */
#define LEAST_WAIT_S 5
#define ASKED_LEAST_WAIT_S 30 /* where machine code was asked for */
#define WAIT_FACTOR 40
/* Machine code runs slower than PTX. Where nobody asked for it, a program waits no longer for all
 * of its launches than this; those that come later are counted as PTX. */
#define UNASKED_WAIT_S 10
static double waited_s; /* so far */

static bool was_asked_for(void)
{
	return guest.config.level == RUN_LEVEL_SASS;
}

bool machine_gives_results(void)
{
	const char *of = getenv("PMPP_RESULTS_OF");
	return of && !strcmp(of, "sass");
}

/* --- the code --- */

void machine_need(struct guest_module *m)
{
	if (guest.config.level == RUN_LEVEL_PTX || m->code_tried || !m->loaded)
		return;
	m->code_tried = true;
	struct wire_msg answer = { 0 };
	struct record_code code;
	struct err err = { 0 };
	const struct record_code_request ask = {
		.id = m->id,
		.cc = (unsigned)(guest.gpu.cc_major * 10 + guest.gpu.cc_minor),
		.cubin = m->machine_code,
		.cubin_bytes = m->machine_code_bytes,
		.ptx = m->text,
		.ptx_bytes = m->text_bytes,
	};
	if (!record_ask_code(&ask, &answer, &code))
		snprintf(m->no_code, sizeof m->no_code, "the explorer did not answer");
	else if (code.why[0])
		snprintf(m->no_code, sizeof m->no_code, "%s", code.why);
	else if (!emu_module_set_code(guest.device, m->loaded, code.cubin, code.cubin_bytes,
	                              code.listing, code.listing_bytes, &err))
		snprintf(m->no_code, sizeof m->no_code, "%.200s", err.msg);
	else if (m->parts && m->machine_code) /* linked: it names lines of the parts, this is all */
		emu_module_forget_lines(m->loaded);
	wire_free(&answer);
	free(m->text);
	m->text = NULL;
}

/* --- what it left in memory --- */

/* More memory than this takes too long to look through. */
#define COMPARED_BYTES ((uint64_t)64 << 20)

static bool is_comparable(void)
{
	return emu_device_used_bytes(guest.device) <= COMPARED_BYTES;
}

/* Of what the program has allocated; machine code has banks of constants of its own beside it. */
static uint64_t contents_hash(void)
{
	struct emu_device_digest d;
	emu_device_allocated_digest(guest.device, &d);
	return d.part[0];
}

/* --- in the fork --- */

static void run_fork(const void *ctx, int fd)
{
	struct run_counts counts;
	struct err err = { 0 };
	struct wire_msg m;
	const struct emu_launch_request *req = ctx;
	struct emu_launch_request own = *req;
	if (!was_asked_for())
		setpriority(PRIO_PROCESS, 0, 19); /* the program itself goes first */
	own.machine_code = true;
	own.part_only = true;
	own.enough_work = req->enough_work / 4;
	own.print = NULL;
	if (guest_fork_launch(fd, &own, &counts, &err)) {
		record_put_counts(&m, 0, &counts);
	} else {
		struct record_code said = { .why = "" };
		snprintf(said.why, sizeof said.why, "%.250s", err.msg);
		record_put_code(&m, &said);
	}
	const bool whole = m.type == RECORD_COUNTS && counts.blocks_run == counts.blocks_total;
	wire_send(fd, &m, -1, clock_now_s() + 60, NULL);
	wire_free(&m);
	if (!whole || !is_comparable())
		return;
	wire_begin(&m, RECORD_CONTENTS);
	wire_put_u64(&m, contents_hash());
	wire_send(fd, &m, -1, clock_now_s() + 60, NULL);
}

/* --- in the program --- */

struct machine_fork machine_begin(const struct guest_module *m,
                                  const struct emu_launch_request *req)
{
	struct machine_fork f = { .fd = -1, .started_s = clock_now_s() };
	if (guest.config.level == RUN_LEVEL_PTX || !emu_module_level(m->loaded)[0] ||
	    (!was_asked_for() && waited_s >= UNASKED_WAIT_S))
		return f;
	fflush(NULL);
	f.fd = guest_fork(run_fork, req);
	waited_s += clock_now_s() - f.started_s; /* a copy of much memory takes its time, too */
	return f;
}

static void say_enough(struct record_launch *r)
{
	snprintf(r->note, sizeof r->note,
	         "the machine code of this program's launches took %d s; --level sass counts it for "
	         "all of them",
	         UNASKED_WAIT_S);
}

/* Behind the counts of all blocks: did the machine code leave the same in memory as the PTX did? */
static void compare(const struct machine_fork *f, const struct run_counts *own,
                    struct record_launch *r)
{
	struct wire_msg m = { .fd = -1 };
	const double since_s = clock_now_s();
	if (own->blocks_run != own->blocks_total || !is_comparable())
		return;
	const bool came = wire_recv(f->fd, &m, since_s + LEAST_WAIT_S, NULL) == WIRE_OK;
	if (came && m.type == RECORD_CONTENTS && wire_get_u64(&m) != contents_hash())
		snprintf(
			r->note, sizeof r->note,
			"the machine code leaves other bytes in memory than the PTX: the assembler rounds a "
			"product and its sum once where the PTX is taken to round twice, as in loops that it "
			"unrolls; or a NaN");
	wire_free(&m);
	waited_s += clock_now_s() - since_s;
}

static void receive(const struct machine_fork *f, struct run_counts *counts, const char *level,
                    bool compared, struct record_launch *r)
{
	const double own_s = clock_now_s() - f->started_s;
	const double since_s = clock_now_s();
	double wait_s = fmax(was_asked_for() ? ASKED_LEAST_WAIT_S : LEAST_WAIT_S, WAIT_FACTOR * own_s);
	if (!was_asked_for())
		wait_s = fmin(wait_s, fmax(0, UNASKED_WAIT_S - waited_s));
	struct wire_msg m = { .fd = -1 };
	struct run_counts own = { .n_lines = 0 };
	struct record_code said;
	uint64_t number;
	const enum wire_status status = wire_recv(f->fd, &m, since_s + wait_s, NULL);
	waited_s += clock_now_s() - since_s;
	if (status == WIRE_OK && m.type == RECORD_COUNTS && record_get_counts(&m, &number, &own)) {
		if (compared)
			compare(f, &own, r);
		run_counts_take_code(counts, &own);
		run_counts_free(&own);
		snprintf(r->level, sizeof r->level, "%s", level);
	} else if (status == WIRE_OK && record_get_code(&m, &said)) {
		snprintf(r->note, sizeof r->note, "%.255s", said.why);
	} else if (status == WIRE_TIMEOUT && !was_asked_for() && waited_s >= UNASKED_WAIT_S) {
		say_enough(r);
	} else {
		snprintf(r->note, sizeof r->note, "the machine code did not end %s",
		         status == WIRE_TIMEOUT ? "in time" : "well");
	}
	wire_free(&m);
}

void machine_end(struct machine_fork *f, const struct guest_module *m, struct run_counts *counts,
                 bool compared, struct record_launch *r)
{
	snprintf(r->level, sizeof r->level, "PTX");
	if (counts && f->fd >= 0)
		receive(f, counts, emu_module_level(m->loaded), compared, r);
	else if (guest.config.level != RUN_LEVEL_PTX && m->no_code[0])
		snprintf(r->note, sizeof r->note, "%s", m->no_code);
	else if (guest.config.level != RUN_LEVEL_PTX && waited_s >= UNASKED_WAIT_S)
		say_enough(r);
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}
