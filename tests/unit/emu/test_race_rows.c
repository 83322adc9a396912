/* Lanes in a row that are looked at together race as they would one by one. */
#include "../unit.h"
#include "race_model.h"

#include <stdio.h>

static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 33) % n);
}

static uint32_t random_mask(void)
{
	static const uint32_t masks[] = { UINT32_MAX, UINT32_MAX, UINT32_MAX, 0xffff,     0xfffffffe,
		                              1u << 31,   0x7fffffff, 0x00ffff00, 0xaaaaaaaa, 0xfffbffff };
	const uint32_t n = sizeof masks / sizeof masks[0], i = random_below(n + 2);
	return i < n ? masks[i] : random_below(UINT32_MAX) | 1;
}

/* Places of lanes: in a row, in two or four rows, all at one, at two, apart, or anywhere. */
static void random_offsets(struct model_access *a)
{
	const uint32_t places = MODEL_BYTES / a->bytes;
	/* most of them close to the border of the pages, or to the end */
	const uint32_t near = (random_below(4) ? MODEL_BYTES / 2 : MODEL_BYTES) / a->bytes;
	const uint32_t from = near - 33 - random_below(24), other = near - 33 - random_below(24);
	const uint32_t kind = random_below(7), row = 8u << random_below(2);
	for (uint32_t i = 0; i < 32; i++) {
		uint64_t place = from + i;
		if (kind == 2)
			place = from + i % row + (i / row) * random_below(2);
		else if (kind == 3)
			place = from;
		else if (kind == 4)
			place = i < 16 ? from : other;
		else if (kind == 5)
			place = (from + 7 * i) % places;
		else if (kind == 6)
			place = random_below(places);
		a->offset[i] = place * a->bytes;
	}
}

static struct model_access random_access(uint32_t turn, uint32_t writes, uint32_t ops)
{
	struct model_access a = { .block = random_below(MODEL_BLOCKS),
		                      .warp = random_below(MODEL_WARPS),
		                      .mask = random_mask(),
		                      .op = ops ? random_below(ops) : turn,
		                      .bytes = 1u << random_below(5),
		                      .shared = random_below(2),
		                      .write = !random_below(writes) };
	a.plain = a.mask == UINT32_MAX && random_below(2);
	a.weak = random_below(2);
	random_offsets(&a);
	return a;
}

/* What the lanes of @a do to one another: several store to one place. */
static bool clashes_with_itself(const struct model_access *a)
{
	for (uint32_t k = a->write ? a->mask : 0; k; k &= k - 1)
		for (uint32_t m = k & (k - 1); m; m &= m - 1)
			if (a->offset[__builtin_ctz(k)] == a->offset[__builtin_ctz(m)])
				return true;
	return false;
}

/* True: the history ends here, with a race. */
static bool one_access(struct model *m, const struct model_access *a, struct lane_pieces *pieces)
{
	bool races = clashes_with_itself(a);
	const bool itself = races;
	struct race_found found = { 0 };
	for (uint32_t k = a->mask; k; k &= k - 1)
		races |= model_clashes(m, a, (unsigned)__builtin_ctz(k), NULL);
	const bool told = model_ask(m, a, pieces, &found);
	if (told != races)
		fail_msg("%s, which %s", told ? "told of a race" : "told of no race",
		         races ? "is there" : "there is not");
	if (told && !itself && !model_clashes(m, a, found.lane, &found))
		fail_msg("the race of lane %u is with block %u, thread %u, operation %u: no such",
		         found.lane, (unsigned)found.other_block, found.other_thread, found.other_op);
	for (uint32_t k = a->mask; k; k &= k - 1)
		model_note(m, a, (unsigned)__builtin_ctz(k));
	return told;
}

TEST(random_accesses_race_where_the_model_says)
{
	enum { HISTORIES = 6000, TURNS = 40 };
	static struct lane_pieces pieces[TURNS];
	static struct model m;
	unsigned raced = 0, clean = 0;
	for (seed = 1; seed <= HISTORIES; seed++) {
		const uint64_t this = seed;
		bool ended = false;
		const uint32_t writes = 2 + random_below(20), ops = random_below(3);
		model_start(&m);
		for (uint32_t turn = 0; turn < TURNS && !ended; turn++) {
			const uint32_t what = random_below(8);
			const uint32_t block = random_below(MODEL_BLOCKS), warp = random_below(MODEL_WARPS);
			const struct model_access a = random_access(turn, writes, ops);
			if (what == 0)
				model_barrier(&m, block);
			else if (what == 1)
				model_sync(&m, block, warp, random_below(2) ? UINT32_MAX : a.mask);
			else
				ended = one_access(&m, &a, &pieces[turn]);
		}
		raced += ended;
		clean += !ended;
		model_end(&m);
		seed = this;
	}
	assert_true(raced > HISTORIES / 4 && clean > HISTORIES / 20);
}

/* --- by hand --- */

static struct model_access row(uint32_t block, uint32_t warp, uint32_t op, unsigned bytes,
                               uint64_t offset, bool write)
{
	struct model_access a = {
		.block = block, .warp = warp, .mask = UINT32_MAX, .op = op, .bytes = bytes, .write = write
	};
	for (unsigned i = 0; i < 32; i++)
		a.offset[i] = offset + i * bytes;
	return a;
}
static struct model_access lane_of(struct model_access a, unsigned lane)
{
	a.mask = 1u << lane;
	return a;
}

struct history {
	struct model m;
	struct lane_pieces pieces;
	struct race_found found;
};
static struct history *history_new(void)
{
	struct history *h = mem_zalloc(sizeof *h);
	model_start(&h->m);
	return h;
}
static void history_free(struct history *h)
{
	model_end(&h->m);
	free(h);
}
static bool races(struct history *h, struct model_access a)
{
	h->found = (struct race_found){ 0 };
	return model_ask(&h->m, &a, &h->pieces, &h->found);
}
static void is_clean(struct history *h, struct model_access a)
{
	assert_false(races(h, a));
}
static void is_told(struct history *h, struct model_access a, unsigned lane, uint32_t thread,
                    uint32_t op)
{
	assert_true(races(h, a));
	assert_int_equal(h->found.lane, lane);
	assert_int_equal(h->found.other_thread, thread);
	assert_int_equal(h->found.other_op, op);
}

TEST(one_lane_in_the_middle_disagrees)
{
	for (unsigned lane = 0; lane < 32; lane++)
		for (unsigned bytes = 1; bytes <= 16; bytes *= 2) {
			struct history *h = history_new();
			is_clean(h, row(0, 0, 1, bytes, 512, false));
			is_clean(h, lane_of(row(0, 1, 2, bytes, 512 + 32 * bytes, true), lane));
			is_told(h, row(0, 2, 3, bytes, 512 + 32 * bytes, false), lane, 32 + lane, 2);
			history_free(h);
		}
}

static bool word_races(struct race_block *b, uint32_t op, bool write, enum ptx_sem sem, uint64_t at)
{
	const uint64_t address[32] = { at };
	struct race_found found;
	const struct race_access a = { .mask = 1,
		                           .op = op,
		                           .bytes = 4,
		                           .read = !write,
		                           .write = write,
		                           .strength = sem == SEM_WEAK ? RACE_WEAK : RACE_STRONG,
		                           .sem = sem,
		                           .scope = SCOPE_GPU,
		                           .address = address,
		                           .value = model_value,
		                           .before = model_before };
	return race_access(b, &a, &found);
}

/* Readers of a third block are not noted where two blocks have read, until someone writes. */
TEST(who_writes_behind_two_blocks_that_read_races_with_the_next_reader)
{
	enum { WORD = MODEL_AT, FLAG = MODEL_AT + 4096 };
	struct races *r = races_new(1, 0, true, UINT64_MAX);
	struct race_block *b[4];
	for (unsigned i = 0; i < 4; i++)
		b[i] = race_block_start(r, i);
	for (unsigned i = 0; i < 2; i++)
		assert_false(word_races(b[i], 1, false, SEM_WEAK, WORD));
	assert_false(word_races(b[2], 1, false, SEM_WEAK, WORD)); /* it is not noted */
	for (unsigned i = 0; i < 2; i++)
		assert_false(word_races(b[i], 2, true, SEM_RELEASE, FLAG + 4 * i));
	for (unsigned i = 0; i < 2; i++)
		assert_false(word_races(b[2], 3, false, SEM_ACQUIRE, FLAG + 4 * i));
	assert_false(word_races(b[2], 4, true, SEM_WEAK, WORD));
	assert_true(word_races(b[3], 5, false, SEM_WEAK, WORD));
	for (unsigned i = 0; i < 4; i++)
		race_block_end(b[i]);
	races_free(r);
}

TEST(the_last_place_of_a_page_and_of_the_memory)
{
	for (unsigned bytes = 1; bytes <= 16; bytes *= 2)
		for (uint64_t end = MODEL_BYTES / 2; end <= MODEL_BYTES; end += MODEL_BYTES / 2)
			for (unsigned shared = 0; shared < 2; shared++) {
				struct history *h = history_new();
				struct model_access all = row(0, 0, 1, bytes, end - 32 * bytes, true);
				struct model_access last =
					lane_of(row(0, 1, 2, bytes, end - 32 * bytes, false), 31);
				all.shared = last.shared = shared;
				is_clean(h, all);
				is_told(h, last, 31, 31, 1);
				history_free(h);
			}
}

/* Lanes 8 to 15 of 16 left out: what they would have used is not theirs. */
TEST(lanes_that_are_off_leave_nothing)
{
	struct history *h = history_new();
	struct model_access some = row(0, 0, 1, 4, 0, true), others = row(0, 1, 2, 4, 0, true);
	some.mask = 0xffff00ff;
	others.mask = 0x0000ff00;
	is_clean(h, some);
	is_clean(h, others);
	others.mask = 0x0001ff00;
	is_told(h, others, 16, 16, 1);
	history_free(h);
}

TEST(bytes_of_one_word)
{
	struct history *h = history_new();
	struct model_access low = row(0, 0, 1, 1, 0, true), high = row(0, 1, 2, 1, 0, true);
	for (unsigned i = 0; i < 32; i++) {
		low.offset[i] = 4 * i;
		high.offset[i] = 4 * i + 1;
	}
	is_clean(h, low);
	is_clean(h, high);
	struct model_access half = row(0, 2, 3, 2, 0, false);
	for (unsigned i = 0; i < 32; i++)
		half.offset[i] = 4 * i + 2;
	is_clean(h, half);
	half.offset[5] = 4 * 5;
	is_told(h, half, 5, 5, 1);
	history_free(h);
}

/* A page whose cells are wide becomes finer, and what is noted stays. */
TEST(words_behind_wide_accesses)
{
	for (unsigned bytes = 8; bytes <= 16; bytes *= 2) {
		struct history *h = history_new();
		is_clean(h, row(0, 0, 1, bytes, 1024, true));
		is_clean(h, row(0, 0, 2, bytes, 1024, false));
		is_told(h, row(0, 1, 3, 4, 1024 + 32 * 4, false), 0, 32 * 4 / bytes, 1);
		is_told(h, lane_of(row(0, 1, 4, 1, 1024 + 32 * bytes - 32, false), 31), 31, 31, 1);
		history_free(h);
	}
}

/* What two blocks read is settled, and still told of when a third one writes. */
TEST(readers_of_many_blocks)
{
	struct history *h = history_new();
	for (uint32_t block = 0; block < MODEL_BLOCKS; block++)
		for (uint32_t op = 1; op < 3; op++)
			is_clean(h, row(block, block, op, 4, 256, false));
	is_clean(h, row(2, 1, 3, 4, 256, false));
	is_told(h, lane_of(row(2, 1, 4, 4, 256, true), 9), 9, 9, 2);
	assert_int_equal(h->found.other_block, 0);
	races_forget(h->m.races, MODEL_AT + 256, 128);
	is_clean(h, row(2, 0, 5, 4, 256, true));
	is_told(h, row(1, 0, 6, 4, 256, false), 0, 0, 5);
	history_free(h);
}

/* The load of a loop, one place further in each turn: all lanes that read a place are known. */
TEST(one_instruction_that_moves_on)
{
	for (unsigned lane = 4; lane < 28; lane++)
		for (unsigned turns = 2; turns < 5; turns++) {
			struct history *h = history_new();
			for (unsigned i = 0; i < turns; i++)
				is_clean(h, row(0, 0, 1, 4, 512 + 4 * i, false));
			/* the first lane that read there, other than itself */
			is_told(h, lane_of(row(0, 0, 2, 4, 512, true), lane), lane, lane - turns + 1, 1);
			history_free(h);
			h = history_new();
			for (unsigned i = 0; i < turns; i++)
				is_clean(h, row(0, 0, 1, 4, 512 + 4 * i, false));
			model_sync(&h->m, 0, 0, UINT32_MAX);
			is_clean(h, lane_of(row(0, 0, 2, 4, 512, true), lane));
			history_free(h);
		}
}

/* Two blocks have read what one of them wrote: a third one's race is another. */
TEST(readers_of_many_blocks_behind_a_writer)
{
	struct history *h = history_new();
	is_clean(h, row(0, 0, 1, 4, 256, true));
	model_barrier(&h->m, 0);
	is_clean(h, row(0, 0, 2, 4, 256, false));
	is_told(h, row(1, 0, 3, 4, 256, false), 0, 0, 1);
	is_clean(h, row(0, 1, 4, 4, 256, false));
	is_told(h, row(2, 2, 5, 4, 256, false), 0, 0, 1);
	history_free(h);
}

/* More marks than are kept: those of an early write stay, those that nobody needs go. */
TEST(marks_are_swept)
{
	struct history *h = history_new();
	is_clean(h, row(0, 0, 7, 4, 4096, true));
	for (uint32_t phase = 0; phase < 1200000; phase++) {
		struct model_access a = row(1, phase % MODEL_WARPS, 1, 4, 128 * (phase % 8), true);
		a.shared = phase % 2;
		is_clean(h, a);
		if (phase % 8 == 7)
			model_barrier(&h->m, 1);
	}
	is_told(h, row(1, 0, 9, 4, 4096, false), 0, 0, 7);
	is_told(h, row(2, 0, 9, 4, 0, false), 0, 32 * ((1200000 - 8) % MODEL_WARPS), 1);
	history_free(h);
}
