// Volumes, layers and lines of texels, filtered linearly: values between texels.
#include "check.h"

static const int W = 5, H = 4, D = 3, N = 64;

static __global__ void in_volume(cudaTextureObject_t t, const float *at, float *out)
{
	const int i = threadIdx.x + blockIdx.x * blockDim.x;
	out[i] = tex3D<float>(t, at[3 * i], at[3 * i + 1], at[3 * i + 2]);
}

static __global__ void in_layer(cudaTextureObject_t t, const float *at, float *out)
{
	const int i = threadIdx.x + blockIdx.x * blockDim.x;
	out[i] = tex2DLayered<float>(t, at[3 * i], at[3 * i + 1], i % D);
}

static __global__ void on_line(cudaTextureObject_t t, const float *at, float4 *out)
{
	const int i = threadIdx.x + blockIdx.x * blockDim.x;
	out[i] = tex1D<float4>(t, at[3 * i]);
}

static unsigned seed = 7;
static unsigned random16()
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 16;
}

static void print(const char *name, const float *v, int n)
{
	printf("%s", name);
	for (int i = 0; i < n; i++)
		printf(" %.6g", v[i]);
	printf("\n");
}

int main()
{
	float texels[W * H * D], at[3 * N], out[4 * N], *dat, *dout;
	for (float &x : texels)
		x = (float)(random16() % 1000) / 101.f;
	CHECK(cudaMalloc(&dat, sizeof at));
	CHECK(cudaMalloc(&dout, sizeof out));

	const cudaChannelFormatDesc one = cudaCreateChannelDesc<float>(),
								four = cudaCreateChannelDesc<float4>();
	cudaArray_t volume, layers, line;
	cudaMemcpy3DParms p = {};
	p.srcPtr = make_cudaPitchedPtr(texels, W * sizeof(float), W, H);
	p.extent = make_cudaExtent(W, H, D);
	p.kind = cudaMemcpyHostToDevice;
	CHECK(cudaMalloc3DArray(&volume, &one, p.extent));
	p.dstArray = volume;
	CHECK(cudaMemcpy3D(&p));
	CHECK(cudaMalloc3DArray(&layers, &one, p.extent, cudaArrayLayered));
	p.dstArray = layers;
	CHECK(cudaMemcpy3D(&p));
	CHECK(cudaMallocArray(&line, &four, 15));
	CHECK(cudaMemcpy2DToArray(line, 0, 0, texels, 240, 240, 1, cudaMemcpyHostToDevice));

	static const cudaTextureAddressMode modes[] = { cudaAddressModeClamp, cudaAddressModeWrap,
		                                            cudaAddressModeMirror, cudaAddressModeBorder };
	for (int normalised = 0; normalised < 2; normalised++)
		for (int mode = 0; mode < 4; mode++) {
			if (!normalised && (mode == 1 || mode == 2))
				continue;
			for (int i = 0; i < N; i++)
				for (int k = 0; k < 3; k++) {
					const float size = (float)(k == 0 ? W : k == 1 ? H : D);
					// some lie on a line or in a plane of texels, so that fewer are mixed
					float v = i >> k & 1 && i < 32 ? (float)(random16() % (unsigned)size) + .5f
					                               : (float)random16() / 65536.f * (size + 1) - .5f;
					at[3 * i + k] = normalised ? v / size : v;
				}
			CHECK(cudaMemcpy(dat, at, sizeof at, cudaMemcpyHostToDevice));
			cudaTextureDesc how = {};
			how.normalizedCoords = normalised;
			how.filterMode = cudaFilterModeLinear;
			how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = modes[mode];
			cudaResourceDesc what = {};
			what.resType = cudaResourceTypeArray;
			cudaTextureObject_t t[3];
			const cudaArray_t of[3] = { volume, layers, line };
			for (int k = 0; k < 3; k++) {
				what.res.array.array = of[k];
				CHECK(cudaCreateTextureObject(&t[k], &what, &how, nullptr));
			}
			in_volume<<<2, N / 2>>>(t[0], dat, dout);
			CHECK(cudaMemcpy(out, dout, N * sizeof(float), cudaMemcpyDeviceToHost));
			print("volume", out, N);
			in_layer<<<2, N / 2>>>(t[1], dat, dout);
			CHECK(cudaMemcpy(out, dout, N * sizeof(float), cudaMemcpyDeviceToHost));
			print("layers", out, N);
			on_line<<<2, N / 2>>>(t[2], dat, (float4 *)dout);
			CHECK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
			print("line  ", out, 4 * N);
			for (cudaTextureObject_t x : t)
				CHECK(cudaDestroyTextureObject(x));
		}
	CHECK(cudaFreeArray(volume));
	CHECK(cudaFreeArray(layers));
	CHECK(cudaFreeArray(line));
	CHECK(cudaFree(dat));
	CHECK(cudaFree(dout));
	return finish("volumes_between", true);
}
