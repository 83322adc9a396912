/* The table of orders; see order.h. */
#include "order.h"

#define ALL_ORDERS (ORDER_BIT(ORDER_KINDS) - 1)

const struct order_rule order_rules[ORDER_KINDS] = {
	[ORDER_RUN] = {
		.supersedes = ALL_ORDERS,
		.verifies = true,
		.of_session = true,
	},
	[ORDER_RUN_STALLED] = {
		.needs = NEEDS_STALLS,
		.supersedes = ORDER_BIT(ORDER_RUNG) | ORDER_BIT(ORDER_POINT) |
		              ORDER_BIT(ORDER_LIBRARY),
		.asked_again = true,
		.stalls = true,
		.verifies = true,
		.of_session = true,
	},
	[ORDER_RUN_LOOKED] = {
		.needs = NEEDS_DATA,
		.supersedes = ORDER_BIT(ORDER_RUNG) | ORDER_BIT(ORDER_POINT) |
		              ORDER_BIT(ORDER_LIBRARY),
		.asked_again = true,
		.looks = true,
		.verifies = true,
		.of_session = true,
	},
	[ORDER_RUNG] = {
		.needs = NEEDS_LADDER,
		.sample_suffices = true,
	},
	[ORDER_POINT] = {
		.needs = NEEDS_SWEEP,
		.sample_suffices = true,
	},
	[ORDER_LIBRARY] = {
		.needs = NEEDS_LADDER,
		.is_library = true,
	},
};
