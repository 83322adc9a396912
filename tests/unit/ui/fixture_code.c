/* The machine code of the tiled sgemm, in short: a loop, scoreboards, a spill. */
#include "fixture.h"

#define NONE CODE_NO_BARRIER

static const struct code_inst insts[] = {
	{ 0x00,
	  18,
	  301,
	  0,
	  "LDC R1, c[0x0][0x28]",
	  1,
	  1,
	  false,
	  NONE,
	  NONE,
	  0,
	  0,
	  0,
	  false,
	  0,
	  { { 0 } } },
	{ 0x10, 18, 302, 0, "S2R R0, SR_TID.X", 2, 2, true, 0, NONE, 0, 0, 0, false, 0, { { 0 } } },
	{ 0x20,
	  22,
	  310,
	  0,
	  "IMAD.WIDE R4, R0, 0x4, R2",
	  6,
	  5,
	  true,
	  NONE,
	  NONE,
	  1,
	  0,
	  0,
	  false,
	  1,
	  { { 1 } } },
	{ 0x30,
	  22,
	  311,
	  0,
	  "LDG.E R8, desc[UR4][R4.64]",
	  7,
	  1,
	  false,
	  2,
	  1,
	  0,
	  0,
	  0,
	  false,
	  1,
	  { { 2 } } },
	{ 0x40, 22, 0, 0, "STL [R1], R9", 7, 1, false, NONE, 3, 0, 0, 0, true, 1, { { 0 } } },
	{ 0x50, 22, 312, 0, "STS [R6], R8", 7, 2, true, NONE, NONE, 4, 0, 0, false, 1, { { 3 } } },
	{ 0x60,
	  24,
	  314,
	  0,
	  "BAR.SYNC.DEFER_BLOCKING 0x0",
	  6,
	  6,
	  false,
	  NONE,
	  NONE,
	  0,
	  0,
	  0,
	  false,
	  0,
	  { { 0 } } },
	{ 0x70, 26, 320, 0, "LDS.128 R12, [R7]", 10, 1, false, 0, NONE, 0, 0, 0, false, 0, { { 0 } } },
	{ 0x80, 26, 321, 0, "LDS R16, [R6]", 11, 4, false, 1, NONE, 0, 0, 0, false, 0, { { 0 } } },
	{ 0x90,
	  26,
	  322,
	  0,
	  "FFMA R20, R12.reuse, R16, R20",
	  11,
	  4,
	  false,
	  NONE,
	  NONE,
	  3,
	  1,
	  0,
	  false,
	  3,
	  { { 7 }, { 8 }, { 9 } } },
	{ 0xa0, 27, 325, 3, "@P0 BRA 0x0020", 9, 5, true, NONE, NONE, 0, 0, 0, false, 0, { { 0 } } },
	{ 0xb0,
	  30,
	  330,
	  0,
	  "STG.E desc[UR4][R4.64], R20",
	  4,
	  1,
	  false,
	  NONE,
	  NONE,
	  0,
	  0,
	  0,
	  false,
	  2,
	  { { 2 }, { 9 } } },
	{ 0xc0, 31, 332, 0, "EXIT", 1, 5, true, NONE, NONE, 0, 0, 0, false, 0, { { 0 } } },
};

static const struct code_ptx ptx[] = {
	{ 302, 18, "mov.u32 %r1, %tid.x" },
	{ 309, 22, "mul.wide.s32 %rd3, %r1, 4" },
	{ 310, 22, "add.s64 %rd4, %rd1, %rd3" },
	{ 311, 22, "ld.global.f32 %f1, [%rd4]" },
	{ 312, 22, "st.shared.f32 [%r7], %f1" },
	{ 314, 24, "bar.sync 0" },
	{ 320, 26, "ld.shared.v4.f32 {%f2, %f3, %f4, %f5}, [%r8]" },
	{ 321, 26, "ld.shared.f32 %f6, [%r7]" },
	{ 322, 26, "fma.rn.f32 %f7, %f2, %f6, %f7" },
	{ 325, 27, "@%p1 bra $L__BB1_2" },
	{ 330, 30, "st.global.f32 [%rd9], %f7" },
	{ 332, 31, "ret" },
};

void fixture_code(struct run_record *r)
{
	struct code_listing *c = mem_zalloc(sizeof *c);
	struct run_counts *counts = &r->run.counts;
	snprintf(r->run.level, sizeof r->run.level, "sm_80 machine code, ptxas 13.0.88");
	snprintf(c->title, sizeof c->title, "%s", r->run.level);
	snprintf(c->disassembler, sizeof c->disassembler, "nvdisasm 13.5.37");
	c->registers = 32;
	c->live = true;
	c->n = ARRAY_LEN(insts);
	c->insts = mem_calloc(c->n, sizeof *insts);
	memcpy(c->insts, insts, sizeof insts);
	c->n_ptx = ARRAY_LEN(ptx);
	c->ptx = mem_calloc(c->n_ptx, sizeof *ptx);
	memcpy(c->ptx, ptx, sizeof ptx);
	counts->code = mem_calloc(c->n, sizeof *counts->code);
	counts->n_code = c->n;
	for (unsigned i = 0; i < c->n; i++) {
		const uint64_t warps = i >= 2 && i <= 10 ? 12582912 : 32768;
		const uint64_t lanes = i == 5 ? 12 : 32; /* some threads have nothing to store */
		counts->code[i] = (struct code_count){ .offset = insts[i].offset,
			                                   .warps = warps,
			                                   .lanes = lanes * warps };
	}
	counts->total.warp_executed = 9 * 12582912ull + 4 * 32768;
	counts->ptx_known = true;
	counts->ptx.warp_executed = 140509184;
	r->code = c;
}
