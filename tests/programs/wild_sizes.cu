// Sizes that no memory has: products of width, height and depth that go round the end of a size_t,
// windows that begin before or behind an array. Each is refused, and nothing is written.
// emulator only: a GPU takes some of them, writes where it must not, and ends the program
#include "check.h"

static bool refused(cudaError_t e, const char *what)
{
	cudaGetLastError();
	if (e == cudaSuccess)
		printf("not refused: %s\n", what);
	return e != cudaSuccess;
}
#define REFUSED(call) good = refused(call, #call) && good

int main()
{
	const size_t huge = ~(size_t)0, half = (size_t)1 << 33;
	char host[64] = {}, *device;
	void *p = nullptr;
	size_t pitch;
	bool good = true;
	CHECK(cudaMalloc((void **)&device, 256));
	REFUSED(cudaMalloc(&p, huge));
	REFUSED(cudaMallocPitch(&p, &pitch, huge, 2));
	REFUSED(cudaMallocPitch(&p, &pitch, half, half));
	cudaPitchedPtr box;
	REFUSED(cudaMalloc3D(&box, make_cudaExtent(512, half, half / 512)));
	cudaArray_t array;
	const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
	REFUSED(cudaMallocArray(&array, &floats, half * 512, half / 1024));
	REFUSED(cudaHostRegister(host, huge - 64, 0));

	REFUSED(cudaMemset2D(device, half, 1, 16, half));
	REFUSED(cudaMemset2D(device, (size_t)1 << 63, 1, 16, 3));
	REFUSED(cudaMemcpy2D(device, half * 2, device, half * 2, 16, half, cudaMemcpyDeviceToDevice));
	cudaMemcpy3DParms c = {};
	c.srcPtr = c.dstPtr = make_cudaPitchedPtr(device, 16, 16, (size_t)1 << 60);
	c.extent = make_cudaExtent(16, 1, 17);
	c.kind = cudaMemcpyDeviceToDevice;
	REFUSED(cudaMemcpy3D(&c));

	CHECK(cudaMallocArray(&array, &floats, 8, 4));
	REFUSED(cudaMemcpy2DToArray(array, huge - 3, 0, host, 16, 16, 1, cudaMemcpyHostToDevice));
	REFUSED(cudaMemcpy2DToArray(array, 0, huge, host, 16, 16, 2, cudaMemcpyHostToDevice));
	cudaMemcpy3DParms a = {};
	a.srcPtr = make_cudaPitchedPtr(host, 16, 16, 1);
	a.dstArray = array;
	a.dstPos = make_cudaPos(huge - 7, 0, 0);
	a.extent = make_cudaExtent(4, 1, 1);
	a.kind = cudaMemcpyHostToDevice;
	REFUSED(cudaMemcpy3D(&a));

	std::vector<char> kept(256, 1);
	CHECK(cudaMemset(device, 0, 256));
	CHECK(cudaMemcpy(kept.data(), device, 256, cudaMemcpyDeviceToHost));
	for (char k : kept)
		good = good && !k;
	CHECK(cudaFreeArray(array));
	free_all(device);
	return finish("wild_sizes", good);
}
