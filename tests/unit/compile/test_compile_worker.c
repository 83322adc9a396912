/*
 * NVRTC in its own process, with a stand-in that crashes and hangs on demand: the program survives,
 * says what happened, keeps the source for a report, and the next compilation works.
 */
#include "scratch.h"

#include "compile/compile.h"
#include "compile/compile_worker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define LIMIT_S 1.5

static const char *const options[] = { "-DTILE=4", "-I/nowhere/include", "-lineinfo" };

static bool go(const char *source, const atomic_bool *cancel, struct rtc_output *out,
               struct err *err)
{
	err_clear(err);
	rtc_free(out);
	return compile_in_worker("k.cu", source, options, 3, cancel, out, err);
}

/* Children of this process that live. */
static bool has_child(void)
{
	int status;
	return waitpid(-1, &status, WNOHANG) == 0;
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

TEST(results_come_back_whole)
{
	struct rtc_output out = { .ok = false };
	struct err err = { 0 };
	int first = 0, second = 0;
	assert_false(has_child()); /* none before one is needed */
	if (!go("fine", NULL, &out, &err))
		fail_msg("%s", err.msg);
	assert_true(out.ok);
	assert_string_equal(out.ptx, "fine");
	assert_int_equal(out.ptx_len, 4);
	assert_int_equal(out.cubin_len, 3);
	assert_memory_equal(out.cubin, "a\0b", 3);
	assert_non_null(strstr(out.log, "4 options, first -DTILE=4"));
	assert_int_equal(sscanf(out.log, "pid %d", &first), 1);
	assert_int_not_equal(first, getpid());
	/* the same process serves the next; a source may be long, and may be wrong */
	size_t n = (size_t)3 << 20;
	char *big = malloc(n + 1);
	memset(big, 'x', n);
	big[n] = '\0';
	memcpy(big, "wrong", 5);
	assert_true(go(big, NULL, &out, &err));
	assert_false(out.ok);
	assert_int_equal(out.ptx_len, n);
	assert_null(out.cubin);
	assert_int_equal(sscanf(out.log, "pid %d", &second), 1);
	assert_int_equal(first, second);
	free(big);
	assert_false(go("refuse", NULL, &out, &err));
	assert_int_equal(err.code, ERR_INTERNAL);
	assert_non_null(strstr(err.msg, "fake: invalid option"));
	rtc_free(&out);
}

TEST(a_crash_is_told_and_kept)
{
	struct rtc_output out = { .ok = false };
	struct err err = { 0 };
	char path[1024], text[4096] = "";
	for (int round = 0; round < 2; round++) { /* the second keeps nothing new */
		assert_false(go("int SIGILL;", NULL, &out, &err));
		assert_int_equal(err.code, ERR_COMPILE);
		assert_non_null(strstr(err.msg, "k.cu: the compiler NVRTC 13.9 itself ended (signal 4, "));
		assert_non_null(strstr(err.msg, "last words"));
		assert_non_null(strstr(err.remedy, "report"));
		assert_int_equal(scratch_files(".cu", path, sizeof path), 1);
		assert_non_null(strstr(err.msg, path));
	}
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	assert_true(fread(text, 1, sizeof text - 1, f) > 0);
	fclose(f);
	assert_non_null(strstr(text, "int SIGILL;"));
	assert_non_null(strstr(text, "-DTILE=4 -lineinfo"));
	assert_null(strstr(text, "/nowhere")); /* no paths of this machine */
	assert_true(go("fine", NULL, &out, &err));
	assert_true(out.ok);
	/* without a folder to keep it in, the rest is said all the same */
	setenv("XDG_CACHE_HOME", "/proc/nothing", 1);
	assert_false(go("another SIGILL", NULL, &out, &err));
	assert_non_null(strstr(err.msg, "signal 4"));
	assert_null(strstr(err.msg, "kept in"));
	setenv("XDG_CACHE_HOME", scratch_dir, 1);
	rtc_free(&out);
}

TEST(a_killed_worker_is_replaced)
{
	struct rtc_output out = { .ok = false };
	struct err err = { 0 };
	int pid = 0;
	assert_true(go("fine", NULL, &out, &err));
	assert_int_equal(sscanf(out.log, "pid %d", &pid), 1);
	kill(pid, SIGKILL);
	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	assert_true(go("fine again", NULL, &out, &err));
	assert_string_equal(out.ptx, "fine again");
	rtc_free(&out);
}

TEST(a_hang_ends_at_the_limit)
{
	struct rtc_output out = { .ok = false };
	struct err err = { 0 };
	const double begin = seconds();
	assert_false(go("hang", NULL, &out, &err));
	assert_int_equal(err.code, ERR_TIMEOUT);
	assert_non_null(strstr(err.msg, "not done after 1.5 s"));
	assert_true(seconds() - begin >= LIMIT_S && seconds() - begin < LIMIT_S + 2);
	assert_true(go("fine", NULL, &out, &err));
	rtc_free(&out);
}

static atomic_bool stop;

static void *press(void *arg)
{
	(void)arg;
	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	atomic_store(&stop, true);
	return NULL;
}

TEST(a_cancel_ends_what_hangs_and_waits_for_what_ends_soon)
{
	struct rtc_output out = { .ok = false };
	struct err err = { 0 };
	pthread_t t;
	int before = 0, after = 0;
	assert_true(go("fine", NULL, &out, &err));
	assert_int_equal(sscanf(out.log, "pid %d", &before), 1);
	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&t, NULL, press, NULL), 0);
	assert_true(go("slow", &stop, &out, &err)); /* 50 ms more: worth the cache entry */
	pthread_join(t, NULL);
	assert_int_equal(sscanf(out.log, "pid %d", &after), 1);
	assert_int_equal(before, after);
	atomic_store(&stop, false);
	const double begin = seconds();
	assert_int_equal(pthread_create(&t, NULL, press, NULL), 0);
	assert_false(go("hang", &stop, &out, &err));
	pthread_join(t, NULL);
	assert_int_equal(err.code, ERR_CANCELLED);
	assert_true(seconds() - begin < 1.2);
	rtc_free(&out);
}

static bool is_mapped(const char *library)
{
	char line[4200];
	bool found = false;
	FILE *f = fopen("/proc/self/maps", "re");
	assert_non_null(f);
	while (!found && fgets(line, sizeof line, f))
		found = strstr(line, library) != NULL;
	fclose(f);
	return found;
}

/* NVRTC's cache gives results without the assembler's report, so it is not asked where there is
 * one.
 */
TEST(the_log_of_what_was_compiled_before_is_there)
{
	struct rtc_output out = { .ok = false };
	struct err err = { 0 };
	assert_true(go("cached", NULL, &out, &err));
	assert_non_null(strstr(out.log, "4 options"));
	assert_true(go("older", NULL, &out, &err));
	assert_non_null(strstr(out.log, "3 options"));
	rtc_free(&out);
}

/* What is known of NVRTC outlives it, and who compiles here has it again. */
TEST(the_program_does_not_keep_nvrtc)
{
	const struct compile_request req = {
		.file = "kept.cu", .source = "no stand-in's PTX has a kernel", .cc_major = 9, .cc_minor = 0
	};
	struct rtc_output out = { .ok = false };
	struct compile_info info;
	struct module m;
	struct err err = { 0 };
	assert_true(rtc_load(&err));
	compile_module(&req, &m, &err);
	module_free(&m);
	assert_false(is_mapped("fake_nvrtc"));
	compile_probe(&info);
	assert_true(info.nvrtc);
	assert_string_equal(rtc_name(), "NVRTC 13.9");
	assert_false(is_mapped("fake_nvrtc"));
	assert_true(rtc_compile("k.cu", "fine", options, 3, &out, &err));
	assert_string_equal(out.ptx, "fine");
	assert_true(is_mapped("fake_nvrtc"));
	rtc_free(&out);
	rtc_let_go();
	assert_false(is_mapped("fake_nvrtc"));
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], COMPILE_WORKER_OPTION))
		return compile_worker_main(atoi(argv[2]));
	char path[4096 + 32];
	ssize_t n = readlink("/proc/self/exe", path, 4096);
	path[n > 0 ? n : 0] = '\0';
	snprintf(strrchr(path, '/') + 1, 32, "fake_nvrtc.so");
	setenv("PMPP_NVRTC", path, 1);
	compile_use_worker(LIMIT_S);
	if (!rtc_load(NULL)) /* its name is in the messages */
		return 1;
	return unit_run(scratch_begin, scratch_end);
}
