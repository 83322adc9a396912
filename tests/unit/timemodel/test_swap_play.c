/*
 * What a unit of L2 needs for the compare-and-swaps of a warp, by how its lanes lie, held against
 * an H200 (tests/gpu/micro/swaps.cu).
 */
#include "../unit.h"

#include "base/mem.h"
#include "timemodel/swap_play.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MEASURED "tests/gpu/h200-2026-11-28/micro/swaps.jsonl"
#define WARPS 2112
#define BLOCK_WARPS 8

struct row {
	unsigned hot, words, apart;
	double warp_ns;
};

/* As in swaps.cu: each lane of a warp tries once, and nobody is in its way. */
static double modelled_ns(const struct row *r)
{
	struct swap_wish *wish = mem_calloc(WARPS, sizeof *wish);
	struct span *span = mem_calloc(WARPS, sizeof *span);
	for (unsigned w = 0; w < WARPS; w++) {
		span[w] = (struct span){ .first = w, .end = w + 1 };
		wish[w] = (struct swap_wish){ .block = w / BLOCK_WARPS,
			                          .warp = w % BLOCK_WARPS,
			                          .mask = 0xffffffffu };
		for (unsigned lane = 0; lane < 32; lane++)
			wish[w].word[lane] = lane < r->hot ? 0 : (1 + (lane - r->hot) % r->words) * r->apart;
	}
	const struct swap_contest c = { .wish = wish,
		                            .n = WARPS,
		                            .lanes = WARPS * 32.0,
		                            .stands_for = 1,
		                            .sampled_of = 1,
		                            .concurrent_warps = WARPS,
		                            .block_warps = BLOCK_WARPS,
		                            .sms = 132,
		                            .clock_ghz = 1.98 };
	struct play p = { .contest = &c,
		              .warp = span,
		              .n_warps = WARPS,
		              .times = 1,
		              .every = 1,
		              .last_warp = WARPS,
		              .lanes = c.lanes,
		              .words_room = 1 << 16 };
	const double ns = play(&p, NOBODY, 1);
	free(span);
	free(wish);
	return ns / WARPS;
}

TEST(requests_take_as_long_as_on_an_h200)
{
	FILE *f = fopen(MEASURED, "r");
	assert_non_null(f);
	char line[1024];
	double error = 0, n = 0, sum = 0;
	while (fgets(line, sizeof line, f)) {
		struct row r;
		if (sscanf(line,
		           "{\"bench\":\"swaps\",\"case\":\"fails\",\"hot\":%u,\"words\":%u,\"apart\":%u,"
		           "\"warp_ns\":%lf",
		           &r.hot, &r.words, &r.apart, &r.warp_ns) != 4)
			continue;
		const double ratio = modelled_ns(&r) / r.warp_ns;
		if (getenv("PMPP_PERF_SHOW"))
			print_message("%2u lanes on a word, others on %2u, %3u apart: %5.2f ns, x %.2f\n",
			              r.hot, r.words, r.apart, r.warp_ns, ratio);
		error += fabs(ratio - 1);
		sum += ratio - 1;
		n++;
	}
	fclose(f);
	print_message("%.0f ways to lie: error %.1f %%, bias %+.1f %%\n", n, 100 * error / n,
	              100 * sum / n);
	assert_true(n == 55);
	assert_true(error / n < 0.09);
	assert_true(fabs(sum / n) < 0.06);
}
