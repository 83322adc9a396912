/*
 * Room count. Sees: lane.
 *
 * What accesses cost: sectors, lines and wavefronts of one warp access (probe, repeat), the caches
 * behind them (cache_log, cache_sim), atomics that collide (collision), and words that warps hand
 * on to each other (turns). Pure of warps and programs; the machine (vm) feeds it.
 */
#ifndef PMPP_EMU_COUNT_H
#define PMPP_EMU_COUNT_H

#include "emu/count/atomic_waves.h"
#include "emu/count/cache_log.h"
#include "emu/count/cache_sim.h"
#include "emu/count/collision.h"
#include "emu/count/copy_waves.h"
#include "emu/count/l2_kept.h"
#include "emu/count/lane_sets.h"
#include "emu/count/lane_wide.h"
#include "emu/count/probe.h"
#include "emu/count/repeat.h"
#include "emu/count/turns.h"

#endif
