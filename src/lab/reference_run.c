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

struct recorded_brief {
	struct run_brief brief;
	char gpu[64]; /* the recording's folder: a sheet's id */
};

struct library_brief {
	struct selection sel; /* of the ladder: its variant says nothing */
	char name[32];
	double ns;
};

static struct {
	pthread_mutex_t lock;
	bool *read; /* by index of the asset */
	size_t n, n_libraries;
	struct recorded_brief **briefs; /* each stays where it is */
	struct library_brief **libraries;
	char broken[sizeof((struct err *)0)->msg];
} store = { .lock = PTHREAD_MUTEX_INITIALIZER };

bool reference_run_recording(const struct asset *a, char gpu[64], char name[64])
{
	static const char root[] = "presets/";
	char folder[96];
	if (strncmp(a->path, root, sizeof root - 1) != 0)
		return false;
	const char *start = a->path + sizeof root - 1;
	snprintf(gpu, 64, "%.*s", (int)strcspn(start, "/"), start);
	snprintf(folder, sizeof folder, "%s%s", root, gpu);
	return asset_in(a, folder, ".json", name, 64);
}

static void add_brief(const struct run_brief *b, const char *gpu)
{
	struct recorded_brief *x = mem_zalloc(sizeof *x);
	x->brief = *b;
	snprintf(x->gpu, sizeof x->gpu, "%s", gpu);
	store.briefs = mem_realloc(store.briefs, store.n + 1, sizeof(struct recorded_brief *));
	store.briefs[store.n++] = x;
}

static void add_ladder(const struct ladder *l, const char *source, const char *gpu)
{
	struct run_brief b;
	for (unsigned i = 0; i < l->n; i++)
		if (l->rungs[i].record) {
			brief_of(l->rungs[i].record, source, &b);
			add_brief(&b, gpu);
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

static void read_recording(const struct asset *a, const char *gpu)
{
	struct session s;
	char note[200];
	struct err err = { 0 };
	if (!session_parse(a->data, a->len, a->path, &s, note, sizeof note, &err)) {
		snprintf(store.broken, sizeof store.broken, "%s", err.msg);
		return;
	}
	for (unsigned i = 0; i < s.n_history; i++)
		add_brief(&s.history[i], gpu);
	if (s.ladder)
		add_ladder(s.ladder, s.source, gpu);
	session_drop(&s);
}

/* With the lock held: every recording that speaks of kernel @name; NULL = all. */
static void read_those_of(const char *name)
{
	char mention[64] = "", gpu[64], recording[64];
	if (!store.read)
		store.read = mem_calloc(asset_count(), sizeof *store.read);
	if (name)
		snprintf(mention, sizeof mention, "\"kernel\": \"%s\"", name);
	for (size_t i = 0; i < asset_count(); i++) {
		const struct asset *a = asset_at(i);
		if (store.read[i] || !reference_run_recording(a, gpu, recording) ||
		    !strstr(a->data, mention))
			continue;
		store.read[i] = true;
		read_recording(a, gpu);
	}
}

/* A sheet goes by its id, a device that is there by its name. */
static bool recorded_on(const struct recorded_brief *x, const struct gpu_spec *gpu)
{
	return gpu && (!strcmp(x->gpu, gpu->id) || !strcmp(x->brief.sel.gpu->name, gpu->name));
}

const struct run_brief *reference_run_find(const struct selection *sel)
{
	const struct run_brief *found = NULL;
	if (!sel->kernel)
		return NULL;
	pthread_mutex_lock(&store.lock);
	read_those_of(sel->kernel->name);
	for (size_t i = 0; i < store.n; i++) {
		const struct recorded_brief *x = store.briefs[i];
		if (!brief_same_launch(&x->brief, sel))
			continue;
		const bool here = recorded_on(x, sel->gpu);
		if (here || !found)
			found = &x->brief;
		if (here)
			break;
	}
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
