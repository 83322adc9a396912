#define _GNU_SOURCE /* memfd_create() */
/*
 * Memory and events of other processes. A handle says which process gave it, and which of its
 * files: one without a name, which /proc shows to the same user as long as that process lives. CUDA
 * Runtime API, cudaIpcGetMemHandle() and its neighbours: a process cannot open its own handles,
 * opening one again gives the same address, and closing it as often lets go of it.
 *
 * Launches and copies are done within their calls; so an event that was recorded is over for
 * others, unless a launch in front of it goes on beside its host (guest_flight.h).
 */
#include "runtime/guest/guest_ipc.h"
#include "runtime/guest/guest_record.h"
#include "runtime/guest/guest_wait.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENTS_NAME "gpu-events"
#define MOST_EVENTS 1024u
#define STATES_BYTES (MOST_EVENTS * sizeof(unsigned))
#define MEMORY_MARK 0x4d435049u /* what a handle begins with */
#define EVENT_MARK 0x45435049u

struct ipc_handle {
	uint32_t mark, index; /* of an event */
	int32_t pid, fd;
	uint64_t offset, bytes;
};
_Static_assert(sizeof(struct ipc_handle) <= sizeof(cudaIpcMemHandle_t), "fits into a handle");

/* Memory that is open here. */
static struct opened {
	struct ipc_handle from;
	uint64_t address;
	unsigned times;
} *opened;
static unsigned n_opened, cap_opened;

/* The file of a handle, opened here; -1 = it is not to be had, for which @e is said. */
static int file_of(const struct ipc_handle *h, const char *wanted, cudaError_t *e)
{
	char path[64], name[128];
	snprintf(path, sizeof path, "/proc/%d/fd/%d", h->pid, h->fd);
	const ssize_t n = readlink(path, name, sizeof name - 1);
	name[n > 0 ? n : 0] = '\0';
	const int fd = n > 0 && strstr(name, wanted) ? open(path, O_RDWR | O_CLOEXEC) : -1;
	*e = cudaErrorInvalidResourceHandle;
	if (fd < 0) {
		struct err err = { 0 };
		err_set(&err, ERR_UNAVAILABLE, "a handle of process %d cannot be opened: that process %s",
		        h->pid,
		        kill(h->pid, 0) != 0 && errno == ESRCH
		            ? "has ended, or runs outside of this sandbox"
		            : "gave no such memory or event, or is another user's");
		err_remedy(&err, "keep the process that gave the handle until it is closed everywhere");
		record_problem("ipc", &err);
	}
	return fd;
}

/* --- memory --- */

cudaError_t ipc_give_memory(cudaIpcMemHandle_t *out, const void *p)
{
	struct emu_allocation a;
	struct emu_shared s;
	const uint64_t address = (uint64_t)(uintptr_t)p;
	if (!out || !emu_device_find(guest.device, address, &a) || a.address != address ||
	    a.kind != EMU_MEMORY_DEVICE || ipc_is_open(address))
		return cudaErrorInvalidValue;
	wait_all();
	if (!emu_device_share(guest.device, address, &s))
		return cudaErrorMapBufferObjectFailed;
	const struct ipc_handle h = {
		.mark = MEMORY_MARK, .pid = getpid(), .fd = s.fd, .offset = s.offset, .bytes = s.bytes
	};
	memset(out, 0, sizeof *out);
	memcpy(out, &h, sizeof h);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaIpcGetMemHandle(cudaIpcMemHandle_t *out, void *p)
{
	GUEST_CALL(ipc_give_memory(out, p));
}

static struct opened *opened_at(uint64_t address)
{
	for (unsigned i = 0; i < n_opened; i++)
		if (opened[i].address == address)
			return &opened[i];
	return NULL;
}

bool ipc_is_open(uint64_t address)
{
	return opened_at(address);
}

cudaError_t ipc_open_memory(void **out, const cudaIpcMemHandle_t *handle, const void *caller)
{
	struct ipc_handle h;
	cudaError_t e;
	memcpy(&h, handle, sizeof h);
	if (!out || h.mark != MEMORY_MARK)
		return cudaErrorInvalidValue;
	if (h.pid == getpid())
		return cudaErrorDeviceUninitialized;
	for (unsigned i = 0; i < n_opened; i++)
		if (memcmp(&opened[i].from, &h, sizeof h) == 0) {
			opened[i].times++;
			*out = (void *)(uintptr_t)opened[i].address;
			return cudaSuccess;
		}
	const struct emu_shared from = { file_of(&h, EMU_SHARED_NAME, &e), h.offset, h.bytes };
	if (from.fd < 0)
		return e;
	const uint64_t address = emu_device_attach(guest.device, &from, caller);
	if (!address) {
		close(from.fd);
		return cudaErrorMapBufferObjectFailed;
	}
	MEM_ROOM(opened, n_opened, cap_opened, 8);
	opened[n_opened++] = (struct opened){ h, address, 1 };
	*out = (void *)(uintptr_t)address;
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaIpcOpenMemHandle(void **out, cudaIpcMemHandle_t handle,
                                                     unsigned flags)
{
	GUEST_CALL(flags == cudaIpcMemLazyEnablePeerAccess ? ipc_open_memory(out, &handle, GUEST_CALLER)
	                                                   : cudaErrorInvalidValue);
}

cudaError_t ipc_close_memory(const void *p)
{
	struct opened *o = opened_at((uint64_t)(uintptr_t)p);
	if (!o)
		return cudaErrorInvalidValue;
	if (--o->times)
		return cudaSuccess;
	const uint64_t address = o->address;
	*o = opened[--n_opened];
	wait_all();
	return emu_device_release(guest.device, address) ? cudaSuccess : cudaErrorInvalidValue;
}

GUEST_API cudaError_t CUDARTAPI cudaIpcCloseMemHandle(void *p)
{
	GUEST_CALL(ipc_close_memory(p));
}

/* --- events: a word each in a file that others map --- */

static struct {
	int fd;
	pid_t pid; /* whose it is */
	unsigned n;
	_Atomic unsigned *state;
} given = { .fd = -1 };

static _Atomic unsigned *map_states(int fd)
{
	_Atomic unsigned *p = mmap(NULL, STATES_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if ((void *)p == MAP_FAILED)
		return NULL;
	return p;
}

static bool have_states(void)
{
	if (given.fd >= 0 && given.pid == getpid())
		return given.n < MOST_EVENTS;
	given.pid = getpid();
	given.n = 0;
	given.fd = memfd_create(EVENTS_NAME, MFD_CLOEXEC);
	given.state =
		given.fd >= 0 && ftruncate(given.fd, STATES_BYTES) == 0 ? map_states(given.fd) : NULL;
	return given.state;
}

static cudaError_t give_event(cudaIpcEventHandle_t *out, cudaEvent_t event)
{
	struct guest_event *e = (struct guest_event *)event;
	const unsigned needed = cudaEventInterprocess | cudaEventDisableTiming;
	if (!out || !e)
		return out ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
	if ((e->flags & needed) != needed)
		return cudaErrorInvalidResourceHandle;
	if (!e->shared || e->shared < given.state || e->shared >= given.state + given.n) {
		if (!have_states())
			return cudaErrorMapBufferObjectFailed;
		e->shared = &given.state[given.n++];
		*e->shared = e->pending;
	}
	const struct ipc_handle h = { .mark = EVENT_MARK,
		                          .index = (unsigned)(e->shared - given.state),
		                          .pid = getpid(),
		                          .fd = given.fd };
	memset(out, 0, sizeof *out);
	memcpy(out, &h, sizeof h);
	return cudaSuccess;
}

GUEST_API cudaError_t CUDARTAPI cudaIpcGetEventHandle(cudaIpcEventHandle_t *out, cudaEvent_t event)
{
	GUEST_CALL(give_event(out, event));
}

/* Events of other processes, by the file that they are in. */
static struct others {
	int32_t pid, fd;
	_Atomic unsigned *state;
} *others;
static unsigned n_others, cap_others;

static const struct others *others_of(const struct ipc_handle *h, cudaError_t *e)
{
	for (unsigned i = 0; i < n_others; i++)
		if (others[i].pid == h->pid && others[i].fd == h->fd)
			return &others[i];
	const int fd = file_of(h, EVENTS_NAME, e);
	if (fd < 0)
		return NULL;
	MEM_ROOM(others, n_others, cap_others, 8);
	others[n_others] = (struct others){ h->pid, h->fd, map_states(fd) };
	close(fd);
	*e = cudaErrorMapBufferObjectFailed;
	return others[n_others].state ? &others[n_others++] : NULL;
}

static cudaError_t open_event(cudaEvent_t *out, const cudaIpcEventHandle_t *handle)
{
	struct ipc_handle h;
	cudaError_t e;
	memcpy(&h, handle, sizeof h);
	if (!out || h.mark != EVENT_MARK || h.index >= MOST_EVENTS)
		return cudaErrorInvalidValue;
	if (h.pid == getpid())
		return cudaErrorDeviceUninitialized;
	const struct others *o = others_of(&h, &e);
	if (!o)
		return e;
	e = cudaEventCreateWithFlags(out, cudaEventInterprocess | cudaEventDisableTiming);
	if (e == cudaSuccess)
		((struct guest_event *)*out)->shared = o->state + h.index;
	return e;
}

GUEST_API cudaError_t CUDARTAPI cudaIpcOpenEventHandle(cudaEvent_t *out,
                                                       cudaIpcEventHandle_t handle)
{
	GUEST_CALL(open_event(out, &handle));
}
