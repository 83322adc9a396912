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
	char figure[48]; /* name of the figure(s) it vouches for */
	char text[200];  /* document and table, or formula */
};

/* Every figure is required in a sheet; units are in the names. */
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
	double clock_mhz;               /* boost clock that the peak figures use */
	unsigned fp32_lanes_per_sm, fp64_lanes_per_sm, int32_lanes_per_sm, sfu_lanes_per_sm,
		lsu_lanes_per_sm, schedulers_per_sm;
	double fp16_tensor_gflops;      /* dense, FP32 accumulate; 0 with a source saying so = none */
	double fp32_gflops, fp64_gflops;/* printed peak of the data sheet */
	double dram_gbs;                /* device-memory bandwidth, 1e9 bytes/s */
	double dram_bytes;              /* capacity */
	double l2_bytes, l1_bytes;      /* l1: unified L1/shared of one SM */
	double l2_gbs;                  /* L2 to SMs */
	double dram_latency_ns, l2_latency_ns, l1_latency_ns, smem_latency_ns;
	double launch_overhead_ns;
	double pcie_gbs;                /* host link, one direction, of the card's own width */
	unsigned copy_engines;
	bool live;                      /* made from a device, not from a sheet */
	unsigned n_sources;
	struct gpu_source sources[40];
};

/*
 * Built-in sheets, ordered by id. The table is loaded once; a malformed built-in sheet is a build
 * error (tests load the whole folder). gpu_find() accepts any case; NULL = none.
 */
size_t gpu_count(void);
const struct gpu_spec *gpu_at(size_t i);
const struct gpu_spec *gpu_find(const char *id);
/* id in any case, or the path of a YAML sheet (has a '/' or ends in .yaml). Errors carry
 * file:line, the line itself and a caret; an unknown id suggests the nearest. */
bool gpu_load(const char *id_or_path, struct gpu_spec *out, struct err *err);
/* Parses a sheet's text; @origin names it in messages. */
bool gpu_parse(const char *yaml, size_t len, const char *origin, struct gpu_spec *out,
               struct err *err);
/* 32 * max warps, ridge point etc. that several places need. */
unsigned gpu_max_warps_per_sm(const struct gpu_spec *g);
double gpu_ridge_flop_per_byte(const struct gpu_spec *g); /* fp32_gflops / dram_gbs */
const char *gpu_sm_name(const struct gpu_spec *g, char *out, size_t n); /* "sm_80" */

#endif
