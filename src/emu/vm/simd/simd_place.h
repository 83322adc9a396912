/*
 * Where a regular access goes: global memory, or shared memory by a 32- or 64-bit register.
 *
 * In these uops a is the slot of the scalar address, x.i what is added to it for the lowest lane, c
 * the highest lowest address that fits in shared memory, y the memory number.
 * Included by the files of simd/ only.
 */
#ifndef PMPP_EMU_SIMD_PLACE_H
#define PMPP_EMU_SIMD_PLACE_H

#include "emu/vm/handler.h"
#include "emu/vm/simd/simd_level.h"

#define GUEST GUEST_MEMORY static const struct uop *
#define ARGS (struct warp * w, const struct uop *u, uint32_t mask)
#define COLD __attribute__((noinline))
#define RARE(x) __builtin_expect(!!(x), 0)

typedef int8_t __attribute__((may_alias)) mem_s8;
typedef int16_t __attribute__((may_alias)) mem_s16;
typedef uint8_t __attribute__((may_alias)) mem_u8;

#define MEMOP (&w->program->mem[u->y])
#define LOW_global (SCALAR64(u->a) + (uint64_t)u->x.i)
#define LOW_shared32 (SCALAR32(u->a) + (uint64_t)u->x.i)
#define LOW_shared64 (SCALAR64(u->a) + (uint64_t)u->x.i)

/* May all of the access be done without a closer look? */
static inline bool fits_window(const struct mem_window *win, uint64_t low, uint64_t align)
{
	return low - win->lo < win->len && !(low & align);
}
#define FITS_global(align) fits_window(&w->win[u->y], low, align)
#define FITS_shared32(align) (low <= u->c && !(low & (align)))
#define FITS_shared64(align) (low <= u->c && !(low & (align)))
#define HOST_global ((void *)(w->host + low))
#define HOST_shared32 ((void *)(w->shared + low))
#define HOST_shared64 ((void *)(w->shared + low))

/* Is the line of an address followed by the cache simulation? */
static inline uint64_t line_of(uint64_t address)
{
	return address >> 7;
}
static inline bool sampled(const struct warp *w, uint64_t address)
{
	return *(const uint64_t *)(w->sampled + (address >> 13) * 8) >> (address >> 7 & 63) & 1;
}
static inline bool sampled_span(const struct warp *w, uint64_t low, uint64_t span)
{
	return sampled(w, low) || sampled(w, low + span - 1);
}

/* What the warp of this number will load in a block of two blocks' time, which mostly lies beside
 * what it loads now: the block behind this one is another host thread's. */
#define NEXT_BLOCK 256

/*
 * Loads of one instruction often lie a constant distance apart, a row of a matrix for example: the
 * next place is fetched ahead. Host hardware cannot see these strides, since all guest
 * loads share one host instruction.
 */
static inline void fetch_ahead(const struct warp *w, struct mem_window *win, uint64_t low,
                               bool wide)
{
	const uint64_t next = low + (low - win->last);
	win->last = low;
	if (wide && win->warp != w->number) {
		win->warp = w->number;
		__builtin_prefetch((const void *)(w->host + low + NEXT_BLOCK));
		__builtin_prefetch((const void *)(w->host + low + NEXT_BLOCK + 64));
	}
	__builtin_prefetch((const void *)(w->host + next));
	if (wide) /* more than the 64 bytes of a host line */
		__builtin_prefetch((const void *)(w->host + next + 64));
}

#endif
