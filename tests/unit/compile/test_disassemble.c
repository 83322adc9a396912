/*
 * nvdisasm, with stand-ins that print a listing, garbage or nothing, fail, crash and hang: what it
 * printed is kept for the next time, failure says what to do, and nothing wrong is kept.
 */
#include "scratch.h"

#include "compile/disassemble.h"

#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static unsigned serial;

/* Makes @body the disassembler, for a cubin never seen before. */
static void stand_in(const char *body, char cubin[32])
{
	char path[600];
	snprintf(path, sizeof path, "%s/nvdisasm-%u", scratch_dir, serial);
	FILE *f = fopen(path, "w");
	fprintf(f, "#!/bin/sh\n%s\n", body);
	fclose(f);
	assert_int_equal(chmod(path, 0700), 0);
	assert_int_equal(setenv("PMPP_NVDISASM", path, 1), 0);
	snprintf(cubin, 32, "cubin %u", serial++);
}

static bool ask(const char *cubin, const atomic_bool *cancel, struct text *out, struct err *err)
{
	*out = (struct text){ 0 };
	err_clear(err);
	return disassemble(cubin, strlen(cubin), cancel, out, err);
}

#define VERSION "[ \"$1\" != --version ] || { echo 'release 9.8, V9.8.7'; exit; }\n"
#define LISTING                                                                   \
	"printf '\\t.section\\t.nv.info\\n .word 0\\n\\t.section\\t.text.k,\"ax\"\\n" \
	"   // +----+\\n // | GPR   |\\nk:   // |  1  |\\n"                           \
	"        /*0000*/       @P0   EXIT ;   // |  1  |\\n'\n"

TEST(listing_is_kept_without_padding)
{
	char cubin[32];
	struct text first, again;
	struct err err;
	stand_in(VERSION LISTING, cubin);
	if (!ask(cubin, NULL, &first, &err))
		fail_msg("%s", err.msg);
	assert_string_equal(first.s, "// nvdisasm 9.8.7\n.section .text.k,\"ax\"\n//|GPR|\n"
	                             "k://|1|\n/*0000*/@P0 EXIT;//|1|\n");
	/* now without a disassembler */
	setenv("PMPP_NVDISASM", "/nowhere/nvdisasm", 1);
	assert_true(ask(cubin, NULL, &again, &err));
	assert_string_equal(first.s, again.s);
	text_free(&first);
	text_free(&again);
}

TEST(the_cubin_is_what_it_reads)
{
	char cubin[32];
	struct text out;
	struct err err;
	stand_in(VERSION
	         "for f; do :; done\nprintf '.section .text.k\\n/*0000*/ %s ;\\n' \"$(cat $f)\"",
	         cubin);
	assert_true(ask(cubin, NULL, &out, &err));
	assert_non_null(strstr(out.s, cubin));
	text_free(&out);
}

/* The analysis behind -plr fails for some code; then there is a listing without live registers. */
TEST(plain_run_follows)
{
	char cubin[32];
	struct text out;
	struct err err;
	stand_in(VERSION "case \"$*\" in *-plr*) echo 'cannot analyse' >&2; exit 1 ;; esac\n" LISTING,
	         cubin);
	assert_true(ask(cubin, NULL, &out, &err));
	text_free(&out);
}

TEST(failures_are_named)
{
	static const struct unit_case cases[] = {
		{ "echo 'nvdisasm fatal : not for sm_999' >&2; exit 255", "not for sm_999" },
		{ "kill -SEGV $$", "signal 11" },
		{ "echo garbage; head -c 5000 /dev/urandom", "no disassembly" },
		{ "exit 0", "no disassembly" },
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char cubin[32];
		struct text out;
		struct err err;
		stand_in(cases[i].given, cubin);
		assert_false(ask(cubin, NULL, &out, &err));
		assert_int_equal(err.code, ERR_UNAVAILABLE);
		if (!strstr(err.msg, cases[i].want))
			fail_msg("%s: %s", cases[i].given, err.msg);
		text_free(&out);
		/* and nothing of it was kept */
		char path[600];
		snprintf(path, sizeof path, "%s", getenv("PMPP_NVDISASM"));
		FILE *f = fopen(path, "w");
		fputs("#!/bin/sh\n" VERSION LISTING, f);
		fclose(f);
		assert_true(ask(cubin, NULL, &out, &err));
		text_free(&out);
	}
}

static void *cancel_soon(void *flag)
{
	nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	atomic_store((atomic_bool *)flag, true);
	return NULL;
}

TEST(hanging_is_cancelled)
{
	char cubin[32];
	struct text out;
	struct err err;
	atomic_bool cancel = false;
	pthread_t thread;
	stand_in("sleep 1000", cubin);
	pthread_create(&thread, NULL, cancel_soon, &cancel);
	assert_false(ask(cubin, &cancel, &out, &err));
	pthread_join(thread, NULL);
	assert_int_equal(err.code, ERR_CANCELLED);
	text_free(&out);
}

TEST(absence_has_a_remedy)
{
	struct text out;
	struct err err;
	setenv("PMPP_NVDISASM", "/nowhere/nvdisasm", 1);
	assert_false(ask("another", NULL, &out, &err));
	assert_int_equal(err.code, ERR_UNAVAILABLE);
	assert_non_null(strstr(err.msg, "/nowhere/nvdisasm"));
	assert_true(err.remedy[0]);
	text_free(&out);
}

int main(void)
{
	return unit_run(scratch_begin, scratch_end);
}
