/* See guest_early.h. */
#include "runtime/guest/guest_early.h"
#include "runtime/guest/guest_clock.h"
#include "runtime/guest/guest_fault.h"
#include "runtime/guest/guest_record.h"
#include "runtime/guest/guest_wait.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_WATCHED 64
#define MAX_TOLD 8 /* then the program has heard it */
#define MOST_BYTES ((uint64_t)1 << 30)

struct watched {
	struct emu_allocation memory;
	uint64_t address, bytes; /* of it: what the launch or the copy may touch */
	uint64_t from, end;      /* whole pages, which hold nothing else */
	uint64_t number;         /* of the launch or the copy */
	bool copy;
	double until_ns; /* on the GPU's clock: it has ended */
	bool written;    /* else only read */
	bool shut;
};
static struct watched watched[MAX_WATCHED];
static unsigned n_watched;

struct touch {
	struct watched at;
	struct fault fault;
};
static struct touch touches[MAX_TOLD];
static volatile unsigned n_touches, n_told;

static bool ended;
static unsigned open_depth;

static void protect(struct watched *w, int how)
{
	mprotect((void *)(uintptr_t)w->from, w->end - w->from, how);
	w->shut = how != (PROT_READ | PROT_WRITE);
}

/* Managed and pinned allocations have pages of their own: their first and last one may be closed
 * where all of it is touched. Of other memory, and of a part, only those that lie within. */
static void find_pages(struct watched *w)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const bool own = w->memory.kind != EMU_MEMORY_REGISTERED;
	const uint64_t end = w->address + w->bytes;
	const bool first = own && w->address == w->memory.address;
	const bool last = own && end == w->memory.address + w->memory.bytes;
	w->from = (w->address + (first ? 0 : page - 1)) / page * page;
	w->end = (end + (last ? page - 1 : 0)) / page * page;
}

/* An access to what is closed: it is open again, and true. */
static bool takes(const struct fault *f)
{
	for (unsigned i = 0; i < n_watched; i++) {
		struct watched *w = &watched[i];
		if (!w->shut || f->address < w->from || f->address >= w->end)
			continue;
		protect(w, PROT_READ | PROT_WRITE);
		if (!f->inside && f->address - w->address < w->bytes && n_touches < MAX_TOLD)
			touches[n_touches++] = (struct touch){ *w, *f };
		w->until_ns = 0; /* once is enough */
		return true;
	}
	return false;
}

void early_open(void)
{
	if (open_depth++)
		return;
	for (unsigned i = 0; i < n_watched; i++)
		if (watched[i].shut)
			protect(&watched[i], PROT_READ | PROT_WRITE);
}

/* The host knows that their launches have ended, or they are freed. */
static void drop_known(void)
{
	unsigned n = 0;
	for (unsigned i = 0; i < n_watched; i++) {
		struct watched *w = &watched[i];
		struct emu_allocation now;
		const bool there = emu_device_find(guest.device, w->memory.address, &now) &&
		                   now.serial == w->memory.serial;
		if (there && w->until_ns > clock_known_ns())
			watched[n++] = *w;
		else if (there && w->shut)
			protect(w, PROT_READ | PROT_WRITE);
	}
	n_watched = n;
}

void early_shut(void)
{
	if (--open_depth || !n_watched)
		return;
	drop_known();
	if (!n_watched || ended || guest_waits || n_touches == MAX_TOLD || !fault_watch(takes)) {
		n_watched = 0;
		return;
	}
	for (unsigned i = 0; i < n_watched; i++)
		protect(&watched[i], watched[i].written ? PROT_NONE : PROT_READ);
}

/* What another launch did to the same memory before holds on. */
static void watch(struct watched *w)
{
	if (!open_depth || ended || w->bytes > MOST_BYTES)
		return;
	find_pages(w);
	for (unsigned i = 0; i < n_watched; i++)
		if (watched[i].from == w->from && watched[i].end == w->end) {
			const bool written = watched[i].written || w->written;
			watched[i] = *w;
			watched[i].written = written;
			return;
		}
	if (w->from < w->end && n_watched < MAX_WATCHED)
		watched[n_watched++] = *w;
}

void early_launched(const struct guest_stream *s, uint64_t launch)
{
	size_t at = 0;
	struct watched w = { .number = launch, .until_ns = clock_stream_done_ns(s) };
	while (emu_device_managed_touched(guest.device, &at, &w.memory, &w.written)) {
		w.address = w.memory.address;
		w.bytes = w.memory.bytes;
		watch(&w);
	}
}

void early_copied(uint64_t address, uint64_t bytes, bool written, double until_ns, uint64_t copy)
{
	struct watched w = { .address = address,
		                 .bytes = bytes,
		                 .number = copy,
		                 .copy = true,
		                 .until_ns = until_ns,
		                 .written = written };
	if (emu_device_find(guest.device, address, &w.memory) &&
	    (w.memory.kind == EMU_MEMORY_PINNED || w.memory.kind == EMU_MEMORY_REGISTERED))
		watch(&w);
}

static void tell(const struct touch *t)
{
	const struct watched *w = &t->at;
	struct record_finding f = { .launch = w->copy ? 0 : w->number,
		                        .times = 1,
		                        .error = !t->fault.write };
	char place[256], made[512];
	fault_place(&t->fault, place, sizeof place);
	guest_site_place(w->memory.caller, made, sizeof made);
	snprintf(f.kind, sizeof f.kind, "missing-sync");
	snprintf(
		f.text, sizeof f.text,
		"%s%sthe host %s %s memory, byte %llu of %llu, which %s %llu %s, and nothing waited for "
		"that%s%s",
		place, place[0] ? ": " : "", t->fault.write ? "writes to" : "reads",
		w->memory.kind == EMU_MEMORY_MANAGED ? "managed" : "pinned",
		(unsigned long long)(t->fault.address - w->memory.address),
		(unsigned long long)w->memory.bytes, w->copy ? "asynchronous copy" : "launch",
		(unsigned long long)w->number, w->written ? "writes" : "reads",
		made[0] ? "; allocated at " : "", made);
	snprintf(
		f.remedy, sizeof f.remedy,
		"call cudaDeviceSynchronize(), or wait for its stream or an event behind it, before the "
		"host touches the memory");
	record_finding(&f);
}

void early_tell(void)
{
	while (n_told < n_touches)
		tell(&touches[n_told++]);
}

void early_end(void)
{
	early_open();
	n_watched = 0;
	ended = true;
	open_depth--;
}

void early_waited(void)
{
	static double known_ns; /* when it was looked at last */
	if (!n_watched || known_ns == clock_known_ns())
		return;
	drop_known();
	known_ns = clock_known_ns();
}
