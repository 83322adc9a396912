// Whether a texel is in memory, asked of ordinary arrays, whose texels all are.
#include "check.h"

constexpr int width = 64, height = 8;

__global__ void fetch(cudaTextureObject_t t, int *out)
{
	bool there, level_there, corners_there;
	const float x = threadIdx.x + 0.5f;
	const float v = tex2D<float>(t, x, 2.5f, &there);
	const float w = tex2DLod<float>(t, x, 3.5f, 0.0f, &level_there);
	const float4 c = tex2Dgather<float4>(t, x + 0.5f, 5.0f, &corners_there, 0);
	out[threadIdx.x] = there ? (int)v : -1;
	out[width + threadIdx.x] = level_there ? (int)w : -1;
	out[2 * width + threadIdx.x] = corners_there ? (int)c.w : -1;
}

int main()
{
	std::vector<float> a(width * height);
	std::vector<int> b(3 * width);
	for (int i = 0; i < width * height; i++)
		a[i] = (float)i;
	const cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
	cudaArray_t array;
	cudaResourceDesc r = {};
	cudaTextureDesc d = {};
	cudaTextureObject_t t;
	int *out;
	CHECK(cudaMalloc(&out, b.size() * sizeof b[0]));
	CHECK(cudaMallocArray(&array, &one, width, height, cudaArrayTextureGather));
	CHECK(cudaMemcpy2DToArray(array, 0, 0, a.data(), width * 4, width * 4, height,
	                          cudaMemcpyHostToDevice));
	r.resType = cudaResourceTypeArray;
	r.res.array.array = array;
	d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
	CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
	fetch<<<1, width>>>(t, out);
	CHECK(cudaMemcpy(b.data(), out, b.size() * sizeof b[0], cudaMemcpyDeviceToHost));
	int wrong = 0;
	for (int x = 0; x < width; x++) {
		wrong += b[x] != 2 * width + x;
		wrong += b[width + x] != 3 * width + x;
		wrong += b[2 * width + x] != 4 * width + x; /* the upper left of four */
	}
	printf("places whose texels are there: %s\n", wrong ? "DIFFERENT" : "as expected");
	CHECK(cudaDestroyTextureObject(t));
	CHECK(cudaFreeArray(array));
	CHECK(cudaFree(out));
	return finish("resident_texels", !wrong);
}
