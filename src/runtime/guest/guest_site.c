/* Places in the program that called us: the call, and what called the function that holds it, since
 * cudaMalloc() of a typed pointer is called by a template of NVIDIA's header. */
#include "runtime/guest/guest.h"
#include "runtime/guest/guest_record.h"

#include <execinfo.h>
#include <stdio.h>
#include <string.h>

#define MAX_SITES 1024
#define MAX_FRAMES 12

static struct site {
	const void *caller, *outer;
} sites[MAX_SITES];
static unsigned n_sites;

static const void *caller_of(const void *caller)
{
	void *frame[MAX_FRAMES];
	const int n = backtrace(frame, MAX_FRAMES);
	for (int i = 0; i + 1 < n; i++)
		if (frame[i] == caller)
			return frame[i + 1];
	return NULL;
}

const void *guest_site(const void *caller)
{
	const struct site s = { caller, caller_of(caller) };
	for (unsigned i = 0; i < n_sites; i++)
		if (sites[i].caller == s.caller && sites[i].outer == s.outer)
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
	char outer[400];
	record_place(s->caller, text, n);
	record_place(s->outer, outer, sizeof outer);
	const size_t used = strlen(text), file = strcspn(text, "+");
	if (!strncmp(text, outer, file + 1)) /* else what called main() */
		snprintf(text + used, n - used, " from %s", outer);
}
