/*
 * Filtering a warp's lanes at once gives, bit for bit, what each lane gives alone: over formats,
 * channels, addressing, sizes, and coordinates inside, outside, far and not a number. How much of
 * each texel is taken is what an H200 takes (tests/gpu/micro/texel_weights.cu).
 */
#include "../unit.h"
#include "emu/texture.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_bits = 7;

static uint32_t next(void)
{
	random_bits = random_bits * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_bits >> 32);
}

static uint32_t coordinate(unsigned size, bool normalised)
{
	static const float odd[] = { 0, 1, -1, 0.5f, 3e9f, -3e9f, 1e30f };
	const float unit = (float)(next() >> 8) / (float)(1 << 24);
	float v = unit * (float)size;
	uint32_t bits;
	if (next() % 8 == 0)
		v = (unit * 4 - 2) * (float)size;
	if (next() % 64 == 0)
		v = odd[next() % 7];
	if (normalised)
		v /= (float)size;
	memcpy(&bits, &v, sizeof bits);
	return next() % 400 ? bits : 0x7fc00000u;
}

static void fill(uint8_t *texels, size_t bytes, enum texel_format format)
{
	for (size_t i = 0; i + 4 <= bytes; i += 4) {
		const float f = (float)(next() % 2000) / 7 - 100;
		const uint32_t u = next();
		memcpy(texels + i, format == TEXEL_FLOAT ? (const void *)&f : &u, 4);
	}
}

/* Returns how many lanes were done at once. */
static unsigned compare(const struct texture *t, enum texture_shape shape)
{
	const uint32_t mask = next() % 3 ? 0xffffffffu : next() | 1;
	const unsigned width = t->size[0], height = t->size[1] ? t->size[1] : 1;
	uint32_t at[2][32];
	float out[4][32];
	const uint8_t *texel[32];
	unsigned done = 0;
	for (unsigned i = 0; i < 32; i++) {
		at[0][i] = coordinate(width, t->normalised);
		at[1][i] = coordinate(height, t->normalised);
	}
	if (!texture_mix_lanes(t, shape, mask, at[0], at[1], out, texel))
		return 0;
	for (unsigned i = 0; i < 32; i++) {
		const uint32_t one[2] = { at[0][i], at[1][i] };
		uint32_t want[4];
		if (!(mask >> i & 1))
			continue;
		const uint8_t *p = texture_fetch(t, shape, false, one, want);
		assert_ptr_equal(texel[i], p);
		for (unsigned c = 0; c < 4; c++)
			assert_memory_equal(&out[c][i], &want[c], 4);
		done++;
	}
	return done;
}

TEST(lanes_are_filtered_as_each_alone)
{
	static uint8_t texels[64 * 64 * 16 + 8];
	static const struct {
		enum texel_format format;
		unsigned bytes;
	} kinds[] = { { TEXEL_FLOAT, 4 }, { TEXEL_UNSIGNED, 1 }, { TEXEL_UNSIGNED, 2 } };
	unsigned done[6] = { 0 };
	for (unsigned round = 0; round < 6000; round++) {
		const unsigned k = next() % 3, flat = next() % 4 == 0, channels = 1u << next() % 3;
		struct texture t = {
			.texels = texels,
			.size = { 1 + next() % 64, flat ? 0 : 1 + next() % 64 },
			.channels = channels,
			.channel_bytes = kinds[k].bytes,
			.format = kinds[k].format,
			.fractions = k > 0,
			.linear = true,
			.normalised = next() % 2,
			.addressing = { next() % 4, next() % 4 },
			.border = { 1, 2, 3, 4 },
		};
		t.pitch = (size_t)t.size[0] * channels * t.channel_bytes;
		fill(texels, t.pitch * (t.size[1] ? t.size[1] : 1) + 4, t.format);
		done[k + 3 * flat] += compare(&t, flat ? SHAPE_1D : SHAPE_2D);
	}
	for (unsigned i = 0; i < 6; i++)
		assert_true(done[i] > 1000);
}

TEST(the_unusual_is_left_to_each_lane)
{
	static uint8_t texels[64];
	float out[4][32];
	const uint8_t *texel[32];
	const uint32_t zero[32] = { 0 };
	struct texture t = { .texels = texels,
		                 .size = { 2, 2 },
		                 .channels = 1,
		                 .channel_bytes = 4,
		                 .format = TEXEL_FLOAT,
		                 .linear = true,
		                 .pitch = 8,
		                 .addressing = { ADDRESS_CLAMP, ADDRESS_CLAMP } };
	assert_true(texture_mix_lanes(&t, SHAPE_2D, 1, zero, zero, out, texel));
	t.addressing[1] = ADDRESS_BORDER; /* -0.5 mixes the border in */
	assert_false(texture_mix_lanes(&t, SHAPE_2D, 1, zero, zero, out, texel));
	t.addressing[1] = ADDRESS_CLAMP;
	assert_false(texture_mix_lanes(&t, SHAPE_3D, 1, zero, zero, out, texel));
	t.linear = false;
	assert_false(texture_mix_lanes(&t, SHAPE_2D, 1, zero, zero, out, texel));
	t.linear = true;
	t.layers = 2;
	assert_false(texture_mix_lanes(&t, SHAPE_2D, 1, zero, zero, out, texel));
}

static unsigned numbers(json_t *o, const char *key, int *out)
{
	unsigned n = 0;
	for (const char *s = json_string_value(json_object_get(o, key)); *s;) {
		char *end;
		out[n++] = (int)strtol(s, &end, 10);
		s = end + (*end == ',');
	}
	return n;
}

TEST(weights_as_measured)
{
	char line[400], path[4096];
	unsigned n = 0;
	const char *root = getenv("TEST_ROOT");
	snprintf(path, sizeof path, "%s/tests/gpu/h200-2026-11-30/micro/texel_weights.jsonl",
	         root ? root : ".");
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		json_t *o = json_loads(line, 0, NULL);
		if (strcmp(json_string_value(json_object_get(o, "case")), "device") != 0) {
			int place[3] = { 0 }, want[8], got[8];
			numbers(o, "place", place);
			const unsigned corners = numbers(o, "weights_65536", want);
			const unsigned part[3] = { (unsigned)place[0], (unsigned)place[1], (unsigned)place[2] };
			texture_weights(part, got);
			for (unsigned k = 0; k < corners; k++)
				if (got[k] * 256 != want[k])
					fail_msg("%scorner %u: %d", line, k, got[k] * 256);
			n++;
		}
		json_decref(o);
	}
	fclose(f);
	assert_in_range(n, 1000, 100000);
}
