/*
 * What the time model is told about a program: regions between barriers, what each asks of an SM
 * as machine code would, and how long a warp alone needs for it. Small programs whose answer is
 * known.
 */
#include "emu_fixture.h"

#include <math.h>

#define BODY_HEAD                                    \
	PTX_HEAD ".visible .entry k(.param .u64 p)\n{\n" \
			 ".reg .pred %p<4>;\n.reg .f32 %f<20>;\n.reg .b32 %r<20>;\n.reg .b64 %d<9>;\n"

static struct emu_case run(const char *declarations, const char *body, unsigned threads)
{
	struct emu_case c = { 0 };
	const size_t n = strlen(BODY_HEAD) + strlen(declarations) + strlen(body) + 200;
	c.ptx = mem_alloc(n);
	snprintf(c.ptx, n,
	         "%s%s"
	         "ld.param.u64 %%d1, [p];\ncvta.to.global.u64 %%d1, %%d1;\n"
	         "mov.u32 %%r1, %%tid.x;\n%s\nret;\n}\n",
	         BODY_HEAD, declarations, body);
	emu_buffer(&c, "p", ELEM_F32, BUF_INOUT, 4096);
	emu_launch(&c, "k", (struct dim3u){ 2, 1, 1 }, (struct dim3u){ threads, 1, 1 });
	emu_must_run(&c);
	assert_true(c.res.counts.n_regions > 0);
	return c;
}

static struct region sum(const struct run_counts *c)
{
	struct region s = { 0 };
	for (unsigned i = 0; i < c->n_regions; i++) {
		const struct region *r = &c->regions[i];
		s.critical_path_cycles +=
			r->block_passes / (double)c->blocks_total * r->critical_path_cycles;
		s.issue_slots += r->issue_slots;
		s.int_slots += r->int_slots;
		s.fp32_slots += r->fp32_slots;
		s.load_cycles += r->load_cycles;
		s.store_cycles += r->store_cycles;
		s.shared_wavefronts += r->shared_wavefronts;
	}
	return s;
}

static struct region sum_of(const char *declarations, const char *body, unsigned threads)
{
	struct emu_case c = run(declarations, body, threads);
	const struct region s = sum(&c.res.counts);
	emu_case_free(&c);
	return s;
}

#define FOUR_LOADS                                                              \
	"mov.u32 %r2, s;\nshl.b32 %r3, %r1, 4;\nadd.s32 %r4, %r2, %r3;\n"           \
	"mov.f32 %f9, 0f00000000;\nst.shared.v4.f32 [%r4], {%f9, %f9, %f9, %f9};\n" \
	"ld.shared.f32 %f1, [%r4+8];\nld.shared.f32 %f2, [%r4+4];\n"                \
	"ld.shared.f32 %f3, [%r4];\nld.shared.f32 %f4, [%r4+12];\n"

/* Four words side by side become one load of 16 bytes where the assembler sees that they are
 * aligned. */
TEST(shared_loads_merge)
{
	const struct region one = sum_of(".shared .align 4 .b8 s[2048];\n", FOUR_LOADS, 32);
	/* the same from an address that may be any multiple of 4 */
	const struct region apart =
		sum_of(".shared .align 4 .b8 s[2048];\n",
	           "ld.global.u32 %r9, [%d1];\nshl.b32 %r9, %r9, 2;\n"
	           "mov.u32 %r2, s;\nshl.b32 %r3, %r1, 4;\nadd.s32 %r4, %r2, %r3;\n"
	           "mov.f32 %f9, 0f00000000;\nst.shared.v4.f32 [%r4], {%f9, %f9, %f9, %f9};\n"
	           "add.s32 %r4, %r4, %r9;\n"
	           "ld.shared.f32 %f1, [%r4+8];\nld.shared.f32 %f2, [%r4+4];\n"
	           "ld.shared.f32 %f3, [%r4];\nld.shared.f32 %f4, [%r4+12];\n",
	           32);
	/* 16 bytes apart: four words a bank, so each load takes four passes, and so does the wide one
	 */
	assert_true(apart.shared_wavefronts - one.shared_wavefronts == 2 * (4 * 4 - 4));
	assert_true(apart.issue_slots - one.issue_slots >= 2 * 3);
	/* a store in between that may have changed them: no merging across it */
	const struct region split =
		sum_of(".shared .align 4 .b8 s[2048];\n",
	           FOUR_LOADS "ld.shared.f32 %f5, [%r4];\nst.shared.f32 [%r4], %f5;\n"
	                      "ld.shared.f32 %f6, [%r4+4];\n",
	           32);
	assert_true(split.shared_wavefronts == one.shared_wavefronts + 2 * 4 * 3);
}

#define LOOP(pragma)                                                        \
	"mov.u32 %r2, 64;\nmov.f32 %f1, 0f00000000;\nL:\n" pragma               \
	"fma.rn.f32 %f1, %f1, 0f3F000000, 0f3F800000;\nadd.s32 %r2, %r2, -1;\n" \
	"setp.ne.s32 %p1, %r2, 0;\n@%p1 bra L;\n"

/* A loop that counts by a constant reaches its end once for four copies, unless told not to. */
TEST(loops_unroll)
{
	const struct region stays = sum_of("", LOOP(".pragma \"nounroll\";\n"), 32);
	const struct region unrolled = sum_of("", LOOP(""), 32);
	assert_true(stays.fp32_slots >= 2 * 64);
	assert_true(fabs(stays.issue_slots - unrolled.issue_slots - 2 * 64 * 3 * 0.75) < 1e-3);
	assert_true(unrolled.critical_path_cycles < 0.5 * stays.critical_path_cycles);
}

/* What depends on the one before waits for it; what does not is issued beside it. */
TEST(operands_are_waited_for)
{
	const struct region dependent = sum_of(
		"",
		"mov.f32 %f1, 0f3F800000;\nfma.rn.f32 %f1, %f1, %f1, %f1;\nfma.rn.f32 %f1, %f1, %f1, %f1;\n"
		"fma.rn.f32 %f1, %f1, %f1, %f1;\nfma.rn.f32 %f1, %f1, %f1, %f1;\n"
		"fma.rn.f32 %f1, %f1, %f1, %f1;\nfma.rn.f32 %f1, %f1, %f1, %f1;\n"
		"st.global.f32 [%d1], %f1;\n",
		32);
	const struct region apart = sum_of(
		"",
		"mov.f32 %f1, 0f3F800000;\nfma.rn.f32 %f2, %f1, %f1, %f1;\nfma.rn.f32 %f3, %f1, %f1, %f1;\n"
		"fma.rn.f32 %f4, %f1, %f1, %f1;\nfma.rn.f32 %f5, %f1, %f1, %f1;\n"
		"fma.rn.f32 %f6, %f1, %f1, %f1;\nfma.rn.f32 %f7, %f1, %f1, %f1;\n"
		"st.global.f32 [%d1], %f7;\n",
		32);
	assert_true(dependent.issue_slots == apart.issue_slots);
	assert_true(dependent.store_cycles > 0); /* a sum that is stored gets a card's NaN before */
	assert_true(dependent.critical_path_cycles >= 6 * 4 &&
	            dependent.critical_path_cycles > apart.critical_path_cycles + 12);
	/* a load costs its latency once, however many follow it before the first use */
	const struct region one = sum_of("",
	                                 "ld.global.f32 %f1, [%d1];\nadd.f32 %f1, %f1, %f1;\n"
	                                 "st.global.f32 [%d1], %f1;\n",
	                                 32);
	const struct region two = sum_of("",
	                                 "ld.global.f32 %f1, [%d1];\nld.global.f32 %f2, [%d1+4];\n"
	                                 "add.f32 %f1, %f1, %f2;\nst.global.f32 [%d1], %f1;\n",
	                                 32);
	assert_true(two.critical_path_cycles < 1.4 * one.critical_path_cycles);
	/* behind a store that may have changed it, a load waits for the store's operand */
	const struct region order =
		sum_of("",
	           "ld.global.f32 %f1, [%d1];\nst.global.f32 [%d1+8], %f1;\n"
	           "ld.global.f32 %f2, [%d1+4096];\nst.global.f32 [%d1], %f2;\n",
	           32);
	assert_true(order.critical_path_cycles > 1.6 * one.critical_path_cycles);
}

#define EIGHT(r) "{%" r "2,%" r "3,%" r "4,%" r "5,%" r "6,%" r "7,%" r "8,%" r "9}"

/* A fragment is loads of its own, each counted once; a product is so many multiplications; sums
 * are stored in pairs, whole sectors of eight rows at a time. */
TEST(fragments_and_products)
{
	struct emu_case c =
		run("",
	        "mov.u32 %r1, 16;\n"
	        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " EIGHT("r") ", [%d1], %r1;\n",
	        32);
	const struct region load = sum(&c.res.counts);
	const double requests = (double)c.res.counts.total.ld_requests;
	assert_true(requests == 2 * 4 && c.res.counts.total.ld_lines == 2 * 8);
	assert_true(load.load_cycles == 2 * requests); /* rows 0 and 4 lie in the same banks */
	emu_case_free(&c);
	c = run(
		"",
		"wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 " EIGHT("f") ", " EIGHT("r") ", " EIGHT(
			"r") ", " EIGHT("f") ";\nmov.u32 %r1, 16;\n"
								 "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%d1], " EIGHT(
									 "f") ", %r1;\n",
		32);
	double products = 0;
	for (unsigned i = 0; i < c.res.counts.n_regions; i++)
		products += c.res.counts.regions[i].products;
	assert_true(products == 2.0 * 16 * 16 * 16);
	assert_true(c.res.counts.total.st_requests == 2 * 4);
	assert_true(c.res.counts.total.st_sectors == 2 * 4 * 8);
	emu_case_free(&c);
}

#define LOAD_AT(offset) "ld.global.f32 %f1, [%d1+" offset "];\n"
#define STORE_AT(offset) "add.f32 %f2, %f1, %f1;\nst.global.f32 [%d1+" offset "], %f2;\n"

/* Memory brings two sectors at a time: who loads the second one when the first is there, waits for
 * L2; where both are under way together, for memory. */
TEST(loads_that_come_later_find_more)
{
	const double near = sum_of("", LOAD_AT("0") STORE_AT("1024") LOAD_AT("32") STORE_AT("1028"), 1)
	                        .critical_path_cycles;
	const double far = sum_of("", LOAD_AT("0") STORE_AT("1024") LOAD_AT("64") STORE_AT("1028"), 1)
	                       .critical_path_cycles;
	const double
		beside = sum_of("", LOAD_AT("0") LOAD_AT("32") STORE_AT("1024"), 1).critical_path_cycles,
		apart = sum_of("", LOAD_AT("0") LOAD_AT("64") STORE_AT("1024"), 1).critical_path_cycles;
	assert_true(far > near + 150 && fabs(beside - apart) < 50);
}

/* A barrier ends a region, and costs the more the more warps meet. */
TEST(barriers_cut)
{
	struct emu_case c = run("", "bar.sync 0;\nbar.sync 0;\n", 64);
	unsigned passed = 0;
	for (unsigned i = 0; i < c.res.counts.n_regions; i++)
		passed += c.res.counts.regions[i].warp_passes == 4; /* two blocks of two warps */
	assert_int_equal(passed, 3);
	emu_case_free(&c);
	const struct region small = sum_of("", "bar.sync 0;\n", 32),
						big = sum_of("", "bar.sync 0;\n", 1024);
	assert_true(big.critical_path_cycles - small.critical_path_cycles >= 2 * 31);
}

/* What one warp of a block does while the others wait delays the block; of two sides each warp
 * takes one. */
TEST(choices)
{
	const char *work = "fma.rn.f32 %f1, %f1, %f1, %f1;\nfma.rn.f32 %f1, %f1, %f1, %f1;\n"
					   "fma.rn.f32 %f1, %f1, %f1, %f1;\nfma.rn.f32 %f1, %f1, %f1, %f1;\n"
					   "fma.rn.f32 %f1, %f1, %f1, %f1;\nfma.rn.f32 %f1, %f1, %f1, %f1;\n"
					   "fma.rn.f32 %f1, %f1, %f1, %f1;\nfma.rn.f32 %f1, %f1, %f1, %f1;\n"
					   "fma.rn.f32 %f1, %f1, %f1, %f1;\nfma.rn.f32 %f1, %f1, %f1, %f1;\n";
	char body[2000];
	snprintf(body, sizeof body,
	         "mov.f32 %%f1, 0f3F800000;\nsetp.ge.u32 %%p1, %%r1, 32;\n@%%p1 bra J;\n"
	         "%sJ:\nbar.sync 0;\n",
	         work);
	struct emu_case c = run("", body, 256);
	double block = 0, warps = 0;
	for (unsigned i = 0; i < c.res.counts.n_regions; i++)
		if (c.res.counts.regions[i].fp32_slots >= 20) {
			block = c.res.counts.regions[i].block_passes;
			warps = c.res.counts.regions[i].warp_passes;
		}
	emu_case_free(&c);
	assert_true(warps == 2 && block == 2); /* one warp of eight, in each of two blocks */
	snprintf(body, sizeof body,
	         "mov.f32 %%f1, 0f3F800000;\nsetp.ge.u32 %%p1, %%r1, 128;\n"
	         "@%%p1 bra B;\n%sbra J;\nB:\n%sJ:\nst.global.f32 [%%d1], %%f1;\n",
	         work, work);
	c = run("", body, 256);
	block = 0;
	for (unsigned i = 0; i < c.res.counts.n_regions; i++)
		if (c.res.counts.regions[i].fp32_slots >= 20)
			block += c.res.counts.regions[i].block_passes;
	emu_case_free(&c);
	/* half of the warps each: together one pass of each block */
	assert_true(block > 1.9 && block < 2.2);
}

/* Additions to one address come one after another, those to a thread's own do not. */
TEST(atomics_collide)
{
	struct emu_case c = run("",
	                        "red.global.add.f32 [%d1], 0f3F800000;\n"
	                        "red.global.add.u32 [%d1+64], 1;\n",
	                        64);
	const struct atomic_load one = c.res.counts.atomics;
	emu_case_free(&c);
	assert_true(one.unit_passes == 256 && one.float_passes == 128);
	c = run("",
	        "mul.wide.u32 %d2, %r1, 4;\nadd.s64 %d3, %d1, %d2;\n"
	        "red.global.add.f32 [%d3], 0f3F800000;\n",
	        64);
	const struct atomic_load own = c.res.counts.atomics;
	emu_case_free(&c);
	assert_true(own.unit_passes < one.unit_passes / 4);
	assert_true(own.swaps == 0 && own.swap_candidates == 0);
}

/* All lanes walk along an array together: each word is one address for all. */
TEST(atomics_in_lockstep)
{
	struct emu_case c = run("",
	                        "mov.u32 %r2, 0;\nA:\nred.global.add.f32 [%d1], 0f3F800000;\n"
	                        "add.s64 %d1, %d1, 4;\nadd.u32 %r2, %r2, 1;\n"
	                        "setp.lt.u32 %p1, %r2, 16;\n@%p1 bra A;\n",
	                        64);
	assert_true(c.res.counts.atomics.lockstep_float == 16 * 128);
	assert_true(c.res.counts.atomics.lockstep_int == 0);
	emu_case_free(&c);
}

/* Of lanes that swap one word each holds in the end, and all of them want the same. */
TEST(swaps_are_counted)
{
	struct emu_case c = run("",
	                        "ld.global.u32 %r3, [%d1];\nA:\nadd.u32 %r4, %r3, 1;\n"
	                        "mov.u32 %r5, %r3;\natom.global.cas.b32 %r3, [%d1], %r5, %r4;\n"
	                        "setp.ne.u32 %p1, %r3, %r5;\n@%p1 bra A;\n",
	                        64);
	const struct atomic_load a = c.res.counts.atomics;
	emu_case_free(&c);
	assert_true(a.swaps == 128 && a.swap_candidates >= 128 && a.unit_passes >= 128);
	/* one change a round trip, of lanes of two blocks */
	assert_true(!a.settles && a.contest_ns > 60 * 185.0 && a.contest_ns < 128 * 300.0);
	/* what puts back the value that is there makes nobody try again */
	c = run("", "ld.global.u32 %r3, [%d1];\natom.global.cas.b32 %r4, [%d1], %r3, %r3;\n", 64);
	assert_true(c.res.counts.atomics.swaps == 0 && c.res.counts.atomics.unit_passes == 128);
	emu_case_free(&c);
}

/* Of a maximum's lanes most find that it is there: who wants a word is told by who looks at it. */
TEST(maxima_settle)
{
	struct emu_case c = run("",
	                        "and.b32 %r2, %r1, 1;\nmul.wide.u32 %d2, %r2, 4096;\n"
	                        "add.s64 %d3, %d1, %d2;\nld.global.u32 %r3, [%d3];\n"
	                        "A:\nsetp.ge.u32 %p1, %r3, 7;\n@%p1 bra B;\nmov.u32 %r5, %r3;\n"
	                        "atom.global.cas.b32 %r3, [%d3], %r5, 7;\n"
	                        "setp.ne.u32 %p1, %r3, %r5;\n@%p1 bra A;\nB:\n",
	                        64);
	const struct atomic_load a = c.res.counts.atomics;
	emu_case_free(&c);
	assert_true(a.settles && a.swaps == 2 && a.swap_tries < 64 && a.swap_candidates >= 128);
	assert_true(a.contest_ns > 185 && a.contest_ns < 10 * 185);
}
