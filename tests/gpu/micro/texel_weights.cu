/*
 * How much of each texel linear filtering takes: every corner of a cell is 1 in a channel of its
 * own and 0 elsewhere, so that what is fetched are the weights. In 256ths, of the cell's corners, x
 * fastest; by the place in the cell, in 256ths of it, and by the cell that it is in. No time is
 * taken. TEXEL_WEIGHTS=n: so many places of a volume.
 */
#include "micro.cuh"

#include <string>
#include <vector>

static const int SIZE = 4;

static __global__ void weights(cudaTextureObject_t low, cudaTextureObject_t high, bool flat,
                               const float *at, unsigned n, float4 *out)
{
	const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	const float x = at[3 * i], y = at[3 * i + 1], z = at[3 * i + 2];
	out[2 * i] = flat ? tex2D<float4>(low, x, y) : tex3D<float4>(low, x, y, z);
	out[2 * i + 1] = flat ? make_float4(0, 0, 0, 0) : tex3D<float4>(high, x, y, z);
}

/* Corners of the cell from @cell on, in z @part of it. */
static cudaTextureObject_t texture(const int cell[3], int part, bool flat)
{
	std::vector<float4> texels(SIZE * SIZE * SIZE, make_float4(0, 0, 0, 0));
	for (int k = 0; k < 4; k++) {
		const int at = ((cell[2] + part) * SIZE + cell[1] + k / 2) * SIZE + cell[0] + k % 2;
		(&texels[flat ? at - cell[2] * SIZE * SIZE : at].x)[k] = 1;
	}
	const cudaChannelFormatDesc four = cudaCreateChannelDesc<float4>();
	cudaArray_t array;
	cudaMemcpy3DParms p = {};
	p.srcPtr = make_cudaPitchedPtr(texels.data(), SIZE * sizeof(float4), SIZE, SIZE);
	p.extent = make_cudaExtent(SIZE, SIZE, flat ? 1 : SIZE);
	p.kind = cudaMemcpyHostToDevice;
	micro_fail("array",
	           cudaMalloc3DArray(&array, &four, make_cudaExtent(SIZE, SIZE, flat ? 0 : SIZE)));
	p.dstArray = array;
	micro_fail("copy", cudaMemcpy3D(&p));
	cudaResourceDesc what = {};
	what.resType = cudaResourceTypeArray;
	what.res.array.array = array;
	cudaTextureDesc how = {};
	how.filterMode = cudaFilterModeLinear;
	how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
	cudaTextureObject_t t;
	micro_fail("texture", cudaCreateTextureObject(&t, &what, &how, nullptr));
	return t;
}

static void measure(const int cell[3], bool flat, const std::vector<unsigned> &parts)
{
	const unsigned n = (unsigned)parts.size() / 3;
	std::vector<float> at(parts.size());
	for (size_t i = 0; i < at.size(); i++)
		at[i] = (float)cell[i % 3] + 0.5f + (float)parts[i] / 256;
	float *d;
	float4 *out;
	micro_fail("memory", cudaMalloc(&d, at.size() * sizeof *d));
	micro_fail("memory", cudaMalloc(&out, 2 * n * sizeof *out));
	micro_fail("copy", cudaMemcpy(d, at.data(), at.size() * sizeof *d, cudaMemcpyHostToDevice));
	weights<<<(n + 127) / 128, 128>>>(texture(cell, 0, flat), texture(cell, 1, flat), flat, d, n,
	                                  out);
	std::vector<float> h(8 * n);
	micro_fail("copy", cudaMemcpy(h.data(), out, h.size() * sizeof(float), cudaMemcpyDeviceToHost));
	const std::string where =
		std::to_string(cell[0]) + "," + std::to_string(cell[1]) + "," + std::to_string(cell[2]);
	for (unsigned i = 0; i < n; i++) {
		std::string of, place;
		for (unsigned k = 0; k < (flat ? 2 : 3); k++)
			place += (k ? "," : "") + std::to_string(parts[3 * i + k]);
		for (unsigned k = 0; k < (flat ? 4 : 8); k++)
			of += (k ? "," : "") + std::to_string((int)(h[8 * i + k] * 65536));
		Line("texel_weights", flat ? "flat" : "volume")("cell", where.c_str())(
			"place", place.c_str())("weights_65536", of.c_str());
	}
}

int main()
{
	const char *wanted = getenv("TEXEL_WEIGHTS");
	const unsigned n = wanted ? (unsigned)atoi(wanted) : 300;
	uint64_t state = 11;
	micro_begin("texel_weights");
	static const int cells[][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 },
		                            { 0, 0, 1 }, { 1, 1, 1 }, { 2, 2, 2 } };
	for (const auto &cell : cells)
		for (int flat = 0; flat < 2; flat++) {
			std::vector<unsigned> parts;
			for (unsigned i = 0; i < n; i++)
				for (unsigned k = 0; k < 3; k++)
					parts.push_back(i < n / 4 && (i >> k & 3) == 3
					                    ? (unsigned)(micro_random(&state) % 3) * 64
					                    : (unsigned)(micro_random(&state) % 256));
			measure(cell, flat, parts);
		}
	return 0;
}
