/*
 * The container in which nvcc embeds device code ("fat binary"): a header and a list of entries,
 * PTX for a virtual architecture or machine code for a real one, often compressed.
 *
 * Reads memory of a running program or of a file; loads nothing and knows no kernel. The form is
 * not documented by NVIDIA; what is used here was read off binaries of CUDA 11 to 13.
 */
#ifndef PMPP_RUNTIME_FATBIN_H
#define PMPP_RUNTIME_FATBIN_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_CUBIN = 2 };

struct fatbin_entry {
	enum fatbin_kind kind;
	unsigned arch;      /* 90 for compute_90 or sm_90 */
	const char *suffix; /* "a" for sm_90a, "f" for sm_100f, else "" */
	const uint8_t *payload;
	size_t stored_bytes, bytes; /* as it lies there; unpacked */
	enum { FATBIN_PLAIN, FATBIN_LZ4, FATBIN_ZSTD } packing;
};

/*
 * The container behind a wrapper (what __cudaRegisterFatBinary gets), or at the start of a
 * .nv_fatbin section. @size: bytes that may be read, 0 = trust the header (a running program's
 * own). NULL with the reason when it is none.
 */
const uint8_t *fatbin_of_wrapper(const void *wrapper, struct err *err);
/*
 * Relocatable device code (nvcc -rdc=true): the containers that were linked into the wrapper's own,
 * which holds no PTX; ended by NULL. NULL: the wrapper is of a program that was not linked so.
 */
const uint8_t *const *fatbin_parts(const void *wrapper);
/*
 * Entry @i of the container at @data. 1 = filled, 0 = there are no more, -1 = malformed, see @err.
 * Entries of other kinds are passed over.
 */
int fatbin_entry_at(const uint8_t *data, size_t size, unsigned i, struct fatbin_entry *out,
                    struct err *err);
/* Bytes of the whole container; 0 = there is none at @data. */
size_t fatbin_size(const uint8_t *data, size_t size);
/* Unpacked contents, NUL-terminated beyond @entry->bytes; the caller frees. NULL with @err. */
char *fatbin_unpack(const struct fatbin_entry *entry, struct err *err);
/*
 * The code for a device of compute capability @cc (90): the PTX of the highest architecture that it
 * can run, and machine code made for it, if there is any. False: neither; the message lists what
 * there is.
 */
bool fatbin_choose(const uint8_t *data, size_t size, unsigned cc, struct fatbin_entry *ptx,
                   struct fatbin_entry *cubin, struct err *err);

#endif
