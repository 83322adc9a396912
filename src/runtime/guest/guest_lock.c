/* See guest_lock.h. */
#include "runtime/guest/guest_lock.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static struct {
	pthread_mutex_t inner;
	pthread_cond_t changed;
	pthread_t owner;
	unsigned depth, wanting; /* 0 = it is free; threads that want it */
	uint64_t turns;          /* it was taken so often */
	uint64_t signals;
} lock = { .inner = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static bool is_mine(void)
{
	return lock.depth && pthread_equal(lock.owner, pthread_self());
}

static void take(unsigned depth)
{
	lock.wanting++;
	while (lock.depth)
		pthread_cond_wait(&lock.changed, &lock.inner);
	lock.wanting--;
	lock.turns++;
	lock.owner = pthread_self();
	lock.depth = depth;
}

static void set_free(void)
{
	lock.depth = 0;
	if (lock.wanting)
		pthread_cond_broadcast(&lock.changed);
}

void guest_lock(void)
{
	pthread_mutex_lock(&lock.inner);
	if (is_mine())
		lock.depth++;
	else
		take(1);
	pthread_mutex_unlock(&lock.inner);
}

void guest_unlock(void)
{
	pthread_mutex_lock(&lock.inner);
	if (--lock.depth == 0)
		set_free();
	pthread_mutex_unlock(&lock.inner);
}

unsigned guest_lock_depth(void)
{
	return lock.depth;
}

void guest_lock_hand(pthread_t to, unsigned depth)
{
	pthread_mutex_lock(&lock.inner);
	lock.owner = to;
	lock.depth = depth;
	pthread_cond_broadcast(&lock.changed);
	pthread_mutex_unlock(&lock.inner);
}

void guest_lock_await(void)
{
	pthread_mutex_lock(&lock.inner);
	while (!is_mine())
		pthread_cond_wait(&lock.changed, &lock.inner);
	pthread_mutex_unlock(&lock.inner);
}

void guest_lock_wait(double seconds)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	const double at = (double)until.tv_nsec + seconds * 1e9;
	until.tv_sec += (time_t)floor(at / 1e9);
	until.tv_nsec = (long)fmod(at, 1e9);
	pthread_mutex_lock(&lock.inner);
	const unsigned depth = lock.depth;
	const uint64_t seen = lock.signals;
	set_free();
	int e = 0;
	while (lock.signals == seen && e == 0)
		e = pthread_cond_timedwait(&lock.changed, &lock.inner, &until);
	take(depth);
	pthread_mutex_unlock(&lock.inner);
}

void guest_lock_signal(void)
{
	pthread_mutex_lock(&lock.inner);
	lock.signals++;
	pthread_cond_broadcast(&lock.changed);
	pthread_mutex_unlock(&lock.inner);
}

void guest_lock_breathe(void)
{
	pthread_mutex_lock(&lock.inner);
	if (lock.wanting) {
		const unsigned depth = lock.depth;
		const uint64_t last = lock.turns + lock.wanting++;
		set_free();
		while (lock.turns < last && lock.wanting > 1)
			pthread_cond_wait(&lock.changed, &lock.inner);
		lock.wanting--;
		take(depth);
	}
	pthread_mutex_unlock(&lock.inner);
}
