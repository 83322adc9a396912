/*
 * Tables of kernels and back ends; the lists are made by make from the folders.
 * Knows names and order, nothing of what they do.
 */
#include "registry.h"

#include "base/asset.h"
#include "base/text.h"
#include "userkernel/user_list.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define KERNEL(name) extern const struct kernel_desc kernel_##name;
#include "kernels.def"
#undef KERNEL

static const struct kernel_desc *const kernels[] = {
#define KERNEL(name) &kernel_##name,
#include "kernels.def"
#undef KERNEL
};

static const struct backend_ops *const backends[] = {
#define BACKEND(name) &backend_##name,
#include "backends.def"
#undef BACKEND
};

size_t kernel_count(void)
{
	return ARRAY_LEN(kernels) + (user_kernel_newest() != NULL);
}

const struct kernel_desc *kernel_at(size_t i)
{
	return i < ARRAY_LEN(kernels) ? kernels[i] : user_kernel_newest();
}

const char *kernel_source(const struct kernel_desc *k)
{
	char path[128];
	if (k->source)
		return k->source;
	snprintf(path, sizeof path, "kernels/%s.cu", k->name);
	const struct asset *a = asset_find(path);
	return a ? a->data : "";
}

const struct kernel_desc *kernel_find(const char *name)
{
	for (size_t i = 0; i < kernel_count(); i++)
		if (str_ieq(kernel_at(i)->name, name))
			return kernel_at(i);
	return NULL;
}

size_t backend_count(void)
{
	return ARRAY_LEN(backends);
}

const struct backend_ops *backend_at(size_t i)
{
	return backends[i];
}

const struct backend_ops *backend_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(backends); i++)
		if (str_ieq(backends[i]->name, name))
			return backends[i];
	return NULL;
}

/* One answer per back end; `known` publishes it. Probing is done one back end at a time. */
static pthread_mutex_t probing = PTHREAD_MUTEX_INITIALIZER;
static struct {
	atomic_bool known;
	struct backend_status status;
} answers[ARRAY_LEN(backends)];

static size_t backend_index(const struct backend_ops *ops)
{
	size_t i = 0;
	while (i + 1 < ARRAY_LEN(backends) && backends[i] != ops)
		i++;
	return i;
}

const struct backend_status *backend_peek(const struct backend_ops *ops)
{
	size_t i = backend_index(ops);
	return atomic_load(&answers[i].known) ? &answers[i].status : NULL;
}

const struct backend_status *backend_probe(const struct backend_ops *ops)
{
	size_t i = backend_index(ops);
	pthread_mutex_lock(&probing);
	if (!atomic_load(&answers[i].known)) {
		answers[i].status.usable = ops->probe(&answers[i].status.info, &answers[i].status.err);
		atomic_store(&answers[i].known, true);
	}
	pthread_mutex_unlock(&probing);
	return &answers[i].status;
}
