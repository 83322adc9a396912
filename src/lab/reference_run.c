/* Recorded runs; see reference_run.h. */
#include "lab/reference_run.h"

#include "base/asset.h"
#include "base/text.h"
#include "base/mem.h"
#include "model/ladder.h"
#include "registry.h"
#include "session_file.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDINGS_MAX 64

struct library_brief {
	struct selection sel; /* of the ladder: its variant says nothing */
	char name[32];
	double ns;
};

static struct {
	pthread_mutex_t lock;
	bool read[RECORDINGS_MAX]; /* by index of the asset among the recordings */
	size_t n, n_libraries;
	struct run_brief **briefs; /* each stays where it is */
	struct library_brief **libraries;
	char broken[sizeof((struct err *)0)->msg];
} store = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void add_brief(const struct run_brief *b)
{
	struct run_brief *copy = mem_alloc(sizeof *copy);
	*copy = *b;
	store.briefs = mem_realloc(store.briefs, store.n + 1, sizeof(struct run_brief *));
	store.briefs[store.n++] = copy;
}

static void add_ladder(const struct ladder *l, const char *source)
{
	struct run_brief b;
	for (unsigned i = 0; i < l->n; i++)
		if (l->rungs[i].record) {
			brief_of(l->rungs[i].record, source, &b);
			add_brief(&b);
		}
	if (!(l->library_ns > 0))
		return;
	struct library_brief *x = mem_zalloc(sizeof *x);
	x->sel = l->sel;
	x->ns = l->library_ns;
	memcpy(x->name, l->library_name, sizeof x->name);
	store.libraries =
		mem_realloc(store.libraries, store.n_libraries + 1, sizeof(struct library_brief *));
	store.libraries[store.n_libraries++] = x;
}

static void read_recording(const struct asset *a)
{
	struct session s;
	char note[200];
	struct err err = { 0 };
	if (!session_parse(a->data, a->len, a->path, &s, note, sizeof note, &err)) {
		snprintf(store.broken, sizeof store.broken, "%s", err.msg);
		return;
	}
	for (unsigned i = 0; i < s.n_history; i++)
		add_brief(&s.history[i]);
	if (s.ladder)
		add_ladder(s.ladder, s.source);
	session_drop(&s);
}

/* With the lock held: every recording that speaks of kernel @name; NULL = all. */
static void read_those_of(const char *name)
{
	char mention[64] = "", recording[64];
	size_t at = 0;
	if (name)
		snprintf(mention, sizeof mention, "\"kernel\": \"%s\"", name);
	for (size_t i = 0; i < asset_count() && at < RECORDINGS_MAX; i++) {
		const struct asset *a = asset_at(i);
		if (!asset_in(a, REFERENCE_RUN_FOLDER, ".json", recording, sizeof recording))
			continue;
		if (!store.read[at] && strstr(a->data, mention)) {
			store.read[at] = true;
			read_recording(a);
		}
		at++;
	}
}

const struct run_brief *reference_run_find(const struct selection *sel)
{
	const struct run_brief *found = NULL;
	if (!sel->kernel)
		return NULL;
	pthread_mutex_lock(&store.lock);
	read_those_of(sel->kernel->name);
	for (size_t i = 0; i < store.n && !found; i++)
		if (brief_same_launch(store.briefs[i], sel))
			found = store.briefs[i];
	pthread_mutex_unlock(&store.lock);
	return found;
}

void reference_run_of_session(struct session *s)
{
	const struct run_brief *b = s->now ? reference_run_find(&s->now->sel) : NULL;
	free(s->reference_run);
	s->reference_run = NULL;
	if (!b)
		return;
	char source[17];
	source_hash(kernel_source(b->sel.kernel), source);
	s->reference_run = mem_alloc(sizeof *s->reference_run);
	*s->reference_run = *b;
	s->reference_run_earlier = strcmp(source, b->source) != 0;
}

/* The library knows nothing of families and tiles: the matrices' sizes are what counts. */
static bool same_product(const struct selection *a, const struct selection *b)
{
	int64_t x[3], y[3];
	return kernel_product(a->kernel, a->params, x) && kernel_product(b->kernel, b->params, y) &&
	       !memcmp(x, y, sizeof x);
}

void reference_runs_of_ladder(struct ladder *l)
{
	for (unsigned i = 0; i < l->n; i++) {
		const struct selection sel = ladder_selection(l, i);
		const struct run_brief *b = reference_run_find(&sel);
		if (!b || !metric_known(&b->metrics, M_TIME_KERNEL))
			continue;
		l->rungs[i].reference_ns = metric_get(&b->metrics, M_TIME_KERNEL);
		snprintf(l->reference_machine, sizeof l->reference_machine, "%s", b->sel.gpu->name);
	}
	pthread_mutex_lock(&store.lock);
	for (size_t i = 0; i < store.n_libraries; i++) {
		const struct selection sel = store.libraries[i]->sel;
		if (!same_product(&sel, &l->sel))
			continue;
		l->reference_library_ns = store.libraries[i]->ns;
		memcpy(l->reference_library_name, store.libraries[i]->name,
		       sizeof l->reference_library_name);
		snprintf(l->reference_machine, sizeof l->reference_machine, "%s", sel.gpu->name);
	}
	pthread_mutex_unlock(&store.lock);
}

unsigned reference_run_count(char *broken, size_t n)
{
	pthread_mutex_lock(&store.lock);
	read_those_of(NULL);
	const unsigned count = (unsigned)store.n;
	snprintf(broken, n, "%s", store.broken);
	pthread_mutex_unlock(&store.lock);
	return count;
}
