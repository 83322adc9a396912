/* The library's begin and end: InitializeInjection() is what the driver calls in cuInit(). */
#define _GNU_SOURCE /* on_exit() */
#include "runtime/inject/inject.h"

#include "base/monotonic.h"
#include "cuda/cupti_host.h"
#include "runtime/record_program.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double began_s;

int InitializeInjection(void);

static void say_end(int status)
{
	activity_flush(true);
	struct wire_msg m;
	const struct record_end end = { .status = status, .host_ns = (clock_now_s() - began_s) * 1e9 };
	record_put_end(&m, &end);
	send_frame(&m);
}

static void at_end(int status, void *unused)
{
	(void)unused;
	if (!send_is_open())
		return;
	count_end();
	say_end(status);
}

static void at_signal(void)
{
	say_end(-1);
}

/* When the program's clock begins, as CUPTI's stamps have it. */
static void tell_begin(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	const uint64_t ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	const struct record_seen s = { .kind = RECORD_SEEN_BEGIN, .start_ns = ns, .end_ns = ns };
	send_seen(&s, 1);
}

static void begin_counters(void)
{
	struct cuda_fault why = { 0 };
	if (!count_start(&why))
		send_refusal(RECORD_REFUSED_COUNTERS, &why);
	on_exit(at_end, NULL);
	thread_start(at_signal);
}

static void start(void)
{
	struct cuda_fault why = { 0 };
	if (!send_open(&inject.config, &inject.gpu))
		return;
	program_end_with_explorer();
	began_s = clock_now_s();
	tell_begin();
	if (!dl_cupti(&inject.cupti, NULL, 0, &why) || !activity_start(&why))
		send_refusal(RECORD_REFUSED_ALL, &why);
	else
		begin_counters();
}

/* Returns 1: the driver takes anything else for a failure of its own start. */
int InitializeInjection(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, start);
	return 1;
}
