/* Memory that belongs to graphs, and whether it is in use; see guest_graph.h. */
#include "runtime/guest/guest_graph.h"

#include "base/mem.h"

struct own {
	uint64_t address;
	bool in_use;
};
static struct {
	struct own *own;
	size_t n;
} heap;

void graph_heap_add(uint64_t address)
{
	heap.own = mem_realloc(heap.own, heap.n + 1, sizeof *heap.own);
	heap.own[heap.n++] = (struct own){ .address = address };
}

bool graph_heap_has(uint64_t address)
{
	size_t i = 0;
	while (i < heap.n && heap.own[i].address != address)
		i++;
	return i < heap.n;
}

bool graph_heap_set(uint64_t address, bool in_use, bool *was)
{
	for (size_t i = 0; i < heap.n; i++)
		if (heap.own[i].address == address) {
			*was = heap.own[i].in_use;
			heap.own[i].in_use = in_use;
			return true;
		}
	return false;
}
