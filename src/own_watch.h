/*
 * Notices that a file changed on disk: one thread that looks a few times a second. It tells once the file has
 * stood still for a moment, so that a half-written one is not read. Knows no session.
 */
#ifndef PMPP_OWN_WATCH_H
#define PMPP_OWN_WATCH_H

#include <stdbool.h>

struct own_watch;
/* @tell is called on the watching thread. NULL: no thread to be had; the key r still works. */
struct own_watch *own_watch_new(const char *path, void (*tell)(void *ctx), void *ctx);
void own_watch_free(struct own_watch *w); /* NULL is fine */
/* The file changed since the last call. */
bool own_watch_changed(struct own_watch *w);

#endif
