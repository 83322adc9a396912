/* A run's fidelity in words; see fidelity.h. */
#include "model/fidelity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void add(char *out, size_t n, const char *words)
{
	const size_t len = strlen(out);
	snprintf(out + len, n - len, "%s", words);
}

const char *run_fidelity_text(const struct run_fidelity *f, char *out, size_t n)
{
	const uint64_t all = f->exact + f->approximate + f->skipped;
	char part[512];
	out[0] = '\0';
	if (!f->known)
		return out;
	if (f->exact == all) {
		snprintf(out, n, "exact as on a card: all %" PRIu64 " warp instructions", all);
		return out;
	}
	snprintf(out, n, "exact as on a card: %" PRIu64 " of %" PRIu64 " warp instructions", f->exact,
	         all);
	if (f->approximate) {
		snprintf(part, sizeof part, "; nearest value, a card's may differ: %" PRIu64 ", %s",
		         f->approximate, f->functions);
		add(out, n, part);
	}
	if (f->skipped) {
		snprintf(part, sizeof part, "; hints, without effect: %" PRIu64 ", %s", f->skipped,
		         f->hints);
		add(out, n, part);
	}
	if (!f->approximate)
		return out;
	if (!f->reaches)
		snprintf(part, sizeof part, "; no approximate value reaches a branch or an address");
	else if (f->line)
		snprintf(part, sizeof part,
		         "; an approximate value may reach a branch or an address (line %" PRIu32 ")",
		         f->line);
	else
		snprintf(part, sizeof part, "; an approximate value may reach a branch or an address");
	add(out, n, part);
	return out;
}
