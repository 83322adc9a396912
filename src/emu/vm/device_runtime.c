/*
 * Calls of the runtime by device code; see device_runtime.h.
 *
 * CUDA C++ Programming Guide, "CUDA Dynamic Parallelism": a launch is asynchronous, and nothing in
 * the grid can wait for it, so all of them may begin when the grid has ended. Streams and events
 * then order nothing that the order of the calls does not order already. Device code has errors of
 * its own, each thread its last one.
 */
#include "emu/vm/device_runtime.h"

#include "base/mem.h"
#include "base/text.h"
#include "base/value_flags.h"
#include "emu/vm/guest_print.h"

#include <stdlib.h>
#include <string.h>

enum { /* of enum cudaError */
	   ERROR_INVALID_VALUE = 1,
	   ERROR_MEMORY = 2,
	   ERROR_CONFIGURATION = 9,
	   ERROR_DEPTH = 65,
	   ERROR_PENDING = 69,
	   ERROR_FUNCTION = 98,
	   ERROR_HANDLE = 400
};
enum { STREAM_TAIL = 3, FIRST_HANDLE = 0x100 };
enum { ROOM_ALIGN = 16 }; /* of heap_take() */

struct device_room {
	uint64_t address, raw; /* raw: as the heap gave it */
	bool launch;           /* the launch is known that its parameters are for */
	const struct ptx_func *func;
	unsigned grid[3], threads[3], shared_bytes;
};

/* One call by one lane. */
struct call {
	struct warp *w;
	unsigned lane;
	const uint64_t *arg;
	struct device_calls *list;
	const struct device_runtime *runtime;
	uint64_t bad; /* address that cannot be written; 0 = none was met */
};

/* --- memory of the lane --- */

static int store(struct call *c, uint64_t address, const void *value, size_t bytes)
{
	uint64_t n;
	void *to = (void *)(uintptr_t)vm_guest_bytes(c->w, c->lane, address, &n);
	if (!to || n < bytes) {
		c->bad = address;
		return ERROR_INVALID_VALUE;
	}
	memcpy(to, value, bytes);
	const struct arena_region *r = arena_find(c->w->worker->grid->arena, address);
	if (r && r->written)
		value_flags_set(r->written, address - r->base, bytes);
	return 0;
}

static int store_int(struct call *c, uint64_t address, int value)
{
	return store(c, address, &value, sizeof value);
}

/* --- parameters and launches --- */

static struct device_room *take_room(struct call *c, uint64_t align, uint64_t bytes)
{
	struct device_calls *l = c->list;
	const uint64_t more = align > ROOM_ALIGN ? align - ROOM_ALIGN : 0;
	const uint64_t raw = heap_take(c->runtime->room, (bytes ? bytes : 1) + more);
	if (!raw)
		return NULL;
	MEM_ROOM(l->room, l->n_room, l->cap_room, 64);
	l->room[l->n_room] =
		(struct device_room){ .raw = raw, .address = align ? (raw + align - 1) & -align : raw };
	return &l->room[l->n_room++];
}

/* The kernel at @address; NULL = none is there. */
static const struct ptx_func *kernel_at(const struct call *c, uint64_t address)
{
	const struct ptx_module *m = c->runtime->module;
	const uint64_t at = address - function_address(0);
	if (at % FUNCTION_STEP || at / FUNCTION_STEP >= m->n_funcs)
		return NULL;
	const struct ptx_func *f = &m->funcs[at / FUNCTION_STEP];
	for (unsigned i = 0; !f->has_body && i < m->n_funcs; i++) /* declared here, defined there */
		if (m->funcs[i].has_body && !strcmp(m->funcs[i].name, f->name))
			f = &m->funcs[i];
	return f->is_entry && f->has_body ? f : NULL;
}

/* dim3 is passed as x | y << 32, z. */
static void read_dim3(unsigned out[3], const uint64_t *arg)
{
	out[0] = (unsigned)arg[0];
	out[1] = (unsigned)(arg[0] >> 32);
	out[2] = (unsigned)arg[1];
}

/* @arg: the grid, the block, bytes of shared memory. */
static int describe(struct call *c, struct device_room *r, uint64_t function, const uint64_t *arg)
{
	r->func = kernel_at(c, function);
	read_dim3(r->grid, arg);
	read_dim3(r->threads, arg + 2);
	r->shared_bytes = (unsigned)arg[4];
	const uint64_t threads = (uint64_t)r->threads[0] * r->threads[1] * r->threads[2];
	if (!r->func)
		return ERROR_FUNCTION;
	if (!r->grid[0] || !r->grid[1] || !r->grid[2] || r->grid[1] > 65535 || r->grid[2] > 65535 ||
	    !threads || threads > 1024 || r->threads[0] > 1024 || r->threads[1] > 1024 ||
	    r->threads[2] > 64)
		return ERROR_CONFIGURATION;
	if (c->runtime->depth >= DEVICE_MAX_DEPTH)
		return ERROR_DEPTH;
	r->launch = true;
	return 0;
}

static struct device_work *add_work(struct call *c, enum device_work_kind kind, uint64_t stream)
{
	struct device_calls *l = c->list;
	MEM_ROOM(l->work, l->n_work, l->cap_work, 64);
	l->work[l->n_work] = (struct device_work){ .kind = kind,
		                                       .tail = stream == STREAM_TAIL,
		                                       .block = c->w->worker->block };
	return &l->work[l->n_work++];
}

static int add_launch(struct call *c, const struct device_room *r, uint64_t stream)
{
	struct device_work *x = add_work(c, DEVICE_WORK_LAUNCH, stream);
	x->kernel = r->func->name;
	memcpy(x->grid, r->grid, sizeof x->grid);
	memcpy(x->threads, r->threads, sizeof x->threads);
	x->shared_bytes = r->shared_bytes;
	const struct arena *a = c->w->worker->grid->arena;
	x->params = r->address ? arena_at(a, r->address) : NULL;
	return 0;
}

static struct device_room *room_at(const struct call *c, uint64_t address)
{
	for (size_t i = c->list->n_room; i-- > 0;)
		if (c->list->room[i].address == address)
			return &c->list->room[i];
	return NULL;
}

static int parameter_buffer(struct call *c, uint64_t *result)
{
	const struct device_room *r = take_room(c, c->arg[0], c->arg[1]);
	*result = r ? r->address : 0;
	return r ? 0 : ERROR_PENDING;
}

static int parameter_buffer_v2(struct call *c, uint64_t *result)
{
	struct device_room known = { 0 };
	const int e = describe(c, &known, c->arg[0], c->arg + 1);
	*result = 0;
	if (e)
		return e;
	struct device_room *r = take_room(c, 64, known.func->param_bytes);
	if (!r)
		return ERROR_PENDING;
	*result = known.address = r->address;
	known.raw = r->raw;
	*r = known;
	return 0;
}

static int launch(struct call *c, uint64_t *result)
{
	(void)result;
	struct device_room r = { .address = c->arg[1] };
	const int e = describe(c, &r, c->arg[0], c->arg + 2);
	if (e)
		return e;
	if (!room_at(c, r.address) && (r.address || r.func->param_bytes))
		return ERROR_INVALID_VALUE;
	return add_launch(c, &r, c->arg[7]);
}

static int launch_v2(struct call *c, uint64_t *result)
{
	(void)result;
	const struct device_room *r = room_at(c, c->arg[0]);
	return r && r->launch ? add_launch(c, r, c->arg[1]) : ERROR_INVALID_VALUE;
}

/* --- memory --- */

static int take_memory(struct call *c, uint64_t *result)
{
	(void)result;
	const struct grid *g = c->w->worker->grid;
	const uint64_t at = g->heap ? heap_take(g->heap, c->arg[1]) : 0;
	return at || !c->arg[1] ? store(c, c->arg[0], &at, sizeof at) : ERROR_MEMORY;
}

static int free_memory(struct call *c, uint64_t *result)
{
	(void)result;
	const struct grid *g = c->w->worker->grid;
	if (!c->arg[0] || (g->heap && heap_give_back(g->heap, c->arg[0])))
		return 0;
	return ERROR_INVALID_VALUE;
}

/* Device memory from @address on, rows and all. */
static bool is_memory(const struct call *c, uint64_t address, uint64_t pitch, uint64_t width,
                      uint64_t height)
{
	const struct arena_region *r = arena_find(c->w->worker->grid->arena, address);
	if (!r)
		return false;
	const uint64_t left = r->size - (address - r->base);
	return width <= left && (height <= 1 || (left - width) / (height - 1) >= pitch);
}

static int add_copy(struct call *c, const struct device_work *what, uint64_t stream)
{
	if (!what->width || !what->height)
		return 0;
	if (!is_memory(c, what->to, what->to_pitch, what->width, what->height) ||
	    (what->kind == DEVICE_WORK_COPY &&
	     !is_memory(c, what->from, what->from_pitch, what->width, what->height)))
		return ERROR_INVALID_VALUE;
	struct device_work *x = add_work(c, what->kind, stream);
	const struct device_work where = *x;
	*x = *what;
	x->tail = where.tail;
	x->block = where.block;
	return 0;
}

static int copy(struct call *c, uint64_t *result)
{
	(void)result;
	const uint64_t *a = c->arg;
	const struct device_work x = {
		.kind = DEVICE_WORK_COPY, .to = a[0], .from = a[1], .width = a[2], .height = 1
	};
	return add_copy(c, &x, a[4]);
}

static int copy_2d(struct call *c, uint64_t *result)
{
	(void)result;
	const uint64_t *a = c->arg;
	const struct device_work x = { .kind = DEVICE_WORK_COPY,
		                           .to = a[0],
		                           .to_pitch = a[1],
		                           .from = a[2],
		                           .from_pitch = a[3],
		                           .width = a[4],
		                           .height = a[5] };
	return add_copy(c, &x, a[7]);
}

static int set(struct call *c, uint64_t *result)
{
	(void)result;
	const uint64_t *a = c->arg;
	const struct device_work x = {
		.kind = DEVICE_WORK_SET, .to = a[0], .value = (uint8_t)a[1], .width = a[2], .height = 1
	};
	return add_copy(c, &x, a[3]);
}

static int set_2d(struct call *c, uint64_t *result)
{
	(void)result;
	const uint64_t *a = c->arg;
	const struct device_work x = { .kind = DEVICE_WORK_SET,
		                           .to = a[0],
		                           .to_pitch = a[1],
		                           .value = (uint8_t)a[2],
		                           .width = a[3],
		                           .height = a[4] };
	return add_copy(c, &x, a[5]);
}

/* --- questions --- */

static int ask(struct call *c, enum device_question q, uint64_t function, const uint64_t *arg,
               uint64_t to)
{
	struct device_answer answer = { .n = 0 };
	const struct ptx_func *f = function ? kernel_at(c, function) : NULL;
	if (function && !f)
		return ERROR_FUNCTION;
	const int e = c->runtime->ask(c->runtime->ask_ctx, q, f ? f->name : NULL, arg, &answer);
	return e ? e : store(c, to, answer.bytes, answer.n);
}

static int attribute(struct call *c, uint64_t *result)
{
	(void)result;
	return ask(c, DEVICE_ASKS_ATTRIBUTE, 0, c->arg + 1, c->arg[0]);
}

static int limit(struct call *c, uint64_t *result)
{
	(void)result;
	return ask(c, DEVICE_ASKS_LIMIT, 0, c->arg + 1, c->arg[0]);
}

static int function(struct call *c, uint64_t *result)
{
	(void)result;
	return ask(c, DEVICE_ASKS_FUNCTION, c->arg[1], c->arg + 2, c->arg[0]);
}

static int occupancy(struct call *c, uint64_t *result)
{
	(void)result;
	return ask(c, DEVICE_ASKS_OCCUPANCY, c->arg[1], c->arg + 2, c->arg[0]);
}

static int version(struct call *c, uint64_t *result)
{
	(void)result;
	return ask(c, DEVICE_ASKS_VERSION, 0, c->arg + 1, c->arg[0]);
}

static int device_count(struct call *c, uint64_t *result)
{
	(void)result;
	return store_int(c, c->arg[0], 1);
}

/* The first device; no preference of caches. */
static int zero(struct call *c, uint64_t *result)
{
	(void)result;
	return store_int(c, c->arg[0], 0);
}

/* A text in device memory, which lasts as long as the grid. */
static int text_of(struct call *c, enum device_question q, uint64_t *result)
{
	struct device_answer answer = { .n = 0 };
	*result = 0;
	const int e = c->runtime->ask(c->runtime->ask_ctx, q, NULL, c->arg, &answer);
	const struct device_room *r = e ? NULL : take_room(c, 0, answer.n);
	if (!r)
		return e;
	memcpy(arena_at(c->w->worker->grid->arena, r->address), answer.bytes, answer.n);
	*result = r->address;
	return 0;
}

static int error_name(struct call *c, uint64_t *result)
{
	return text_of(c, DEVICE_ASKS_ERROR_NAME, result);
}

static int error_string(struct call *c, uint64_t *result)
{
	return text_of(c, DEVICE_ASKS_ERROR_STRING, result);
}

/* --- streams and events --- */

static int make_handle(struct call *c, uint64_t *result)
{
	(void)result;
	const uint64_t handle = FIRST_HANDLE + 8 * c->list->streams++;
	return store(c, c->arg[0], &handle, sizeof handle);
}

static int check_handle(struct call *c, uint64_t *result)
{
	(void)result;
	return c->arg[0] >= FIRST_HANDLE ? 0 : ERROR_HANDLE;
}

static int nothing(struct call *c, uint64_t *result)
{
	(void)c, (void)result;
	return 0;
}

/* A handle of a graph's condition is the address of its number. */
static int set_conditional(struct call *c, uint64_t *result)
{
	(void)result;
	return store_int(c, c->arg[0], (int)c->arg[1]);
}

/* --- all of them --- */

typedef int handler(struct call *c, uint64_t *result);
static const struct {
	handler *call;
	bool gives_value; /* and no error */
} handlers[] = {
#define AT(id) [SYSTEM_RUNTIME_##id - SYSTEM_RUNTIME]
	AT(PARAMETER_BUFFER) = { parameter_buffer, true },
	AT(PARAMETER_BUFFER_V2) = { parameter_buffer_v2, true },
	AT(LAUNCH) = { launch, false },
	AT(LAUNCH_V2) = { launch_v2, false },
	AT(MALLOC) = { take_memory, false },
	AT(FREE) = { free_memory, false },
	AT(COPY) = { copy, false },
	AT(COPY_2D) = { copy_2d, false },
	AT(SET) = { set, false },
	AT(SET_2D) = { set_2d, false },
	AT(ERROR_STRING) = { error_string, true },
	AT(ERROR_NAME) = { error_name, true },
	AT(DEVICE_COUNT) = { device_count, false },
	AT(DEVICE) = { zero, false },
	AT(ATTRIBUTE) = { attribute, false },
	AT(LIMIT) = { limit, false },
	AT(CACHE_CONFIG) = { zero, false },
	AT(STREAM_CREATE) = { make_handle, false },
	AT(STREAM_DESTROY) = { check_handle, false },
	AT(STREAM_WAIT) = { nothing, false },
	AT(EVENT_CREATE) = { make_handle, false },
	AT(EVENT_RECORD) = { nothing, false },
	AT(EVENT_RECORD_WITH_FLAGS) = { nothing, false },
	AT(EVENT_DESTROY) = { check_handle, false },
	AT(FUNCTION) = { function, false },
	AT(OCCUPANCY) = { occupancy, false },
	AT(OCCUPANCY_WITH_FLAGS) = { occupancy, false },
	AT(VERSION) = { version, false },
	AT(SET_CONDITIONAL) = { set_conditional, false },
#undef AT
};

static struct device_calls *calls_of(struct worker *wk)
{
	if (!wk->calls)
		wk->calls = mem_zalloc(sizeof *wk->calls);
	if (!wk->calls->error)
		wk->calls->error = mem_calloc(wk->grid->threads, sizeof *wk->calls->error);
	return wk->calls;
}

bool device_call(struct warp *w, unsigned lane, enum system_call call, const uint64_t *arg,
                 uint64_t *result, uint64_t *bad)
{
	struct device_calls *list = calls_of(w->worker);
	uint32_t *last = &list->error[w->number * 32 + lane];
	if (call == SYSTEM_RUNTIME_LAST_ERROR || call == SYSTEM_RUNTIME_PEEK_ERROR) {
		*result = *last;
		if (call == SYSTEM_RUNTIME_LAST_ERROR)
			*last = 0;
		return true;
	}
	struct call c = { w, lane, arg, list, w->worker->grid->runtime, 0 };
	const unsigned k = (unsigned)call - SYSTEM_RUNTIME;
	const int e = handlers[k].call(&c, result);
	if (c.bad) {
		*bad = c.bad;
		return false;
	}
	if (!handlers[k].gives_value)
		*result = (uint64_t)e;
	if (e)
		*last = (uint32_t)e;
	return true;
}

void device_calls_begin(struct device_calls *c, uint32_t threads)
{
	if (c && c->error)
		memset(c->error, 0, threads * sizeof *c->error);
}

void device_calls_free(struct device_calls *c, struct heap *room)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_room; i++)
		heap_give_back(room, c->room[i].raw);
	free(c->room);
	free(c->work);
	free(c->error);
	free(c);
}
