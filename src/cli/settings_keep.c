/* See settings_keep.h. */
#include "cli/settings_keep.h"

#include "cli/settings_file.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* something is due, or the thread's end */
	pthread_t thread;
	bool started, due, end;
	struct settings was, is;
	struct err err; /* of the last write */
} k = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void write_now(const struct settings *was, const struct settings *is, struct err *err)
{
	char path[300];
	*err = (struct err){ 0 };
	char *old = settings_file_read(path, sizeof path, err);
	/* what cannot be read is not written over */
	char *text = old ? settings_write(old, was, is) : NULL;
	if (text && strcmp(text, old) != 0)
		settings_file_write(text, err);
	free(old);
	free(text);
}

static void *work(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&k.lock);
	while (k.due || !k.end) {
		if (!k.due) {
			pthread_cond_wait(&k.changed, &k.lock);
			continue;
		}
		const struct settings was = k.was, is = k.is;
		struct err err;
		k.due = false;
		pthread_mutex_unlock(&k.lock);
		write_now(&was, &is, &err);
		pthread_mutex_lock(&k.lock);
		k.err = err;
	}
	pthread_mutex_unlock(&k.lock);
	return NULL;
}

void settings_keep(const struct settings *was, const struct settings *is)
{
	pthread_mutex_lock(&k.lock);
	if (!k.due) /* else what was due is written with this */
		k.was = *was;
	k.is = *is;
	k.due = true;
	k.started = k.started || !pthread_create(&k.thread, NULL, work, NULL);
	if (!k.started) {
		write_now(&k.was, &k.is, &k.err);
		k.due = false;
	}
	pthread_cond_signal(&k.changed);
	pthread_mutex_unlock(&k.lock);
}

bool settings_keep_end(struct err *err)
{
	if (k.started) {
		pthread_mutex_lock(&k.lock);
		k.end = true;
		pthread_cond_signal(&k.changed);
		pthread_mutex_unlock(&k.lock);
		pthread_join(k.thread, NULL);
	}
	k.started = k.end = false;
	*err = k.err;
	return k.err.code == ERR_NONE;
}
