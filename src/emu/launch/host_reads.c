#define _GNU_SOURCE /* MADV_DONTDUMP, MADV_COLD */
/* See host_reads.h. Marks are shown by mapping; memory with a flag of its own is one. */
#include "emu/launch/host_reads.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((uintptr_t)4096)

bool host_reads_begin(const struct host_range *range, unsigned n)
{
#ifdef MADV_DONTDUMP
	for (unsigned i = 0; i < n; i++) {
		const uintptr_t from = (uintptr_t)range[i].at / PAGE * PAGE;
		const uintptr_t end = (uintptr_t)range[i].at + range[i].bytes;
		const size_t bytes = (end - from + PAGE - 1) / PAGE * PAGE;
		if (madvise((void *)from, bytes, MADV_DONTDUMP) != 0)
			return false;
#ifdef MADV_COLD
		/* Clearing marks leaves translations in the processor, by which a page is read again
		 * without a mark. This drops them; where it cannot, some reads are not seen. */
		(void)madvise((void *)from, bytes, MADV_COLD);
#endif
	}
	const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	const bool cleared = write(fd, "1", 1) == 1;
	close(fd);
	return cleared;
#else
	(void)range, (void)n;
	return false;
#endif
}

bool host_reads_since(struct host_range *range, unsigned n)
{
	char line[512];
	unsigned at = n; /* the range that the mapping is of; n = none */
	bool any = false;
	for (unsigned i = 0; i < n; i++)
		range[i].touched = 0;
	FILE *f = fopen("/proc/self/smaps", "re");
	while (f && fgets(line, sizeof line, f)) {
		static const char referenced[] = "Referenced:";
		char *rest;
		const unsigned long long from = strtoull(line, &rest, 16);
		if (rest > line && *rest == '-') {
			const unsigned long long end = strtoull(rest + 1, NULL, 16);
			for (at = 0; at < n; at++)
				if ((uintptr_t)range[at].at >= from && (uintptr_t)range[at].at < end)
					break;
		}
		if (at < n && !strncmp(line, referenced, sizeof referenced - 1)) {
			range[at].touched = strtoull(line + sizeof referenced - 1, NULL, 10) << 10;
			any = true;
		}
	}
	if (f)
		fclose(f);
	return any;
}
