/*
 * The map of a sweep: one variant's rate over two of its parameters, a point for each pair of
 * values. Points run one by one behind the screen; what cannot be launched says why.
 *
 * Pure: a selection in, records in, points out. Which parameters are worth an axis: those that
 * change the launch or the code and have more than one value; knobs first (kernel.h), sizes last.
 */
#ifndef PMPP_MODEL_SWEEP_MAP_H
#define PMPP_MODEL_SWEEP_MAP_H

#include "model/pace.h"
#include "model/session.h"

#define SWEEP_SIDE 12 /* values of an axis, at most: those around the one chosen */
enum { SWEEP_ACROSS, SWEEP_DOWN, SWEEP_AXES };

enum sweep_state {
	SWEEP_DUE, /* has not run */
	SWEEP_RAN,
	SWEEP_REFUSED, /* cannot be launched */
	SWEEP_FAILED,
};

struct sweep_point {
	enum sweep_state state;
	char why[160];      /* SWEEP_REFUSED, SWEEP_FAILED */
	double time_ns;     /* SWEEP_RAN, from here on; NAN = not known */
	double rate;        /* in sweep_map_unit() */
	double occupancy;   /* percent, theoretical */
	unsigned registers; /* per thread */
	unsigned spill_bytes;
	enum origin origin;  /* of the time */
	enum origin basis;   /* of the counts under a modelled time */
	char bottleneck[64]; /* as the time model has it */
};

struct sweep_map {
	struct selection sel; /* what all points share; its values on the axes say nothing */
	unsigned pair;        /* which pair of parameters, from 0 */
	unsigned pairs;       /* how many pairs there are to choose from; 0 = no axis at all */
	unsigned param[SWEEP_AXES];
	unsigned n[SWEEP_AXES]; /* values of each axis; 1 = the variant has no second parameter */
	int64_t value[SWEEP_AXES][SWEEP_SIDE];
	bool in_bytes;    /* rates are GB/s of the algorithm's bytes */
	bool rated;       /* the algorithm's work is known; else rates are launches per ms */
	int running;      /* the point that is being run; -1 = none */
	struct pace pace; /* of the points that are due */
	struct sweep_point point[SWEEP_SIDE * SWEEP_SIDE]; /* row by row */
};

/* The @pair-th map (modulo their number) around @sel; refused points know it. Owned: free(). */
struct sweep_map *sweep_map_new(const struct selection *sel, unsigned pair);
unsigned sweep_map_points(const struct sweep_map *m);
/* What point @i runs. */
struct selection sweep_map_selection(const struct sweep_map *m, unsigned i);
/* The point of @sel; -1 = it is none of this map's. */
int sweep_map_find(const struct sweep_map *m, const struct selection *sel);
/* Would a map around @sel be of the same launches? */
bool sweep_map_fits(const struct sweep_map *m, const struct selection *sel);
/* Takes a record as the point it belongs to; false = to none. */
bool sweep_map_put(struct sweep_map *m, const struct run_record *r);
/* The point that runs next: the one nearest to @from; -1 = all have run. */
int sweep_map_due(const struct sweep_map *m, unsigned from);
/* Points that have run; the quickest of those whose time is known; -1 = none. */
unsigned sweep_map_ran(const struct sweep_map *m);
int sweep_map_best(const struct sweep_map *m);
const char *sweep_map_unit(const struct sweep_map *m);
/* The emulator's PTX lacks the traffic of spilled registers: a modelled time that is too short. */
bool sweep_point_too_short(const struct sweep_point *p);

#endif
