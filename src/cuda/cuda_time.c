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

static bool make_events(struct gpu_worker *w, struct events *ev, unsigned n, struct cuda_fault *why)
{
	for (; ev->n < n; ev->n++)
		if (!cu_ok(w, w->cu.EventCreate(&ev->e[ev->n], CU_EVENT_DEFAULT), "cuEventCreate", why))
			return false;
	return true;
}

static void drop_events(struct gpu_worker *w, struct events *ev)
{
	for (; ev->n && !w->poisoned; ev->n--)
		w->cu.EventDestroy(ev->e[ev->n - 1]);
}

/* Launches @i-th: restore, empty L2, event, launch, event. */
static bool queue_timed_launch(struct gpu_worker *w, const struct timed *t, struct events *ev,
                               unsigned i, bool cold, struct cuda_fault *why)
{
	return (!t->restore || t->restore(w, t->ctx, why)) && (!cold || flush_l2(w, why)) &&
	       cu_ok(w, w->cu.EventRecord(ev->e[2 * i], w->stream), "cuEventRecord", why) &&
	       t->launch(w, t->ctx, why) &&
	       cu_ok(w, w->cu.EventRecord(ev->e[2 * i + 1], w->stream), "cuEventRecord", why);
}

static bool elapsed(struct gpu_worker *w, const struct events *ev, unsigned i, double *ns,
                    struct cuda_fault *why)
{
	float ms = 0;
	if (!cu_ok(w, w->cu.EventElapsedTime(&ms, ev->e[2 * i], ev->e[2 * i + 1]), "cuEventElapsedTime",
	           why))
		return false;
	*ns = (double)ms * 1e6;
	return true;
}

static bool wait_for_all(struct gpu_worker *w, struct cuda_fault *why)
{
	return cu_ok(w, w->cu.StreamSynchronize(w->stream), "cuStreamSynchronize", why);
}

bool time_median(struct gpu_worker *w, const struct timed *t, struct run_timing *out,
                 struct cuda_fault *why)
{
	struct events ev = { 0 };
	double ns[MAX_REPEAT];
	memset(out, 0, sizeof *out);
	bool ok = false, cold = !t->warm_l2;

	/* Warm-up, which also says how many launches fit. */
	work_step(w, "timing launches: warm-up");
	if (!make_events(w, &ev, 2, why) || !queue_timed_launch(w, t, &ev, 0, cold, why) ||
	    !wait_for_all(w, why) || !elapsed(w, &ev, 0, &ns[0], why))
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
		if (!queue_timed_launch(w, t, &ev, i, cold, why) || (slow && !wait_for_all(w, why)))
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
	if (!wait_for_all(w, why))
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
	struct cuda_fault no_stamps = { 0 };
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
