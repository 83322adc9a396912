/* Memory and events of other processes (CUDA IPC). */
#ifndef PMPP_RUNTIME_GUEST_IPC_H
#define PMPP_RUNTIME_GUEST_IPC_H

#include "runtime/guest/guest.h"
#include "runtime/guest/guest_lock.h"

#define IPC_LOOK_S 1e-4 /* between two looks at another process's event */

/* Does memory of another process begin there? */
bool ipc_is_open(uint64_t address);
/* What cudaIpcGetMemHandle(), cudaIpcOpenMemHandle() and cudaIpcCloseMemHandle() do. @p: where an
 * allocation begins. @caller: the return address of the call, for reports. */
cudaError_t ipc_give_memory(cudaIpcMemHandle_t *out, const void *p);
cudaError_t ipc_open_memory(void **out, const cudaIpcMemHandle_t *handle, const void *caller);
cudaError_t ipc_close_memory(const void *p);

/* Has another process still to come to its last record? */
static inline bool ipc_pending(const struct guest_event *e)
{
	return e->shared && !e->pending && *e->shared;
}

static inline void ipc_wait(const struct guest_event *e)
{
	while (ipc_pending(e))
		guest_lock_wait(IPC_LOOK_S);
}

static inline void event_pending(struct guest_event *e, bool pending)
{
	e->pending = pending;
	if (e->shared)
		*e->shared = pending;
}

#endif
