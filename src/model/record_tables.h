/* The fields of a run's record and of a snapshot, each once; see record_fields.h. */
#ifndef PMPP_MODEL_RECORD_TABLES_H
#define PMPP_MODEL_RECORD_TABLES_H

#include "model/record_fields.h"
#include "model/session.h"

/* record_run.c */
extern const struct record_table record_table;          /* struct run_record */
extern const struct record_table rung_record_table;     /* struct run_record: what a rung shows */
extern const struct record_table measured_table;        /* struct run_result: what a GPU told */
extern const struct record_table told_table;            /* struct run_result: and by line, spans */
extern const struct record_table timing_table;          /* struct run_timing */
extern const struct record_table loaded_table;          /* struct run_static */
extern const struct record_table races_table;           /* struct run_races */
extern const struct record_table fidelity_table;        /* struct run_fidelity */
extern const struct record_table perf_table;            /* struct perf_result */
extern const struct record_table occupancy_input_table; /* struct occ_input */
extern const struct record_table limits_table;          /* struct occ_result: `run --json` only */
/* record_code.c */
extern const struct record_table code_table; /* struct code_listing */
/* record_counts.c */
extern const struct record_table counts_table; /* struct run_counts */
extern const struct record_table line_table;   /* struct line_counts */
extern const struct record_table span_table;   /* struct span */
/* record_variation.c */
extern const struct record_codec variation_codec; /* of a struct run_record */
json_t *record_variation(const struct run_variation *v);
bool record_read_variation(struct reader *r, json_t *o, const char *key, struct run_variation *v);
/* record_timeline.c */
extern const struct record_codec timeline_codec; /* of a struct run_record: `run --json` only */
/* record_selection.c */
extern const struct record_table gpu_table;         /* struct gpu_spec */
extern const struct record_table selection_table;   /* struct selection */
extern const struct record_table brief_table;       /* struct run_brief */
json_t *record_params(const struct selection *sel); /* as the person writes them */
/* record_metrics.c */
extern const struct record_table metric_table; /* struct metric_value, beside value and unit */
json_t *record_metric(const struct metric_set *m, enum metric_id id, enum record_form form);
json_t *record_metrics(const struct metric_set *m, enum record_form form);
bool record_read_metrics(struct reader *r, json_t *o, const char *key, struct metric_set *m);
/* Where the metrics of struct T stand: what a row says after its codec. */
#define METRICS_SCHEMA                                                                \
	.table = &metric_table, .definition = "metrics",                                  \
	.schema = "{\"description\": \"every metric of the catalogue by its key; see "    \
			  "`pmpp-explore list metrics`\", \"type\": \"object\", "                 \
			  "\"propertyNames\": {\"pattern\": \"^[a-z0-9]+(\\\\.[a-z0-9_]+)+$\"}, " \
			  "\"additionalProperties\": {\"$ref\": \"#/definitions/metric\"}}"
/* record_map.c */
extern const struct record_table map_table; /* struct sweep_map */
extern const struct record_codec map_codec; /* of a struct session: its map */
/* record_session.c */
extern const struct record_table screen_table;  /* struct session: where the person looks */
extern const struct record_table tour_table;    /* struct session_tour */
extern const struct record_table session_table; /* struct session: a snapshot */
/* The schema of snapshots, whole; a new object. */
json_t *snapshot_schema(void);

/* enum verify_state and enum origin by their names. */
extern const struct record_names verify_names, origin_names;

#endif
