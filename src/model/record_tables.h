/* The fields of a run's record and of a snapshot's screen, each once; see record_fields.h. */
#ifndef PMPP_MODEL_RECORD_TABLES_H
#define PMPP_MODEL_RECORD_TABLES_H

#include "model/record_fields.h"
#include "model/session.h"

extern const struct record_table record_table;          /* struct run_record */
extern const struct record_table measured_table;        /* struct run_result: what a GPU told */
extern const struct record_table timing_table;          /* struct run_timing */
extern const struct record_table loaded_table;          /* struct run_static */
extern const struct record_table occupancy_input_table; /* struct occ_input */
extern const struct record_table perf_table;            /* struct perf_result */
extern const struct record_table tour_table;            /* struct session_tour */
extern const struct record_table screen_table;          /* struct session: where the person looks */
extern const struct record_table reference_run_table;   /* struct session: beside the run itself */
extern const struct record_table library_table;         /* struct ladder: a line to compare with */
extern const struct record_table ladder_reference_table; /* struct ladder: as recorded elsewhere */

/* enum verify_state by its names. */
#define VERIFY_NAMES 5
extern const char *const verify_names[VERIFY_NAMES];
/* enum origin by its names. */
extern const char *const origin_names[ORIGIN_COUNT];

/* The definitions of the schema that follow from tables; a new object. */
json_t *record_definitions(void);

#endif
