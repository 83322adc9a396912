/* A fault in words. */
#ifndef PMPP_EMU_FAULT_TEXT_H
#define PMPP_EMU_FAULT_TEXT_H

#include "emu/launch/launch.h"

/* Sets @err: where, who, which address, and what to do about it. Returns false. */
bool fault_report(const struct emu_launch *l, const struct emu_fault *f, struct err *err);
/* race_custom.c: what to do about a race that does no harm as programs are written; NULL = it is no
 * such race. */
const char *race_custom(const struct emu_launch *l, const struct emu_fault *f);
/* race_custom.c: do two accesses have their address from the same register, as far as is plain? */
bool race_same_address(const struct ir *ir, const struct xop *a, const struct xop *b);
/* race_updates.c: is it a race in global memory, in a kernel whose blocks learn nothing of each
 * other, be it by atomics, flags or fences, and which loses no update? It matters only if another
 * order leaves something else. */
bool race_of_order(const struct emu_launch *l, const struct emu_fault *f);
/* undefined.c: calls @tell for the first read of each register of PTX that nothing writes, where it
 * was executed: FAULT_UNDEFINED, the register as the address. */
void launch_undefined_reads(const struct emu_launch *l,
                            void (*tell)(void *ctx, const struct emu_fault *f), void *ctx);

#endif
