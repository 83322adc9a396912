/*
 * Wavefronts and sectors of copies from global to shared memory (count/copy_waves.c): of the
 * patterns of our kernels whose launches an H200 counted (tests/gpu/h200-2026-11-30/run.jsonl), and
 * of 508 launches of one copy of one warp.
 */
#include "../unit.h"
#include "emu/count/copy_waves.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDED "tests/gpu/h200-2026-11-30/micro/copy_waves.jsonl"
#define WAVES "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"
#define SECTORS "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
#define BASE 0x7f0000000000ull

/* Rows of @row lanes, @stride bytes apart. */
static void rows(uint64_t *at, uint64_t first, unsigned bytes, unsigned row, unsigned stride)
{
	for (unsigned l = 0; l < 32; l++)
		at[l] = first + l / row * stride + l % row * bytes;
}

static unsigned waves(const uint64_t *from, const uint64_t *to, unsigned bytes, uint32_t zeros)
{
	return copy_wavefronts(&(struct lane_copies){ .from = from,
	                                              .to = to,
	                                              .mask = ~0u,
	                                              .zeros = zeros,
	                                              .bytes = bytes,
	                                              .past_l1 = bytes == 16 });
}

TEST(past_l1)
{
	uint64_t from[32], to[32];
	rows(from, BASE, 16, 32, 0);
	rows(to, 0, 16, 32, 0);
	assert_int_equal(waves(from, to, 16, 0), 4);
	rows(to, 32, 16, 32, 0); /* gemm_tf32, B: each line goes to two */
	assert_int_equal(waves(from, to, 16, 0), 8);
	rows(from, BASE, 16, 4, 2048); /* hgemm/mma, A: half a line each */
	rows(to, 0, 16, 32, 0);
	assert_int_equal(waves(from, to, 16, 0), 8);
	assert_int_equal(waves(from, to, 16, ~0u), 4); /* random-203: outside of A, nothing is read */
	rows(from, BASE, 16, 8, 2048); /* hgemm/wgmma, A: quads change places within a line */
	for (unsigned l = 0; l < 32; l++)
		to[l] = l / 8 * 128 + (l % 8 ^ l / 8) * 16;
	assert_int_equal(waves(from, to, 16, 0), 4);
	assert_int_equal(waves(from, to, 16, ~0u), 4); /* of zeros: what is written */
}

/* Patterns of zero_copies.cu by where their zeros stand; an H200 counted all but some of P0. */
TEST(zeros_by_where_they_stand)
{
	static const struct {
		enum copy_form form;
		unsigned all_read, ends, ends_of_192, second_row, last_rows;
	} want[] = {
		{ COPY_AS_READ, 8, 4, 6, 4, 8 },
		{ COPY_NOT_READ, 4, 4, 4, 4, 4 },
		{ COPY_APART, 8, 8, 9, 6, 11 },
		{ COPY_TWICE, 16, 8, 10, 8, 16 },
	};
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		uint64_t from[32], to[32];
		struct lane_copies c = {
			.from = from, .to = to, .mask = ~0u, .bytes = 16, .past_l1 = true, .form = want[i].form
		};
		rows(from, BASE, 16, 4, 256);
		for (unsigned l = 0; l < 32; l++)
			to[l] = l / 4 * 64 + (l % 4 ^ l / 8 % 4) * 16;
		assert_int_equal(copy_wavefronts(&c), want[i].all_read);
		c.zeros = 0xfff00000;
		assert_int_equal(copy_wavefronts(&c), want[i].last_rows);
		rows(from, BASE, 16, 16, 256);
		for (unsigned l = 0; l < 32; l++)
			to[l] = l / 16 * 256 + (l % 16 ^ l / 16) * 16;
		c.zeros = 0xf000f000;
		assert_int_equal(copy_wavefronts(&c), want[i].ends);
		c.zeros = 0xffff0000;
		assert_int_equal(copy_wavefronts(&c), want[i].second_row);
		rows(from, BASE, 16, 16, 192);
		c.zeros = 0xf000f000;
		assert_int_equal(copy_wavefronts(&c), want[i].ends_of_192);
	}
}

/* Rows of B at the matrix's edge, as hgemm/wgmma copies them: 32 words of 16 bytes to a row of each
 * of four slabs, all eight rows of the swizzle. An H200 counted the sums (micro/edge_copies.txt).
 */
TEST(zeros_beyond_an_edge)
{
	static const struct {
		unsigned words, sum; /* that the matrix has of a row */
	} want[] = { { 2, 40 }, { 4, 40 }, { 8, 40 }, { 12, 52 }, { 16, 48 }, { 20, 64 }, { 24, 56 } };
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		unsigned sum = 0;
		for (unsigned y = 0; y < 8; y++) {
			uint64_t from[32], to[32];
			const struct lane_copies c = { .from = from,
				                           .to = to,
				                           .mask = ~0u,
				                           .zeros = ~0u << want[i].words,
				                           .bytes = 16,
				                           .past_l1 = true,
				                           .form = COPY_APART };
			for (unsigned l = 0; l < 32; l++) {
				from[l] = BASE + y * want[i].words * 16 + l * 16;
				to[l] = l / 8 * 8192 + y * 128 + (l % 8 ^ y) * 16;
			}
			sum += copy_wavefronts(&c);
		}
		assert_int_equal(sum, want[i].sum);
	}
}

TEST(through_l1)
{
	uint64_t from[32], to[32];
	for (unsigned l = 0; l < 32; l++) /* sgemm_async, A turned: rows of 8 words to columns */
		to[l] = 4 * (l % 8 * 132 + l / 8);
	rows(from, BASE, 4, 8, 4096);
	assert_int_equal(waves(from, to, 4, 0), 4);
	rows(from, BASE, 4, 8, 519 * 4); /* rows 7 banks apart: two meet in one */
	assert_int_equal(waves(from, to, 4, 0), 2);
	assert_int_equal(waves(from, to, 4, 0x80808080), 1); /* the last words of these are zeros */
	assert_int_equal(waves(from, to, 4, ~0u), 1);
	rows(from, BASE, 4, 16, 789 * 4); /* rows of 16, of which two meet */
	for (unsigned l = 0; l < 32; l++)
		to[l] = 4 * (l % 16 * 68 + l / 16);
	assert_int_equal(waves(from, to, 4, 0), 3);
	assert_int_equal(waves(from, to, 4, 0xffe0ffe0), 2); /* the matrix ends */
	rows(from, BASE, 4, 4, 1536 * 4);                    /* eight rows in the same banks */
	for (unsigned l = 0; l < 32; l++)
		to[l] = 4 * (l % 4 * 68 + l / 4);
	assert_int_equal(waves(from, to, 4, 0), 9);
	assert_int_equal(waves(from, to, 4, 0xfff00000), 6);
	rows(from, BASE, 4, 32, 0);
	for (unsigned l = 0; l < 32; l++) /* all to one bank */
		to[l] = 128 * l;
	assert_int_equal(waves(from, to, 4, 0), 32);
}

TEST(no_lanes)
{
	const uint64_t at[32] = { BASE };
	for (unsigned bytes = 4; bytes <= 16; bytes *= 2)
		assert_int_equal(copy_wavefronts(&(struct lane_copies){
							 .from = at, .to = at, .bytes = bytes, .past_l1 = bytes == 16 }),
		                 0);
}

static void addresses(json_t *o, const char *key, unsigned bytes, uint64_t first, uint64_t out[32])
{
	const char *s = json_string_value(json_object_get(o, key));
	for (unsigned i = 0; i < 32; i++) {
		char *end;
		out[i] = first + strtoull(s, &end, 10) * bytes;
		s = end + 1;
	}
}

/* Sectors of global memory that the lanes read. */
static unsigned touched(const struct lane_copies *c)
{
	uint64_t seen[32];
	unsigned n = 0;
	for (uint32_t m = c->mask & ~c->zeros; m; m &= m - 1) {
		unsigned i = 0;
		seen[n] = c->from[__builtin_ctz(m)] >> 5;
		while (seen[i] != seen[n])
			i++;
		n += i == n;
	}
	return n;
}

TEST(as_counted)
{
	char line[1200], path[4096];
	unsigned n = 0, equal = 0, same = 0;
	const char *root = getenv("TEST_ROOT");
	snprintf(path, sizeof path, "%s/" RECORDED, root ? root : ".");
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		uint64_t from[32], to[32];
		json_t *o = json_loads(line, 0, NULL);
		const char *name = json_string_value(json_object_get(o, "case"));
		json_t *counters = json_object_get(o, "counters");
		const double want = json_number_value(json_object_get(counters, WAVES));
		struct lane_copies c = {
			.from = from,
			.to = to,
			.mask = (uint32_t)json_integer_value(json_object_get(o, "mask")),
			.zeros = (uint32_t)json_integer_value(json_object_get(o, "zeros")),
			.bytes = (unsigned)json_integer_value(json_object_get(o, "bytes")),
			.past_l1 = strstr(name, "past_l1") != NULL,
		};
		addresses(o, "from", c.bytes, BASE, from);
		addresses(o, "to", c.bytes, 0, to);
		const double got = copy_wavefronts(&c);
		if (got > want + 3 || got + 3 < want)
			fail_msg("%s %08x %08x: %g, by the rule %g", name, c.mask, c.zeros, want, got);
		equal += got == want;
		same +=
			copy_sectors(&c, touched(&c)) == json_number_value(json_object_get(counters, SECTORS));
		n++;
		json_decref(o);
	}
	fclose(f);
	print_message("%u of %u equal\n", equal, n);
	assert_int_equal(n, 508);
	assert_true(equal >= 490);
	print_message("%u with as many sectors\n", same);
	assert_true(same >= 500);
}

int main(void)
{
	return unit_run(NULL, NULL);
}
