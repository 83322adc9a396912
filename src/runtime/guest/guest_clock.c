#define _GNU_SOURCE
/*
 * The clocks; see guest_clock.h. Rules: CUDA programming guide, "Streams" and "Default stream": a
 * stream is a queue; the legacy default stream waits for all blocking streams and they for it; one
 * copy engine per direction, or one for both where the sheet has one.
 */
#include "runtime/guest/guest_clock.h"

#include <time.h>

#define MAX_RUNNING 64 /* kernels that may overlap */

static struct {
	unsigned depth;
	double began_ns, excluded_ns, waited_ns; /* excluded: spent in calls; waited: for the GPU */
	double known_ns;                         /* the host knows that what ended before is done */
	double engine_ns[3];                     /* copy engines: free from */
	double legacy_ns;                        /* the last operation of the default stream ends */
	double all_ns;
	struct {
		double end_ns, share;
	} running[MAX_RUNNING];
	unsigned n_running;
} clocks;

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

void clock_enter(void)
{
	if (clocks.depth++ == 0)
		clocks.began_ns = now_ns();
}

void clock_leave(void)
{
	if (--clocks.depth == 0)
		clocks.excluded_ns += now_ns() - clocks.began_ns;
}

double clock_host_ns(void)
{
	static double first_ns;
	const double now = clocks.depth ? clocks.began_ns : now_ns();
	if (first_ns <= 0)
		first_ns = now;
	return now - first_ns - clocks.excluded_ns + clocks.waited_ns;
}

void clock_pass(double ns)
{
	clocks.waited_ns += ns;
}

void clock_known(double ns)
{
	if (ns > clocks.known_ns)
		clocks.known_ns = ns;
}

double clock_known_ns(void)
{
	return clocks.known_ns;
}

void clock_wait_until(double ns)
{
	const double now = clock_host_ns();
	clock_known(ns);
	if (ns > now)
		clock_pass(ns - now);
}

static double later(double a, double b)
{
	return a > b ? a : b;
}

/* The earliest time from @from on at which @share of the SMs is free; kernels start in order. */
static double sm_free_ns(double from, double share)
{
	for (;;) {
		double used = 0, next = 0;
		for (unsigned i = 0; i < clocks.n_running; i++)
			if (clocks.running[i].end_ns > from) {
				used += clocks.running[i].share;
				next =
					next > 0 && next < clocks.running[i].end_ns ? next : clocks.running[i].end_ns;
			}
		if (used <= 0 || used + share <= 1.0)
			return from;
		from = next;
	}
}

static void sm_take(double start, double end, double share)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < clocks.n_running; i++)
		if (clocks.running[i].end_ns > start)
			clocks.running[kept++] = clocks.running[i];
	clocks.n_running = kept;
	if (kept == MAX_RUNNING)
		clocks.n_running--; /* the oldest of many small ones */
	clocks.running[clocks.n_running].end_ns = end;
	clocks.running[clocks.n_running++].share = share;
}

static bool is_blocking(const struct guest_stream *s)
{
	return !(s->flags & cudaStreamNonBlocking);
}

double clock_stream_done_ns(const struct guest_stream *s)
{
	double ready = s->ready_ns;
	if (s->id == 0) {
		for (const struct guest_stream *o = guest.streams; o; o = o->next)
			if (is_blocking(o))
				ready = later(ready, o->ready_ns);
	} else if (is_blocking(s)) {
		ready = later(ready, clocks.legacy_ns);
	}
	return ready;
}

static struct clock_span place(struct guest_stream *s, double called_ns, enum guest_engine engine,
                               double ns, double share, double call_ns)
{
	struct clock_span span = { .call_ns = called_ns };
	double start = later(span.call_ns + call_ns, clock_stream_done_ns(s));
	const unsigned copy = guest.gpu.copy_engines > 1 ? (unsigned)engine : GUEST_ENGINE_H2D;
	if (engine == GUEST_ENGINE_SM)
		start = sm_free_ns(start, share);
	else if (engine != GUEST_ENGINE_NONE)
		start = later(start, clocks.engine_ns[copy]);
	span.start_ns = start;
	span.end_ns = start + ns;
	if (engine == GUEST_ENGINE_SM)
		sm_take(span.start_ns, span.end_ns, share);
	else if (engine != GUEST_ENGINE_NONE)
		clocks.engine_ns[copy] = span.end_ns;
	s->ready_ns = span.end_ns;
	if (s->id == 0)
		clocks.legacy_ns = span.end_ns;
	clocks.all_ns = later(clocks.all_ns, span.end_ns);
	return span;
}

struct clock_span clock_place(struct guest_stream *s, enum guest_engine engine, double ns,
                              double share, double call_ns)
{
	const double now = clock_host_ns();
	clocks.waited_ns += call_ns;
	return place(s, now, engine, ns, share, call_ns);
}

struct clock_span clock_place_held(struct guest_stream *s, double call_ns, double ns, double share,
                                   double launch_call_ns)
{
	const double held = clock_host_ns() - call_ns - launch_call_ns;
	return place(s, call_ns, GUEST_ENGINE_SM, later(ns, held), share, launch_call_ns);
}

double clock_all_done_ns(void)
{
	return clocks.all_ns;
}
