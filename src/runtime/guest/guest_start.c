#define _GNU_SOURCE /* on_exit(), struct ucred */
/*
 * The runtime's start, end and lock. It starts at the program's first call, as NVIDIA's does.
 */
#include "runtime/guest/guest.h"
#include "runtime/guest/guest_clock.h"
#include "runtime/guest/guest_early.h"
#include "runtime/guest/guest_fault.h"
#include "runtime/guest/guest_graph.h"
#include "runtime/guest/guest_limit.h"
#include "runtime/guest/guest_lock.h"
#include "runtime/guest/guest_record.h"
#include "runtime/guest/guest_wait.h"

#include "base/mem.h"
#include "runtime/record_program.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pid_t process; /* that the runtime started in; what it forks later has its handlers too */

static void leak(const struct emu_allocation *a, struct record_end *end)
{
	bool in_use;
	if (a->kind != EMU_MEMORY_DEVICE && a->kind != EMU_MEMORY_MANAGED)
		return;
	if (graph_heap_set(a->address, false, &in_use) && !in_use)
		return;
	end->leaked_bytes += a->bytes;
	end->leaked_allocations++;
	struct record_finding f = { .kind = "leak", .times = 1 };
	char place[800];
	guest_site_place(a->caller, place, sizeof place);
	snprintf(f.text, sizeof f.text, "%llu bytes of %s memory are never freed%s%s",
	         (unsigned long long)a->bytes, a->kind == EMU_MEMORY_MANAGED ? "managed" : "device",
	         place[0] ? "; allocated at " : "", place);
	snprintf(f.remedy, sizeof f.remedy, "call cudaFree() for it before the program ends");
	if (end->leaked_allocations <= 32)
		record_finding(&f);
}

static void report_unchecked(void)
{
	if (!guest.unchecked_launch)
		return;
	struct record_finding f = { .launch = guest.unchecked_launch, .times = 1 };
	const bool fault = guest.fault != cudaSuccess;
	const char *error = cudaGetErrorString(fault ? guest.fault : cudaPeekAtLastError());
	f.error = !guest.launch_error_told;
	snprintf(f.kind, sizeof f.kind, "unchecked-error");
	if (fault && f.error) {
		snprintf(
			f.text, sizeof f.text,
			"a launch failed and the program never waited for it: cudaDeviceSynchronize() would "
			"have said \"%s\"",
			error);
		snprintf(f.remedy, sizeof f.remedy,
		         "call cudaDeviceSynchronize() behind the launch, and look at what it returns");
		record_finding(&f);
		return;
	}
	snprintf(
		f.text, sizeof f.text,
		f.error ? "a launch failed and the program never asked: cudaGetLastError() would have said "
				  "\"%s\""
				: "a launch failed; calls behind it returned \"%s\", cudaGetLastError() was never "
				  "asked",
		error);
	snprintf(f.remedy, sizeof f.remedy,
	         f.error ? "check cudaGetLastError() behind each launch and what each call returns"
	                 : "nothing, if the program looks at what those calls return");
	record_finding(&f);
}

static void at_end(int status, void *unused)
{
	(void)unused;
	if (!guest.started || getpid() != process || !record_is_open())
		return;
	fault_enter();
	early_tell();
	early_end();
	if (!guest.stopped && guest_waits)
		guest_waits->end_all();
	struct record_end end = {
		.status = status,
		.host_ns = clock_host_ns(),
		.gpu_end_ns = clock_all_done_ns(),
	};
	struct emu_allocation a;
	if (!guest.stopped)
		report_unchecked();
	for (size_t i = 0; !guest.stopped && guest.device && emu_device_allocation(guest.device, i, &a);
	     i++)
		leak(&a, &end);
	record_end(&end);
	record_close();
}

static void start(void)
{
	struct err err = { 0 };
	clock_host_ns(); /* the program's time begins */
	guest.started = true;
	process = getpid();
	if (!record_open(&guest.config, &guest.gpu, &err) ||
	    !emu_device_new(&guest.device, &guest.gpu, &err)) {
		record_problem("runtime", &err);
		guest.start_error = cudaErrorInitializationError;
		return;
	}
	fault_guard();
	struct guest_stream *legacy = mem_zalloc(sizeof *legacy);
	struct guest_stream *per_thread = mem_zalloc(sizeof *per_thread);
	per_thread->id = ++guest.n_streams;
	legacy->next = per_thread;
	guest.streams = legacy;
	guest_limits_begin();
	const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
	guest.launch_blocking = blocking && strtol(blocking, NULL, 10) != 0;
	on_exit(at_end, NULL);
	guest_load_managed();
}

cudaError_t guest_enter_for(enum guest_need need)
{
	pthread_once(&once, start);
	guest_lock();
	clock_enter();
	fault_enter();
	early_tell();
	if (!guest_caller)
		guest.runtime_used = true;
	if (guest.start_error != cudaSuccess)
		return guest.start_error;
	const bool met =
		need == GUEST_NEEDS_DEVICE || (need == GUEST_NEEDS_STREAM && !guest_fault_is_news());
	return met ? guest.sticky : cudaSuccess;
}

cudaError_t guest_enter(void)
{
	return guest_enter_for(GUEST_NEEDS_DEVICE);
}

cudaError_t guest_leave(cudaError_t e)
{
	guest.launch_error_told |= e != cudaSuccess && e == guest.sticky;
	if (!guest_caller) /* the last error is the runtime's */
		guest_note_error(e);
	early_waited();
	fault_leave();
	clock_leave();
	guest_unlock();
	return e;
}

/* nvcc's generated code calls this where the host touches a managed variable: it may be the
 * program's first call of all. */
GUEST_API char CUDARTAPI __cudaInitModule(void **handle);

char CUDARTAPI __cudaInitModule(void **handle)
{
	(void)handle;
	guest_leave(guest_enter_for(GUEST_NEEDS_NOTHING));
	return 1;
}

__attribute__((constructor)) static void end_with_explorer(void)
{
	program_end_with_explorer();
}
