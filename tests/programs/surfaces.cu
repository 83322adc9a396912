// Surfaces: a picture written by one kernel, read by the next through a texture, and copied out; life on
// two arrays.
#include "check.h"

constexpr int N = 32;

__global__ void seed(cudaSurfaceObject_t s)
{
	const int x = threadIdx.x, y = threadIdx.y;
	const unsigned char alive = (x * 7 + y * 13) % 5 < 2;
	surf2Dwrite(alive, s, x, y);
}

__global__ void step(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{
	const int x = threadIdx.x, y = threadIdx.y;
	int around = 0;
	for (int dy = -1; dy <= 1; dy++)
		for (int dx = -1; dx <= 1; dx++)
			if (dx || dy)
				around += surf2Dread<unsigned char>(from, x + dx, y + dy, cudaBoundaryModeZero);
	const bool alive = surf2Dread<unsigned char>(from, x, y);
	surf2Dwrite((unsigned char)(around == 3 || (alive && around == 2)), to, x, y);
}

__global__ void vectors(cudaSurfaceObject_t s, cudaTextureObject_t t, float *out)
{
	const int x = threadIdx.x;
	if (blockIdx.x == 0)
		surf2Dwrite(make_float4(x, 2.0f * x, -x, 1), s, x * sizeof(float4), 1);
	else
		out[x] = tex2D<float4>(t, x, 1).y + surf2Dread<float4>(s, x * sizeof(float4), 1).z +
		         surf2Dread<float4>(s, 1000 * sizeof(float4), 1, cudaBoundaryModeClamp).w;
}

int main()
{
	const cudaChannelFormatDesc byte = cudaCreateChannelDesc<unsigned char>();
	cudaArray_t array[2];
	cudaSurfaceObject_t surface[2];
	for (int i = 0; i < 2; i++) {
		cudaResourceDesc r = {};
		CHECK(cudaMallocArray(&array[i], &byte, N, N, cudaArraySurfaceLoadStore));
		r.resType = cudaResourceTypeArray;
		r.res.array.array = array[i];
		CHECK(cudaCreateSurfaceObject(&surface[i], &r));
	}
	const dim3 block(N, N);
	seed<<<1, block>>>(surface[0]);
	std::vector<unsigned char> now(N * N), next(N * N), got(N * N);
	for (int y = 0; y < N; y++)
		for (int x = 0; x < N; x++)
			now[y * N + x] = (x * 7 + y * 13) % 5 < 2;
	for (int g = 0; g < 6; g++) {
		step<<<1, block>>>(surface[g % 2], surface[1 - g % 2]);
		for (int y = 0; y < N; y++)
			for (int x = 0; x < N; x++) {
				int around = 0;
				for (int dy = -1; dy <= 1; dy++)
					for (int dx = -1; dx <= 1; dx++)
						if ((dx || dy) && x + dx >= 0 && x + dx < N && y + dy >= 0 && y + dy < N)
							around += now[(y + dy) * N + x + dx];
				next[y * N + x] = around == 3 || (now[y * N + x] && around == 2);
			}
		now = next;
	}
	CHECK(cudaMemcpy2DFromArray(got.data(), N, array[0], 0, 0, N, N, cudaMemcpyDeviceToHost));
	int alive = 0;
	for (unsigned char v : got)
		alive += v;
	bool good = got == now;
	printf("%d alive\n", alive);

	const cudaChannelFormatDesc four = cudaCreateChannelDesc<float4>();
	cudaArray_t wide;
	cudaSurfaceObject_t s;
	cudaTextureObject_t t;
	cudaResourceDesc r = {};
	cudaTextureDesc d = {};
	float *out, host[N];
	CHECK(cudaMallocArray(&wide, &four, N, 2, cudaArraySurfaceLoadStore));
	r.resType = cudaResourceTypeArray;
	r.res.array.array = wide;
	CHECK(cudaCreateSurfaceObject(&s, &r));
	CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
	CHECK(cudaMalloc(&out, sizeof host));
	vectors<<<1, N>>>(s, t, out);
	vectors<<<2, N>>>(s, t, out);
	CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
	for (int x = 0; x < N; x++)
		good = good && host[x] == 2.0f * x - x + 1;
	CHECK(cudaDestroyTextureObject(t));
	CHECK(cudaDestroySurfaceObject(s));
	for (int i = 0; i < 2; i++) {
		CHECK(cudaDestroySurfaceObject(surface[i]));
		CHECK(cudaFreeArray(array[i]));
	}
	CHECK(cudaFreeArray(wide));
	CHECK(cudaFree(out));
	return finish("surfaces", good);
}
