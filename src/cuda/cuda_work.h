/*
 * What the GPU worker process keeps between requests, and the steps its files offer each other.
 *
 * Private to the worker's side. The program itself loads no CUDA library: see cuda_client.h.
 * Functions return false with the fault; after a sticky one `poisoned` is set and the worker ends
 * itself once it has answered, because a faulted context cannot be mended in its process.
 */
#ifndef PMPP_CUDA_CUDA_WORK_H
#define PMPP_CUDA_CUDA_WORK_H

#include "cuda/cuda_dl.h"
#include "cuda/cuda_gemm.h"
#include "cuda/cuda_msg.h"
#include "cuda/cupti_host.h"

#define WORK_MODULES 32

struct loaded_module {
	uint64_t hash;
	CUmodule module;
	bool jit;
	double load_ns;
};

/* The one open range-profiler session; see cuda_profile.c. */
struct profile_session {
	bool open, stalls;
	struct cupti_host host;
	CUpti_RangeProfiler_Object *object;
	uint8_t *data;
	size_t data_size;
};

/* L2 is emptied by reading a buffer several times its size. */
struct flusher {
	bool tried, ready;
	CUmodule module;
	CUfunction function;
	CUdeviceptr buffer;
	size_t bytes;
	unsigned blocks;
};

struct work {
	int fd;
	bool poisoned;
	/* driver */
	bool cu_ready;
	struct cuda_fns cu;
	int driver_cuda, n_devices;
	/* device and context */
	bool has_ctx;
	unsigned device;
	CUdevice dev;
	CUcontext ctx;
	CUstream stream;
	double context_ns; /* it took */
	/* CUPTI */
	bool cupti_tried, cupti_ready;
	struct cupti_fns cupti;
	struct fault cupti_why;
	char chip[16], cupti_path[256];
	unsigned cupti_version;
	/* NVML */
	bool nvml_tried, nvml_ready;
	struct nvml_fns nvml;
	nvml_device nvml_dev;
	char driver[32];
	/* kept between runs */
	unsigned n_modules, next_module;
	struct loaded_module modules[WORK_MODULES];
	struct profile_session session;
	bool lines_configured; /* SASS metrics; see cuda_lines.c */
	struct flusher flusher;
};

/* Tells the program what is being done, for its message should this process die doing it. */
void work_step(struct work *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void work_progress(struct work *w, double fraction);
/* The program asked to stop the run in hand. */
bool work_cancelled(struct work *w);
/* "cuInit: 100 CUDA_ERROR_NO_DEVICE" as a fault; false unless @r is success. */
bool cu_ok(struct work *w, CUresult r, const char *what, struct fault *why);

/* cuda_device.c: driver, context, CUPTI, NVML; each opened once, when first needed. */
bool work_driver(struct work *w, struct fault *why);
bool work_context(struct work *w, unsigned device, struct fault *why);
bool work_cupti(struct work *w, struct fault *why);
int work_attribute(struct work *w, CUdevice_attribute a); /* 0 when refused */
void work_clocks(struct work *w, double *sm_mhz, double *memory_mhz);
void work_probe(struct work *w, unsigned device, struct cuda_info *info);
bool work_sheet(struct work *w, unsigned device, struct gpu_spec *g, struct fault *why);
/* RmProfilingAdminOnly of /proc/driver/nvidia/params: 1, 0, or -1 when it cannot be read. */
int work_admin_only(void);
/* CUDA_INJECTION64_PATH and the like: the name of the variable, or NULL. */
const char *work_injected(void);

/* cuda_launch.c */
struct launch {
	const struct cuda_job *job;
	CUfunction function;
	double load_ns; /* loading its module took */
	CUdeviceptr buffers[KERNEL_MAX_BUFFERS];
	CUdeviceptr pristine[KERNEL_MAX_BUFFERS]; /* of buffers that a launch changes in place; 0 */
};
bool launch_module(struct work *w, const struct cuda_job *j, struct launch *l, bool *jit,
                   struct fault *why);
bool launch_on(struct work *w, const struct launch *l, const CUdeviceptr *buffers, CUstream stream,
               struct fault *why);
/* The same with another grid and other arguments. */
bool launch_as(struct work *w, const struct launch *l, struct dim3u grid,
               const struct kernel_arg *values, const CUdeviceptr *buffers, CUstream stream,
               struct fault *why);
/* Puts back what the kernel changes in place, on the worker's stream. */
bool launch_restore(struct work *w, const struct launch *l, struct fault *why);
/* Runs @job on @shared, in place; fills @report. False: the run as a whole failed. */
bool launch_run(struct work *w, const struct cuda_job *job, uint8_t *shared,
                struct cuda_report *report, struct fault *why);

/* cuda_time.c: the median of repeated launches of anything. */
struct timed {
	bool (*launch)(struct work *w, void *ctx, struct fault *why);
	bool (*restore)(struct work *w, void *ctx, struct fault *why); /* NULL = nothing to put back */
	void *ctx;
	unsigned repeat;
	bool warm_l2;
};
bool time_median(struct work *w, const struct timed *t, struct run_timing *out, struct fault *why);
/* Queues the emptying of L2 on the worker's stream. True without effect where that is not possible
 * (flusher.ready tells). */
bool time_flush(struct work *w, struct fault *why);

/* cuda_profile.c */
bool profile_counters(struct work *w, const struct launch *l, struct cuda_report *report,
                      struct fault *why);
void profile_close(struct work *w);
/* Tries what counters need, without a kernel. */
bool profile_try(struct work *w, struct fault *why);
/* A GPU newer than CUPTI has no names to ask for. */
bool profile_knows_chip(struct work *w, struct fault *why);

/* cuda_activity.c: records between begin and end, for the owner of the worker's one collection. */
bool activity_begin(struct work *w, struct fault *why);
void activity_end(struct work *w);
/* Forgets what was seen until now. */
void activity_clear(struct work *w);
/* What was seen since begin, as spans ascending by start. Copies and kernels belong to @ops in the
 * order of their calls: they and their calls get that op's number + 1 as correlation. */
bool activity_spans(const struct stream_program *p, struct cuda_report *report, struct fault *why);
/* Durations of the kernels launched by @t, as the GPU stamped them: at most @max, in order. */
bool activity_durations(struct work *w, const struct timed *t, unsigned n, double *ns,
                        unsigned *got, struct fault *why);

/* cuda_stream.c: the job's stream program, for real. */
bool stream_timeline(struct work *w, const struct launch *l, const uint8_t *shared,
                     struct cuda_report *report, struct fault *why);

/* cuda_lines.c */
bool lines_measure(struct work *w, const struct launch *l, struct cuda_report *report,
                   struct fault *why);

/* cuda_gemm.c */
bool gemm_time(struct work *w, const struct cuda_gemm_job *j, struct run_timing *out,
               struct fault *why);

#endif
