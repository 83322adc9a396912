/* What a launch did wrong, told to the explorer; see guest_findings.h. */
#define _DEFAULT_SOURCE /* mincore() */
#include "runtime/guest/guest_findings.h"
#include "runtime/guest/guest_freed.h"
#include "runtime/guest/guest_record.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

cudaError_t findings_error(const struct run_findings *findings, const struct err *err)
{
	static const struct {
		const char *kind;
		cudaError_t error;
	} table[] = {
		{ "misaligned", cudaErrorMisalignedAddress },
		{ "assert", cudaErrorAssert },
		{ "trap", cudaErrorLaunchFailure },
		{ "out-of-bounds", cudaErrorIllegalAddress },
		{ "illegal-address", cudaErrorIllegalAddress },
		{ "stack", cudaErrorLaunchFailure },
		{ "illegal-instruction", cudaErrorIllegalInstruction },
	};
	if (err->code == ERR_TIMEOUT)
		return cudaErrorLaunchTimeout;
	if (err->code == ERR_UNSUPPORTED)
		return cudaErrorNotSupported;
	for (unsigned i = findings->n; i--;)
		for (size_t k = 0; k < ARRAY_LEN(table); k++)
			if (!strcmp(findings->finding[i].kind, table[k].kind))
				return table[k].error;
	return cudaErrorLaunchFailure;
}

/* What does no harm in programs that are right: CUB and Thrust read ahead in shared memory, beyond
 * what was written, and drop the value; where they work in place, a block writes what another one
 * has read before it set a flag, without a fence. nvcc leaves registers undefined whose value is
 * dropped. Programs that only measure copy memory that they never filled. */
static bool may_be_harmless(const struct run_finding *f)
{
	const bool library = strstr(f->file, "/cub/") || strstr(f->file, "/thrust/");
	const bool in_place = !strcmp(f->kind, "race") && strstr(f->text, "nothing orders the two");
	return (library && (!strcmp(f->kind, "uninitialised") || in_place)) || f->customary ||
	       f->fresh || !strcmp(f->kind, "undefined");
}

static bool is_unset(const struct run_finding *f)
{
	return !strcmp(f->kind, "uninitialised") && f->shared;
}

static bool any_unset(const struct run_findings *all)
{
	for (unsigned i = 0; i < all->n; i++)
		if (is_unset(&all->finding[i]) && !may_be_harmless(&all->finding[i]))
			return true;
	return false;
}

/* Races, each of which matters only if another order of the warps leaves something else. Lanes of a
 * warp have no other order to try: those are as the races of warps beside them. @other: a launch
 * like it was looked at, and had no such race. */
static bool races_of_order(const struct run_findings *all, bool other)
{
	bool any = false;
	for (unsigned i = 0; i < all->n; i++) {
		const struct run_finding *f = &all->finding[i];
		if (!strcmp(f->kind, "race") && !may_be_harmless(f) && !f->of_order)
			return false;
		any |= f->of_order && (!f->one_warp || other) && !may_be_harmless(f);
	}
	return any && !all->lost;
}

struct agreed findings_look_again(struct second_look *look, const struct run_findings *findings,
                                  const struct launch_print *printed, double took_s, bool other)
{
	const struct agreed a = { any_unset(findings), races_of_order(findings, other) };
	const bool same =
		(a.contents || a.order) && second_look_agrees(look, a.contents, a.order, printed, took_s);
	return same ? a : (struct agreed){ false, false };
}

/* What needs nothing done about it says so. */
static bool drop(const struct run_finding *f, const struct agreed *a, struct record_finding *out)
{
	const bool order = a->order && f->of_order && !strcmp(f->kind, "race");
	if (order)
		snprintf(
			out->remedy, sizeof out->remedy,
			"none is needed here: with its warps in other orders, as from the last to the first, "
			"the launch leaves the same");
	else if (a->contents && is_unset(f))
		snprintf(out->remedy, sizeof out->remedy,
		         "none is needed: with other bytes there the launch leaves the same");
	return out->remedy[0];
}

static void add_place(const struct emu_allocation *a, char *text, size_t n)
{
	char place[800];
	guest_site_place(a->caller, place, sizeof place);
	const size_t used = strlen(text);
	if (place[0])
		snprintf(text + used, n - used, "; allocated at %s", place);
}

/* The program itself has the page, and the GPU does not. */
static bool is_the_hosts(uint64_t address)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	unsigned char in;
	return address && !emu_device_covers(guest.device, address) &&
	       mincore((void *)(uintptr_t)(address / page * page), page, &in) == 0;
}

/* An access that met nothing, but something that was there, or is somebody else's: that is said.
 * False: neither. */
static bool add_what_it_met(const struct run_finding *from, struct record_finding *out)
{
	const struct guest_freed *f = freed_find(from->address);
	const size_t used = strlen(out->text), n = sizeof out->text - used;
	char place[400] = "";
	if (f) {
		record_place(f->caller, place, sizeof place);
		snprintf(out->kind, sizeof out->kind, "use-after-free");
		snprintf(out->text + used, n, "; there were %llu bytes, freed%s%s",
		         (unsigned long long)f->was.bytes, place[0] ? " at " : "", place);
		add_place(&f->was, out->text, sizeof out->text);
		snprintf(out->remedy, sizeof out->remedy, "free it behind the last launch that uses it");
	} else if (is_the_hosts(from->address)) {
		snprintf(out->text + used, n, "; it is memory of the host: of malloc(), new or a variable");
		snprintf(out->remedy, sizeof out->remedy,
		         "copy it to memory of cudaMalloc() and give the kernel that, or allocate it by "
		         "cudaMallocManaged()");
	}
	return strlen(out->text) > used;
}

/* Behind @text: where the memory was allocated that was missed, or read without a value. */
static void add_allocated_at(const struct run_finding *from, char *text, size_t n)
{
	struct emu_allocation a;
	size_t i = 0;
	while (from->allocation && emu_device_allocation(guest.device, i, &a)) {
		if (a.serial == from->allocation && a.caller) {
			add_place(&a, text, n);
			return;
		}
		i++;
	}
}

void findings_tell(const struct run_findings *findings, uint64_t number,
                   const struct agreed *agreed)
{
	for (unsigned i = 0; i < findings->n; i++) {
		const struct run_finding *from = &findings->finding[i];
		struct record_finding f = {
			.launch = number,
			.times = from->times,
			.line = from->line,
		};
		const bool dropped = drop(from, agreed, &f);
		f.error = !dropped && !may_be_harmless(from);
		snprintf(f.kind, sizeof f.kind, "%s", from->kind);
		snprintf(f.text, sizeof f.text, "%s", from->text);
		const bool missed = !strcmp(from->kind, "out-of-bounds");
		if (!dropped)
			snprintf(f.remedy, sizeof f.remedy, "%s", from->remedy);
		if (!(missed && add_what_it_met(from, &f)) &&
		    (missed || !strcmp(from->kind, "uninitialised")))
			add_allocated_at(from, f.text, sizeof f.text);
		snprintf(f.file, sizeof f.file, "%s", from->file);
		record_finding(&f);
	}
}

void findings_tell_unfinished(uint64_t number)
{
	struct record_finding f = { .launch = number, .times = 1 };
	snprintf(f.kind, sizeof f.kind, "unfinished");
	snprintf(f.text, sizeof f.text, "the program ended while this launch still waited for it");
	snprintf(f.remedy, sizeof f.remedy, "tell the kernel to end, and wait for it");
	record_finding(&f);
}

void findings_tell_failure(const struct run_findings *findings, const struct err *err,
                           uint64_t number)
{
	if (findings->n && err->code != ERR_TIMEOUT)
		return; /* they say it better */
	struct record_finding f = { .launch = number, .times = 1, .error = true };
	snprintf(f.kind, sizeof f.kind, "%s",
	         err->code == ERR_TIMEOUT       ? "timeout"
	         : err->code == ERR_UNSUPPORTED ? "unsupported"
	                                        : "failed");
	snprintf(f.text, sizeof f.text, "%.1023s", err->msg);
	snprintf(f.remedy, sizeof f.remedy, "%.511s", err->remedy);
	record_finding(&f);
}
