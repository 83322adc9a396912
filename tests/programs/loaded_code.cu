// Device code as text, loaded while the program runs: kernels and variables by their names.
#include "check.h"

static const char code[] = R"(
.version 7.0
.target sm_70
.address_size 64
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
)";

int main()
{
	cudaLibrary_t library;
	cudaKernel_t kernel;
	unsigned kernels = 0, n = 300;
	CHECK(cudaLibraryLoadData(&library, code, nullptr, nullptr, 0, nullptr, nullptr, 0));
	CHECK(cudaLibraryGetKernelCount(&kernels, library));
	CHECK(cudaLibraryGetKernel(&kernel, library, "add_bias"));
	void *bias;
	size_t bytes = 0;
	CHECK(cudaLibraryGetGlobal(&bias, &bytes, library, "bias"));
	int *x, host[300] = {}, more = 100;
	CHECK(cudaMalloc(&x, sizeof host));
	CHECK(cudaMemset(x, 0, sizeof host));
	void *args[] = { &x, &n };
	CHECK(cudaLaunchKernel((const void *)kernel, dim3(3), dim3(128), args, 0, 0));
	CHECK(cudaMemcpy(bias, &more, sizeof more, cudaMemcpyHostToDevice));
	CHECK(cudaLaunchKernel((const void *)kernel, dim3(3), dim3(128), args, 0, 0));
	CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
	bool good = kernels == 1 && bytes == 4;
	for (int i = 0; i < 300; i++)
		good = good && host[i] == 107;
	cudaKernel_t absent;
	good = good && cudaLibraryGetKernel(&absent, library, "absent") == cudaErrorSymbolNotFound;
	printf("%u kernel, x[0] is %d\n", kernels, host[0]);
	CHECK(cudaLibraryUnload(library));
	CHECK(cudaFree(x));
	return finish("loaded_code", good);
}
