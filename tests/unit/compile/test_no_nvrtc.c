/*
 * A machine without NVRTC (simulated by PMPP_NVRTC): the built-in archive and the cache folder
 * still serve; what neither holds is refused with the reason and a remedy.
 */
#include "compile/compile.h"
#include "compile/module_pack.h"
#include "compile/module_store.h"
#include "scratch.h"

#include "base/mem.h"

/* Stands in for the archive that make links into the program. */
__asm__(".data\n"
        ".globl asset_cache\n"
        ".balign 16\n"
        "asset_cache: .space 4096\n"
        ".globl asset_cache_end\n"
        "asset_cache_end: .byte 0\n"
        ".text\n");
extern char asset_cache[];

static struct compile_macro macros[] = { { "TILE", 16 } };

static struct compile_request request(int64_t tile)
{
	macros[0].value = tile;
	return (struct compile_request){
		.file = "made.cu",
		.source = "the text of a kernel",
		.n_macros = 1,
		.macros = macros,
		.cc_major = 8,
		.cc_minor = 0,
	};
}

/* A module as if compiled elsewhere by the archive's compiler. */
static struct module made(const struct compile_request *req, const char *ptx)
{
	struct module m = { .ptx = mem_strdup(ptx),
		                .ptx_len = strlen(ptx),
		                .log = mem_strdup(""),
		                .n_entries = 1,
		                .entries = mem_calloc(1, sizeof *m.entries) };
	m.entries[0] = (struct entry_usage){ .entry = mem_strdup("made"),
		                                 .registers = 40,
		                                 .static_shared_bytes = 2048,
		                                 .max_threads = 256 };
	strcpy(m.compiler, "NVRTC 0.1");
	module_key(req, m.compiler, m.key);
	return m;
}

TEST(the_built_in_archive_serves)
{
	struct compile_request req = request(16);
	struct module m;
	struct err err = { 0 };
	if (!compile_module(&req, &m, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(m.from, MODULE_BUILT_IN);
	assert_string_equal(m.ptx, "built-in");
	assert_string_equal(m.compiler, "NVRTC 0.1");
	assert_null(m.cubin);
	assert_int_equal(module_entry(&m, "made")->registers, 40);
	assert_int_equal(module_entry(&m, "made")->max_threads, 256);
	module_free(&m);
}

TEST(the_cache_folder_serves)
{
	struct compile_request req = request(24);
	struct module kept = made(&req, "kept earlier");
	struct module m;
	store_save(&kept);
	module_free(&kept);
	assert_true(compile_module(&req, &m, NULL));
	assert_int_equal(m.from, MODULE_CACHED);
	assert_string_equal(m.ptx, "kept earlier");
	module_free(&m);
}

TEST(anything_else_is_refused_with_a_remedy)
{
	struct compile_request req = request(32);
	struct module m;
	struct err err = { 0 };
	assert_false(compile_module(&req, &m, &err));
	assert_int_equal(err.code, ERR_UNAVAILABLE);
	assert_memory_equal(err.msg, "made.cu with TILE=32 for sm_80 ", 31);
	assert_non_null(strstr(err.msg, "PMPP_NVRTC"));
	assert_non_null(strstr(err.msg, "/nonexistent/libnvrtc.so"));
	assert_non_null(strstr(err.remedy, "CUDA_HOME"));
	assert_null(m.ptx);
}

TEST(probe_says_why_not)
{
	struct compile_info info;
	compile_probe(&info);
	assert_false(info.nvrtc);
	assert_non_null(strstr(info.why_not, "/nonexistent/libnvrtc.so"));
	assert_int_equal(info.built_in, 1);
	assert_string_equal(info.cache_note, "");
}

static int begin(void **state)
{
	if (scratch_begin(state) || setenv("PMPP_NVRTC", "/nonexistent/libnvrtc.so", 1))
		return -1;
	struct compile_request req = request(16);
	struct module m = made(&req, "built-in");
	struct text archive = { 0 };
	archive_begin(&archive, m.compiler);
	archive_add(&archive, &m);
	assert_in_range(archive.len, 1, 4096);
	memcpy(asset_cache, archive.s, archive.len);
	text_free(&archive);
	module_free(&m);
	return 0;
}

int main(void)
{
	return unit_run(begin, scratch_end);
}
