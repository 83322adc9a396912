/* Places in the program that called us: the call, and what called the functions that hold it, since
 * cudaMalloc() of a typed pointer is called by a template of NVIDIA's header, and cudaMallocHost()
 * by two. */
#include "runtime/guest/guest.h"
#include "runtime/guest/guest_record.h"

#include <execinfo.h>
#include <stdio.h>
#include <string.h>

#define MAX_SITES 1024
#define MAX_FRAMES 12

#define DEPTH 3

static struct site {
	const void *caller[DEPTH]; /* the innermost first; NULL behind the outermost */
} sites[MAX_SITES];
static unsigned n_sites;

static struct site site_of(const void *caller)
{
	void *frame[MAX_FRAMES];
	struct site s = { { caller } };
	const int n = backtrace(frame, MAX_FRAMES);
	int i = 0;
	while (i < n && frame[i] != caller)
		i++;
	for (int k = 1; k < DEPTH && i + k < n; k++)
		s.caller[k] = frame[i + k];
	return s;
}

const void *guest_site(const void *caller)
{
	const struct site s = site_of(caller);
	for (unsigned i = 0; i < n_sites; i++)
		if (!memcmp(&sites[i], &s, sizeof s))
			return &sites[i];
	if (n_sites == MAX_SITES)
		return caller;
	sites[n_sites] = s;
	return &sites[n_sites++];
}

void guest_site_place(const void *site, char *text, size_t n)
{
	const struct site *s = site;
	if (s < sites || s >= sites + MAX_SITES) {
		record_place(site, text, n);
		return;
	}
	record_place(s->caller[0], text, n);
	const size_t file = strcspn(text, "+");
	for (unsigned k = 1; k < DEPTH; k++) {
		char outer[400];
		record_place(s->caller[k], outer, sizeof outer);
		if (strncmp(text, outer, file + 1))
			break; /* what called main() */
		const size_t used = strlen(text);
		snprintf(text + used, n - used, " from %s", outer);
	}
}
