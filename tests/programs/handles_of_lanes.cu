// Textures and surfaces that lanes of one warp choose each for itself.
#include "check.h"

constexpr int SIDE = 8, N = SIDE * SIDE, MANY = 4;

__global__ void gather(const cudaTextureObject_t *texture, float *out)
{
	const int i = threadIdx.x;
	if (i % 5 == 3) // some lanes take no part
		out[i] = -1;
	else
		out[i] = tex2D<float>(texture[i * 7 % MANY], i % SIDE + 0.5f, i / SIDE + 0.5f);
}

__global__ void one_of_two(cudaTextureObject_t a, cudaTextureObject_t b, float *out)
{
	const int i = threadIdx.x;
	out[i] = tex2D<float>(i & 1 ? a : b, i % SIDE + 0.5f, 0.5f);
}

__global__ void scatter(const cudaSurfaceObject_t *surface, const float *in)
{
	const int i = threadIdx.x;
	surf2Dwrite(in[i] + 0.5f, surface[i % MANY], i % SIDE * (int)sizeof(float), i / SIDE);
}

int main()
{
	cudaTextureObject_t *texture;
	cudaSurfaceObject_t *surface;
	cudaArray_t array[MANY];
	float *out;
	bool good = true;
	CHECK(cudaMallocManaged(&texture, MANY * sizeof *texture));
	CHECK(cudaMallocManaged(&surface, MANY * sizeof *surface));
	CHECK(cudaMallocManaged(&out, N * sizeof *out));
	for (int k = 0; k < MANY; k++) {
		const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
		CHECK(cudaMallocArray(&array[k], &format, SIDE, SIDE, cudaArraySurfaceLoadStore));
		std::vector<float> texel(N);
		for (int i = 0; i < N; i++)
			texel[i] = k * 100 + i;
		CHECK(cudaMemcpy2DToArray(array[k], 0, 0, texel.data(), SIDE * sizeof(float), SIDE * sizeof(float), SIDE,
		                          cudaMemcpyHostToDevice));
		cudaResourceDesc what = {};
		what.resType = cudaResourceTypeArray;
		what.res.array.array = array[k];
		const cudaTextureDesc how = {};
		CHECK(cudaCreateTextureObject(&texture[k], &what, &how, nullptr));
		CHECK(cudaCreateSurfaceObject(&surface[k], &what));
	}
	gather<<<1, N>>>(texture, out);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < N; i++)
		good &= out[i] == (i % 5 == 3 ? -1 : i * 7 % MANY * 100 + i);
	one_of_two<<<1, N>>>(texture[1], texture[2], out);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < N; i++)
		good &= out[i] == (i & 1 ? 100 : 200) + i % SIDE;
	scatter<<<1, N>>>(surface, out);
	for (int k = 0; k < MANY; k++) {
		std::vector<float> texel(N);
		CHECK(cudaMemcpy2DFromArray(texel.data(), SIDE * sizeof(float), array[k], 0, 0, SIDE * sizeof(float), SIDE,
		                            cudaMemcpyDeviceToHost));
		for (int i = 0; i < N; i++)
			good &= texel[i] == (i % MANY == k ? out[i] + 0.5f : k * 100 + i);
		CHECK(cudaDestroyTextureObject(texture[k]));
		CHECK(cudaDestroySurfaceObject(surface[k]));
		CHECK(cudaFreeArray(array[k]));
	}
	free_all(texture, surface, out);
	return finish("handles_of_lanes", good);
}
