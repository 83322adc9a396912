/* Calls of the runtime by device code: checked here, done when the grid has ended. */
#ifndef PMPP_EMU_DEVICE_RUNTIME_H
#define PMPP_EMU_DEVICE_RUNTIME_H

#include "emu/vm/warp.h"

/* One call by one lane. False: it was given the address *@bad, where no memory lies. */
bool device_call(struct warp *w, unsigned lane, enum system_call call, const uint64_t *arg,
                 uint64_t *result, uint64_t *bad);
/* A new block begins, whose threads have no error yet. */
void device_calls_begin(struct device_calls *c, uint32_t threads);
void device_calls_free(struct device_calls *c, struct heap *room);

#endif
