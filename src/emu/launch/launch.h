/*
 * Room launch. Sees: all rooms of emu.
 *
 * Three things with lives of their own: the device (its memory and caches), the module placed on it
 * (its variables), and one launch of one entry. Today a device and a placed module live as long as
 * one launch; nothing here but emu_launch_prepare() relies on that.
 */
#ifndef PMPP_EMU_LAUNCH_H
#define PMPP_EMU_LAUNCH_H

#include "backend/backend.h"
#include "emu/vm/vm.h"

/* --- device.c: memory --- */

struct emu_device {
	const struct gpu_spec *gpu;
	struct arena arena;
};
void emu_device_open(struct emu_device *d, const struct gpu_spec *gpu);
void emu_device_close(struct emu_device *d);

/* --- module.c: where a module's variables lie on a device --- */

struct emu_module {
	const struct ptx_module *ptx;
	uint64_t *var_addr; /* per variable: address in its space */
};
/* Reserves the variables of @ptx on @d, before its memory is mapped ... */
void emu_module_place(struct emu_module *m, const struct ptx_module *ptx, struct emu_device *d);
/* ... and gives them their first values afterwards. */
void emu_module_fill(const struct emu_module *m, const struct emu_device *d);
void emu_module_free(struct emu_module *m);

/* --- one launch (prepare.c, workers.c, results.c) --- */

enum stop_reason { STOP_NONE, STOP_FAULT, STOP_CANCEL, STOP_TIMEOUT };

struct emu_launch {
	const struct run_request *req;
	const struct run_hooks *hooks;
	struct emu_device device;
	struct emu_module module;
	const struct ptx_func *func;
	const char *source_file;
	struct image image;
	struct grid grid;       /* what the machine needs to know of all this */
	unsigned blocks_per_sm; /* resident, for the cache simulation */
	unsigned n_workers;
	struct worker *workers;
	_Atomic uint64_t next; /* block to hand out, within the wave */
	_Atomic uint64_t done;
	_Atomic int stop; /* enum stop_reason */
	double started, deadline, last_report;
};

/* Everything before the first block. @l is zeroed; on failure too, emu_launch_free() it. */
bool emu_launch_prepare(struct emu_launch *l, const struct run_request *req,
                        const struct run_hooks *hooks, const struct gpu_spec *gpu,
                        const struct ptx_module *module, struct err *err);
/* Runs all blocks of the order on l->n_workers threads, the caller's among them (workers.c); false
 * with the reason when a fault, the watchdog or the person ended it. */
bool emu_launch_run(struct emu_launch *l, struct err *err);
/* A clock that only grows (clock.c). */
double launch_clock_s(void);
/* Counts and outputs (results.c). */
void emu_launch_results(struct emu_launch *l, struct run_result *res);
void emu_launch_free(struct emu_launch *l);

#endif
