/* What is refused, and how it says so: file, line, column, caret, and what to do instead. */
#include "ptx_fixture.h"

static struct err error_of(const char *text)
{
	struct ptx_module m;
	struct err err = { 0 };
	if (ptx_parse(text, "test.ptx", &m, &err)) {
		const bool noted = first_refusal(&m, &err);
		ptx_free(&m);
		if (!noted)
			fail_msg("accepted: %s", text);
	}
	return err;
}

TEST(shows_line_and_caret)
{
	struct err err = error_of(KERNEL(REGS "\tadd.s32 \t%r1, %r2, %q3;"));
	assert_string_equal(err.msg, "test.ptx:6:21: '%q3' is not declared\n"
	                             "   add.s32  %r1, %r2, %q3;\n"
	                             "                      ^");
	assert_int_equal(err.code, ERR_PARSE);
}

/* A long line is cut around the place; the caret stays under it. */
TEST(cuts_long_lines)
{
	struct text t = { 0 };
	text_add(&t, "%s", HEAD ".entry k() {\n" REGS);
	for (int i = 0; i < 100; i++)
		text_add(&t, "mov.u32 %%r1, 1; ");
	text_add(&t, "mov.u32 %%r1, %%bad; ret; // and more behind it\n}\n");
	struct err err = error_of(t.s);
	text_free(&t);
	const char *line = strchr(err.msg, '\n') + 1, *caret = strchr(line, '\n') + 1;
	assert_non_null(strstr(err.msg, "'%bad' is not declared"));
	assert_true(strlen(line) < 220);
	assert_memory_equal(line + (strchr(caret, '^') - caret), "%bad", 4);
}

TEST(unknown_opcodes)
{
	struct err err = error_of(KERNEL(REGS "@%p1 mvo.u32 %r1, 1;"));
	assert_int_equal(err.code, ERR_UNSUPPORTED);
	assert_memory_equal(err.msg, "test.ptx:6:6: opcode 'mvo.u32' is not supported\n", 48);
	err = error_of(KERNEL(REGS "addd.u32 %r1, 1;"));
	assert_string_equal(err.remedy, "Did you mean 'add'?");
	err = error_of(KERNEL(REGS "clusterlaunchcontrol.x;"));
	assert_non_null(
		strstr(err.msg, "opcode 'clusterlaunchcontrol.x' is not supported; PTX ISA 9.7.13"));
	assert_non_null(strstr(err.remedy, "clusters"));
	err = error_of(KERNEL(REGS "txq.width.b32 %r1, [%rd1];"));
	assert_non_null(strstr(err.remedy, "to the host"));
	err = error_of(KERNEL(REGS "tcgen05.wait::ld.sync.aligned;"));
	assert_non_null(strstr(err.remedy, "mma.sync"));
	err = error_of(KERNEL(REGS "subq.u32 %r1, %r2;"));
	assert_non_null(strstr(err.remedy, "Did you mean 'sub'?"));
	err = error_of(KERNEL(REGS "bbbb.u32 %r1, %r2;"));
	assert_non_null(strstr(err.remedy, "Supported with the letter 'b': bfe"));
	refused(KERNEL(REGS "brx.idx %r1, T;"), ERR_PARSE,
	        "6:14: no table of branch targets 'T' stands above");
	refused(KERNEL(REGS "T: .branchtargets A, B;"), ERR_PARSE, "6:19: no label 'A' in 'k'");
	refused(KERNEL(REGS "A: T: .branchtargets A A;"), ERR_PARSE, "6:24: expected ';'");
}

/* What one function lacks is refused there: the module is read, labels around it hold, and the
 * place in the code is marked. */
TEST(unknown_ends_one_function)
{
	struct ptx_module m = parsed(HEAD ".global .texref t;\n"
	                                  ".entry a() .frobbed .maxntid 32 { ret; }\n"
	                                  ".entry b() {\n" REGS "A: frob.u32 {%r1}, [t, {%r2}];\n"
	                                  "@%p1 bra A;\ntcgen05.wait::ld.sync.aligned;\nret;\n}\n"
	                                  ".entry c() { ret; }\n");
	assert_int_equal(m.n_funcs, 3);
	assert_int_equal(m.funcs[0].n_refusals, 1);
	assert_true(m.funcs[0].refusals[0].of_head);
	assert_int_equal(m.funcs[0].maxntid[0], 32);
	assert_int_equal(m.funcs[1].n_refusals, 2);
	assert_string_equal(m.funcs[1].refusals[0].what, "frob.u32");
	assert_int_equal(m.funcs[1].refusals[1].ptx_line, 10);
	assert_non_null(strstr(m.funcs[1].refusals[1].why, "PTX ISA 9.7.16"));
	assert_int_equal(m.funcs[1].n_insts, 4);
	assert_int_equal(m.funcs[1].insts[0].op, OP_REFUSED);
	assert_int_equal(m.funcs[1].insts[2].opnd[0].i64, 1);
	assert_int_equal(m.funcs[1].blocks[0].succ[0], 0);
	assert_int_equal(m.funcs[2].n_refusals, 0);
	ptx_free(&m);
	refused(HEAD ".entry k() {\nfrob.u32 %r1", ERR_UNSUPPORTED, "5:1: opcode 'frob.u32'");
}

TEST(unknown_directives)
{
	refused(HEAD ".frob f, g;", ERR_UNSUPPORTED,
	        "4:1: directive '.frob' is not supported at module");
	refused(HEAD ".alias f, g;", ERR_PARSE, "4:8: 'f' is no function");
	refused(HEAD ".entry k() .frobbed { }", ERR_UNSUPPORTED,
	        "4:12: directive '.frobbed' is not supported on a function");
	refused(KERNEL(".surfref s;"), ERR_UNSUPPORTED,
	        "5:1: directive '.surfref' is not supported in a");
	struct err err = error_of(HEAD ".frob f, g;");
	assert_non_null(strstr(err.remedy, ".entry .func .global"));
	refused(".version 9.0\n.target sm_90, map_f64_to_f32\n", ERR_UNSUPPORTED,
	        "2:16: target option");
	refused(".version 9.0\n.target sm_90\n.address_size 32\n", ERR_UNSUPPORTED,
	        "3:15: only 64-bit");
	refused(".target sm_90\n", ERR_PARSE, "1:1: expected '.version'");
	refused("", ERR_PARSE, "1:1: the text ends where '.version'");
	refused(".version nine\n", ERR_PARSE, "1:10: expected a version such as 9.0");
	refused(".version 9.0\n", ERR_PARSE, "2:1: the module has no .target");
}

TEST(modifiers)
{
	struct err err = error_of(KERNEL(REGS "add.wide.s32 %r1, %r2, %r3;"));
	assert_int_equal(err.code, ERR_UNSUPPORTED);
	assert_non_null(strstr(err.msg, "6:5: modifier '.wide' of 'add' is not supported"));
	assert_non_null(strstr(err.remedy, ".rn"));
	assert_non_null(strstr(err.remedy, ".u32"));
	refused(KERNEL(REGS "ld.shared::frob.u32 %r1, [%r2];"), ERR_UNSUPPORTED,
	        "6:4: modifier '.shared::frob' of 'ld'");
	refused(KERNEL(REGS "add.rn.rz.f32 %f1, %f2, %f3;"), ERR_PARSE,
	        "6:8: modifier '.rz' where one of");
	refused(KERNEL(REGS "mul.s32 %r1, %r2, %r3;"), ERR_PARSE,
	        "6:1: 'mul' needs one of .lo .hi .wide");
	refused(KERNEL(REGS "setp.s32 %p1, %r2, %r3;"), ERR_PARSE, "6:1: 'setp' needs one of .eq .ne");
	refused(KERNEL(REGS "add %r1, %r2, %r3;"), ERR_PARSE, "6:1: 'add' needs one of .u16");
	refused(KERNEL(REGS "cvt.f32 %f1, %r2;"), ERR_PARSE, "6:1: 'cvt' needs one of");
	refused(KERNEL(REGS "and.f32 %f1, %f1, %f2;"), ERR_UNSUPPORTED, "6:1: 'and' with type .f32");
	refused(KERNEL(REGS "add.f32.f16 %f1, %f1, %f2;"), ERR_UNSUPPORTED,
	        "6:1: 'add.f32.f16' with 2 types");
	refused(KERNEL(REGS "mul.wide.s64 %rd1, %rd2, %rd3;"), ERR_PARSE,
	        "6:1: '.wide' is for integers");
	refused(KERNEL(REGS "mul.lo.f32 %f1, %f2, %f3;"), ERR_PARSE, "6:1: '.lo' and '.hi' are for");
	refused(KERNEL(REGS "red.global.cas.b32 [%rd1], %r1;"), ERR_PARSE, "6:1: 'red' has no .cas");
	refused(KERNEL(REGS "vote.sync.ballot.pred %p1, %p2, -1;"), ERR_PARSE,
	        "6:1: 'vote.ballot' is of");
	refused(KERNEL(REGS "cp.async.ca.global.shared [%rd1], [%r1], 4;"), ERR_PARSE,
	        "6:1: 'cp.async' copies");
	refused(KERNEL(REGS "bar.sync.popc 0;"), ERR_PARSE, "6:1: 'bar.red' and no other");
	refused(KERNEL(REGS "cvt.rn.f16x2.e2m1x2 %r1, %rs1;"), ERR_UNSUPPORTED,
	        "6:14: modifier '.e2m1x2'");
}

TEST(operands)
{
	refused(KERNEL(REGS "add.s32 %r1, %r2;"), ERR_PARSE, "6:17: too few operands for 'add.s32'");
	refused(KERNEL(REGS "add.s32 %r1, %r2, %r3, %r4;"), ERR_PARSE,
	        "6:22: too many operands for 'add.s32'");
	refused(KERNEL(REGS "add.s32 1, %r2, %r3;"), ERR_PARSE, "6:9: 'add.s32' needs a register here");
	refused(KERNEL(REGS "add.s32 %rd1, %r2, %r3;"), ERR_PARSE,
	        "6:9: '%rd1' is .b64; 'add.s32' needs 32 bits");
	refused(KERNEL(REGS "add.s64 %rd1, %rd2, %r3;"), ERR_PARSE,
	        "6:21: '%r3' is .b32; 'add.s64' needs 64");
	refused(KERNEL(REGS "mul.wide.s32 %r1, %r2, %r3;"), ERR_PARSE,
	        "6:14: '%r1' is .b32; 'mul.wide.s32' needs 64");
	refused(KERNEL(REGS "add.s32 %r1, %p2, %r3;"), ERR_PARSE, "6:14: '%p2' is a predicate");
	refused(KERNEL(REGS "setp.eq.s32 %r1, %r2, %r3;"), ERR_PARSE,
	        "6:13: '%r1' is .b32; 'setp.eq.s32' needs a pred");
	refused(KERNEL(REGS "ld.global.f64 %f1, [%rd1];"), ERR_PARSE,
	        "6:15: '%f1' is .f32; 'ld.global.f64' needs");
	refused(KERNEL(REGS "ld.global.v2.f32 {%f1, %f2, %f3}, [%rd1];"), ERR_PARSE,
	        "6:18: 'ld.global.v2.f32' needs 2");
	refused(KERNEL(REGS "ld.global.v2.f32 %f1, [%rd1];"), ERR_PARSE,
	        "6:18: 'ld.global.v2.f32' needs a vector");
	refused(KERNEL(REGS "ld.global.f32 {%f1}, %rd1;"), ERR_PARSE,
	        "6:22: expected '[' before an address");
	refused(KERNEL(REGS "ld.global.f32 %f1, [%f2];"), ERR_PARSE,
	        "6:21: '%f2' is .f32; an address is an");
	refused(KERNEL(REGS "mov.b64 {%r1, %r2, %r3}, %rd1;"), ERR_PARSE,
	        "6:9: the elements have 96 bits");
	refused(KERNEL(REGS "add.f32 %f1, %f2, 1;"), ERR_PARSE,
	        "6:19: 'add.f32' needs a floating-point constant");
	refused(KERNEL(REGS "add.s32 %r1, %r2, 1.5;"), ERR_PARSE,
	        "6:19: 'add.s32' takes no floating-point");
	refused(KERNEL(REGS "setp.lt.and.s32 %p1, %r2, %r3;"), ERR_PARSE,
	        "6:17: 'setp.lt.and.s32': a third source");
	refused(KERNEL(REGS "atom.global.cas.b32 %r1, [%rd1], %r2;"), ERR_PARSE,
	        "6:21: 'atom.global.cas.b32': .cas");
	refused(KERNEL(REGS "shfl.sync.down.b32 %r1, %r2, 1, 31;"), ERR_PARSE,
	        "6:20: 'shfl.sync.down.b32': .sync");
	refused(KERNEL(REGS "mov.u32 %r1, %envreg7;"), ERR_UNSUPPORTED,
	        "6:14: special register '%envreg7' is not supported; PTX ISA 10");
	refused(KERNEL(REGS "lop3.or.b32 %r1, %r1, %r2, %r1, 1;"), ERR_PARSE,
	        "6:13: 'lop3.or.b32': two predicates");
	refused(KERNEL(REGS "mov.u32 %r1, %pm0;"), ERR_UNSUPPORTED, "6:14: special register '%pm0");
	refused(
		KERNEL(REGS
	           "cp.async.bulk.global.shared::cta.mbarrier::complete_tx::bytes [%rd1], [%r2], 16;"),
		ERR_PARSE,
		"6:63: 'cp.async.bulk.global.shared::cta.mbarrier::complete_tx::bytes': bulk copies go");
	refused(
		KERNEL(REGS "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r1}], [%r2];"),
		ERR_PARSE,
		"6:55: 'cp.async.bulk.tensor.2d.global.shared::cta.bulk_group' takes a tensor map");
	refused(KERNEL(REGS "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], "
	                    "[%rd1], 16, [%r2], %r1;"),
	        ERR_PARSE, "6:93: too many operands");
	refused(KERNEL(REGS "wmma.store.d.sync.aligned.col.m16n16k16.shared.f16 [%r1], {7, %r1};"),
	        ERR_PARSE,
	        "6:60: 'wmma.store.d.sync.aligned.col.m16n16k16.shared.f16' takes no constant here");
	refused(KERNEL(REGS "mov.u16 %rs1, k_param_0;"), ERR_PARSE,
	        "6:15: an address does not fit in 16 bits");
	refused(KERNEL(REGS "@%r1 bra L;"), ERR_PARSE, "6:2: '%r1' is no predicate");
	refused(KERNEL(REGS "call (%p1), k, (%r2);"), ERR_UNSUPPORTED,
	        "6:7: no predicate is passed to a function");
	refused(KERNEL(REGS "bar.arrive 1;"), ERR_PARSE, "6:13: too few operands for 'bar.arrive'");
}

TEST(labels)
{
	refused(KERNEL(REGS "bra NOWHERE;"), ERR_PARSE, "6:5: no label 'NOWHERE' in 'k'");
	refused(KERNEL("L: L: ret;"), ERR_PARSE, "5:4: label 'L' stands twice");
	refused(KERNEL("{ L: ret; } bra L;"), ERR_PARSE, "5:17: no label 'L'"); /* not in scope */
}

TEST(text_level)
{
	refused(HEAD "/* never closed", ERR_PARSE, "4:1: comment without end");
	refused(HEAD ".file 1 \"open\n", ERR_PARSE, "4:9: string without end");
	refused(HEAD "#include", ERR_PARSE, "4:1: this character has no place");
	refused(HEAD ". entry", ERR_PARSE, "4:1: a dot without a name");
	refused(KERNEL(REGS "mov.u32 %r1, 12ab;"), ERR_PARSE, "6:14: malformed number");
	refused(KERNEL(REGS "mov.u32 %r1, 0x;"), ERR_PARSE, "6:14: malformed number");
	refused(KERNEL(REGS "mov.u64 %rd1, 18446744073709551616;"), ERR_PARSE,
	        "6:15: number does not fit");
	refused(KERNEL(REGS "mov.f32 %f1, 0f3F8;"), ERR_PARSE, "6:14: 0f needs 8 hexadecimal digits");
	refused(KERNEL(REGS "mov.f32 %f1, 0f3F8000000;"), ERR_PARSE, "6:14: too many digits");
	refused(KERNEL("ret\n"), ERR_PARSE, "7:1: expected ';' after the instruction, found '}'");
	refused(HEAD ".entry k() { ret;", ERR_PARSE, "4:18: the text ends inside the function 'k'");
	refused(HEAD ".section .debug_str { .b8 1", ERR_PARSE, "4:28: the text ends inside a .section");
	refused(HEAD ".entry k() { ret; } .entry k() { ret; }", ERR_PARSE,
	        "4:28: 'k' is defined twice");
	refused(HEAD ".func k() { ret; } .entry k() { ret; }", ERR_PARSE,
	        "4:27: 'k' is declared twice");
	refused(HEAD ".entry k(.reg .b32 x) { }", ERR_PARSE,
	        "4:10: a kernel has no parameters in registers");
	refused(HEAD ".entry k() }", ERR_PARSE, "4:12: expected '{' or ';'");
	refused(KERNEL(".loc 1 2;"), ERR_PARSE, "5:9: expected a column, found ';'");
	refused(KERNEL(".loc 1 2 3, discriminator 4"), ERR_UNSUPPORTED,
	        "5:13: .loc attribute 'discriminator'");
	refused(KERNEL(".reg .v2 .pred v;"), ERR_PARSE, "5:10: no vector has elements");
}

TEST(coordinates)
{
#define COPY "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
	refused(KERNEL(REGS COPY "[nothing, {0, %r1}], [%r2];"), ERR_PARSE,
	        "6:56: 'nothing' is not declared");
	refused(KERNEL(REGS COPY "[%rd1, {0, %tid.x}], [%r2];"), ERR_PARSE,
	        "6:66: expected a register or a constant as a coordinate");
	refused(
		KERNEL(REGS COPY "[%rd1, {1, 2, 3}], [%r2];"), ERR_PARSE,
		"6:55: 'cp.async.bulk.tensor.2d.global.shared::cta.bulk_group' takes a tensor map and 2");
	refused(KERNEL(REGS "lop3.b32 %r1|%p1, %r2, %r3, %r4, 1, %p2;"), ERR_PARSE,
	        "6:10: 'lop3.b32': two predicates and .and or .or belong together");
	refused(KERNEL(REGS "lop3.or.b32 %r1, %r2, %r3, %r4, 1;"), ERR_PARSE,
	        "6:13: 'lop3.or.b32': two predicates and .and or .or belong together");
	refused(KERNEL(REGS "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {1}];"), ERR_PARSE,
	        "6:49: 'tex.1d.v4.f32.f32' needs a floating-point constant");
	refused(KERNEL(REGS "suld.b.1d.b32.trap {%r1}, [k_param_0, {1}];"), ERR_UNSUPPORTED,
	        "6:28: a texture that is named by a variable is not supported; PTX ISA 9.7.11");
}

TEST(mmio)
{
	refused(KERNEL(REGS "ld.mmio.relaxed.gpu.global.u32 %r1, [%rd1];"), ERR_PARSE,
	        "6:1: 'ld.mmio' is .relaxed.sys, of one element");
	refused(KERNEL(REGS "st.mmio.release.sys.global.u32 [%rd1], %r1;"), ERR_PARSE,
	        "6:1: 'st.mmio' is .relaxed.sys, of one element");
	refused(KERNEL(REGS "ld.mmio.relaxed.sys.shared.u32 %r1, [%rd1];"), ERR_PARSE,
	        "6:1: 'ld.mmio' is .relaxed.sys, of one element");
	refused(KERNEL(REGS "ld.mmio.relaxed.sys.global.v2.u32 {%r1, %r2}, [%rd1];"), ERR_PARSE,
	        "6:1: 'ld.mmio' is .relaxed.sys, of one element");
	refused(KERNEL(REGS "atom.mmio.relaxed.sys.global.add.u32 %r1, [%rd1], 1;"), ERR_UNSUPPORTED,
	        "6:6: modifier '.mmio' of 'atom' is not supported");
}

TEST(constant_expressions)
{
	refused(KERNEL(REGS "mov.u32 %r1, 5 / (2 - 2);"), ERR_PARSE,
	        "6:16: a constant is divided by zero");
	refused(KERNEL(REGS "mov.u32 %r1, 5 % 0;"), ERR_PARSE, "6:16: a constant is divided by zero");
	refused(KERNEL(REGS "mov.f64 %fd1, 1.0 / 0.0;"), ERR_PARSE,
	        "6:19: a constant is divided by zero");
	refused(KERNEL(REGS "mov.f64 %fd1, 1.5 + 2;"), ERR_PARSE,
	        "6:19: an integer and a floating-point constant do not combine");
	refused(KERNEL(REGS "mov.f64 %fd1, 1.5 % 2.0;"), ERR_PARSE,
	        "6:19: this operator takes integers only");
	refused(KERNEL(REGS "mov.f64 %fd1, 1 ? 1.5 : 2.5;"), ERR_PARSE,
	        "6:17: this operator takes integers only");
	refused(KERNEL(REGS "mov.u32 %r1, !1.5;"), ERR_PARSE,
	        "6:14: this operator takes integers only");
	refused(KERNEL(REGS "mov.f32 %f1, 0f3F800000 + 0f3F800000;"), ERR_PARSE,
	        "6:25: a constant 0f... is no part of an expression");
	refused(KERNEL(REGS "mov.u32 %r1, (.s32)1;"), ERR_PARSE,
	        "6:15: a constant is cast to .s64 or .u64, to no other type");
	refused(KERNEL(REGS "mov.u32 %r1, 1 + %r2;"), ERR_PARSE,
	        "6:18: expected a register or a constant, found '%r2'");
	refused(KERNEL(REGS "mov.u32 %r1, (1;"), ERR_PARSE,
	        "6:16: expected ')' after a constant, found ';'");
	refused(KERNEL(REGS "mov.u32 %r1, 1 ? 2;"), ERR_PARSE,
	        "6:19: expected ':' between the results of a condition, found ';'");
	refused(KERNEL(REGS "mov.u32 %r1, 1 < < 2;"), ERR_PARSE,
	        "6:18: expected a register or a constant, found '<'");
	refused(KERNEL(REGS "ld.global.u32 %r1, [%rd1 + 1.5];"), ERR_PARSE,
	        "6:28: expected an offset, found a floating-point constant");
	refused(HEAD ".global .f32 x = 1.0 < 2.0;", ERR_PARSE,
	        "4:18: 'x' of type .f32 needs floating-point values");
	refused(HEAD ".global .u32 x[2+2];", ERR_PARSE,
	        "4:17: expected ']' after the number of elements");
	char nested[201], deep[600];
	memset(nested, '(', sizeof nested - 1);
	nested[sizeof nested - 1] = '\0';
	snprintf(deep, sizeof deep, "%s%s%s", HEAD ".entry k() {\n" REGS "mov.u32 %r1, ", nested, "1;");
	refused(deep, ERR_PARSE, "6:114: operators are nested too deeply");
}
