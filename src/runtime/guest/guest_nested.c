/*
 * Launches by kernels; see guest_nested.h.
 *
 * The rules: a grid has ended when all that it launched has, and so on down; what it put into the
 * tail stream begins then, each with all that it launches before the next. So the work that waits
 * is a stack: a grid's own goes on top, its tail launches below its other ones.
 */
#include "runtime/guest/guest_nested.h"
#include "runtime/guest/guest_device.h"
#include "runtime/guest/guest_limit.h"
#include "runtime/guest/guest_time.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what a kernel asks for --- */

static bool launch_of(const struct guest_nesting *nesting, const struct device_work *w,
                      struct guest_op *op)
{
	struct guest_function *f = guest_function_named(nesting->module, w->kernel);
	if (!f)
		return false;
	*op = (struct guest_op){
		.kind = GUEST_OP_LAUNCH,
		.u.launch = { .function = f,
		              .grid = { w->grid[0], w->grid[1], w->grid[2] },
		              .block = { w->threads[0], w->threads[1], w->threads[2] },
		              .shared_bytes = w->shared_bytes },
	};
	struct emu_function_info info;
	emu_function_info(f->loaded, &info);
	op->u.launch.params = mem_zalloc(info.param_bytes + 1u);
	if (w->params)
		memcpy(op->u.launch.params, w->params, info.param_bytes);
	return true;
}

static struct guest_op memory_of(const struct device_work *w)
{
	const struct guest_box to = { .address = w->to, .pitch = w->to_pitch },
						   from = { .address = w->from, .pitch = w->from_pitch };
	if (w->kind == DEVICE_WORK_COPY)
		return (struct guest_op){
			.kind = GUEST_OP_COPY,
			.u.copy = { .to = to,
			            .from = from,
			            .width = w->width,
			            .height = w->height,
			            .depth = 1,
			            .direction = cudaMemcpyDefault },
		};
	return (struct guest_op){
		.kind = GUEST_OP_SET,
		.u.set = { .to = to,
		           .width = w->width,
		           .height = w->height,
		           .depth = 1,
		           .value = w->value,
		           .element_bytes = 1 },
	};
}

void nested_note(void *ctx, const struct device_work *w)
{
	const struct guest_nesting *nesting = ctx;
	struct nested_list *l = nesting->list;
	struct guest_op op;
	if (!l)
		return;
	if (w->kind != DEVICE_WORK_LAUNCH)
		op = memory_of(w);
	else if (!launch_of(nesting, w, &op))
		return;
	MEM_ROOM(l->all, l->n, l->cap, 64);
	l->all[l->n++] = (struct nested){
		.op = op,
		.parent = nesting->parent,
		/* a tail launch takes its grid's place */
		.depth = nesting->depth + (w->kind == DEVICE_WORK_LAUNCH && !w->tail),
		.tail = w->tail,
	};
}

/* --- what it wants to know --- */

static void put(struct device_answer *a, const void *value, size_t bytes)
{
	memcpy(a->bytes, value, bytes);
	a->n = bytes;
}

static void put_text(struct device_answer *a, const char *text)
{
	snprintf((char *)a->bytes, sizeof a->bytes, "%s", text);
	a->n = strlen((const char *)a->bytes) + 1;
}

static cudaError_t answer_of(enum device_question question, const struct guest_function *f,
                             const uint64_t *arg, struct device_answer *answer)
{
	int number = 0;
	size_t bytes = 0;
	struct cudaFuncAttributes attributes;
	cudaError_t e = cudaSuccess;
	switch (question) {
	case DEVICE_ASKS_ATTRIBUTE:
		e = guest_attribute(&number, (enum cudaDeviceAttr)arg[0], (int)arg[1]);
		break;
	case DEVICE_ASKS_VERSION: number = CUDART_VERSION; break;
	case DEVICE_ASKS_OCCUPANCY:
		number = (int)guest_resident_blocks(f, (unsigned)arg[0], (unsigned)arg[1]);
		break;
	case DEVICE_ASKS_LIMIT:
		e = guest_limit((enum cudaLimit)arg[0], NULL, &bytes);
		put(answer, &bytes, sizeof bytes);
		return e;
	case DEVICE_ASKS_FUNCTION:
		guest_attributes(f, &attributes);
		put(answer, &attributes, sizeof attributes);
		return cudaSuccess;
	case DEVICE_ASKS_ERROR_NAME:
		put_text(answer, cudaGetErrorName((cudaError_t)arg[0]));
		return cudaSuccess;
	case DEVICE_ASKS_ERROR_STRING:
		put_text(answer, cudaGetErrorString((cudaError_t)arg[0]));
		return cudaSuccess;
	}
	put(answer, &number, sizeof number);
	return e;
}

int nested_answer(void *ctx, enum device_question question, const char *kernel, const uint64_t *arg,
                  struct device_answer *answer)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	const struct guest_nesting *nesting = ctx;
	cudaError_t e = cudaErrorInvalidDeviceFunction;
	pthread_mutex_lock(&lock);
	const struct guest_function *f = kernel ? guest_function_named(nesting->module, kernel) : NULL;
	if (f || !kernel)
		e = answer_of(question, f, arg, answer);
	pthread_mutex_unlock(&lock);
	return (int)e;
}

/* --- the work that waits --- */

static void reverse(struct nested *x, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		const struct nested swap = x[i];
		x[i] = x[n - 1 - i];
		x[n - 1 - i] = swap;
	}
}

void nested_stack(struct nested_list *l, size_t from)
{
	const size_t n = l->n - from;
	struct nested *sorted = mem_calloc(n + 1, sizeof *sorted);
	size_t at = 0;
	for (unsigned tail = 0; tail < 2; tail++)
		for (size_t i = from; i < l->n; i++)
			if (l->all[i].tail == (tail == 1))
				sorted[at++] = l->all[i];
	reverse(sorted, n);
	if (n)
		memcpy(l->all + from, sorted, n * sizeof *sorted);
	free(sorted);
}

bool nested_take(struct nested_list *l, struct nested *x)
{
	if (l->n) {
		*x = l->all[--l->n];
		return true;
	}
	free(l->all);
	*l = (struct nested_list){ .n = 0 };
	return false;
}
