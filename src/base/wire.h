/*
 * Framed messages between two processes of this program, over a socket pair.
 *
 * A frame is magic, type, length and payload in host order (both ends are the same binary). The
 * writer appends fields to a message; the reader takes them in the same order and never reads past
 * the end: the first short field marks the message bad and everything after it reads as zero.
 * Knows nothing of what a message means.
 */
#ifndef PMPP_BASE_WIRE_H
#define PMPP_BASE_WIRE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_MAX_PAYLOAD (64u << 20)

struct wire_msg {
	uint32_t type;
	uint8_t *data;
	size_t len, cap;
	size_t at; /* read position */
	bool bad;  /* a read went past the end, or a length was out of bounds */
	int fd;    /* descriptor that came with the frame; -1 = none. Owned */
};

void wire_begin(struct wire_msg *m, uint32_t type); /* a new message to write */
void wire_free(struct wire_msg *m);

void wire_put(struct wire_msg *m, const void *bytes, size_t n);
void wire_put_u32(struct wire_msg *m, uint32_t v);
void wire_put_u64(struct wire_msg *m, uint64_t v);
void wire_put_f64(struct wire_msg *m, double v);
void wire_put_str(struct wire_msg *m, const char *s); /* NULL is written as "" */
void wire_put_blob(struct wire_msg *m, const void *bytes, size_t n);

bool wire_get(struct wire_msg *m, void *bytes, size_t n);
uint32_t wire_get_u32(struct wire_msg *m);
/* A count or index; more than @max marks the message bad and reads as 0. */
uint32_t wire_get_upto(struct wire_msg *m, uint32_t max);
uint64_t wire_get_u64(struct wire_msg *m);
double wire_get_f64(struct wire_msg *m);
/* Always terminates @out. A text longer than @size - 1 marks the message bad. */
void wire_get_str(struct wire_msg *m, char *out, size_t size);
/* Points into the message. */
const void *wire_get_blob(struct wire_msg *m, size_t *n);
/* Everything was read, and nothing was missing. */
bool wire_end(const struct wire_msg *m);

enum wire_status {
	WIRE_OK,
	WIRE_CLOSED, /* the other side is gone */
	WIRE_TIMEOUT,
	WIRE_CANCELLED,
	WIRE_BROKEN, /* not a frame of ours: magic or length is wrong, or it was cut short */
};

/* Waits until @deadline (clock_now_s() seconds; infinity = for ever) or until *@cancel; NULL = no.
 */
enum wire_status wire_send(int fd, const struct wire_msg *m, int pass_fd, double deadline,
                           const atomic_bool *cancel);
/* On WIRE_OK @m holds the frame, ready to be read; otherwise it is empty. wire_free() either way.
 */
enum wire_status wire_recv(int fd, struct wire_msg *m, double deadline, const atomic_bool *cancel);

#endif
