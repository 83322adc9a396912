/* Threads are had for launches that last: small ones end before another one would have begun. And
 * they wait for one another no more often than the caches need it. */
#include "emu_fixture.h"

#include <dlfcn.h>
#include <pthread.h>

static unsigned begun, calls;

/* In place of the system's: counts those that the emulator begins. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	assert_non_null(real);
	begun++;
	return real(thread, attr, run, arg);
}

/* The same: how often all threads are called. */
int pthread_cond_broadcast(pthread_cond_t *cond)
{
	int (*real)(pthread_cond_t *);
	*(void **)&real = dlsym(RTLD_NEXT, "pthread_cond_broadcast");
	assert_non_null(real);
	calls++;
	return real(cond);
}

/* Every thread of @blocks blocks of 8 warps counts to @n and writes it. */
static void blocks_count_to(unsigned blocks, unsigned n, struct emu_case *c)
{
	c->ptx = mem_printf(PTX_HEAD ".visible .entry k(.param .u64 p)\n{\n"
	                             ".reg .pred %%p<2>; .reg .b64 %%d<4>; .reg .b32 %%r<6>;\n"
	                             "ld.param.u64 %%d0, [p]; mov.u32 %%r1, %%ctaid.x;\n"
	                             "mul.wide.u32 %%d1, %%r1, 4; add.s64 %%d2, %%d0, %%d1;\n"
	                             "mov.u32 %%r2, 0;\n"
	                             "$L: add.u32 %%r2, %%r2, 1; setp.lt.u32 %%p1, %%r2, %u;\n"
	                             "@%%p1 bra $L;\nst.global.u32 [%%d2], %%r2;\nret;\n}\n",
	                    n);
	emu_buffer(c, "out", ELEM_U32, BUF_INOUT, blocks);
	emu_launch(c, "k", (struct dim3u){ blocks, 1, 1 }, (struct dim3u){ 256, 1, 1 });
	begun = calls = 0;
	const struct emu_way two = { "2 threads", "", false, 2 };
	if (!emu_run_way(c, &two))
		fail_msg("%s", c->err.msg);
	for (unsigned i = 0; i < blocks; i++)
		assert_int_equal(((uint32_t *)c->buffers[0].data)[i], n);
}

static void count_to(unsigned n, struct emu_case *c)
{
	blocks_count_to(40, n, c);
}

TEST(a_launch_that_lasts_has_another_thread)
{
	struct emu_case c = { 0 };
	count_to(20000, &c);
	assert_int_equal(begun, 1);
	emu_case_free(&c);
}

/* The host may be busy for a while just then: of some that take microseconds most are alone. */
TEST(a_small_launch_is_alone)
{
	unsigned alone = 0;
	for (unsigned turn = 0; turn < 15; turn++) {
		struct emu_case c = { 0 };
		count_to(2, &c);
		alone += begun == 0;
		emu_case_free(&c);
	}
	assert_in_range(alone, 8, 15);
}

TEST(an_uncounted_launch_does_not_stop_between_waves)
{
	for (unsigned uncounted = 0; uncounted < 2; uncounted++) {
		struct emu_case c = { 0 };
		if (uncounted)
			setenv("PMPP_EMU_UNCOUNTED", "1", 1);
		blocks_count_to(30000, 20, &c);
		unsetenv("PMPP_EMU_UNCOUNTED");
		if (uncounted)
			assert_in_range(calls, 0, 4);
		else
			assert_in_range(calls, 20, 1000);
		emu_case_free(&c);
	}
}
