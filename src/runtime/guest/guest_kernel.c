/* A kernel runs: in the emulator, on the clock, into the records. */
#include "runtime/guest/guest_clock.h"
#include "runtime/guest/guest_early.h"
#include "runtime/guest/guest_findings.h"
#include "runtime/guest/guest_keeper.h"
#include "runtime/guest/guest_machine.h"
#include "runtime/guest/guest_nested.h"
#include "runtime/guest/guest_limit.h"
#include "runtime/guest/guest_op.h"
#include "runtime/guest/guest_record.h"
#include "runtime/guest/guest_sample.h"
#include "runtime/guest/guest_second_look.h"
#include "runtime/guest/guest_time.h"

#include "base/mem.h"
#include "base/monotonic.h"
#include "base/text.h"
#include "timemodel/stream_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Instructions of warps, some seconds' worth: of a launch that has twice as many and more, the
 * first blocks are counted. */
#define COUNTED_WORK 400000000

/* Of launches with fewer, one more is counted in each state of the GPU. */
#define COUNTED_AGAIN 20000000
/* What a launch finds that does not change what it does, but how long it takes. */
enum {
	STATE_FIRST,                /* the kernel has not run before */
	STATE_PAGES,                /* managed memory comes page by page */
	STATE_KEPT,                 /* L2 holds nothing of its data, a quarter ... */
	STATE_ALL = STATE_KEPT + 4, /* ... all of it, as kernels have read it, a quarter of it written
	                             * since ... */
	STATE_FAR = STATE_ALL + 4,  /* ... all of it */
	STATES,
};

/* Launches that differ in what they are given besides pointers, a stride, a mode, are counted, too:
 * so many of one kernel, grid and block, and of a program as long as they have fewer instructions
 * of warps than that, together; as the program is copied for each, its memory counts as some. */
#define COUNTED_VALUES 40
#define COUNTED_VALUES_ALL 256
#define COUNTED_VALUES_WORK 40000000
#define BYTES_AS_WORK 2048

/* Launches of one kernel, grid, block and shared memory: the first ones are counted. */
struct kind {
	uint64_t hash, counted;
	uint64_t values;   /* of the first one */
	unsigned n_others; /* kinds of their own for other values */
	bool is_other;     /* one of them, which is looked at for races while that is cheap */
	bool again;        /* another one may be, which finds another state */
	struct {
		uint64_t like; /* the launch whose time it is; 0 = none yet */
		double ns, share;
	} in[STATES];
};
static struct {
	struct kind *kind;
	size_t n, cap;
	unsigned n_others;    /* of all ... */
	uint64_t others_work; /* ... and what they had to do */
} kinds;

/* The number of the kind of @hash; a new one's is kinds.n. */
static size_t kind_find(uint64_t hash)
{
	size_t i = 0;
	while (i < kinds.n && kinds.kind[i].hash != hash)
		i++;
	return i;
}

static size_t kind_add(struct kind kind)
{
	MEM_ROOM(kinds.kind, kinds.n, kinds.cap, 64);
	kinds.kind[kinds.n] = kind;
	return kinds.n++;
}

/* What it is given: all but addresses of memory, which differ where the work is the same. */
static uint64_t values_of(const struct guest_op *op)
{
	const struct emu_function *f = op->u.launch.function->loaded;
	unsigned at, bytes;
	uint64_t h = HASH_SEED;
	for (unsigned i = 0; emu_function_param(f, i, &at, &bytes); i++)
		for (unsigned k = 0; k < bytes; k += 8) {
			const unsigned n = bytes - k < 8 ? bytes - k : 8;
			uint64_t word = 0;
			struct emu_allocation of;
			memcpy(&word, (const char *)op->u.launch.params + at + k, n);
			if (n < 8 || !emu_device_find(guest.device, word, &of))
				h = hash_bytes(h, &word, sizeof word);
		}
	return h;
}

/* Has @kind room for launches that are given something else? */
static bool takes_others(const struct kind *kind)
{
	return kind->again && kind->n_others < COUNTED_VALUES && kinds.n_others < COUNTED_VALUES_ALL &&
	       kinds.others_work < COUNTED_VALUES_WORK;
}

/* @own: a launch that is given something else than those before may have a kind of its own. */
static size_t kind_of(const struct guest_op *op, bool own)
{
	const void *f = op->u.launch.function;
	uint64_t h = hash_bytes(HASH_SEED, &f, sizeof f);
	h = hash_bytes(h, op->u.launch.grid, sizeof op->u.launch.grid);
	h = hash_bytes(h, op->u.launch.block, sizeof op->u.launch.block);
	h = hash_bytes(h, op->u.launch.group.cluster, sizeof op->u.launch.group.cluster);
	h = hash_bytes(h, &op->u.launch.in_graph, sizeof op->u.launch.in_graph);
	h = hash_bytes(h, &op->u.launch.shared_bytes, sizeof op->u.launch.shared_bytes);
	const uint64_t values = own ? values_of(op) : 0;
	const size_t usual = kind_find(h);
	if (usual == kinds.n)
		return kind_add((struct kind){ .hash = h, .values = values });
	if (!own || kinds.kind[usual].values == values)
		return usual;
	h = hash_bytes(h, &values, sizeof values);
	const size_t other = kind_find(h);
	if (other < kinds.n || !takes_others(&kinds.kind[usual]))
		return other < kinds.n ? other : usual;
	kinds.kind[usual].n_others++;
	kinds.n_others++;
	kinds.others_work += emu_device_used_bytes(guest.device) / BYTES_AS_WORK;
	return kind_add((struct kind){ .hash = h, .is_other = true });
}

/* As far as its parameters tell what it touches. */
static unsigned state_of(const struct guest_op *op)
{
	uint64_t address[64];
	struct emu_function_info info;
	const struct guest_function *f = op->u.launch.function;
	emu_function_info(f->loaded, &info);
	unsigned n = 0;
	for (unsigned at = 0; at + 8 <= info.param_bytes && n < ARRAY_LEN(address); at += 8)
		memcpy(&address[n++], (const char *)op->u.launch.params + at, sizeof *address);
	if (!f->launches)
		return STATE_FIRST;
	if (emu_device_pages_away(guest.device, address, n))
		return STATE_PAGES;
	const struct emu_kept kept = emu_device_kept(guest.device, address, n);
	const unsigned state = STATE_KEPT + (unsigned)(kept.share * (STATE_ALL - STATE_KEPT) + 0.5);
	return state < STATE_ALL ? state
	                         : STATE_ALL + (unsigned)(kept.far * (STATE_FAR - STATE_ALL) + 0.5);
}

/* The state whose time is told of a launch in @state: its own, or the nearest that was counted. */
static unsigned state_told(const struct kind *k, unsigned state)
{
	for (unsigned far = 0; far < STATES; far++) {
		if (state + far < STATES && k->in[state + far].like)
			return state + far;
		if (state >= far && k->in[state - far].like)
			return state - far;
	}
	return state;
}

static void print(void *ctx, const char *text, size_t n)
{
	launch_print_add(ctx, text, n);
	fwrite(text, 1, n, stdout);
}

/* A launch that takes seconds tells how far it is, twice a second. */
struct under_way {
	uint64_t launch;
	unsigned kernel;
	double told_s;
};

static void tell_progress(void *ctx, double fraction)
{
	struct under_way *w = ctx;
	if (clock_now_s() - w->told_s < 0.5)
		return;
	w->told_s = clock_now_s();
	const struct record_progress r = { w->launch, w->kernel, fraction };
	record_progress(&r);
}

/* What is done beside a launch that is counted. */
struct beside {
	struct machine_fork fork;
	struct second_look look;
	bool in_part; /* counted in a sample: the launch itself only does its work */
	struct run_counts sampled;
};

/* To be counted in full. */
static bool is_asked(uint64_t number)
{
	return guest.config.count_from && number >= guest.config.count_from &&
	       number <= guest.config.count_to;
}

/* Before the launch; @req: as it is to run then. What is found in it may need a second look.
 * @other: it is given other values than one that was looked at; without a second look none at races
 * either, since some that do no harm could not be told from those that do. */
static struct beside begin_counting(const struct guest_op *op, struct guest_stream *s,
                                    struct emu_launch_request *req, uint64_t number,
                                    guest_launch *again, bool other)
{
	struct beside b = { .look.fd = -1 };
	if (!is_asked(number) && req->check_races != RACES_ALL)
		req->enough_work = COUNTED_WORK;
	struct emu_launch_request part = *req;
	part.max_blocks = sample_blocks(req);
	b.in_part = part.max_blocks && sample_count(&part, &b.sampled);
	keeper_make(op, s, number, again);
	b.fork = machine_begin(op->u.launch.function->module, b.in_part ? &part : req);
	if (!other || req->check_races != RACES_OFF)
		b.look = second_look_begin(req, other);
	if (other && !second_look_can_be(&b.look) && req->check_races != RACES_ALL)
		req->check_races = RACES_OFF;
	if (b.in_part) {
		req->counting = EMU_COUNT_NONE;
		req->check_races = RACES_OFF;
	}
	return b;
}

#define LEAST_TIME_S 1e-3

/* Seconds that a launch may take from now on; 0 = any. */
static double time_left(void)
{
	const double all = guest.config.launch_timeout_s;
	if (guest.config.deadline_s <= 0)
		return all;
	const double left = guest.config.deadline_s - clock_now_s();
	const double least = left > LEAST_TIME_S ? left : LEAST_TIME_S;
	return all > 0 && all < least ? all : least;
}

/* @again: one like it was counted in another state, or with other values. @printed: what its kernel
 * prints is noted there. */
static struct emu_launch_request request_of(const struct guest_op *op, uint64_t number, bool count,
                                            bool again, struct launch_print *printed,
                                            struct guest_nesting *nesting)
{
	const struct guest_function *f = op->u.launch.function;
	struct emu_launch_request req = {
		.function = f->loaded,
		.dynamic_shared_bytes = op->u.launch.shared_bytes,
		.params = op->u.launch.params,
		.registers = f->registers,
		.cooperative = op->u.launch.group.cooperative,
		.number = number,
		.counting = count ? EMU_COUNT_ALL : EMU_COUNT_NONE,
		.check_races = !count                                           ? RACES_OFF
		               : guest.config.races != RACES_USUAL              ? guest.config.races
		               : again && !emu_device_races_cheap(guest.device) ? RACES_OFF
		                                                                : RACES_SPREAD,
		.counted_before = again,
		.strict = guest.config.strict,
		.code_kept = guest_code_is_kept(f),
		.in_graph = op->u.launch.in_graph,
		.heap_bytes = guest.limits[cudaLimitMallocHeapSize],
		.timeout_s = time_left(),
		.threads = guest.config.threads,
		.print = print,
		.print_ctx = printed,
		.work = nested_note,
		.ask = nested_answer,
		.work_ctx = nesting,
		.depth = nesting->depth,
		.breathe = nesting->breathe,
	};
	memcpy(req.grid, op->u.launch.grid, sizeof req.grid);
	memcpy(req.block, op->u.launch.block, sizeof req.block);
	memcpy(req.cluster, op->u.launch.group.cluster, sizeof req.cluster);
	return req;
}

/* What was counted of a launch in @state. */
static void note_counts(struct kind *kind, unsigned state, const struct guest_op *op,
                        const struct run_counts *counts, uint64_t number)
{
	const uint64_t work = (uint64_t)counts->total.warp_executed;
	if (!kind->counted++)
		kind->again = work < COUNTED_AGAIN && !kind->is_other;
	if (kind->is_other)
		kinds.others_work += work;
	if (kind->in[state].like)
		number = kind->in[state].like;
	kind->in[state].like = number;
	kind->in[state].ns = guest_kernel_ns(op, counts, &kind->in[state].share);
}

struct kernel_run {
	struct guest_op op; /* owned */
	struct guest_stream *stream;
	struct guest_nesting *nesting;
	struct record_launch r;
	double call_ns, began_s; /* on the host's clock, and when that was */
	size_t kind;
	unsigned state;
	bool count, apart; /* apart: others overtook it */
	struct launch_print printed;
	struct emu_launch_request req;
	struct beside beside;
	struct run_result res;
	struct under_way way;
	struct emu_running *running; /* NULL = it repeats one, and was done at once */
};

/* Those of the machine code in the program, else of what was assembled of its PTX; 0 = unknown. */
static unsigned registers_of(const struct guest_function *f)
{
	struct emu_function_info info;
	if (f->registers)
		return f->registers;
	emu_function_info(f->loaded, &info);
	return info.registers;
}

struct kernel_run *kernel_run_begin(const struct guest_op *op, struct guest_stream *s,
                                    struct guest_nesting *nesting)
{
	struct kernel_run *k = mem_zalloc(sizeof *k);
	struct guest_function *f = op->u.launch.function;
	const size_t number_of_kind = kind_of(op, !nesting->parent && !op->u.launch.in_graph);
	const struct kind *kind = &kinds.kind[number_of_kind];
	guest_op_keep(&k->op, op);
	guest_limits_use(f);
	k->stream = s;
	k->nesting = nesting;
	k->kind = number_of_kind;
	k->call_ns = clock_host_ns();
	k->r = (struct record_launch){
		.number = record_launch_number() + 1,
		.stream = s->id,
		.dynamic_shared_bytes = op->u.launch.shared_bytes,
		.cooperative = op->u.launch.group.cooperative,
		.parent = nesting->parent,
	};
	nesting->parent = k->r.number; /* of what it launches */
	nesting->module = f->module;
	emu_device_host_stops(guest.device);
	k->state = state_of(op);
	const bool again = kind->again && !kind->in[k->state].like;
	k->count = record_is_open() &&
	           (kind->counted < guest.config.count_first || is_asked(k->r.number) || again);
	k->req =
		request_of(&k->op, k->r.number, k->count, again || kind->is_other, &k->printed, nesting);
	if (k->count || machine_gives_results())
		machine_need(f->module);
	k->req.registers = f->registers = registers_of(f);
	k->req.machine_code = machine_gives_results() && emu_module_level(f->module->loaded)[0];
	memcpy(k->r.grid, k->req.grid, sizeof k->r.grid);
	memcpy(k->r.block, k->req.block, sizeof k->r.block);
	record_kernel(f);
	k->r.kernel = f->id;
	guest_function_ran(f);

	k->beside = (struct beside){ .fork.fd = -1, .look.fd = -1 };
	if (k->count)
		k->beside = begin_counting(op, s, &k->req, k->r.number, nesting->again, kind->is_other);
	k->way = (struct under_way){ .launch = k->r.number, .kernel = f->id, .told_s = clock_now_s() };
	k->began_s = clock_now_s();
	const struct run_hooks hooks = { .progress = tell_progress, .ctx = &k->way };
	if (!emu_launch_begin(guest.device, &k->req, &hooks, &k->res, &k->running))
		k->running = NULL;
	return k;
}

struct emu_running *kernel_run_emulated(const struct kernel_run *k)
{
	return k->running;
}

void kernel_run_apart(struct kernel_run *k)
{
	k->apart = true;
	emu_running_apart(k->running);
	second_look_end(&k->beside.look);
	machine_end(&k->beside.fork, k->op.u.launch.function->module, NULL, false, &k->r);
}

/* Its place on the clock, and what came of it. */
static void tell_outcome(struct kernel_run *k, const struct kind *kind)
{
	struct record_launch *r = &k->r;
	const double launch_call_ns = r->parent ? 0 : stream_rates_of(&guest.gpu).launch_call_ns;
	const unsigned told = state_told(kind, k->state);
	const double ns = kind->in[told].ns, share = kind->in[told].share;
	const struct clock_span span =
		k->apart ? clock_place_held(k->stream, k->call_ns, ns, share, launch_call_ns)
				 : clock_place(k->stream, GUEST_ENGINE_SM, ns, share, launch_call_ns);
	r->span = (struct record_span){ span.call_ns, span.start_ns, span.end_ns };
	r->like = kind->in[told].like;
	r->same_as = k->res.same_as;
	r->counts_as = k->res.counts_as;
	r->share = share;
	r->wall_s = k->res.wall_s;
	r->races = k->res.races;
}

/* What was counted of it, and its place on the clock. */
static void tell_counts(struct kernel_run *k, bool ok)
{
	struct record_launch *r = &k->r;
	struct kind *kind = &kinds.kind[k->kind];
	if (k->beside.in_part)
		k->res.counts = k->beside.sampled;
	if (k->count)
		machine_end(&k->beside.fork, k->op.u.launch.function->module, ok ? &k->res.counts : NULL,
		            k->res.in_any_order && !k->beside.in_part, r);
	if (k->apart) {
		r->number = record_launch_number() + 1; /* those that overtook it have theirs */
		k->nesting->parent = r->number;
		snprintf(
			r->note, sizeof r->note,
			"it waited for the host or another launch: its time and its counts depend on them");
	}
	if (ok && k->count)
		note_counts(kind, k->state, &k->op, &k->res.counts, r->number);
	tell_outcome(k, kind);
	r->counted = !ok ? RECORD_FAILED : k->count ? RECORD_COUNTED : RECORD_REPEATS;
	r->printed_bytes = k->printed.bytes;
	record_launch(r, ok && k->count ? &k->res.counts : NULL);
}

cudaError_t kernel_run_end(struct kernel_run *k)
{
	struct run_findings findings = { 0 };
	struct err err = { 0 };
	const bool ok = !k->running || emu_running_end(k->running, &findings, &err);
	/* that no other bytes are tried is for the first of its kind alone to be told of */
	const bool other = kinds.kind[k->kind].is_other,
			   untried = other && !second_look_can_be(&k->beside.look);
	const struct agreed agreed = untried ? (struct agreed){ .contents = true }
	                             : ok && !k->apart
	                                 ? findings_look_again(&k->beside.look, &findings, &k->printed,
	                                                       clock_now_s() - k->began_s, other)
	                                 : (struct agreed){ false, false };
	second_look_end(&k->beside.look);
	tell_counts(k, ok);
	if (!k->apart)
		early_launched(k->stream, k->r.number);
	const uint64_t number = k->r.number;
	findings_tell(&findings, number, &agreed);
	run_result_free(&k->res);
	emu_device_host_goes_on(guest.device);
	guest_op_drop(&k->op);
	free(k);
	if (guest.config.stop_after && number >= guest.config.stop_after) {
		guest.stopped = true;
		fflush(NULL);
		exit(0);
	}
	if (ok)
		return cudaSuccess;
	if (guest.ends) {
		findings_tell_unfinished(number);
		return cudaSuccess;
	}
	findings_tell_failure(&findings, &err, number);
	guest.unchecked_launch = number;
	/* what is not supported harms nothing but this launch */
	if (err.code == ERR_UNSUPPORTED)
		return cudaErrorNotSupported;
	guest.sticky = guest.fault = findings_error(&findings, &err);
	return cudaSuccess;
}

cudaError_t guest_run_kernel(const struct guest_op *op, struct guest_stream *s,
                             struct guest_nesting *nesting)
{
	struct kernel_run *k = kernel_run_begin(op, s, nesting);
	if (k->running)
		emu_running_go(k->running);
	return kernel_run_end(k);
}
