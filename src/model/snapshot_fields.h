/*
 * The fields that writer and reader of snapshots share, once; private to snapshot_*.c.
 * D double, U unsigned, L uint64_t, I int, B bool, T char array.
 */
#ifndef PMPP_MODEL_SNAPSHOT_FIELDS_H
#define PMPP_MODEL_SNAPSHOT_FIELDS_H

#define OCC_IN_FIELDS(X) \
	X(U, block_threads)  \
	X(U, regs_per_thread) X(U, static_shared_bytes) X(U, dynamic_shared_bytes) X(U, barriers)
#define PERF_FIELDS(X) X(D, kernel_ns) X(D, waves) X(D, tail_factor)
#define CHECK_FIELDS(X) \
	X(B, ok)            \
	X(L, errors)        \
	X(L, first) X(U, buffer) X(D, got) X(D, want) X(D, tolerance) X(D, max_rel_error) X(T, note)
#define RUN_COUNTS_FIELDS(X) \
	X(L, blocks_run)         \
	X(L, blocks_total) X(B, steps_cut) X(D, dram_read_bytes) X(D, dram_write_bytes) X(D, l2_sectors)
#define ACCESS_FIELDS(X) \
	X(U, line)           \
	X(T, op) X(U, bytes_per_lane) X(B, store) X(B, shared) X(U, mask) X(I, buffer) X(L, executions)
#define STEP_FIELDS(X) X(U, line) X(U, mask) X(U, instructions)
#define SPAN_FIELDS(X) \
	X(T, name)         \
	X(U, stream) X(U, correlation) X(D, start_ns) X(D, end_ns) X(D, queued_ns) X(L, bytes)
#define TIMING_FIELDS(X) \
	X(U, n)              \
	X(D, median_ns)      \
	X(D, min_ns)         \
	X(D, max_ns)         \
	X(D, q1_ns)          \
	X(D, q3_ns) X(B, l2_flushed) X(B, from_activity) X(D, event_ns) X(D, sm_mhz) X(D, memory_mhz)
#define LOADED_FIELDS(X)      \
	X(B, known)               \
	X(U, registers)           \
	X(U, static_shared_bytes) \
	X(U, local_bytes) X(U, const_bytes) X(U, max_threads) X(U, blocks_per_sm) X(B, jit)
#define MEASURED_FIELDS(X) X(B, spans_from_events) X(U, counter_passes) X(D, counters_s)
#define TOUR_FIELDS(X) X(T, name) X(U, step) X(B, judged) X(B, off_path) X(B, revealed)
#define RECORD_FIELDS(X) X(T, verify_text) X(T, module_key) X(T, compiler) X(U, spill_bytes)
#define RUN_FIELDS(X) X(D, wall_s) X(T, note)

/* Names of enumerations as the document spells them, in their order. */
static const char *const verify_names[] = { "not run", "ok", "wrong", "sampled", "no reference" };

#endif
