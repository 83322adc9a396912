#define _GNU_SOURCE /* pkey_alloc() */
/* Pages that only the emulator may touch; see memory.h. */
#include "emu/memory/memory.h"

#include <stdatomic.h>
#include <sys/mman.h>

#if defined(__x86_64__) && defined(PKEY_DISABLE_ACCESS)
static atomic_int guard_key = -1;

bool page_guard_begin(void)
{
	if (guard_key < 0)
		guard_key = pkey_alloc(0, 0);
	return guard_key >= 0;
}

bool page_guard_is_on(void)
{
	return guard_key >= 0;
}

void page_guard_set(void *at, size_t bytes, bool guarded)
{
	const int key = guard_key;
	if (bytes && key >= 0)
		pkey_mprotect(at, bytes, PROT_READ | PROT_WRITE, guarded ? key : 0);
}

void page_guard_open(void)
{
	const int key = guard_key;
	if (key >= 0)
		pkey_set(key, 0);
}

void page_guard_close(void)
{
	const int key = guard_key;
	if (key >= 0)
		pkey_set(key, PKEY_DISABLE_ACCESS);
}

void page_guard_end(void)
{
	guard_key = -1;
}
#else
bool page_guard_begin(void)
{
	return false;
}

bool page_guard_is_on(void)
{
	return false;
}

void page_guard_set(void *at, size_t bytes, bool guarded)
{
	(void)at, (void)bytes, (void)guarded;
}

void page_guard_open(void) {}
void page_guard_close(void) {}
void page_guard_end(void) {}
#endif
