/*
 * Real compilations by NVRTC (no GPU needed) and the cache around them.
 * Register counts of a compiler release are not pinned, only what every release must keep.
 */
#include "compile/compile.h"
#include "compile/module_store.h"
#include "model/kernel.h"
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>

static const char source[] =
	"#ifndef __CUDACC__\n"
	"#error the C half must not reach NVRTC\n"
	"#else\n"
	"extern \"C\" __global__ void __launch_bounds__(16 * TILE)\n"
	"tiled(const float *in, float *out, int n)\n"
	"{\n"
	"\t__shared__ float tile[TILE][TILE];\n"
	"\tint i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"\ttile[threadIdx.x / TILE][threadIdx.x % TILE] = i < n ? in[i] * SCALE : 0;\n"
	"\t__syncthreads();\n"
	"\tif (i < n)\n"
	"\t\tout[i] = tile[threadIdx.x % TILE][threadIdx.x / TILE];\n"
	"}\n"
	"extern \"C\" __global__ void plain(float *out) { out[threadIdx.x] = 1; }\n"
	"#endif\n";

static struct compile_macro macros[] = { { "TILE", 16 }, { "SCALE", 3 } };

static struct compile_request request(int major, int minor)
{
	return (struct compile_request){
		.file = "unit.cu",
		.source = source,
		.n_macros = 2,
		.macros = macros,
		.cc_major = major,
		.cc_minor = minor,
	};
}

TEST(gives_ptx_cubin_and_usage)
{
	struct compile_request req = request(9, 0);
	struct module m;
	struct err err = { 0 };
	if (!compile_module(&req, &m, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(m.from, MODULE_COMPILED);
	assert_true(m.compile_ns > 0);
	assert_int_equal(strlen(m.key), 32);
	assert_memory_equal(m.compiler, "NVRTC 1", 7);
	assert_int_equal(strlen(m.ptx), m.ptx_len);
	assert_non_null(strstr(m.ptx, ".target sm_90"));
	assert_memory_equal(m.cubin, "\177ELF", 4);
	assert_int_equal(m.n_entries, 2);

	const struct entry_usage *t = module_entry(&m, "tiled");
	assert_non_null(t);
	assert_in_range(t->registers, 4, 64);
	assert_int_equal(t->static_shared_bytes, 16 * 16 * sizeof(float));
	assert_int_equal(t->barriers, 1);
	assert_int_equal(t->max_threads, 256);
	assert_int_equal(t->stack_bytes, 0);
	assert_int_equal(t->spill_store_bytes, 0);
	assert_in_range(t->const_bytes, 20, 4096); /* at least the 20 bytes of parameters */

	const struct entry_usage *p = module_entry(&m, "plain");
	assert_non_null(p);
	assert_int_equal(p->static_shared_bytes, 0);
	assert_int_equal(p->barriers, 0);
	assert_int_equal(p->max_threads, 0);
	assert_true(p->registers < t->registers);
	assert_null(module_entry(&m, "absent"));
	module_free(&m);
}

/* What only one architecture has is there for a source that asks for it, and on no other. */
TEST(a_source_that_asks_gets_what_one_architecture_has)
{
	struct compile_request req = request(9, 0);
	struct module m;
	struct err err = { 0 };
	req.source = "extern \"C\" __global__ void wait() {\n"
				 "#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n"
				 "asm volatile(\"wgmma.wait_group.sync.aligned 0;\");\n"
				 "#endif\n"
				 "}\n";
	if (!compile_module(&req, &m, &err))
		fail_msg("%s", err.msg);
	assert_non_null(strstr(m.ptx, ".target sm_90a"));
	assert_non_null(strstr(m.ptx, "wgmma.wait_group"));
	module_free(&m);
	req.cc_major = 8;
	if (!compile_module(&req, &m, &err))
		fail_msg("%s", err.msg);
	assert_non_null(strstr(m.ptx, ".target sm_80"));
	assert_null(strstr(m.ptx, "wgmma.wait_group"));
	module_free(&m);
}

TEST(holds_no_path_of_this_machine)
{
	char cwd[512];
	assert_non_null(getcwd(cwd, sizeof cwd));
	struct compile_request req = request(8, 6);
	struct module m;
	assert_true(compile_module(&req, &m, NULL));
	assert_non_null(strstr(m.ptx, "\"unit.cu\""));
	assert_false(contains(m.ptx, m.ptx_len, cwd));
	assert_true(contains(m.cubin, m.cubin_len, "unit.cu"));
	assert_false(contains(m.cubin, m.cubin_len, cwd));
	module_free(&m);
}

TEST(second_time_comes_from_the_folder)
{
	struct compile_request req = request(8, 0);
	struct module a;
	struct module b;
	assert_true(compile_module(&req, &a, NULL));
	struct compile_macro swapped[] = { macros[1], macros[0] };
	req.macros = swapped;
	assert_true(compile_module(&req, &b, NULL));
	assert_int_equal(a.from, MODULE_COMPILED);
	assert_int_equal(b.from, MODULE_CACHED);
	assert_int_equal(b.compile_ns, 0);
	assert_string_equal(a.key, b.key);
	assert_string_equal(a.compiler, b.compiler);
	assert_string_equal(a.ptx, b.ptx);
	assert_string_equal(a.log, b.log);
	assert_int_equal(a.cubin_len, b.cubin_len);
	assert_memory_equal(a.cubin, b.cubin, a.cubin_len);
	assert_int_equal(a.n_entries, b.n_entries);
	for (unsigned i = 0; i < a.n_entries; i++) {
		assert_string_equal(a.entries[i].entry, b.entries[i].entry);
		assert_memory_equal(&a.entries[i].registers, &b.entries[i].registers,
		                    sizeof a.entries[i] - offsetof(struct entry_usage, registers));
	}
	module_free(&a);
	module_free(&b);
}

TEST(macros_file_source_and_architecture_change_the_key)
{
	struct compile_request base = request(8, 9);
	struct compile_request other[5] = { base, base, base, base, base };
	struct compile_macro tile8[] = { { "TILE", 8 }, { "SCALE", 3 } };
	struct compile_macro more[] = { { "TILE", 16 }, { "SCALE", 3 }, { "UNUSED", 1 } };
	char *longer = test_malloc(sizeof source + 1);
	snprintf(longer, sizeof source + 1, "%s\n", source);
	other[0].macros = tile8;
	other[1].macros = more;
	other[1].n_macros = 3;
	other[2].file = "unit2.cu";
	other[3].source = longer;
	other[4].cc_minor = 6;
	struct module m;
	assert_true(compile_module(&base, &m, NULL));
	for (int i = 0; i < 5; i++) {
		struct module o;
		assert_true(compile_module(&other[i], &o, NULL));
		assert_string_not_equal(m.key, o.key);
		if (i == 0)
			assert_int_equal(module_entry(&o, "tiled")->static_shared_bytes, 8 * 8 * 4);
		module_free(&o);
	}
	module_free(&m);
	test_free(longer);
}

TEST(bad_source_names_the_line_and_shows_it)
{
	struct compile_request req = request(8, 0);
	req.file = "bad.cu";
	req.source =
		"extern \"C\" __global__ void f(float *p)\n{\n\tint unused;\n\tp[0] = nothing_here;\n}\n";
	struct module m;
	struct err err = { 0 };
	assert_false(compile_module(&req, &m, &err));
	assert_int_equal(err.code, ERR_COMPILE);
	assert_memory_equal(err.msg, "bad.cu:4: error: ", 17); /* before the warning of line 3 */
	assert_non_null(strstr(err.msg, "nothing_here"));
	assert_non_null(strstr(err.msg, "\tp[0] = nothing_here;\n"));
	assert_non_null(strstr(err.msg, "^"));
	assert_non_null(strstr(err.msg, "bad.cu:3: warning"));
	assert_null(m.ptx);
	unsigned before = scratch_files(".module", NULL, 0);
	assert_false(compile_module(&req, &m, NULL)); /* failures are not kept */
	assert_int_equal(scratch_files(".module", NULL, 0), before);
}

TEST(unknown_architecture_lists_the_known)
{
	struct compile_request req = request(5, 3);
	struct module m;
	struct err err = { 0 };
	assert_false(compile_module(&req, &m, &err));
	assert_int_equal(err.code, ERR_UNSUPPORTED);
	assert_non_null(strstr(err.msg, "sm_53"));
	assert_non_null(strstr(err.msg, "sm_80"));
	assert_non_null(strstr(err.msg, "sm_90"));
	assert_true(err.remedy[0]);
}

TEST(warnings_stay_and_resource_lines_go)
{
	struct compile_request req = request(8, 0);
	req.source = "extern \"C\" __global__ void f(float *p)\n{\n\tint unused;\n\tp[0] = 1;\n}\n";
	struct module m;
	assert_true(compile_module(&req, &m, NULL));
	assert_non_null(strstr(m.log, "unused"));
	assert_null(strstr(m.log, "ptxas"));
	assert_null(strstr(m.log, "/unit.cu"));
	module_free(&m);
}

TEST(spills_are_reported)
{
	struct compile_request req = request(8, 0);
	req.source =
		"extern \"C\" __global__ void __launch_bounds__(1024, 2) f(float *p)\n{\n"
		"\tfloat v[96];\n"
		"#pragma unroll\n\tfor (int i = 0; i < 96; i++) v[i] = p[i * 1024 + threadIdx.x];\n"
		"\t__syncthreads();\n"
		"#pragma unroll\n\tfor (int i = 0; i < 96; i++) "
		"p[i * 1024 + threadIdx.x] = v[95 - i] * v[i];\n"
		"}\n";
	struct module m;
	assert_true(compile_module(&req, &m, NULL));
	const struct entry_usage *f = module_entry(&m, "f");
	assert_non_null(f);
	assert_true(f->registers <= 32); /* 65536 registers / 2048 threads */
	assert_true(f->spill_store_bytes > 0);
	assert_true(f->spill_load_bytes > 0);
	assert_true(f->stack_bytes > 0);
	assert_int_equal(f->max_threads, 1024);
	module_free(&m);
}

TEST(a_damaged_entry_is_made_anew)
{
	struct compile_request req = request(7, 5);
	struct module m;
	char path[1024];
	char before[8];
	assert_true(compile_module(&req, &m, NULL));
	snprintf(path, sizeof path, "%s/pmpp-explore/%s.module", getenv("XDG_CACHE_HOME"), m.key);
	module_free(&m);
	for (int damage = 0; damage < 3; damage++) {
		if (damage == 0) { /* one byte, far inside */
			FILE *f = fopen(path, "r+b");
			assert_non_null(f);
			fseek(f, 2000, SEEK_SET);
			assert_int_equal(fread(before, 1, 1, f), 1);
			fseek(f, 2000, SEEK_SET);
			fputc(before[0] ^ 1, f);
			fclose(f);
		} else { /* cut, then empty */
			assert_int_equal(truncate(path, damage == 1 ? 1500 : 0), 0);
		}
		assert_true(compile_module(&req, &m, NULL));
		assert_int_equal(m.from, MODULE_COMPILED);
		module_free(&m);
		assert_true(compile_module(&req, &m, NULL));
		assert_int_equal(m.from, MODULE_CACHED);
		module_free(&m);
	}
}

static int origin_now(const struct compile_request *req, const char *says)
{
	struct module m;
	struct compile_info info;
	assert_true(compile_module(req, &m, NULL));
	const int from = (int)m.from;
	module_free(&m);
	compile_probe(&info);
	if (says)
		assert_non_null(strstr(info.cache_note, says));
	return from;
}

TEST(what_others_could_have_written_is_not_used)
{
	struct compile_request req = request(7, 5);
	struct module m;
	char folder[600], path[1024], elsewhere[1100];
	assert_true(compile_module(&req, &m, NULL));
	snprintf(folder, sizeof folder, "%s/pmpp-explore", getenv("XDG_CACHE_HOME"));
	snprintf(path, sizeof path, "%s/%s.module", folder, m.key);
	snprintf(elsewhere, sizeof elsewhere, "%s.elsewhere", path);
	module_free(&m);
	assert_int_equal(origin_now(&req, NULL), MODULE_CACHED);
	assert_int_equal(chmod(path, 0602), 0);
	assert_int_equal(origin_now(&req, NULL), MODULE_COMPILED);
	assert_int_equal(rename(path, elsewhere), 0);
	assert_int_equal(symlink(elsewhere, path), 0);
	assert_int_equal(origin_now(&req, NULL), MODULE_COMPILED); /* and replaces the link */
	assert_int_equal(origin_now(&req, NULL), MODULE_CACHED);
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_int_equal(origin_now(&req, NULL), MODULE_COMPILED);
	}
	unlink(elsewhere);
	assert_int_equal(chmod(folder, 0707), 0);
	assert_int_equal(origin_now(&req, "writable for everybody"), MODULE_COMPILED);
	if (geteuid() == 0) {
		assert_int_equal(chmod(folder, 0700) | chown(folder, 65534, 65534), 0);
		assert_int_equal(origin_now(&req, "another user's"), MODULE_COMPILED);
		assert_int_equal(chown(folder, 0, 0), 0);
	}
	assert_int_equal(chmod(folder, 0700), 0);
	assert_int_equal(origin_now(&req, NULL), MODULE_CACHED);
}

TEST(a_folder_that_cannot_be_written_is_no_error)
{
	char file[300];
	char kept[300];
	snprintf(kept, sizeof kept, "%s", getenv("XDG_CACHE_HOME"));
	snprintf(file, sizeof file, "%s/a-file", scratch_dir);
	fclose(fopen(file, "w"));
	setenv("XDG_CACHE_HOME", file, 1);
	struct compile_request req = request(8, 6);
	req.file = "unwritable.cu";
	struct module m;
	struct compile_info info;
	assert_true(compile_module(&req, &m, NULL));
	assert_int_equal(m.from, MODULE_COMPILED);
	module_free(&m);
	compile_probe(&info);
	assert_non_null(strstr(info.cache_note, "a-file"));
	assert_non_null(strstr(info.cache_note, strerror(ENOTDIR)));
	assert_true(info.nvrtc);
	setenv("XDG_CACHE_HOME", kept, 1);
	compile_probe(&info);
	assert_string_equal(info.cache_note, "");
	assert_memory_equal(info.cache_dir, kept, strlen(kept));
}

/* As another user, because root writes everywhere. */
TEST(a_read_only_folder_is_no_error)
{
	char dir[300];
	snprintf(dir, sizeof dir, "%s/ro", scratch_dir);
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(chmod(scratch_dir, 0755), 0);
	assert_int_equal(chmod(dir, 0555), 0);
	struct module m;
	struct compile_request req = request(8, 6);
	assert_true(compile_module(&req, &m, NULL)); /* NVRTC is loaded while it can be read */
	module_free(&m);
	pid_t pid = fork();
	if (!pid) {
		setenv("XDG_CACHE_HOME", dir, 1);
		if (!geteuid() && setuid(65534))
			_exit(2);
		struct compile_info info;
		bool ok = compile_module(&req, &m, NULL) && m.from == MODULE_COMPILED;
		compile_probe(&info);
		_exit(ok && strstr(info.cache_note, strerror(EACCES)) ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(chmod(dir, 0700), 0);
}

TEST(without_home_there_is_a_note)
{
	pid_t pid = fork();
	if (!pid) {
		unsetenv("XDG_CACHE_HOME");
		unsetenv("HOME");
		struct compile_request req = request(8, 6);
		struct module m;
		struct compile_info info;
		bool ok = compile_module(&req, &m, NULL) && m.from == MODULE_COMPILED;
		compile_probe(&info);
		_exit(ok && !info.cache_dir[0] && strstr(info.cache_note, "HOME") ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

TEST(two_processes_at_once)
{
	char dir[300];
	snprintf(dir, sizeof dir, "%s/two", scratch_dir);
	pid_t pids[3];
	for (int i = 0; i < 3; i++) {
		pids[i] = fork();
		if (pids[i])
			continue;
		setenv("XDG_CACHE_HOME", dir, 1);
		bool ok = true;
		for (int minor = 0; minor < 10 && ok; minor += 3) { /* sm_80 86 89; 83 is unknown */
			struct compile_request req = request(8, minor);
			struct module m;
			ok = minor == 3 || (compile_module(&req, &m, NULL) && m.n_entries == 2);
		}
		_exit(ok ? 0 : 1);
	}
	for (int i = 0; i < 3; i++) {
		int status;
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	char kept[300];
	snprintf(kept, sizeof kept, "%s", getenv("XDG_CACHE_HOME"));
	setenv("XDG_CACHE_HOME", dir, 1);
	assert_int_equal(scratch_files(".module", NULL, 0), 3);
	assert_int_equal(scratch_files("", NULL, 0), 3); /* no temporary files left */
	struct compile_request req = request(8, 9);
	struct module m;
	assert_true(compile_module(&req, &m, NULL));
	assert_int_equal(m.from, MODULE_CACHED);
	module_free(&m);
	setenv("XDG_CACHE_HOME", kept, 1);
}

static void *compile_in_thread(void *arg)
{
	struct compile_request req = request(8, 0);
	struct compile_macro mine[] = { { "TILE", 16 }, { "SCALE", 100 + *(int *)arg } };
	req.macros = mine;
	struct module m;
	*(int *)arg = compile_module(&req, &m, NULL) ? (int)m.n_entries : -1;
	module_free(&m);
	return NULL;
}

TEST(threads_may_compile_at_once)
{
	pthread_t threads[4];
	int result[4] = { 0, 1, 2, 0 };
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, compile_in_thread, &result[i]), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(result[i], 2);
	}
}

TEST(trimming_removes_the_oldest)
{
	char dir[300];
	snprintf(dir, sizeof dir, "%s/trim", scratch_dir);
	char kept[300];
	snprintf(kept, sizeof kept, "%s", getenv("XDG_CACHE_HOME"));
	setenv("XDG_CACHE_HOME", dir, 1);
	struct module m[3];
	off_t bytes = 0;
	for (int i = 0; i < 3; i++) {
		struct compile_request req = request(8, i * 3 + (i > 0 ? 3 : 0)); /* 80 86 89 */
		assert_true(compile_module(&req, &m[i], NULL));
		char path[1024];
		struct stat st;
		snprintf(path, sizeof path, "%s/pmpp-explore/%s.module", dir, m[i].key);
		assert_int_equal(stat(path, &st), 0);
		struct timespec times[2] = { { 1000 + i, 0 }, { 1000 + i, 0 } };
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
		bytes += i ? st.st_size : 0; /* room for the two newest */
	}
	store_trim((unsigned long long)bytes);
	struct module again;
	assert_false(store_load(m[0].key, &again));
	for (int i = 1; i < 3; i++) {
		assert_true(store_load(m[i].key, &again));
		module_free(&again);
	}
	for (int i = 0; i < 3; i++)
		module_free(&m[i]);
	setenv("XDG_CACHE_HOME", kept, 1);
}

int main(void)
{
	return unit_run(scratch_begin, scratch_end);
}
