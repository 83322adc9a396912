/*
 * Schedules the hyperblocks of a program for one warp; see critical_path.h.
 *
 * Values that are still under way at the end of a hyperblock are waited for where they are used, so
 * that loads issued an iteration ahead cost what is left of them; a hyperblock's time is the
 * average over the ways into it. Two rounds over the program settle the loops.
 */
#include "timemodel/critical_path.h"

#include "timemodel/branch_time.h"
#include "timemodel/constants.h"
#include "timemodel/held_warp.h"
#include "timemodel/store_port.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 2
#define WARP_LANES 32.0
#define MOST_LOADS 64 /* room; see loads_ahead */
#define OFTEN 0.45    /* of the passes of where sides meet: of two, each */

/* Values on their way where a hyperblock ends. */
struct live_out {
	double share; /* of its passes: the others find them there */
	unsigned n, cap;
	struct pending_value {
		int32_t reg;
		float cycles; /* until it is there */
	} *value;
};

struct scheduler {
	const struct hyperblocks *h;
	const struct timing_program *program;
	const struct gpu_spec *gpu;
	const struct load_misses *misses;
	const struct demand *asked; /* per region, of one pass of a block */
	double *lines;              /* per region: lines_waited_for() */
	struct path *path;          /* per region: the answer */
	struct live_out *live_out;  /* per hyperblock */
	float *ready;               /* per register: when its value is there; 0 = long since */
	int32_t *pending;           /* registers with ready > 0 */
	unsigned n_pending;
	double end; /* of the last walk */
	/* When the last loads of this walk are there, by turns. */
	unsigned n_loads;
	double load_done[MOST_LOADS];
	struct load_group group;
};

static void set_ready(struct scheduler *s, int32_t reg, double t)
{
	if (!(s->ready[reg] > 0) && t > 0)
		s->pending[s->n_pending++] = reg;
	s->ready[reg] = (float)t;
}

/* Where one walk through a hyperblock stands, in cycles from its top. */
struct progress {
	double start; /* of this region */
	double last;  /* latest issue so far */
	double issued, int_issued, sfu_issued;
	double memory; /* latest issue of a memory instruction */
	bool accessed; /* is there one? */
	struct store_port port;
	double product;       /* of a product of tensor cores: fragments of the next are loaded then */
	double fragments;     /* when those of the next are there */
	double stored[3];     /* latest issue of a store: global, shared, local */
	double stored_before; /* of the local one before that */
	double choice;        /* when it is known whether this side is taken; 0 = no side */
	double held;          /* until a loop or a call of one instruction has ended */
};

/* The wait for load @i, as one of @group if there is one. */
static double load_cycles(const struct scheduler *s, uint32_t i, uint32_t b,
                          struct load_group *group)
{
	const struct load_wait w =
		load_wait_of(s->h, s->gpu, s->misses, s->lines[s->h->region_of[i]], i, b);
	return group ? group_wait_cycles(group, &w, 1 + replays_of(&s->program->counts[i]))
	             : load_wait_cycles(&w);
}

static double latency_cycles(const struct scheduler *s, uint32_t i, uint32_t b)
{
	const struct timing_inst *x = &s->program->inst[i];
	const struct gpu_spec *g = s->gpu;
	const double per_ns = g->clock_mhz * 1e-3;
	switch (x->class) {
	case INST_LOAD:
		if (x->space == MEMORY_CONST)
			return timing.alu_cycles;
		if (x->space == MEMORY_LOCAL)
			return timing.local_latency_ns * per_ns + load_cycles(s, i, b, NULL) -
			       g->l1_latency_ns * per_ns;
		if (x->space == MEMORY_REMOTE)
			return timing.remote_latency_ns * per_ns;
		if (x->space == MEMORY_TEXTURE || x->space == MEMORY_TEXELS)
			return fetch_cycles(s->program, g, s->misses, i);
		return (x->space == MEMORY_SHARED ? g->smem_latency_ns * per_ns
		                                  : load_cycles(s, i, b, NULL)) +
		       replays_of(&s->program->counts[i]);
	case INST_BULK: return bulk_cycles(s->program, g, s->misses, i);
	case INST_ATOMIC:
		if (x->space == MEMORY_REMOTE)
			return timing.remote_latency_ns * per_ns;
		if (x->polls)
			return timing.swap_round_trip_ns * per_ns;
		return (x->space == MEMORY_SHARED ? timing.shared_atomic_latencies * g->smem_latency_ns
		                                  : timing.atomic_latencies * g->l2_latency_ns) *
		       per_ns;
	case INST_SPECIAL:
	case INST_CONSTANT:
	case INST_SHUFFLE:
	case INST_MATCH:
	case INST_REDUX:
	case INST_PRODUCT:
		return inst_latency_cycles(x->class, 1) + further_values_cycles(x, &s->program->counts[i]);
	default: break;
	}
	if (x->issued <= 0)
		return 0;
	if (x->uniform && (x->class == INST_INT_ADD || x->class == INST_INT_LOGIC))
		return timing.uniform_cycles;
	return inst_latency_cycles(x->class, x->issued);
}

/* Cycles from one instruction of a warp to the next on a pipe of @lanes_per_sm lanes. */
static double pipe_interval(unsigned lanes_per_sm, const struct gpu_spec *g)
{
	return lanes_per_sm ? WARP_LANES * g->schedulers_per_sm / lanes_per_sm : 1;
}

/* The least a warp alone needs to issue what the region holds. */
static double issue_cycles(const struct scheduler *s, const struct progress *at)
{
	const struct gpu_spec *g = s->gpu;
	return fmax(at->issued, fmax(at->int_issued * pipe_interval(g->int32_lanes_per_sm, g),
	                             at->sfu_issued * pipe_interval(g->sfu_lanes_per_sm, g)));
}

static double region_end(const struct scheduler *s, const struct progress *at)
{
	return fmax(at->last, at->start + issue_cycles(s, at));
}

static double operands_ready(const struct scheduler *s, const struct timing_inst *x)
{
	double t = x->guard >= 0 ? s->ready[x->guard] : 0;
	for (unsigned i = 0; i < x->n_sources; i++)
		t = fmax(t, s->ready[x->source[i]]);
	return t;
}

static void count_issue(struct progress *at, const struct timing_inst *x)
{
	const enum sm_pipe pipe = inst_pipe(x->class);
	at->issued += x->issued;
	at->int_issued += pipe == SM_PIPE_INT ? x->issued : pipe == SM_PIPE_EITHER ? x->issued / 2 : 0;
	at->sfu_issued += pipe == SM_PIPE_SFU ? x->issued : 0;
}

static void hold_board(struct scheduler *s, unsigned board, double until)
{
	if (board != TIMING_NO_BOARD)
		set_ready(s, (int32_t)board, fmax(s->ready[board], until));
}

/* When a load that issues at @t has left by the port, behind the lines of stores before it; a store
 * holds the port itself. */
static double by_port(struct scheduler *s, const struct timing_inst *x, const struct counts *c,
                      double t)
{
	const double free = fmax(t, s->ready[TIMING_STORES_BOARD]);
	if (x->class == INST_LOAD && x->space != MEMORY_CONST)
		return free;
	const double cycles =
		(leaving_cycles(x, c) + local_store_cycles(x)) / fmax(1, (double)c->warp_executed);
	if (cycles > 0)
		hold_board(s, TIMING_STORES_BOARD, free + cycles);
	return t;
}

/* In its place, as the assembler has arranged it. */
static void issue_machine_inst(struct scheduler *s, uint32_t i, uint32_t b, struct progress *at)
{
	const struct timing_inst *x = &s->program->inst[i];
	double t = fmax(at->start, at->last);
	if (x->issued <= 0)
		return;
	count_issue(at, x);
	for (unsigned k = 0; k < TIMING_NO_BOARD; k++)
		if (x->control.waits_for >> k & 1)
			t = fmax(t, s->ready[k]);
	if (x->class == INST_GROUP_WAIT)
		t = fmax(t, s->ready[TIMING_PRODUCTS_BOARD]);
	/* what calls of the system, and waits for a cluster, take is not in its stall counts */
	t += held_warp_cycles(s->program, i, s->gpu, store_port_idle(&at->port, t));
	at->last = t + fmax(1, x->control.stall);
	const double leaves = by_port(s, x, &s->program->counts[i], t);
	if (mostly_loads(x, &s->program->counts[i]))
		hold_board(s, x->control.result_board,
		           leaves + latency_cycles(s, i, b) + poll_cycles(x, s->gpu));
	if (x->by_group)
		hold_board(s, TIMING_PRODUCTS_BOARD,
		           group_product_done(s->program, i, s->gpu, t, s->ready[TIMING_PRODUCTS_BOARD]));
	if (x->class == INST_BULK)
		hold_board(s, TIMING_COPIES_BOARD, t + latency_cycles(s, i, b));
	hold_board(s, x->control.operand_board,
	           t + timing.operand_cycles + replays_of(&s->program->counts[i]));
	at->accessed |= inst_orders_memory(x);
	if (inst_orders_memory(x))
		at->memory = fmax(at->memory, t);
	store_port_note(&at->port, s->program, i, s->h->block_passes[b], t);
}

/* Registers for what loads bring are few: the next one takes that of an earlier one. */
static bool is_windowed(const struct timing_inst *x)
{
	return x->class == INST_LOAD && (x->space == MEMORY_GLOBAL || x->space == MEMORY_GENERIC);
}

/* When @x, whose operands are there at @t, may go to memory: behind the stores before it. */
static double in_memory_order(const struct timing_inst *x, struct progress *at, double t)
{
	const unsigned room = x->space == MEMORY_SHARED ? 1 : x->space == MEMORY_LOCAL ? 2 : 0;
	const bool load = x->class == INST_LOAD;
	if (!load || !x->read_only)
		t = fmax(t, at->stored[room]);
	if (is_windowed(x)) /* the assembler puts them ahead of one store to local memory only */
		t = fmax(t, at->stored_before);
	if (load && x->fragment)
		t = fmax(t, x->second_half ? at->fragments : at->product);
	at->memory = fmax(at->memory, t);
	if (load)
		return t;
	if (room == 2)
		at->stored_before = at->stored[room];
	at->stored[room] = t + 1;
	return t;
}

/* A load from global memory that issues at @t, among those that are under way: when it is there. */
static double windowed_load(struct scheduler *s, uint32_t i, uint32_t b, double t)
{
	if (s->group.n >= (unsigned)timing.loads_ahead || t >= s->group.done)
		s->group = (struct load_group){ .none_from_l2 = 1, .none_from_dram = 1 };
	const double done = t + load_cycles(s, i, b, &s->group) + replays_of(&s->program->counts[i]);
	s->group.n++;
	s->group.done = fmax(s->group.done, done);
	s->load_done[s->n_loads++ % (unsigned)timing.loads_ahead] = done;
	return done;
}

static void issue_inst(struct scheduler *s, uint32_t i, uint32_t b, struct progress *at)
{
	const struct timing_inst *x = &s->program->inst[i];
	if (s->program->machine_code) { /* its registers are scoreboards, and its guard is none */
		issue_machine_inst(s, i, b, at);
		return;
	}
	double t = fmax(fmax(at->start, fmax(at->held, at->choice)), operands_ready(s, x));
	count_issue(at, x);
	if (inst_orders_memory(x))
		t = in_memory_order(x, at, t);
	if (x->class == INST_PRODUCT)
		at->product = fmax(at->product, t);
	if (is_windowed(x) && s->n_loads >= (unsigned)timing.loads_ahead)
		t = fmax(t, s->load_done[s->n_loads % (unsigned)timing.loads_ahead]);
	const double idle = fmax(t, at->last);
	const double held = held_warp_cycles(s->program, i, s->gpu, store_port_idle(&at->port, idle));
	store_port_note(&at->port, s->program, i, s->h->block_passes[b], t);
	if (held > 0)
		at->held = t = idle + held;
	if (x->issued > 0)
		at->last = fmax(at->last, held > 0 ? t : t + x->issued);
	double done = is_windowed(x) ? windowed_load(s, i, b, t) : t + latency_cycles(s, i, b);
	done += poll_cycles(x, s->gpu);
	if (x->half_transpose)
		done += timing.transpose_cycles;
	if (is_windowed(x) && x->fragment && !x->second_half)
		at->fragments = fmax(at->fragments, done);
	for (unsigned k = 0; k < x->n_results; k++)
		if (x->result[k] >= 0)
			set_ready(s, x->result[k], done);
}

/* How much longer than the @alone cycles of one warp a block takes for @passes of @region. */
static double others_cycles(const struct scheduler *s, uint32_t region, double alone, double passes)
{
	const struct timing_program *p = s->program;
	const double warps = p->warps / p->thread_blocks / s->gpu->schedulers_per_sm;
	const struct demand none = { 0 }, d = demand_sum(none, s->asked[region], passes);
	return crossed(&d, alone, busy_cycles(&d, warps)) - alone;
}

/* Where a region ends, at @end, the next one begins, once the others of the block are there. */
static void close_region(struct scheduler *s, uint32_t *region, struct progress *at, double end,
                         double weight, double passes)
{
	const double next = end + others_cycles(s, *region, end - at->start, passes);
	struct path *const path = &s->path[(*region)++];
	path->cycles += weight * (end - at->start);
	path->to_store += weight * ((at->port.used ? at->port.first : end) - at->start);
	*at = (struct progress){ .start = next, .last = next, .memory = next };
}

static void walk_block(struct scheduler *s, uint32_t b, uint32_t *region, struct progress *at,
                       double weight)
{
	const struct timing_program *p = s->program;
	const bool top = b == s->h->hyperblock[s->h->of_block[b]].first;
	const struct timing_inst *before = top ? NULL : last_inst(p, b - 1);
	at->choice =
		before && before->class == INST_BRANCH && before->guard >= 0 ? s->ready[before->guard] : 0;
	for (uint32_t i = p->block[b].first; i < p->block[b].end; i++) {
		if (p->inst[i].class != INST_BARRIER) {
			issue_inst(s, i, b, at);
			continue;
		}
		if (p->machine_code)
			issue_machine_inst(s, i, b, at);
		else
			at->issued++;
		const double met = fmax(region_end(s, at), at->memory);
		close_region(s, region, at, met + barrier_cycles(p, &p->inst[i], at->accessed), weight, 1);
	}
}

/* Cycles of the regions of hyperblock @k when it is entered with what hyperblock @from left under
 * way; -1 = nothing. @weight of them goes into their average. */
static void walk(struct scheduler *s, unsigned k, int32_t from, double weight)
{
	const struct hyperblock *h = &s->h->hyperblock[k];
	struct progress at = { 0 };
	uint32_t region = h->first_region;
	for (unsigned i = 0; from >= 0 && i < s->live_out[from].n; i++)
		set_ready(s, s->live_out[from].value[i].reg, s->live_out[from].value[i].cycles);
	const unsigned copies = s->program->block[h->first].copies;
	s->n_loads = 0;
	s->group = (struct load_group){ .none_from_l2 = 1, .none_from_dram = 1 };
	for (unsigned copy = 0; copy < copies; copy++)
		for (uint32_t b = h->first; b < h->end; b++)
			/* a side that is hardly ever taken delays nobody */
			if (b == h->first || s->h->block_passes[b] >= 0.5 * s->h->block_passes[h->first])
				walk_block(s, b, &region, &at, weight);
	const double end = region_end(s, &at) + branch_cycles(s->h, h->end - 1);
	close_region(s, &region, &at, end, weight / copies, copies);
	s->end = at.start;
}

/* Of a register that several ways leave under way, the latest counts. */
static void add_live_out(struct live_out *l, int32_t reg, double cycles)
{
	unsigned i = 0;
	while (i < l->n && l->value[i].reg != reg)
		i++;
	MEM_ROOM(l->value, l->n, l->cap, 16);
	const float before = i < l->n ? l->value[i].cycles : 0;
	l->value[i] = (struct pending_value){ .reg = reg, .cycles = fmaxf(before, (float)cycles) };
	l->n += i == l->n;
}

/* Is the value of @reg still the one that was under way in @from? */
static bool is_left_from(const struct scheduler *s, const struct live_out *from, int32_t reg)
{
	for (unsigned i = 0; i < from->n; i++)
		if (from->value[i].reg == reg)
			return !(fabs((double)s->ready[reg] - (double)from->value[i].cycles) > 0);
	return false;
}

/* Forgets the registers; with @l, adds to it what is still under way, at a share of @share what
 * @from left. */
static void end_walk(struct scheduler *s, struct live_out *l, int32_t from, double share)
{
	if (l)
		l->share = fmax(l->share, share);
	for (unsigned i = 0; i < s->n_pending; i++) {
		const int32_t r = s->pending[i];
		const double left = s->ready[r] - s->end;
		if (l && left > 0) {
			add_live_out(l, r, left);
			if (from < 0 || !is_left_from(s, &s->live_out[from], r))
				l->share = 1;
		}
		s->ready[r] = 0;
	}
	s->n_pending = 0;
}

/* What hyperblock @k leaves under way: at the top of a loop what its end, @usual, has left; where
 * sides meet, the latest of all that many thread blocks take, by whatever warps. */
static void leave_under_way(struct scheduler *s, unsigned k, int32_t usual, double share)
{
	const uint32_t to = s->h->hyperblock[k].first;
	const bool meet = usual >= 0 && s->h->hyperblock[usual].first < to;
	walk(s, k, usual, 0);
	s->live_out[k].n = 0;
	s->live_out[k].share = 0;
	end_walk(s, &s->live_out[k], usual, share);
	for (uint32_t b = 0; meet && b < to; b++) {
		const int32_t from = (int32_t)s->h->of_block[b];
		if (from == usual || !leads_to(s->program, b, to) || !s->live_out[from].n ||
		    edge_block_passes(s->h, b, to) < OFTEN * s->h->block_passes[to])
			continue;
		walk(s, k, from, 0);
		end_walk(s, &s->live_out[k], from, s->live_out[from].share * first_of_sides(s->h, b));
	}
}

/* Each way into the hyperblock counts as often as it is taken. */
static void schedule(struct scheduler *s, unsigned k)
{
	const struct timing_program *p = s->program;
	const struct hyperblock *h = &s->h->hyperblock[k];
	double all = 0, most = -1, usual_share = 1;
	int32_t usual = -1;
	for (uint32_t r = h->first_region; r < h->end_region; r++)
		s->path[r] = (struct path){ 0 };
	for (uint32_t b = 0; b < p->n_blocks; b++) {
		if (!leads_to(p, b, h->first))
			continue;
		const double passes = edge_passes(s->h, b, h->first);
		if (!(passes > 0))
			continue;
		const int32_t from = (int32_t)s->h->of_block[b];
		const double share =
			s->live_out[from].n ? s->live_out[from].share * first_of_sides(s->h, b) : 1;
		walk(s, k, from, passes * share);
		end_walk(s, NULL, -1, 1);
		if (share < 1) {
			walk(s, k, -1, passes * (1 - share));
			end_walk(s, NULL, -1, 1);
		}
		all += passes;
		if (passes > most) {
			most = passes;
			usual = from;
			usual_share = share;
		}
	}
	if (!(all > 0)) {
		walk(s, k, usual, 1);
		end_walk(s, NULL, -1, 1);
	}
	leave_under_way(s, k, usual, usual_share);
	for (uint32_t r = h->first_region; all > 0 && r < h->end_region; r++)
		s->path[r] = (struct path){ s->path[r].cycles / all, s->path[r].to_store / all };
}

struct path *critical_paths(const struct hyperblocks *h, const struct gpu_spec *g,
                            const struct load_misses *misses, const struct demand *asked,
                            double *rounds)
{
	const struct timing_program *p = h->program;
	const unsigned registers = p->machine_code ? TIMING_BOARDS : p->n_registers;
	struct load_misses waited = *misses;
	struct scheduler s = { .h = h,
		                   .program = p,
		                   .gpu = g,
		                   .misses = &waited,
		                   .asked = asked,
		                   .lines = lines_waited_for(h, &waited.waits),
		                   .path = mem_calloc(h->n_regions + 1, sizeof *s.path),
		                   .live_out = mem_calloc(h->n + 1, sizeof *s.live_out),
		                   .ready = mem_calloc(registers + 1, sizeof *s.ready),
		                   .pending = mem_calloc(registers + 1, sizeof *s.pending) };
	*rounds = waited.waits;
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned k = 0; k < h->n; k++)
			schedule(&s, k);
	for (unsigned k = 0; k < h->n; k++)
		free(s.live_out[k].value);
	free(s.lines);
	free(s.live_out);
	free(s.ready);
	free(s.pending);
	return s.path;
}
