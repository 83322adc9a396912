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

/* Page-locked memory that a piece of a large copy passes through; see cuda_copy.c. */
#define COPY_SLOTS 2

struct copy_slot {
	void *host;
	CUevent done; /* with the piece */
};

struct gpu_worker {
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
	struct cuda_fault cupti_why;
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
	/* kept during a run */
	struct copy_slot slots[COPY_SLOTS];
};

/* cuda_talk.c. Sends @m, frees it; false when the program is gone. */
bool work_answer(struct gpu_worker *w, struct wire_msg *m);
/* Tells the program what is being done, for its message should this process die doing it. */
void work_step(struct gpu_worker *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void work_progress(struct gpu_worker *w, double fraction);
/* The program asked to stop the run in hand. */
bool work_cancelled(struct gpu_worker *w);
/* The same, with the fault that says so. */
bool work_stopped(struct gpu_worker *w, struct cuda_fault *why);

/* cuda_device.c: driver, context, CUPTI, NVML; each opened once, when first needed. */
/* "cuInit: 100 CUDA_ERROR_NO_DEVICE" as a fault; false unless @r is success. */
bool cu_ok(struct gpu_worker *w, CUresult r, const char *what, struct cuda_fault *why);
bool work_driver(struct gpu_worker *w, struct cuda_fault *why);
bool work_context(struct gpu_worker *w, unsigned device, struct cuda_fault *why);
bool work_cupti(struct gpu_worker *w, struct cuda_fault *why);
int work_attribute(struct gpu_worker *w, CUdevice_attribute a); /* 0 when refused */
/* False without NVML: its clocks are then 0. */
bool work_nvml(struct gpu_worker *w);
/* MHz of NVML_CLOCK_SM or NVML_CLOCK_MEM: what they are now, and the highest; 0 = unknown. */
void work_clocks(struct gpu_worker *w, double *sm_mhz, double *memory_mhz);
double work_highest_clock(struct gpu_worker *w, int type);
/* RmProfilingAdminOnly of /proc/driver/nvidia/params: 1, 0, or -1 when it cannot be read. */
int work_admin_only(void);
/* CUDA_INJECTION64_PATH and the like: the name of the variable, or NULL. */
const char *work_injected(void);

/* cuda_probe.c, cuda_sheet.c: facts of @device for the program. */
void work_probe(struct gpu_worker *w, unsigned device, struct cuda_info *info);
bool work_sheet(struct gpu_worker *w, unsigned device, struct gpu_spec *g, struct cuda_fault *why);

/* cuda_launch.c */
struct gpu_launch {
	const struct cuda_job *job;
	CUfunction function;
	double load_ns; /* loading its module took */
	CUdeviceptr buffers[KERNEL_MAX_BUFFERS];
	CUdeviceptr pristine[KERNEL_MAX_BUFFERS]; /* of buffers that a launch changes in place; 0 */
};
bool launch_module(struct gpu_worker *w, const struct cuda_job *j, struct gpu_launch *l, bool *jit,
                   struct cuda_fault *why);
bool launch_on(struct gpu_worker *w, const struct gpu_launch *l, const CUdeviceptr *buffers,
               CUstream stream, struct cuda_fault *why);
/* The same with another grid and other arguments. */
bool launch_as(struct gpu_worker *w, const struct gpu_launch *l, struct dim3u grid,
               const struct kernel_arg *values, const CUdeviceptr *buffers, CUstream stream,
               struct cuda_fault *why);
/* Puts back what the kernel changes in place, on the worker's stream. */
bool launch_restore(struct gpu_worker *w, const struct gpu_launch *l, struct cuda_fault *why);
/* cuda_time.c: the median of repeated launches of anything. */
struct timed {
	bool (*launch)(struct gpu_worker *w, void *ctx, struct cuda_fault *why);
	bool (*restore)(struct gpu_worker *w, void *ctx,
	                struct cuda_fault *why); /* NULL = nothing to put back */
	void *ctx;
	unsigned repeat;
	bool warm_l2;
};
bool time_median(struct gpu_worker *w, const struct timed *t, struct run_timing *out,
                 struct cuda_fault *why);
/* cuda_flush.c. Queues the emptying of L2 on the worker's stream. True without effect where that is
 * not possible (flusher.ready tells). */
bool flush_l2(struct gpu_worker *w, struct cuda_fault *why);

/* cuda_profile.c */
bool profile_counters(struct gpu_worker *w, const struct gpu_launch *l, struct cuda_report *report,
                      struct cuda_fault *why);
void profile_close(struct gpu_worker *w);
/* Tries what counters need, without a kernel. */
bool profile_try(struct gpu_worker *w, struct cuda_fault *why);
/* A GPU newer than CUPTI has no names to ask for. */
bool profile_knows_chip(struct gpu_worker *w, struct cuda_fault *why);

/* cuda_activity.c: records between begin and end, for the owner of the worker's one collection. */
bool activity_begin(struct gpu_worker *w, struct cuda_fault *why);
void activity_end(struct gpu_worker *w);
/* Forgets what was seen until now. */
void activity_clear(struct gpu_worker *w);
/* What was seen since begin, as spans ascending by start. Copies and kernels belong to @ops in the
 * order of their calls: they and their calls get that op's number + 1 as correlation. */
bool activity_spans(const struct stream_program *p, struct cuda_report *report,
                    struct cuda_fault *why);
/* Durations of the kernels launched by @t, as the GPU stamped them: at most @max, in order. */
bool activity_durations(struct gpu_worker *w, const struct timed *t, unsigned n, double *ns,
                        unsigned *got, struct cuda_fault *why);

/* cuda_stream.c: the job's stream program, for real. */
bool stream_timeline(struct gpu_worker *w, const struct gpu_launch *l, uint8_t *shared,
                     struct cuda_report *report, struct cuda_fault *why);

/* cuda_lines.c */
bool lines_measure(struct gpu_worker *w, const struct gpu_launch *l, struct cuda_report *report,
                   struct cuda_fault *why);

/* cuda_copy.c: @bytes from @host to @device, or @back; done when it returns. */
bool copy_buffer(struct gpu_worker *w, CUdeviceptr device, uint8_t *host, uint64_t bytes, bool back,
                 struct cuda_fault *why);
/* Frees what large copies needed. */
void copy_end(struct gpu_worker *w);

/* cuda_run.c. Runs @job on @shared, in place; fills @report. False: the run as a whole failed. */
bool run_job(struct gpu_worker *w, const struct cuda_job *job, uint8_t *shared,
             struct cuda_report *report, struct cuda_fault *why);

/* cuda_gemm.c */
bool gemm_time(struct gpu_worker *w, const struct cuda_gemm_job *j, struct run_timing *out,
               struct cuda_fault *why);

#endif
