/* What all parts of the runtime share, faults that are news, and the streams behind their handles.
 */
#include "runtime/guest/guest.h"
#include "runtime/guest/guest_wait.h"

_Thread_local const void *guest_caller;
struct guest guest;
const struct guest_waits *guest_waits;

bool guest_fault_is_news(void)
{
	return guest.sticky != cudaSuccess && guest.sticky != cudaErrorDevicesUnavailable &&
	       !guest.launch_error_told;
}

struct guest_stream *guest_stream_of(cudaStream_t handle)
{
	if (!handle || handle == cudaStreamLegacy)
		return guest.streams;
	if (handle == cudaStreamPerThread)
		return guest.streams->next;
	struct guest_stream *wanted = (struct guest_stream *)handle;
	for (struct guest_stream *s = guest.streams; s; s = s->next)
		if (s == wanted)
			return s;
	return NULL;
}
