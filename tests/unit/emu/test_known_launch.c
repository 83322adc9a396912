/*
 * Launches of a program that repeat an earlier one are not run again, where that is proved; and
 * memory holds what it would hold had they run.
 */
#include "../unit.h"
#include "emu/device.h"
#include "emu/memory/memory.h"

#include <string.h>

#define ENTRY(name, body)                                                                   \
	".visible .entry " name "(.param .u64 in, .param .u64 out)\n{\n"                        \
	".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .pred %p<2>;\n"                              \
	"ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\n"                                 \
	"mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"                 \
	"mad.lo.u32 %r1, %r2, %r3, %r1;\nmul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd4, %rd1, %rd3;" \
	"\nadd.u64 %rd5, %rd2, %rd3;\n" body "ret;\n}\n"
#define HEADER ".version 8.0\n.target sm_90\n.address_size 64\n"
#define READ "ld.global.u32 %r4, [%rd4];\n"
#define WRITE "st.global.u32 [%rd5], %r4;\n"

/* clang-format off */
static const char code[] = HEADER
	".global .u32 tickets;\n" ENTRY("triple", READ "mul.lo.u32 %r4, %r4, 3;\n" WRITE)
	/* keeps the launch going for a while, so that comparing is worth it */
	ENTRY("work", READ "mov.u32 %r5, 0;\nloop:\nmad.lo.u32 %r4, %r4, 5, %r5;\n"
                       "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 4000;\n@%p1 bra loop;\n" WRITE)
	ENTRY("sum", READ "red.global.add.u32 [%rd2], %r4;\n")
	ENTRY("unused_ticket", READ "atom.global.add.u32 %r5, [%rd2], %r4;\n")
	ENTRY("ticket", "atom.global.add.u32 %r4, [tickets], 1;\n" WRITE)
	ENTRY("time", "mov.u32 %r4, %clock;\n" WRITE)
	ENTRY("beyond", "ld.global.u32 %r4, [%rd4+65536];\n" WRITE)
	ENTRY("odd_only", READ "and.b32 %r5, %r4, 1;\nsetp.eq.u32 %p1, %r5, 1;\n"
                           "@%p1 st.global.u32 [%rd5], %r4;\n")
	ENTRY("index", READ "and.b32 %r4, %r4, 255;\nmul.wide.u32 %rd6, %r4, 4;\n"
                        "add.u64 %rd6, %rd1, %rd6;\nld.global.u32 %r4, [%rd6];\n" WRITE)
	ENTRY("larger", READ "ld.global.u32 %r5, [%rd5];\nsetp.gt.u32 %p1, %r4, %r5;\n"
                         "selp.b32 %r4, %r4, %r5, %p1;\n" WRITE);
/* clang-format on */

#define N 4096
#define BYTES (N * sizeof(uint32_t))

struct bench {
	struct emu_device *device;
	struct emu_module *module;
	uint64_t in, out, launches;
};

static struct bench open_bench(enum emu_memory kind)
{
	struct bench b = { 0 };
	struct err err = { 0 };
	if (UNIT_TSAN)
		skip(); /* which has the addresses of a device itself */
	assert_true(emu_device_new(&b.device, gpu_find("h200"), &err));
	if (!emu_module_load(b.device, code, "test", &b.module, &err))
		fail_msg("%s", err.msg);
	b.in = emu_device_alloc(b.device, BYTES, kind, NULL);
	b.out = emu_device_alloc(b.device, BYTES, kind, NULL);
	assert_true(b.in && b.out);
	return b;
}

static void close_bench(struct bench *b)
{
	emu_module_unload(b->device, b->module);
	emu_device_free(b->device);
}

static uint32_t *memory(uint64_t address)
{
	return (uint32_t *)(uintptr_t)address;
}

/* The host copies 0, 1, 2 ... there, from @first on. */
static void copy_in(const struct bench *b, uint64_t to, uint32_t first)
{
	for (uint32_t i = 0; i < N; i++)
		memory(to)[i] = first + i;
	emu_device_mark_written(b->device, to, BYTES);
}

static uint64_t counts_as; /* of the last launch */

/* The number of the launch that it repeated; 0 = it ran. */
static uint64_t launch(struct bench *b, const char *name, uint64_t in, uint64_t out, bool counted)
{
	const uint64_t params[2] = { in, out };
	const struct emu_launch_request req = {
		.function = emu_module_function(b->module, name),
		.grid = { N / 128, 1, 1 },
		.block = { 128, 1, 1 },
		.params = params,
		.number = ++b->launches,
		.counting = counted ? EMU_COUNT_ALL : EMU_COUNT_NONE,
		.check_races = RACES_OFF,
		.threads = 2,
	};
	struct run_result res;
	struct run_findings findings;
	struct err err = { 0 };
	assert_non_null(req.function);
	if (!emu_launch(b->device, &req, NULL, &res, &findings, &err))
		fail_msg("%s: %s", name, err.msg);
	const uint64_t same = res.same_as;
	counts_as = res.counts_as;
	run_result_free(&res);
	return same;
}

static uint64_t repeat(struct bench *b, const char *name)
{
	return launch(b, name, b->in, b->out, false);
}

static void is_triple(const struct bench *b, uint32_t first)
{
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(memory(b->out)[i], 3 * (first + i));
}

TEST(a_loop_of_one_launch_runs_once)
{
	struct bench b = open_bench(EMU_MEMORY_DEVICE);
	copy_in(&b, b.in, 7);
	assert_int_equal(launch(&b, "triple", b.in, b.out, true), 0);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(repeat(&b, "triple"), 1);
	is_triple(&b, 7);
	assert_int_equal(launch(&b, "triple", b.in, b.out, true), 0); /* to be counted: it runs */
	close_bench(&b);
}

TEST(one_changed_byte_makes_it_run)
{
	struct bench b = open_bench(EMU_MEMORY_DEVICE);
	copy_in(&b, b.in, 7);
	assert_int_equal(repeat(&b, "triple"), 0);
	((uint8_t *)memory(b.in))[4 * N - 1] ^= 1;
	emu_device_mark_written(b.device, b.in + 4 * N - 1, 1);
	assert_int_equal(repeat(&b, "triple"), 0);
	assert_int_equal(memory(b.out)[N - 1], 3 * ((7 + N - 1) ^ 1u << 24));
	assert_int_equal(repeat(&b, "triple"), 2);
	close_bench(&b);
}

TEST(an_output_that_was_cleared_is_written_again)
{
	struct bench b = open_bench(EMU_MEMORY_DEVICE);
	copy_in(&b, b.in, 7);
	for (unsigned i = 0; i < 4; i++) {
		memset(memory(b.out), 0, BYTES);
		emu_device_mark_written(b.device, b.out, BYTES);
		repeat(&b, "triple");
		is_triple(&b, 7);
	}
	close_bench(&b);
}

TEST(another_launch_in_between_counts_as_a_write)
{
	struct bench b = open_bench(EMU_MEMORY_DEVICE);
	copy_in(&b, b.in, 7);
	assert_int_equal(repeat(&b, "triple"), 0);
	assert_int_equal(launch(&b, "triple", b.out, b.in, false), 0);
	assert_int_equal(repeat(&b, "triple"), 0);
	assert_int_equal(memory(b.out)[0], 27 * 7);
	assert_int_equal(memory(b.out)[N - 1], 27 * (7 + N - 1));
	close_bench(&b);
}

TEST(in_place_runs_every_time)
{
	struct bench b = open_bench(EMU_MEMORY_DEVICE);
	copy_in(&b, b.in, 1);
	uint32_t factor = 1;
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(launch(&b, "triple", b.in, b.in, false), 0);
		factor *= 3;
		assert_int_equal(memory(b.in)[9], 10 * factor);
	}
	close_bench(&b);
}

TEST(in_place_on_the_same_contents_is_put_back)
{
	struct bench b = open_bench(EMU_MEMORY_DEVICE);
	uint32_t first[N];
	uint64_t same[6];
	for (unsigned i = 0; i < 6; i++) {
		copy_in(&b, b.in, i == 4 ? 2 : 1);
		same[i] = launch(&b, "work", b.in, b.in, false);
		if (i == 0)
			memcpy(first, memory(b.in), BYTES);
		else if (i == 4)
			assert_memory_not_equal(first, memory(b.in), BYTES);
		else
			assert_memory_equal(first, memory(b.in), BYTES);
	}
	assert_int_equal(same[0] + same[1], 0); /* seen, then kept */
	assert_int_equal(same[2], 2);
	assert_int_equal(same[3], 2);
	assert_int_equal(same[4], 0);
	close_bench(&b);
}

/* What the kernel "work" makes of a number. */
static uint32_t worked(uint32_t x)
{
	for (uint32_t k = 0; k < 4000; k++)
		x = 5 * x + k;
	return x;
}

TEST(managed_memory_is_looked_at)
{
	struct bench b = open_bench(EMU_MEMORY_MANAGED);
	uint64_t same[6];
	copy_in(&b, b.in, 1);
	for (unsigned i = 0; i < 6; i++) {
		if (i == 4)
			memory(b.in)[77]++; /* the host, without a word */
		same[i] = repeat(&b, "work");
		assert_int_equal(memory(b.out)[76], worked(77));
		assert_int_equal(memory(b.out)[77], worked(i < 4 ? 78 : 79));
	}
	assert_int_equal(same[0] + same[1], 0);
	assert_int_equal(same[3], 2);
	assert_int_equal(same[4], 0);
	close_bench(&b);
}

TEST(host_memory_made_known_is_looked_at)
{
	struct bench b = open_bench(EMU_MEMORY_DEVICE);
	static uint32_t own[N];
	const uint64_t at = (uint64_t)(uintptr_t)own;
	assert_true(emu_device_register(b.device, at, sizeof own, NULL));
	for (unsigned i = 0; i < 8; i++) {
		own[5] = i;
		launch(&b, "triple", at, b.out, false);
		assert_int_equal(memory(b.out)[5], 3 * i);
	}
	emu_device_host_writes(b.device, b.in, false);
	for (unsigned i = 0; i < 8; i++) {
		memory(b.in)[5] = i;
		repeat(&b, "triple");
		assert_int_equal(memory(b.out)[5], 3 * i);
	}
	close_bench(&b);
}

TEST(sums_run_and_add_up)
{
	static const char *const names[] = { "sum", "unused_ticket" };
	struct bench b = open_bench(EMU_MEMORY_DEVICE);
	copy_in(&b, b.in, 0);
	uint32_t want = 0;
	for (unsigned i = 0; i < 2; i++)
		for (unsigned k = 0; k < 4; k++) {
			/* every lane adds to its own word of out, or all to the first */
			assert_int_equal(repeat(&b, names[i]), 0);
			want += N * (N - 1) / 2;
		}
	assert_int_equal(memory(b.out)[0], want);
	close_bench(&b);
}

TEST(clocks_and_tickets_are_never_known)
{
	struct bench b = open_bench(EMU_MEMORY_DEVICE);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(repeat(&b, "time"), 0);
		assert_int_equal(repeat(&b, "ticket"), 0);
	}
	uint64_t address, bytes;
	assert_true(emu_module_variable(b.module, "tickets", &address, &bytes));
	assert_int_equal(memory(address)[0], 4 * N);
	close_bench(&b);
}

TEST(counts_are_proved_where_memory_decides_nothing)
{
	static const struct {
		const char *name;
		uint64_t want;
	} cases[] = {
		{ "triple", 1 }, { "work", 1 }, { "larger", 1 }, { "odd_only", 0 }, { "index", 0 }
	};
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct bench b = open_bench(EMU_MEMORY_DEVICE);
		copy_in(&b, b.in, 7);
		launch(&b, cases[i].name, b.in, b.out, true);
		copy_in(&b, b.in, 8);
		assert_int_equal(repeat(&b, cases[i].name), 0);
		assert_int_equal(counts_as, cases[i].want);
		launch(&b, cases[i].name, b.out, b.in, false); /* with other parameters */
		assert_int_equal(counts_as, 0);
		close_bench(&b);
	}
	/* the same input: whatever memory decides, it decides the same */
	struct bench b = open_bench(EMU_MEMORY_DEVICE);
	copy_in(&b, b.in, 7);
	launch(&b, "odd_only", b.in, b.out, true);
	assert_int_equal(repeat(&b, "odd_only"), 1);
	assert_int_equal(counts_as, 1);
	close_bench(&b);
}

/* The contents that a launch leaves have a name, by which a cycle of launches goes round: nothing
 * is read. (So what nobody told of is not seen.) */
TEST(a_cycle_of_launches_reads_no_memory)
{
	struct bench b = open_bench(EMU_MEMORY_DEVICE);
	uint64_t same[2] = { 0, 0 };
	copy_in(&b, b.in, 7);
	for (unsigned i = 0; i < 6; i++) {
		if (i == 5)
			memory(b.out)[9] ^= 1;
		same[0] = launch(&b, "work", b.in, b.out, false);
		same[1] = launch(&b, "work", b.out, b.out, false);
	}
	assert_int_not_equal(same[0], 0);
	assert_int_not_equal(same[1], 0);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(memory(b.out)[i], worked(worked(7 + i)));
	close_bench(&b);
}

TEST(freed_memory_is_no_longer_known)
{
	struct bench b = open_bench(EMU_MEMORY_DEVICE);
	copy_in(&b, b.in, 7);
	assert_int_equal(repeat(&b, "triple"), 0);
	assert_true(emu_device_release(b.device, b.in));
	assert_int_equal(emu_device_alloc(b.device, BYTES, EMU_MEMORY_DEVICE, NULL), b.in);
	copy_in(&b, b.in, 8);
	assert_int_equal(repeat(&b, "triple"), 0);
	is_triple(&b, 8);
	close_bench(&b);
}

TEST(a_fault_is_told_every_time)
{
	struct bench b = open_bench(EMU_MEMORY_DEVICE);
	const uint64_t params[2] = { b.in, b.out };
	for (unsigned i = 0; i < 3; i++) {
		const struct emu_launch_request req = {
			.function = emu_module_function(b.module, "beyond"),
			.grid = { N / 128, 1, 1 },
			.block = { 128, 1, 1 },
			.params = params,
			.number = i + 1,
			.counting = EMU_COUNT_NONE,
			.check_races = RACES_OFF,
		};
		struct run_result res;
		struct run_findings findings;
		struct err err = { 0 };
		emu_launch(b.device, &req, NULL, &res, &findings, &err);
		assert_true(findings.n > 0);
		assert_int_equal(res.same_as, 0);
		run_result_free(&res);
	}
	close_bench(&b);
}

TEST(hashes_tell_contents_apart)
{
	uint8_t a[1000] = { 0 };
	const struct content_hash all = content_hash(a, sizeof a);
	for (unsigned i = 0; i < sizeof a; i++) {
		const struct content_hash shorter = content_hash(a, i);
		assert_memory_not_equal(&shorter, &all, sizeof all);
		for (unsigned bit = 0; bit < 8; bit++) {
			a[i] ^= (uint8_t)(1u << bit);
			const struct content_hash h = content_hash(a, sizeof a);
			assert_int_not_equal(h.part[0], all.part[0]);
			assert_int_not_equal(h.part[1], all.part[1]);
			a[i] ^= (uint8_t)(1u << bit);
		}
	}
}
