/*
 * How much memory this process can still get: the least of what the machine, its containers
 * (cgroups, version 1 and 2) and its limits (ulimit -v) leave it.
 */
#ifndef PMPP_BASE_MEMORY_LEFT_H
#define PMPP_BASE_MEMORY_LEFT_H

struct memory_left {
	double bytes;
	const char *whose; /* "available on this machine", "left to this container" ... */
};

struct memory_left memory_left(void);
/* The same with other folders in place of /proc and /sys/fs/cgroup, for tests; no ulimit. */
struct memory_left memory_left_in(const char *proc, const char *cgroup);

#endif
