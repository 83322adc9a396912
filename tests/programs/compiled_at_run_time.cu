// NVRTC: kernels compiled while the program runs, from text with a template, as PTX and as machine
// code, and launched by the driver API beside the runtime's own.
// nvcc: -lnvrtc -lcuda
#include "check.h"
#include <cuda.h>
#include <nvrtc.h>
#include <string>

#define MUST(call)                                                           \
	do {                                                                     \
		if ((call) != 0) {                                                   \
			printf("%s:%d: %s failed\n", __FILE__, __LINE__, #call);         \
			exit(1);                                                         \
		}                                                                    \
	} while (0)

static const char source[] = R"(
template <class T> struct scaled { T by; __device__ T operator()(T x) const { return by * x; } };
template <class T, int N> __global__ void apply(T *x, scaled<T> f)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < N)
		x[i] = f(x[i]) + FIRST;
}
)";

__global__ void fill(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] = i;
}

static std::vector<char> compile(const char *arch, bool machine_code, std::string *entry)
{
	nvrtcProgram program;
	const char *name = "apply<float, 1000>", *lowered;
	const char *options[] = { arch, "--std=c++17", "-DFIRST=1" };
	MUST(nvrtcCreateProgram(&program, source, "apply.cu", 0, nullptr, nullptr));
	MUST(nvrtcAddNameExpression(program, name));
	MUST(nvrtcCompileProgram(program, 3, options));
	MUST(nvrtcGetLoweredName(program, name, &lowered));
	*entry = lowered;
	size_t bytes = 0;
	MUST(machine_code ? nvrtcGetCUBINSize(program, &bytes) : nvrtcGetPTXSize(program, &bytes));
	std::vector<char> code(bytes);
	MUST(machine_code ? nvrtcGetCUBIN(program, code.data()) : nvrtcGetPTX(program, code.data()));
	MUST(nvrtcDestroyProgram(&program));
	return code;
}

int main()
{
	int major = 0, minor = 0;
	bool good = true;
	CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
	CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
	for (bool machine_code : { false, true }) {
		const std::string cc = std::to_string(major) + std::to_string(minor);
		const std::string arch = (machine_code ? "-arch=sm_" : "-arch=compute_") + cc;
		std::string entry;
		const std::vector<char> code = compile(arch.c_str(), machine_code, &entry);
		float *x, by = 3, host[1000];
		CHECK(cudaMalloc(&x, sizeof host));
		fill<<<4, 256>>>(x, 1000);
		CUmodule module;
		CUfunction f;
		MUST(cuModuleLoadData(&module, code.data()));
		MUST(cuModuleGetFunction(&f, module, entry.c_str()));
		void *args[] = { &x, &by };
		MUST(cuLaunchKernel(f, 4, 1, 1, 256, 1, 1, 0, 0, args, nullptr));
		CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
		for (int i = 0; i < 1000; i++)
			good = good && host[i] == 3.0f * i + 1;
		printf("as %s: x[999] is %g\n", machine_code ? "machine code" : "PTX", host[999]);
		CHECK(cudaFree(x));
		MUST(cuModuleUnload(module));
	}
	nvrtcProgram wrong;
	MUST(nvrtcCreateProgram(&wrong, "__global__ void k() { int x = ; }", "wrong.cu", 0, 0, 0));
	good = good && nvrtcCompileProgram(wrong, 0, nullptr) == NVRTC_ERROR_COMPILATION;
	MUST(nvrtcDestroyProgram(&wrong));
	return finish("compiled_at_run_time", good);
}
