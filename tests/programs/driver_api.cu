// The driver API by itself: contexts, a module of PTX text, launches in both forms, memory that is
// set and copied in rows, an array read by a texture, parts linked, memory mapped by hand, errors.
// nvcc: -lcuda
#include "check.h"
#include <cstring>
#include <cuda.h>

#define DRIVER(call)                                                       \
	do {                                                                   \
		CUresult r_ = (call);                                              \
		if (r_ != CUDA_SUCCESS) {                                          \
			const char *name_ = "?";                                       \
			cuGetErrorName(r_, &name_);                                    \
			printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, name_);   \
			exit(1);                                                       \
		}                                                                  \
	} while (0)

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
static const char whole[] = HEAD R"(
.visible .global .align 4 .u32 bias = 7;
.visible .entry add_bias(.param .u64 p, .param .u32 n)
{
	.reg .b32 %r<8>;
	.reg .b64 %rd<5>;
	.reg .pred %p;
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.u32 %r5, %r2, %r3, %r4;
	setp.ge.u32 %p, %r5, %r1;
	@%p ret;
	mul.wide.u32 %rd2, %r5, 4;
	cvta.to.global.u64 %rd3, %rd1;
	add.u64 %rd4, %rd3, %rd2;
	ld.global.u32 %r6, [%rd4];
	ld.global.u32 %r7, [bias];
	add.u32 %r6, %r6, %r7;
	st.global.u32 [%rd4], %r6;
	ret;
}
.visible .entry read_texture(.param .u64 texture, .param .u64 p)
{
	.reg .b32 %r<3>;
	.reg .f32 %f<5>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [texture];
	ld.param.u64 %rd2, [p];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %tid.y;
	tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r2}];
	mad.lo.u32 %r2, %r2, 8, %r1;
	mul.wide.u32 %rd3, %r2, 4;
	cvta.to.global.u64 %rd2, %rd2;
	add.u64 %rd4, %rd2, %rd3;
	st.global.f32 [%rd4], %f1;
	ret;
}
)";
static const char caller[] = HEAD R"(
.extern .func (.param .b32 out) twice(.param .b32 x);
.visible .entry double_all(.param .u64 p)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	cvta.to.global.u64 %rd1, %rd1;
	add.u64 %rd3, %rd1, %rd2;
	ld.global.u32 %r2, [%rd3];
	{
		.param .b32 x;
		.param .b32 y;
		st.param.b32 [x], %r2;
		call (y), twice, (x);
		ld.param.b32 %r2, [y];
	}
	st.global.u32 [%rd3], %r2;
	ret;
}
)";
static const char callee[] = HEAD R"(
.visible .func (.param .b32 out) twice(.param .b32 x)
{
	.reg .b32 %r<2>;
	ld.param.b32 %r1, [x];
	add.u32 %r1, %r1, %r1;
	st.param.b32 [out], %r1;
	ret;
}
)";

static bool launches(CUmodule module)
{
	CUfunction f;
	CUdeviceptr x, bias;
	size_t bytes = 0;
	unsigned n = 300, more = 100;
	std::vector<unsigned> host(n);
	DRIVER(cuModuleGetFunction(&f, module, "add_bias"));
	DRIVER(cuModuleGetGlobal(&bias, &bytes, module, "bias"));
	DRIVER(cuMemAlloc(&x, n * 4));
	DRIVER(cuMemsetD32(x, 5, n));
	void *args[] = { &x, &n };
	DRIVER(cuLaunchKernel(f, 3, 1, 1, 128, 1, 1, 0, 0, args, nullptr));
	DRIVER(cuMemcpyHtoD(bias, &more, sizeof more));
	struct {
		CUdeviceptr x;
		unsigned n;
	} packed = { x, n };
	size_t size = 12;
	void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
		              CU_LAUNCH_PARAM_END };
	CUstream stream;
	CUevent start, end;
	float ms = -1;
	DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	DRIVER(cuEventCreate(&start, 0));
	DRIVER(cuEventCreate(&end, 0));
	DRIVER(cuCtxSynchronize());
	DRIVER(cuEventRecord(start, stream));
	DRIVER(cuLaunchKernel(f, 3, 1, 1, 128, 1, 1, 0, stream, nullptr, extra));
	DRIVER(cuEventRecord(end, stream));
	DRIVER(cuEventSynchronize(end));
	DRIVER(cuEventElapsedTime(&ms, start, end));
	DRIVER(cuMemcpyDtoH(host.data(), x, n * 4));
	bool good = bytes == 4 && ms > 0;
	for (unsigned v : host)
		good = good && v == 112;
	int threads = 0, resident = 0, grid = 0, block = 0;
	DRIVER(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
	DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, f, 128, 0));
	DRIVER(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, nullptr, 0, 0));
	printf("launches: x[0] is %u, %d threads, %d blocks a multiprocessor, %s\n", host[0], threads,
	       resident, block == 1024 && grid > 0 ? "large blocks" : "small blocks");
	CUresult tooLarge = cuLaunchKernel(f, 1, 1, 1, 2048, 1, 1, 0, 0, args, nullptr);
	CUfunction absent;
	good = good && tooLarge == CUDA_ERROR_INVALID_VALUE &&
	       cuModuleGetFunction(&absent, module, "absent") == CUDA_ERROR_NOT_FOUND;
	DRIVER(cuStreamDestroy(stream));
	DRIVER(cuEventDestroy(start));
	DRIVER(cuEventDestroy(end));
	DRIVER(cuMemFree(x));
	return good;
}

// rows of host memory into an array, and through a texture back
static bool textures(CUmodule module)
{
	CUfunction f;
	CUarray array;
	CUtexObject texture;
	CUdeviceptr out;
	float image[4][16], host[4][8];
	for (int y = 0; y < 4; y++)
		for (int x = 0; x < 16; x++)
			image[y][x] = 100.0f * y + x;
	CUDA_ARRAY_DESCRIPTOR shape = {};
	shape.Width = 8;
	shape.Height = 4;
	shape.Format = CU_AD_FORMAT_FLOAT;
	shape.NumChannels = 1;
	DRIVER(cuModuleGetFunction(&f, module, "read_texture"));
	DRIVER(cuArrayCreate(&array, &shape));
	CUDA_MEMCPY2D copy = {};
	copy.srcMemoryType = CU_MEMORYTYPE_HOST;
	copy.srcHost = image;
	copy.srcPitch = sizeof image[0];
	copy.srcXInBytes = 4 * sizeof(float);
	copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
	copy.dstArray = array;
	copy.WidthInBytes = 8 * sizeof(float);
	copy.Height = 4;
	DRIVER(cuMemcpy2D(&copy));
	CUDA_RESOURCE_DESC resource = {};
	resource.resType = CU_RESOURCE_TYPE_ARRAY;
	resource.res.array.hArray = array;
	CUDA_TEXTURE_DESC sampling = {};
	sampling.filterMode = CU_TR_FILTER_MODE_POINT;
	sampling.addressMode[0] = sampling.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
	DRIVER(cuTexObjectCreate(&texture, &resource, &sampling, nullptr));
	DRIVER(cuMemAlloc(&out, sizeof host));
	void *args[] = { &texture, &out };
	DRIVER(cuLaunchKernel(f, 1, 1, 1, 8, 4, 1, 0, 0, args, nullptr));
	DRIVER(cuMemcpyDtoH(host, out, sizeof host));
	bool good = true;
	for (int y = 0; y < 4; y++)
		for (int x = 0; x < 8; x++)
			good = good && host[y][x] == image[y][x + 4];
	printf("texture: %g at 3, 2\n", host[2][3]);
	DRIVER(cuTexObjectDestroy(texture));
	DRIVER(cuArrayDestroy(array));
	DRIVER(cuMemFree(out));
	return good;
}

static bool linking()
{
	CUlinkState link;
	CUmodule module;
	CUfunction f;
	void *code;
	size_t bytes;
	unsigned host[32];
	CUdeviceptr x;
	DRIVER(cuLinkCreate(0, nullptr, nullptr, &link));
	DRIVER(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)caller, sizeof caller, "caller", 0,
	                     nullptr, nullptr));
	DRIVER(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)callee, sizeof callee, "callee", 0,
	                     nullptr, nullptr));
	DRIVER(cuLinkComplete(link, &code, &bytes));
	DRIVER(cuModuleLoadData(&module, code));
	DRIVER(cuLinkDestroy(link));
	DRIVER(cuModuleGetFunction(&f, module, "double_all"));
	DRIVER(cuMemAlloc(&x, sizeof host));
	DRIVER(cuMemsetD32(x, 21, 32));
	void *args[] = { &x };
	DRIVER(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, args, nullptr));
	DRIVER(cuMemcpyDtoH(host, x, sizeof host));
	DRIVER(cuMemFree(x));
	DRIVER(cuModuleUnload(module));
	printf("linked: %u\n", host[31]);
	return host[0] == 42 && host[31] == 42;
}

// a kernel of a library, which is no function of a module: where its parameters lie
static bool library()
{
	CUlibrary library;
	CUkernel kernel;
	size_t offset = 0, bytes = 0, last = 0;
	DRIVER(cuLibraryLoadData(&library, whole, nullptr, nullptr, 0, nullptr, nullptr, 0));
	DRIVER(cuLibraryGetKernel(&kernel, library, "add_bias"));
	DRIVER(cuKernelGetParamInfo(kernel, 1, &offset, &bytes));
	DRIVER(cuKernelGetParamInfo(kernel, 0, &last, nullptr));
	bool good = offset == 8 && bytes == 4 && last == 0;
	good = good && cuKernelGetParamInfo(kernel, 9, &offset, &bytes) == CUDA_ERROR_INVALID_VALUE;
	DRIVER(cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1, 0));
	DRIVER(cuLibraryUnload(library));
	return good;
}

// a vector that grows: its memory stays what it is and gets a longer range of addresses
static bool mapping(CUdevice device)
{
	CUmemAllocationProp kind = {};
	kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	kind.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	kind.location.id = device;
	CUmemAccessDesc access = {};
	access.location = kind.location;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	size_t page = 0;
	CUmemGenericAllocationHandle part[2];
	CUdeviceptr small, large;
	unsigned host[2] = {};
	DRIVER(cuMemGetAllocationGranularity(&page, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	for (auto &each : part)
		DRIVER(cuMemCreate(&each, page, &kind, 0));
	DRIVER(cuMemAddressReserve(&small, page, 0, 0, 0));
	DRIVER(cuMemMap(small, page, 0, part[0], 0));
	DRIVER(cuMemSetAccess(small, page, &access, 1));
	DRIVER(cuMemsetD32(small, 17, page / 4));
	DRIVER(cuCtxSynchronize());
	DRIVER(cuMemUnmap(small, page));
	DRIVER(cuMemAddressFree(small, page));
	DRIVER(cuMemAddressReserve(&large, 2 * page, 0, 0, 0));
	for (int i = 0; i < 2; i++)
		DRIVER(cuMemMap(large + i * page, page, 0, part[i], 0));
	DRIVER(cuMemSetAccess(large, 2 * page, &access, 1));
	DRIVER(cuMemsetD32(large + page, 18, page / 4));
	DRIVER(cuMemcpyDtoH(&host[0], large + page - 4, 4));
	DRIVER(cuMemcpyDtoH(&host[1], large + page, 4));
	CUmemGenericAllocationHandle again;
	unsigned long long allowed = 0;
	DRIVER(cuMemRetainAllocationHandle(&again, (void *)(large + page + 8)));
	DRIVER(cuMemGetAccess(&allowed, &access.location, large + page));
	if (again != part[1] || allowed != access.flags)
		return false;
	DRIVER(cuMemRelease(again));
	for (auto &each : part)
		DRIVER(cuMemRelease(each));
	DRIVER(cuMemUnmap(large, 2 * page));
	DRIVER(cuMemAddressFree(large, 2 * page));
	printf("mapped: %u %u\n", host[0], host[1]);
	return host[0] == 17 && host[1] == 18;
}

int main()
{
	CUdevice device;
	CUcontext context, now;
	CUmodule module;
	CUdeviceptr p;
	int count = 0, major = 0;
	char name[100];
	bool good = cuDeviceGet(&device, 0) == CUDA_ERROR_NOT_INITIALIZED;
	DRIVER(cuInit(0));
	DRIVER(cuDeviceGetCount(&count));
	DRIVER(cuDeviceGet(&device, 0));
	DRIVER(cuDeviceGetName(name, sizeof name, device));
	DRIVER(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
	good = good && count > 0 && major >= 7 && name[0];
	good = good && cuMemAlloc(&p, 4) == CUDA_ERROR_INVALID_CONTEXT;
	DRIVER(cuDevicePrimaryCtxRetain(&context, device));
	DRIVER(cuCtxSetCurrent(context));
	DRIVER(cuCtxGetCurrent(&now));
	good = good && now == context;

	char log[1000] = "", broken[] = HEAD ".visible .entry k( {";
	CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
	void *values[] = { log, (void *)sizeof log };
	CUresult refused = cuModuleLoadDataEx(&module, broken, 2, options, values);
	good = good && refused == CUDA_ERROR_INVALID_PTX && log[0];
	const char *text = nullptr;
	DRIVER(cuGetErrorName(refused, &text));
	printf("broken code: %s\n", text);
	good = good && cuModuleLoadData(&module, "no code") == CUDA_ERROR_INVALID_IMAGE;

	/* a function that there is not: the call succeeds, and the status says it */
	void *function = &log;
	CUdriverProcAddressQueryResult status;
	DRIVER(cuGetProcAddress("cuNoSuchThing", &function, CUDA_VERSION, 0, &status));
	good = good && !function && status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;

	DRIVER(cuModuleLoadData(&module, whole));
	good = launches(module) && good;
	good = textures(module) && good;
	good = linking() && good;
	good = mapping(device) && good;
	DRIVER(cuModuleUnload(module));
	DRIVER(cuCtxSetCurrent(nullptr));
	DRIVER(cuDevicePrimaryCtxRelease(device));
	good = good && library();
	return finish("driver_api", good);
}
