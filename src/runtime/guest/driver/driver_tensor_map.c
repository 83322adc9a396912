/* Tensor maps of the driver API: checked as the API says, kept as emu/tensor_map.h has them. */
#include "runtime/guest/driver/driver.h"

#include "emu/tensor_map.h"
#include "ptx/ptx.h"

#include <string.h>

/* Element types, by CUtensorMapDataType; bytes 0: packed ones, which only later GPUs have. */
static const struct {
	uint8_t bytes, type;
} types[] = {
	[CU_TENSOR_MAP_DATA_TYPE_UINT8] = { 1, PTX_U8 },
	[CU_TENSOR_MAP_DATA_TYPE_UINT16] = { 2, PTX_U16 },
	[CU_TENSOR_MAP_DATA_TYPE_UINT32] = { 4, PTX_U32 },
	[CU_TENSOR_MAP_DATA_TYPE_INT32] = { 4, PTX_S32 },
	[CU_TENSOR_MAP_DATA_TYPE_UINT64] = { 8, PTX_U64 },
	[CU_TENSOR_MAP_DATA_TYPE_INT64] = { 8, PTX_S64 },
	[CU_TENSOR_MAP_DATA_TYPE_FLOAT16] = { 2, PTX_F16 },
	[CU_TENSOR_MAP_DATA_TYPE_FLOAT32] = { 4, PTX_F32 },
	[CU_TENSOR_MAP_DATA_TYPE_FLOAT64] = { 8, PTX_F64 },
	[CU_TENSOR_MAP_DATA_TYPE_BFLOAT16] = { 2, PTX_BF16 },
	[CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ] = { 4, PTX_F32 },
	[CU_TENSOR_MAP_DATA_TYPE_TFLOAT32] = { 4, PTX_F32 },
	[CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ] = { 4, PTX_F32 },
};

/* Sizes, strides (0: of one batch, or the same again) and the box; false: one of them cannot be. */
static bool set_shape(struct tensor_map *m, const cuuint64_t *size, const cuuint64_t *stride,
                      const cuuint32_t *box, const cuuint32_t *step)
{
	for (unsigned k = 0; k < m->rank; k++) {
		if (!size[k] || size[k] > (uint64_t)1 << 32 || !box[k] || box[k] > 256 || !step[k] ||
		    step[k] > 8)
			return false;
		m->size[k] = size[k];
		m->box[k] = (uint16_t)box[k];
		m->step[k] = (uint8_t)(k ? step[k] : 1); /* along the innermost one none is left out */
	}
	for (unsigned k = 0; k + 1 < m->rank; k++) {
		if (stride[k] % 16 || stride[k] >= (uint64_t)1 << 40)
			return false;
		m->stride[k] = stride[k];
	}
	return true;
}

static cudaError_t encode(struct tensor_map *m, CUtensorMapDataType type, unsigned rank,
                          uint64_t address, CUtensorMapInterleave interleave,
                          CUtensorMapSwizzle swizzle, CUtensorMapFloatOOBfill fill)
{
	static const unsigned widest[] = { 0, 32, 64, 128 };
	if ((unsigned)type >= sizeof types / sizeof types[0] || interleave != 0 ||
	    swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
		return cudaErrorNotSupported;
	m->magic = TENSOR_MAP_MAGIC;
	m->address = address;
	m->rank = (uint8_t)rank;
	m->bytes = types[type].bytes;
	m->type = types[type].type;
	m->swizzle = (uint8_t)swizzle;
	m->fill_nan = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
	const unsigned row = (unsigned)m->box[0] * m->bytes;
	const bool floats =
		m->type == PTX_F16 || m->type == PTX_BF16 || m->type == PTX_F32 || m->type == PTX_F64;
	if (address % 16 || row % 16 || (swizzle && row > widest[swizzle]) || (m->fill_nan && !floats))
		return cudaErrorInvalidValue;
	return cudaSuccess;
}

static cudaError_t encode_tiled(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank,
                                const void *address, const cuuint64_t *size,
                                const cuuint64_t *stride, const cuuint32_t *box,
                                const cuuint32_t *step, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapFloatOOBfill fill)
{
	struct tensor_map m = { .rank = (uint8_t)rank };
	if (!out || (uintptr_t)out % 64 || !rank || rank > TENSOR_MAP_DIMS || !size || !box || !step ||
	    (rank > 1 && !stride) || !set_shape(&m, size, stride, box, step))
		return cudaErrorInvalidValue;
	const cudaError_t e =
		encode(&m, type, rank, (uint64_t)(uintptr_t)address, interleave, swizzle, fill);
	if (e == cudaSuccess)
		memcpy(out, &m, sizeof m);
	return e;
}

GUEST_API CUresult CUDAAPI cuTensorMapEncodeTiled(
	CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank, void *address,
	const cuuint64_t *size, const cuuint64_t *stride, const cuuint32_t *box, const cuuint32_t *step,
	CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
	CUtensorMapFloatOOBfill fill)
{
	(void)promotion; /* a hint for the L2 cache */
	DRIVER_CALL(DRIVER_INIT, encode_tiled(out, type, rank, address, size, stride, box, step,
	                                      interleave, swizzle, fill));
}

static cudaError_t replace_address(CUtensorMap *map, const void *address)
{
	struct tensor_map m;
	if (!map || (uintptr_t)address % 16)
		return cudaErrorInvalidValue;
	memcpy(&m, map, sizeof m);
	if (m.magic != TENSOR_MAP_MAGIC)
		return cudaErrorInvalidValue;
	m.address = (uint64_t)(uintptr_t)address;
	memcpy(map, &m, sizeof m);
	return cudaSuccess;
}

GUEST_API CUresult CUDAAPI cuTensorMapReplaceAddress(CUtensorMap *map, void *address)
{
	DRIVER_CALL(DRIVER_INIT, replace_address(map, address));
}
