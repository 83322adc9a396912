/*
 * A virtual GPU that lives as long as a program does: its memory, the modules loaded into it, and
 * launches on both. Device addresses are host addresses, so that managed and pinned memory and
 * pointers inside structures need nothing more.
 *
 * One launch at a time, but for those that wait (emu_running_apart()); the caller locks. Knows no
 * runtime API and no file.
 */
#ifndef PMPP_EMU_DEVICE_H
#define PMPP_EMU_DEVICE_H

#include "backend/backend.h"
#include "base/err.h"
#include "base/memory_left.h"
#include "emu/device_work.h"
#include "emu/launch_order.h"
#include "model/gpu.h"

#include <stdbool.h>
#include <stdint.h>

struct emu_device;
struct emu_module;
struct emu_function;

enum emu_memory {
	EMU_MEMORY_DEVICE,
	EMU_MEMORY_MANAGED,
	EMU_MEMORY_PINNED,     /* allocated by the device for the host */
	EMU_MEMORY_REGISTERED, /* the host's own, made known to the device */
	EMU_MEMORY_VARIABLE,   /* __device__ and __constant__ */
};

struct emu_allocation {
	uint64_t address, bytes;
	enum emu_memory kind;
	uint64_t serial;    /* 1, 2, ... in the order of their making */
	const void *caller; /* return address of the call that made it; NULL = unknown */
	const char *name;   /* of a variable; else NULL */
};

/* @gpu is copied. False: the address range is taken or cannot be reserved. */
bool emu_device_new(struct emu_device **out, const struct gpu_spec *gpu, struct err *err);
void emu_device_free(struct emu_device *d);

/* Address of @bytes (> 0) of device, managed or pinned memory, aligned to 512; 0 = no room for it
 * on this GPU (device and managed) or in this machine. */
uint64_t emu_device_alloc(struct emu_device *d, uint64_t bytes, enum emu_memory kind,
                          const void *caller);
/* Gives back all memory but that of variables. */
void emu_device_release_all(struct emu_device *d);
/* Makes the host's [address, address + bytes) accessible. False: part of it is known already. */
bool emu_device_register(struct emu_device *d, uint64_t address, uint64_t bytes,
                         const void *caller);
/* @address: where an allocation begins. False: none does. */
bool emu_device_release(struct emu_device *d, uint64_t address);
/* Device memory that is allocated from page_guard_begin() on is guarded (memory/page_guard.c); no
 * longer, of all of it. */
void emu_device_guard_end(const struct emu_device *d);
/* Is there memory for @bytes more of it on this machine, of what was left when the program began?
 * @left: how much there is; may be NULL. */
bool emu_device_host_has(const struct emu_device *d, uint64_t bytes, struct memory_left *left);
/* The allocation that holds @address. False: none does. */
bool emu_device_find(const struct emu_device *d, uint64_t address, struct emu_allocation *out);
/* Does @address lie in the range that device addresses are taken from, allocated or not? */
bool emu_device_covers(const struct emu_device *d, uint64_t address);
/* Number @i of all, ascending by address; false = there are no more. For leak reports. */
bool emu_device_allocation(const struct emu_device *d, size_t i, struct emu_allocation *out);
uint64_t emu_device_used_bytes(const struct emu_device *d); /* device and managed memory */
/* The most that it was since the last time that @anew was set. */
uint64_t emu_device_most_bytes(struct emu_device *d, bool anew);
/* The host wrote or the device's memory was set: these bytes have a value now, another one. Every
 * write but those of launches has to be told here ... */
void emu_device_mark_written(struct emu_device *d, uint64_t address, uint64_t bytes);
/* ... behind which, where it was a copy of device memory, this is told, too ... */
void emu_device_copied(struct emu_device *d, uint64_t from, uint64_t to);
/* ... or that the host may write there at any time, as it is a @managed variable, or may be one; of
 * managed, pinned and registered memory that is known. */
void emu_device_host_writes(struct emu_device *d, uint64_t address, bool managed);

/* --- memory that other processes have, too: launch/shared_pages.c --- */

#define EMU_SHARED_NAME "gpu-memory"
struct emu_shared {
	int fd; /* of a file without a name, EMU_SHARED_NAME; its own for emu_device_attach() */
	uint64_t offset, bytes;
};
/* @address: where device memory begins; from now on others may write there. False: it is none, or
 * this machine does not do it. */
bool emu_device_share(struct emu_device *d, uint64_t address, struct emu_shared *out);
/* The address that the same memory has here, up to the end of its last page; 0 = there is no room,
 * or no such memory. emu_device_release() lets go of it. */
uint64_t emu_device_attach(struct emu_device *d, const struct emu_shared *from, const void *caller);
/* In a fork that nobody else shall notice: what others have becomes a copy. */
void emu_device_own_copy(const struct emu_device *d);

/* --- what L2 holds between launches --- */

/* Managed memory that launches touched since it was asked before, one at a time from @at = 0 on:
 * @written by one, else only read. Not by launches that speak to the host while they run. False:
 * there is no more. */
bool emu_device_managed_touched(struct emu_device *d, size_t *at, struct emu_allocation *out,
                                bool *written);

/* A copy or a set by the device itself, or what came from the host. */
enum emu_traffic {
	EMU_SET,
	EMU_COPY_FROM,
	EMU_COPY_TO,
	EMU_FROM_HOST,
	EMU_SENT, /* from the host, along with the command: a few pageable bytes */
	EMU_TO_HOST,
};
void emu_device_traffic(struct emu_device *d, enum emu_traffic kind, uint64_t address,
                        uint64_t bytes);
/* Of the allocations that hold one of @n addresses, the share of their bytes that is in L2, and the
 * share that is there and that no kernel has read since it was written; those that are the host's
 * memory are left out. */
struct emu_kept {
	double share, far;
};
struct emu_kept emu_device_kept(const struct emu_device *d, const uint64_t *address, unsigned n);
/* Is one more launch looked at for races without more time than the first ones of a program may
 * take together? Half of it is for launches that are the first of their kernel. */
bool emu_device_races_cheap(const struct emu_device *d);

/* Of the allocations that hold one of @n addresses: is some of it managed memory that is not on the
 * GPU? It comes page by page when a launch touches it. */
bool emu_device_pages_away(const struct emu_device *d, const uint64_t *address, unsigned n);
/* The program asked for managed memory to be on the GPU, or with the host. Returns the bytes that
 * move: all of the allocation's or none. */
double emu_device_prefetch(struct emu_device *d, uint64_t address, bool to_gpu);

/* The program's own code comes to a launch; it goes on. What it touches of managed memory in
 * between goes to the host, read or written; what others do for a launch does not. */
void emu_device_host_stops(struct emu_device *d);
void emu_device_host_goes_on(struct emu_device *d);

/* What all of its memory holds, but for what is set anew for every launch, in 128 bits. */
struct emu_device_digest {
	uint64_t part[2];
};
void emu_device_digest(const struct emu_device *d, struct emu_device_digest *out);
/* The same of what the program has allocated only: device and managed memory. */
void emu_device_allocated_digest(const struct emu_device *d, struct emu_device_digest *out);

/*
 * memory_copy.c: what all of its memory holds in front of a launch of @f, but for what is set anew
 * for every launch. False: it is more than @most_bytes, or the launch may change more of the device
 * than that (malloc(), launches of its own). @reuse: a copy that nobody needs, or NULL; then this
 * one, to be freed.
 */
struct emu_memory_copy;
bool emu_memory_copy_take(struct emu_memory_copy **reuse, const struct emu_device *d,
                          const struct emu_function *f, uint64_t most_bytes);
void emu_memory_copy_free(struct emu_memory_copy *c);
/* Memory is as it was; for a fork of the program. False: it has other allocations now. */
bool emu_memory_copy_restore(const struct emu_memory_copy *c, struct emu_device *d);

/* --- textures and surfaces (emu/texture.h says what they are) --- */

struct texture;
/* A handle for kernels; @t is copied. */
uint64_t emu_texture_new(struct emu_device *d, const struct texture *t);
bool emu_texture_free(struct emu_device *d, uint64_t handle); /* false: there is none */

/* --- modules --- */

struct emu_function_info {
	const char *name;
	const char *file; /* of its source, from .file; NULL = the module has no line table */
	unsigned n_params, param_bytes;
	unsigned static_shared_bytes, local_bytes;
	uint64_t
		code_bytes; /* where no machine code is known, of as many instructions as the PTX has */
	unsigned max_threads; /* __launch_bounds__; 0 = no bound stated */
	unsigned cluster[3];  /* __cluster_dims__; 0 = none */
	unsigned registers;   /* of a thread, where machine code is known; 0 = not */
};

/* Parses @ptx, places its variables and initialises them. @name for messages. */
bool emu_module_load(struct emu_device *d, const char *ptx, const char *name,
                     struct emu_module **out, struct err *err);
void emu_module_unload(struct emu_device *d, struct emu_module *m);
/* Its variables, but managed ones, hold what they held when it was loaded. */
void emu_module_reset(struct emu_device *d, struct emu_module *m);
bool emu_module_variable(const struct emu_module *m, const char *name, uint64_t *address,
                         uint64_t *bytes);
/* NULL = the module has no kernel of that name. */
const struct emu_function *emu_module_function(const struct emu_module *m, const char *name);
/* The name of kernel @i; NULL = there are no more. */
const char *emu_module_kernel(const struct emu_module *m, unsigned i);
void emu_function_info(const struct emu_function *f, struct emu_function_info *out);
/* May it call malloc(), or printf()? */
bool emu_function_allocates(const struct emu_function *f);
bool emu_function_prints(const struct emu_function *f);
/* The lines of PTX that its machine code names are not those of the module's PTX. */
void emu_module_forget_lines(struct emu_module *m);
/*
 * The machine code of the module, for launches that ask for it: a cubin of @bytes, which is copied,
 * and its disassembly. False: they cannot be read, or there is no room for the constants.
 */
bool emu_module_set_code(struct emu_device *d, struct emu_module *m, const void *cubin,
                         size_t bytes, const char *listing, size_t listing_bytes, struct err *err);
/* "sm_90 machine code, ptxas 13.0.88"; "" = it has none. */
const char *emu_module_level(const struct emu_module *m);
/* Offset and size of parameter @i. */
bool emu_function_param(const struct emu_function *f, unsigned i, unsigned *offset,
                        unsigned *bytes);

/* --- launches --- */

enum emu_counting {
	EMU_COUNT_ALL,  /* every counter, on every block */
	EMU_COUNT_NONE, /* results only, whichever way they are had */
};

struct emu_launch_request {
	const struct emu_function *function;
	unsigned grid[3], block[3];
	unsigned dynamic_shared_bytes;
	const void *params;  /* param_bytes of them */
	unsigned registers;  /* per thread, for residency; 0 = unknown */
	bool cooperative;    /* all blocks are resident at once */
	unsigned cluster[3]; /* blocks; 0 = as the kernel was compiled */
	bool code_kept;      /* the kernel has run before, for the time alone, ... */
	bool in_graph;       /* ... as is this: a node of a graph of several */
	bool counted_before; /* one like it was: what follows from its kernel alone has been told */
	bool machine_code;   /* that of emu_module_set_code(), not the PTX */
	uint64_t number;     /* the caller's name for it, not 0 */
	enum emu_counting counting;
	enum race_check check_races;
	bool strict;             /* the first out-of-bounds access stops the launch */
	bool other_contents;     /* shared memory without a value holds other bytes than usual */
	enum launch_order order; /* of its blocks, and of their warps */
	/* for malloc() of device code, as the first launch that may need it says; 0 = 8 MiB */
	uint64_t heap_bytes;
	double timeout_s;    /* 0 = none */
	uint64_t max_blocks; /* a spread sample of so many runs; memory is of no use then; 0 = all */
	unsigned threads;    /* of the host; 0 = all cores */
	/* Behind so many instructions of warps the other blocks run uncounted, if that saves as many
	 * and more: the counts are a sample of the first blocks then; 0 = all are counted. */
	uint64_t enough_work;
	bool part_only; /* ... or do not run at all: memory is of no use then */
	/* What kernels print, in block order; may be NULL. */
	void (*print)(void *ctx, const char *text, size_t n);
	void *print_ctx;
	/* What kernels launch, copy and set by themselves, told one by one in their order when the
	 * launch has ended well; NULL = they cannot. @depth: of this launch in others. */
	void (*work)(void *ctx, const struct device_work *w);
	device_ask *ask;
	void *work_ctx;
	unsigned depth;
	/* Called again and again while a launch runs that may wait for others; false = it waits for
	 * what never comes, and has to end. NULL = nobody can be waited for. */
	bool (*breathe)(void *ctx);
	void *breathe_ctx;
};

/* A launch of EMU_COUNT_NONE may be found to repeat an earlier one, and then only its outcome is
 * put into memory: res->same_as is the number of that one.
 * @findings: what the launch did wrong; what ends it is the last of them, and then emu_launch()
 * fails too. */
bool emu_launch(struct emu_device *d, const struct emu_launch_request *req,
                const struct run_hooks *hooks, struct run_result *res,
                struct run_findings *findings, struct err *err);

/*
 * The same in steps, for a launch that may wait for the host or for another launch. False: it
 * repeats an earlier one, and that was all. Else it goes, and has to be ended; @req is copied, what
 * it points to has to stay, and @res.
 */
struct emu_running;
bool emu_launch_begin(struct emu_device *d, const struct emu_launch_request *req,
                      const struct run_hooks *hooks, struct run_result *res,
                      struct emu_running **out);
void emu_running_go(struct emu_running *r);
bool emu_running_end(struct emu_running *r, struct run_findings *findings, struct err *err);
/* Its kernel looks at memory again and again, and it goes in one thread: others may use the device
 * while that breathes, if they are told of it by ..._apart() first. */
bool emu_running_may_wait(const struct emu_running *r);
void emu_running_apart(struct emu_running *r);
/* Since it was asked last, from within breathe(), its blocks did nothing but look whether they may
 * go on. */
bool emu_running_only_looked(struct emu_running *r);

#endif
