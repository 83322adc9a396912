/*
 * What the rules of capturing refuse: calls that wait for the device, or for work outside a
 * capture, spoil captures.
 */
#ifndef PMPP_RUNTIME_GUEST_CAPTURE_RULES_H
#define PMPP_RUNTIME_GUEST_CAPTURE_RULES_H

#include "runtime/guest/guest.h"

#include <pthread.h>

struct guest_capture {
	uint64_t number; /* 1, 2 ... : an event tells by it whether its capture goes on */
	struct guest_graph *graph;
	struct guest_stream *origin;
	enum cudaStreamCaptureMode mode;
	pthread_t thread;        /* that began it */
	bool ours;               /* the graph: the program does not know it yet */
	bool spoiled;            /* it ends without a graph */
	struct guest_front left; /* last nodes of its streams that are no more */
	struct guest_capture *next;
};
extern struct guest_capture *guest_captures; /* those that go on */

/* That in which @e was recorded; NULL = it has ended. */
struct guest_capture *capture_of_event(const struct guest_event *e);
/* A call that waits for @s, which is captured: the capture is spoiled. */
cudaError_t guest_capture_spoil(struct guest_stream *s);
/* The device is waited for: every capture is spoiled. */
cudaError_t guest_capture_spoil_all(void);
/* The host waits for @s, captured or not, or asks whether it is done. */
cudaError_t guest_capture_await(struct guest_stream *s);
/* A call of @s (NULL: there is no such stream) that can be no node. */
cudaError_t guest_capture_no_node(struct guest_stream *s);
/* A call that may meet captures without naming a stream of theirs, such as cudaMalloc(): spoils
 * those whose mode does not allow it. */
cudaError_t guest_capture_unsafe(void);
/* @s is the legacy stream, and a stream that it would wait for is captured; @spoil: no longer. */
bool capture_meets(const struct guest_stream *s, bool spoil);
/* Work of @s, which is not captured: the legacy stream spoils the captures that it would wait for.
 */
cudaError_t guest_capture_implicit(const struct guest_stream *s);
/* The host asks for an event: not for one that was recorded in a capture. */
cudaError_t guest_capture_ask(const struct guest_event *e);

/* As GUEST_CALL_FOR(), for calls that captures forbid by their modes. */
#define GUEST_UNSAFE_CALL_FOR(need, ...)        \
	do {                                        \
		cudaError_t e_ = guest_enter_for(need); \
		if (e_ == cudaSuccess)                  \
			e_ = guest_capture_unsafe();        \
		if (e_ == cudaSuccess)                  \
			e_ = (__VA_ARGS__);                 \
		return guest_leave(e_);                 \
	} while (0)
#define GUEST_UNSAFE_CALL(...) GUEST_UNSAFE_CALL_FOR(GUEST_NEEDS_DEVICE, __VA_ARGS__)

#endif
