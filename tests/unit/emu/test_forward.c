/*
 * Rows of operations on 32 lanes that hand their results on: random ones, with scalars and branches
 * that split warps among them, give the same values and counts as where every result goes through
 * the frame (SSE2, the reference program).
 */
#include "emu_fixture.h"

enum {
	REGS = 8,
	OPS = 40,
	BLOCKS = 3,
	THREADS = 128,
	ALL = BLOCKS * THREADS,
	PROGRAMS_TRIED = 150
};

static uint64_t seed;

static unsigned any(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

/* One of r0 to r7, of two scalars, of what follows from the thread alone; or a number. */
static const char *source(unsigned last)
{
	static char text[3][24];
	static unsigned turn;
	char *t = text[turn = (turn + 1) % 3];
	const unsigned kind = any(9);
	if (kind < 5)
		snprintf(t, sizeof text[0], "%%r%u", kind < 3 ? last : any(REGS));
	else if (kind < 7)
		snprintf(t, sizeof text[0], "%%s%u", kind - 5);
	else if (kind == 7)
		snprintf(t, sizeof text[0], "%%x%u", any(3));
	else
		snprintf(t, sizeof text[0], "%u", any(64));
	return t;
}

static void one_op(struct text *t, unsigned *last)
{
	static const char *const two[] = { "add.u32", "sub.u32", "mul.lo.u32", "and.b32", "or.b32",
		                               "xor.b32", "shl.b32", "shr.u32",    "shr.s32", "min.s32",
		                               "max.s32", "min.u32", "max.u32" };
	static const char *const two_f32[] = { "add.f32", "sub.f32", "mul.f32" };
	static const char *const one[] = { "not.b32", "neg.f32", "abs.f32", "cvt.rn.f32.s32" };
	static const char *const compare[] = { "eq.u32", "ne.s32", "lt.s32", "le.s32", "gt.u32",
		                                   "ge.u32", "eq.f32", "lt.f32", "le.f32", "gt.f32" };
	const unsigned kind = any(10), d = any(REGS), own = *last;
	if (kind < 4) {
		text_add(t, "%s %%r%u, %s, %s;\n", two[any(ARRAY_LEN(two))], d, source(own), source(own));
	} else if (kind < 6) { /* numbers are no floats */
		text_add(t, "%s %%r%u, %%r%u, %%r%u;\n", two_f32[any(ARRAY_LEN(two_f32))], d, own,
		         any(2) ? own : any(REGS));
	} else if (kind == 6) {
		text_add(t, "%s %%r%u, %%r%u;\n", one[any(ARRAY_LEN(one))], d, own);
	} else if (kind == 7) {
		text_add(t, "fma.rn.f32 %%r%u, %%r%u, %%r%u, %%r%u;\n", d, any(2) ? own : any(REGS),
		         any(2) ? own : any(REGS), any(2) ? own : any(REGS));
	} else if (kind == 8) {
		if (any(2))
			text_add(t, "mad.lo.u32 %%r%u, %s, %s, %s;\n", d, source(own), source(own),
			         source(own));
		else
			text_add(t, "shf.%s.wrap.b32 %%r%u, %s, %%r%u, %s;\n", any(2) ? "l" : "r", d,
			         source(own), own, source(own));
	} else {
		const char *how = compare[any(ARRAY_LEN(compare))];
		if (strstr(how, "f32"))
			text_add(t, "setp.%s %%p1, %%r%u, %%r%u;\n", how, any(2) ? own : any(REGS), own);
		else
			text_add(t, "setp.%s %%p1, %s, %s;\n", how, source(own), source(own));
		text_add(t, "selp.b32 %%r%u, %%r%u, %%r%u, %%p1;\n", d, own, any(REGS));
	}
	*last = d;
}

static char *random_rows(void)
{
	struct text t = { 0 };
	unsigned last = 0;
	text_add(&t, "%s",
	         PTX_HEAD ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 s,"
	                  " .param .u32 z)\n{\n.reg .b32 %r<8>, %s<2>, %x<9>; .reg .b64 %a<4>;\n"
	                  ".reg .pred %p<3>;\nld.param.u64 %a0, [in]; ld.param.u64 %a1, [out];\n"
	                  "ld.param.u32 %s0, [s]; ld.param.u32 %s1, [z];\n"
	                  "mov.u32 %x0, %tid.x; mov.u32 %x1, %ctaid.x;\n"
	                  "mad.lo.u32 %x2, %x1, 128, %x0; mul.wide.u32 %a2, %x2, 32;\n"
	                  "add.u64 %a0, %a0, %a2; add.u64 %a1, %a1, %a2;\n");
	for (unsigned r = 0; r < REGS; r++)
		text_add(&t, "ld.global.u32 %%r%u, [%%a0+%u];\n", r, 4 * r);
	for (unsigned i = 0; i < OPS; i++) {
		if (i == OPS / 4) /* lanes of some warps only */
			text_add(&t, "and.b32 %%x3, %%r%u, 3; setp.eq.u32 %%p2, %%x3, 0; @%%p2 bra OVER;\n",
			         last);
		if (i == OPS / 2)
			text_add(&t, "OVER:\n");
		one_op(&t, &last);
	}
	for (unsigned r = 0; r < REGS; r++)
		text_add(&t, "st.global.u32 [%%a1+%u], %%r%u;\n", 4 * r, r);
	text_add(&t, "ret;\n}\n");
	return t.s;
}

/* Whole numbers, floats of all sizes, and what lies beside them. */
static uint32_t some_word(void)
{
	const uint32_t u = any(1u << 31) << 1 | any(2);
	switch (any(6)) {
	case 0: return u;
	case 1: return any(100);
	case 2: return 0x7f800000u | (any(4) ? 0 : any(1u << 22)) | u << 31;
	case 3: return u << 31;
	default: return (u & 0x807fffffu) | (100 + any(60)) << 23;
	}
}

TEST(rows_give_what_single_operations_do)
{
	for (unsigned n = 0; n < PROGRAMS_TRIED; n++) {
		seed = n;
		char *const ptx = random_rows();
		uint32_t in[ALL * REGS], first[ALL * REGS];
		struct counts counts = { 0 };
		for (unsigned i = 0; i < ALL * REGS; i++)
			in[i] = some_word();
		for (unsigned w = 0; w < ARRAY_LEN(emu_ways); w++) {
			struct emu_case c = { .ptx = mem_strdup(ptx) };
			emu_launch(&c, "k", (struct dim3u){ BLOCKS, 1, 1 }, (struct dim3u){ THREADS, 1, 1 });
			memcpy(emu_buffer(&c, "in", ELEM_U32, BUF_IN, ALL * REGS), in, sizeof in);
			const uint32_t *out = emu_buffer(&c, "out", ELEM_U32, BUF_OUT, ALL * REGS);
			emu_arg(&c, (int32_t)(n * 2654435761u));
			emu_arg(&c, (int32_t)n);
			if (!emu_run_way(&c, &emu_ways[w]))
				fail_msg("%s\n%s", c.err.msg, ptx);
			if (!w) {
				memcpy(first, out, sizeof first);
				counts = c.res.counts.total;
			}
			const char *differs = emu_counts_differ(&counts, &c.res.counts.total);
			for (unsigned i = 0; i < ALL * REGS && !differs; i++)
				if (first[i] != out[i])
					fail_msg("%s: thread %u, r%u: %08x, not %08x\n%s", emu_ways[w].name, i / REGS,
					         i % REGS, out[i], first[i], ptx);
			if (differs)
				fail_msg("%s: %s\n%s", emu_ways[w].name, differs, ptx);
			emu_case_free(&c);
		}
		free(ptx);
	}
}
