#define _GNU_SOURCE /* SA_ONSTACK */
/*
 * The library's own thread in the program. Now and then it brings what CUPTI holds to the explorer,
 * so that a program which is killed has told of all but the last moments (CUPTI's own flush period
 * leaves buffers that are not full). When a signal ends the program it does so a last time: the
 * thread that was struck may hold any lock, so its handler waits a moment for this one. Signals
 * that the program takes itself are left to it.
 */
#include "runtime/inject/inject.h"

#include "base/text.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define FLUSH_NS 50000000L
#define WAIT_MS 1000

static sem_t struck;
static atomic_bool done;
static void (*last_word)(void);

static void *thread_main(void *unused)
{
	(void)unused;
	for (;;) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += FLUSH_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (!sem_timedwait(&struck, &until))
			break;
		if (errno == ETIMEDOUT && send_is_open())
			activity_flush(false);
	}
	last_word();
	atomic_store(&done, true);
	return NULL;
}

static void on_signal(int number)
{
	const int before = errno;
	if (send_is_open()) {
		sem_post(&struck);
		for (unsigned ms = 0; ms < WAIT_MS && !atomic_load(&done); ms++)
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	signal(number, SIG_DFL);
	raise(number); /* is taken when we return */
	errno = before;
}

void thread_start(void (*tell)(void))
{
	static const int numbers[] = { SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTERM, SIGINT };
	sigset_t all, before;
	pthread_t thread;
	last_word = tell;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	const bool ready = !sem_init(&struck, 0, 0) &&
	                   !pthread_create(&thread, NULL, thread_main, NULL) && !pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	for (size_t i = 0; ready && i < ARRAY_LEN(numbers); i++) {
		struct sigaction now;
		const struct sigaction ours = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
		if (!sigaction(numbers[i], NULL, &now) && now.sa_handler == SIG_DFL)
			sigaction(numbers[i], &ours, NULL);
	}
}
