/*
 * Kernels by name: the first launch of each tells the explorer what it is called, as the program's
 * own C++ library spells it.
 */
#include "runtime/inject/inject.h"

#include "base/demangle.h"
#include "base/mem.h"
#include "base/text.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct {
	pthread_mutex_t lock;
	unsigned n, cap;
	char **name;
	unsigned last; /* found last: launches come in rows */
} kernels = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void tell(unsigned number, const struct kernel_facts *k)
{
	struct wire_msg m;
	struct record_kernel r = {
		.id = number,
		.registers = k->registers,
		.allocated_registers = k->allocated,
		.static_shared_bytes = k->static_shared,
		.local_bytes = k->local,
		.max_threads = k->max_threads,
	};
	snprintf(r.name, sizeof r.name, "%s", k->name);
	if (!strncmp(k->name, "_Z", 2))
		demangle(k->name, true, r.signature, sizeof r.signature);
	record_put_kernel(&m, &r);
	send_frame(&m);
}

unsigned kernel_number(const struct kernel_facts *k)
{
	pthread_mutex_lock(&kernels.lock);
	unsigned i = kernels.last;
	if (i >= kernels.n || strcmp(kernels.name[i], k->name) != 0)
		for (i = 0; i < kernels.n && strcmp(kernels.name[i], k->name) != 0;)
			i++;
	if (i == kernels.n) {
		MEM_ROOM(kernels.name, kernels.n, kernels.cap, 64);
		kernels.name[kernels.n++] = mem_strdup(k->name);
		tell(i + 1, k);
	}
	kernels.last = i;
	pthread_mutex_unlock(&kernels.lock);
	return i + 1;
}
