/* Graphs: nodes with operations, built by hand or captured from streams. */
#ifndef PMPP_RUNTIME_GUEST_GRAPH_H
#define PMPP_RUNTIME_GUEST_GRAPH_H

#include "runtime/guest/guest_op.h"

/* While @s is captured: the event stands for its last node, and another stream that waits for the
 * event joins the capture. */
cudaError_t guest_capture_mark(struct guest_stream *s, struct guest_event *e);
cudaError_t guest_capture_join(struct guest_stream *s, struct guest_event *e);

#endif
