/* Another number of threads for a block; see launch_shape.h. */
#include "launch_shape.h"

#include "model/kernel.h"

#include <math.h>
#include <string.h>

#define WARP 32u

/* How far x by y is from the proportions of @from; 0 = it has them. */
static double stretch(const unsigned from[3], unsigned x, unsigned y)
{
	return fabs(log2((double)x * from[1] / ((double)y * from[0])));
}

static bool is_better(const unsigned from[3], const unsigned a[3], const unsigned b[3])
{
	const double difference = stretch(from, a[0], a[1]) - stretch(from, b[0], b[1]);
	if (fabs(difference) > 1e-9)
		return difference < 0;
	const bool whole = a[0] % WARP == 0;
	if (whole != (b[0] % WARP == 0))
		return whole;
	return whole ? a[0] < b[0] : a[0] > b[0];
}

bool launch_shape_block(const unsigned from[3], unsigned threads, unsigned to[3])
{
	bool found = false;
	if (!threads || threads % from[2])
		return false;
	const unsigned plane = threads / from[2];
	for (unsigned x = 1; x <= plane; x++) {
		const unsigned shape[3] = { x, plane / x, from[2] };
		const bool flat = from[1] == 1; /* one row stays one */
		if (plane % x || (flat && x != plane) || (found && !is_better(from, shape, to)))
			continue;
		memcpy(to, shape, sizeof shape);
		found = true;
	}
	return found;
}

unsigned launch_shape_grid(unsigned blocks, unsigned from, unsigned to)
{
	return (unsigned)ceil_div((uint64_t)blocks * from, to);
}
