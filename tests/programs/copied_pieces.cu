// Asynchronous copies of 4, 8 and 16 bytes a lane from places that are no multiple of a sector, by
// all lanes or some: requests and sectors.
#include "check.h"

#include <cuda_pipeline.h>

template <int BYTES>
static __global__ void copies(const char *in, char *out, int offset, int stride, unsigned lanes)
{
	__shared__ __align__(16) char s[32 * 16];
	const int l = (int)threadIdx.x;
	if (lanes >> l & 1)
		__pipeline_memcpy_async(s + l * BYTES, in + offset + l * stride, BYTES);
	__pipeline_commit();
	__pipeline_wait_prior(0);
	__syncwarp();
	for (int k = 0; k < BYTES; k++)
		if (lanes >> l & 1)
			out[l * BYTES + k] = s[l * BYTES + k];
}

static const int BYTES_IN = 8192;
static char in[BYTES_IN];

template <int BYTES> static bool run(const char *din, char *dout)
{
	static const unsigned masks[] = { 0xffffffff, 0x3fffff,   0x7fffff,   0xffff,
		                              0x1ffff,    0xff,       0x1ff,      0xffffff,
		                              0xfffffffe, 0xffff0000, 0x55555555, 0xf0f0f0f };
	bool good = true;
	char h[32 * BYTES];
	for (int offset = 0; offset < (BYTES == 16 ? 4 : 2) * BYTES; offset += BYTES)
		for (int stride : { BYTES, 2 * BYTES, 128 })
			for (unsigned mask : masks) {
				if (stride != BYTES && mask != 0xffffffff && mask != 0xffff)
					continue;
				copies<BYTES><<<1, 32>>>(din, dout, offset, stride, mask);
				CHECK(cudaMemcpy(h, dout, sizeof h, cudaMemcpyDeviceToHost));
				for (int l = 0; l < 32; l++)
					for (int k = 0; k < BYTES && mask >> l & 1; k++)
						good &= h[l * BYTES + k] == in[offset + l * stride + k];
			}
	return good;
}

int main()
{
	char *din, *dout;
	for (int i = 0; i < BYTES_IN; i++)
		in[i] = (char)(i * 7 + i / 256);
	CHECK(cudaMalloc(&din, sizeof in));
	CHECK(cudaMalloc(&dout, 512));
	CHECK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
	const bool good = run<16>(din, dout) && run<8>(din, dout) && run<4>(din, dout);
	CHECK(cudaFree(din));
	CHECK(cudaFree(dout));
	return finish("copied_pieces", good);
}
