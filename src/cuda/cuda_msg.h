/*
 * What the program and its GPU worker say to each other: requests, answers and their encoding.
 *
 * Buffers travel beside a run in a shared-memory file; everything else is in the frame. Every count
 * is bounded on reading; a decoder that meets nonsense returns false and leaves nothing allocated.
 */
#ifndef PMPP_CUDA_CUDA_MSG_H
#define PMPP_CUDA_CUDA_MSG_H

#include "backend/backend.h"
#include "cuda/cuda_fault.h"
#include "base/wire.h"

/* X(ID) : to the worker, then from the worker */
#define CUDA_MSGS(X) \
	X(PROBE)         \
	X(SHEET)         \
	X(RUN)           \
	X(GEMM)          \
	X(CANCEL)        \
	X(BYE)           \
	X(HELLO)         \
	X(STEP)          \
	X(PROGRESS)      \
	X(REFUSED)       \
	X(PROBED)        \
	X(SHEET_IS)      \
	X(REPORT)        \
	X(GEMM_IS)

enum cuda_msg {
	MSG_NONE,
#define X(id) MSG_##id,
	CUDA_MSGS(X)
#undef X
		MSG_COUNT
};

#define CUDA_PROTOCOL 5u
#define CUDA_MAX_DEVICES 8
#define CUDA_MAX_CAPS 5

/* Bit number of a capability. */
enum { CAPN_TIME, CAPN_STATIC, CAPN_COUNTERS, CAPN_TIMELINE, CAPN_PER_LINE };

struct cuda_device_info {
	char name[64];
	char bus_id[24];
	int cc_major, cc_minor;
	uint64_t bytes;
};

struct cuda_info {
	char driver[32];      /* "580.159.04"; "" = unknown */
	unsigned driver_cuda; /* 13000 */
	unsigned cupti;       /* 130001; 0 = none */
	char chip[16];        /* of the chosen device, as CUPTI calls it */
	char cupti_path[256];
	unsigned device; /* the chosen one */
	unsigned n_devices;
	struct cuda_device_info devices[CUDA_MAX_DEVICES];
	struct cuda_fault cap[CUDA_MAX_CAPS]; /* FAULT_NONE = works */
};

struct cuda_job {
	unsigned device, caps, repeat;
	bool warm_l2, stalls;
	char entry[256], source_file[128], key[33];
	struct dim3u grid, block;
	uint32_t dynamic_shared_bytes;
	unsigned n_buffers, n_args;
	struct {
		char name[32];
		uint64_t offset, bytes; /* in the shared memory */
		uint32_t elem;          /* bytes of an element */
		enum buffer_role role;
		bool partial;
		bool patterned;   /* before the run, every word of it is */
		uint32_t pattern; /* this */
	} buffers[KERNEL_MAX_BUFFERS];
	struct kernel_arg args[KERNEL_MAX_ARGS];
	/* the timeline's: pieces differ in grid and arguments only */
	struct stream_program program;
	struct {
		struct dim3u grid;
		struct kernel_arg args[KERNEL_MAX_ARGS];
	} launches[STREAM_LAUNCHES];
	const void *cubin;         /* points into the message it came with */
	const char *ptx;           /* terminated */
	size_t cubin_len, ptx_len; /* ptx_len without the end */
};

/* What a run gave; cuda_report_free(). */
struct cuda_report {
	struct run_result run;             /* what told_table has; the rest is the reader's to find */
	double metric[METRIC_COUNT];       /* NAN = not read */
	uint16_t metric_why[METRIC_COUNT]; /* fault_id where it is NAN */
	struct cuda_fault cap[CUDA_MAX_CAPS]; /* why a capability gave nothing in this run */
};

struct cuda_gemm_job {
	unsigned device, m, n, k, repeat;
	unsigned mode; /* enum cuda_gemm_mode */
	bool warm_l2;
};

void cuda_put_info(struct wire_msg *m, const struct cuda_info *i);
bool cuda_get_info(struct wire_msg *m, struct cuda_info *i);
void cuda_put_job(struct wire_msg *m, const struct cuda_job *j);
/* @shared_bytes: size of the memory that came along; every buffer lies within. */
bool cuda_get_job(struct wire_msg *m, uint64_t shared_bytes, struct cuda_job *j);
void cuda_put_report(struct wire_msg *m, const struct cuda_report *r);
bool cuda_get_report(struct wire_msg *m, struct cuda_report *r);
void cuda_report_free(struct cuda_report *r);
void cuda_put_sheet(struct wire_msg *m, const struct gpu_spec *g);
bool cuda_get_sheet(struct wire_msg *m, struct gpu_spec *g);
void cuda_put_gemm(struct wire_msg *m, const struct cuda_gemm_job *j);
bool cuda_get_gemm(struct wire_msg *m, struct cuda_gemm_job *j);
void cuda_put_fault(struct wire_msg *m, const struct cuda_fault *f);
bool cuda_get_fault(struct wire_msg *m, struct cuda_fault *f);

#endif
