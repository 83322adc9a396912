/* Frames and messages: what is written is read back; what is cut, oversized or random is refused.
 */
#define _GNU_SOURCE /* memfd_create */
#include "../unit.h"
#include "cuda/cuda_msg.h"
#include "base/monotonic.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static int pair[2];

static int open_pair(void **state)
{
	(void)state;
	return socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
}

static int close_pair(void **state)
{
	(void)state;
	close(pair[0]);
	if (pair[1] >= 0)
		close(pair[1]);
	return 0;
}

/* For what is to run out. */
static double soon(void)
{
	return clock_now_s() + 0.05;
}

/* For what is not, however busy the machine. */
static double in_time(void)
{
	return clock_now_s() + 60;
}

TEST_WITH(a_frame_arrives_whole, open_pair, close_pair)
{
	struct wire_msg m, got;
	wire_begin(&m, 7);
	wire_put_u32(&m, 42);
	wire_put_str(&m, "sgemm");
	wire_put_str(&m, NULL);
	wire_put_f64(&m, -1.5);
	wire_put_u64(&m, UINT64_MAX);
	int fd = memfd_create("test", 0);
	assert_int_equal(wire_send(pair[0], &m, fd, in_time(), NULL), WIRE_OK);
	close(fd);
	wire_free(&m);
	assert_int_equal(wire_recv(pair[1], &got, in_time(), NULL), WIRE_OK);
	assert_int_equal(got.type, 7);
	assert_true(got.fd >= 0);
	char text[8];
	assert_int_equal(wire_get_u32(&got), 42);
	wire_get_str(&got, text, sizeof text);
	assert_string_equal(text, "sgemm");
	wire_get_str(&got, text, sizeof text);
	assert_string_equal(text, "");
	assert_true(wire_get_f64(&got) == -1.5);
	assert_false(wire_end(&got));
	assert_true(wire_get_u64(&got) == UINT64_MAX);
	assert_true(wire_end(&got));
	assert_int_equal(wire_get_u32(&got), 0);
	assert_true(got.bad);
	wire_free(&got);
}

TEST(a_text_that_does_not_fit_is_bad)
{
	struct wire_msg m;
	char text[4];
	wire_begin(&m, 1);
	wire_put_str(&m, "four");
	wire_get_str(&m, text, sizeof text);
	assert_true(m.bad);
	assert_string_equal(text, "");
	wire_free(&m);
	wire_begin(&m, 1);
	wire_put_blob(&m, "a\0b", 3);
	wire_get_str(&m, text, sizeof text);
	assert_true(m.bad);
	wire_free(&m);
	wire_begin(&m, 1);
	wire_put_u32(&m, 9);
	assert_int_equal(wire_get_upto(&m, 8), 0);
	assert_true(m.bad);
	wire_free(&m);
}

TEST_WITH(silence_and_cancellation_end_a_wait, open_pair, close_pair)
{
	struct wire_msg m;
	double begin = clock_now_s();
	assert_int_equal(wire_recv(pair[0], &m, clock_now_s() + 0.03, NULL), WIRE_TIMEOUT);
	assert_true(clock_now_s() - begin < 1);
	atomic_bool stop = true;
	assert_int_equal(wire_recv(pair[0], &m, (double)INFINITY, &stop), WIRE_CANCELLED);
	close(pair[1]);
	assert_int_equal(wire_recv(pair[0], &m, in_time(), NULL), WIRE_CLOSED);
	wire_begin(&m, 1);
	assert_int_equal(wire_send(pair[0], &m, -1, in_time(), NULL), WIRE_CLOSED);
	pair[1] = -1;
}

/* A reader that never reads must not hold a sender for ever. */
TEST_WITH(a_full_socket_times_out, open_pair, close_pair)
{
	struct wire_msg m;
	static uint8_t much[1 << 20];
	wire_begin(&m, 1);
	for (int i = 0; i < 8; i++)
		wire_put(&m, much, sizeof much);
	assert_int_equal(wire_send(pair[0], &m, -1, soon(), NULL), WIRE_TIMEOUT);
	wire_free(&m);
}

TEST_WITH(too_much_for_a_frame_is_refused, open_pair, close_pair)
{
	struct wire_msg m;
	uint8_t *much = calloc(1, WIRE_MAX_PAYLOAD);
	assert_non_null(much);
	wire_begin(&m, 1);
	wire_put(&m, much, WIRE_MAX_PAYLOAD);
	assert_false(m.bad);
	wire_put(&m, much, 1);
	assert_true(m.bad);
	assert_int_equal(wire_send(pair[0], &m, -1, in_time(), NULL), WIRE_BROKEN);
	wire_free(&m);
	free(much);
}

TEST_WITH(cut_and_oversized_frames_are_broken, open_pair, close_pair)
{
	struct wire_msg m, got;
	wire_begin(&m, 3);
	wire_put_str(&m, "text of a frame");
	assert_int_equal(wire_send(pair[0], &m, -1, in_time(), NULL), WIRE_OK);
	uint8_t bytes[256];
	ssize_t n = recv(pair[1], bytes, sizeof bytes, 0);
	assert_true(n > 16);
	wire_free(&m);
	for (ssize_t cut = 0; cut < n; cut++) {
		int p[2];
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, p), 0);
		if (cut)
			assert_int_equal(send(p[0], bytes, (size_t)cut, 0), cut);
		close(p[0]);
		assert_int_equal(wire_recv(p[1], &got, in_time(), NULL), cut ? WIRE_BROKEN : WIRE_CLOSED);
		assert_null(got.data);
		close(p[1]);
	}
	/* length: 64 MiB and a byte, and 4 GiB - 1 */
	const uint32_t lengths[] = { WIRE_MAX_PAYLOAD + 1, UINT32_MAX };
	for (size_t i = 0; i < 2; i++) {
		memcpy(bytes + 8, &lengths[i], 4);
		assert_int_equal(send(pair[0], bytes, (size_t)n, 0), n);
		assert_int_equal(wire_recv(pair[1], &got, in_time(), NULL), WIRE_BROKEN);
		recv(pair[1], bytes + 128, 128, MSG_DONTWAIT);
	}
}

static struct cuda_job sample_job(void)
{
	struct cuda_job j = { .device = 1,
		                  .caps = 5,
		                  .repeat = 7,
		                  .warm_l2 = true,
		                  .entry = "k_v0",
		                  .source_file = "k.cu",
		                  .grid = { 4, 5, 6 },
		                  .block = { 32, 2, 1 },
		                  .dynamic_shared_bytes = 1024,
		                  .n_buffers = 2,
		                  .n_args = 5 };
	snprintf(j.buffers[0].name, sizeof j.buffers[0].name, "A");
	j.buffers[0].bytes = 100;
	j.buffers[1] = j.buffers[0];
	j.buffers[1].offset = 256;
	j.buffers[1].role = BUF_INOUT;
	j.args[0] = (struct kernel_arg){ .kind = ARG_BUFFER, .buffer = 1 };
	j.args[1] = (struct kernel_arg){ .kind = ARG_I32, .i32 = -7 };
	j.args[2] = (struct kernel_arg){ .kind = ARG_U32, .u32 = 0xfedcba98 };
	j.args[3] = (struct kernel_arg){ .kind = ARG_I64, .i64 = INT64_MIN };
	j.args[4] = (struct kernel_arg){ .kind = ARG_F32, .f32 = 0.1f };
	j.cubin = "\177ELF not really";
	j.cubin_len = 15;
	j.ptx = ".version 8.0";
	j.ptx_len = 12;
	return j;
}

TEST(a_job_is_read_back)
{
	struct cuda_job j = sample_job(), k;
	struct wire_msg m;
	wire_begin(&m, MSG_RUN);
	cuda_put_job(&m, &j);
	assert_true(cuda_get_job(&m, 356, &k));
	assert_string_equal(k.entry, "k_v0");
	assert_int_equal(k.block.x, 32);
	assert_int_equal(k.args[0].buffer, 1);
	assert_int_equal(k.args[1].i32, -7);
	assert_true(k.args[2].u32 == 0xfedcba98);
	assert_true(k.args[3].i64 == INT64_MIN);
	assert_true(k.args[4].f32 == 0.1f);
	assert_memory_equal(k.cubin, j.cubin, 15);
	assert_string_equal(k.ptx, j.ptx);
	assert_int_equal(k.buffers[1].role, BUF_INOUT);
	/* the last buffer ends at 356: less memory than that is refused */
	m.at = 0;
	assert_false(cuda_get_job(&m, 355, &k));
	wire_free(&m);
	/* a buffer argument that is none */
	j.args[0].buffer = 2;
	wire_begin(&m, MSG_RUN);
	cuda_put_job(&m, &j);
	assert_false(cuda_get_job(&m, 356, &k));
	wire_free(&m);
}

static bool program_passes(const struct stream_op *op)
{
	struct cuda_job j = sample_job(), k;
	struct wire_msg m;
	j.buffers[0].elem = j.buffers[1].elem = 4;
	j.program.n_ops = 1;
	j.program.ops[0] = *op;
	wire_begin(&m, MSG_RUN);
	cuda_put_job(&m, &j);
	const bool ok = cuda_get_job(&m, 356, &k);
	if (ok)
		assert_memory_equal(&k.program.ops[0], op, sizeof *op);
	wire_free(&m);
	return ok;
}

/* Buffers of 25 elements of 4 bytes: an operation beyond them never reaches the GPU. */
TEST(a_program_stays_within_its_buffers)
{
	struct stream_op copy = { .kind = SOP_D2H,
		                      .name = "r7",
		                      .stream = 3,
		                      .bytes = 40,
		                      .pinned = true,
		                      .async = true,
		                      .buffer = 1,
		                      .first = 15,
		                      .count = 10 };
	struct stream_op kernel = {
		.kind = SOP_KERNEL, .name = "k", .launch = 1, .first = 20, .count = 5
	};
	struct stream_op wait = { .kind = SOP_WAIT, .stream = 1, .event = 2 };
	assert_true(program_passes(&copy));
	assert_true(program_passes(&kernel));
	assert_false(program_passes(&wait)); /* nothing was recorded */
	copy.first = 16;
	assert_false(program_passes(&copy));
	copy.first = UINT64_MAX / 4 + 1; /* would wrap to 0 */
	assert_false(program_passes(&copy));
	copy.first = 0;
	copy.buffer = 2;
	assert_false(program_passes(&copy));
	kernel.first = 21;
	assert_false(program_passes(&kernel));
	kernel.first = 0;
	kernel.launch = STREAM_LAUNCHES;
	assert_false(program_passes(&kernel));
}

static struct cuda_report sample_report(struct span *spans, struct line_counts *lines)
{
	struct cuda_report r = { .run = { .n_stalls = 1,
		                              .n_spans = 2,
		                              .spans = spans,
		                              .counts = { .n_lines = 2, .lines = lines },
		                              .counter_passes = 5 } };
	snprintf(r.run.stalls[0].reason, sizeof r.run.stalls[0].reason, "wait");
	snprintf(spans[0].name, sizeof spans[0].name, "H2D A");
	spans[1].kind = SPAN_D2H;
	lines[1].line = 12;
	lines[1].c.warp_executed = 99;
	for (unsigned i = 0; i < METRIC_COUNT; i++)
		r.metric[i] = i;
	r.run.timing.median_ns = 5000;
	r.run.timing.n = 9;
	fault_set(&r.cap[CAPN_COUNTERS], FAULT_PRIVILEGES, "%s", "35");
	return r;
}

TEST(a_report_is_read_back)
{
	struct span spans[2] = { 0 };
	struct line_counts lines[2] = { 0 };
	struct cuda_report r = sample_report(spans, lines), got;
	struct wire_msg m;
	wire_begin(&m, MSG_REPORT);
	cuda_put_report(&m, &r);
	assert_true(cuda_get_report(&m, &got));
	assert_int_equal(got.run.n_spans, 2);
	assert_string_equal(got.run.spans[0].name, "H2D A");
	assert_int_equal(got.run.counts.lines[1].c.warp_executed, 99);
	assert_true(got.metric[3] == 3);
	assert_int_equal(got.cap[CAPN_COUNTERS].id, FAULT_PRIVILEGES);
	cuda_report_free(&got);
	wire_free(&m);
}

/* Any prefix, and any message with some bytes changed, is read or refused, never a crash. */
TEST(damaged_messages_do_no_harm)
{
	struct span spans[2] = { 0 };
	struct line_counts lines[2] = { 0 };
	struct cuda_job j = sample_job();
	struct cuda_report r = sample_report(spans, lines);
	struct cuda_info info = { .n_devices = 2 };
	struct gpu_spec *g = calloc(1, sizeof *g);
	assert_non_null(g);
	g->sm_count = 1;
	g->warp_size = 32;
	struct wire_msg whole[4];
	for (unsigned t = 0; t < 4; t++)
		wire_begin(&whole[t], t);
	cuda_put_job(&whole[0], &j);
	cuda_put_report(&whole[1], &r);
	cuda_put_info(&whole[2], &info);
	cuda_put_sheet(&whole[3], g);
	uint64_t seed = 1;
	unsigned read = 0, refused = 0;
	for (unsigned round = 0; round < 20000; round++) {
		const struct wire_msg *w = &whole[round % 4];
		uint64_t dice = rand_next(&seed);
		size_t len = dice & 1 ? w->len : (dice >> 1) % (w->len + 1);
		struct wire_msg m = {
			.type = w->type, .len = len, .cap = len, .fd = -1, .data = malloc(len ? len : 1)
		};
		assert_non_null(m.data);
		memcpy(m.data, w->data, len);
		for (unsigned i = 0; len && i < (dice >> 40) % 6; i++)
			m.data[rand_next(&seed) % len] = (uint8_t)rand_next(&seed);
		bool ok = false;
		struct cuda_job job;
		struct cuda_report report;
		switch (w->type) {
		case 0:
			ok = cuda_get_job(&m, 356, &job);
			for (unsigned b = 0; ok && b < job.n_buffers; b++)
				assert_true(job.buffers[b].offset + job.buffers[b].bytes <= 356);
			for (unsigned a = 0; ok && a < job.n_args; a++)
				assert_true(job.args[a].kind != ARG_BUFFER || job.args[a].buffer < job.n_buffers);
			assert_true(!ok || !job.ptx || job.ptx[job.ptx_len] == '\0');
			break;
		case 1:
			ok = cuda_get_report(&m, &report);
			if (ok)
				cuda_report_free(&report);
			break;
		case 2:
			ok = cuda_get_info(&m, &info);
			assert_true(!ok || info.n_devices <= CUDA_MAX_DEVICES);
			break;
		default:
			ok = cuda_get_sheet(&m, g);
			assert_true(!ok || memchr(g->name, 0, sizeof g->name) != NULL);
		}
		read += ok;
		refused += !ok;
		wire_free(&m);
	}
	assert_true(read > 1000 && refused > 1000);
	for (unsigned t = 0; t < 4; t++)
		wire_free(&whole[t]);
	free(g);
}

/* Bytes of any kind on the socket: an answer in bounded time, nothing allocated for nonsense. */
TEST(random_bytes_are_no_frame)
{
	uint64_t seed = 7;
	for (unsigned round = 0; round < 500; round++) {
		int p[2];
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, p), 0);
		uint8_t bytes[64];
		size_t n = 1 + rand_next(&seed) % sizeof bytes;
		for (size_t i = 0; i < n; i++)
			bytes[i] = (uint8_t)rand_next(&seed);
		assert_int_equal(send(p[0], bytes, n, 0), (ssize_t)n);
		close(p[0]);
		struct wire_msg m;
		assert_int_equal(wire_recv(p[1], &m, in_time(), NULL), WIRE_BROKEN);
		close(p[1]);
	}
}
