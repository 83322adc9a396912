/*
 * What the worker can be told to do, as a table: one row per kind of order.
 *
 * The worker reads from it how an order is carried out, the lab when it is asked for, what it takes
 * the place of, and what its news mean. Plain data; knows no thread and no session.
 */
#ifndef PMPP_LAB_ORDER_H
#define PMPP_LAB_ORDER_H

#include "model/session.h"

enum order_kind {
	ORDER_RUN,         /* what the person chose */
	ORDER_RUN_STALLED, /* the same, and why warps waited */
	ORDER_RUN_LOOKED,  /* the same, and what it left in its buffers */
	ORDER_RUNG,        /* another variant of its ladder */
	ORDER_POINT,       /* another point of its map */
	ORDER_LIBRARY,     /* the vendor library's time for the same product */
	ORDER_KINDS
};
#define ORDER_BIT(kind) (1u << (kind))

struct order_rule {
	/* when */
	unsigned needs;      /* bits of enum panel_needs that ask for it; 0 = only the person does */
	unsigned supersedes; /* bits of the kinds it takes the place of; it waits for the others */
	bool asked_again;    /* although the person cancelled what was under way */
	/* how */
	bool stalls;          /* a GPU: also read why warps waited */
	bool looks;           /* the buffers are looked at behind it */
	bool sample_suffices; /* a long launch is answered by a sample of its blocks, and no more */
	bool verifies;        /* results are compared with the reference */
	bool is_library;      /* no launch: the vendor library is timed */
	/* what its news mean: the session's state, `now` and `before`; else they are the ladder's or
	 * the map's */
	bool of_session;
};

extern const struct order_rule order_rules[ORDER_KINDS];

/* Where to run, as far as the person has said. */
struct device_wish {
	char backend[16]; /* still to be decided: "auto" or a device's; "" = decided */
	bool gpu_given;   /* the person named selection.gpu: the decision must respect it */
};

struct work_order {
	enum order_kind kind;
	uint64_t serial; /* of any kind; never 0 */
	struct selection sel;
	struct device_wish wish; /* decide sel.gpu and sel.backend first, if that is open */
	bool machine_code;       /* the emulator counts machine code where it can, else PTX */
	bool at_once;            /* do not wait for the person to stop changing things */
};

#endif
