/* Instructions and operands from their text, and what a listing may not say. */
#include "sass_fixture.h"

#include "base/file.h"
#include "sass/sass_parts.h"

#include <math.h>

static struct sass_pool *pool;

static int drop_pool(void **state)
{
	(void)state;
	sass_pool_free(&pool);
	return 0;
}

static struct sass_operand operand(const char *text)
{
	return sass_operand_read((struct slice){ text, strlen(text) }, &pool);
}

static struct sass_inst inst(const char *text)
{
	struct sass_inst i = { 0 };
	sass_inst_read((struct slice){ text, strlen(text) }, &i, &pool);
	return i;
}

TEST_WITH(registers, NULL, drop_pool)
{
	static const struct {
		const char *text;
		int kind;
		unsigned reg, flags, sel;
	} cases[] = {
		{ "R4", SASS_OPND_REG, 4, 0, 0 },
		{ "RZ", SASS_OPND_REG, SASS_RZ, 0, 0 },
		{ "R254", SASS_OPND_REG, 254, 0, 0 },
		{ "-R7.reuse", SASS_OPND_REG, 7, SASS_NEG | SASS_REUSE, 0 },
		{ "|R2|.reuse", SASS_OPND_REG, 2, SASS_ABS | SASS_REUSE, 0 },
		{ "-|R10|", SASS_OPND_REG, 10, SASS_NEG | SASS_ABS, 0 },
		{ "~R5", SASS_OPND_REG, 5, SASS_NOT, 0 },
		{ "R2.B3", SASS_OPND_REG, 2, 0, SASS_MOD_B3 },
		{ "R7.H0_H0", SASS_OPND_REG, 7, 0, SASS_MOD_H0_H0 },
		{ "UR63", SASS_OPND_UREG, 63, 0, 0 },
		{ "URZ", SASS_OPND_UREG, SASS_RZ, 0, 0 },
		{ "!P0", SASS_OPND_PRED, 0, SASS_NOT, 0 },
		{ "PT", SASS_OPND_PRED, SASS_PT, 0, 0 },
		{ "!UPT", SASS_OPND_UPRED, SASS_PT, SASS_NOT, 0 },
		{ "B15", SASS_OPND_BARRIER, 15, 0, 0 },
		{ "SB0", SASS_OPND_SCOREBOARD, 0, 0, 0 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct sass_operand o = operand(cases[i].text);
		if (o.kind != cases[i].kind || o.reg != cases[i].reg || o.flags != cases[i].flags ||
		    o.sel != cases[i].sel)
			fail_msg("%s: kind %u, register %u, flags %u, selector %u", cases[i].text, o.kind,
			         o.reg, o.flags, o.sel);
	}
}

TEST_WITH(places, NULL, drop_pool)
{
	static const struct {
		const char *text;
		int kind;
		unsigned reg, sel, ureg, desc, bank;
		int64_t value;
	} cases[] = {
		{ "c[0x0][0x210]", SASS_OPND_CONST, SASS_NO_REG, 0, SASS_NO_REG, SASS_NO_REG, 0, 0x210 },
		{ "-c[0x3][0x8]", SASS_OPND_CONST, SASS_NO_REG, 0, SASS_NO_REG, SASS_NO_REG, 3, 8 },
		{ "c[0x2][R0+0xc]", SASS_OPND_CONST, 0, 0, SASS_NO_REG, SASS_NO_REG, 2, 12 },
		{ "cx[UR4][0x160]", SASS_OPND_CONST, SASS_NO_REG, 0, SASS_NO_REG, 4, 0, 0x160 },
		{ "[R4]", SASS_OPND_MEM, 4, 0, SASS_NO_REG, SASS_NO_REG, 0, 0 },
		{ "[R4+-0x10]", SASS_OPND_MEM, 4, 0, SASS_NO_REG, SASS_NO_REG, 0, -16 },
		{ "[R6.X16+0xc]", SASS_OPND_MEM, 6, SASS_MOD_X16, SASS_NO_REG, SASS_NO_REG, 0, 12 },
		{ "[R4.64+UR6+-0x1]", SASS_OPND_MEM, 4, SASS_MOD_64, 6, SASS_NO_REG, 0, -1 },
		{ "[RZ.U32+UR4]", SASS_OPND_MEM, SASS_RZ, SASS_MOD_U32, 4, SASS_NO_REG, 0, 0 },
		{ "[UR10+0x100]", SASS_OPND_MEM, SASS_NO_REG, 0, 10, SASS_NO_REG, 0, 0x100 },
		{ "[0x100]", SASS_OPND_MEM, SASS_NO_REG, 0, SASS_NO_REG, SASS_NO_REG, 0, 0x100 },
		{ "desc[UR4][R2.64+0x8]", SASS_OPND_MEM, 2, SASS_MOD_64, SASS_NO_REG, 4, 0, 8 },
		{ "gdesc[UR8]", SASS_OPND_MATRIX, SASS_NO_REG, 0, 8, SASS_NO_REG, 0, 0 },
		{ "gdesc[UR4].tnspA.negB", SASS_OPND_MATRIX, SASS_NO_REG, 0, 4, SASS_NO_REG, 0, 9 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct sass_operand o = operand(cases[i].text);
		if (o.kind != cases[i].kind || o.reg != cases[i].reg || o.sel != cases[i].sel ||
		    o.ureg != cases[i].ureg || o.desc != cases[i].desc || o.bank != cases[i].bank ||
		    o.value != cases[i].value)
			fail_msg("%s: kind %u, register %u.%u, uniform %u, desc %u, bank %u, offset %lld",
			         cases[i].text, o.kind, o.reg, o.sel, o.ureg, o.desc, o.bank,
			         (long long)o.value);
	}
}

TEST_WITH(numbers, NULL, drop_pool)
{
	assert_int_equal(operand("0xffffffff").value, 0xffffffff);
	assert_int_equal(operand("-0x10").value, -16);
	assert_int_equal(operand("0x7fffffffffffffff").value, INT64_MAX);
	assert_true(operand("1.175494350822287508e-38").number == (double)1.175494350822287508e-38f);
	assert_true(operand("-2.5").number == -2.5);
	assert_true(isinf(operand("-INF ").number) && operand("-INF").number < 0);
	assert_true(isnan(operand("+QNAN ").number));
	assert_int_equal(operand("0").kind, SASS_OPND_FLOAT); /* integers are printed as 0x.. */
	assert_int_equal(operand("{4,2}").value, 1 << 4 | 1 << 2);
	assert_int_equal(operand("SR_CTAID.Y").value, SASS_SR_CTAID_Y);
	const struct sass_operand label = operand("`(.L_x_7)");
	assert_int_equal(label.kind, SASS_OPND_LABEL);
	assert_string_equal(label.symbol, ".L_x_7");
	/* an address: the label that it leads to, or the variable and how far behind it */
	assert_string_equal(operand("32@lo((flt + .L_x_2@srel))").symbol, ".L_x_2");
	assert_string_equal(operand("32@lo(table)").symbol, "table");
	assert_int_equal(operand("32@lo(table)").value, 0);
	assert_int_equal(operand("32@lo((table + 0x10))").value, 0x10);
	assert_int_equal(operand("32@hi(table)").sel, SASS_MOD_HI);
}

TEST_WITH(strange_forms_are_other, NULL, drop_pool)
{
	static const char *const texts[] = {
		"",
		"R",
		"R255",
		"R4.QUX",
		"R4.64.U32",
		"UR",
		"P7",
		"[R4",
		"[R4+R5]",
		"c[0x0]",
		"c[0x99][0x0]",
		"desc[R4][R2]",
		"|R4",
		"||",
		"SR_NOSUCH",
		"{9}",
		"0x",
		"0xfg",
		"B16",
		"`(x",
		"@",
		"-",
		"[]+",
		"cx[R4][0x0]",
		"gdesc[R4]",
		"gdesc[UR4].tnspC",
		"gsb1",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (operand(texts[i]).kind != SASS_OPND_OTHER)
			fail_msg("'%s' is taken for kind %u", texts[i], operand(texts[i]).kind);
}

TEST_WITH(instructions, NULL, drop_pool)
{
	struct sass_inst i = inst("@!UP1 LDG.E.128.CONSTANT R4, desc[UR4][R26.64+0x10]");
	assert_int_equal(i.op, SASS_LDG);
	assert_true(i.guard == 1 && i.guard_not && i.guard_uniform);
	assert_true(sass_has(&i, SASS_MOD_128) && sass_has(&i, SASS_MOD_CONSTANT) && !i.why_not);
	assert_true(i.n_operands == 2 && i.n_dsts == 1);
	assert_true(i.operands[0].words == 4 && i.operands[1].words == 2);
	assert_string_equal(i.opcode, "LDG.E.128.CONSTANT");
	assert_string_equal(i.text, "R4, desc[UR4][R26.64+0x10]");

	i = inst("IADD3 R9, P0, PT, -R4, 0xf, R9"); /* two carries behind the result */
	assert_int_equal(i.n_dsts, 3);
	/* a warp group's sums: 32 columns; A in registers, and not */
	i = inst("HGMMA.64x32x16.F32 R24, R40, gdesc[UR4].tnspB, R24, UP1, gsb0");
	assert_true(sass_has(&i, SASS_MOD_64xNxK) && !i.why_not && i.n_dsts == 1);
	assert_true(i.operands[0].words == 16 && i.operands[1].words == 4);
	/* UR4 and UR5 would be A's descriptor */
	assert_true(i.operands[2].ureg == 6 && i.operands[2].uwords == 2 && i.operands[3].words == 16);
	i = inst("HGMMA.64x256x16.F16 R24, gdesc[UR4], R24");
	assert_true(!i.why_not && i.operands[0].words == 64 && i.operands[1].uwords == 4);
	assert_true(inst("HGMMA.64x32x R24, gdesc[UR4], R24").why_not != NULL);
	i = inst("VOTE.ANY R2, PT, P0");
	assert_int_equal(i.n_dsts, 2);
	i = inst("VOTE.ALL P1, P0");
	assert_int_equal(i.n_dsts, 1);
	i = inst("ATOMS.CAST.SPIN.64 P0, [R7], R12, R14");
	assert_true(i.n_dsts == 1 && i.operands[2].words == 2 && i.operands[3].words == 2);
	i = inst("F2F.F32.F64 R3, R4");
	assert_true(i.operands[0].words == 1 && i.operands[1].words == 2);
	i = inst("I2F.F64.S64 R2, R4");
	assert_true(i.operands[0].words == 2 && i.operands[1].words == 2);
	i = inst("IMAD.WIDE.U32 R2, R3, 0x4, R6");
	assert_true(i.operands[0].words == 2 && i.operands[1].words == 1 && i.operands[3].words == 2);
	i = inst("RET.REL.NODEC R4 `(blur_v1_tiled)");
	assert_true(i.n_operands == 2 && i.operands[1].kind == SASS_OPND_LABEL);
	i = inst("STL [R1+0x28], R13    (*\"SpillRefill\"*)");
	assert_true(i.spill && i.n_dsts == 0 && !i.why_not);
	i = inst("P2R R3, PR, RZ, 0x7f"); /* PR is an operand, no guard */
	assert_true(i.guard == SASS_PT && i.operands[1].kind == SASS_OPND_PREDS);
}

TEST_WITH(unknown_is_named, NULL, drop_pool)
{
	assert_string_equal(inst("FROB R1, R2").why_not, "opcode 'FROB'");
	assert_string_equal(inst("FADD.QUICK R1, R2, R3").why_not, "modifier '.QUICK'");
	assert_string_equal(inst("FADD R1, R2, %what").why_not, "operand '%what'");
	assert_string_equal(inst("@Q3 FADD R1, R2, R3").why_not, "guard '@Q3'");
	const struct sass_inst i = inst("FROB.U32 R1");
	assert_string_equal(i.opcode, "FROB.U32");
	assert_int_equal(i.op, SASS_UNKNOWN);
}

/* Facts of "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking" (Jia et al.). */
TEST(control_words)
{
	const uint64_t c = 4 | 1 << 4 | 2 << 5 | 7 << 8 | 0x21 << 11 | 5 << 17;
	const struct sass_control k = sass_control_of(c << 41 | 0x1ff);
	assert_int_equal(k.stall, 4);
	assert_false(k.yield);
	assert_int_equal(k.write_bar, 2);
	assert_int_equal(k.read_bar, SASS_NO_BARRIER);
	assert_int_equal(k.wait, 0x21);
	assert_int_equal(k.reuse, 5);
	assert_true(sass_control_of((uint64_t)1 << 41).yield);
}

/* --- listings --------------------------------------------------------------------------------- */

static struct text cubin;

static int read_cubin(void **state)
{
	(void)state;
	char path[4096];
	const char *root = getenv("TEST_ROOT");
	snprintf(path, sizeof path, "%s/tests/data/sass/tiny_sm_90.cubin", root ? root : ".");
	return file_read(path, 1 << 20, &cubin, NULL) ? 0 : -1;
}

static bool listed(const char *listing, struct sass_module *m, struct err *err)
{
	err_clear(err);
	return sass_read(m, cubin.s, cubin.len, listing, strlen(listing), err);
}

#define HEAD ".section .text.tiny,\"ax\"\n"

TEST(branches_find_their_labels)
{
	struct sass_module m;
	struct err err;
	assert_true(listed("// nvdisasm 1.2.3\n// | GPR | PRED | UGPR | UPRED |\n" HEAD "tiny:\n"
	                   "/*0000*/ BSSY B0, `(.L_b) ; // | 7 | | 2 | 1 |\n"
	                   ".L_a:\n"
	                   "/*0010*/ @P0 BRA `(.L_a) ;\n"
	                   "/*0020*/ BRX R2 -0x20 (*\"BRANCH_TARGETS .L_b, .L_a,.L_none\"*) ;\n"
	                   ".L_b:\n"
	                   "/*0030*/ CALL.REL.NOINC R6 `(tiny) ;\n",
	                   &m, &err));
	const struct sass_func *f = sass_func(&m, "tiny");
	assert_int_equal(f->n_insts, 4);
	assert_int_equal(f->insts[0].target, 3);
	assert_int_equal(f->insts[1].target, 1);
	assert_int_equal(f->insts[2].n_targets, 2);
	assert_int_equal(f->insts[2].targets[0], 3);
	assert_int_equal(f->insts[2].targets[1], 1);
	assert_int_equal(f->insts[3].target, SASS_NO_TARGET);
	assert_int_equal(f->insts[0].live_regs, 7);
	assert_int_equal(f->insts[0].live_preds, 0);
	assert_int_equal(f->insts[0].live_uregs, 2);
	assert_int_equal(f->insts[0].live_upreds, 1);
	assert_int_equal(f->insts[1].live_regs, SASS_UNKNOWN_LIVE);
	assert_string_equal(m.disassembler, "nvdisasm 1.2.3");
	sass_free(&m);
}

TEST(wrong_listings_are_refused)
{
	static const struct unit_case cases[] = {
		{ "", "no instruction of function tiny" },
		{ "hello\n", "no instruction of function tiny" },
		{ ".section .text.other\n/*0000*/ NOP ;\n", "no instruction of function tiny" },
		{ HEAD "/*0000*/ NOP ;\n/*0008*/ NOP ;\n", "line 3" },
		{ HEAD "/*0010*/ NOP ;\n/*0010*/ NOP ;\n", "do not ascend" },
		{ HEAD "/*fffffff0*/ NOP ;\n", "no instruction" },
		{ HEAD "/*0000*/ NOP ;\n" HEAD "/*0000*/ NOP ;\n", "do not ascend" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sass_module m;
		struct err err;
		assert_false(listed(cases[i].given, &m, &err));
		assert_int_equal(err.code, ERR_PARSE);
		if (!strstr(err.msg, cases[i].want))
			fail_msg("'%s': %s", cases[i].given, err.msg);
	}
}

static int drop_cubin(void **state)
{
	text_free(&cubin);
	return drop_pool(state);
}

int main(void)
{
	return unit_run(read_cubin, drop_cubin);
}
