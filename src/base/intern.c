/* Interned strings: an open hash of chains under one lock; see intern.h. */
#include "base/intern.h"

#include "base/mem.h"
#include "base/text.h"

#include <pthread.h>
#include <string.h>

#define BUCKETS 256

struct entry {
	struct entry *next;
	char s[];
};

const char *intern(const char *s)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct entry *table[BUCKETS];
	if (!s)
		return NULL;
	const size_t n = strlen(s);
	struct entry **bucket = &table[hash_bytes(HASH_SEED, s, n) % BUCKETS];
	pthread_mutex_lock(&lock);
	struct entry *e = *bucket;
	while (e && strcmp(e->s, s) != 0)
		e = e->next;
	if (!e) {
		e = mem_alloc(sizeof *e + n + 1);
		memcpy(e->s, s, n + 1);
		e->next = *bucket;
		*bucket = e;
	}
	pthread_mutex_unlock(&lock);
	return e->s;
}
