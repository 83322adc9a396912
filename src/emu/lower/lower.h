/*
 * Room lower. Sees: lane, ir.
 *
 * From a parsed entry, PTX or machine code, to the intermediate form, for one launch: parameters,
 * launch dimensions and addresses of variables are known and become constants.
 */
#ifndef PMPP_EMU_LOWER_H
#define PMPP_EMU_LOWER_H

#include "base/err.h"
#include "emu/ir/ir.h"
#include "model/kernel.h"

/* An instruction that the emulator cannot carry out. */
struct lower_refusal {
	const char *what, *why, *remedy; /* "ld.global.u32", reason, "" = nothing to do */
	uint32_t line, listing;          /* of the source (0 = unknown), of the PTX */
};

/* A constant bank of machine code: its contents, and where in memory they also lie. */
struct lower_bank {
	const uint8_t *data; /* NULL = there is none */
	uint64_t address;
	uint32_t bytes;
};
enum { LOWER_BANKS = 5 };

/* Local memory of a thread whose functions may call themselves, at least. */
#define CALL_STACK_BYTES (16u << 10)

/* What the launch fixes before lowering. */
struct lower_env {
	const struct launch_plan *plan;
	const uint8_t *params;    /* the parameter area, param_bytes */
	const uint64_t *var_addr; /* per module variable: address in its space */
	uint64_t param_base;      /* device address of a copy of the parameter area */
	uint32_t shared_bytes;    /* of a block; behind them so many that the system reserves: */
	uint32_t reserved_bytes;
	uint32_t sm_count;
	double clock_mhz;      /* of the SMs; 0 = not known, a cycle counts as a nanosecond */
	uint32_t cluster[3];   /* blocks in a cluster; 0 = 1 */
	bool explicit_cluster; /* it was asked for */
	int cc;                /* 10 * major + minor compute capability; 0 = any */
	uint64_t workspace;    /* of a cooperative launch, 0 = it is none */
	bool device_runtime;   /* kernels may launch others */
	/* of machine code */
	const struct ptx_module *module; /* whose pointers to functions variables hold; NULL = none */
	const struct ptx_func *ptx;      /* of module, what it was assembled of, for its lines */
	bool innermost;                  /* lines are those of functions inlined from the same file */
	uint32_t stack_bytes;            /* local memory of a thread */
	struct lower_bank bank[LOWER_BANKS]; /* 2: the function's numbers, 3: variables, 4: addresses */
	/* Told every instruction that is refused, and lowering goes on; NULL = the first one ends it.
	 */
	void (*refused)(void *ctx, const struct lower_refusal *r);
	void *ctx;
};

/* The operations of @f under @env into @ir (ir_free() them). False with the reason when an
 * instruction is not supported; @source_file names the place in the message. */
bool lower_ptx(struct ir *ir, const struct ptx_module *m, const struct ptx_func *f,
               const struct lower_env *env, const char *source_file, struct err *err);

/* The same of machine code: function @f of @m, whose texts stay in use. ERR_UNSUPPORTED names the
 * architecture or the instruction that the emulator does not know. */
struct sass_module;
struct sass_func;
/* The address, in the window of shared memory, at which a block's begins in machine code of @sm. */
uint32_t lower_sass_shared_base(unsigned sm);
/* fusions.c: fills ir->fusions of a kernel's PTX from the module's machine code. */
void fusions_find(struct ir *ir, const struct sass_module *m);
bool lower_sass(struct ir *ir, const struct sass_module *m, const struct sass_func *f,
                const struct lower_env *env, const char *source_file, struct err *err);

#endif
