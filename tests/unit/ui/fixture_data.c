/* Buffers behind a launch: inputs, an output with something odd in it, and one not to be had. */
#include "fixture.h"
#include "model/buffer_look.h"

#include <math.h>

#define N 100

struct buffer_looks *fixture_data(void)
{
	static const struct buffer_plan plan[] = {
		{ .name = "A", .type = ELEM_F32, .count = N },
		{ .name = "C", .type = ELEM_F32, .role = BUF_INOUT, .count = N },
		{ .name = "count", .type = ELEM_I32, .role = BUF_OUT, .count = 3 },
		{ .name = "mem7", .type = ELEM_F32, .count = 1u << 30 },
		{ .name = "mem8", .type = ELEM_F32, .count = 2 * N },
	};
	static float a[N], before[N], now[N];
	static const int count[3] = { 4, 0, -2147483647 - 1 };
	for (int i = 0; i < N; i++) {
		a[i] = (float)i / 8;
		now[i] = i % 10 ? before[i] : i == 40 ? NAN : 3 * a[i];
	}
	const struct buffer_contents c[] = {
		{ .plan = &plan[0], .seen = N, .before = a, .now = a },
		{ .plan = &plan[1], .seen = N, .before = before, .now = now },
		{ .plan = &plan[2], .seen = 3, .now = count },
		{ .plan = &plan[3], .guessed = true },
		{ .plan = &plan[4], .guessed = true, .seen = N, .before = a, .now = a },
	};
	return buffer_looks_make(ARRAY_LEN(c), c, NULL);
}
