/* Memory that is left; see memory_left.h. What cannot be read limits nothing. */
#include "base/memory_left.h"

#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define PATH_BYTES 4352

/* The number behind @key in the file, at the start of a line; -1: there is none, as in "max". */
static double figure(const char *folder, const char *file, const char *key)
{
	char path[PATH_BYTES + 64], line[256], *end;
	double value = -1;
	snprintf(path, sizeof path, "%s/%s", folder, file);
	FILE *f = fopen(path, "re");
	while (f && value < 0 && fgets(line, sizeof line, f)) {
		const size_t n = strlen(key);
		if (strncmp(line, key, n) != 0)
			continue;
		value = strtod(line + n, &end);
		if (end == line + n)
			value = -1;
	}
	if (f)
		fclose(f);
	return value;
}

static void at_most(struct memory_left *m, double bytes, const char *whose)
{
	if (bytes < m->bytes)
		*m = (struct memory_left){ bytes > 0 ? bytes : 0, whose };
}

/* The files of a cgroup; version 1 has a hierarchy of its own for memory. */
struct hierarchy {
	const char *folder, *max, *used, *cache;
	bool memory_alone;
};
static const struct hierarchy hierarchies[] = {
	{ "", "memory.max", "memory.current", "inactive_file ", false },
	{ "/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ", true },
};

/* Is @line, "4:cpu,memory:/job", of @h? That of version 2 names no controllers: "0::/job". */
static bool is_of(const struct hierarchy *h, const char *line, size_t to_path)
{
	const size_t to_list = strcspn(line, ":") + 1;
	if (!h->memory_alone)
		return to_list == to_path;
	for (const char *at = line + to_list; at < line + to_path; at += strcspn(at, ",:") + 1)
		if (strcspn(at, ",:") == strlen("memory") && !strncmp(at, "memory", strlen("memory")))
			return true;
	return false;
}

/* The process's path in it; "/" where none is said. */
static void own_path(const struct hierarchy *h, const char *proc, char *own, size_t n)
{
	char path[PATH_BYTES], line[4096];
	snprintf(own, n, "/");
	snprintf(path, sizeof path, "%s/self/cgroup", proc);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f)) {
		const char *at = strstr(line, ":/");
		if (at && is_of(h, line, (size_t)(at - line)))
			snprintf(own, n, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
	}
	if (f)
		fclose(f);
}

/* The cgroup and every one around it; what the page cache holds of it is given back on demand. */
static void ask_cgroups(struct memory_left *m, const char *proc, const char *cgroup,
                        const struct hierarchy *h)
{
	char path[PATH_BYTES + 32], own[4096];
	own_path(h, proc, own, sizeof own);
	for (char *slash = own + strlen(own); slash; slash = strrchr(own, '/')) {
		*slash = '\0';
		snprintf(path, sizeof path, "%s%s%s", cgroup, h->folder, own);
		const double max = figure(path, h->max, "");
		const double used = figure(path, h->used, "");
		const double cache = figure(path, "memory.stat", h->cache);
		if (max >= 0 && used >= 0)
			at_most(m, max - used + (cache > 0 ? cache : 0), "left to this container (cgroup)");
	}
}

static void ask_limits(struct memory_left *m)
{
	struct rlimit limit;
	const double pages = figure("/proc/self", "statm", "");
	if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY && pages >= 0)
		at_most(m, (double)limit.rlim_cur - pages * (double)sysconf(_SC_PAGESIZE),
		        "left of the limit on this process (ulimit -v)");
}

struct memory_left memory_left_in(const char *proc, const char *cgroup)
{
	struct memory_left m = { 1e18, "to be had" };
	const double available = figure(proc, "meminfo", "MemAvailable:");
	if (available >= 0)
		at_most(&m, available * 1024, "available on this machine");
	for (size_t i = 0; i < ARRAY_LEN(hierarchies); i++)
		ask_cgroups(&m, proc, cgroup, &hierarchies[i]);
	return m;
}

struct memory_left memory_left(void)
{
	struct memory_left m = memory_left_in("/proc", "/sys/fs/cgroup");
	ask_limits(&m);
	return m;
}
