/*
 * The replacement of NVIDIA's runtime library inside a person's program: what its parts share.
 *
 * The program runs unmodified; its calls of the runtime API arrive here, kernels run in the
 * emulator, and what happened is written as records to the descriptor that the explorer gave (see
 * runtime/record.h). Everything below is guarded by one lock: guest_enter(), guest_leave().
 */
#ifndef PMPP_RUNTIME_GUEST_H
#define PMPP_RUNTIME_GUEST_H

#include "emu/device.h"
#include "model/gpu.h"
#include "runtime/record.h"

#include "guest_names.h" /* generated: our functions are guest_cuda... inside this library */

#include <cuda_runtime_api.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUEST_API __attribute__((visibility("default")))

/* --- modules and what the program registered in them: guest_register.c --- */

struct guest_module {
	const uint8_t *fatbin;       /* NULL: ptx */
	const uint8_t *const *parts; /* NULL, or ended by NULL: of relocatable code, linked by us */
	const char *ptx;             /* text that the program loaded by itself */
	void *owned;                 /* memory of ours that holds either */
	struct emu_module *loaded;   /* NULL until the first use */
	cudaError_t error;           /* of loading; cudaSuccess = loaded or not yet tried */
	bool tried;
	unsigned id;
	char *machine_code; /* for this device, from which its figures are read; NULL = it has none */
	size_t machine_code_bytes;
	char *text; /* its PTX, kept until machine code was asked for; NULL = not kept */
	size_t text_bytes;
	bool code_tried;   /* the explorer was asked for machine code that can be run */
	char no_code[256]; /* why there is none; "" = there is */
	char why[512];     /* it could not be loaded */
	struct guest_module *next;
};
struct guest_function {
	const void *host; /* address of the host's stub */
	char *name;
	struct guest_module *module;
	const struct emu_function *loaded;
	int max_dynamic_shared, carveout;
	bool any_cluster;               /* also of more blocks than every GPU can do */
	unsigned id;                    /* of its record; 0 = not yet described */
	unsigned registers;             /* per thread, from machine code or the explorer; 0 = unknown */
	uint64_t launches, last_launch; /* how many, and the number of the last among all kernels' */
	uint64_t code_bytes;            /* known once it has been launched */
	bool needs_known, allocates, prints; /* it may call malloc(), printf() */
	unsigned never_waited; /* launches in a row that might have waited for others and did not */
};
struct guest_variable {
	const void *host;
	char *name;
	size_t bytes;
	bool constant;
	void **managed; /* managed: the program's pointer to it */
	struct guest_module *module;
	bool written; /* set by the host at least once */
};

/* --- streams, events, graphs --- */

struct guest_graph;
struct guest_capture; /* guest_capture.h */
/* The nodes that the next one of a captured stream follows, as indexes in its graph. */
struct guest_front {
	unsigned n, cap, *node;
};
struct guest_stream {
	unsigned id; /* 0 = the legacy default stream */
	int priority;
	unsigned flags;
	double ready_ns;               /* GPU clock: its last operation ends */
	struct guest_capture *capture; /* NULL = it is not captured */
	struct guest_front front;
	cudaGraphNode_t *front_handles;  /* as the program was told last */
	cudaLaunchAttributeValue window; /* what was set of its L2 policy, given back when asked */
	enum cudaSynchronizationPolicy sync_policy;
	struct guest_stream *next;
};
struct guest_event {
	unsigned id, flags;
	bool recorded, pending;  /* pending: its record is behind a launch that waits (guest_later.h) */
	double at_ns;            /* GPU clock */
	uint64_t capture_number; /* recorded while capturing; 0 = it was not */
	struct guest_front front;
	_Atomic unsigned
		*shared; /* 1 = pending, as other processes see it (guest_ipc.c); NULL = none */
	struct guest_event *next; /* destroyed ones, to be used again: graphs may still name them */
};

/* --- everything --- */

struct guest {
	bool started;
	cudaError_t start_error; /* the runtime cannot work here: every call says so */
	struct gpu_spec gpu;
	struct emu_device *device;
	cudaError_t fault;    /* of a launch */
	cudaError_t sticky;   /* that, or what it led to: the program cannot get rid of it */
	bool launch_blocking; /* CUDA_LAUNCH_BLOCKING: each launch is waited for */
	struct guest_module *modules;
	struct guest_function **functions;
	size_t n_functions, cap_functions;
	struct guest_variable *variables;
	size_t n_variables, cap_variables;
	struct guest_stream *streams;
	unsigned n_streams, n_events;
	struct guest_event *spare_events;
	size_t limits[16]; /* by enum cudaLimit */
	struct record_config config;
	bool ends;    /* the program: what still goes on is given up */
	bool stopped; /* by --stop-after: what the program would still have done is not known */
	uint64_t unchecked_launch; /* it failed, and the program has not asked; 0 = none */
	bool launch_error_told;    /* a call returned the error of a launch */
	bool runtime_used;         /* not the driver API alone */
};
extern struct guest guest;

/* What a call has to do with the device. */
enum guest_need {
	GUEST_NEEDS_NOTHING, /* is answered even behind a fault of the device */
	GUEST_NEEDS_STREAM,  /* returns before its work is done: it may be too early for a fault */
	GUEST_NEEDS_DEVICE,  /* meets every fault */
};
/* Starts the runtime if need be and takes the lock. What it returns other than cudaSuccess is the
 * call's answer. guest_leave() notes @e as the thread's last error and gives the lock back. */
cudaError_t guest_enter_for(enum guest_need need);
cudaError_t guest_enter(void); /* for GUEST_NEEDS_DEVICE */
cudaError_t guest_leave(cudaError_t e);
/* A launch was at fault, and no call has said so: until the host waits, launches succeed. */
bool guest_fault_is_news(void);
/* Most functions: enter, do, leave. */
#define GUEST_CALL_FOR(need, ...)               \
	do {                                        \
		cudaError_t e_ = guest_enter_for(need); \
		if (e_ == cudaSuccess)                  \
			e_ = (__VA_ARGS__);                 \
		return guest_leave(e_);                 \
	} while (0)
#define GUEST_CALL(...) GUEST_CALL_FOR(GUEST_NEEDS_DEVICE, __VA_ARGS__)
#define GUEST_ANY_CALL(...) GUEST_CALL_FOR(GUEST_NEEDS_NOTHING, __VA_ARGS__)
#define GUEST_STREAM_CALL(...) GUEST_CALL_FOR(GUEST_NEEDS_STREAM, __VA_ARGS__)
/* guest_error.c */
void guest_note_error(cudaError_t e);
/* Where the program called us, for allocations and findings. @guest_caller: where it called the
 * driver API (driver/driver.h), which calls the runtime's functions itself; else NULL. */
extern _Thread_local const void *guest_caller;
#define GUEST_CALLER (guest_caller ? guest_caller : __builtin_return_address(0))

/* Modules with managed variables are loaded at the first call: the host may read them at once. */
cudaError_t guest_load_managed(void);
/* A module of a fat binary, with or without its wrapper, or of PTX text; NULL = neither. It keeps
 * pointing at @code. */
struct guest_module *guest_module_of_code(const void *code, struct err *err);
/* The PTX of any of these; NULL with the reason. Caller frees it. */
char *guest_ptx_of_code(const void *code, struct err *err);
/* guest_nvrtc.c: the PTX from which the program's own compilation or link made a cubin; NULL = none
 * did. */
const char *guest_ptx_of_cubin(const void *cubin);
/* ... which is kept; takes @ptx. */
void guest_keep_ptx(const void *cubin, size_t bytes, char *ptx);
/* Loads it if need be. */
cudaError_t guest_module_need(struct guest_module *m);
/* A kernel by its name in a loaded module, with or without a stub in the host; NULL = none. */
struct guest_function *guest_function_named(struct guest_module *m, const char *name);
/* Has @f been launched, and do SMs still hold its code, behind that of all that ran since? */
bool guest_code_is_kept(const struct guest_function *f);
/* Counts a launch of @f, the last of all functions'. */
void guest_function_ran(struct guest_function *f);
/* The function or variable behind the program's symbol, its module loaded; NULL with the reason. */
struct guest_function *guest_function_of(const void *host, cudaError_t *why);
struct guest_variable *guest_variable_of(const void *host, uint64_t *address, cudaError_t *why);
/* driver/: the driver's function of that name as CUDA @version knows it. False: not served. */
bool guest_driver_function(const char *symbol, int version, void **function);
/* The stream behind a handle: 0, cudaStreamLegacy and cudaStreamPerThread are two fixed ones. */
struct guest_stream *guest_stream_of(cudaStream_t handle);

#endif
