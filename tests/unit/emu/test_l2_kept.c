/* What L2 holds between launches: the ledger alone. */
#include "../unit.h"
#include "emu/count/l2_kept.h"

#define MIB ((uint64_t)1 << 20)

static const struct gpu_spec halves = { .l2_bytes = 60 << 20, .l2_partitions = 2 };

static struct l2_kept *touched(uint64_t bytes, enum l2_touch how)
{
	struct l2_kept *k = l2_kept_new(&halves);
	l2_kept_begin(k);
	l2_kept_touch(k, 0, bytes, how);
	return k;
}

/* An H200's shares of what was read and written that the next kernel finds: 1 - dram_read / bytes
 * of h200-2026-11-27/micro/kept.counters.jsonl, to a tenth and a half. */
TEST(shares_as_on_a_card)
{
	static const struct {
		enum l2_touch how;
		unsigned mib;
		double share;
	} seen[] = {
		{ L2_READ, 16, 1 },        { L2_READ, 24, 0.94 },     { L2_READ, 28, 0.85 },
		{ L2_READ, 32, 0.69 },     { L2_READ, 40, 0.25 },     { L2_READ, 48, 0.03 },
		{ L2_READ, 64, 0 },        { L2_WRITTEN, 32, 1 },     { L2_WRITTEN, 40, 0.90 },
		{ L2_WRITTEN, 48, 0.53 },  { L2_WRITTEN, 56, 0.35 },  { L2_COPIED_TO, 28, 0.87 },
		{ L2_COPIED_TO, 32, 0.7 }, { L2_FROM_HOST, 1, 0.46 }, { L2_FROM_HOST, 4, 0.31 },
		{ L2_FROM_HOST, 8, 0.05 }, { L2_FROM_HOST, 16, 0 },
	};
	for (unsigned i = 0; i < sizeof seen / sizeof *seen; i++) {
		struct l2_kept *k = touched(seen[i].mib * MIB, seen[i].how);
		assert_float_equal(l2_kept_share(k, 0, seen[i].mib * MIB), seen[i].share, 0.15);
		l2_kept_free(k);
	}
}

/* What comes later pushes out what came before, not itself; what is touched at once stands or falls
 * together. */
TEST(the_oldest_goes_first)
{
	struct l2_kept *k = touched(10 * MIB, L2_READ);
	assert_true(l2_kept_share(k, 0, 10 * MIB) == 1);
	l2_kept_begin(k);
	l2_kept_touch(k, 64 * MIB, 10 * MIB, L2_READ);
	assert_true(l2_kept_share(k, 0, 10 * MIB) == 1);
	l2_kept_begin(k);
	l2_kept_touch(k, 128 * MIB, 20 * MIB, L2_READ);
	l2_kept_touch(k, 192 * MIB, 20 * MIB, L2_READ);
	assert_true(l2_kept_share(k, 0, 10 * MIB) == 0);
	assert_true(l2_kept_share(k, 128 * MIB, 20 * MIB) == l2_kept_share(k, 192 * MIB, 20 * MIB));
	assert_true(l2_kept_share(k, 128 * MIB, 20 * MIB) > 0);
	/* used again, it is the newest */
	l2_kept_begin(k);
	l2_kept_touch(k, 0, 10 * MIB, L2_READ);
	assert_true(l2_kept_share(k, 0, 10 * MIB) == 1);
	l2_kept_free(k);
}

TEST(dropped_in_part)
{
	struct l2_kept *k = touched(8 * MIB, L2_READ);
	l2_kept_drop(k, 6 * MIB, 4 * MIB);
	assert_true(l2_kept_share(k, 0, 6 * MIB) == 1);
	assert_true(l2_kept_share(k, 6 * MIB, 2 * MIB) == 0);
	assert_true(l2_kept_share(k, 0, 8 * MIB) == 0.75);
	l2_kept_drop(k, 0, 100 * MIB);
	assert_true(l2_kept_share(k, 0, 8 * MIB) == 0);
	l2_kept_free(k);
}

/* Of a buffer that a copy brought a part of, that part is there. */
TEST(piece_by_piece)
{
	struct l2_kept *k = touched(65536, L2_SENT);
	uint64_t base = 1, end = 0;
	double share = 0;
	l2_kept_begin(k);
	l2_kept_touch(k, MIB, 2 * MIB, L2_READ);
	assert_true(l2_kept_piece(k, 0, &base, &end, &share)); /* there may be room for few */
	assert_true(base == MIB && end == 3 * MIB && share == 1);
	assert_true(l2_kept_piece(k, 1, &base, &end, &share));
	assert_true(base == 0 && end == 65536 && share == 1);
	assert_true(!l2_kept_piece(k, 2, &base, &end, &share));
	l2_kept_free(k);
}

/* Who reads what was set, copied or sent has further to go, until it has been read once; what a
 * kernel wrote is near for a half of those who read it (tests/gpu/micro/before.cu). */
TEST(what_others_wrote_lies_far)
{
	static const double far[L2_TOUCHES] = {
		[L2_READ] = 0,      [L2_COPIED_FROM] = 0, [L2_WRITTEN] = 0.5,  [L2_SET] = 1,
		[L2_COPIED_TO] = 1, [L2_SENT] = 1,        [L2_FROM_HOST] = -1, /* as much as is there */
	};
	for (enum l2_touch how = 0; how < L2_TOUCHES; how++) {
		struct l2_kept *k = touched(MIB, how);
		const double share = l2_kept_share(k, 0, MIB);
		assert_true(l2_kept_far(k, 0, MIB) == (far[how] < 0 ? share : far[how]));
		assert_true(l2_kept_far(k, 0, 2 * MIB) == l2_kept_far(k, 0, MIB) / 2);
		l2_kept_begin(k);
		l2_kept_touch(k, 0, MIB, L2_READ);
		assert_true(l2_kept_far(k, 0, MIB) == 0);
		l2_kept_free(k);
	}
	struct l2_kept *k = touched(65536, L2_SENT);
	assert_true(l2_kept_share(k, 0, 65536) == 1);
	l2_kept_free(k);
}

/* Without partitions a byte takes a byte. */
TEST(one_l2_holds_twice_as_much)
{
	const struct gpu_spec whole = { .l2_bytes = 60 << 20 };
	struct l2_kept *k = l2_kept_new(&whole);
	l2_kept_begin(k);
	l2_kept_touch(k, 0, 48 * MIB, L2_READ);
	assert_true(l2_kept_share(k, 0, 48 * MIB) == 1);
	l2_kept_free(k);
}

/* More ranges than are remembered: the oldest is forgotten, the newest is there. */
TEST(many_ranges)
{
	struct l2_kept *k = l2_kept_new(&halves);
	for (unsigned i = 0; i < 1000; i++) {
		l2_kept_begin(k);
		l2_kept_touch(k, i * MIB, 1024, L2_WRITTEN);
	}
	assert_true(l2_kept_share(k, 999 * MIB, 1024) == 1);
	assert_true(l2_kept_share(k, 0, 1024) == 0);
	l2_kept_free(k);
}
