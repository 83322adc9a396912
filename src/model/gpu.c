/*
 * The GPU sheets of this process: those built in, and those that came from a file, a device or a
 * snapshot, each kept once; see gpu.h.
 */
#include "model/gpu.h"
#include "base/asset.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/yaml_load.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "presets/gpus"

/* --- the built-in table --- */

static struct {
	pthread_once_t once;
	struct gpu_spec *specs;
	size_t n;
} table = { .once = PTHREAD_ONCE_INIT };

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct gpu_spec *)a)->id, ((const struct gpu_spec *)b)->id);
}

static void load_table(void)
{
	char name[64];
	for (size_t i = 0; i < asset_count(); i++) {
		const struct asset *a = asset_at(i);
		if (!asset_in(a, FOLDER, ".yaml", name, sizeof name))
			continue;
		table.specs = mem_realloc(table.specs, table.n + 1, sizeof *table.specs);
		/* The loader test over the folder holds every sheet to its rules: only memory can lack. */
		while (!gpu_parse(a->data, a->len, a->path, &table.specs[table.n], NULL))
			mem_give_reserve(a->len);
		table.n++;
	}
	if (table.n)
		qsort(table.specs, table.n, sizeof *table.specs, by_id);
}

size_t gpu_count(void)
{
	pthread_once(&table.once, load_table);
	return table.n;
}

const struct gpu_spec *gpu_at(size_t i)
{
	return i < gpu_count() ? &table.specs[i] : NULL;
}

const struct gpu_spec *gpu_find(const char *id)
{
	for (size_t i = 0; i < gpu_count(); i++)
		if (str_ieq(table.specs[i].id, id))
			return &table.specs[i];
	return NULL;
}

/* --- sheets from elsewhere --- */

static bool same_sheet(const struct gpu_spec *a, const struct gpu_spec *b)
{
	bool same = !strcmp(a->id, b->id) && !strcmp(a->name, b->name) && !strcmp(a->arch, b->arch) &&
	            !strcmp(a->chip, b->chip) && a->live == b->live && a->n_sources == b->n_sources;
#define X(type, field, least, most, about) \
	same = same && !(a->field < b->field || a->field > b->field);
	GPU_FIGURES(X)
	GPU_OPTIONAL_FIGURES(X)
#undef X
	for (unsigned i = 0; same && i < a->n_sources; i++)
		same = !strcmp(a->sources[i].figures, b->sources[i].figures) &&
		       !strcmp(a->sources[i].text, b->sources[i].text);
	return same;
}

const struct gpu_spec *gpu_intern(const struct gpu_spec *g)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct gpu_spec **interned;
	static size_t n_interned;
	const struct gpu_spec *built_in = gpu_find(g->id);
	if (built_in && same_sheet(built_in, g))
		return built_in;
	pthread_mutex_lock(&lock);
	size_t i = 0;
	while (i < n_interned && !same_sheet(interned[i], g))
		i++;
	if (i == n_interned) {
		interned = mem_realloc(interned, n_interned + 1, sizeof(struct gpu_spec *));
		interned[n_interned] = mem_alloc(sizeof *g);
		*interned[n_interned++] = *g;
	}
	const struct gpu_spec *found = interned[i];
	pthread_mutex_unlock(&lock);
	return found;
}

static bool load_file(const char *path, const struct gpu_spec **out, struct err *err)
{
	struct gpu_spec g;
	struct text t = { 0 };
	if (!file_read(path, YAML_MAX_BYTES, &t, err))
		return err_remedy(err,
		                  "give the id of a built-in sheet (list gpus) or the path of a YAML file");
	const bool good = gpu_parse(t.s ? t.s : "", t.len, path, &g, err);
	text_free(&t);
	if (good)
		*out = gpu_intern(&g);
	return good;
}

bool gpu_load(const char *id_or_path, const struct gpu_spec **out, struct err *err)
{
	if (file_looks_like_path(id_or_path, ".yaml"))
		return load_file(id_or_path, out, err);
	const struct gpu_spec *g = gpu_find(id_or_path);
	if (g) {
		*out = g;
		return true;
	}
	const size_t n = gpu_count();
	const char **ids = mem_calloc(n + 1, sizeof *ids);
	struct text list = { 0 };
	for (size_t i = 0; i < n; i++) {
		ids[i] = gpu_at(i)->id;
		text_add(&list, "%s%s", i ? " " : "", ids[i]);
	}
	const char *near = str_nearest(id_or_path, ids, n);
	if (near)
		err_set(err, ERR_USAGE, "no GPU sheet '%.60s'; did you mean '%s'?", id_or_path, near);
	else
		err_set(err, ERR_USAGE, "no GPU sheet '%.60s'", id_or_path);
	err_remedy(err, "sheets: %s; or the path of a YAML file", list.s ? list.s : "none");
	text_free(&list);
	free(ids);
	return false;
}

/* --- derived --- */

unsigned gpu_max_warps_per_sm(const struct gpu_spec *g)
{
	return g->warp_size ? g->max_threads_per_sm / g->warp_size : 0;
}

double gpu_ridge_flop_per_byte(const struct gpu_spec *g)
{
	return g->dram_gbs > 0 ? g->fp32_gflops / g->dram_gbs : 0;
}

const char *gpu_sm_name(const struct gpu_spec *g, char *out, size_t n)
{
	snprintf(out, n, "sm_%d%d", g->cc_major, g->cc_minor);
	return out;
}
