#define _GNU_SOURCE /* SA_ONSTACK */
/*
 * A program that a signal ends: what CUPTI still holds goes to the explorer first. A thread of ours
 * does that, because the one that was struck may hold any lock; the handler waits a moment for it.
 * Signals that the program takes itself are left to it.
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

#define WAIT_MS 1000

static sem_t struck;
static atomic_bool done;
static void (*last_word)(void);

static void *wait_for_signal(void *unused)
{
	(void)unused;
	while (sem_wait(&struck) && errno == EINTR)
		;
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

void crash_watch(void (*tell)(void))
{
	static const int numbers[] = { SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTERM, SIGINT };
	sigset_t all, before;
	pthread_t thread;
	last_word = tell;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	const bool ready = !sem_init(&struck, 0, 0) &&
	                   !pthread_create(&thread, NULL, wait_for_signal, NULL) &&
	                   !pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	for (size_t i = 0; ready && i < ARRAY_LEN(numbers); i++) {
		struct sigaction now;
		const struct sigaction ours = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
		if (!sigaction(numbers[i], NULL, &now) && now.sa_handler == SIG_DFL)
			sigaction(numbers[i], &ours, NULL);
	}
}
