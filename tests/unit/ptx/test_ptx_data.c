/*
 * Whole files as nvcc 13.0 writes them (tests/data/ptx, made from sources.cu there): what comes
 * out, which source line it belongs to, and that no truncated file does harm.
 */
#include "ptx_fixture.h"

#include "base/file.h"

static char *data_file(const char *name)
{
	char path[512];
	const char *root = getenv("TEST_ROOT");
	struct err err = { 0 };
	struct text text = { 0 };
	snprintf(path, sizeof path, "%s/tests/data/ptx/%s", root ? root : ".", name);
	if (!file_read(path, 1 << 20, &text, &err))
		fail_msg("%s", err.msg);
	return text.s;
}

static const char *const files[] = { "sm_75.ptx", "sm_90.ptx", "sm_120.ptx" };
static const char *const entries[] = { "vec_add", "tiled", "reduce", "reduce_two",
	                                   "helpers", "warp",  "tensor" };

TEST(every_architecture)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		char *text = data_file(files[i]);
		struct ptx_module m = parsed(text);
		assert_int_equal(m.version_major, 9);
		assert_memory_equal(m.target, files[i], strlen(files[i]) - 4);
		for (size_t k = 0; k < ARRAY_LEN(entries); k++)
			assert_non_null(ptx_entry(&m, entries[k]));
		assert_string_equal(m.files[0], "sources.cu");
		const struct ptx_func *tiled = ptx_entry(&m, "tiled");
		assert_int_equal(tiled->maxntid[0], 256);
		assert_int_equal(tiled->minnctapersm, 2);
		/* As 16x16 floats, odd 3 bytes, Bs 16x17 floats */
		assert_int_equal(tiled->static_shared_bytes, 1024 + 4 + 1088);
		assert_int_equal(ptx_entry(&m, "helpers")->params[1].size, 24);
		assert_int_equal(ptx_entry(&m, "helpers")->local_bytes, 16);
		ptx_free(&m);
		free(text);
	}
}

TEST(shared_offsets)
{
	char *text = data_file("sm_90.ptx");
	struct ptx_module m = parsed(text);
	const struct ptx_func *reduce = ptx_entry(&m, "reduce"), *two = ptx_entry(&m, "reduce_two");
	assert_int_equal(reduce->static_shared_bytes, 20);
	assert_int_equal(reduce->dynamic_shared_offset, 32);
	assert_int_equal(two->static_shared_bytes, 44);
	assert_int_equal(two->dynamic_shared_offset, 48);
	for (unsigned i = 0; i < two->n_insts; i++)
		for (int k = 0; k < two->insts[i].n_opnds; k++) {
			const struct ptx_operand *o = &two->insts[i].opnd[k];
			if (o->kind != OPND_SYMBOL)
				continue;
			const struct ptx_var *v = &m.vars[o->symbol];
			assert_int_equal(v->offset, strcmp(v->name, "common") == 0    ? 24
			                            : strcmp(v->name, "dynamic") == 0 ? 48
			                                                              : 0);
		}
	ptx_free(&m);
	free(text);
}

/* Source lines of the instructions of one opcode, in order of the text. */
static void assert_lines(const struct ptx_func *f, enum ptx_op op, enum ptx_space space,
                         const unsigned *lines, const unsigned *leaves, size_t n)
{
	size_t found = 0;
	for (unsigned i = 0; i < f->n_insts; i++) {
		const struct ptx_inst *inst = &f->insts[i];
		if (inst->op != op || inst->space != space)
			continue;
		assert_true(found < n);
		assert_int_equal(inst->line, lines[found]);
		assert_int_equal(inst->leaf_line, leaves[found]);
		found++;
	}
	assert_int_equal(found, n);
}

TEST(source_lines)
{
	char *text = data_file("sm_90.ptx");
	struct ptx_module m = parsed(text);
	static const unsigned in_body[] = { 11, 11 };
	assert_lines(ptx_entry(&m, "vec_add"), OP_LD, SPACE_GLOBAL, in_body, in_body, 2);
	/* norm() calls square(), both inlined at line 84; their own lines are 68 and 63 */
	static const unsigned products[] = { 84, 85 }, product_leaves[] = { 63, 85 };
	static const unsigned sums[] = { 84 }, sum_leaves[] = { 68 };
	assert_lines(ptx_entry(&m, "helpers"), OP_MUL, SPACE_GENERIC, products, product_leaves, 2);
	assert_lines(ptx_entry(&m, "helpers"), OP_FMA, SPACE_GENERIC, sums, sum_leaves, 1);
	/* intrinsics are inlined from CUDA's headers: the line is that of the call */
	static const unsigned shuffles[] = { 98, 99 };
	assert_lines(ptx_entry(&m, "warp"), OP_SHFL, SPACE_GENERIC, shuffles, shuffles, 2);
	ptx_free(&m);
	free(text);
}

/* Chains by hand: places of other files, links that end, links that run in a circle. */
TEST(inlined_chains)
{
	struct ptx_module m = parsed(KERNEL(
		".reg .b32 %r<2>;\n"
		".loc 1 10 3\nmov.u32 %r1, 0;\n"
		".loc 2 50 1, function_name $L__info_string0, inlined_at 1 11 4\nmov.u32 %r1, 1;\n"
		".loc 3 60 1, function_name $L__info_string1+24, inlined_at 2 50 1\nmov.u32 %r1, 2;\n"
		".loc 1 20 1, function_name $L__info_string2, inlined_at 2 50 1\nmov.u32 %r1, 3;\n"
		".loc 2 70 1\nmov.u32 %r1, 4;\n"
		".loc 2 50 1\n.loc 3 60 1, function_name $L__info_string1, inlined_at 2 50 1\n"
		"mov.u32 %r1, 5;\n"
		".loc 1 5 5, function_name $L, inlined_at 1 5 5\nmov.u32 %r1, 6;\n"
		".loc 1 0 0\nmov.u32 %r1, 7;"));
	static const unsigned line[] = { 10, 11, 11, 11, 0, 0, 5, 0 };
	static const unsigned leaf[] = { 10, 11, 11, 20, 0, 0, 5, 0 };
	const struct ptx_func *f = kernel(&m);
	assert_int_equal(f->n_insts, ARRAY_LEN(line));
	for (unsigned i = 0; i < f->n_insts; i++) {
		assert_int_equal(f->insts[i].line, line[i]);
		assert_int_equal(f->insts[i].leaf_line, leaf[i]);
	}
	ptx_free(&m);
}

/* A kernel in a header: its lines are those of its own file, not of the first. */
TEST(kernel_of_a_header)
{
	struct ptx_module m = parsed(
		KERNEL(".reg .b32 %r<2>;\n"
	           ".loc 2 6 0\nmov.u32 %r1, 0;\n"
	           ".loc 1 4 2, function_name $L__info_string0, inlined_at 2 10 3\nmov.u32 %r1, 1;\n"
	           ".loc 1 9 9\nmov.u32 %r1, 2;"));
	static const unsigned line[] = { 6, 10, 0 };
	const struct ptx_func *f = kernel(&m);
	assert_int_equal(f->file, 2);
	for (unsigned i = 0; i < ARRAY_LEN(line); i++)
		assert_int_equal(f->insts[i].line, line[i]);
	ptx_free(&m);
}

/* Every prefix of a file parses or is refused with its place; nothing else happens. */
TEST(truncated_anywhere)
{
	char *text = data_file("sm_75.ptx");
	size_t len = strlen(text), accepted = 0, refusals = 0;
	const char *from = strstr(text, ".visible .entry helpers");
	assert_non_null(from);
	/* the head of the file, then the function with calls, locals and a struct, byte by byte */
	size_t head = (size_t)(strstr(text, ".visible .entry vec_add") - text);
	size_t tail = (size_t)(strstr(from, "\n}\n") + 3 - from);
	struct text cut = { 0 };
	text_put(&cut, text, head);
	text_put(&cut, from, tail);
	for (size_t n = cut.len + 1; n-- > 0;) {
		struct ptx_module m;
		struct err err = { 0 };
		char *prefix = malloc(n + 1); /* exact, so that a sanitizer sees a read behind it */
		memcpy(prefix, cut.s, n);
		prefix[n] = '\0';
		if (ptx_parse(prefix, "cut.ptx", &m, &err)) {
			ptx_free(&m);
			accepted++;
		} else {
			assert_memory_equal(err.msg, "cut.ptx:", 8);
			refusals++;
		}
		free(prefix);
	}
	assert_true(accepted > 3 && accepted < cut.len / 2);
	assert_true(refusals > cut.len / 4);
	text_free(&cut);
	/* and the whole file in larger steps */
	for (size_t n = 0; n < len; n += 97) {
		struct ptx_module m;
		struct err err = { 0 };
		char *prefix = malloc(n + 1);
		memcpy(prefix, text, n);
		prefix[n] = '\0';
		if (ptx_parse(prefix, "cut.ptx", &m, &err))
			ptx_free(&m);
		else
			assert_memory_equal(err.msg, "cut.ptx:", 8);
		free(prefix);
	}
	free(text);
}

/* Debug builds (nvcc -G) carry DWARF sections, labels around functions, and nested scopes. */
TEST(debug_sections)
{
	struct ptx_module m = parsed(
		HEAD ".visible .entry k()\n{\n.reg .b32 %r<2>;\n$L__func_begin0:\n.loc 1 3 0\n"
			 "{\n.reg .b32 %t;\n$L__tmp0:\nmov.u32 %t, 1;\n}\n$L__tmp1:\nret;\n$L__func_end0:\n}\n"
			 ".file 1 \"k.cu\"\n.section .debug_loc\n{\n.b64 -1\n.b64 $L__func_begin0\n.b8 1,2\n}\n"
			 ".section\t.debug_info\n\t{\n.b32 .debug_loc+12\n.b64 $L__func_end0\n.b8 0\n\t}\n");
	assert_int_equal(kernel(&m)->n_insts, 2);
	assert_int_equal(kernel(&m)->n_blocks, 2);
	assert_int_equal(kernel(&m)->insts[0].line, 3);
	ptx_free(&m);
}

TEST(tables_agree)
{
	for (int op = 0; op < OP_COUNT; op++)
		for (int other = 0; other < op; other++)
			assert_string_not_equal(ptx_op_name((enum ptx_op)op), ptx_op_name((enum ptx_op)other));
	assert_string_equal(ptx_op_name(OP_CP_ASYNC_WAIT_ALL), "cp.async.wait_all");
	assert_int_equal(ptx_op_class(OP_SHFL), CLASS_WARP);
	assert_int_equal(ptx_op_class(OP_ATOM), CLASS_ATOMIC);
	assert_string_equal(ptx_type_name(PTX_BF16X2), "bf16x2");
	assert_int_equal(ptx_type_bytes(PTX_B128), 16);
	assert_string_equal(ptx_special_name(SR_NCTAID_Y), "%nctaid.y");
	assert_string_equal(ptx_op_name((enum ptx_op)9999), "?");
}

/* Outside functions a place is of nothing; it is read all the same. */
TEST(places_outside_functions)
{
	struct ptx_module m;
	struct err err = { 0 };
	const char *text = ".version 8.0\n.loc 1 2 3, function_name $L, inlined_at 1 4 5\n"
					   ".target sm_80\n.address_size 64\n"
					   ".visible .entry k()\n{\n.loc 1 2 3\nret;\n}\n.loc 1 9 3\n";
	assert_true(ptx_parse(text, "test.ptx", &m, &err));
	assert_int_equal(m.n_funcs, 1);
	assert_int_equal(m.funcs[0].insts[0].line, 2);
	ptx_free(&m);
}
