/* See guest_capture_rules.h. */
#include "runtime/guest/guest_capture_rules.h"

struct guest_capture *guest_captures;
static _Thread_local enum cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

struct guest_capture *capture_of_event(const struct guest_event *e)
{
	struct guest_capture *c = guest_captures;
	while (c && c->number != e->capture_number)
		c = c->next;
	return c;
}

cudaError_t guest_capture_spoil(struct guest_stream *s)
{
	s->capture->spoiled = true;
	return cudaErrorStreamCaptureUnsupported;
}

cudaError_t guest_capture_spoil_all(void)
{
	for (struct guest_capture *c = guest_captures; c; c = c->next)
		c->spoiled = true;
	return guest_captures ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

static bool forbids(const struct guest_capture *c)
{
	if (c->mode == cudaStreamCaptureModeRelaxed || thread_mode == cudaStreamCaptureModeRelaxed)
		return false;
	return pthread_equal(c->thread, pthread_self()) ||
	       (c->mode == cudaStreamCaptureModeGlobal && thread_mode == cudaStreamCaptureModeGlobal);
}

cudaError_t guest_capture_unsafe(void)
{
	cudaError_t e = cudaSuccess;
	for (struct guest_capture *c = guest_captures; c; c = c->next)
		if (forbids(c)) {
			c->spoiled = true;
			e = cudaErrorStreamCaptureUnsupported;
		}
	return e;
}

bool capture_meets(const struct guest_stream *s, bool spoil)
{
	bool met = false;
	if (!guest_captures || s != guest.streams)
		return false;
	for (const struct guest_stream *o = guest.streams; o; o = o->next)
		if (o->capture && !(o->flags & cudaStreamNonBlocking)) {
			met = true;
			o->capture->spoiled |= spoil;
		}
	return met;
}

cudaError_t guest_capture_implicit(const struct guest_stream *s)
{
	return capture_meets(s, true) ? cudaErrorStreamCaptureImplicit : cudaSuccess;
}

cudaError_t guest_capture_await(struct guest_stream *s)
{
	if (s->capture)
		return guest_capture_spoil(s);
	const cudaError_t e = guest_capture_implicit(s);
	return e == cudaSuccess ? guest_capture_unsafe() : e;
}

cudaError_t guest_capture_no_node(struct guest_stream *s)
{
	if (!s)
		return cudaErrorInvalidResourceHandle;
	return s->capture ? guest_capture_spoil(s) : guest_capture_implicit(s);
}

cudaError_t guest_capture_ask(const struct guest_event *e)
{
	if (!e->capture_number)
		return guest_capture_unsafe();
	struct guest_capture *c = capture_of_event(e);
	if (!c || c->spoiled)
		return cudaErrorInvalidValue;
	c->spoiled = true;
	return cudaErrorCapturedEvent;
}

static cudaError_t exchange(enum cudaStreamCaptureMode *mode)
{
	if (!mode)
		return cudaErrorInvalidValue;
	const enum cudaStreamCaptureMode was = thread_mode;
	thread_mode = *mode;
	*mode = was;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI
cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
	GUEST_ANY_CALL(exchange(mode));
}
