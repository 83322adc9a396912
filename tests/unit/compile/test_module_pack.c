/* The packed form: what goes in comes out, and nothing that was changed is believed. */
#include "compile/module_pack.h"
#include "scratch.h"

#include "base/mem.h"

static struct entry_usage entries[] = {
	{ .entry = (char *)"first",
	  .registers = 255,
	  .static_shared_bytes = 49152,
	  .stack_bytes = 8,
	  .spill_store_bytes = 4,
	  .spill_load_bytes = 12,
	  .barriers = 16,
	  .const_bytes = 380,
	  .max_threads = 1024 },
	{ .entry = (char *)"second", .registers = 10 },
};

static struct module sample(void)
{
	return (struct module){
		.ptx = (char *)".version 9.0\n",
		.ptx_len = 13,
		.cubin = (void *)"\177ELF\0\1",
		.cubin_len = 6,
		.log = (char *)"a warning",
		.n_entries = 2,
		.entries = entries,
		.key = "0123456789abcdef0123456789abcdef",
		.compiler = "NVRTC 13.0",
	};
}

TEST(comes_back_as_it_was)
{
	struct module m = sample();
	struct module back;
	struct text t = { 0 };
	module_pack(&m, &t);
	assert_true(module_unpack(t.s, t.len, m.key, &back, NULL));
	assert_string_equal(back.ptx, m.ptx);
	assert_int_equal(back.ptx_len, m.ptx_len);
	assert_int_equal(back.cubin_len, m.cubin_len);
	assert_memory_equal(back.cubin, m.cubin, m.cubin_len);
	assert_string_equal(back.log, m.log);
	assert_string_equal(back.key, m.key);
	assert_string_equal(back.compiler, m.compiler);
	assert_int_equal(back.from, MODULE_CACHED);
	assert_int_equal(back.n_entries, 2);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(back.entries[i].entry, entries[i].entry);
		assert_memory_equal(&back.entries[i].registers, &entries[i].registers,
		                    sizeof *entries - offsetof(struct entry_usage, registers));
	}
	module_free(&back);
	text_free(&t);
}

TEST(every_flipped_byte_and_every_cut_is_refused)
{
	struct module m = sample();
	struct module back;
	struct text t = { 0 };
	module_pack(&m, &t);
	for (size_t i = 0; i < t.len; i++) {
		char *copy = test_malloc(t.len);
		memcpy(copy, t.s, t.len);
		copy[i] ^= 0x20;
		assert_false(module_unpack(copy, t.len, NULL, &back, NULL));
		assert_null(back.ptx);
		memcpy(copy, t.s, t.len);
		assert_false(module_unpack(copy, i, NULL, &back, NULL));
		assert_null(back.ptx);
		test_free(copy);
	}
	struct err err = { 0 };
	assert_false(module_unpack(t.s, t.len, "another key, of thirty-two bytes", &back, &err));
	assert_non_null(strstr(err.msg, "key"));
	text_free(&t);
}

TEST(the_archive_finds_each_of_its_modules)
{
	struct text t = { 0 };
	struct module m = sample();
	archive_begin(&t, "NVRTC 13.0");
	for (int i = 0; i < 5; i++) {
		char ptx[16];
		snprintf(ptx, sizeof ptx, "ptx %.*s", i, "abcde"); /* lengths that need padding */
		m.ptx = ptx;
		m.ptx_len = strlen(ptx);
		m.key[0] = (char)('0' + i);
		archive_add(&t, &m);
	}
	unsigned count;
	const char *compiler;
	assert_true(archive_info(t.s, t.len, &count, &compiler));
	assert_int_equal(count, 5);
	assert_string_equal(compiler, "NVRTC 13.0");
	for (int i = 0; i < 5; i++) {
		struct module found;
		m.key[0] = (char)('0' + i);
		assert_true(archive_find(t.s, t.len, m.key, &found));
		assert_int_equal(found.ptx_len, 4 + i);
		module_free(&found);
	}
	struct module none;
	m.key[0] = '9';
	assert_false(archive_find(t.s, t.len, m.key, &none));
	for (size_t cut = 0; cut < t.len; cut++) { /* a cut archive is never read past its end */
		char *copy = test_malloc(cut + 1);
		memcpy(copy, t.s, cut);
		m.key[0] = '4';
		if (archive_find(copy, cut, m.key, &none))
			module_free(&none);
		test_free(copy);
	}
	assert_false(archive_info(NULL, 0, &count, &compiler));
	text_free(&t);
}

TEST(the_key_depends_on_everything_that_is_compiled)
{
	struct compile_macro a[] = { { "A", 1 }, { "B", 23 } };
	struct compile_macro swapped[] = { { "B", 23 }, { "A", 1 } };
	struct compile_macro shifted[] = { { "A", 12 }, { "B", 3 } };
	struct compile_request base = {
		.file = "f.cu", .source = "s", .n_macros = 2, .macros = a, .cc_major = 8, .cc_minor = 0
	};
	char key[33];
	char other[33];
	module_key(&base, "NVRTC 13.0", key);
	struct compile_request r = base;
	r.macros = swapped;
	module_key(&r, "NVRTC 13.0", other);
	assert_string_equal(key, other);
	struct compile_request differ[6] = { base, base, base, base, base, base };
	differ[0].macros = shifted;
	differ[1].n_macros = 1;
	differ[2].file = "g.cu";
	differ[3].source = "s ";
	differ[4].cc_major = 9;
	differ[5].cc_minor = 6;
	for (int i = 0; i < 6; i++) {
		module_key(&differ[i], "NVRTC 13.0", other);
		assert_string_not_equal(key, other);
	}
	module_key(&base, "NVRTC 13.1", other);
	assert_string_not_equal(key, other);
}
