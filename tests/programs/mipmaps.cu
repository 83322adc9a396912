// Mipmapped arrays: every level made from the one before through a surface, then read at a level that
// the kernel names, from the nearest level and mixed from two, with clamps, a bias and gradients.
#include "check.h"

constexpr int W = 32, H = 16, LEVELS = 4;

__global__ void halve(cudaSurfaceObject_t to, cudaTextureObject_t from, int w, int h)
{
	const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x < w && y < h)
		surf2Dwrite(tex2D<float>(from, (x + 0.5f) / w, (y + 0.5f) / h), to, x * (int)sizeof(float), y);
}

__global__ void read_levels(cudaTextureObject_t t, float *out, float step)
{
	out[threadIdx.x] = tex2DLod<float>(t, 5.5f / W, 3.5f / H, threadIdx.x * step - 0.875f);
}

__global__ void read_gradients(cudaTextureObject_t t, float *out)
{
	const float texels = (float)(1 << threadIdx.x); // from one pixel to the next
	out[threadIdx.x] = tex2DGrad<float>(t, 5.5f / W, 3.5f / H, make_float2(texels / W, 0), make_float2(0, 1.0f / H));
}

__global__ void read_without(cudaTextureObject_t t, float *out)
{
	out[0] = tex2D<float>(t, 5.5f / W, 3.5f / H);
}

__global__ void read_cubes(cudaTextureObject_t t, float *out)
{
	out[threadIdx.x] = texCubemapLayeredLod<float>(t, 0, 0, -1, threadIdx.x / 2, (float)(threadIdx.x % 2));
}

static cudaTextureObject_t texture(cudaMipmappedArray_t m, cudaTextureFilterMode between, float least, float most,
                                   float bias, const cudaResourceViewDesc *view = nullptr)
{
	cudaResourceDesc r = {};
	cudaTextureDesc d = {};
	cudaTextureObject_t t;
	r.resType = cudaResourceTypeMipmappedArray;
	r.res.mipmap.mipmap = m;
	d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
	d.normalizedCoords = 1;
	d.mipmapFilterMode = between;
	d.minMipmapLevelClamp = least;
	d.maxMipmapLevelClamp = most;
	d.mipmapLevelBias = bias;
	CHECK(cudaCreateTextureObject(&t, &r, &d, view));
	return t;
}

static cudaError_t with_view(cudaMipmappedArray_t m, const cudaResourceViewDesc *view)
{
	cudaResourceDesc r = {};
	cudaTextureDesc d = {};
	cudaTextureObject_t t;
	r.resType = cudaResourceTypeMipmappedArray;
	r.res.mipmap.mipmap = m;
	d.normalizedCoords = 1;
	return cudaCreateTextureObject(&t, &r, &d, view);
}

static bool same(const char *what, const float *out, const std::vector<float> &expected)
{
	bool good = true;
	std::vector<float> found(expected.size());
	CHECK(cudaMemcpy(found.data(), out, found.size() * sizeof(float), cudaMemcpyDeviceToHost));
	printf("%s:", what);
	for (size_t i = 0; i < found.size(); i++) {
		printf(" %g", found[i]);
		good &= std::fabs(found[i] - expected[i]) < 1e-4f;
	}
	printf("%s\n", good ? "" : "  WRONG");
	return good;
}

// Level 0 is x + 100 y; every other one the mean of four texels of the one before.
static float texel(int level, int x, int y)
{
	if (level == 0)
		return (float)(x + 100 * y);
	float sum = 0;
	for (int k = 0; k < 4; k++)
		sum += texel(level - 1, 2 * x + k % 2, 2 * y + k / 2);
	return sum / 4;
}

static float nearest(float level)
{
	const int l = (int)std::ceil(std::fmin(std::fmax(level, 0.0f), LEVELS - 1.0f) - 0.5f);
	return texel(l, 5 >> l, 3 >> l);
}

static float mixed(float level)
{
	level = std::fmin(std::fmax(level, 0.0f), LEVELS - 1.0f);
	const int l = (int)level, next = l + 1 < LEVELS ? l + 1 : l;
	const float part = level - (float)l;
	return (1 - part) * texel(l, 5 >> l, 3 >> l) + part * texel(next, 5 >> next, 3 >> next);
}

static void make_levels(cudaMipmappedArray_t m)
{
	for (int l = 1; l < LEVELS; l++) {
		cudaArray_t from, to;
		cudaResourceDesc r = {};
		cudaTextureDesc d = {};
		cudaTextureObject_t t;
		cudaSurfaceObject_t s;
		CHECK(cudaGetMipmappedArrayLevel(&from, m, l - 1));
		CHECK(cudaGetMipmappedArrayLevel(&to, m, l));
		r.resType = cudaResourceTypeArray;
		r.res.array.array = from;
		d.normalizedCoords = 1;
		d.filterMode = cudaFilterModeLinear;
		d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
		CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
		r.res.array.array = to;
		CHECK(cudaCreateSurfaceObject(&s, &r));
		halve<<<dim3(2, 2), dim3(16, 8)>>>(s, t, W >> l, H >> l);
		CHECK(cudaDeviceSynchronize());
		CHECK(cudaDestroyTextureObject(t));
		CHECK(cudaDestroySurfaceObject(s));
	}
}

static bool cubes(float *out)
{
	constexpr int N = 4, FACES = 12;
	cudaMipmappedArray_t m;
	const cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
	CHECK(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(N, N, FACES), 2, cudaArrayCubemap | cudaArrayLayered));
	for (int l = 0; l < 2; l++) {
		std::vector<float> texels;
		for (int face = 0; face < FACES; face++)
			texels.insert(texels.end(), (N >> l) * (N >> l), (float)(100 * l + face));
		cudaArray_t level;
		cudaMemcpy3DParms p = {};
		CHECK(cudaGetMipmappedArrayLevel(&level, m, l));
		p.srcPtr = make_cudaPitchedPtr(texels.data(), (N >> l) * sizeof(float), N >> l, N >> l);
		p.dstArray = level;
		p.extent = make_cudaExtent(N >> l, N >> l, FACES);
		p.kind = cudaMemcpyHostToDevice;
		CHECK(cudaMemcpy3D(&p));
	}
	const cudaTextureObject_t t = texture(m, cudaFilterModePoint, 0, 1, 0);
	read_cubes<<<1, 4>>>(t, out);
	const bool good = same("cubes", out, { 5, 105, 11, 111 });
	CHECK(cudaDestroyTextureObject(t));
	CHECK(cudaFreeMipmappedArray(m));
	return good;
}

int main()
{
	cudaMipmappedArray_t m;
	cudaArray_t level;
	float *out;
	bool good = true;
	std::vector<float> image;
	for (int i = 0; i < W * H; i++)
		image.push_back(texel(0, i % W, i / W));
	const cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
	CHECK(cudaMalloc(&out, 32 * sizeof(float)));
	CHECK(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(W, H, 0), LEVELS, cudaArraySurfaceLoadStore));
	CHECK(cudaGetMipmappedArrayLevel(&level, m, 0));
	CHECK(cudaMemcpy2DToArray(level, 0, 0, image.data(), W * sizeof(float), W * sizeof(float), H, cudaMemcpyHostToDevice));
	make_levels(m);

	std::vector<float> expected;
	for (int i = 0; i < 24; i++)
		expected.push_back(nearest(i * 0.25f - 0.875f));
	cudaTextureObject_t t = texture(m, cudaFilterModePoint, 0, 99, 0);
	read_levels<<<1, 24>>>(t, out, 0.25f);
	good &= same("nearest level", out, expected);
	read_without<<<1, 1>>>(t, out);
	good &= same("no level", out, { texel(0, 5, 3) });
	read_gradients<<<1, 5>>>(t, out);
	good &= same("gradients", out, { nearest(0), nearest(1), nearest(2), nearest(3), nearest(4) });
	CHECK(cudaDestroyTextureObject(t));

	t = texture(m, cudaFilterModeLinear, 0, 99, 0);
	for (int i = 0; i < 24; i++)
		expected[i] = mixed(i * 0.25f - 0.875f);
	read_levels<<<1, 24>>>(t, out, 0.25f);
	good &= same("two levels", out, expected);
	CHECK(cudaDestroyTextureObject(t));

	t = texture(m, cudaFilterModeLinear, 0.5f, 1.5f, 1);
	for (int i = 0; i < 6; i++)
		expected[i] = mixed(std::fmin(std::fmax(i * 0.5f + 0.125f, 0.5f), 1.5f));
	expected.resize(6);
	read_levels<<<1, 6>>>(t, out, 0.5f);
	good &= same("clamps and bias", out, expected);
	CHECK(cudaDestroyTextureObject(t));

	cudaResourceViewDesc view = {};
	view.format = cudaResViewFormatFloat1;
	view.width = W; // the array's, not the level's: an H200 refuses others
	view.height = H;
	view.firstMipmapLevel = 1;
	view.lastMipmapLevel = 2;
	t = texture(m, cudaFilterModePoint, 0, 99, 0, &view);
	read_levels<<<1, 5>>>(t, out, 1);
	good &= same("a view of two levels", out, { nearest(1), nearest(1), nearest(2), nearest(2), nearest(2) });
	CHECK(cudaDestroyTextureObject(t));
	view.width = W >> 1;
	good &= with_view(m, &view) == cudaErrorInvalidValue;

	good &= cubes(out);
	good &= cudaGetMipmappedArrayLevel(&level, m, LEVELS) == cudaErrorInvalidValue;
	cudaExtent extent;
	CHECK(cudaGetMipmappedArrayLevel(&level, m, 3));
	CHECK(cudaArrayGetInfo(nullptr, &extent, nullptr, level));
	good &= extent.width == W / 8 && extent.height == H / 8;
	CHECK(cudaFreeMipmappedArray(m));
	free_all(out);
	cudaGetLastError();
	return finish("mipmaps", good);
}
