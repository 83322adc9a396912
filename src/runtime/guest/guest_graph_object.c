/* References of graphs to objects of the program. */
#include "runtime/guest/guest_graph.h"

#include "base/mem.h"

#include <stdlib.h>

/* Destroyed with the last reference. */
struct guest_user_object {
	void *data;
	cudaHostFn_t destroy;
	unsigned references;
};

static void release(struct guest_user_object *o, unsigned n)
{
	o->references -= n < o->references ? n : o->references;
	if (o->references)
		return;
	o->destroy(o->data);
	free(o);
}

static void hold(struct guest_graph *g, struct guest_user_object *o)
{
	g->object = mem_realloc(g->object, g->n_objects + 1u, sizeof(struct guest_user_object *));
	g->object[g->n_objects++] = o;
}

void user_objects_share(struct guest_graph *to, const struct guest_graph *from)
{
	for (unsigned i = 0; i < from->n_objects; i++) {
		from->object[i]->references++;
		hold(to, from->object[i]);
	}
}

void user_objects_drop(struct guest_graph *g)
{
	while (g->n_objects)
		release(g->object[--g->n_objects], 1);
	free(g->object);
	g->object = NULL;
}

static struct guest_user_object *object_of(cudaUserObject_t handle)
{
	return (struct guest_user_object *)handle;
}

static cudaError_t create(cudaUserObject_t *out, void *data, cudaHostFn_t destroy, unsigned n)
{
	if (!out || !destroy || !n)
		return cudaErrorInvalidValue;
	struct guest_user_object *o = mem_zalloc(sizeof *o);
	*o = (struct guest_user_object){ data, destroy, n };
	*out = (cudaUserObject_t)o;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaUserObjectCreate(cudaUserObject_t *out, void *data,
                                                     cudaHostFn_t destroy, unsigned n,
                                                     unsigned flags)
{
	(void)flags;
	GUEST_CALL(create(out, data, destroy, n));
}

static cudaError_t count(cudaUserObject_t object, unsigned n, bool more)
{
	if (!object || !n)
		return cudaErrorInvalidValue;
	if (more)
		object_of(object)->references += n;
	else
		release(object_of(object), n);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaUserObjectRetain(cudaUserObject_t object, unsigned n)
{
	GUEST_CALL(count(object, n, true));
}

GUEST_API cudaError_t CUDARTAPI cudaUserObjectRelease(cudaUserObject_t object, unsigned n)
{
	GUEST_CALL(count(object, n, false));
}

/* @flags: cudaGraphUserObjectMove hands the caller's references over. */
static cudaError_t retain(struct guest_graph *g, cudaUserObject_t object, unsigned n,
                          unsigned flags)
{
	if (!object || !n)
		return cudaErrorInvalidValue;
	for (unsigned i = 0; i < n; i++)
		hold(g, object_of(object));
	if (!(flags & cudaGraphUserObjectMove))
		object_of(object)->references += n;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphRetainUserObject(cudaGraph_t graph,
                                                          cudaUserObject_t object, unsigned n,
                                                          unsigned flags)
{
	GUEST_CALL(retain(graph_of(graph), object, n, flags));
}

static cudaError_t let_go(struct guest_graph *g, const struct guest_user_object *o, unsigned n)
{
	for (unsigned i = g->n_objects; i-- && n;)
		if (g->object[i] == o) {
			struct guest_user_object *mine = g->object[i];
			g->object[i] = g->object[--g->n_objects];
			release(mine, 1);
			n--;
		}
	return n ? cudaErrorInvalidValue : cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaGraphReleaseUserObject(cudaGraph_t graph,
                                                           cudaUserObject_t object, unsigned n)
{
	GUEST_CALL(let_go(graph_of(graph), object_of(object), n));
}
