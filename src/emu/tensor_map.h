/*
 * Tensor maps: what cuTensorMapEncodeTiled() writes into its 128 bytes, whose form NVIDIA leaves
 * open, and what bulk copies of tensors read there (PTX ISA 9.0, 5.5 tensors).
 */
#ifndef PMPP_EMU_TENSOR_MAP_H
#define PMPP_EMU_TENSOR_MAP_H

#include <stdint.h>

#define TENSOR_MAP_MAGIC 0x70616d6e65740001u
#define TENSOR_MAP_DIMS 5

enum tensor_swizzle { TENSOR_PLAIN, TENSOR_SWIZZLE_32, TENSOR_SWIZZLE_64, TENSOR_SWIZZLE_128 };

struct tensor_map {
	uint64_t magic;
	uint64_t address;                     /* of element 0, 16-byte aligned */
	uint64_t size[TENSOR_MAP_DIMS];       /* elements, the innermost dimension first */
	uint64_t stride[TENSOR_MAP_DIMS - 1]; /* bytes between neighbours of dimension 1, 2, ... */
	uint16_t box[TENSOR_MAP_DIMS];        /* elements that one copy covers, at most 256 */
	uint8_t step[TENSOR_MAP_DIMS];        /* of which every so many is taken, at most 8 */
	uint8_t rank;                         /* dimensions, 1 to 5 */
	uint8_t bytes;                        /* of an element */
	uint8_t type;                         /* enum ptx_type, for reductions */
	uint8_t swizzle;                      /* enum tensor_swizzle */
	uint8_t fill_nan;                     /* what lies outside reads as NaN, else as zero */
	uint8_t reserved[20];
};

_Static_assert(sizeof(struct tensor_map) == 128, "a CUtensorMap has 128 bytes");

#endif
