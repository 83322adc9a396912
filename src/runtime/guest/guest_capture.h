/* Streams while they are captured: what they are told becomes nodes of a graph. */
#ifndef PMPP_RUNTIME_GUEST_CAPTURE_H
#define PMPP_RUNTIME_GUEST_CAPTURE_H

#include "runtime/guest/guest_capture_rules.h"
#include "runtime/guest/guest_op.h"

/* The op becomes a node behind the stream's last ones. */
cudaError_t guest_capture(struct guest_stream *s, const struct guest_op *op);
/* @s is destroyed: what is captured goes with the stream that began it. */
void guest_capture_drop(struct guest_stream *s);
/* Captures end with all that is on the device. */
void guest_capture_drop_all(void);
/* While @s is captured: the event stands for its last node. A stream that waits for such an event
 * joins the capture. */
cudaError_t guest_capture_mark(struct guest_stream *s, struct guest_event *e);
cudaError_t guest_capture_join(struct guest_stream *s, struct guest_event *e);

#endif
