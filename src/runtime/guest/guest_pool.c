/* Pools of memory: what each has taken from the one heap, and keeps of it. */
#include "runtime/guest/guest_pool.h"
#include "runtime/guest/guest_capture_rules.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct guest_pool first; /* the default one; those that the program makes follow */
static struct guest_pool *current = &first;
static int32_t n_made;

static struct member {
	uint64_t address, bytes;
	struct guest_pool *pool;
} *members;
static unsigned n_members, cap_members;

/* --- which memory is whose --- */

struct guest_pool *pool_of(cudaMemPool_t handle)
{
	struct guest_pool *p = &first;
	while (p && (cudaMemPool_t)p != handle)
		p = p->next;
	return p;
}

struct guest_pool *pool_current(void)
{
	return current;
}

struct guest_pool *pool_add(void)
{
	struct guest_pool *p = mem_zalloc(sizeof *p);
	p->pid = getpid();
	p->id = ++n_made;
	p->next = first.next;
	first.next = p;
	return p;
}

static struct member *member_at(uint64_t address)
{
	for (unsigned i = n_members; i-- > 0;) /* what came last goes first, most often */
		if (members[i].address == address)
			return &members[i];
	return NULL;
}

struct guest_pool *pool_holding(uint64_t address)
{
	const struct member *m = member_at(address);
	return m ? m->pool : NULL;
}

static void raise_to(uint64_t *most, uint64_t value)
{
	*most = value > *most ? value : *most;
}

void pool_took(struct guest_pool *pool, uint64_t address, uint64_t bytes)
{
	MEM_ROOM(members, n_members, cap_members, 64);
	members[n_members++] = (struct member){ address, bytes, pool };
	pool->used += bytes;
	raise_to(&pool->most_used, pool->used);
	raise_to(&pool->reserved, pool->used);
	raise_to(&pool->most_reserved, pool->reserved);
}

/* What is free beyond @keep bytes goes back to the device. */
static void trim(struct guest_pool *p, uint64_t keep)
{
	const uint64_t least = keep > p->used ? keep : p->used;
	p->reserved = p->reserved < least ? p->reserved : least;
}

void pool_lost(uint64_t address)
{
	struct member *m = member_at(address);
	if (!m)
		return;
	m->pool->used -= m->bytes;
	trim(m->pool, m->pool->threshold);
	*m = members[--n_members];
}

void pool_reset(void)
{
	n_members = 0;
	current = &first;
	for (struct guest_pool *p = &first; p; p = p->next)
		p->used = p->reserved = 0;
}

/* --- pools --- */

static cudaError_t give(cudaMemPool_t *out, struct guest_pool *p)
{
	if (!out)
		return cudaErrorInvalidValue;
	*out = (cudaMemPool_t)p;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int device)
{
	GUEST_ANY_CALL(device ? cudaErrorInvalidDevice : give(out, &first));
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceGetMemPool(cudaMemPool_t *out, int device)
{
	GUEST_CALL(device ? cudaErrorInvalidDevice : give(out, current));
}

static cudaError_t make_current(cudaMemPool_t handle)
{
	struct guest_pool *p = pool_of(handle);
	if (!p || p->imported)
		return cudaErrorInvalidValue;
	current = p;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaDeviceSetMemPool(int device, cudaMemPool_t p)
{
	GUEST_CALL(device ? cudaErrorInvalidDevice : make_current(p));
}

static cudaError_t make(cudaMemPool_t *out, const struct cudaMemPoolProps *properties)
{
	if (!out)
		return cudaErrorInvalidValue;
	struct guest_pool *p = pool_add();
	p->shares = properties && properties->handleTypes != cudaMemHandleTypeNone;
	return give(out, p);
}

GUEST_API cudaError_t CUDARTAPI cudaMemPoolCreate(cudaMemPool_t *out,
                                                  const struct cudaMemPoolProps *properties)
{
	GUEST_UNSAFE_CALL_FOR(GUEST_NEEDS_NOTHING, make(out, properties));
}

/* Memory that is still taken from it stays until it is given back. */
static cudaError_t destroy(cudaMemPool_t handle)
{
	struct guest_pool *p = pool_of(handle), *before = &first;
	if (!p || p == &first)
		return cudaErrorInvalidValue;
	while (before->next != p)
		before = before->next;
	before->next = p->next;
	if (current == p)
		current = &first;
	for (unsigned i = 0; i < n_members; i++)
		if (members[i].pool == p) /* still asked for it */
			return cudaSuccess;
	free(p);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaMemPoolDestroy(cudaMemPool_t p)
{
	GUEST_UNSAFE_CALL(destroy(p));
}

static cudaError_t trim_to(struct guest_pool *p, size_t keep_bytes)
{
	if (!p)
		return cudaErrorInvalidValue;
	trim(p, keep_bytes);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaMemPoolTrimTo(cudaMemPool_t p, size_t keep_bytes)
{
	GUEST_UNSAFE_CALL(trim_to(pool_of(p), keep_bytes));
}

static cudaError_t pool_attribute(struct guest_pool *p, enum cudaMemPoolAttr attribute, void *value,
                                  bool set)
{
	if (!p || !value)
		return cudaErrorInvalidValue;
	uint64_t *const most =
		attribute == cudaMemPoolAttrUsedMemHigh ? &p->most_used : &p->most_reserved;
	switch (attribute) {
	case cudaMemPoolAttrReleaseThreshold:
		memcpy(set ? (void *)&p->threshold : value, set ? value : (void *)&p->threshold,
		       sizeof p->threshold);
		return cudaSuccess;
	case cudaMemPoolAttrUsedMemCurrent:
	case cudaMemPoolAttrReservedMemCurrent:
		if (set)
			return cudaErrorInvalidValue;
		memcpy(value, attribute == cudaMemPoolAttrUsedMemCurrent ? &p->used : &p->reserved,
		       sizeof p->used);
		return cudaSuccess;
	case cudaMemPoolAttrUsedMemHigh:
	case cudaMemPoolAttrReservedMemHigh:
		if (set) /* to begin anew */
			*most = most == &p->most_used ? p->used : p->reserved;
		else
			memcpy(value, most, sizeof *most);
		return cudaSuccess;
	default: /* reuse policies: nothing to choose between here */
		if (!set)
			memset(value, 0, sizeof(int));
		return cudaSuccess;
	}
}

GUEST_API cudaError_t CUDARTAPI cudaMemPoolSetAttribute(cudaMemPool_t p,
                                                        enum cudaMemPoolAttr attribute, void *value)
{
	GUEST_UNSAFE_CALL(pool_attribute(pool_of(p), attribute, value, true));
}

GUEST_API cudaError_t CUDARTAPI cudaMemPoolGetAttribute(cudaMemPool_t p,
                                                        enum cudaMemPoolAttr attribute, void *value)
{
	GUEST_CALL(pool_attribute(pool_of(p), attribute, value, false));
}

GUEST_API cudaError_t CUDARTAPI cudaMemPoolSetAccess(cudaMemPool_t p,
                                                     const struct cudaMemAccessDesc *list, size_t n)
{
	(void)p, (void)list, (void)n;
	GUEST_CALL(cudaSuccess);
}

static cudaError_t pool_access(enum cudaMemAccessFlags *flags, const struct cudaMemLocation *where)
{
	if (!flags || !where || where->type != cudaMemLocationTypeDevice || where->id)
		return cudaErrorInvalidValue;
	*flags = cudaMemAccessFlagsProtReadWrite;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags,
                                                     cudaMemPool_t p, struct cudaMemLocation *where)
{
	(void)p;
	GUEST_CALL(pool_access(flags, where));
}

GUEST_API cudaError_t CUDARTAPI cudaMemGetDefaultMemPool(cudaMemPool_t *out,
                                                         struct cudaMemLocation *where,
                                                         enum cudaMemAllocationType type)
{
	(void)where, (void)type;
	GUEST_CALL(give(out, &first));
}

GUEST_API cudaError_t CUDARTAPI cudaMemGetMemPool(cudaMemPool_t *out, struct cudaMemLocation *where,
                                                  enum cudaMemAllocationType type)
{
	(void)where, (void)type;
	GUEST_CALL(give(out, current));
}

GUEST_API cudaError_t CUDARTAPI cudaMemSetMemPool(struct cudaMemLocation *where,
                                                  enum cudaMemAllocationType type, cudaMemPool_t p)
{
	(void)where, (void)type;
	GUEST_CALL(make_current(p));
}
