/*
 * Launches of a program whose outcome is known, because an earlier one had the same kernel,
 * dimensions, parameters and memory; see known_launch.c for what counts as proof.
 */
#ifndef PMPP_EMU_KNOWN_LAUNCH_H
#define PMPP_EMU_KNOWN_LAUNCH_H

#include "emu/device.h"

struct emu_launch;
struct known_launch;
struct known_launches;

struct known_launches *known_launches_new(void);
void known_launches_free(struct known_launches *all);

/* The launch last seen with this kernel, these dimensions and parameters; made if there is none. */
struct known_launch *known_launch_of(struct emu_device *d, const struct emu_launch_request *req);
/* Is its outcome that of the earlier one? Then memory holds it now. False: it has to run. */
bool known_launch_repeats(struct emu_device *d, struct known_launch *k);
/* It leaves the same in memory in whichever order its blocks and warps run. */
bool known_launch_in_any_order(const struct known_launch *k);
uint64_t known_launch_number(const struct known_launch *k);
/* The counted launch whose counts are proved to be those of the one that ran last, and of those
 * that repeat it; 0 = none. */
uint64_t known_launch_counts(const struct known_launch *k);
/* Its outcome was taken over: L2 holds what it touches. */
void known_launch_touches(struct emu_device *d, const struct known_launch *k);
/* A launch that nothing is noted of ran, as @l: what it wrote holds something else now. */
void known_launch_wrote(struct emu_device *d, const struct emu_launch *l);
/* It ran, as @l; @clean: to its end, and nothing was wrong with it. */
void known_launch_note(struct emu_device *d, struct known_launch *k, const struct emu_launch *l,
                       bool clean);

#endif
