/*
 * Room launch. Sees: all rooms of emu.
 *
 * Three things with lives of their own: the device (its memory), the module placed on it (its
 * variables), and one launch of one entry. A kernel's own run has a device and a module of its own,
 * made by emu_launch_prepare(); a program's live as long as it does (emu/device.h).
 */
#ifndef PMPP_EMU_LAUNCH_H
#define PMPP_EMU_LAUNCH_H

#include "backend/backend.h"
#include "base/memory_left.h"
#include "emu/lower/lower.h"
#include "emu/texture.h"
#include "emu/vm/vm.h"
#include "model/gpu.h"
#include "sass/sass.h"

/* --- device_open.c: memory --- */

#define PARAM_AREAS 4          /* launches at a time */
#define PARAM_AREA_BYTES 33280 /* most that a launch may pass: 32,764 (sm_70 on); alignment */
struct emu_device {
	uint64_t race_looks; /* of its launches so far (race_blocks.c) */
	const struct gpu_spec *gpu;
	struct arena arena;
	struct arena_spare *spare;              /* where its mapping goes afterwards; NULL = back */
	struct line_filter *filter, *no_filter; /* what the cache simulation follows; nothing */
	/* of a program's device */
	struct gpu_spec sheet;
	struct heap *heap;        /* of device code; NULL = not asked for yet */
	struct heap *launch_room; /* for what launches of kernels by kernels pass; likewise */
	uint64_t workspace;       /* of cooperative launches; 0 = none yet */
	uint64_t param_area;      /* PARAM_AREAS of them, one behind the other */
	uint64_t used_bytes, most_bytes;
	unsigned n_apart;        /* launches that run while others do */
	uint8_t areas_taken;     /* bit per area of parameters */
	unsigned new_regions;    /* since a launch first waited */
	struct memory_left host; /* when the program began */
	struct texture_table textures;
	struct image_cache *images;
	struct known_launches *known;
	struct l2_kept *kept;        /* what L2 holds between launches */
	struct managed_pages *pages; /* where managed memory lies */
	struct shared_pages *shared; /* with other processes */
};
/* image_cache.c: programs of micro-operations made for earlier launches of the same kernel with the
 * same dimensions and parameters; a program often launches one a thousand times. */
struct image_cache *image_cache_new(void);
void image_cache_free(struct image_cache *c);
uint64_t image_key(const struct ptx_func *func, const struct launch_plan *plan,
                   const uint32_t cluster[3], const uint8_t *params);
/* Moves the image of @key out of the cache into @image; false = there is none. */
bool image_cache_take(struct image_cache *c, uint64_t key, struct image *image);
/* Moves @image into the cache, where an older one may have to go. */
void image_cache_put(struct image_cache *c, uint64_t key, struct image *image);

void emu_device_open(struct emu_device *d, const struct gpu_spec *gpu);
void emu_device_close(struct emu_device *d);
/* The host's own code cannot touch the pages of @r, which is device memory, or can again. */
void emu_device_guard(const struct emu_device *d, const struct arena_region *r, bool on);
/* Parameters and what grid.sync() counts in are set anew for every launch. */
static inline bool emu_device_sets_anew(const struct emu_device *d, const struct arena_region *r)
{
	return r->base == d->param_area || r->base == d->workspace;
}

/* --- machine_banks.c: constant banks of machine code on a device --- */

struct emu_module;
struct machine_banks {
	struct lower_bank bank[LOWER_BANKS];
	unsigned region[LOWER_BANKS]; /* 1 + region of an arena that is not mapped yet; 0 = none */
};
/* Reserves their memory, before an arena is mapped, or on a living one (false: no room);
 * @n_functions: of the PTX. */
void machine_banks_add(struct machine_banks *b, const struct sass_module *m, unsigned n_functions,
                       struct arena *a);
bool machine_banks_take(struct machine_banks *b, const struct sass_module *m, unsigned n_functions,
                        struct arena *a);
/* What they hold for function @func of @s, from the variables of @m, which lie in @a. */
void machine_banks_fill(struct machine_banks *b, const struct sass_module *s, unsigned func,
                        const struct emu_module *m, const struct arena *a);
/* Of a function that the driver gives ("vprintf"); 0 = there is none of that name. */
uint64_t machine_function_address(const char *name);

struct emu_launch;
/* --- launch_params.c: the parameter area, as the PTX or the machine code that runs has it --- */

/* Its bytes; how far behind a line of 128 bytes it begins, which aligns what lies in it (a tensor
 * map, say) as in the constant bank of machine code; room for both. */
uint32_t launch_param_bytes(const struct emu_launch *l);
uint64_t launch_param_shift(const struct emu_launch *l);
uint64_t launch_param_room(const struct emu_launch *l);
/* What it holds, to be freed; @region: of each buffer. NULL with the reason: the launch does not
 * give what the kernel takes. */
/* buffers.c: into @region of device memory, unless it is there already; false: cancelled. Back, all
 * that may have been written. */
bool launch_buffer_in(struct emu_launch *l, unsigned region);
void launch_buffers_out(const struct emu_launch *l);
uint8_t *launch_params(const struct emu_launch *l, const unsigned region[], struct err *err);

/* --- set_variables.c: variables that the launch sets; @region: of each buffer, filled for those.
 * Behind emu_module_place(), and behind emu_module_fill(). --- */
bool set_variables_place(struct emu_launch *l, unsigned region[], struct err *err);
void set_variables_fill(struct emu_launch *l, const unsigned region[]);

/* --- unset_constants.c: the name of the next constant from *@at on that the kernel of @l uses and
 * that nobody has set; false = there are no more --- */
bool unset_constants_next(const struct emu_launch *l, unsigned *at, char *name, size_t n);

/* --- module.c: where a module's variables lie on a device --- */

struct emu_module {
	const struct ptx_module *ptx;
	uint64_t *var_addr;     /* per variable: address in its space */
	uint64_t *var_contents; /* of a program's module: name of what each held at first; else NULL */
	/* of a program's module */
	struct ptx_module parsed;
	char *name;
	unsigned n_functions;
	struct emu_function *functions;
	/* ... and of its machine code, where that was asked for */
	void *cubin; /* NULL = it was not */
	struct sass_module code;
	struct machine_banks banks;
	char level[64];
};
/* Reserves the variables of @ptx on @d, before its memory is mapped ... */
void emu_module_place(struct emu_module *m, const struct ptx_module *ptx, struct emu_device *d);
/* ... and gives them their first values afterwards. */
void emu_module_fill(const struct emu_module *m, const struct emu_device *d);
void emu_module_fill_one(const struct emu_module *m, const struct emu_device *d, unsigned variable);
void emu_module_free(struct emu_module *m);
void emu_module_drop_code(struct emu_module *m, struct emu_device *d); /* program_code.c */

/* --- one launch (prepare.c, workers.c, results.c) --- */

enum stop_reason { STOP_NONE, STOP_FAULT, STOP_CANCEL, STOP_TIMEOUT, STOP_FORSAKEN };

struct emu_launch {
	const struct run_request *req;
	const struct run_hooks *hooks;
	struct emu_device *device;
	struct arena_spare *spare; /* memory kept from launch to launch; may be NULL */
	struct emu_module *module;
	struct emu_device own_device; /* of a kernel's own run */
	struct emu_module own_module;
	const struct emu_launch_request *program; /* NULL = a kernel's own run */
	const struct ptx_func *func;
	/* machine code to run instead, set before the launch is prepared; NULL = the PTX */
	const struct sass_module *sass;
	const struct sass_func *sass_func;
	struct machine_banks banks;
	/* of PTX whose machine code runs, too: which sums are fused; NULL = by rule (contract.c) */
	const struct sass_module *assembled;
	const char *source_file;
	struct image image;
	uint64_t image_key; /* of a program's launch: where the image is kept afterwards; 0 = nowhere */
	struct grid grid;   /* what the machine needs to know of all this */
	struct device_runtime *runtime; /* of device code; NULL = it uses none */
	unsigned blocks_per_sm;         /* resident, for the cache simulation */
	double warm_bytes;              /* of a sample: buffers that L2 holds from the start */
	double pages_host, pages_fresh; /* of a program: bytes of managed memory that came for it */
	uint8_t page_rounds_host, page_rounds_fresh;
	bool pages_first;               /* ... as in struct run_counts */
	struct kept_before *before;     /* per allocation; see kept.h */
	double host_read, host_written; /* bytes of the host's own memory, at the most */
	uint64_t enough;            /* instructions of warps behind which counting may end; 0 = never */
	uint64_t counted;           /* blocks, where it has; 0 = it has not */
	struct run_result *results; /* ... whose counts then are here */
	unsigned n_workers;
	struct crew *crew; /* the threads that run it (workers.c) */
	struct worker *workers;
	bool apart;            /* others use the device while it runs */
	uint8_t area;          /* bit of its area of parameters; 0 = none yet */
	_Atomic uint64_t next; /* block to hand out, within the wave */
	uint64_t until;        /* before this one */
	_Atomic uint64_t done;
	uint64_t *race_block; /* those whose races are looked for, ascending; NULL = all that come */
	size_t race_blocks;
	bool *wave_done;  /* blocks of the wave that ran already; NULL = none */
	_Atomic int stop; /* enum stop_reason */
	double started, deadline, last_report;
};

/* Everything before the first block. @l is zeroed; on failure too, emu_launch_free() it. */
struct emu_launch_request; /* emu/device.h */
bool emu_launch_prepare(struct emu_launch *l, const struct run_request *req,
                        const struct run_hooks *hooks, const struct gpu_spec *gpu,
                        const struct ptx_module *module, struct err *err);
/* The same on a living device: @req says plan, threads and time only; parameters come from
 * @program, memory is where the program put it. */
bool emu_launch_prepare_on(struct emu_launch *l, struct emu_device *device,
                           struct emu_module *module, const struct ptx_func *func,
                           const struct run_request *req, const struct run_hooks *hooks,
                           const struct emu_launch_request *program, struct err *err);
/* Runs all blocks of the order on l->n_workers threads, the caller's among them (workers.c); false
 * with the reason when a fault, the watchdog or the person ended it. */
bool emu_launch_run(struct emu_launch *l, struct err *err);
/* What counts it (counting.c), on a launch that has its image; workers come later. */
void counting_begin(struct emu_launch *l, bool counted);
void counting_free(struct emu_launch *l);
/* From block @at of the wave on: where to look next whether that is enough. */
uint64_t counting_look(const struct emu_launch *l, uint64_t at);
/* All blocks before @at have run: is it? Then the counts of these are taken, for all. */
bool counting_enough(const struct emu_launch *l, uint64_t at);
void counting_end(struct emu_launch *l, uint64_t at);
static inline uint64_t counted_blocks(const struct emu_launch *l)
{
	return l->counted ? l->counted : l->grid.order.n;
}
/* A clock that only grows (clock.c). */
double launch_clock_s(void);
/* The heap of device code (device_heap.c). On a living device: made when it may be needed. */
void device_heap_keep(struct emu_launch *l);
/* fresh_memory.c: around a program's launch: who reads what nothing has written yet. */
void fresh_memory_begin(struct emu_launch *l);
void fresh_memory_end(struct emu_launch *l);
/* In a kernel's own run: its region, before memory is mapped; then the heap in it. */
void device_heap_add(struct emu_launch *l);
void device_heap_open(struct emu_launch *l);
void device_heap_drop(struct emu_device *d); /* the next one may have another size */
/* Does device code of @m launch kernels, or ask something else of the runtime? (nested_work.c) */
bool module_calls_runtime(const struct ptx_module *m);
/* What device code asks of the runtime (nested_work.c): makes grid.runtime where it may ask; and
 * tells the program what it asked for. */
void nested_work_prepare(struct emu_launch *l);
void nested_work_tell(const struct emu_launch *l);
/* Hands out what the blocks printed, block by block (printed.c); returns the bytes that were lost
 * because there was no room. */
size_t emu_launch_printed(const struct emu_launch *l,
                          void (*print)(void *ctx, const char *text, size_t n), void *ctx);
/* The launch's clusters (cluster_shape.c): grid.order and cluster_blocks, as the launch says, else
 * as the kernel was compiled; then: can they be, on this GPU? */
void cluster_set(struct emu_launch *l);
bool cluster_check(const struct emu_launch *l, struct err *err);
/* Races are looked for (race_blocks.c). */
bool race_blocks_wanted(const struct emu_launch *l);
/* Sets grid.races, once grid.together is known; then: are they looked for in block @i of the order?
 */
void race_blocks_prepare(struct emu_launch *l);
bool race_blocks_take(const struct emu_launch *l, uint64_t i);
/* What will be told of it. */
void race_blocks_tell(const struct emu_launch *l, struct run_races *out);
/* Runs by @run those blocks of the wave whose races are looked for; by block of the wave: did it?
 * NULL = none did. To be freed. */
bool *race_blocks_run(struct emu_launch *l, bool (*run)(struct worker *wk, uint64_t i));
/* What it did wrong, races first (findings.c). */
void emu_launch_findings(const struct emu_launch *l, struct run_findings *all);
/* Constants that its kernel uses and that nobody has set, as remarks. */
void emu_launch_unset(const struct emu_launch *l, struct run_findings *all);
/* Counts and outputs (results.c). */
void emu_launch_results(struct emu_launch *l, struct run_result *res);
void emu_launch_free(struct emu_launch *l);

/* Everything that would be refused, kernel by kernel (examine.c); see backend.h. */
bool emu_examine(const struct text *code, const char *name,
                 void (*tell)(void *ctx, const struct examine_finding *r), void *ctx,
                 struct err *err);

/* --- the machine code of a launch, after its PTX (machine_run.c) --- */

/* The module that was disassembled last; all zero: none. */
struct machine_code {
	bool there;
	uint64_t hash;
	size_t length;
	struct sass_module module;
};
void machine_code_free(struct machine_code *c);
/* The machine code of @m, in c->module: from the cache, or from nvdisasm, which takes half a
 * second. */
bool machine_code_find(struct machine_code *c, const struct module *m, const atomic_bool *cancel,
                       struct err *err);

/* Buffers as they are before the PTX runs, of those that a kernel may change; NULL: of the others,
 * and where no machine code is to run. */
struct machine_buffers {
	void *data[KERNEL_MAX_BUFFERS];
};
void machine_buffers_save(struct machine_buffers *b, const struct run_request *req);
void machine_buffers_free(struct machine_buffers *b, const struct run_request *req);

/*
 * Runs the machine code of req's module on @b and puts its counts, of the launch and of its lines,
 * into @res, the result of the PTX; res->level then tells whose they are, res->note whether the
 * outputs are the same. False, with @res untouched: there is no machine code, or the emulator does
 * not know an instruction of it.
 */
bool machine_run(struct machine_code *c, struct machine_buffers *b, struct arena_spare *spare,
                 const struct run_request *req, const struct run_hooks *hooks,
                 const struct gpu_spec *gpu, const struct ptx_module *ptx, struct run_result *res,
                 struct err *err);

#endif
