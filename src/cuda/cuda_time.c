/*
 * Kernel time: warm-up, then n launches, each after L2 was emptied (or left warm), by CUDA events
 * and by the stamps that the GPU puts on activity records; median, quartiles, range, clocks.
 *
 * All launches are queued behind the emptying of L2, so that the host's launch cost stays out of
 * the events. Never run while the range profiler replays. Knows no kernel.
 */
#include "cuda/cuda_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_REPEAT 200
#define BUDGET_NS 1e8 /* of timed work, unless the person asks for a number of launches */

/* Reads a buffer once, 16 bytes per lane; the sum keeps the compiler from dropping the loads. */
static const char flush_ptx[] =
	".version 6.4\n"
	".target sm_70\n"
	".address_size 64\n"
	".visible .entry pmpp_flush_l2(.param .u64 buffer, .param .u64 vectors, .param .u64 sink)\n"
	"{\n"
	".reg .pred %p<3>;\n"
	".reg .b32 %r<12>;\n"
	".reg .b64 %a<9>;\n"
	"ld.param.u64 %a1, [buffer];\n"
	"ld.param.u64 %a2, [vectors];\n"
	"ld.param.u64 %a3, [sink];\n"
	"cvta.to.global.u64 %a1, %a1;\n"
	"cvta.to.global.u64 %a3, %a3;\n"
	"mov.u32 %r1, %ctaid.x;\n"
	"mov.u32 %r2, %ntid.x;\n"
	"mov.u32 %r3, %tid.x;\n"
	"mov.u32 %r4, %nctaid.x;\n"
	"mul.wide.u32 %a4, %r1, %r2;\n"
	"cvt.u64.u32 %a5, %r3;\n"
	"add.s64 %a4, %a4, %a5;\n"
	"mul.wide.u32 %a6, %r4, %r2;\n"
	"mov.u32 %r5, 0;\n"
	"NEXT:\n"
	"setp.ge.u64 %p1, %a4, %a2;\n"
	"@%p1 bra DONE;\n"
	"shl.b64 %a7, %a4, 4;\n"
	"add.s64 %a7, %a1, %a7;\n"
	"ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%a7];\n"
	"xor.b32 %r6, %r6, %r7;\n"
	"xor.b32 %r8, %r8, %r9;\n"
	"xor.b32 %r6, %r6, %r8;\n"
	"add.s32 %r5, %r5, %r6;\n"
	"add.s64 %a4, %a4, %a6;\n"
	"bra NEXT;\n"
	"DONE:\n"
	"setp.ne.u32 %p2, %r5, 0x5bd1e995;\n"
	"@%p2 bra END;\n"
	"st.global.u32 [%a3], %r5;\n"
	"END:\n"
	"ret;\n"
	"}\n";

static bool prepare_flush(struct work *w, struct fault *why)
{
	struct flusher *f = &w->flusher;
	f->tried = true;
	size_t l2 = (size_t)work_attribute(w, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
	size_t free_bytes = 0, total = 0;
	w->cu.MemGetInfo(&free_bytes, &total);
	f->bytes = l2 ? l2 * 4 : (size_t)256 << 20;
	if (f->bytes > free_bytes / 4)
		f->bytes = free_bytes / 4;
	f->bytes &= ~(size_t)255;
	if (f->bytes < 2 * l2)
		return fault_set(why, FAULT_OUT_OF_MEMORY, "no room for a buffer that empties L2");
	work_step(w, "compiling the kernel that empties L2");
	if (!cu_ok(w, w->cu.ModuleLoadData(&f->module, flush_ptx), "cuModuleLoadData(flush)", why) ||
	    !cu_ok(w, w->cu.ModuleGetFunction(&f->function, f->module, "pmpp_flush_l2"),
	           "cuModuleGetFunction", why) ||
	    !cu_ok(w, w->cu.MemAlloc(&f->buffer, f->bytes), "cuMemAlloc", why))
		return false;
	if (!cu_ok(w, w->cu.MemsetD8Async(f->buffer, 0, f->bytes, w->stream), "cuMemsetD8Async", why)) {
		w->cu.MemFree(f->buffer);
		return false;
	}
	f->blocks = (unsigned)work_attribute(w, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) * 8;
	f->ready = true;
	return true;
}

bool time_flush(struct work *w, struct fault *why)
{
	struct flusher *f = &w->flusher;
	if (!f->tried) {
		struct fault no_flush = { 0 };
		prepare_flush(w, &no_flush);
		if (w->poisoned)
			*why = no_flush;
	}
	if (!f->ready)
		return !w->poisoned;
	uint64_t vectors = f->bytes / 16;
	void *args[] = { &f->buffer, &vectors, &f->buffer };
	return cu_ok(
		w, w->cu.LaunchKernel(f->function, f->blocks, 1, 1, 256, 1, 1, 0, w->stream, args, NULL),
		"cuLaunchKernel(flush)", why);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Quantile by linear interpolation between order statistics. */
static double quantile(const double *sorted, unsigned n, double q)
{
	double at = q * (n - 1);
	unsigned i = (unsigned)at;
	double part = at - i;
	return i + 1 < n ? sorted[i] * (1 - part) + sorted[i + 1] * part : sorted[n - 1];
}

static void summarise(double *ns, unsigned n, struct run_timing *t)
{
	qsort(ns, n, sizeof *ns, by_value);
	t->n = n;
	t->median_ns = quantile(ns, n, 0.5);
	t->q1_ns = quantile(ns, n, 0.25);
	t->q3_ns = quantile(ns, n, 0.75);
	t->min_ns = ns[0];
	t->max_ns = ns[n - 1];
}

struct events {
	unsigned n;
	CUevent e[2 * MAX_REPEAT];
};

static bool make_events(struct work *w, struct events *ev, unsigned n, struct fault *why)
{
	for (; ev->n < n; ev->n++)
		if (!cu_ok(w, w->cu.EventCreate(&ev->e[ev->n], CU_EVENT_DEFAULT), "cuEventCreate", why))
			return false;
	return true;
}

static void drop_events(struct work *w, struct events *ev)
{
	for (; ev->n && !w->poisoned; ev->n--)
		w->cu.EventDestroy(ev->e[ev->n - 1]);
}

/* Launches @i-th: restore, empty L2, event, launch, event. */
static bool one(struct work *w, const struct timed *t, struct events *ev, unsigned i, bool cold,
                struct fault *why)
{
	return (!t->restore || t->restore(w, t->ctx, why)) && (!cold || time_flush(w, why)) &&
	       cu_ok(w, w->cu.EventRecord(ev->e[2 * i], w->stream), "cuEventRecord", why) &&
	       t->launch(w, t->ctx, why) &&
	       cu_ok(w, w->cu.EventRecord(ev->e[2 * i + 1], w->stream), "cuEventRecord", why);
}

static bool elapsed(struct work *w, const struct events *ev, unsigned i, double *ns,
                    struct fault *why)
{
	float ms = 0;
	if (!cu_ok(w, w->cu.EventElapsedTime(&ms, ev->e[2 * i], ev->e[2 * i + 1]), "cuEventElapsedTime",
	           why))
		return false;
	*ns = (double)ms * 1e6;
	return true;
}

static bool wait(struct work *w, struct fault *why)
{
	return cu_ok(w, w->cu.StreamSynchronize(w->stream), "cuStreamSynchronize", why);
}

bool time_median(struct work *w, const struct timed *t, struct run_timing *out, struct fault *why)
{
	struct events ev = { 0 };
	double ns[MAX_REPEAT];
	memset(out, 0, sizeof *out);
	bool ok = false, cold = !t->warm_l2;

	/* Warm-up, which also says how many launches fit. */
	work_step(w, "timing launches: warm-up");
	if (!make_events(w, &ev, 2, why) || !one(w, t, &ev, 0, cold, why) || !wait(w, why) ||
	    !elapsed(w, &ev, 0, &ns[0], why))
		goto done;
	cold = cold && w->flusher.ready;
	unsigned n = t->repeat;
	if (!n) {
		double fit = BUDGET_NS / fmax(ns[0], 1);
		n = fit < 3 ? 3 : fit > 50 ? 50 : (unsigned)fit;
	}
	if (n > MAX_REPEAT)
		n = MAX_REPEAT;
	if (!make_events(w, &ev, 2 * n, why))
		goto done;
	work_step(w, "timing %u launches", n);
	const bool slow = ns[0] > 2e7; /* then wait for each, to be cancelled between two */
	for (unsigned i = 0; i < n; i++) {
		if (!one(w, t, &ev, i, cold, why) || (slow && !wait(w, why)))
			goto done;
		if (slow) {
			work_step(w, "timing launch %u of %u", i + 1, n);
			work_progress(w, 0.2 + 0.3 * (i + 1) / n);
			if (work_cancelled(w)) {
				fault_set(why, FAULT_CANCELLED, "%s", "");
				goto done;
			}
		}
	}
	if (!wait(w, why))
		goto done;
	work_clocks(w, &out->sm_mhz, &out->memory_mhz);
	for (unsigned i = 0; i < n; i++)
		if (!elapsed(w, &ev, i, &ns[i], why))
			goto done;
	summarise(ns, n, out);
	out->event_ns = out->median_ns;
	out->l2_flushed = cold;

	/* The GPU's own stamps leave out the microsecond or two that events add to a launch. */
	unsigned got = 0;
	struct fault no_stamps = { 0 };
	if (activity_durations(w, t, n, ns, &got, &no_stamps) && got >= 3) {
		summarise(ns, got, out);
		out->from_activity = true;
	}
	ok = !w->poisoned;
	if (!ok)
		*why = no_stamps;
done:
	drop_events(w, &ev);
	return ok;
}
