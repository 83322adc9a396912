/*
 * Notices that a file changed on disk: one thread that looks a few times a second. It tells once
 * the file has stood still for a moment, so that a half-written one is not read. Knows no session.
 */
#ifndef PMPP_USERKERNEL_USER_WATCH_H
#define PMPP_USERKERNEL_USER_WATCH_H

#include <stdbool.h>

struct user_watch;
/* @tell is called on the watching thread. NULL: no thread to be had; the key r still works. */
struct user_watch *user_watch_new(const char *path, void (*tell)(void *ctx), void *ctx);
void user_watch_free(struct user_watch *w); /* NULL is fine */
/* The file changed since the last call. */
bool user_watch_changed(struct user_watch *w);

#endif
