/* Instructions: every field that a mnemonic and its operands set. PTX ISA 9.7, 6, 4.5. */
#include "ptx_fixture.h"

static struct ptx_module m;
static struct ptx_func *f;

/* Parses a body behind REGS; its instructions are f->insts. */
static struct ptx_inst *body(const char *statements)
{
	struct text t = { 0 };
	const char *head = HEAD ".global .align 4 .b8 buffer[64];\n.visible .entry k(.param .u64 "
							"k_param_0, .param .u32 k_param_1) {\n" REGS;
	text_add(&t, "%s%s\nret;\n}\n", head, statements);
	ptx_free(&m);
	m = parsed(t.s);
	text_free(&t);
	f = kernel(&m);
	return f->insts;
}

static int teardown(void **state)
{
	(void)state;
	ptx_free(&m);
	return 0;
}

TEST(arithmetic)
{
	struct ptx_inst *i =
		body("mad.lo.s32 %r1, %r2, -3, %r4;\n fma.rn.ftz.f32 %f1, %f2, %f3, 0fBF800000;"
	         "mul.wide.u16 %r3, %rs1, 7; add.cc.u32 %r1, %r1, 0xFFFFFFFFU;");
	assert_int_equal(f->n_insts, 5);
	assert_int_equal(i[0].op, OP_MAD);
	assert_int_equal(i[0].type, PTX_S32);
	assert_int_equal(i[0].flags, PF_LO);
	assert_int_equal(i[0].n_opnds, 4);
	assert_int_equal(i[0].guard, -1);
	assert_int_equal(i[0].ptx_line, 7); /* behind three lines of head, buffer, entry, registers */
	assert_int_equal(i[0].line, 0);
	assert_string_equal(i[0].text, "mad.lo.s32");
	assert_reg(f, i[0].opnd[0], "%r1");
	assert_reg(f, i[0].opnd[1], "%r2");
	assert_imm(i[0].opnd[2], -3);
	assert_reg(f, i[0].opnd[3], "%r4");
	assert_int_equal(i[1].op, OP_FMA);
	assert_int_equal(i[1].ptx_line, 8);
	assert_int_equal(i[1].round, ROUND_RN);
	assert_int_equal(i[1].flags, PF_FTZ);
	assert_int_equal(i[1].opnd[3].kind, OPND_FLOAT);
	assert_true(i[1].opnd[3].f64 == -1.0);
	assert_int_equal(i[1].opnd[3].i64, 0xBF800000);
	assert_int_equal(i[2].flags, PF_WIDE);
	assert_int_equal(i[2].type, PTX_U16);
	assert_int_equal(i[3].flags, PF_CC);
	assert_imm(i[3].opnd[2], 0xFFFFFFFF);
}

TEST(literals)
{
	struct ptx_inst *i =
		body("mov.f64 %fd1, 0d3FF8000000000000; mov.b32 %r1, 0f40000000;"
	         "mov.u32 %r1, 0b101; mov.u32 %r1, 017; mov.u64 %rd1, 18446744073709551615;"
	         "mov.f32 %f1, 1.5; mov.f32 %f1, 0f7F800001; mov.f64 %fd1, -2.5e1;"
	         "mov.u32 %r1, WARP_SZ; mov.b32 %r1, ~5; mov.f32 %f1, -0f3F800000;"
	         "mov.f64 %fd2, 0f3F000000;");
	assert_true(i[0].opnd[1].f64 == 1.5);
	assert_int_equal(i[0].opnd[1].i64, 0x3FF8000000000000);
	assert_imm(i[1].opnd[1], 0x40000000);
	assert_imm(i[2].opnd[1], 5);
	assert_imm(i[3].opnd[1], 15);
	assert_imm(i[4].opnd[1], -1);
	assert_true(i[5].opnd[1].f64 == 1.5);
	assert_int_equal(i[5].opnd[1].i64, 0x3FC00000);
	assert_int_equal(i[6].opnd[1].i64, 0x7F800001); /* a signalling NaN keeps its bits */
	assert_true(i[7].opnd[1].f64 == -25.0);
	assert_imm(i[8].opnd[1], 32);
	assert_imm(i[9].opnd[1], -6);
	assert_true(i[10].opnd[1].f64 == -1.0);
	assert_int_equal(i[10].opnd[1].i64, 0xBF800000);
	assert_true(i[11].opnd[1].f64 == 0.5);
	assert_int_equal(i[11].opnd[1].i64, 0x3FE0000000000000);
}

TEST(comparison)
{
	struct ptx_inst *i = body("setp.lt.s32 %p1, %r1, 5; setp.geu.and.f32 %p1|%p2, %f1, %f2, !%p3;"
	                          "setp.hi.u32 %p0, %r1, %r2; set.ne.u32.f32 %r1, %f1, %f2;"
	                          "selp.b32 %r1, 1, 0, %p1; slct.f32.s32 %f1, %f2, %f3, %r1;"
	                          "set.lt.xor.s32.u64 %r1, %rd1, %rd2, %p2;");
	assert_int_equal(i[0].cmp, CMP_LT);
	assert_int_equal(i[0].n_opnds, 4);
	assert_reg(f, i[0].opnd[0], "%p1");
	assert_int_equal(i[0].opnd[1].kind, OPND_NONE);
	assert_reg(f, i[0].opnd[2], "%r1");
	assert_imm(i[0].opnd[3], 5);
	assert_int_equal(i[1].cmp, CMP_GEU);
	assert_int_equal(i[1].boolop, BOOL_AND);
	assert_int_equal(i[1].n_opnds, 5);
	assert_reg(f, i[1].opnd[1], "%p2");
	assert_reg(f, i[1].opnd[4], "%p3");
	assert_true(i[1].opnd[4].negated);
	assert_int_equal(i[2].cmp, CMP_HI);
	assert_int_equal(i[2].flags, 0);
	assert_int_equal(i[3].type, PTX_U32);
	assert_int_equal(i[3].type2, PTX_F32);
	assert_int_equal(i[4].n_opnds, 4);
	assert_reg(f, i[4].opnd[3], "%p1");
	assert_int_equal(i[5].type2, PTX_S32);
	assert_int_equal(i[6].boolop, BOOL_XOR);
	assert_reg(f, i[6].opnd[3], "%p2");
}

TEST(memory)
{
	struct ptx_inst *i =
		body("ld.param.u64 %rd1, [k_param_0]; ld.global.v4.f32 {%f1, %f2, _, %f4}, [%rd1+16];"
	         "st.global.v2.u32 [%rd1+-8], {%r1, %r2}; ld.volatile.shared.u8 %r1, [%r2];"
	         "ld.global.nc.L1::no_allocate.L2::128B.b32 %r1, [%rd1];"
	         "ld.acquire.gpu.global.u32 %r1, [%rd2]; st.release.sys.u32 [%rd1], %r3;"
	         "ld.global.cs.f64 %fd1, [buffer+8]; st.global.b16 [buffer], %rs1; ld.u32 %r1, [64];"
	         "cvta.to.global.u64 %rd2, %rd1; mov.u64 %rd3, buffer+4; isspacep.shared %p1, %rd1;"
	         "ld.global.b8 %rs1, [%rd1]; st.shared::cta.u32 [%r1], %r2;");
	assert_int_equal(i[0].space, SPACE_PARAM);
	assert_int_equal(i[0].opnd[1].kind, OPND_ADDR);
	assert_int_equal(i[0].opnd[1].addr_base, ADDR_SYMBOL);
	assert_int_equal(i[0].opnd[1].symbol, -1);
	assert_int_equal(i[1].vec, 4);
	assert_int_equal(i[1].opnd[0].kind, OPND_VEC);
	assert_int_equal(i[1].opnd[0].n_vec, 4);
	assert_int_equal(i[1].opnd[0].vec[0], reg_of(f, "%f1"));
	assert_int_equal(i[1].opnd[0].vec[2], -1);
	assert_int_equal(i[1].opnd[0].vec[3], reg_of(f, "%f4"));
	assert_int_equal(i[1].opnd[1].addr_base, ADDR_REG);
	assert_int_equal(i[1].opnd[1].reg, reg_of(f, "%rd1"));
	assert_int_equal(i[1].opnd[1].i64, 16);
	assert_int_equal(i[2].op, OP_ST);
	assert_int_equal(i[2].opnd[0].i64, -8);
	assert_int_equal(i[2].opnd[1].n_vec, 2);
	assert_int_equal(i[3].flags, PF_VOLATILE);
	assert_int_equal(i[3].space, SPACE_SHARED);
	assert_int_equal(i[3].type, PTX_U8);
	assert_int_equal(i[4].flags, PF_NC);
	assert_int_equal(i[5].sem, SEM_ACQUIRE);
	assert_int_equal(i[5].scope, SCOPE_GPU);
	assert_int_equal(i[6].sem, SEM_RELEASE);
	assert_int_equal(i[6].scope, SCOPE_SYS);
	assert_int_equal(i[6].space, SPACE_GENERIC);
	assert_int_equal(i[7].cache, CACHE_CS);
	assert_int_equal(i[7].opnd[1].symbol, 0);
	assert_int_equal(i[7].opnd[1].i64, 8);
	assert_int_equal(i[8].opnd[0].addr_base, ADDR_SYMBOL);
	assert_int_equal(i[9].opnd[1].addr_base, ADDR_ABSOLUTE);
	assert_int_equal(i[9].opnd[1].i64, 64);
	assert_int_equal(i[10].flags, PF_TO);
	assert_int_equal(i[10].space, SPACE_GLOBAL);
	assert_int_equal(i[11].opnd[1].kind, OPND_SYMBOL);
	assert_int_equal(i[11].opnd[1].i64, 4);
	assert_int_equal(i[12].space, SPACE_SHARED);
	assert_int_equal(i[13].type, PTX_B8);
	assert_int_equal(i[14].space, SPACE_SHARED);
}

TEST(conversion_and_move)
{
	struct ptx_inst *i =
		body("cvt.rzi.s32.f32 %r1, %f1; cvt.u32.u16 %r1, %rs1; cvt.rn.f16x2.f32 %r1, %f1, %f2;"
	         "mov.b64 {%r1, %r2}, %rd1; mov.b64 %rd1, {%r1, %r2}; mov.u32 %r1, %tid.x;"
	         "mov.u64 %rd1, %clock64; mov.b32 {%rs1, _}, %r1; mov.pred %p1, %p2;"
	         "cvt.sat.f32.f32 %f1, %f2; mov.u32 %r1, %nctaid.z; mov.u32 %r1, %lanemask_lt;");
	assert_int_equal(i[0].round, ROUND_RZI);
	assert_int_equal(i[0].type, PTX_S32);
	assert_int_equal(i[0].type2, PTX_F32);
	assert_int_equal(i[2].n_opnds, 3);
	assert_int_equal(i[2].type, PTX_F16X2);
	assert_int_equal(i[3].opnd[0].kind, OPND_VEC);
	assert_int_equal(i[3].opnd[0].n_vec, 2);
	assert_reg(f, i[3].opnd[1], "%rd1");
	assert_int_equal(i[4].opnd[1].kind, OPND_VEC);
	assert_int_equal(i[4].opnd[1].vec[1], reg_of(f, "%r2"));
	assert_int_equal(i[5].opnd[1].kind, OPND_SPECIAL);
	assert_int_equal(i[5].opnd[1].special, SR_TID_X);
	assert_int_equal(i[6].opnd[1].special, SR_CLOCK64);
	assert_int_equal(i[7].opnd[0].vec[1], -1);
	assert_reg(f, i[8].opnd[1], "%p2");
	assert_int_equal(i[9].flags, PF_SAT);
	assert_int_equal(i[10].opnd[1].special, SR_NCTAID_Z);
	assert_int_equal(i[11].opnd[1].special, SR_LANEMASK_LT);
}

TEST(bits)
{
	struct ptx_inst *i = body(
		"lop3.b32 %r1, %r2, %r3, %r4, 0xEA; shf.l.wrap.b32 %r1, %r2, %r3, 5;"
		"shf.r.clamp.b32 %r1, %r2, %r3, %r4; prmt.b32 %r1, %r2, %r3, 0x3210;"
		"prmt.b32.rc8 %r1, %r2, %r3, %r4; bfe.s32 %r1, %r2, 4, 8; bfind.shiftamt.u64 %r1, %rd1;"
		"shr.s64 %rd1, %rd2, 3; dp4a.u32.s32 %r1, %r2, %r3, %r4; and.pred %p1, %p2, %p3;"
		"popc.b64 %r1, %rd1; mul.hi.u32 %r1, %r2, %r3; min.NaN.f32 %f1, %f2, %f3;");
	assert_int_equal(i[0].n_opnds, 5);
	assert_int_equal(i[0].opnd[1].kind, OPND_NONE);
	assert_int_equal(i[0].mma.k, 0xEA);
	assert_int_equal(i[1].flags, PF_LEFT | PF_WRAP);
	assert_int_equal(i[2].flags, PF_CLAMP);
	assert_int_equal(i[3].mode, MODE_NONE);
	assert_int_equal(i[4].mode, MODE_RC8);
	assert_int_equal(i[5].n_opnds, 4);
	assert_int_equal(i[6].flags, PF_SHIFTAMT);
	assert_imm(i[7].opnd[2], 3);
	assert_int_equal(i[8].type, PTX_U32);
	assert_int_equal(i[8].type2, PTX_S32);
	assert_int_equal(i[9].type, PTX_PRED);
	assert_int_equal(i[10].type, PTX_B64);
	assert_int_equal(i[11].flags, PF_HI);
	assert_int_equal(i[12].flags, PF_NAN);
}

TEST(atomics)
{
	struct ptx_inst *i =
		body("atom.global.add.f32 %f1, [%rd1], %f2; atom.shared.cas.b32 _, [%r1+4], %r2, %r3;"
	         "red.relaxed.gpu.global.max.u64 [%rd1], %rd2; atom.add.acq_rel.cta.u32 %r1, [%rd1], 1;"
	         "atom.global.inc.u32 %r1, [%rd1], 9;");
	assert_int_equal(i[0].atom, ATOM_ADD);
	assert_int_equal(i[0].space, SPACE_GLOBAL);
	assert_reg(f, i[0].opnd[0], "%f1");
	assert_int_equal(i[0].opnd[1].kind, OPND_ADDR);
	assert_reg(f, i[0].opnd[2], "%f2");
	assert_int_equal(i[1].opnd[0].kind, OPND_NONE);
	assert_int_equal(i[1].n_opnds, 4);
	assert_reg(f, i[1].opnd[3], "%r3");
	assert_int_equal(i[2].op, OP_RED);
	assert_int_equal(i[2].atom, ATOM_MAX);
	assert_int_equal(i[2].sem, SEM_RELAXED);
	assert_int_equal(i[2].n_opnds, 2);
	assert_int_equal(i[3].space, SPACE_GENERIC);
	assert_int_equal(i[3].sem, SEM_ACQ_REL);
	assert_int_equal(i[3].scope, SCOPE_CTA);
	assert_int_equal(i[4].atom, ATOM_INC);
}

TEST(warp_level)
{
	struct ptx_inst *i =
		body("shfl.sync.down.b32 %r1|%p1, %r2, 4, 31, -1; shfl.sync.idx.b32 %r1, %r2, %r3, 31, %r4;"
	         "vote.sync.ballot.b32 %r1, !%p1, -1; vote.sync.any.pred %p1, %p2, %r1;"
	         "match.all.sync.b32 %r1|%p1, %r2, -1; match.any.sync.b64 %r1, %rd1, -1;"
	         "redux.sync.add.s32 %r1, %r2, %r3; activemask.b32 %r1; bar.warp.sync -1; "
	         "elect.sync _|%p1, -1;");
	assert_int_equal(i[0].op, OP_SHFL);
	assert_int_equal(i[0].mode, MODE_DOWN);
	assert_int_equal(i[0].flags, PF_SYNC);
	assert_int_equal(i[0].n_opnds, 6);
	assert_reg(f, i[0].opnd[1], "%p1");
	assert_reg(f, i[0].opnd[2], "%r2");
	assert_imm(i[0].opnd[3], 4);
	assert_imm(i[0].opnd[4], 31);
	assert_imm(i[0].opnd[5], -1);
	assert_int_equal(i[1].opnd[1].kind, OPND_NONE);
	assert_reg(f, i[1].opnd[5], "%r4");
	assert_int_equal(i[2].mode, MODE_BALLOT);
	assert_true(i[2].opnd[1].negated);
	assert_int_equal(i[3].type, PTX_PRED);
	assert_reg(f, i[3].opnd[0], "%p1");
	assert_int_equal(i[4].mode, MODE_ALL);
	assert_reg(f, i[4].opnd[1], "%p1");
	assert_int_equal(i[5].n_opnds, 4);
	assert_int_equal(i[5].opnd[1].kind, OPND_NONE);
	assert_int_equal(i[6].atom, ATOM_ADD);
	assert_int_equal(i[7].n_opnds, 1);
	assert_int_equal(i[8].op, OP_BAR_WARP);
	assert_int_equal(i[9].opnd[0].kind, OPND_NONE);
	assert_reg(f, i[9].opnd[1], "%p1");
}

TEST(barriers)
{
	struct ptx_inst *i =
		body("bar.sync 0; bar.sync %r1, 64; bar.arrive 1, %r2; bar.red.popc.u32 %r1, 0, %p1;"
	         "bar.red.or.pred %p1, 1, 32, !%p2; barrier.sync.aligned 2; barrier.cta.sync 3;"
	         "membar.gl; fence.acq_rel.gpu; cp.async.ca.shared.global [%r1], [%rd1], 4;"
	         "cp.async.cg.shared.global.L2::128B [%r1+16], [%rd1], 16, %r2; cp.async.commit_group;"
	         "cp.async.wait_group 1; cp.async.wait_all;");
	assert_int_equal(i[0].op, OP_BAR);
	assert_imm(i[0].opnd[0], 0);
	assert_int_equal(i[0].n_opnds, 1);
	assert_imm(i[1].opnd[1], 64);
	assert_int_equal(i[2].flags, PF_ARRIVE);
	assert_int_equal(i[3].flags, PF_RED);
	assert_int_equal(i[3].atom, ATOM_POPC);
	assert_reg(f, i[3].opnd[0], "%r1");
	assert_imm(i[3].opnd[1], 0);
	assert_int_equal(i[3].opnd[2].kind, OPND_NONE);
	assert_reg(f, i[3].opnd[3], "%p1");
	assert_int_equal(i[4].type, PTX_PRED);
	assert_int_equal(i[4].atom, ATOM_OR);
	assert_imm(i[4].opnd[2], 32);
	assert_true(i[4].opnd[3].negated);
	assert_int_equal(i[5].op, OP_BARRIER);
	assert_int_equal(i[6].op, OP_BARRIER);
	assert_int_equal(i[7].scope, SCOPE_GPU);
	assert_int_equal(i[8].sem, SEM_ACQ_REL);
	assert_int_equal(i[9].op, OP_CP_ASYNC);
	assert_int_equal(i[9].cache, CACHE_CA);
	assert_int_equal(i[9].space, SPACE_SHARED);
	assert_imm(i[9].opnd[2], 4);
	assert_int_equal(i[9].n_opnds, 3);
	assert_reg(f, i[10].opnd[3], "%r2");
	assert_int_equal(i[11].op, OP_CP_ASYNC_COMMIT_GROUP);
	assert_imm(i[12].opnd[0], 1);
	assert_int_equal(i[13].op, OP_CP_ASYNC_WAIT_ALL);
}

#define R8 "{%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}"
#define F8 "{%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}"

TEST(matrices)
{
	struct ptx_inst *i = body(
		"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];"
		"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, "
		"{%r5,%r6}, {%f1,%f2,%f3,%f4};"
		"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " R8 ", [%rd1], %r1;"
		"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 " F8 ", " R8 ", " R8 ", " F8 ";"
		"wmma.store.d.sync.aligned.col.m16n16k16.shared.f32 [%r1], " F8 ";");
	assert_int_equal(i[0].mma.m, 8);
	assert_int_equal(i[0].mma.n, 8);
	assert_int_equal(i[0].mma.count, 4);
	assert_true(i[0].flags & PF_TRANS);
	assert_int_equal(i[1].mma.m, 16);
	assert_int_equal(i[1].mma.n, 8);
	assert_int_equal(i[1].mma.k, 16);
	assert_false(i[1].mma.a_col);
	assert_true(i[1].mma.b_col);
	assert_int_equal(i[1].mma.types[0], PTX_F32);
	assert_int_equal(i[1].mma.types[1], PTX_BF16);
	assert_int_equal(i[1].mma.types[3], PTX_F32);
	assert_int_equal(i[1].opnd[2].n_vec, 2);
	assert_string_equal(i[1].text, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
	assert_int_equal(i[2].mma.frag, 'a');
	assert_int_equal(i[2].space, SPACE_GLOBAL);
	assert_int_equal(i[2].opnd[0].n_vec, 8);
	assert_reg(f, i[2].opnd[2], "%r1");
	assert_int_equal(i[3].op, OP_WMMA_MMA);
	assert_int_equal(i[3].mma.types[0], PTX_F32);
	assert_int_equal(i[3].mma.types[1], PTX_NONE);
	assert_int_equal(i[3].mma.types[3], PTX_F32);
	assert_true(i[4].mma.a_col);
	assert_int_equal(i[4].opnd[1].n_vec, 8);
}

TEST(guards_scopes_and_labels)
{
	struct ptx_inst *i =
		body("@!%p1 add.s32 %r1, %r1, 1;\n{ .reg .b32 %r1, t; mov.u32 t, 1; mov.u32 %r1, t;\n"
	         "@%p2 bra L; add.u32 t, t, t; L:\n}\nL: add.s32 %r1, %r1, 2; bra.uni L;");
	assert_int_equal(i[0].guard, reg_of(f, "%p1"));
	assert_true(i[0].guard_negated);
	assert_int_equal(f->n_regs, 4 + 4 + 9 + 9 + 9 + 5 + 2);
	assert_int_equal(i[2].opnd[0].reg, f->n_regs - 2); /* the inner %r1 hides the outer */
	assert_int_equal(i[0].opnd[0].reg, reg_of(f, "%r1"));
	assert_int_equal(i[5].opnd[0].reg, reg_of(f, "%r1"));
	/* each scope has its own L; both happen to begin the same block */
	assert_int_equal(i[3].opnd[0].kind, OPND_LABEL);
	assert_int_equal(f->blocks[i[3].opnd[0].label].first, 5);
	assert_int_equal(f->blocks[i[6].opnd[0].label].first, 5);
	assert_int_equal(i[6].flags, PF_UNI);
}

TEST(refuses_undeclared_function)
{
	refused(KERNEL("call.uni later; ret;"), ERR_PARSE, "5:10: 'later' is not declared");
}

TEST(calls_keep_their_symbols)
{
	ptx_free(&m);
	m = parsed(
		HEAD
		".extern .func (.param .b32 func_retval0) vprintf (.param .b64 a, .param .b64 b);\n"
		".func (.param .b32 func_retval0) twice (.param .b32 p0, .param .align 8 .b8 p1[12]) ;\n"
		".visible .entry k(.param .u32 n) { .reg .b32 %r<3>; .reg .b64 %rd<2>;\n"
		"proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
		"{ .param .b32 x; .param .align 8 .b8 y[12]; .param .b32 r; st.param.b32 [x+0], 1;\n"
		"call.uni (r), twice, (x, y); ld.param.b32 %r1, [r+0]; }\n"
		"{ .param .b32 x; call (x), %rd1, (x), proto; call.uni twice, (x); } ret; }\n"
		".func (.param .b32 func_retval0) twice (.param .b32 p0, .param .align 8 .b8 p1[12])\n"
		"{ .reg .b32 %r<3>; ld.param.b32 %r1, [p0]; add.s32 %r1, %r1, %r1;\n"
		"st.param.b32 [func_retval0+0], %r1; ret; }\n");
	assert_int_equal(m.n_funcs, 3); /* the definition fills the prototype */
	const struct ptx_func *twice = &m.funcs[1];
	assert_false(m.funcs[0].has_body);
	assert_true(twice->has_body);
	assert_string_equal(twice->name, "twice");
	assert_int_equal(twice->n_params, 2);
	assert_int_equal(twice->n_rets, 1);
	assert_string_equal(twice->params[2].name, "func_retval0");
	assert_true(twice->params[2].is_return);
	assert_int_equal(twice->params[1].offset, 8);
	assert_int_equal(twice->param_bytes, 20);
	assert_int_equal(twice->insts[2].opnd[0].symbol, -3); /* the return value */
	f = kernel(&m);
	const struct ptx_inst *call = &f->insts[1];
	assert_int_equal(call->op, OP_CALL);
	assert_int_equal(call->opnd[0].kind, OPND_FUNC);
	assert_int_equal(call->opnd[0].symbol, 1);
	assert_int_equal(call->opnd[1].kind, OPND_SYMBOL);
	assert_string_equal(m.vars[call->opnd[1].symbol].name, "r");
	assert_int_equal(call->opnd[2].kind, OPND_LIST);
	assert_int_equal(call->opnd[2].i64, 2);
	assert_string_equal(m.vars[f->lists[call->opnd[2].reg]].name, "x");
	assert_string_equal(m.vars[f->lists[call->opnd[2].reg + 1]].name, "y");
	assert_int_equal(m.vars[f->lists[call->opnd[2].reg + 1]].space, SPACE_PARAM);
	assert_int_equal(m.vars[f->lists[call->opnd[2].reg + 1]].offset, 8);
	assert_int_equal(f->call_param_bytes, 28); /* x, y, r and the second x */
	assert_int_equal(f->insts[3].opnd[0].kind, OPND_REG);
	assert_int_equal(f->insts[4].opnd[1].kind, OPND_NONE);
}

TEST(formats_as_text)
{
	static const char *const lines[] = {
		"@!%p1 add.s32 %r1, %r2, -1",
		"ld.global.v2.f32 {%f1, _}, [%rd1+8]",
		"setp.lt.s32 %p1, %r1, 5",
		"setp.lt.and.s32 %p1|%p2, %r1, 5, !%p3",
		"mov.f32 %f1, 1.0",
		"mov.f32 %f1, 0.333333343",
		"mov.f64 %fd1, 0.10000000000000001",
		"mov.u32 %r1, %tid.x",
		"shfl.sync.down.b32 %r1|%p1, %r2, 4, 31, -1",
		"st.global.u32 [buffer+4], %r1",
		"atom.global.add.u32 _, [%rd1], 1",
		"bar.red.popc.u32 %r1, 0, %p1",
		"mov.u64 %rd1, buffer",
		"ld.param.u32 %r1, [k_param_1]",
		"match.any.sync.b32 %r1, %r2, -1",
	};
	struct text t = { 0 };
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		text_add(&t, "%s;\n",
		         strcmp(lines[i], "mov.f32 %f1, 1.0") == 0 ? "mov.f32 %f1, 0f3F800000" : lines[i]);
	struct ptx_inst *i = body(t.s);
	text_free(&t);
	for (size_t k = 0; k < ARRAY_LEN(lines); k++) {
		char out[128];
		ptx_inst_format(&m, f, &i[k], out, sizeof out);
		assert_string_equal(out, lines[k]);
	}
	char cut[6];
	ptx_inst_format(&m, f, &i[0], cut, sizeof cut);
	assert_string_equal(cut, "@!%p1");
}

static void assert_short(const char *name, const char *want)
{
	size_t len;
	const char *s = ptx_short_name(name, &len);
	char own[200];
	snprintf(own, sizeof own, "%.*s", (int)len, s);
	assert_string_equal(own, want);
}

/* Types of parameters have names as well. */
TEST(short_names)
{
	assert_short("k", "k");
	assert_short("_Z4axpyPfi", "axpy");
	assert_short("_Z6colour5GraphPi", "colour");
	assert_short("_Z6colour5GraphS_Pi", "colour");
	assert_short("_Z5emptyv", "empty");
	assert_short("_ZN3lab4axpyEPf", "_ZN3lab4axpyEPf");
	assert_short("_Z4axpyIfEvPT_", "_Z4axpyIfEvPT_");
	assert_short(
		"_ZN3lab4axpyIN3lab9long_nameENS_9long_nameENS_9long_nameENS_9long_nameENS_9long_nameE"
		"NS_9long_nameENS_9long_nameENS_9long_nameEEvPT_",
		"axpy");
}

int main(void)
{
	return unit_run(NULL, teardown);
}
