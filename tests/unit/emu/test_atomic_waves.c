/*
 * Wavefronts of atomics by their rules (count/atomic_waves.c), against an H200's counters of 1,156
 * launches of one atomic of one warp. Additions of floats and of 64 bits to shared memory are loops
 * of the compiler and left out here.
 */
#include "../unit.h"
#include "emu/count/atomic_waves.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDED "tests/gpu/h200-2026-11-24/micro/atomic_waves.jsonl"
#define BASE 0x7f0000000000ull /* on a line of its own, as the card's allocation was */

static double counted(json_t *o, const char *part)
{
	const char *key;
	json_t *v;
	double sum = 0;
	json_object_foreach(json_object_get(o, "counters"), key, v) if (strstr(key, part)) sum +=
		json_number_value(v);
	return sum;
}

static void addresses(json_t *o, unsigned bytes, uint64_t out[32])
{
	const char *s = json_string_value(json_object_get(o, "at"));
	for (unsigned i = 0; i < 32; i++) {
		char *end;
		out[i] = BASE + strtoull(s, &end, 10) * bytes;
		s = end + 1;
	}
}

TEST(as_counted)
{
	char line[1200], path[4096];
	unsigned n_shared = 0, n_global = 0, near = 0;
	const char *root = getenv("TEST_ROOT");
	snprintf(path, sizeof path, "%s/" RECORDED, root ? root : ".");
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		uint64_t at[32];
		json_t *o = json_loads(line, 0, NULL);
		const char *name = json_string_value(json_object_get(o, "case"));
		const unsigned bytes = (unsigned)json_integer_value(json_object_get(o, "bytes"));
		const uint32_t mask = (uint32_t)json_integer_value(json_object_get(o, "mask"));
		const bool swap = strstr(name, "_cas_"), shared = !strncmp(name, "shared", 6);
		addresses(o, bytes, at);
		if (!shared) {
			const double want = counted(o, "t_output_wavefronts");
			const unsigned got = global_atomic_waves(at, mask, swap);
			near += got != want;
			n_global++;
			if (got + 1.0 < want || got - 1.0 > want)
				fail_msg("%s %08x %g, by the rule %u", name, mask, want, got);
		} else if (!strstr(name, "red_add_f32") && !strstr(name, "red_add_u64")) {
			const double want = counted(o, "smsp__sass_l1tex_data_pipe");
			const unsigned got =
				shared_atomic_waves(at, mask, bytes, swap, !!strstr(name, "_inc_"));
			n_shared++;
			if (got != want)
				fail_msg("%s %08x %g, by the rule %u", name, mask, want, got);
		}
		json_decref(o);
	}
	fclose(f);
	assert_int_equal(n_shared, 8 * 68);
	assert_int_equal(n_global, 9 * 68);
	assert_true(near <= 16);
}

TEST(no_lanes)
{
	const uint64_t at[32] = { BASE };
	assert_int_equal(shared_atomic_waves(at, 0, 4, false, false), 0);
	assert_int_equal(shared_atomic_waves(at, 0, 8, true, false), 0);
	assert_int_equal(global_atomic_waves(at, 0, false), 0);
}

int main(void)
{
	return unit_run(NULL, NULL);
}
