/*
 * Loops of compare-and-swap, held against an H200: sums and maxima of 256 to 8448 lanes and
 * more, each one change or eight, on 1 to 4096 words, as tests/gpu/micro/contended.cu measures
 * them.
 */
#include "time_fixture.h"

#include "base/mem.h"
#include "timemodel/swap_contest.h"

#define MEASURED "tests/gpu/h200-2026-11-27/micro/contended.jsonl"
/* what the loads before the swaps take, and the first round */
#define ROUND_TRIPS_NS 500.0
/* Rows: sums whose lanes mostly try more than once, and maxima. */
#define LEAST_TRIES 1.5
#define LEAST_NS 4000.0
#define MOST_LANES 70000 /* the test is to be short */

struct row {
	char kind[16];
	unsigned words, apart, run, hashed, each, blocks, threads;
	double ns, tries;
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
	const unsigned warps = r->blocks * r->threads / 32, wishes = warps * r->each;
	struct swap_wish *wish = mem_calloc(wishes, sizeof *wish);
	for (unsigned i = 0; i < wishes; i++) {
		const unsigned w = i / r->each, turn = i % r->each;
		wish[i].block = w / (r->threads / 32);
		wish[i].warp = w % (r->threads / 32);
		wish[i].turn = turn;
		wish[i].mask = 0xffffffffu;
		for (unsigned lane = 0; lane < 32; lane++) {
			const unsigned run = (turn * warps * 32 + w * 32 + lane) / r->run;
			wish[i].word[lane] = (r->hashed ? hash_of(run) : run) % r->words * r->apart;
		}
	}
	const struct swap_contest c = { .wish = wish,
		                            .n = wishes,
		                            .lanes = wishes * 32.0,
		                            .stands_for = 1,
		                            .sampled_of = 1,
		                            .concurrent_warps = warps,
		                            .sms = 132,
		                            .clock_ghz = 1.98,
		                            .block_warps = r->threads / 32.0,
		                            .settles = !strcmp(r->kind, "max") };
	const double ns = swap_contest_ns(&c) + r->each * ROUND_TRIPS_NS;
	free(wish);
	return ns;
}

static bool read_row(const char *line, struct row *r)
{
	return sscanf(line,
	              "{\"bench\":\"contended\",\"case\":\"%15[a-z_]\",\"words\":%u,\"apart\":%u,"
	              "\"run\":%u,\"hashed\":%u,\"each\":%u,\"blocks\":%u,\"threads\":%u,"
	              "\"items\":%*u,\"ns\":%lf,\"median_ns\":%*f,\"tries\":%lf",
	              r->kind, &r->words, &r->apart, &r->run, &r->hashed, &r->each, &r->blocks,
	              &r->threads, &r->ns, &r->tries) == 10;
}

/* Does it last long enough, and do lanes try again and again? */
static bool is_contest(const struct row *r)
{
	const bool max = !strcmp(r->kind, "max");
	return r->ns >= LEAST_NS &&
	       (max || (!strcmp(r->kind, "sum") &&
	                r->tries >= LEAST_TRIES * r->blocks * r->threads * r->each));
}

TEST(loops_take_as_long_as_on_an_h200)
{
	FILE *f = fopen(MEASURED, "r");
	assert_non_null(f);
	char line[1024];
	double empty_ns = 0, sum = 0, error = 0, n = 0, far = 0;
	double eight = 0, n_eight = 0, sector = 0, n_sector = 0;
	const unsigned every = UNIT_ASAN || UNIT_TSAN ? 8 : 1; /* under a sanitizer all take minutes */
	unsigned at = 0;
	while (fgets(line, sizeof line, f)) {
		struct row r;
		const char *const empty = strstr(line, "\"empty_ns\":");
		if (empty)
			empty_ns = strtod(empty + strlen("\"empty_ns\":"), NULL);
		if (!read_row(line, &r) || r.blocks * r.threads * r.each > MOST_LANES)
			continue;
		const bool max = !strcmp(r.kind, "max");
		r.ns -= empty_ns;
		if (!is_contest(&r) || at++ % every)
			continue;
		const double ratio = log(modelled(&r) / r.ns);
		if (getenv("PMPP_PERF_SHOW"))
			print_message("%s words %u x %u runs %u%s, %u x %u x %u: %.0f us, x %.2f\n", r.kind,
			              r.words, r.apart, r.run, r.hashed ? " hashed" : "", r.each, r.blocks,
			              r.threads, r.ns / 1e3, exp(ratio));
		eight += !max && r.each > 1 ? ratio : 0;
		n_eight += !max && r.each > 1;
		sector += !max && r.words == 8 && r.apart == 1 && r.run == 1 ? ratio : 0;
		n_sector += !max && r.words == 8 && r.apart == 1 && r.run == 1;
		sum += ratio;
		error += fabs(ratio);
		far += fabs(ratio) > log(2);
		n++;
	}
	fclose(f);
	print_message("%.0f loops: bias x %.2f, error %.0f %%, %.0f beyond twice\n", n, exp(sum / n),
	              100 * error / n, far);
	if (every > 1) { /* too few to judge by */
		assert_true(n > 30);
		return;
	}
	assert_true(n > 250 && n_eight > 50 && n_sector > 10);
	/* lanes that go on without the others, several words of a sector */
	assert_true(fabs(eight / n_eight) < 0.25 && eight < 0);
	print_message("eight words of a sector: x %.2f; eight turns: x %.2f\n", exp(sector / n_sector),
	              exp(eight / n_eight));
	assert_true(fabs(sector / n_sector) < 0.2);
	assert_true(fabs(sum / n) < 0.12);
	assert_true(error / n < 0.3);
	assert_true(far < 0.08 * n);
}

/* Wishes of @warps blocks of one warp; lanes of all want one word, or each its own. */
static double contest(unsigned warps, bool own, bool settles, unsigned concurrent, double lanes)
{
	struct swap_wish *wish = mem_calloc(warps, sizeof *wish);
	for (unsigned w = 0; w < warps; w++) {
		wish[w].block = w;
		wish[w].mask = 0xffffffffu;
		for (unsigned lane = 0; lane < 32; lane++)
			wish[w].word[lane] = own ? 32 * w + lane : 4096;
	}
	const struct swap_contest c = { .wish = wish,
		                            .n = warps,
		                            .lanes = lanes,
		                            .stands_for = lanes / (32.0 * warps),
		                            .sampled_of = lanes / (32.0 * warps),
		                            .concurrent_warps = concurrent,
		                            .sms = 132,
		                            .clock_ghz = 1.98,
		                            .block_warps = 1,
		                            .settles = settles };
	const double ns = swap_contest_ns(&c);
	free(wish);
	return ns;
}

TEST(who_is_alone_tries_once)
{
	assert_true(contest(64, true, false, 64, 64 * 32) == 0);
	assert_true(contest(64, false, false, 64, 64 * 32) > 64 * 32 * 100.0);
	assert_true(swap_contest_ns(&(struct swap_contest){ .concurrent_warps = 1 }) == 0);
}

/* A maximum's later lanes come for nothing, a sum's do not. */
TEST(sums_go_on_maxima_settle)
{
	const double sum = contest(64, false, false, 64, 64 * 32);
	const double max = contest(64, false, true, 64, 64 * 32);
	assert_true(max < sum / 10);
	/* four waves, of which one block in four was looked at */
	const double sums = contest(64, false, false, 64, 4 * 64 * 32);
	assert_true(sums / sum > 3 && sums / sum < 5);
	const double maxima = contest(64, false, true, 64, 4 * 64 * 32);
	assert_true(maxima / max > 0.6 && maxima / max < 1.6);
	/* and all are resident */
	assert_true(contest(64, false, false, 256, 4 * 64 * 32) > 7 * sum);
}

/* @warps blocks of one warp, each of which wants @turns words: all the same one, or all the next
 * one every other turn. @logged: of those turns. */
static double of_turns(unsigned warps, unsigned logged, unsigned turns, bool next_ones)
{
	const size_t n = (size_t)warps * logged;
	struct swap_wish *wish = mem_calloc(n, sizeof *wish);
	for (size_t i = 0; i < n; i++) {
		wish[i] =
			(struct swap_wish){ .block = i / logged, .turn = (uint32_t)(i % logged), .mask = ~0u };
		for (unsigned lane = 0; lane < 32; lane++)
			wish[i].word[lane] = 4096 + (next_ones ? (uint32_t)(i % logged) / 2 : 0);
	}
	const struct swap_contest c = { .wish = wish,
		                            .n = n,
		                            .lanes = 32.0 * warps * turns,
		                            .stands_for = 1,
		                            .sampled_of = 1,
		                            .concurrent_warps = 8448,
		                            .sms = 132,
		                            .clock_ghz = 1.98,
		                            .block_warps = 1 };
	const double ns = swap_contest_ns(&c);
	free(wish);
	return ns;
}

/* What is too long to be played is played in part. */
TEST(long_contests_go_on_as_they_began)
{
	const double eight = of_turns(96, 8, 8, false), many = of_turns(96, 128, 128, false);
	assert_true(many / eight > 12 && many / eight < 20);
}

/* All warps have begun the last of their turns, the only one for which they meet, when there is no
 * more time to play: it ends all the same. */
TEST(all_may_be_at_their_last_turn)
{
	const unsigned warps = 4096, turns = 70;
	struct swap_wish *wish = mem_calloc(warps * turns, sizeof *wish);
	for (unsigned i = 0; i < warps * turns; i++) {
		wish[i] = (struct swap_wish){ .block = i / turns, .turn = i % turns, .mask = 1 };
		wish[i].word[0] = i % turns == turns - 1 ? 0 : 1024 + 1024 * i;
	}
	const struct swap_contest c = { .wish = wish,
		                            .n = (size_t)warps * turns,
		                            .lanes = (double)warps * turns,
		                            .stands_for = 1,
		                            .sampled_of = 1,
		                            .concurrent_warps = warps,
		                            .sms = 132,
		                            .clock_ghz = 1.98,
		                            .block_warps = 1 };
	assert_true(swap_contest_ns(&c) >= 0);
	free(wish);
}

/* Warps that go on from word to word drift apart, if they have time to, and then hardly meet. */
TEST(warps_that_have_time_drift_apart)
{
	const double few = of_turns(96, 48, 48, true), many = of_turns(96, 48, 48 * 50, true);
	assert_true(few > of_turns(1, 48, 48, true));
	assert_true(many / 50 < few / 2);
}

/* Blocks of one warp that want a word by twos, of 2048 blocks those of every @apart-th patch of
 * eight. */
static double of_a_sample(unsigned apart, bool settles)
{
	struct swap_wish *wish = mem_calloc(2048, sizeof *wish);
	size_t n = 0;
	for (unsigned b = 0; b < 2048; b++) {
		if (b / 8 % apart)
			continue;
		wish[n] = (struct swap_wish){ .block = b, .mask = 0xffffffffu };
		for (unsigned lane = 0; lane < 32; lane++)
			wish[n].word[lane] = b / 2;
		n++;
	}
	const struct swap_contest c = { .wish = wish,
		                            .n = n,
		                            .stands_for = apart,
		                            .sampled_of = apart,
		                            .lanes = 2048 * 32,
		                            .concurrent_warps = 2048,
		                            .block_warps = 1,
		                            .sms = 132,
		                            .clock_ghz = 1.98,
		                            .settles = settles };
	const double ns = swap_contest_ns(&c);
	free(wish);
	return ns;
}

/* What was not looked at wants other words, as alike as what was. */
TEST(a_sample_tells_of_all)
{
	for (unsigned settles = 0; settles < 2; settles++) {
		const double all = of_a_sample(1, settles), part = of_a_sample(8, settles);
		assert_true(part < 1.5 * all && part > all / 1.5);
		/* one patch alone */
		const double lone = of_a_sample(256, settles);
		assert_true(lone < 2.5 * all && lone > all / 2.5);
	}
}

/* Who puts back what is there tries once more for each change of others, and then holds. */
TEST(all_may_try)
{
	struct swap_wish wish[64] = { { .block = 0 } };
	for (unsigned w = 0; w < 64; w++)
		wish[w] = (struct swap_wish){ .block = w, .mask = 1, .word = { 4096 } };
	struct swap_contest c = { .wish = wish,
		                      .n = 64,
		                      .stands_for = 1,
		                      .sampled_of = 1,
		                      .lanes = 64,
		                      .concurrent_warps = 64,
		                      .block_warps = 1,
		                      .sms = 132,
		                      .clock_ghz = 1.98 };
	const double sum = swap_contest_ns(&c);
	c.settles = true;
	const double some = swap_contest_ns(&c);
	c.all_try = true;
	const double all = swap_contest_ns(&c);
	assert_true(all > some && all < sum / 2);
}

/* However long it takes, it is not played to its end. */
TEST(long_contests_end_early)
{
	const double half = contest(1024, false, false, 1024, 1024 * 32),
				 whole = contest(2048, false, false, 2048, 2048 * 32);
	assert_true(whole / half > 2.8 && whole / half < 4.4);
}
