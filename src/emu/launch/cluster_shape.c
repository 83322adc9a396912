/* Clusters of a launch: how many blocks each has, and whether that can be. */
#include "emu/device.h"
#include "emu/launch/launch.h"

void cluster_set(struct emu_launch *l)
{
	struct block_order *o = &l->grid.order;
	const struct dim3u *grid = &l->req->plan->grid;
	const bool asked = l->program && l->program->cluster[0];
	const unsigned *c = asked ? l->program->cluster : l->func->cluster;
	l->grid.cluster_blocks = 1;
	if (!c[0])
		return;
	for (unsigned k = 0; k < 3; k++)
		o->cluster[k] = c[k];
	o->clusters[0] = grid->x / c[0];
	o->clusters[1] = grid->y / c[1];
	l->grid.cluster_blocks = c[0] * c[1] * c[2];
	if (l->grid.cluster_blocks > 1)
		o->n = o->total; /* none can be left out */
}

bool cluster_check(const struct emu_launch *l, struct err *err)
{
	const struct grid *g = &l->grid;
	const struct gpu_spec *gpu = l->device->gpu;
	const struct dim3u *grid = &l->req->plan->grid;
	const uint32_t *c = g->order.cluster, *own = l->func->cluster;
	if (!c[0])
		return true;
	if (gpu->cc_major < 9 && g->cluster_blocks > 1) {
		err_set(err, ERR_UNSUPPORTED,
		        "%s: kernel '%s': clusters of %u blocks need compute capability 9.0; %s has %d.%d",
		        l->source_file, l->func->name, g->cluster_blocks, gpu->name, gpu->cc_major,
		        gpu->cc_minor);
		return err_remedy(err, "choose a GPU of compute capability 9.0 or later");
	}
	if (own[0] && (own[0] != c[0] || own[1] != c[1] || own[2] != c[2]))
		return err_set(
			err, ERR_USAGE,
			"%s: kernel '%s' is compiled for clusters of %u x %u x %u blocks; the launch "
			"asks for %u x %u x %u",
			l->source_file, l->func->name, own[0], own[1], own[2], c[0], c[1], c[2]);
	if (g->cluster_blocks > CLUSTER_MOST)
		return err_set(err, ERR_USAGE, "%s: kernel '%s': a cluster of %u blocks; at most %u can be",
		               l->source_file, l->func->name, g->cluster_blocks, CLUSTER_MOST);
	if (grid->x % c[0] || grid->y % c[1] || grid->z % c[2])
		return err_set(
			err, ERR_USAGE,
			"%s: kernel '%s': a grid of %u x %u x %u blocks is not made of whole clusters "
			"of %u x %u x %u",
			l->source_file, l->func->name, grid->x, grid->y, grid->z, c[0], c[1], c[2]);
	return true;
}
