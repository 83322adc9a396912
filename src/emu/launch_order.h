/* In which order the blocks of a launch run, and the warps of a block. */
#ifndef PMPP_EMU_LAUNCH_ORDER_H
#define PMPP_EMU_LAUNCH_ORDER_H

#include <stdint.h>

/* Of any two each is the first in one of the first two; ODD_FIRST begins with those between. */
enum launch_order { ORDER_FORWARDS, ORDER_BACKWARDS, ORDER_ODD_FIRST };

/* The one that is number @i of @n. */
static inline uint64_t order_turn(enum launch_order order, uint64_t n, uint64_t i)
{
	switch (order) {
	case ORDER_BACKWARDS: return n - 1 - i;
	case ORDER_ODD_FIRST: return i < n / 2 ? 2 * i + 1 : 2 * (i - n / 2);
	default: return i;
	}
}

#endif
