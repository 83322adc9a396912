/*
 * What atomics wait for, held against an H200: additions of integers and of floats by threads that
 * do eight each, on 1 to 4096 words, as tests/gpu/micro/contended.cu measures them. By these the
 * powers of collision.c were chosen.
 */
#include "../unit.h"
#include "emu/count/collision.h"
#include "timemodel/constants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEASURED "tests/gpu/h200-2026-11-27/micro/contended.jsonl"
#define EACH 8
#define LEAST_NS 6000.0 /* beyond an empty kernel */

struct row {
	char kind[16];
	unsigned words, apart, run, hashed, each, blocks, threads;
	double ns;
};

/* As in micro.cuh. */
static uint32_t hash_of(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ x >> 16;
}

static double modelled(const struct row *r)
{
	const bool floats = !strcmp(r->kind, "red_float");
	const uint32_t threads = r->blocks * r->threads;
	struct collision_log *c = collision_log_new(r->blocks, r->blocks, r->threads / 32);
	uint64_t address[32];
	for (uint32_t turn = 0; turn < r->each; turn++)
		for (uint32_t first = 0; first < threads; first += 32) {
			for (uint32_t lane = 0; lane < 32; lane++) {
				const uint32_t run = (turn * threads + first + lane) / r->run;
				const uint32_t word = (r->hashed ? hash_of(run) : run) % r->words;
				address[lane] = (uint64_t)word * r->apart * 4;
			}
			collision_log_add(c, &(struct collision){ .address = address,
			                                          .mask = 0xffffffffu,
			                                          .bytes = 4,
			                                          .block = first / r->threads,
			                                          .warp = first % r->threads / 32,
			                                          .turn = turn,
			                                          .float_data = floats });
		}
	const struct collision_totals t = collision_log_totals(c);
	collision_log_free(c);
	return fmax(t.unit_passes * timing.atomic_pass_ns,
	            t.float_passes * timing.atomic_float_pass_ns);
}

static bool read_row(const char *line, struct row *r)
{
	return sscanf(line,
	              "{\"bench\":\"contended\",\"case\":\"%15[a-z_]\",\"words\":%u,\"apart\":%u,"
	              "\"run\":%u,\"hashed\":%u,\"each\":%u,\"blocks\":%u,\"threads\":%u,"
	              "\"items\":%*u,\"ns\":%*f,\"median_ns\":%lf",
	              r->kind, &r->words, &r->apart, &r->run, &r->hashed, &r->each, &r->blocks,
	              &r->threads, &r->ns) == 9;
}

struct error {
	double n, sum, abs;
};

static void measure(struct error *floats, struct error *integers)
{
	FILE *f = fopen(MEASURED, "r");
	assert_non_null(f);
	char line[1024];
	double empty_ns = 0;
	while (fgets(line, sizeof line, f)) {
		struct row r;
		const char *const empty = strstr(line, "\"empty_ns\":");
		if (empty)
			empty_ns = strtod(empty + strlen("\"empty_ns\":"), NULL);
		if (!read_row(line, &r) || strncmp(r.kind, "red_", 4) != 0 || r.each != EACH ||
		    r.ns - empty_ns < LEAST_NS)
			continue;
		struct error *e = strcmp(r.kind, "red_float") ? integers : floats;
		const double off = log(modelled(&r) / (r.ns - empty_ns));
		e->n++;
		e->sum += off;
		e->abs += fabs(off);
	}
	fclose(f);
}

TEST(additions_take_as_long_as_on_an_h200)
{
	struct error floats = { 0 }, integers = { 0 };
	measure(&floats, &integers);
	print_message("%.0f of integers: bias x %.2f, error %.0f %%; %.0f of floats: x %.2f, %.0f %%\n",
	              integers.n, exp(integers.sum / integers.n), 100 * integers.abs / integers.n,
	              floats.n, exp(floats.sum / floats.n), 100 * floats.abs / floats.n);
	assert_true(integers.n > 80 && floats.n > 80);
	assert_true(fabs(integers.sum / integers.n) < 0.08 && integers.abs / integers.n < 0.12);
	assert_true(fabs(floats.sum / floats.n) < 0.05 && floats.abs / floats.n < 0.125);
}
