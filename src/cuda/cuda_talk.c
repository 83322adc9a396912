/*
 * What the worker tells the program while it works, and whether the program wants it to stop.
 */
#include "cuda/cuda_work.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>

bool work_answer(struct gpu_worker *w, struct wire_msg *m)
{
	bool ok = wire_send(w->fd, m, -1, (double)INFINITY, NULL) == WIRE_OK;
	wire_free(m);
	return ok;
}

void work_step(struct gpu_worker *w, const char *fmt, ...)
{
	char text[160];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	struct wire_msg m;
	wire_begin(&m, MSG_STEP);
	wire_put_str(&m, text);
	work_answer(w, &m);
}

void work_progress(struct gpu_worker *w, double fraction)
{
	struct wire_msg m;
	wire_begin(&m, MSG_PROGRESS);
	wire_put_f64(&m, fraction);
	work_answer(w, &m);
}

bool work_cancelled(struct gpu_worker *w)
{
	uint32_t head[2]; /* magic, type: see cuda_wire.c */
	ssize_t n = recv(w->fd, head, sizeof head, MSG_PEEK | MSG_DONTWAIT);
	return n == (ssize_t)sizeof head && head[1] == MSG_CANCEL;
}

bool work_stopped(struct gpu_worker *w, struct cuda_fault *why)
{
	return work_cancelled(w) && !fault_set(why, FAULT_CANCELLED, "%s", "");
}
