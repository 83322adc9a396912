/*
 * What a launch of a program waits for beside its texels: what a texture or a surface is, and where
 * it lies, and how it is sampled. Kernels of 1 and 12 blocks fetch from one texture, two at once,
 * two one after the other; write to a surface; fetch and write; read a surface and write another;
 * nothing of that. Each several times with the same objects ("same"), with others of the same
 * arrays ("other"), with arrays that were copied to just before ("copied"). Prints a line per
 * launch: the kernel, and which. Times by `pmpp-explore launches --backend cuda` (before.py).
 */
#include "micro.cuh"

#define TIMES 6
#define W 96
#define H 64
#define OBJECTS (TIMES + 1)

struct objects {
	cudaTextureObject_t texture[2], again[2];
	cudaSurfaceObject_t surface[2];
};
enum how { NOTHING, STORE, ONE, TWO, CHAIN, PUT, FETCH_PUT, READ_PUT, HOWS };
static const char *const hows[] = { "nothing", "store", "one",       "two",
	                                "chain",   "put",   "fetch_put", "read_put" };

template <how X
> static __global__ void uses(objects o, float *out)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % W, y = i / W;
	const float u = (float)x + 0.5f, v = (float)y + 0.5f;
	if (X == STORE)
		out[i] = u;
	if (X == ONE)
		out[i] = tex2D<float>(o.texture[0], u, v);
	if (X == TWO)
		out[i] = tex2D<float>(o.texture[0], u, v) + tex2D<float>(o.texture[1], u, v);
	if (X == CHAIN)
		out[i] = tex2D<float>(o.texture[1], u + tex2D<float>(o.texture[0], u, v), v);
	if (X == PUT)
		surf2Dwrite(u, o.surface[1], x * 4, y);
	if (X == FETCH_PUT)
		surf2Dwrite(tex2D<float>(o.texture[0], u, v), o.surface[1], x * 4, y);
	if (X == READ_PUT)
		surf2Dwrite(surf2Dread<float>(o.surface[0], x * 4, y) + 1, o.surface[1], x * 4, y);
}

static cudaArray_t arrays[2];
static float *out;
static float host[W * H];

static objects new_objects()
{
	objects o = {};
	for (int i = 0; i < 2; i++) {
		cudaResourceDesc r = {};
		cudaTextureDesc d = {};
		r.resType = cudaResourceTypeArray;
		r.res.array.array = arrays[i];
		micro_fail("texture", cudaCreateTextureObject(&o.texture[i], &r, &d, nullptr));
		micro_fail("surface", cudaCreateSurfaceObject(&o.surface[i], &r));
	}
	return o;
}

template <how X
> static void times()
{
	static objects all[OBJECTS];
	static bool made = false;
	for (int i = 0; !made && i < OBJECTS; i++)
		all[i] = new_objects();
	made = true;
	for (int blocks : { 1, 12 })
		for (int threads : { 32, 128 })
			for (int way = 0; way < 3; way++)
				for (int t = 0; t < TIMES; t++) {
					static const char *const ways[] = { "same", "other", "copied" };
					if (way == 2)
						for (int k = 0; k < 2; k++)
							micro_fail("copy",
							           cudaMemcpy2DToArray(arrays[k], 0, 0, host, W * 4, W * 4, H,
							                               cudaMemcpyHostToDevice));
					uses < X
					> <<<blocks, threads>>>(all[way == 1 ? t + 1 : 0], out);
					printf("%s%s/%dx%d %s\n", t ? "" : "other_", hows[X], blocks, threads,
					       ways[way]);
				}
}

int main()
{
	const cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
	for (cudaArray_t &a : arrays)
		micro_fail("array", cudaMallocArray(&a, &f, W, H, cudaArraySurfaceLoadStore));
	out = micro_alloc<float>(W * H);
	times<NOTHING>();
	times<STORE>();
	times<ONE>();
	times<TWO>();
	times<CHAIN>();
	times<PUT>();
	times<FETCH_PUT>();
	times<READ_PUT>();
	return 0;
}
