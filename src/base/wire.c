/*
 * Frames and fields; see wire.h. Every length from the other side is checked against a limit
 * before memory is taken for it. Refuses to know message types.
 */
#define _GNU_SOURCE /* MSG_CMSG_CLOEXEC */
#include "base/wire.h"
#include "base/monotonic.h"
#include "base/mem.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define WIRE_MAGIC 0x31575050u
#define POLL_MS 20 /* how long a cancellation may go unseen */

struct header {
	uint32_t magic, type, length, zero;
};

void wire_begin(struct wire_msg *m, uint32_t type)
{
	*m = (struct wire_msg){ .type = type, .fd = -1 };
}

void wire_free(struct wire_msg *m)
{
	free(m->data);
	if (m->fd >= 0)
		close(m->fd);
	*m = (struct wire_msg){ .fd = -1 };
}

void wire_put(struct wire_msg *m, const void *bytes, size_t n)
{
	if (n > WIRE_MAX_PAYLOAD - m->len) {
		m->bad = true; /* wire_send() refuses it */
		return;
	}
	if (m->len + n > m->cap) {
		m->cap = (m->len + n) * 2;
		m->data = mem_realloc(m->data, m->cap, 1);
	}
	if (n)
		memcpy(m->data + m->len, bytes, n);
	m->len += n;
}

void wire_put_u32(struct wire_msg *m, uint32_t v)
{
	wire_put(m, &v, sizeof v);
}

void wire_put_u64(struct wire_msg *m, uint64_t v)
{
	wire_put(m, &v, sizeof v);
}

void wire_put_f64(struct wire_msg *m, double v)
{
	wire_put(m, &v, sizeof v);
}

void wire_put_blob(struct wire_msg *m, const void *bytes, size_t n)
{
	wire_put_u64(m, n);
	wire_put(m, bytes, n);
}

void wire_put_str(struct wire_msg *m, const char *s)
{
	wire_put_blob(m, s ? s : "", s ? strlen(s) : 0);
}

bool wire_get(struct wire_msg *m, void *bytes, size_t n)
{
	if (m->bad || n > m->len - m->at) {
		m->bad = true;
		memset(bytes, 0, n);
		return false;
	}
	memcpy(bytes, m->data + m->at, n);
	m->at += n;
	return true;
}

uint32_t wire_get_u32(struct wire_msg *m)
{
	uint32_t v = 0;
	wire_get(m, &v, sizeof v);
	return v;
}

uint32_t wire_get_upto(struct wire_msg *m, uint32_t max)
{
	uint32_t v = wire_get_u32(m);
	if (v > max) {
		m->bad = true;
		return 0;
	}
	return v;
}

uint64_t wire_get_u64(struct wire_msg *m)
{
	uint64_t v = 0;
	wire_get(m, &v, sizeof v);
	return v;
}

double wire_get_f64(struct wire_msg *m)
{
	double v = 0;
	wire_get(m, &v, sizeof v);
	return v;
}

const void *wire_get_blob(struct wire_msg *m, size_t *n)
{
	uint64_t len = wire_get_u64(m);
	*n = 0;
	if (m->bad || len > m->len - m->at) {
		m->bad = true;
		return NULL;
	}
	*n = (size_t)len;
	const void *p = m->data + m->at;
	m->at += *n;
	return p;
}

void wire_get_str(struct wire_msg *m, char *out, size_t size)
{
	size_t n;
	const void *p = wire_get_blob(m, &n);
	out[0] = '\0';
	if (!p)
		return;
	if (n >= size || memchr(p, 0, n)) {
		m->bad = true;
		return;
	}
	if (n)
		memcpy(out, p, n);
	out[n] = '\0';
}

bool wire_end(const struct wire_msg *m)
{
	return !m->bad && m->at == m->len;
}

/* Waits for @events. OK also on hang-up: the following call tells. */
static enum wire_status wait_for(int fd, short events, double deadline, const atomic_bool *cancel)
{
	for (;;) {
		if (cancel && atomic_load(cancel))
			return WIRE_CANCELLED;
		double left = (deadline - clock_now_s()) * 1e3;
		if (left <= 0)
			return WIRE_TIMEOUT;
		int ms = cancel || left < POLL_MS * 50 ? (int)fmin(ceil(left), POLL_MS) : POLL_MS * 50;
		struct pollfd p = { .fd = fd, .events = events };
		int n = poll(&p, 1, ms);
		if (n > 0)
			return WIRE_OK;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return WIRE_CLOSED;
	}
}

static bool is_later(void)
{
	return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK;
}

/* How much of what is to be sent has been. */
struct sending {
	struct iovec part[2];
	unsigned at; /* first part that is not gone */
};

static void note_sent(struct sending *s, size_t n)
{
	while (s->at < 2 && n >= s->part[s->at].iov_len)
		n -= s->part[s->at++].iov_len;
	if (s->at == 2)
		return;
	s->part[s->at].iov_base = (char *)s->part[s->at].iov_base + n;
	s->part[s->at].iov_len -= n;
}

/* Header and payload at once, where there is room; the descriptor travels with the first byte. */
enum wire_status wire_send(int fd, const struct wire_msg *m, int pass_fd, double deadline,
                           const atomic_bool *cancel)
{
	if (m->bad)
		return WIRE_BROKEN;
	struct header h = { .magic = WIRE_MAGIC, .type = m->type, .length = (uint32_t)m->len };
	struct sending s = { .part = { { &h, sizeof h }, { m->data, m->len } } };
	while (s.at < 2) {
		struct msghdr msg = { .msg_iov = &s.part[s.at], .msg_iovlen = 2 - s.at };
		union {
			struct cmsghdr align;
			char bytes[CMSG_SPACE(sizeof(int))];
		} control = { 0 };
		if (pass_fd >= 0) {
			msg.msg_control = control.bytes;
			msg.msg_controllen = sizeof control.bytes;
			struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
			c->cmsg_level = SOL_SOCKET;
			c->cmsg_type = SCM_RIGHTS;
			c->cmsg_len = CMSG_LEN(sizeof(int));
			memcpy(CMSG_DATA(c), &pass_fd, sizeof pass_fd);
		}
		const ssize_t k = sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (k > 0) {
			note_sent(&s, (size_t)k);
			pass_fd = -1;
			continue;
		}
		const enum wire_status w =
			k < 0 && !is_later() ? WIRE_CLOSED : wait_for(fd, POLLOUT, deadline, cancel);
		if (w != WIRE_OK)
			return w;
	}
	return WIRE_OK;
}

/* A descriptor that came along is kept in @m, any further one is closed. */
static void take_descriptor(struct msghdr *msg, struct wire_msg *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
			if (m->fd < 0)
				m->fd = fd;
			else
				close(fd);
		}
	}
}

static enum wire_status recv_all(int fd, void *bytes, size_t n, struct wire_msg *m, double deadline,
                                 const atomic_bool *cancel)
{
	for (size_t at = 0; at < n;) {
		struct iovec iov = { (uint8_t *)bytes + at, n - at };
		union {
			struct cmsghdr align;
			char bytes[CMSG_SPACE(4 * sizeof(int))];
		} control;
		struct msghdr msg = { .msg_iov = &iov,
			                  .msg_iovlen = 1,
			                  .msg_control = control.bytes,
			                  .msg_controllen = sizeof control.bytes };
		ssize_t k = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (k > 0) {
			take_descriptor(&msg, m);
			at += (size_t)k;
		} else if (k == 0) {
			return at ? WIRE_BROKEN : WIRE_CLOSED;
		} else {
			const enum wire_status s =
				is_later() ? wait_for(fd, POLLIN, deadline, cancel) : WIRE_CLOSED;
			if (s != WIRE_OK)
				return s;
		}
	}
	return WIRE_OK;
}

enum wire_status wire_recv(int fd, struct wire_msg *m, double deadline, const atomic_bool *cancel)
{
	wire_begin(m, 0);
	struct header h;
	enum wire_status s = recv_all(fd, &h, sizeof h, m, deadline, cancel);
	if (s == WIRE_OK && (h.magic != WIRE_MAGIC || h.length > WIRE_MAX_PAYLOAD || h.zero))
		s = WIRE_BROKEN;
	if (s == WIRE_OK) {
		m->type = h.type;
		m->data = mem_alloc(h.length ? h.length : 1);
		m->len = m->cap = h.length;
		if (h.length)
			s = recv_all(fd, m->data, h.length, m, deadline, cancel);
		if (s == WIRE_CLOSED)
			s = WIRE_BROKEN; /* cut off between header and end */
	}
	if (s != WIRE_OK)
		wire_free(m);
	return s;
}
