#define _GNU_SOURCE /* REG_ERR */
/* See guest_fault.h. */
#include "runtime/guest/guest_fault.h"
#include "runtime/guest/guest.h"
#include "runtime/guest/guest_record.h"

#include "base/text.h"
#include "emu/memory/memory.h"

#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

static bool (*takes_first)(const struct fault *f);
static struct sigaction before;
static _Thread_local unsigned inside;

static bool is_write(const ucontext_t *u)
{
#if defined(__x86_64__)
	return u->uc_mcontext.gregs[REG_ERR] & 2;
#else
	(void)u;
	return false;
#endif
}

static void *place_of(const ucontext_t *u)
{
#if defined(__x86_64__)
	return (void *)(uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#else
	(void)u;
	return NULL;
#endif
}

static void find_frames(struct fault *f, const ucontext_t *u)
{
	void *frame[FAULT_FRAMES + 4]; /* the first ones are ours */
	const int n = backtrace(frame, ARRAY_LEN(frame));
	for (int i = 0; i < n && f->n_frames < FAULT_FRAMES; i++)
		if (f->n_frames || frame[i] == place_of(u))
			f->frame[f->n_frames++] = frame[i];
	if (f->n_frames) /* as if it were a return address, as the others */
		f->frame[0] = (char *)f->frame[0] + 1;
}

void fault_place(const struct fault *f, char *place, size_t n)
{
	place[0] = '\0';
	for (int i = 0; i < f->n_frames && (!place[0] || strstr(place, ".so")); i++)
		record_place(f->frame[i], place, n);
}

static void tell_device(const struct fault *fault, const struct emu_allocation *a)
{
	struct record_finding f = { .error = true, .times = 1 };
	char place[256], made[512];
	fault_place(fault, place, sizeof place);
	guest_site_place(a->caller, made, sizeof made);
	snprintf(f.kind, sizeof f.kind, "device-memory");
	snprintf(f.text, sizeof f.text,
	         "%s%sthe host %s device memory, byte %llu of %llu, and ends, as with a GPU%s%s", place,
	         place[0] ? ": " : "", fault->write ? "writes to" : "reads",
	         (unsigned long long)(fault->address - a->address), (unsigned long long)a->bytes,
	         made[0] ? "; allocated at " : "", made);
	snprintf(f.remedy, sizeof f.remedy,
	         "copy it to the host's memory by cudaMemcpy(), or allocate it by cudaMallocManaged()");
	record_finding(&f);
}

/* True: go on. The program's own access is told now, for it ends the program. */
static bool device_takes(const struct fault *f)
{
	struct emu_allocation a;
	if (!page_guard_is_on() || !emu_device_covers(guest.device, f->address))
		return false;
	page_guard_open(); /* a handler begins without */
	if (!f->inside && emu_device_find(guest.device, f->address, &a) &&
	    a.kind == EMU_MEMORY_DEVICE) {
		tell_device(f, &a);
		return false;
	}
	fault_guard_end(); /* not a thing that should be guarded */
	return true;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	const int saved = errno;
	struct fault f = { .address = (uint64_t)(uintptr_t)info->si_addr,
		               .write = is_write(context),
		               .inside = inside > 0 };
	find_frames(&f, context);
	if (!(takes_first && takes_first(&f)) && !device_takes(&f))
		sigaction(number, &before, NULL); /* the program's own: again, without us */
	errno = saved;
}

bool fault_watch(bool (*takes)(const struct fault *f))
{
	struct sigaction now;
	if (takes)
		takes_first = takes;
	if (sigaction(SIGSEGV, NULL, &now) != 0)
		return false;
	if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault)
		return true;
	if ((now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL)
		return false;
	void *frame[1];
	backtrace(frame, 1); /* loads what it needs, which a handler may not */
	before = now;
	struct sigaction ours = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	sigemptyset(&ours.sa_mask);
	return sigaction(SIGSEGV, &ours, NULL) == 0;
}

void fault_guard(void)
{
	if (fault_watch(NULL))
		page_guard_begin();
}

void fault_guard_end(void)
{
	if (page_guard_is_on())
		emu_device_guard_end(guest.device);
}

void fault_enter(void)
{
	if (!inside++)
		page_guard_open();
}

void fault_leave(void)
{
	if (!--inside)
		page_guard_close();
}
