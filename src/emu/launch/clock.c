/* The host's clock, for deadlines and reports of progress. */
#include "emu/launch/launch.h"

#include <time.h>

double launch_clock_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
