// Numbers where a coordinate stands: of copies by tensor maps, of textures and of surfaces.
#include "tensor_map.h"

constexpr int width = 32, height = 16;

__global__ void copies(const __grid_constant__ CUtensorMap from,
                       const __grid_constant__ CUtensorMap to)
{
	extern __shared__ __align__(1024) unsigned box[];
	__shared__ uint64_t bar;
	const uint32_t at = shared_address(box), b = shared_address(&bar);
	if (threadIdx.x)
		return;
	barrier_init(&bar, 1);
	fence_init();
	barrier_expect(&bar, 512);
	asm volatile(
		"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {0, %2}], [%3];" ::
			"r"(at),
		"l"(&from), "r"(8), "r"(b)
		: "memory");
	asm volatile(
		"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {4 * 4, -1}], [%2];" ::
			"r"(at + 256),
		"l"(&from), "r"(b)
		: "memory");
	barrier_wait(&bar, 0);
	asm volatile(
		"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, 0}], [%1];" ::"l"(
			&to),
		"r"(at), "r"(0)
		: "memory");
	asm volatile(
		"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {16, 1 + 3}], [%1];" ::"l"(
			&to),
		"r"(at + 256)
		: "memory");
	asm volatile("cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;" ::: "memory");
}

#define FETCH(of, at, ...)                                    \
	asm volatile(of " {%0, %1, %2, %3}, [%4, " at ";"         \
	             : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) \
	             : "l"(t), ##__VA_ARGS__)

__global__ void fetches(cudaTextureObject_t t, cudaTextureObject_t layers, float *out)
{
	float4 v;
	const int x = threadIdx.x;
	FETCH("tex.2d.v4.f32.s32", "{3, 4}]");
	out[x] = v.x;
	FETCH("tex.2d.v4.f32.s32", "{%5, 1 + 1}]", "r"(x));
	out[32 + x] = v.x;
	FETCH("tex.2d.v4.f32.f32", "{%5, 0f40200000}]", "f"(x + 0.5f));
	out[64 + x] = v.x;
	FETCH("tex.level.2d.v4.f32.f32", "{5.0, 1.0 + 1.5}], 0f00000000", "f"(0.0f));
	out[96 + x] = v.x;
	t = layers;
	FETCH("tex.a2d.v4.f32.f32", "{1, %5, 2.0, 2.0}]", "f"(x + 0.5f));
	out[128 + x] = v.x;
}

__global__ void surface(cudaSurfaceObject_t s, float *out)
{
	unsigned v, w;
	asm volatile("suld.b.2d.b32.trap {%0}, [%1, {4 * 3, %2}];" : "=r"(v) : "l"(s), "r"(2));
	asm volatile("suld.b.2d.b32.trap {%0}, [%1, {0, 15}];" : "=r"(w) : "l"(s));
	out[threadIdx.x] = __uint_as_float(v) + __uint_as_float(w);
	__syncthreads();
	asm volatile("sust.b.2d.b32.trap [%0, {%1, 5}], {0x42280000};" ::"l"(s),
	             "r"((int)threadIdx.x * 4));
	asm volatile("sust.b.2d.b32.trap [%0, {8, 6}], {0};" ::"l"(s));
}

static float value(int x, int y)
{
	return (float)(x + 100 * y);
}

static bool as_expected(const char *what, const float *got, int n, float (*wanted)(int))
{
	int wrong = 0;
	for (int i = 0; i < n; i++)
		wrong += got[i] != wanted(i);
	printf("%s: %s\n", what, wrong ? "DIFFERENT" : "as expected");
	return !wrong;
}

int main()
{
	std::vector<float> a(width * height), b(a.size());
	float *in, *out;
	for (int i = 0; i < width * height; i++)
		a[i] = value(i % width, i / width);
	CHECK(cudaMalloc(&in, a.size() * 4));
	CHECK(cudaMalloc(&out, a.size() * 4));
	CHECK(cudaMemcpy(in, a.data(), a.size() * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemset(out, 0, a.size() * 4));

	// boxes of 16 times 4: from (0, 8) to (0, 0), from (16, -1), over the edge, to (16, 4)
	const CUtensorMap from = tensor_map<2>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, in, { width, height },
	                                       { width * 4 }, { 16, 4 }, { 1, 1 });
	const CUtensorMap to = tensor_map<2>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, out, { width, height },
	                                     { width * 4 }, { 16, 4 }, { 1, 1 });
	copies<<<1, 32, 512>>>(from, to);
	CHECK(cudaMemcpy(b.data(), out, b.size() * 4, cudaMemcpyDeviceToHost));
	bool good = as_expected("copies by tensor maps", b.data(), width * height, [](int i) {
		const int x = i % width, y = i / width;
		return x < 16 && y < 4 ? value(x, y + 8) : x >= 16 && y >= 5 && y < 8 ? value(x, y - 5) : 0;
	});

	const cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
	cudaArray_t array, stack;
	cudaResourceDesc r = {}, rs = {};
	cudaTextureDesc d = {};
	cudaTextureObject_t t, layers;
	cudaSurfaceObject_t s;
	CHECK(cudaMallocArray(&array, &one, width, height, cudaArraySurfaceLoadStore));
	CHECK(cudaMemcpy2DToArray(array, 0, 0, a.data(), width * 4, width * 4, height,
	                          cudaMemcpyHostToDevice));
	CHECK(cudaMalloc3DArray(&stack, &one, make_cudaExtent(width, 4, 4), cudaArrayLayered));
	cudaMemcpy3DParms p = {};
	p.srcPtr = make_cudaPitchedPtr(a.data(), width * 4, width, 4);
	p.dstArray = stack;
	p.extent = make_cudaExtent(width, 4, 4);
	p.kind = cudaMemcpyHostToDevice;
	CHECK(cudaMemcpy3D(&p));
	r.resType = rs.resType = cudaResourceTypeArray;
	r.res.array.array = array;
	rs.res.array.array = stack;
	CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
	CHECK(cudaCreateTextureObject(&layers, &rs, &d, nullptr));
	CHECK(cudaCreateSurfaceObject(&s, &r));
	fetches<<<1, 32>>>(t, layers, out);
	CHECK(cudaMemcpy(b.data(), out, 640, cudaMemcpyDeviceToHost));
	good &= as_expected("textures", b.data(), 160, [](int i) {
		const int x = i % 32;
		return i < 32 ? value(3, 4) : i < 96 ? value(x, 2) : i < 128 ? value(5, 2) : value(x, 6);
	});
	surface<<<1, 32>>>(s, out);
	CHECK(cudaMemcpy(b.data(), out, 128, cudaMemcpyDeviceToHost));
	good &= as_expected("loads from a surface", b.data(), 32,
	                    [](int) { return value(3, 2) + value(0, 15); });
	CHECK(cudaMemcpy2DFromArray(b.data(), width * 4, array, 0, 0, width * 4, height,
	                            cudaMemcpyDeviceToHost));
	good &= as_expected("stores to a surface", b.data(), width * height, [](int i) {
		const int x = i % width, y = i / width;
		return y == 5 ? 42 : y == 6 && x == 2 ? 0 : value(x, y);
	});
	CHECK(cudaDestroyTextureObject(t));
	CHECK(cudaDestroyTextureObject(layers));
	CHECK(cudaDestroySurfaceObject(s));
	CHECK(cudaFreeArray(array));
	CHECK(cudaFreeArray(stack));
	free_all(in, out);
	return finish("constant_coordinates", good);
}
