/*
 * The host's rounding direction, for arithmetic that rounds in another one than to nearest.
 *
 * The compiler knows nothing of it: what is computed between the two calls has to come from memory
 * behind the first and go to memory before the second, or be pinned.
 */
#ifndef PMPP_EMU_ROUNDING_H
#define PMPP_EMU_ROUNDING_H

#include <fenv.h>

/* To round in direction @mode (FE_...) from here on; returns what round_as_before() wants. */
#ifdef __SSE2__
#include <xmmintrin.h>

/* C's function also sets the x87, which computes nothing here and takes most of the time. */
static inline unsigned round_to(int mode)
{
	const unsigned old = _mm_getcsr();
	_mm_setcsr((old & ~(unsigned)_MM_ROUND_MASK) | (unsigned)mode << 3);
	__asm__ volatile("" : : : "memory");
	return old;
}
static inline void round_as_before(unsigned old)
{
	__asm__ volatile("" : : : "memory");
	_mm_setcsr(old);
}
_Static_assert(FE_UPWARD << 3 == _MM_ROUND_UP && FE_DOWNWARD << 3 == _MM_ROUND_DOWN &&
                   FE_TOWARDZERO << 3 == _MM_ROUND_TOWARD_ZERO,
               "the same bits in both control words");
#else
static inline int round_to(int mode)
{
	const int old = fegetround();
	fesetround(mode);
	__asm__ volatile("" : : : "memory");
	return old;
}
static inline void round_as_before(int old)
{
	__asm__ volatile("" : : : "memory");
	fesetround(old);
}
#endif

#endif
