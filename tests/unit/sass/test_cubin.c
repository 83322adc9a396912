/* What a cubin says of its kernel, and that a damaged one is refused or says less, never crashes.
 */
#include "sass_fixture.h"

#include "base/elf64.h"
#include "base/file.h"
#include "sass/line_table.h"

static void read_data(const char *name, struct text *out)
{
	char path[4096];
	const char *root = getenv("TEST_ROOT");
	struct err err = { 0 };
	snprintf(path, sizeof path, "%s/tests/data/sass/%s", root ? root : ".", name);
	*out = (struct text){ 0 };
	if (!file_read(path, 1 << 20, out, &err))
		fail_msg("%s", err.msg);
}

/* tests/data/sass/tiny.cu: (int *a, int n), 32 ints shared, one barrier, 4 ints constant. */
TEST(facts)
{
	static const struct {
		const char *file;
		unsigned sm, param_offset, reserved;
	} cases[] = { { "tiny_sm_75.cubin", 75, 0x160, 0 }, { "tiny_sm_90.cubin", 90, 0x210, 1024 } };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct text t;
		struct cubin c;
		struct err err = { 0 };
		read_data(cases[i].file, &t);
		assert_true(cubin_read(&c, t.s, t.len, &err));
		assert_int_equal(c.sm, cases[i].sm);
		assert_string_equal(c.tool, "Cuda compilation tools, release 13.0, V13.0.88");
		assert_int_equal(c.n_funcs, 1);
		const struct cubin_func *f = cubin_func(&c, "tiny");
		assert_true(f && f->entry);
		assert_in_range(f->registers, 4, 32);
		assert_int_equal(f->barriers, 1);
		assert_int_equal(f->stack_bytes, 0);
		assert_int_equal(f->shared_bytes, 128 + cases[i].reserved);
		assert_int_equal(f->param_offset, cases[i].param_offset);
		assert_int_equal(f->param_bytes, 12);
		assert_int_equal(f->n_params, 2);
		assert_int_equal(f->params[0].bytes, 8);
		assert_int_equal(f->params[1].offset, 8);
		assert_int_equal(f->params[1].bytes, 4);
		assert_int_equal(f->n_exits, 2);
		assert_true(c.lines && c.ptx_lines);
		const struct cubin_bank *k = cubin_bank(&c, 3, 0);
		assert_true(k && k->func == -1 && k->bytes == 16);
		k = cubin_bank(&c, 0, 0);
		assert_true(k && k->func == 0 && k->bytes == cases[i].param_offset + 12);
		assert_null(cubin_bank(&c, 7, 0));
		/* the variable in bank 3, by its name */
		assert_int_equal(c.n_constants, 1);
		assert_int_equal(c.constants[0].offset, 0);
		assert_int_equal(c.constants[0].bytes, 16);
		assert_null(cubin_func(&c, "tin"));
		cubin_free(&c);
		text_free(&t);
	}
}

/* Two lines of code, each with instructions; the kernel's PTX lines are there too. */
TEST(lines)
{
	static const char *const files[] = { "tiny_sm_75.cubin", "tiny_sm_90.cubin" };
	for (size_t i = 0; i < 2; i++) {
		struct text t;
		struct elf64 elf;
		struct elf_section code;
		struct line_table source, ptx;
		read_data(files[i], &t);
		assert_true(elf64_open(&elf, t.s, t.len, NULL));
		const unsigned section = elf64_find(&elf, ".text.tiny", &code);
		line_table_read(&elf, ".debug_line", &source);
		line_table_read(&elf, ".nv_debug_line_sass", &ptx);
		for (uint64_t at = 0; at + 256 < code.size; at += 16) {
			const struct line_row *row = line_table_find(&source, section, at);
			assert_true(row && row->line == 2);
			assert_non_null(strstr(source.files[row->file], "tiny.cu"));
			assert_true(line_table_find(&ptx, section, at)->line > 10);
		}
		assert_null(line_table_find(&source, section, code.size + 16));
		assert_null(line_table_find(&source, section + 1, 0));
		line_table_free(&source);
		line_table_free(&ptx);
		text_free(&t);
	}
}

TEST(others_are_refused)
{
	struct cubin c;
	struct err err = { 0 };
	struct text t;
	assert_false(cubin_read(&c, "", 0, &err));
	assert_non_null(strstr(err.msg, "not an ELF file"));
	/* this program itself */
	t = (struct text){ 0 };
	assert_true(file_read("/proc/self/exe", (size_t)1 << 30, &t, NULL));
	assert_false(cubin_read(&c, t.s, t.len, &err));
	assert_int_equal(err.code, ERR_PARSE);
	assert_non_null(strstr(err.msg, "not a cubin"));
	text_free(&t);
	/* Pascal: another encoding */
	read_data("tiny_sm_75.cubin", &t);
	t.s[48 + 1] = 61; /* e_flags */
	assert_false(cubin_read(&c, t.s, t.len, &err));
	assert_int_equal(err.code, ERR_UNSUPPORTED);
	assert_non_null(strstr(err.msg, "sm_61"));
	text_free(&t);
}

static void read_and_drop(const char *image, size_t len, const struct text *listing)
{
	struct sass_module m;
	struct err err = { 0 };
	if (sass_read(&m, image, len, listing->s, listing->len, &err))
		sass_free(&m);
	else
		assert_true((err.code == ERR_PARSE || err.code == ERR_UNSUPPORTED) && err.msg[0]);
}

/* Every length, and every byte spoilt in three ways. */
TEST(damage_is_survived)
{
	struct text t, listing;
	read_data("tiny_sm_90.cubin", &t);
	read_data("tiny_sm_90.listing", &listing);
	for (size_t len = 0; len < t.len; len++) {
		char *cut = malloc(len + 1); /* its own, so that a sanitizer sees its end */
		memcpy(cut, t.s, len);
		read_and_drop(cut, len, &listing);
		free(cut);
	}
	for (size_t at = 0; at < t.len; at++) {
		static const char with[] = { 0x01, (char)0x80, (char)0xff };
		for (size_t w = 0; w < sizeof with; w++) {
			t.s[at] ^= with[w];
			read_and_drop(t.s, t.len, &listing);
			t.s[at] ^= with[w];
		}
	}
	text_free(&t);
	text_free(&listing);
}
