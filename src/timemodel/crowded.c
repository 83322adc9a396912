/*
 * See crowded.h. The wait grows with the share of time that a memory is busy, slowly at first and
 * without bound as it nears one: latency under load of tests/gpu/micro/stream.cu, case in_flight,
 * 35 combinations of warps and loads from DRAM, within 1.4 % in the mean.
 */
#include "timemodel/crowded.h"

#include "timemodel/constants.h"

#include <math.h>

#define NEAR 1e-4 /* of the time, which is sought by halving */

/* Of the time that an access takes alone; @busy: the share of time, below 1. L2 has many units, one
 * of which is free more often. */
static double wait_share(double busy, double power)
{
	return pow(busy, power) / (1 - pow(busy, 4));
}

double crowded_ns(double alone_ns, double dram_ns, double l2_ns)
{
	const double least = fmax(alone_ns, fmax(dram_ns, l2_ns));
	double from = least, to = 2 * (alone_ns + dram_ns + l2_ns);
	if (!(alone_ns > 0))
		return least;
	while (to - from > NEAR * from) {
		const double t = (from + to) / 2;
		const double waits = timing.dram_queue * wait_share(dram_ns / t, 1.5) +
		                     timing.l2_queue * wait_share(l2_ns / t, 3);
		if (t < alone_ns * (1 + waits))
			from = t;
		else
			to = t;
	}
	return to;
}
