// Textures: linear memory, pitched memory and arrays; nearest and linear filtering, the four addressing
// modes, integers read as fractions, layers and three dimensions.
#include "check.h"
#include <cstring>

constexpr int W = 16, H = 12;

__global__ void fetch_line(cudaTextureObject_t t, float *out, int n)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = tex1Dfetch<float>(t, n - 1 - i);
}

__global__ void sample_2d(cudaTextureObject_t t, float *out, float scale, float shift)
{
	const int x = threadIdx.x, y = blockIdx.x;
	out[y * W + x] = tex2D<float>(t, (float)x * scale + shift, (float)y * scale + shift);
}

__global__ void colours(cudaTextureObject_t t, uchar4 *out)
{
	out[blockIdx.x * W + threadIdx.x] = tex2D<uchar4>(t, threadIdx.x, blockIdx.x);
}

__global__ void modes(cudaTextureObject_t t, float *out)
{
	const int i = threadIdx.x; // -1.5 to 2.5 widths
	out[i] = tex2D<float>(t, (i - 24) / 16.0f + 1.0f / 32, 0.5f / H);
}

__global__ void layers(cudaTextureObject_t stack, cudaTextureObject_t block, float *out)
{
	const int x = threadIdx.x;
	out[x] = tex2DLayered<float>(stack, x, 1, x % 3);
	out[W + x] = tex3D<float>(block, x + 0.5f, 1.5f, 1.0f);
}

static float at(int x, int y)
{
	return (float)(x * x + 10 * y);
}

static cudaTextureObject_t over_array(cudaArray_t a, cudaTextureFilterMode filter, cudaTextureAddressMode mode,
                                      bool normalised, cudaTextureReadMode read = cudaReadModeElementType)
{
	cudaResourceDesc r = {};
	cudaTextureDesc d = {};
	cudaTextureObject_t t;
	r.resType = cudaResourceTypeArray;
	r.res.array.array = a;
	d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = mode;
	d.filterMode = filter;
	d.readMode = read;
	d.normalizedCoords = normalised;
	d.borderColor[0] = -7;
	CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
	return t;
}

int main()
{
	bool good = true;
	std::vector<float> image(W * H), result(3 * W * H);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			image[y * W + x] = at(x, y);
	float *line, *out;
	CHECK(cudaMalloc(&out, result.size() * sizeof(float)));

	// linear memory
	CHECK(cudaMalloc(&line, image.size() * sizeof(float)));
	CHECK(cudaMemcpy(line, image.data(), image.size() * sizeof(float), cudaMemcpyHostToDevice));
	cudaResourceDesc r = {};
	cudaTextureDesc d = {};
	cudaTextureObject_t t;
	r.resType = cudaResourceTypeLinear;
	r.res.linear.devPtr = line;
	r.res.linear.desc = cudaCreateChannelDesc<float>();
	r.res.linear.sizeInBytes = image.size() * sizeof(float);
	d.readMode = cudaReadModeElementType;
	CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
	fetch_line<<<2, 128>>>(t, out, W * H);
	CHECK(cudaMemcpy(result.data(), out, W * H * sizeof(float), cudaMemcpyDeviceToHost));
	for (int i = 0; i < W * H; i++)
		good = good && result[i] == image[W * H - 1 - i];
	CHECK(cudaDestroyTextureObject(t));
	printf("linear memory: %s\n", good ? "right" : "wrong");

	// pitched memory, halfway between texels
	float *pitched;
	size_t pitch;
	CHECK(cudaMallocPitch(&pitched, &pitch, W * sizeof(float), H));
	CHECK(cudaMemcpy2D(pitched, pitch, image.data(), W * sizeof(float), W * sizeof(float), H,
	                   cudaMemcpyHostToDevice));
	memset(&r, 0, sizeof r);
	r.resType = cudaResourceTypePitch2D;
	r.res.pitch2D.devPtr = pitched;
	r.res.pitch2D.desc = cudaCreateChannelDesc<float>();
	r.res.pitch2D.width = W;
	r.res.pitch2D.height = H;
	r.res.pitch2D.pitchInBytes = pitch;
	d.filterMode = cudaFilterModeLinear;
	d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
	CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
	sample_2d<<<H, W>>>(t, out, 1.0f, 1.0f);
	CHECK(cudaMemcpy(result.data(), out, W * H * sizeof(float), cudaMemcpyDeviceToHost));
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++) {
			const int x1 = x + 1 < W ? x + 1 : x, y1 = y + 1 < H ? y + 1 : y;
			const float want = (at(x, y) + at(x1, y) + at(x, y1) + at(x1, y1)) / 4;
			good = good && fabsf(result[y * W + x] - want) < 1e-3f;
		}
	CHECK(cudaDestroyTextureObject(t));
	printf("halfway: %.2f, %s\n", result[0], good ? "right" : "wrong");

	// arrays: whole texels, a quarter of the way, and what lies outside
	const cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
	cudaArray_t array;
	CHECK(cudaMallocArray(&array, &one, W, H));
	CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), W * sizeof(float), W * sizeof(float), H,
	                          cudaMemcpyHostToDevice));
	t = over_array(array, cudaFilterModePoint, cudaAddressModeClamp, false);
	sample_2d<<<H, W>>>(t, out, 1.0f, 0.5f);
	CHECK(cudaMemcpy(result.data(), out, W * H * sizeof(float), cudaMemcpyDeviceToHost));
	for (int i = 0; i < W * H; i++)
		good = good && result[i] == image[i];
	printf("whole texels: %s\n", good ? "right" : "wrong");
	CHECK(cudaDestroyTextureObject(t));
	const cudaTextureAddressMode mode[] = { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror,
		                                    cudaAddressModeBorder };
	for (int m = 0; m < 4; m++) {
		t = over_array(array, cudaFilterModePoint, mode[m], true);
		modes<<<1, 64>>>(t, out);
		CHECK(cudaMemcpy(result.data(), out, 64 * sizeof(float), cudaMemcpyDeviceToHost));
		int right = 0;
		for (int i = 0; i < 64; i++) {
			const int x = i - 24, wrapped = (x + 48) % W, twice = (x + 64) % (2 * W);
			const int inside = x < 0 ? 0 : x >= W ? W - 1 : x;
			const int mirrored = twice < W ? twice : 2 * W - 1 - twice;
			const float want = m == 0   ? at(wrapped, 0)
			                   : m == 1 ? at(inside, 0)
			                   : m == 2 ? at(mirrored, 0)
			                            : (x < 0 || x >= W ? -7.0f : at(x, 0));
			right += result[i] == want;
		}
		printf("mode %d: %.0f %.0f, %d of 64 right\n", m, result[20], result[45], right);
		good = good && right == 64;
		CHECK(cudaDestroyTextureObject(t));
	}

	// bytes, as they are and as fractions
	std::vector<uchar4> pixels(W * H), back(W * H);
	for (int i = 0; i < W * H; i++)
		pixels[i] = { (unsigned char)i, (unsigned char)(255 - i), 7, 255 };
	const cudaChannelFormatDesc four = cudaCreateChannelDesc<uchar4>();
	cudaArray_t picture, grey;
	CHECK(cudaMallocArray(&picture, &four, W, H));
	CHECK(cudaMemcpy2DToArray(picture, 0, 0, pixels.data(), W * 4, W * 4, H, cudaMemcpyHostToDevice));
	t = over_array(picture, cudaFilterModePoint, cudaAddressModeClamp, false);
	colours<<<H, W>>>(t, (uchar4 *)out);
	CHECK(cudaMemcpy(back.data(), out, W * H * 4, cudaMemcpyDeviceToHost));
	const bool same = !memcmp(back.data(), pixels.data(), W * H * 4);
	printf("four bytes a texel: %s\n", same ? "right" : "wrong");
	good = good && same;
	CHECK(cudaDestroyTextureObject(t));
	const cudaChannelFormatDesc byte = cudaCreateChannelDesc<unsigned char>();
	std::vector<unsigned char> shades(W * H);
	for (int i = 0; i < W * H; i++)
		shades[i] = (unsigned char)(i % 2 * 255);
	CHECK(cudaMallocArray(&grey, &byte, W, H));
	CHECK(cudaMemcpy2DToArray(grey, 0, 0, shades.data(), W, W, H, cudaMemcpyHostToDevice));
	t = over_array(grey, cudaFilterModeLinear, cudaAddressModeClamp, false, cudaReadModeNormalizedFloat);
	sample_2d<<<H, W>>>(t, out, 1.0f, 0.75f);
	CHECK(cudaMemcpy(result.data(), out, W * H * sizeof(float), cudaMemcpyDeviceToHost));
	printf("a quarter of the way: %.4f %.4f\n", result[0], result[1]);
	good = good && fabsf(result[0] - 0.25f) < 1.0f / 512 && fabsf(result[1] - 0.75f) < 1.0f / 512;
	CHECK(cudaDestroyTextureObject(t));

	// layers and depth
	cudaArray_t stack, block;
	CHECK(cudaMalloc3DArray(&stack, &one, make_cudaExtent(W, H, 3), cudaArrayLayered));
	CHECK(cudaMalloc3DArray(&block, &one, make_cudaExtent(W, H, 3)));
	std::vector<float> volume;
	for (int z = 0; z < 3; z++)
		for (int i = 0; i < W * H; i++)
			volume.push_back(image[i] + 1000.0f * z);
	for (cudaArray_t a : { stack, block }) {
		cudaMemcpy3DParms p = {};
		p.srcPtr = make_cudaPitchedPtr(volume.data(), W * sizeof(float), W, H);
		p.dstArray = a;
		p.extent = make_cudaExtent(W, H, 3);
		p.kind = cudaMemcpyHostToDevice;
		CHECK(cudaMemcpy3D(&p));
	}
	t = over_array(stack, cudaFilterModePoint, cudaAddressModeClamp, false);
	cudaTextureObject_t u = over_array(block, cudaFilterModeLinear, cudaAddressModeClamp, false);
	layers<<<1, W>>>(t, u, out);
	CHECK(cudaMemcpy(result.data(), out, 2 * W * sizeof(float), cudaMemcpyDeviceToHost));
	int layered = 0, between = 0;
	for (int x = 0; x < W; x++) {
		layered += result[x] == at(x, 1) + 1000.0f * (x % 3);
		between += result[W + x] == at(x, 1) + 500.0f;
	}
	printf("layer 2: %.0f, %d right; between slices: %.0f, %d right\n", result[2], layered, result[W], between);
	good = good && layered == W && between == W;
	CHECK(cudaDestroyTextureObject(t));
	CHECK(cudaDestroyTextureObject(u));
	for (cudaArray_t a : { array, picture, grey, stack, block })
		CHECK(cudaFreeArray(a));
	free_all(line, pitched, out);
	return finish("textures", good);
}
