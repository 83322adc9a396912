/* Looks at one file; see user_watch.h. By polling: it works on every file system, and a look costs
 * nothing. */
#include "userkernel/user_watch.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define LOOK_NS 150000000L

struct user_watch {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t end;
	bool ending;
	atomic_bool changed;
	char *path;
	void (*tell)(void *ctx);
	void *ctx;
};

/* What changes when a file is written or replaced. */
struct look {
	bool there;
	struct timespec when;
	off_t size;
	ino_t inode;
};

static struct look look_at(const char *path)
{
	struct stat st;
	struct look l = { .there = false };
	if (stat(path, &st) == 0)
		l = (struct look){ true, st.st_mtim, st.st_size, st.st_ino };
	return l;
}

static bool same_look(const struct look *a, const struct look *b)
{
	return a->there == b->there && a->when.tv_sec == b->when.tv_sec &&
	       a->when.tv_nsec == b->when.tv_nsec && a->size == b->size && a->inode == b->inode;
}

/* Sleeps until the next look; false = it is over. */
static bool rest_until_look(struct user_watch *w)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += LOOK_NS;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_nsec -= 1000000000L;
		until.tv_sec++;
	}
	pthread_mutex_lock(&w->lock);
	int timed_out = 0;
	while (!w->ending && !timed_out)
		timed_out = pthread_cond_timedwait(&w->end, &w->lock, &until);
	const bool go_on = !w->ending;
	pthread_mutex_unlock(&w->lock);
	return go_on;
}

static void *watch_main(void *ctx)
{
	struct user_watch *w = ctx;
	struct look told = look_at(w->path), last = told;
	while (rest_until_look(w)) {
		const struct look now = look_at(w->path);
		if (now.there && same_look(&now, &last) && !same_look(&now, &told)) {
			told = now;
			atomic_store(&w->changed, true);
			w->tell(w->ctx);
		}
		last = now;
	}
	return NULL;
}

struct user_watch *user_watch_new(const char *path, void (*tell)(void *ctx), void *ctx)
{
	struct user_watch *w = mem_zalloc(sizeof *w);
	w->path = mem_strdup(path);
	w->tell = tell;
	w->ctx = ctx;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->end, NULL);
	if (pthread_create(&w->thread, NULL, watch_main, w) == 0)
		return w;
	pthread_cond_destroy(&w->end);
	pthread_mutex_destroy(&w->lock);
	free(w->path);
	free(w);
	return NULL;
}

void user_watch_free(struct user_watch *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->ending = true;
	pthread_cond_signal(&w->end);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->end);
	pthread_mutex_destroy(&w->lock);
	free(w->path);
	free(w);
}

bool user_watch_changed(struct user_watch *w)
{
	return atomic_exchange(&w->changed, false);
}
