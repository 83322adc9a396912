/*
 * The GPU worker process: reads a request, does it, answers; ends when the program does.
 *
 * Everything that can crash, hang or poison a process is here and below: the driver, CUPTI, user
 * kernels. Knows no session, kernel family or screen.
 */
#include "cuda/cuda_worker.h"
#include "cuda/cuda_work.h"
#include "base/child.h"
#include "model/record_tables.h"
#include "model/record_wire.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct mapped_buffers {
	uint8_t *data;
	size_t bytes;
	dev_t device;
	ino_t inode;
};

static bool refuse(struct gpu_worker *w, const struct cuda_fault *why)
{
	struct wire_msg m;
	wire_begin(&m, MSG_REFUSED);
	cuda_put_fault(&m, why);
	wire_put_u32(&m, w->poisoned); /* this process ends now: do not send it another request */
	return work_answer(w, &m);
}

static void serve_probe(struct gpu_worker *w, struct wire_msg *m)
{
	unsigned device = wire_get_upto(m, CUDA_MAX_DEVICES - 1);
	struct cuda_info info;
	work_probe(w, device, &info);
	struct wire_msg out;
	wire_begin(&out, MSG_PROBED);
	cuda_put_info(&out, &info);
	work_answer(w, &out);
}

static void serve_sheet(struct gpu_worker *w, struct wire_msg *m)
{
	unsigned device = wire_get_upto(m, CUDA_MAX_DEVICES - 1);
	struct gpu_spec g;
	struct cuda_fault why = { 0 };
	if (!work_sheet(w, device, &g, &why)) {
		refuse(w, &why);
		return;
	}
	struct wire_msg out;
	wire_begin(&out, MSG_SHEET_IS);
	cuda_put_sheet(&out, &g);
	work_answer(w, &out);
}

static void serve_job(struct gpu_worker *w, struct wire_msg *m, uint8_t *shared, uint64_t bytes)
{
	struct cuda_job job;
	struct cuda_fault why = { 0 };
	if (!cuda_get_job(m, bytes, &job)) {
		fault_set(&why, FAULT_OTHER, "the request could not be read");
		refuse(w, &why);
		return;
	}
	struct cuda_report report;
	memset(&report, 0, sizeof report);
	for (unsigned i = 0; i < METRIC_COUNT; i++) {
		report.metric[i] = (double)NAN;
		report.metric_why[i] = FAULT_NOT_ASKED;
	}
	if (run_job(w, &job, shared, &report, &why)) {
		struct wire_msg out;
		wire_begin(&out, MSG_REPORT);
		cuda_put_report(&out, &report);
		work_answer(w, &out);
	} else {
		refuse(w, &why);
	}
	cuda_report_free(&report);
}

/*
 * Maps what came with a run. It stays mapped until other memory comes or this process ends: the
 * next run is often on the same, and the program need not wait until so many pages are given back.
 */
static uint8_t *map_buffers(struct mapped_buffers *m, int fd, struct cuda_fault *why)
{
	struct stat st;
	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0) {
		fault_set(why, FAULT_OTHER, "the run came without its buffers");
		return NULL;
	}
	if (m->data && m->device == st.st_dev && m->inode == st.st_ino)
		return m->data;
	if (m->data)
		munmap(m->data, m->bytes);
	*m = (struct mapped_buffers){ .bytes = (size_t)st.st_size,
		                          .device = st.st_dev,
		                          .inode = st.st_ino };
	m->data = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (m->data == MAP_FAILED) {
		m->data = NULL;
		fault_set(why, FAULT_OTHER, "mmap of %zu bytes: %s", m->bytes, strerror(errno));
	}
	return m->data;
}

static void serve_run(struct gpu_worker *w, struct wire_msg *m)
{
	static struct mapped_buffers mapped;
	struct cuda_fault why = { 0 };
	uint8_t *shared = map_buffers(&mapped, m->fd, &why);
	if (shared)
		serve_job(w, m, shared, mapped.bytes);
	else
		refuse(w, &why);
}

static void serve_gemm(struct gpu_worker *w, struct wire_msg *m)
{
	struct cuda_gemm_job j;
	struct run_timing t;
	struct cuda_fault why = { 0 };
	memset(&t, 0, sizeof t);
	if (!cuda_get_gemm(m, &j)) {
		fault_set(&why, FAULT_OTHER, "the request could not be read");
		refuse(w, &why);
	} else if (!gemm_time(w, &j, &t, &why)) {
		refuse(w, &why);
	} else {
		struct wire_msg out;
		wire_begin(&out, MSG_GEMM_IS);
		record_put(&out, &timing_table, &t);
		work_answer(w, &out);
	}
}

int cuda_worker_main(int fd)
{
	if (!child_begin(fd))
		return 2; /* started by hand */
	static struct gpu_worker w;
	w.fd = fd;
	struct wire_msg hello;
	wire_begin(&hello, MSG_HELLO);
	wire_put_u32(&hello, CUDA_PROTOCOL);
	if (!work_answer(&w, &hello))
		return 0;
	while (!w.poisoned) {
		struct wire_msg m;
		if (wire_recv(fd, &m, (double)INFINITY, NULL) != WIRE_OK)
			break;
		uint32_t what = m.type;
		switch (what) {
		case MSG_PROBE: serve_probe(&w, &m); break;
		case MSG_SHEET: serve_sheet(&w, &m); break;
		case MSG_RUN: serve_run(&w, &m); break;
		case MSG_GEMM: serve_gemm(&w, &m); break;
		default: break; /* CANCEL of a run that is over; anything unknown */
		}
		wire_free(&m);
		if (what == MSG_BYE)
			break;
	}
	/* No library's exit handlers: after a fault they may hang. */
	_exit(w.poisoned ? 3 : 0);
}
