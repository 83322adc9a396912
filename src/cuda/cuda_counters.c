/* Counter names out of metric.def; see cuda_counters.h. */
#include "cuda/cuda_counters.h"
#include "cuda/cuda_fault.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STALL_PREFIX "smsp__average_warps_issue_stalled_"
#define STALL_SUFFIX "_per_issue_active.ratio"

static const struct {
	const char *name, *title, *about;
} stalls_known[] = {
#define STALL(name_, title_, about_) { .name = #name_, .title = title_, .about = about_ },
#include "cuda/cuda_stall.def"
#undef STALL
};
#define STALLS (sizeof stalls_known / sizeof *stalls_known)

static const struct {
	const char *chip;
	enum metric_id id;
	const char *expression;
} exceptions[] = {
#define CUPTI_NAME(chip_, id_, expression_) \
	{ .chip = chip_, .id = M_##id_, .expression = expression_ },
#include "cuda/cupti_names.def"
#undef CUPTI_NAME
	{ .chip = NULL },
};

const char *stall_name(unsigned i)
{
	return i < STALLS ? stalls_known[i].name : NULL;
}

const char *stall_title(unsigned i)
{
	return i < STALLS ? stalls_known[i].title : NULL;
}

const char *stall_about(unsigned i)
{
	return i < STALLS ? stalls_known[i].about : NULL;
}

static const char *expression_of(const char *chip, enum metric_id id)
{
	if (id == M_TIME_KERNEL)
		return ""; /* never from a profiled replay: the launches are timed on their own */
	for (size_t i = 0; exceptions[i].chip; i++)
		if (exceptions[i].id == id && !strcmp(exceptions[i].chip, chip))
			return exceptions[i].expression;
	return metric_catalogue[id].cupti;
}

/* Index of a name, added if new; -1 = does not fit. */
static int counter_index(struct counter_plan *p, const char *name, size_t len)
{
	for (unsigned i = 0; i < p->n; i++)
		if (strlen(p->names[i]) == len && !memcmp(p->names[i], name, len))
			return (int)i;
	if (p->n == COUNTERS_MAX || len == 0 || len >= sizeof p->names[0])
		return -1;
	memcpy(p->names[p->n], name, len);
	p->names[p->n][len] = '\0';
	return (int)p->n++;
}

/* sum [ " / " sum ], sum = term { " + " term }, term = [ "?" ] [ number " * " ] name */
static bool parse(struct counter_plan *p, enum metric_id id, const char *s)
{
	while (*s) {
		unsigned t = p->metric[id].n;
		if (t == COUNTER_TERMS_MAX)
			return false;
		double factor = 1;
		bool optional = *s == '?';
		s += optional;
		if (*s >= '0' && *s <= '9') {
			char *end;
			factor = strtod(s, &end);
			if (strncmp(end, " * ", 3))
				return false;
			s = end + 3;
		}
		size_t len = strcspn(s, " ");
		int i = counter_index(p, s, len);
		if (i < 0)
			return false;
		p->metric[id].terms[t] =
			(struct counter_term){ .factor = factor, .counter = (unsigned)i, .optional = optional };
		p->metric[id].n = t + 1;
		s += len;
		if (!*s)
			return true;
		if (!strncmp(s, " / ", 3) && !p->metric[id].below)
			p->metric[id].below = t + 1;
		else if (strncmp(s, " + ", 3))
			return false;
		s += 3;
		if (!*s)
			return false;
	}
	return true;
}

bool counters_plan(const char *chip, bool stalls, struct counter_plan *p, char bad[160])
{
	memset(p, 0, sizeof *p);
	for (unsigned id = 0; id < METRIC_COUNT; id++)
		if (!parse(p, (enum metric_id)id, expression_of(chip, (enum metric_id)id))) {
			snprintf(bad, 160, "%s on %s: cannot read the expression \"%.100s\"",
			         metric_catalogue[id].key, chip, expression_of(chip, (enum metric_id)id));
			return false;
		}
	p->first_stall = p->n;
	for (unsigned i = 0; stalls && i < STALLS && p->n < COUNTERS_MAX; i++) {
		snprintf(p->names[p->n++], sizeof p->names[0], STALL_PREFIX "%s" STALL_SUFFIX,
		         stalls_known[i].name);
		p->n_stalls++;
	}
	return true;
}

static void drop_term(struct counter_plan *p, unsigned id, unsigned t)
{
	struct counter_term *terms = p->metric[id].terms;
	memmove(&terms[t], &terms[t + 1], (p->metric[id].n - t - 1) * sizeof *terms);
	p->metric[id].n--;
	if (t < p->metric[id].below)
		p->metric[id].below--;
}

bool counters_drop(struct counter_plan *p, unsigned i)
{
	if (i >= p->n)
		return false;
	bool lost = i >= p->first_stall;
	for (unsigned id = 0; id < METRIC_COUNT; id++)
		for (unsigned t = 0; t < p->metric[id].n;) {
			struct counter_term *term = &p->metric[id].terms[t];
			if (term->counter > i)
				term->counter--;
			else if (term->counter == i && term->optional) {
				drop_term(p, id, t);
				continue;
			} else if (term->counter == i) {
				p->metric[id].n = 0;
				lost = true;
			}
			t++;
		}
	memmove(p->names[i], p->names[i + 1], (p->n - i - 1) * sizeof p->names[0]);
	p->n--;
	if (i < p->first_stall)
		p->first_stall--;
	else
		p->n_stalls--;
	return lost;
}

double counters_metric(const struct counter_plan *p, enum metric_id id, const double *values)
{
	double sum[2] = { 0, 0 };
	const unsigned below = p->metric[id].below;
	if (!p->metric[id].n)
		return (double)NAN;
	for (unsigned t = 0; t < p->metric[id].n; t++)
		sum[below && t >= below] +=
			p->metric[id].terms[t].factor * values[p->metric[id].terms[t].counter];
	return !below ? sum[0] : sum[1] > 0 ? sum[0] / sum[1] : sum[1];
}

#define TIME_COUNTER "gpu__time_duration.sum"

void counters_add_time(struct counter_plan *p)
{
	if (p->n < COUNTERS_MAX && !p->n_stalls) {
		snprintf(p->names[p->n++], sizeof p->names[0], TIME_COUNTER);
		p->first_stall = p->n;
	}
}

double counters_time(const struct counter_plan *p, const double *values)
{
	for (unsigned i = 0; i < p->n; i++)
		if (!strcmp(p->names[i], TIME_COUNTER))
			return values[i];
	return (double)NAN;
}

void counters_values(const struct counter_plan *plan, const char *chip, const double *values,
                     double metric[METRIC_COUNT], uint16_t why[METRIC_COUNT])
{
	static struct counter_plan full; /* before counters that the chip lacks were dropped */
	char bad[160];
	counters_plan(chip, false, &full, bad);
	for (unsigned id = 0; id < METRIC_COUNT; id++) {
		const double v = metric[id] = counters_metric(plan, (enum metric_id)id, values);
		if (isfinite(v))
			why[id] = FAULT_NONE;
		else if (plan->metric[id].n)
			why[id] = FAULT_COUNTER_NAN;
		else if (full.metric[id].n || metric_catalogue[id].cupti[0])
			why[id] = FAULT_COUNTER_ABSENT;
		else
			why[id] = FAULT_NOT_COUNTED;
	}
}

unsigned counters_stall(const struct counter_plan *p, unsigned i)
{
	const char *name = p->names[i] + sizeof STALL_PREFIX - 1;
	size_t len = strlen(name) - (sizeof STALL_SUFFIX - 1);
	unsigned s = 0;
	while (s < STALLS - 1 &&
	       (strlen(stalls_known[s].name) != len || memcmp(stalls_known[s].name, name, len)))
		s++;
	return s;
}
