/*
 * A cubin: compiled machine code for one architecture, as ptxas or NVRTC writes it.
 *
 * An ELF file with one .text.NAME section per function, constant banks, and NVIDIA's attributes in
 * .nv.info sections ("CUDA Binary Utilities"; numbers of attributes as nvdisasm names them). This
 * file finds the parts; what the instructions say is for sass.h.
 */
#ifndef PMPP_SASS_CUBIN_H
#define PMPP_SASS_CUBIN_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes of an instruction on every architecture from sm_70 on. */
#define CUBIN_INST_BYTES 16
#define CUBIN_NO_COUNT UINT32_MAX

/* One parameter of a kernel: @offset from the first parameter, in constant bank 0. */
struct cubin_param {
	unsigned index, offset, bytes;
};

/* A place in the code that a loader fills in: @symbol's address plus @addend. */
struct cubin_reloc {
	uint64_t offset; /* of the instruction's first changed byte in the function */
	uint32_t type;   /* R_CUDA_... */
	const char *symbol;
	int64_t addend;
};

/* A function that the assembler put into the code of another one, for whom it is. */
struct cubin_inner {
	const char *name; /* "$KERNEL$FUNCTION" */
	uint64_t offset;  /* of its first instruction */
};

struct cubin_func {
	const char *name;
	bool entry;                /* a kernel; else a function that kernels call */
	const unsigned char *code; /* CUBIN_INST_BYTES each */
	size_t code_bytes;
	unsigned section;     /* of the code */
	unsigned registers;   /* per thread */
	unsigned frame_bytes; /* of local memory */
	unsigned stack_bytes; /* the least a thread needs, callees included; CUBIN_NO_COUNT = unknown */
	unsigned barriers;
	unsigned shared_bytes; /* static, the 1 KiB that sm_90 and newer reserve included */
	unsigned max_threads;  /* __launch_bounds__; 0 = none stated */
	unsigned param_offset; /* of the first parameter in constant bank 0 */
	unsigned param_bytes;
	unsigned n_params;
	struct cubin_param *params; /* by index */
	unsigned n_exits;
	uint32_t *exits; /* offsets of EXIT instructions, as the assembler lists them */
	unsigned n_relocs;
	struct cubin_reloc *relocs;
	unsigned n_inner;
	struct cubin_inner *inner; /* in order of the symbols */
};

/* A constant bank: of the module, or of one function. */
struct cubin_bank {
	unsigned bank;
	int func; /* index; -1 = the module's */
	const unsigned char *data;
	size_t bytes;
	unsigned n_relocs;
	struct cubin_reloc *relocs; /* addresses in it, by offset in the bank */
};

/* A __constant__ variable: where it lies in the module's bank 3. */
struct cubin_constant {
	const char *name;
	uint64_t offset, bytes;
};

struct cubin {
	unsigned sm;      /* 90 */
	const char *tool; /* "Cuda compilation tools, release 13.0, V13.0.88"; "" = not stated */
	unsigned n_funcs;
	struct cubin_func *funcs; /* in order of the sections */
	unsigned n_banks;
	struct cubin_bank *banks;
	unsigned n_constants;
	struct cubin_constant *constants;
	bool lines, ptx_lines; /* line tables are there (-lineinfo) */
};

/*
 * Reads the cubin of @len bytes at @image, which must outlive @c: names and code lie in it.
 * ERR_PARSE: no cubin, or damaged; ERR_UNSUPPORTED: older than sm_70, or no machine code inside.
 */
bool cubin_read(struct cubin *c, const void *image, size_t len, struct err *err);
void cubin_free(struct cubin *c);
/* NULL = there is none of that name. */
const struct cubin_func *cubin_func(const struct cubin *c, const char *name);
/* What function @i inside @f is called by itself; NULL = it is not @f's own copy. */
const char *cubin_inner_name(const struct cubin_func *f, unsigned i);
/* The bank as @func sees it; NULL = it has none. */
const struct cubin_bank *cubin_bank(const struct cubin *c, unsigned bank, int func);

#endif
