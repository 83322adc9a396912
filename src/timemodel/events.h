/* What happens when, in a simulation: a heap, the next event first. */
#ifndef PMPP_TIMEMODEL_EVENTS_H
#define PMPP_TIMEMODEL_EVENTS_H

#include <stddef.h>
#include <stdint.h>

struct event {
	double ns;
	int32_t who;
};

struct events {
	struct event *at; /* room for all that can be open at a time; the owner's */
	size_t n;
};

static inline void event_post(struct events *e, double ns, int32_t who)
{
	size_t i = e->n++;
	for (; i && e->at[(i - 1) / 2].ns > ns; i = (i - 1) / 2)
		e->at[i] = e->at[(i - 1) / 2];
	e->at[i] = (struct event){ ns, who };
}

/* There is one. */
static inline struct event event_next(struct events *e)
{
	const struct event first = e->at[0], last = e->at[--e->n];
	size_t i = 0, child;
	while ((child = 2 * i + 1) < e->n) {
		child += child + 1 < e->n && e->at[child + 1].ns < e->at[child].ns;
		if (e->at[child].ns >= last.ns)
			break;
		e->at[i] = e->at[child];
		i = child;
	}
	e->at[i] = last;
	return first;
}

#endif
