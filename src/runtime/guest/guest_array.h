/* CUDA arrays: memory with a shape, named by a handle. */
#ifndef PMPP_RUNTIME_GUEST_ARRAY_H
#define PMPP_RUNTIME_GUEST_ARRAY_H

#include "runtime/guest/guest_op.h"

struct guest_array {
	struct cudaChannelFormatDesc format;
	struct cudaExtent extent; /* as it was asked for: 0 = the dimension is not there */
	unsigned flags;
	unsigned texel_bytes;
	uint64_t address;
	size_t pitch, slice;
	bool of_mipmap; /* a level, freed with the others */
	struct guest_array *next;
};

/* NULL: @handle is of no array. */
struct guest_array *guest_array_of(cudaArray_const_t handle);
/* One without memory, and the bytes that it takes; guest_array_forget() takes it from the list and
 * leaves its memory. */
cudaError_t guest_array_shape(struct guest_array **out, const struct cudaChannelFormatDesc *format,
                              struct cudaExtent extent, unsigned flags, size_t *bytes);
void guest_array_forget(struct guest_array *a);
/* How many levels, and which (guest_mipmap.c); 0: @handle is of no mipmapped array. */
unsigned guest_mipmap_levels(cudaMipmappedArray_const_t handle, struct guest_array *const **level);
/* Its memory from texel @at on, as a box. */
struct guest_box guest_array_box(const struct guest_array *a, struct cudaPos at);
/* Do the @n texels from @at on lie in it? */
bool guest_array_holds(const struct guest_array *a, struct cudaPos at, struct cudaExtent n);
/* Bytes of a texel; 0 = @f is no format. */
unsigned guest_texel_bytes(const struct cudaChannelFormatDesc *f);

#endif
