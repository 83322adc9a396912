/*
 * A GPU as a data sheet: the figures that occupancy, roofline and time model need.
 *
 * One YAML file per GPU in presets/gpus/, each figure with its source. The sheets are built into
 * the program; a path to a file of the same form is accepted wherever an id is.
 * A sheet made from a live device fills the same struct.
 */
#ifndef PMPP_MODEL_GPU_H
#define PMPP_MODEL_GPU_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpu_source {
	char figures[256]; /* names of the figures it vouches for, separated by spaces */
	char text[256];    /* document and table, or formula, or what it is an estimate from */
};
#define GPU_MAX_SOURCES 24

/*
 * Every figure, once: X(TYPE, field, least, most, "what it is"). The sheet's keys, its range
 * checks and the rule "every figure has a source" derive from this list; id, name, arch and chip
 * are text and stand apart.
 */
#define GPU_FIGURES(X)                                                                     \
	X(INT, cc_major, 7, 12, "compute capability, major")                                   \
	X(INT, cc_minor, 0, 9, "compute capability, minor")                                    \
	X(UINT, sm_count, 1, 1024, "streaming multiprocessors")                                \
	X(UINT, max_threads_per_sm, 32, 4096, "resident threads of an SM")                     \
	X(UINT, max_blocks_per_sm, 1, 64, "resident blocks of an SM")                          \
	X(UINT, max_threads_per_block, 32, 1024, "threads of a block")                         \
	X(UINT, warp_size, 32, 32, "lanes of a warp")                                          \
	X(UINT, regs_per_sm, 1024, 1048576, "32-bit registers of an SM")                       \
	X(UINT, regs_per_block, 1024, 1048576, "32-bit registers of a block")                  \
	X(UINT, max_regs_per_thread, 32, 256, "32-bit registers of a thread")                  \
	X(UINT, smem_per_sm_bytes, 16384, 1048576, "shared memory of an SM")                   \
	X(UINT, smem_per_block_bytes, 16384, 1048576, "shared memory of a block")              \
	X(UINT, smem_per_block_optin_bytes, 16384, 1048576, "the same, asked for by the host") \
	X(UINT, smem_reserved_per_block_bytes, 0, 16384, "shared memory the system keeps")     \
	X(FLOAT, clock_mhz, 100, 10000, "boost clock of the SMs")                              \
	X(UINT, fp32_lanes_per_sm, 1, 1024, "FP32 results per clock and SM")                   \
	X(UINT, fp64_lanes_per_sm, 1, 1024, "FP64 results per clock and SM")                   \
	X(UINT, int32_lanes_per_sm, 1, 1024, "32-bit integer results per clock and SM")        \
	X(UINT, sfu_lanes_per_sm, 1, 1024, "special-function results per clock and SM")        \
	X(UINT, lsu_lanes_per_sm, 1, 1024, "load/store addresses per clock and SM")            \
	X(UINT, schedulers_per_sm, 1, 16, "warp schedulers of an SM")                          \
	X(FLOAT, fp16_tensor_gflops, 0, 1e8, "dense FP16 tensor peak, FP32 accumulate")        \
	X(FLOAT, fp32_gflops, 1, 1e8, "FP32 peak as the data sheet prints it")                 \
	X(FLOAT, fp64_gflops, 1, 1e8, "FP64 peak as the data sheet prints it")                 \
	X(FLOAT, dram_gbs, 1, 1e6, "device-memory bandwidth, 1e9 bytes/s")                     \
	X(FLOAT, dram_bytes, 1e6, 1e14, "device-memory capacity")                              \
	X(FLOAT, l2_bytes, 1e4, 1e12, "L2 cache")                                              \
	X(FLOAT, l1_bytes, 1e4, 1e8, "L1 cache and shared memory of an SM together")           \
	X(FLOAT, l2_gbs, 1, 1e7, "bandwidth from L2 to the SMs, 1e9 bytes/s")                  \
	X(FLOAT, dram_latency_ns, 1, 1e5, "a load that misses L2")                             \
	X(FLOAT, l2_latency_ns, 1, 1e5, "a load that hits L2")                                 \
	X(FLOAT, l1_latency_ns, 1, 1e4, "a load that hits L1")                                 \
	X(FLOAT, smem_latency_ns, 1, 1e4, "a shared-memory load")                              \
	X(FLOAT, launch_overhead_ns, 0, 1e6, "an empty kernel, start to end")                  \
	X(FLOAT, pcie_gbs, 0.1, 1e4, "host link, one direction")                               \
	X(UINT, copy_engines, 1, 16, "copies that can run at once")

/*
 * What a sheet may leave out; the same form, with a source, as above. The peak of tensor cores on
 * TF32, which older ones do not have; partitions of L2, 0 = one; and what this card in its machine
 * was measured to do with copies and calls, 0 = not measured: stream.h has a rule for each.
 */
#define GPU_OPTIONAL_FIGURES(X)                                                 \
	X(FLOAT, tf32_tensor_gflops, 0, 1e8, "dense TF32 tensor peak")              \
	X(UINT, l2_partitions, 0, 4, "parts of L2, each with copies for its SMs")   \
	X(FLOAT, pinned_gbs, 0, 1e4, "copies of pinned memory, one direction")      \
	X(FLOAT, duplex_gbs, 0, 1e4, "the same, both directions at once, each")     \
	X(FLOAT, pageable_h2d_gbs, 0, 1e4, "copies of pageable memory to the GPU")  \
	X(FLOAT, pageable_d2h_gbs, 0, 1e4, "copies of pageable memory to the host") \
	X(FLOAT, copy_latency_ns, 0, 1e6, "a copy, beside its bytes")               \
	X(FLOAT, copy_call_ns, 0, 1e6, "an asynchronous copy's call on the host")   \
	X(FLOAT, launch_call_ns, 0, 1e6, "a launch's call on the host")

/* Every figure but the optional ones is required in a sheet; units are in the names. */
struct gpu_spec {
	char id[32];   /* "a100" */
	char name[64]; /* "A100-SXM4-40GB" */
	char arch[32]; /* "Ampere" */
	char chip[16]; /* "GA100": CUPTI's chip name */
	int cc_major, cc_minor;
	unsigned sm_count;
	/* limits of an SM and of a block */
	unsigned max_threads_per_sm, max_blocks_per_sm, max_threads_per_block, warp_size;
	unsigned regs_per_sm, regs_per_block, max_regs_per_thread;
	unsigned smem_per_sm_bytes, smem_per_block_bytes, smem_per_block_optin_bytes,
		smem_reserved_per_block_bytes;
	/* rates */
	double clock_mhz; /* boost clock that the peak figures use */
	unsigned fp32_lanes_per_sm, fp64_lanes_per_sm, int32_lanes_per_sm, sfu_lanes_per_sm,
		lsu_lanes_per_sm, schedulers_per_sm;
	double fp16_tensor_gflops;       /* dense, FP32 accumulate; 0 = none, and a source says so */
	double tf32_tensor_gflops;       /* dense; 0 = none, or not known */
	double fp32_gflops, fp64_gflops; /* printed peak of the data sheet */
	double dram_gbs;                 /* device-memory bandwidth, 1e9 bytes/s */
	double dram_bytes;               /* capacity */
	double l2_bytes, l1_bytes;       /* l1: unified L1/shared of one SM */
	double l2_gbs;                   /* L2 to SMs */
	unsigned l2_partitions;          /* each keeps what its SMs read; 0 = one */
	double dram_latency_ns, l2_latency_ns, l1_latency_ns, smem_latency_ns;
	double launch_overhead_ns; /* start to end of an empty kernel, on the GPU's timer */
	double pcie_gbs;           /* host link, one direction, of the card's own width */
	unsigned copy_engines;
	double pinned_gbs, duplex_gbs, pageable_h2d_gbs, pageable_d2h_gbs, copy_latency_ns,
		copy_call_ns, launch_call_ns; /* GPU_OPTIONAL_FIGURES; 0 = not measured */
	bool live;                        /* made from a device, not from a sheet */
	unsigned n_sources;
	struct gpu_source sources[GPU_MAX_SOURCES];
};

/*
 * Built-in sheets, ordered by id. The table is loaded once; a malformed built-in sheet is a build
 * error (tests load the whole folder). gpu_find() accepts any case; NULL = none.
 */
size_t gpu_count(void);
const struct gpu_spec *gpu_at(size_t i);
const struct gpu_spec *gpu_find(const char *id);
/* id in any case, or the path of a YAML sheet (has a '/' or ends in .yaml); *@out lasts as long as
 * the program. Errors carry file:line, the line itself and a caret; an unknown id suggests the
 * nearest. */
bool gpu_load(const char *id_or_path, const struct gpu_spec **out, struct err *err);
/* Parses a sheet's text; @origin names it in messages. */
bool gpu_parse(const char *yaml, size_t len, const char *origin, struct gpu_spec *out,
               struct err *err);
/*
 * The one sheet of this content in the process: a built-in one, or a copy of @g that is never
 * changed and never freed, so that runs and messages hold a pointer. Thread-safe.
 */
const struct gpu_spec *gpu_intern(const struct gpu_spec *g);
/* Resident warps of an SM, ridge point etc. that several places need. */
unsigned gpu_max_warps_per_sm(const struct gpu_spec *g);
double gpu_ridge_flop_per_byte(const struct gpu_spec *g);               /* fp32_gflops / dram_gbs */
const char *gpu_sm_name(const struct gpu_spec *g, char *out, size_t n); /* "sm_80" */
/* What vouches for a figure ("dram_gbs"); NULL when no source names it (a live device). */
const char *gpu_source_of(const struct gpu_spec *g, const char *figure);

#endif
