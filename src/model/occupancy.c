/*
 * Occupancy twice: NVIDIA's own calculator, and the same explained step by step; see occupancy.h.
 * Knows no kernel and no compiler: a block is threads, registers, shared bytes and barriers.
 * References: cuda_occupancy.h (CUDA Toolkit); CUDA C++ Programming Guide, "Technical
 * Specifications per Compute Capability"; PMPP 4.7 for the book's arithmetic.
 *
 * Not a row here: "virtual resources" of compute capability 10 and later. The header divides 128
 * by a count that neither the driver nor cudaFuncAttributes reports (it sets 0 = no limit), so it
 * never binds.
 */
#include "model/occupancy.h"
#include "base/text.h"
#include "model/carveout.h"

#include <cuda_occupancy.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define REG_UNIT 256u      /* registers are given to a warp in units of this (7.0 and later) */
#define SUB_PARTITIONS 4u  /* processing blocks of an SM, each with a quarter of the registers */
#define ALL_ZERO 0xffffffu /* stands for any input larger than every limit */

static const char *const limit_names[OCC_LIMIT_COUNT] = {
#define X(id, name) [OCC_##id] = name,
	OCC_LIMITS(X)
#undef X
};

static unsigned round_up(unsigned v, unsigned unit)
{
	return (v + unit - 1) / unit * unit;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Input that no block can have, cut to where the answer (0 blocks) is the same and no product
 * overflows: 2^24 threads, registers or bytes are beyond every limit. */
static struct occ_input bounded(const struct gpu_spec *g, const struct occ_input *in)
{
	struct occ_input b = {
		.block_threads = least(in->block_threads, g->max_threads_per_block + 1),
		.regs_per_thread = least(in->regs_per_thread, 1024),
		.static_shared_bytes = least(in->static_shared_bytes, ALL_ZERO),
		.dynamic_shared_bytes = least(in->dynamic_shared_bytes, ALL_ZERO),
		.barriers = in->barriers ? least(in->barriers, 1024) : 1,
		.carveout_preferred = in->carveout_preferred,
		.carveout_pct = least(in->carveout_pct, 100),
	};
	return b;
}

static bool sensible(const struct occ_input *in, struct err *err)
{
	if (in->block_threads == 0)
		return err_set(err, ERR_USAGE, "parameter 'block': 0: a block has at least 1 thread");
	return true;
}

/* --- NVIDIA's calculator --- */

static cudaOccDeviceProp device(const struct gpu_spec *g)
{
	return (cudaOccDeviceProp){
		.computeMajor = g->cc_major,
		.computeMinor = g->cc_minor,
		.maxThreadsPerBlock = (int)g->max_threads_per_block,
		.maxThreadsPerMultiprocessor = (int)g->max_threads_per_sm,
		.regsPerBlock = (int)g->regs_per_block,
		.regsPerMultiprocessor = (int)g->regs_per_sm,
		.warpSize = (int)g->warp_size,
		.sharedMemPerBlock = g->smem_per_block_bytes,
		.sharedMemPerMultiprocessor = g->smem_per_sm_bytes,
		.numSms = (int)g->sm_count,
		.sharedMemPerBlockOptin = g->smem_per_block_optin_bytes,
		.reservedSharedMemPerBlock = g->smem_reserved_per_block_bytes,
	};
}

bool occ_sheet_known(const struct gpu_spec *g, const char **key, struct err *err)
{
	const cudaOccDeviceProp p = device(g);
	int slots = 0;
	size_t shared = g->smem_per_sm_bytes;

	*key = "cc_major";
	if (cudaOccMaxBlocksPerMultiprocessor(&slots, &p) != CUDA_OCC_SUCCESS || g->cc_major < 7)
		return err_set(err, ERR_UNSUPPORTED,
		               "compute capability %d.%d is not one of 7.0 to %d.%d "
		               "that cuda_occupancy.h of this build knows",
		               g->cc_major, g->cc_minor, __CUDA_OCC_MAJOR__, __CUDA_OCC_MINOR__);
	*key = "max_blocks_per_sm";
	if ((unsigned)slots != g->max_blocks_per_sm)
		return err_set(
			err, ERR_UNSUPPORTED,
			"'max_blocks_per_sm' is %u, but compute capability %d.%d has %d (cuda_occupancy.h)",
			g->max_blocks_per_sm, g->cc_major, g->cc_minor, slots);
	*key = "smem_per_sm_bytes";
	cudaOccError e = cudaOccAlignUpShmemSizeVoltaPlus(&shared, &p);
	if (e == CUDA_OCC_ERROR_UNKNOWN_DEVICE) {
		*key = "cc_minor";
		return err_set(err, ERR_UNSUPPORTED,
		               "compute capability %d.%d is not known to cuda_occupancy.h of this build",
		               g->cc_major, g->cc_minor);
	}
	if (e != CUDA_OCC_SUCCESS || shared != g->smem_per_sm_bytes)
		return err_set(
			err, ERR_UNSUPPORTED,
			"'smem_per_sm_bytes' is %u, which is no shared-memory size of compute capability %d.%d",
			g->smem_per_sm_bytes, g->cc_major, g->cc_minor);
	return true;
}

bool occ_reference(const struct gpu_spec *g, const struct occ_input *in, unsigned *blocks,
                   unsigned *limiter_bits, struct err *err)
{
	if (!sensible(in, err))
		return false;
	const struct occ_input b = bounded(g, in);
	const cudaOccDeviceProp p = device(g);
	const cudaOccDeviceState state = { .carveoutConfig = b.carveout_preferred
		                                                     ? (int)b.carveout_pct
		                                                     : SHAREDMEM_CARVEOUT_DEFAULT };
	const cudaOccFuncAttributes f = {
		.maxThreadsPerBlock = (int)g->max_threads_per_block,
		/* The header lets 256 pass; the machine has R0 to R254, so the sheet says 255. */
		.numRegs = (int)(b.regs_per_thread > g->max_regs_per_thread ? 1024 : b.regs_per_thread),
		.sharedSizeBytes = b.static_shared_bytes,
		.partitionedGCConfig = PARTITIONED_GC_OFF,
		.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
		.maxDynamicSharedSizeBytes = b.dynamic_shared_bytes,
		.numBlockBarriers = (int)b.barriers,
	};
	cudaOccResult r = { 0 };
	cudaOccError e = cudaOccMaxActiveBlocksPerMultiprocessor(
		&r, &p, &f, &state, (int)b.block_threads, b.dynamic_shared_bytes);
	if (e != CUDA_OCC_SUCCESS)
		return err_set(err, ERR_UNSUPPORTED, "cuda_occupancy.h refuses GPU '%s' (%d.%d): %s", g->id,
		               g->cc_major, g->cc_minor,
		               e == CUDA_OCC_ERROR_UNKNOWN_DEVICE ? "unknown device" : "invalid input");
	const int limits[OCC_LIMIT_COUNT] = {
		[OCC_WARPS] = r.blockLimitWarps,       [OCC_REGISTERS] = r.blockLimitRegs,
		[OCC_SHARED] = r.blockLimitSharedMem,  [OCC_BLOCKS] = r.blockLimitBlocks,
		[OCC_BARRIERS] = r.blockLimitBarriers,
	};
	*blocks = (unsigned)r.activeBlocksPerMultiprocessor;
	*limiter_bits = 0;
	for (unsigned i = 0; i < OCC_LIMIT_COUNT; i++)
		if (limits[i] == r.activeBlocksPerMultiprocessor)
			*limiter_bits |= 1u << i;
	return true;
}

double occ_l1_bytes(const struct gpu_spec *g, double shared_bytes, unsigned blocks)
{
	const double each = shared_bytes > g->smem_reserved_per_block_bytes ? shared_bytes : 0;
	return fmax(0, g->l1_bytes - carveout_size(g, blocks * each));
}

/* --- the same, explained --- */

#define SAY(l, ...) snprintf((l)->arithmetic, sizeof(l)->arithmetic, __VA_ARGS__)

static void limit_warps(const struct gpu_spec *g, const struct occ_input *in, struct occ_limit *l)
{
	const unsigned warps = (in->block_threads + g->warp_size - 1) / g->warp_size;
	const unsigned has = g->max_threads_per_sm / g->warp_size;
	l->needs = warps;
	l->has = has;
	if (in->block_threads > g->max_threads_per_block) {
		l->blocks = 0;
		SAY(l, "a block has at most %u threads", g->max_threads_per_block);
		return;
	}
	l->blocks = has / warps;
	SAY(l, "ceil(%u / %u) = %u warps; %u / %u = %u", in->block_threads, g->warp_size, warps, has,
	    warps, l->blocks);
}

static unsigned regs_per_warp(const struct gpu_spec *g, const struct occ_input *in)
{
	return round_up(in->regs_per_thread * g->warp_size, REG_UNIT);
}

/* The launch check counts as if every processing block took the same number of warps. */
static unsigned regs_checked(const struct gpu_spec *g, const struct occ_input *in)
{
	const unsigned warps = (in->block_threads + g->warp_size - 1) / g->warp_size;
	return regs_per_warp(g, in) * round_up(warps, SUB_PARTITIONS);
}

static void limit_registers(const struct gpu_spec *g, const struct occ_input *in,
                            struct occ_limit *l)
{
	const unsigned warps = (in->block_threads + g->warp_size - 1) / g->warp_size;
	const unsigned per_warp = regs_per_warp(g, in);
	const unsigned quarter = g->regs_per_sm / SUB_PARTITIONS;
	l->needs = (double)per_warp * warps;
	l->has = g->regs_per_sm;
	if (in->regs_per_thread > g->max_regs_per_thread) {
		l->blocks = 0;
		SAY(l, "a thread has at most %u registers", g->max_regs_per_thread);
	} else if (regs_checked(g, in) > g->regs_per_block) {
		l->blocks = 0;
		SAY(l, "%u warps x roundup(%u x %u, %u) = %u; a block has at most %u",
		    round_up(warps, SUB_PARTITIONS), in->regs_per_thread, g->warp_size, REG_UNIT,
		    regs_checked(g, in), g->regs_per_block);
	} else if (!per_warp) {
		l->blocks = OCC_UNLIMITED;
		SAY(l, "no registers used");
	} else {
		const unsigned fit = SUB_PARTITIONS * (quarter / per_warp);
		l->blocks = fit / warps;
		SAY(l, "%u x roundup(%u x %u, %u) = %.0f; %u x (%u / %u) = %u warps; %u / %u = %u", warps,
		    in->regs_per_thread, g->warp_size, REG_UNIT, l->needs, SUB_PARTITIONS, quarter,
		    per_warp, fit, fit, warps, l->blocks);
	}
}

static unsigned shared_unit(const struct gpu_spec *g)
{
	return g->cc_major >= 8 ? 128 : 256;
}

/* What one block may have, the reserve included: 48 KiB, or with the host's opt-in the rest. */
static unsigned shared_most(const struct gpu_spec *g, unsigned total)
{
	unsigned most =
		total > g->smem_per_block_bytes ? g->smem_per_block_optin_bytes : g->smem_per_block_bytes;
	return most + (g->cc_major >= 8 ? g->smem_reserved_per_block_bytes : 0);
}

static void limit_shared(const struct gpu_spec *g, const struct occ_input *in, struct occ_limit *l)
{
	const unsigned asked = in->static_shared_bytes + in->dynamic_shared_bytes;
	const unsigned total = asked + g->smem_reserved_per_block_bytes;
	const unsigned needs = round_up(total, shared_unit(g));
	const unsigned has = in->carveout_preferred
	                         ? carveout_preferred_bytes(g, in->carveout_pct, needs)
	                         : g->smem_per_sm_bytes;
	l->needs = needs;
	l->has = has;
	if (needs > shared_most(g, total)) {
		l->blocks = 0;
		SAY(l, "a block has at most %u bytes", g->smem_per_block_optin_bytes);
	} else if (!needs) {
		l->blocks = OCC_UNLIMITED;
		SAY(l, "no shared memory used");
	} else {
		l->blocks = has / needs;
		SAY(l, "roundup(%u + %u reserved, %u) = %u bytes; %u / %u = %u", asked,
		    g->smem_reserved_per_block_bytes, shared_unit(g), needs, has, needs, l->blocks);
	}
}

static void limit_blocks(const struct gpu_spec *g, const struct occ_input *in, struct occ_limit *l)
{
	(void)in;
	l->needs = 1;
	l->has = g->max_blocks_per_sm;
	l->blocks = g->max_blocks_per_sm;
	SAY(l, "an SM has %u block slots", g->max_blocks_per_sm);
}

/* Named barriers of an SM: twice the block slots on the data-centre parts, as many on the others.
 * Earlier architectures have no such limit in the header. */
static void limit_barriers(const struct gpu_spec *g, const struct occ_input *in,
                           struct occ_limit *l)
{
	const bool single = g->cc_major == 12 || (g->cc_major == 10 && g->cc_minor == 1) ||
	                    (g->cc_major == 11 && g->cc_minor == 0);
	const unsigned has = g->max_blocks_per_sm * (single ? 1 : 2);
	l->needs = in->barriers;
	if (g->cc_major < 9) {
		l->has = 0;
		l->blocks = OCC_UNLIMITED;
		SAY(l, "no limit before compute capability 9.0");
		return;
	}
	l->has = has;
	l->blocks = has / in->barriers;
	SAY(l, "%u / %u = %u", has, in->barriers, l->blocks);
}

/* --- the book --- */

struct note {
	char *s;
	size_t n, at;
};

static void say(struct note *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct note *o, const char *fmt, ...)
{
	char part[200];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(part, sizeof part, fmt, ap);
	va_end(ap);
	int len = snprintf(o->s + o->at, o->n - o->at, "%s%s", o->at ? "; " : "", part);
	if (len > 0)
		o->at = o->at + (size_t)len < o->n ? o->at + (size_t)len : o->n - 1;
}

/* PMPP 4.7: whole blocks by plain division of what an SM has by what a block asks for. */
static void book(const struct gpu_spec *g, const struct occ_input *in, struct occ_result *r)
{
	const unsigned shared = in->static_shared_bytes + in->dynamic_shared_bytes;
	const uint64_t regs = (uint64_t)in->regs_per_thread * in->block_threads;
	const unsigned by_threads = in->block_threads > g->max_threads_per_block
	                                ? 0
	                                : g->max_threads_per_sm / in->block_threads;
	const unsigned by_regs = regs ? (unsigned)(g->regs_per_sm / regs) : OCC_UNLIMITED;
	const unsigned by_shared = shared ? g->smem_per_sm_bytes / shared : OCC_UNLIMITED;

	r->book_blocks = least(least(by_threads, by_regs), least(by_shared, g->max_blocks_per_sm));
	r->book_pct = 100.0 * r->book_blocks * in->block_threads / g->max_threads_per_sm;
	r->book_note[0] = '\0';
	const bool same_pct = r->book_pct - r->pct < 1e-9 && r->pct - r->book_pct < 1e-9;
	if (r->book_blocks == r->blocks_per_sm && same_pct)
		return;

	struct note o = { r->book_note, sizeof r->book_note, 0 };
	const unsigned hw = r->blocks_per_sm;
	if (r->limits[OCC_WARPS].blocks < by_threads || in->block_threads % g->warp_size)
		say(&o, "threads come in whole warps: %u threads take %.0f", in->block_threads,
		    r->limits[OCC_WARPS].needs);
	if (r->limits[OCC_REGISTERS].blocks < by_regs && r->limits[OCC_REGISTERS].blocks == hw) {
		unsigned each = regs_per_warp(g, in) / g->warp_size;
		if (in->regs_per_thread > g->max_regs_per_thread)
			say(&o, "a thread has at most %u registers", g->max_regs_per_thread);
		else if (each != in->regs_per_thread)
			say(&o, "registers come in units of %u per warp: %u become %u per thread", REG_UNIT,
			    in->regs_per_thread, each);
		else
			say(&o, "registers lie in %u partitions of an SM, and a warp in one of them",
			    SUB_PARTITIONS);
	}
	if (r->limits[OCC_SHARED].blocks < by_shared && r->limits[OCC_SHARED].blocks == hw) {
		if (r->limits[OCC_SHARED].blocks == 0)
			say(&o, "a block has at most %u bytes of shared memory", g->smem_per_block_optin_bytes);
		else if (g->smem_reserved_per_block_bytes)
			say(&o, "the system keeps %u bytes of shared memory per block, in units of %u",
			    g->smem_reserved_per_block_bytes, shared_unit(g));
		else
			say(&o, "shared memory comes in units of %u bytes", shared_unit(g));
	}
	if (r->limits[OCC_BARRIERS].blocks == hw && r->limits[OCC_BARRIERS].blocks < r->book_blocks)
		say(&o, "an SM has %.0f barriers, a block uses %u", r->limits[OCC_BARRIERS].has,
		    in->barriers);
}

/* --- both together --- */

/* What the driver makes shared memory of, and how many blocks that holds. */
static void carve(const struct gpu_spec *g, const struct occ_input *in, struct occ_result *r)
{
	const unsigned needs = (unsigned)r->limits[OCC_SHARED].needs;
	const struct carveout_block b = {
		.threads = in->block_threads,
		.shared_bytes = in->static_shared_bytes + in->dynamic_shared_bytes,
		.needs = needs,
		.resident = r->blocks_per_sm,
		.preferred = in->carveout_preferred,
		.preferred_pct = in->carveout_pct,
	};
	if (!r->launchable)
		return;
	r->carveout_bytes = carveout_bytes(g, &b);
	r->carveout_blocks = needs ? r->carveout_bytes / needs : OCC_UNLIMITED;
}

static void explain_refusal(const struct gpu_spec *g, const struct occ_input *in,
                            struct occ_result *r)
{
	const unsigned shared = in->static_shared_bytes + in->dynamic_shared_bytes;
	char *s = r->why_not;
	const size_t n = sizeof r->why_not;
	char need[32], most[32];

	if (in->block_threads > g->max_threads_per_block)
		snprintf(s, n, "more than %u threads in a block", g->max_threads_per_block);
	else if (in->regs_per_thread > g->max_regs_per_thread)
		snprintf(s, n, "more than %u registers per thread", g->max_regs_per_thread);
	else if (r->limits[OCC_REGISTERS].blocks == 0)
		snprintf(s, n, "%u threads x %u registers take %s registers; a block has at most %s",
		         in->block_threads, in->regs_per_thread,
		         fmt_count(need, sizeof need, regs_checked(g, in)),
		         fmt_count(most, sizeof most, g->regs_per_block));
	else if (r->limits[OCC_SHARED].blocks == 0)
		snprintf(s, n, "%s bytes of shared memory; a block on this GPU has at most %s",
		         fmt_count(need, sizeof need, shared),
		         fmt_count(most, sizeof most, g->smem_per_block_optin_bytes));
	else if (r->limits[OCC_BARRIERS].blocks == 0)
		snprintf(s, n, "%u barriers; an SM of this GPU has %.0f", in->barriers,
		         r->limits[OCC_BARRIERS].has);
	else
		snprintf(s, n, "a block needs more warps than an SM of this GPU has");
}

bool occ_compute(const struct gpu_spec *g, const struct occ_input *in, struct occ_result *out,
                 struct err *err)
{
	static void (*const limit[OCC_LIMIT_COUNT])(const struct gpu_spec *, const struct occ_input *,
	                                            struct occ_limit *) = {
		[OCC_WARPS] = limit_warps,   [OCC_REGISTERS] = limit_registers, [OCC_SHARED] = limit_shared,
		[OCC_BLOCKS] = limit_blocks, [OCC_BARRIERS] = limit_barriers,
	};
	*out = (struct occ_result){ 0 };
	if (!sensible(in, err))
		return false;
	const struct occ_input b = bounded(g, in);

	unsigned blocks = OCC_UNLIMITED;
	for (unsigned i = 0; i < OCC_LIMIT_COUNT; i++) {
		struct occ_limit *l = &out->limits[i];
		l->id = (enum occ_limit_id)i;
		l->name = limit_names[i];
		limit[i](g, &b, l);
		blocks = least(blocks, l->blocks);
	}
	struct note names = { out->limiters, sizeof out->limiters, 0 };
	for (unsigned i = 0; i < OCC_LIMIT_COUNT; i++) {
		struct occ_limit *l = &out->limits[i];
		l->limits = l->blocks == blocks;
		if (l->limits) {
			int len = snprintf(names.s + names.at, names.n - names.at, "%s%s", names.at ? ", " : "",
			                   l->name);
			names.at += (size_t)len;
		}
	}
	const unsigned warps = (b.block_threads + g->warp_size - 1) / g->warp_size;
	out->blocks_per_sm = blocks;
	out->warps_per_sm = blocks * warps;
	out->threads_per_sm = blocks * b.block_threads;
	const unsigned most_warps = g->max_threads_per_sm / g->warp_size;
	out->pct = 100.0 * out->warps_per_sm / most_warps;
	out->launchable = blocks > 0;
	if (!out->launchable)
		explain_refusal(g, &b, out);
	carve(g, &b, out);
	book(g, &b, out);
	return true;
}

void occ_metrics(struct metric_set *m, const struct gpu_spec *g, const struct occ_result *r,
                 uint64_t grid_blocks)
{
	metric_num(m, M_OCC_BLOCKS, ORIGIN_MODELLED, r->blocks_per_sm);
	metric_num(m, M_OCC_WARPS, ORIGIN_MODELLED, r->warps_per_sm);
	metric_num(m, M_OCC_PCT, ORIGIN_MODELLED, r->pct);
	metric_text(m, M_OCC_LIMITERS, ORIGIN_MODELLED, r->limiters);
	if (!r->launchable) {
		metric_none(m, M_OCC_CARVEOUT, "this block cannot launch on this GPU");
		metric_none(m, M_OCC_CARVEOUT_BLOCKS, "this block cannot launch on this GPU");
	} else {
		metric_num(m, M_OCC_CARVEOUT, ORIGIN_MODELLED, r->carveout_bytes);
		if (r->carveout_blocks == OCC_UNLIMITED)
			metric_none(m, M_OCC_CARVEOUT_BLOCKS, "a block takes no shared memory here");
		else
			metric_num(m, M_OCC_CARVEOUT_BLOCKS, ORIGIN_MODELLED, r->carveout_blocks);
	}
	if (!r->launchable)
		metric_none(m, M_LAUNCH_WAVES, "this block cannot launch on this GPU");
	else if (!grid_blocks)
		metric_none(m, M_LAUNCH_WAVES, "no grid chosen");
	else
		metric_num(m, M_LAUNCH_WAVES, ORIGIN_MODELLED,
		           (double)grid_blocks / ((double)r->blocks_per_sm * g->sm_count));
}
