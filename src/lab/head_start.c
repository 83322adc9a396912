/* See head_start.h. */
#include "head_start.h"

#include "base/mem.h"
#include "workbench.h"

#include <pthread.h>
#include <stdlib.h>

#define WORTH_IT ((double)(256 << 20)) /* bytes */

struct head_start {
	pthread_t thread;
	struct selection sel;
	struct launch_plan plan;
	struct run_buffers made;
};

static void *fill_early(void *arg)
{
	struct head_start *h = arg;
	struct err ignored = { 0 };
	run_buffers_make(&h->made, &h->sel, &h->plan, true, NULL, &ignored);
	return NULL;
}

void head_start(struct workbench *w, const struct selection *sel)
{
	struct err ignored = { 0 };
	struct head_start *h = mem_zalloc(sizeof *h);
	double bytes = 0;
	h->sel = *sel;
	const bool legal = !w->early && !sel->kernel->plan_user &&
	                   selection_plan(sel, &h->plan, &ignored) &&
	                   run_buffers_fit_memory(&h->plan, &ignored);
	for (unsigned b = 0; b < h->plan.n_buffers && legal; b++)
		bytes += (double)h->plan.buffers[b].count * (double)elem_size(h->plan.buffers[b].type);
	if (bytes >= WORTH_IT && pthread_create(&h->thread, NULL, fill_early, h) == 0)
		w->early = h;
	else
		free(h);
}

void head_start_end(struct workbench *w)
{
	if (!w->early)
		return;
	pthread_join(w->early->thread, NULL);
	run_buffers_free(&w->kept);
	w->kept = w->early->made;
	free(w->early);
	w->early = NULL;
}
