#define _GNU_SOURCE /* SO_DOMAIN */
/*
 * The program's end of the records: one descriptor, one process, a lock. A program may be several
 * processes, and each loads the library: the explorer's one configuration is for the first that
 * comes, and the others go unrecorded.
 */
#include "runtime/inject/inject.h"

#include "base/monotonic.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLAIM_S 0.2 /* the configuration was sent before the program began */

static struct {
	pthread_mutex_t lock;
	int fd;
	pid_t owner;
} out = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

/* The number may be any descriptor's in a process that the program has started. */
static bool is_ours(int fd)
{
	int domain = 0;
	socklen_t n = sizeof domain;
	return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) && domain == AF_UNIX;
}

bool send_open(struct record_config *config, struct gpu_spec *gpu)
{
	const char *text = getenv(RECORD_FD_VARIABLE);
	struct wire_msg m = { 0 };
	char *end = NULL;
	const long fd = text ? strtol(text, &end, 10) : -1;
	if (!text || *end || fd < 3 || fd > 1 << 20 || !is_ours((int)fd))
		return false;
	const bool ours = wire_recv((int)fd, &m, clock_now_s() + CLAIM_S, NULL) == WIRE_OK &&
	                  record_get_config(&m, config, gpu);
	wire_free(&m);
	if (!ours)
		return false;
	fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	out.fd = (int)fd;
	out.owner = getpid();
	wire_begin(&m, RECORD_HELLO);
	wire_put_u32(&m, RECORD_VERSION);
	send_frame(&m);
	return true;
}

bool send_is_open(void)
{
	return out.fd >= 0 && out.owner == getpid();
}

void send_frame(struct wire_msg *m)
{
	if (send_is_open()) {
		pthread_mutex_lock(&out.lock);
		if (out.fd >= 0 && wire_send(out.fd, m, -1, (double)INFINITY, NULL) != WIRE_OK)
			out.fd = -1; /* the explorer has gone; the program goes on */
		pthread_mutex_unlock(&out.lock);
	}
	wire_free(m);
}

void send_refusal(enum record_refused what, const struct cuda_fault *why)
{
	struct wire_msg m;
	struct record_refusal r = { .what = what, .fault = (uint32_t)why->id };
	snprintf(r.detail, sizeof r.detail, "%s", why->detail);
	record_put_refusal(&m, &r);
	send_frame(&m);
}

void send_seen(const struct record_seen *s, size_t n)
{
	struct wire_msg m;
	if (!n)
		return;
	record_put_seen(&m, s, n);
	send_frame(&m);
}
