/*
 * The time model's constants by name, and as a table with units and sources; see constants.def.
 * Nothing else in the program holds a figure about how long hardware takes, but the GPU sheets.
 */
#ifndef PMPP_TIMEMODEL_CONSTANTS_H
#define PMPP_TIMEMODEL_CONSTANTS_H

struct timing_constants {
#define X(name, value, unit, scope, source) double name;
#include "timemodel/constants.def"
#undef X
};
extern const struct timing_constants timing;

/* For which GPUs a constant holds; see constants.def. */
enum timing_scope { TIMING_ANY, TIMING_H200, TIMING_FIT };

struct timing_constant {
	const char *name;
	double value;
	const char *unit;
	enum timing_scope scope;
	const char *source;
};
/* Row @i in the order of constants.def; NULL past the end. */
const struct timing_constant *timing_constant_at(unsigned i);

#endif
