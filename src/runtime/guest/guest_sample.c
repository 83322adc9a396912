/* Samples of launches; see guest_sample.h. */
#include "runtime/guest/guest_sample.h"
#include "runtime/guest/guest.h"
#include "runtime/guest/guest_fork.h"
#include "runtime/guest/guest_record.h"

#include "base/monotonic.h"

#include <stdio.h>
#include <unistd.h>

#define MOST_WAIT_S 10 /* blocks that wait for others never end */

uint64_t sample_blocks(const struct emu_launch_request *req)
{
	const uint64_t most = guest.config.max_blocks;
	const uint64_t blocks = (uint64_t)req->grid[0] * req->grid[1] * req->grid[2];
	return req->cooperative || blocks <= most ? 0 : most;
}

static void run_sample(const void *ctx, int fd)
{
	struct run_counts counts;
	struct err err = { 0 };
	struct wire_msg m;
	struct emu_launch_request own = *(const struct emu_launch_request *)ctx;
	own.print = NULL;
	if (!guest_fork_launch(fd, &own, &counts, &err))
		return;
	record_put_counts(&m, 0, &counts);
	wire_send(fd, &m, -1, clock_now_s() + MOST_WAIT_S, NULL);
}

bool sample_count(const struct emu_launch_request *req, struct run_counts *out)
{
	struct wire_msg m = { .fd = -1 };
	uint64_t number;
	fflush(NULL);
	const int fd = guest_fork(run_sample, req);
	const bool came = fd >= 0 && wire_recv(fd, &m, clock_now_s() + MOST_WAIT_S, NULL) == WIRE_OK &&
	                  record_get_counts(&m, &number, out);
	wire_free(&m);
	if (fd >= 0)
		close(fd);
	return came;
}
