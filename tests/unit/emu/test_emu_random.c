/*
 * Random programs: the fast programs must give the same bits and the same counts as the reference,
 * at every instruction-set level and with any number of threads.
 * A program is a random tree of arithmetic, branches, loops, loads, stores, guards, votes and
 * shuffles over registers that start as constants, uniform values, affine functions of the thread
 * index and loaded data. PMPP_RANDOM=first:count runs other seeds; a failure prints its program.
 */
#include "emu_fixture.h"

#define N_R 12
#define N_F 6
#define N_D 5
#define N_P 5
#define IN_WORDS 4096
#define OUT_PER_THREAD 8
#define SHARED_WORDS 1024

struct gen {
	struct text t;
	uint64_t rng;
	unsigned labels, stores, depth;
	bool holes; /* some lanes of a warp may not be there: a shuffle would read undefined values */
};

static unsigned pick(struct gen *g, unsigned n)
{
	return (unsigned)(rand_next(&g->rng) >> 33) % n;
}

static const char *any_of(struct gen *g, const char *const *list, unsigned n)
{
	return list[pick(g, n)];
}
#define ANY(g, ...)                                 \
	any_of(g, (const char *const[]){ __VA_ARGS__ }, \
	       sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

/* A source of 32 bits: mostly a register. */
static const char *src_r(struct gen *g, char *buf)
{
	static const char *const consts[] = { "0",          "1",           "-1",    "2",    "3",
		                                  "4",          "7",           "31",    "32",   "100",
		                                  "2147483647", "-2147483648", "65535", "12345" };
	if (pick(g, 4) == 0)
		return consts[pick(g, sizeof consts / sizeof *consts)];
	snprintf(buf, 16, "%%r%u", pick(g, N_R));
	return buf;
}

/* Signed division and remainder by a power of two, as compilers write them. */
static void power_of_two(struct gen *g, const char *guard, unsigned d)
{
	const unsigned k = 1 + pick(g, 6), x = pick(g, 2) ? pick(g, N_R) : 54;
	if (x == 54) /* an index that may be negative, in some lanes, blocks or rounds of a loop */
		text_add(&g->t, "\tmad.lo.s32 %%r54, %%r1, 32, %%r31;\n\tsub.s32 %%r54, %%r54, %u;\n",
		         pick(g, 80));
	text_add(&g->t,
	         "\tshr.s32 %%r50, %%r%u, 31;\n\tshr.u32 %%r51, %%r50, %u;\n"
	         "\tadd.s32 %%r52, %%r%u, %%r51;\n",
	         x, 32 - k, x);
	if (pick(g, 2))
		text_add(&g->t, "\tand.b32 %%r53, %%r52, %d;\n\t%ssub.s32 %%r%u, %%r%u, %%r53;\n",
		         -(1 << k), guard, d, x);
	else
		text_add(&g->t, "\t%sshr.s32 %%r%u, %%r52, %u;\n", guard, d, k);
}

static void integers(struct gen *g, const char *guard, unsigned d, unsigned kind)
{
	char b1[16], b2[16], b3[16];
	switch (kind) {
	case 0:
	case 1:
	case 2:
		text_add(&g->t, "\t%s%s %%r%u, %s, %s;\n", guard,
		         ANY(g, "add.s32", "sub.s32", "mul.lo.s32", "and.b32", "or.b32", "xor.b32",
		             "min.s32", "max.s32", "min.u32", "max.u32"),
		         d, src_r(g, b1), src_r(g, b2));
		break;
	case 3:
		text_add(&g->t, "\t%s%s %%r%u, %%r%u, %u;\n", guard,
		         ANY(g, "shl.b32", "shr.u32", "shr.s32", "and.b32", "or.b32", "xor.b32"), d,
		         pick(g, N_R), pick(g, 34));
		break;
	case 4:
		text_add(&g->t, "\t%smad.lo.s32 %%r%u, %s, %s, %s;\n", guard, d, src_r(g, b1), src_r(g, b2),
		         src_r(g, b3));
		break;
	case 5:
		text_add(&g->t, "\t%s%s %%rd%u, %s, %s;\n", guard, ANY(g, "mul.wide.s32", "mul.wide.u32"),
		         pick(g, N_D), src_r(g, b1), src_r(g, b2));
		break;
	case 6:
		text_add(&g->t, "\t%s%s %%rd%u, %%r%u;\n", guard, ANY(g, "cvt.s64.s32", "cvt.u64.u32"),
		         pick(g, N_D), pick(g, N_R));
		break;
	case 7:
		text_add(&g->t, "\t%s%s %%rd%u, %%rd%u, %%rd%u;\n", guard,
		         ANY(g, "add.s64", "sub.s64", "xor.b64", "mul.lo.s64"), pick(g, N_D), pick(g, N_D),
		         pick(g, N_D));
		break;
	default: break;
	}
}

static void arithmetic(struct gen *g, const char *guard)
{
	char b1[16], b2[16];
	const unsigned d = pick(g, N_R), kind = pick(g, 18);
	switch (kind) {
	case 16: power_of_two(g, guard, d); break;
	case 0:
	case 1:
	case 2:
	case 3:
	case 4:
	case 5:
	case 6:
	case 7: integers(g, guard, d, kind); break;
	case 8: text_add(&g->t, "\t%scvt.u32.u64 %%r%u, %%rd%u;\n", guard, d, pick(g, N_D)); break;
	case 9:
		text_add(&g->t, "\t%s%s %%f%u, %%f%u, %%f%u;\n", guard,
		         ANY(g, "add.f32", "sub.f32", "mul.f32", "min.f32", "max.f32"), pick(g, N_F),
		         pick(g, N_F), pick(g, N_F));
		break;
	case 10:
		text_add(&g->t, "\t%sfma.rn.f32 %%f%u, %%f%u, %%f%u, %%f%u;\n", guard, pick(g, N_F),
		         pick(g, N_F), pick(g, N_F), pick(g, N_F));
		break;
	case 11: /* keep the numbers small */
		text_add(&g->t, "\t%sand.b32 %%r%u, %%r%u, 1023;\n\t%scvt.rn.f32.s32 %%f%u, %%r%u;\n",
		         guard, d, pick(g, N_R), guard, pick(g, N_F), d);
		break;
	case 12:
		text_add(&g->t, "\t%sselp.b32 %%r%u, %s, %s, %%p%u;\n", guard, d, src_r(g, b1),
		         src_r(g, b2), pick(g, N_P));
		break;
	case 13:
		text_add(&g->t, "\t%ssetp.%s %%p%u, %%r%u, %s;\n", guard,
		         ANY(g, "lt.s32", "ge.s32", "eq.s32", "ne.u32", "gt.u32", "le.u32"), pick(g, N_P),
		         pick(g, N_R), src_r(g, b1));
		break;
	case 14:
		text_add(&g->t, "\t%ssetp.%s.f32 %%p%u, %%f%u, %%f%u;\n", guard,
		         ANY(g, "lt", "geu", "neu", "num"), pick(g, N_P), pick(g, N_F), pick(g, N_F));
		break;
	case 15:
		text_add(&g->t, "\t%s%s %%p%u, %%p%u, %%p%u;\n", guard,
		         ANY(g, "and.pred", "or.pred", "xor.pred"), pick(g, N_P), pick(g, N_P),
		         pick(g, N_P));
		break;
	default:
		text_add(&g->t, "\t%smov.u32 %%r%u, %s;\n", guard, d,
		         ANY(g, "%tid.x", "%laneid", "%ctaid.x", "17", "%tid.y", "%lanemask_lt", "0"));
		break;
	}
}

/* %rd9 = address of a word of the input, by one of several patterns. */
static void input_address(struct gen *g)
{
	switch (pick(g, 5)) {
	case 0: text_add(&g->t, "\tand.b32 %%r20, %%r%u, %u;\n", pick(g, N_R), IN_WORDS - 1); break;
	case 3: { /* a period in the lane: rows of halves or quarters, words that lanes share */
		const unsigned k = pick(g, 6);
		text_add(&g->t,
		         "\tand.b32 %%r20, %%r31, %u;\n\tshr.u32 %%r21, %%r31, %u;\n"
		         "\tmad.lo.s32 %%r20, %%r21, %u, %%r20;\n",
		         (1u << k) - 1, k, pick(g, 40));
		/* as if it had been worked out lane by lane */
		text_add(&g->t, "\tselp.b32 %%r22, 0, 0, %%p%u;\n\tadd.s32 %%r20, %%r20, %%r22;\n",
		         pick(g, N_P));
		break;
	}
	case 1: /* a row, perhaps not aligned */
		text_add(&g->t, "\tadd.s32 %%r20, %%r30, %u;\n", pick(g, 40));
		break;
	case 2: /* apart by a constant */
		text_add(&g->t, "\tmad.lo.s32 %%r20, %%r31, %u, %u;\n", pick(g, 9), pick(g, 64));
		break;
	default: /* the same for all */
		text_add(&g->t, "\tmov.u32 %%r20, %%ctaid.x;\n\tadd.s32 %%r20, %%r20, %u;\n", pick(g, 100));
		break;
	}
	text_add(&g->t, "\tmul.wide.u32 %%rd8, %%r20, 4;\n\tadd.s64 %%rd9, %%rd10, %%rd8;\n");
}

static void memory(struct gen *g, const char *guard)
{
	switch (pick(g, 10)) {
	case 8: { /* several words per lane */
		const unsigned n = pick(g, 2) ? 4 : 2, a = pick(g, N_R - 3);
		text_add(&g->t,
		         "\tmad.lo.s32 %%r20, %%r31, %u, %u;\n\tmul.wide.u32 %%rd8, %%r20, 4;\n"
		         "\tadd.s64 %%rd9, %%rd10, %%rd8;\n",
		         n * pick(g, 5), n * pick(g, 5));
		text_add(&g->t, "\t%sld.global.v%u.u32 {%%r%u, %%r%u", guard, n, a, a + 1);
		text_add(&g->t, n == 4 ? ", %%r%u, %%r%u}, [%%rd9];\n" : "}, [%%rd9];\n", a + 2, a + 3);
		break;
	}
	case 9: /* 64 bits, generic address */
		text_add(&g->t,
		         "\tmad.lo.s32 %%r20, %%r31, %u, %u;\n\tmul.wide.u32 %%rd8, %%r20, 4;\n"
		         "\tadd.s64 %%rd9, %%rd10, %%rd8;\n",
		         2 * pick(g, 5), 2 * pick(g, 5));
		text_add(&g->t, "\t%sld%s.u64 %%rd%u, [%%rd9];\n", guard, ANY(g, "", ".global"),
		         pick(g, N_D));
		break;
	case 0:
	case 1:
		input_address(g);
		text_add(&g->t, "\t%sld.global.u32 %%r%u, [%%rd9];\n", guard, pick(g, N_R));
		break;
	case 2:
		input_address(g);
		text_add(&g->t, "\t%sld.global.%s %%r%u, [%%rd9+%u];\n", guard, ANY(g, "u8", "s8", "u16"),
		         pick(g, N_R), 2 * pick(g, 2));
		break;
	case 3: /* the pattern that is done in one go */
		input_address(g);
		text_add(&g->t,
		         "\tld.global.nc.f32 %%f10, [%%rd9];\n\tld.global.nc.f32 %%f11, [%%rd10+%u];\n"
		         "\tcvt.rn.f32.u32 %%f12, %%r30;\n\tmul.f32 %%f10, %%f10, 0f00000000;\n",
		         4 * pick(g, 16));
		text_add(&g->t, "\tfma.rn.f32 %%f%u, %%f12, %%f10, %%f%u;\n", pick(g, N_F), pick(g, N_F));
		break;
	case 4:
	case 5:
		text_add(&g->t,
		         "\tand.b32 %%r20, %%r%u, %u;\n\tshl.b32 %%r20, %%r20, 2;\n"
		         "\tadd.s32 %%r21, %%r29, %%r20;\n",
		         pick(g, N_R), SHARED_WORDS - 1);
		text_add(&g->t,
		         pick(g, 2) ? "\t%sld.shared.u32 %%r%u, [%%r21];\n"
		                    : "\t%sst.shared.u32 [%%r21], %%r%u;\n",
		         guard, pick(g, N_R));
		break;
	case 6:
		text_add(&g->t,
		         "\tand.b32 %%r20, %%r%u, 63;\n\tmul.wide.u32 %%rd8, %%r20, 4;\n"
		         "\tadd.s64 %%rd9, %%rd12, %%rd8;\n\t%sred.global.add.u32 [%%rd9], %u;\n",
		         pick(g, N_R), guard, 1 + pick(g, 3));
		break;
	default:
		if (g->stores < OUT_PER_THREAD - 2)
			text_add(&g->t, "\t%sst.global.u32 [%%rd11+%u], %%r%u;\n", guard, 4 * g->stores++,
			         pick(g, N_R));
		break;
	}
}

static void warp_wide(struct gen *g)
{
	const bool together = g->depth == 1 && !g->holes;
	const char *m = together ? "-1" : "%r28"; /* in an arm those there: others never come */
	text_add(&g->t, together ? "" : "\tactivemask.b32 %%r28;\n");
	switch (together ? pick(g, 4) : 1 + pick(g, 3)) {
	case 0:
		text_add(&g->t, "\tshfl.sync.%s.b32 %%r%u|%%p%u, %%r%u, %u, 31, -1;\n",
		         ANY(g, "bfly", "idx"), pick(g, N_R), pick(g, N_P), pick(g, N_R), pick(g, 32));
		break;
	case 1:
		text_add(&g->t, "\tvote.sync.ballot.b32 %%r%u,%%p%u,%s;\n", pick(g, N_R), pick(g, N_P), m);
		break;
	case 2:
		text_add(&g->t, "\tvote.sync.%s.pred %%p%u, %%p%u, %s;\n", ANY(g, "any", "all"),
		         pick(g, N_P), pick(g, N_P), m);
		break;
	default: text_add(&g->t, "\tactivemask.b32 %%r%u;\n", pick(g, N_R)); break;
	}
}

static void block(struct gen *g, unsigned n);

static void branch(struct gen *g)
{
	const unsigned l = g->labels++;
	text_add(&g->t, "\t@%s%%p%u bra ELSE%u;\n", pick(g, 2) ? "!" : "", pick(g, N_P), l);
	block(g, 1 + pick(g, 4));
	if (pick(g, 2)) {
		text_add(&g->t, "\tbra END%u;\nELSE%u:\n", l, l);
		block(g, 1 + pick(g, 4));
		text_add(&g->t, "END%u:\n", l);
	} else {
		text_add(&g->t, "ELSE%u:\n", l);
	}
}

static void loop(struct gen *g)
{
	const unsigned l = g->labels++, c = 40 + g->depth;
	switch (pick(g, 3)) {
	case 0: text_add(&g->t, "\tmov.u32 %%r%u, %u;\n", c, 1 + pick(g, 4)); break;
	case 1: /* differs between lanes */
		text_add(&g->t, "\tand.b32 %%r%u, %%r%u, 3;\n\tadd.s32 %%r%u, %%r%u, 1;\n", c, pick(g, N_R),
		         c, c);
		break;
	default:
		text_add(&g->t,
		         "\tmov.u32 %%r%u, %%ctaid.x;\n\tand.b32 %%r%u, %%r%u, 3;\n"
		         "\tadd.s32 %%r%u, %%r%u, 1;\n",
		         c, c, c, c, c);
		break;
	}
	text_add(&g->t, "LOOP%u:\n", l);
	block(g, 1 + pick(g, 4));
	if (pick(g, 3) == 0)
		text_add(&g->t, "\t@%%p%u bra OUT%u;\n", pick(g, N_P), l);
	block(g, pick(g, 2));
	text_add(&g->t,
	         "\tadd.s32 %%r%u, %%r%u, -1;\n\tsetp.gt.s32 %%p9, %%r%u, 0;\n"
	         "\t@%%p9 bra LOOP%u;\nOUT%u:\n",
	         c, c, c, l, l);
}

static void statement(struct gen *g)
{
	char guard[24] = "";
	if (pick(g, 6) == 0)
		snprintf(guard, sizeof guard, "@%s%%p%u ", pick(g, 2) ? "!" : "", pick(g, N_P));
	const unsigned kind = pick(g, 20);
	if (kind < 11 || (kind > 15 && g->depth >= 3))
		arithmetic(g, guard);
	else if (kind < 15)
		memory(g, guard);
	else if (kind == 15)
		warp_wide(g);
	else if (kind < 18)
		branch(g);
	else
		loop(g);
}

static void block(struct gen *g, unsigned n)
{
	g->depth++;
	for (unsigned i = 0; i < n; i++)
		statement(g);
	g->depth--;
}

static char *program(uint64_t seed, unsigned threads)
{
	struct gen g = { .rng = seed * 7919 + 1, .holes = threads % 32 != 0 };
	text_add(
		&g.t,
		PTX_HEAD
		".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 bins, "
		".param .u32 n)\n{\n\t.reg .pred %%p<16>;\n\t.reg .b32 %%r<64>;\n\t.reg .f32 %%f<16>;\n"
		"\t.reg .b64 %%rd<16>;\n\t.shared .align 4 .b8 smem[%u];\n",
		4 * SHARED_WORDS);
	text_add(
		&g.t,
		"\tld.param.u64 %%rd10, [in];\n\tld.param.u64 %%rd11, [out];\n"
		"\tld.param.u64 %%rd12, [bins];\n\tld.param.u32 %%r3, [n];\n"
		"\tmov.u32 %%r0, %%tid.x;\n\tmov.u32 %%r1, %%ctaid.x;\n\tmov.u32 %%r24, %%ntid.x;\n"
		"\tmov.u32 %%r25, %%tid.y;\n\tmad.lo.s32 %%r31, %%r25, %%r24, %%r0;\n" /* in the block */
		"\tmov.u32 %%r26, %%ntid.y;\n\tmul.lo.s32 %%r27, %%r24, %%r26;\n"
		"\tmad.lo.s32 %%r30, %%r1, %%r27, %%r31;\n" /* in the grid */
		"\tmul.wide.u32 %%rd8, %%r30, %u;\n\tadd.s64 %%rd11, %%rd11, %%rd8;\n"
		"\tmov.u32 %%r29, smem;\n",
		4 * OUT_PER_THREAD);
	/* every shared word gets a value */
	text_add(&g.t,
	         "\tmov.u32 %%r20, %%r31;\nFILL:\n\tshl.b32 %%r21, %%r20, 2;\n"
	         "\tadd.s32 %%r21, %%r21, %%r29;\n\tst.shared.u32 [%%r21], %%r20;\n"
	         "\tadd.s32 %%r20, %%r20, %%r27;\n\tsetp.lt.s32 %%p9, %%r20, %u;\n\t@%%p9 bra FILL;\n"
	         "\tbar.sync 0;\n",
	         SHARED_WORDS);
	text_add(&g.t,
	         "\tadd.s32 %%r2, %%r0, %%r1;\n\tmul.lo.s32 %%r4, %%r0, %u;\n"
	         "\tmov.u32 %%r5, %u;\n\tadd.s32 %%r6, %%r0, 2147483632;\n\tmov.u32 %%r7, %%laneid;\n"
	         "\tshr.u32 %%r8, %%r31, 5;\n\tsub.s32 %%r9, %%r1, %%r0;\n\tmov.u32 %%r10, %%r25;\n"
	         "\tmul.wide.u32 %%rd8, %%r31, 4;\n\tadd.s64 %%rd9, %%rd10, %%rd8;\n"
	         "\tld.global.u32 %%r11, [%%rd9];\n",
	         1 + pick(&g, 9), pick(&g, 1000));
	for (unsigned i = 0; i < N_F; i++)
		text_add(&g.t, "\tcvt.rn.f32.s32 %%f%u, %%r%u;\n", i, i % 2 ? i : 5);
	for (unsigned i = 0; i < N_D; i++)
		text_add(&g.t, "\tcvt.%s %%rd%u, %%r%u;\n", i % 2 ? "s64.s32" : "u64.u32", i, i);
	for (unsigned i = 0; i < N_P; i++)
		text_add(&g.t, "\tsetp.%s %%p%u, %%r%u, %u;\n", ANY(&g, "lt.s32", "ge.u32", "eq.s32"), i,
		         pick(&g, N_R), pick(&g, 40));
	const unsigned parts = 2 + pick(&g, 3);
	for (unsigned i = 0; i < parts; i++) {
		block(&g, 3 + pick(&g, 6));
		if (pick(&g, 4) == 0) {
			text_add(&g.t, "\t@%%p%u %s;\n", pick(&g, N_P), ANY(&g, "bra EXIT", "ret"));
			g.holes = true;
		}
		if (pick(&g, 2))
			text_add(&g.t, "\tbar.sync 0;\n");
	}
	/* everything into two words */
	text_add(&g.t, "\tmov.u32 %%r20, 0;\n\tmov.u32 %%r21, 0;\n");
	for (unsigned i = 0; i < N_R; i++)
		text_add(&g.t, "\tmad.lo.s32 %%r20, %%r20, 31, %%r%u;\n", i);
	for (unsigned i = 0; i < N_D; i++)
		text_add(&g.t,
		         "\tcvt.u32.u64 %%r22, %%rd%u;\n\tmad.lo.s32 %%r20, %%r20, 31, %%r22;\n"
		         "\tshr.u64 %%rd8, %%rd%u, 32;\n\tcvt.u32.u64 %%r22, %%rd8;\n"
		         "\tmad.lo.s32 %%r20, %%r20, 31, %%r22;\n",
		         i, i);
	for (unsigned i = 0; i < N_F; i++)
		text_add(&g.t, "\tmov.b32 %%r22, %%f%u;\n\tmad.lo.s32 %%r21, %%r21, 31, %%r22;\n", i);
	for (unsigned i = 0; i < N_P; i++)
		text_add(&g.t, "\tselp.b32 %%r22, 1, 2, %%p%u;\n\tmad.lo.s32 %%r20, %%r20, 3, %%r22;\n", i);
	text_add(&g.t,
	         "\tst.global.u32 [%%rd11+%u], %%r20;\n\tst.global.u32 [%%rd11+%u], %%r21;\n"
	         "EXIT:\n\tret;\n}\n",
	         4 * (OUT_PER_THREAD - 2), 4 * (OUT_PER_THREAD - 1));
	return g.t.s;
}

static const struct dim3u blocks[] = { { 32, 1, 1 }, { 64, 1, 1 }, { 16, 16, 1 }, { 32, 4, 1 },
	                                   { 8, 8, 1 },  { 50, 1, 1 }, { 24, 3, 1 },  { 128, 1, 1 } };

/* The same outputs where nothing is counted. */
static void compare_uncounted(struct emu_case *c, uint64_t seed, const uint32_t *want, size_t words,
                              const uint32_t want_bins[64])
{
	uint32_t *out = c->buffers[1].data, *bins = c->buffers[2].data;
	setenv("PMPP_EMU_UNCOUNTED", "1", 1);
	for (size_t i = 0; i < ARRAY_LEN(emu_ways); i++) {
		memset(out, 0, words * 4);
		memset(bins, 0, 64 * 4);
		if (!emu_run_way(c, &emu_ways[i]) || memcmp(out, want, words * 4) != 0 ||
		    memcmp(bins, want_bins, 64 * 4) != 0)
			fail_msg("seed %llu, %s: other outputs where nothing is counted %s",
			         (unsigned long long)seed, emu_ways[i].name, c->err.msg);
	}
	unsetenv("PMPP_EMU_UNCOUNTED");
}

static void compare(uint64_t seed)
{
	const struct dim3u block = blocks[seed % ARRAY_LEN(blocks)], grid = { 5, 1, 1 };
	struct emu_case c = { .ptx = program(seed, block.x * block.y) };
	const size_t threads = (size_t)grid.x * block.x * block.y;
	emu_launch(&c, "k", grid, block);
	/* rows of up to 40 words are read behind the last thread's own */
	uint32_t *in = emu_buffer(&c, "in", ELEM_U32, BUF_IN, IN_WORDS + 16384);
	uint32_t *out = emu_buffer(&c, "out", ELEM_U32, BUF_INOUT, threads * OUT_PER_THREAD);
	uint32_t *bins = emu_buffer(&c, "bins", ELEM_U32, BUF_INOUT, 64);
	emu_arg(&c, 1000);
	uint64_t rng = seed;
	for (size_t i = 0; i < IN_WORDS + 16384; i++)
		in[i] = (uint32_t)(rand_next(&rng) >> 40) >> (i % 3 * 8);
	uint32_t *want = mem_calloc(threads * OUT_PER_THREAD, 4), want_bins[64] = { 0 };
	struct run_counts counts = { 0 };
	char where[80];
	for (size_t i = 0; i < ARRAY_LEN(emu_ways); i++) {
		memset(out, 0, threads * OUT_PER_THREAD * 4);
		memset(bins, 0, sizeof want_bins);
		if (!emu_run_way(&c, &emu_ways[i])) {
			fprintf(stderr, "%s\n", c.ptx);
			fail_msg("seed %llu, %s: %s", (unsigned long long)seed, emu_ways[i].name, c.err.msg);
		}
		if (i == 0) {
			memcpy(want, out, threads * OUT_PER_THREAD * 4);
			memcpy(want_bins, bins, sizeof want_bins);
			run_counts_copy(&counts, &c.res.counts);
			continue;
		}
		const char *differ = emu_counts_differ(&c.res.counts.total, &counts.total);
		for (size_t k = 0; k < threads * OUT_PER_THREAD && !differ; k++)
			if (out[k] != want[k]) {
				snprintf(where, sizeof where, "output of thread %zu, word %zu: %x, not %x;",
				         k / OUT_PER_THREAD, k % OUT_PER_THREAD, out[k], want[k]);
				differ = where;
			}
		if (memcmp(bins, want_bins, sizeof want_bins) != 0)
			differ = "bins";
		if (c.res.counts.dram_read_bytes != counts.dram_read_bytes ||
		    c.res.counts.dram_write_bytes != counts.dram_write_bytes ||
		    c.res.counts.l2_sectors != counts.l2_sectors)
			differ = "traffic";
		for (unsigned k = 0; k < counts.n_lines && !differ; k++)
			differ = emu_counts_differ(&c.res.counts.lines[k].c, &counts.lines[k].c);
		if (differ) {
			fprintf(stderr, "%s\n", c.ptx);
			fail_msg("seed %llu: %s differs between %s and %s", (unsigned long long)seed, differ,
			         emu_ways[0].name, emu_ways[i].name);
		}
	}
	compare_uncounted(&c, seed, want, threads * OUT_PER_THREAD, want_bins);
	run_counts_free(&counts);
	free(want);
	emu_case_free(&c);
}

TEST(same_everywhere)
{
	unsigned long long first = 1, count = 150;
	const char *wanted = getenv("PMPP_RANDOM");
	if (wanted)
		sscanf(wanted, "%llu:%llu", &first, &count);
	for (unsigned long long seed = first; seed < first + count; seed++)
		compare(seed);
}
