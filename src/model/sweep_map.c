/* The map's arithmetic; see sweep_map.h. */
#include "model/sweep_map.h"

#include "base/mem.h"
#include "base/text.h"
#include "model/ladder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- axes --- */

#define AROUND 2          /* values on either side of a size: it is no knob, and costs time */
#define SPILL_MATTERS 128 /* bytes: a few words outside the loops do not matter */

static bool has_values(const struct selection *sel, unsigned p)
{
	const int64_t at = sel->params[p];
	return kernel_param_step(sel->kernel, p, at, 1) != at ||
	       kernel_param_step(sel->kernel, p, at, -1) != at;
}

/* Knobs come first, then what is compiled in, then sizes. */
enum { A_KNOB, COMPILED_IN, A_SIZE, RANKS };
static int rank_of(const struct param_desc *p)
{
	return p->role != PARAM_PLAIN ? A_KNOB : p->kind == PARAM_COMPILE ? COMPILED_IN : A_SIZE;
}

/* Parameters worth an axis, in the order of their ranks. */
static unsigned candidates(const struct selection *sel, unsigned out[KERNEL_MAX_PARAMS])
{
	const struct kernel_desc *k = sel->kernel;
	unsigned n = 0;
	for (int rank = 0; rank < RANKS; rank++)
		for (unsigned i = 0; i < k->n_params; i++)
			if (k->params[i].kind != PARAM_STREAM && kernel_param_used(k, sel->variant, i) &&
			    rank_of(&k->params[i]) == rank && has_values(sel, i))
				out[n++] = i;
	return n;
}

/* The values of @param around the one chosen, in order; more on one side where the other ends. */
static unsigned values_around(const struct selection *sel, unsigned param, int64_t out[SWEEP_SIDE])
{
	const struct kernel_desc *k = sel->kernel;
	const unsigned most = rank_of(&k->params[param]) == A_SIZE ? 1 + 2 * AROUND : SWEEP_SIDE;
	int64_t below[SWEEP_SIDE], above[SWEEP_SIDE], low = sel->params[param], high = low;
	unsigned downs = 0, ups = 0;
	for (bool more = true; more && 1 + downs + ups < most;) {
		const int64_t up = kernel_param_step(k, param, high, 1);
		more = up > high;
		if (more)
			above[ups++] = high = up;
		const int64_t down = kernel_param_step(k, param, low, -1);
		if (down < low && 1 + downs + ups < most) {
			below[downs++] = low = down;
			more = true;
		}
	}
	for (unsigned i = 0; i < downs; i++)
		out[i] = below[downs - 1 - i];
	out[downs] = sel->params[param];
	for (unsigned i = 0; i < ups; i++)
		out[downs + 1 + i] = above[i];
	return 1 + downs + ups;
}

/* The @pair-th of all pairs i < j of @n. */
static void pair_of(unsigned n, unsigned pair, unsigned *a, unsigned *b)
{
	for (*a = 0; *a + 2 < n && pair >= n - 1 - *a; ++*a)
		pair -= n - 1 - *a;
	*b = *a + 1 + pair;
}

static void refuse_impossible(struct sweep_map *m)
{
	if (!m->sel.kernel->plan && !m->sel.kernel->plan_user) /* one that is only looked at */
		return;
	for (unsigned i = 0; i < sweep_map_points(m); i++) {
		const struct selection sel = sweep_map_selection(m, i);
		struct launch_plan plan;
		struct err err = { 0 };
		if (selection_plan(&sel, &plan, &err))
			continue;
		m->point[i].state = SWEEP_REFUSED;
		snprintf(m->point[i].why, sizeof m->point[i].why, "%.159s", err.msg);
	}
}

struct sweep_map *sweep_map_new(const struct selection *sel, unsigned pair)
{
	struct sweep_map *m = mem_zalloc(sizeof *m);
	unsigned found[KERNEL_MAX_PARAMS];
	const unsigned n = candidates(sel, found);
	m->sel = *sel;
	m->running = -1;
	m->pairs = n < 2 ? n : n * (n - 1) / 2;
	if (!n)
		return m;
	unsigned across = 0, down = 0;
	m->pair = pair % m->pairs;
	if (n > 1)
		pair_of(n, m->pair, &across, &down);
	m->param[SWEEP_ACROSS] = found[across];
	m->param[SWEEP_DOWN] = found[down];
	m->n[SWEEP_ACROSS] = values_around(sel, found[across], m->value[SWEEP_ACROSS]);
	m->n[SWEEP_DOWN] = n > 1 ? values_around(sel, found[down], m->value[SWEEP_DOWN]) : 1;
	if (n == 1)
		m->value[SWEEP_DOWN][0] = sel->params[found[0]];
	refuse_impossible(m);
	return m;
}

/* --- points --- */

unsigned sweep_map_points(const struct sweep_map *m)
{
	return m->n[SWEEP_ACROSS] * m->n[SWEEP_DOWN];
}

struct selection sweep_map_selection(const struct sweep_map *m, unsigned i)
{
	struct selection sel = m->sel;
	const unsigned across = m->n[SWEEP_ACROSS] ? m->n[SWEEP_ACROSS] : 1;
	sel.params[m->param[SWEEP_DOWN]] = m->value[SWEEP_DOWN][i / across];
	sel.params[m->param[SWEEP_ACROSS]] = m->value[SWEEP_ACROSS][i % across];
	return sel;
}

int sweep_map_find(const struct sweep_map *m, const struct selection *sel)
{
	for (unsigned i = 0; i < sweep_map_points(m); i++) {
		const struct selection point = sweep_map_selection(m, i);
		if (selection_equal(&point, sel))
			return (int)i;
	}
	return -1;
}

bool sweep_map_fits(const struct sweep_map *m, const struct selection *sel)
{
	return m->sel.kernel == sel->kernel && sweep_map_find(m, sel) >= 0;
}

bool sweep_map_put(struct sweep_map *m, const struct run_record *r)
{
	const int i = m->sel.kernel == r->sel.kernel ? sweep_map_find(m, &r->sel) : -1;
	if (i < 0)
		return false;
	const struct metric_value *time = &r->metrics.v[M_TIME_KERNEL];
	struct sweep_point *p = &m->point[i];
	*p = (struct sweep_point){ .state = SWEEP_RAN,
		                       .time_ns = metric_known(&r->metrics, M_TIME_KERNEL)
		                                      ? metric_get(&r->metrics, M_TIME_KERNEL)
		                                      : NAN,
		                       .occupancy = r->occ.pct,
		                       .registers = r->occ_in.regs_per_thread,
		                       .spill_bytes = r->spill_bytes,
		                       .origin = time->origin,
		                       .basis = r->metrics.v[M_INST_WARP].origin };
	m->in_bytes = ladder_in_bytes(&r->cost);
	const double work = m->in_bytes ? r->cost.min_bytes : r->cost.flop;
	m->rated = work > 0;
	p->rate = (m->rated ? work : 1e6) / p->time_ns;
	if (metric_known(&r->metrics, M_TIME_BOTTLENECK))
		snprintf(p->bottleneck, sizeof p->bottleneck, "%.63s",
		         r->metrics.v[M_TIME_BOTTLENECK].text);
	if (r->verify == VERIFY_WRONG) {
		p->state = SWEEP_FAILED;
		snprintf(p->why, sizeof p->why, "wrong result: %.140s", r->verify_text);
	}
	return true;
}

static int distance(const struct sweep_map *m, unsigned a, unsigned b)
{
	const int across = (int)m->n[SWEEP_ACROSS];
	return abs((int)a % across - (int)b % across) + abs((int)a / across - (int)b / across);
}

int sweep_map_due(const struct sweep_map *m, unsigned from)
{
	int best = -1;
	for (unsigned i = 0; i < sweep_map_points(m); i++)
		if (m->point[i].state == SWEEP_DUE &&
		    (best < 0 || distance(m, i, from) < distance(m, (unsigned)best, from)))
			best = (int)i;
	return best;
}

unsigned sweep_map_ran(const struct sweep_map *m)
{
	unsigned n = 0;
	for (unsigned i = 0; i < sweep_map_points(m); i++)
		n += m->point[i].state == SWEEP_RAN;
	return n;
}

bool sweep_point_too_short(const struct sweep_point *p)
{
	return p->origin == ORIGIN_MODELLED && p->spill_bytes > SPILL_MATTERS;
}

int sweep_map_best(const struct sweep_map *m)
{
	int best = -1;
	for (unsigned i = 0; i < sweep_map_points(m); i++) {
		const struct sweep_point *p = &m->point[i];
		if (p->state != SWEEP_RAN || isnan(p->rate) || sweep_point_too_short(p))
			continue;
		if (best < 0 || p->rate > m->point[best].rate)
			best = (int)i;
	}
	return best;
}

const char *sweep_map_unit(const struct sweep_map *m)
{
	return !m->rated ? "launches per ms" : m->in_bytes ? "GB/s" : "GFLOPS";
}
