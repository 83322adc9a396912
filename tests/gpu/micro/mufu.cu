/*
 * What the special-function unit gives, for each value of one or two octaves: by how many units in
 * the last place it lies beside the nearest float. A byte a value, saturated, in FOLDER/NAME.bin:
 *   mufu FOLDER
 */
#include "micro.cuh"

#include <string>
#include <vector>

static __device__ signed char beside(float got, double exact)
{
	const int d = __float_as_int(got) - __float_as_int((float)exact);
	return (signed char)(d < -127 ? -127 : d > 127 ? 127 : d);
}

/* X(name, first value's bits, how many, instruction, exact value) */
#define FUNCTIONS(X)                                                  \
	X(rcp, 0x3f800000u, 1u << 23, "rcp.approx.ftz.f32", 1.0 / x)      \
	X(rsqrt, 0x3f800000u, 1u << 24, "rsqrt.approx.ftz.f32", rsqrt(x)) \
	X(sqrt, 0x3f800000u, 1u << 24, "sqrt.approx.ftz.f32", sqrt(x))    \
	X(ex2, 0x3f800000u, 1u << 23, "ex2.approx.ftz.f32", exp2(x))      \
	X(lg2, 0x40000000u, 1u << 23, "lg2.approx.ftz.f32", log2(x))

#define X(name, first, n, instruction, exact)                          \
	static __global__ void m_##name(signed char *out)                  \
	{                                                                  \
		const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;      \
		const float given = __int_as_float((int)(first + i));          \
		const double x = given;                                        \
		float got;                                                     \
		asm volatile(instruction " %0, %1;" : "=f"(got) : "f"(given)); \
		out[i] = beside(got, exact);                                   \
	}
FUNCTIONS(X)
#undef X

static void keep(const char *folder, const char *name, const signed char *from, size_t n)
{
	std::vector<signed char> host(n);
	micro_fail("copy", cudaMemcpy(host.data(), from, n, cudaMemcpyDeviceToHost));
	long others = 0, most = 0;
	for (const signed char v : host) {
		others += v != 0;
		most = abs(v) > most ? abs(v) : most;
	}
	const std::string path = std::string(folder) + "/" + name + ".bin";
	FILE *const f = fopen(path.c_str(), "wb");
	if (!f || fwrite(host.data(), 1, n, f) != n || fclose(f)) {
		perror(path.c_str());
		exit(1);
	}
	Line("mufu", name)("values", (double)n)("beside", (double)others)("most", (double)most);
}

int main(int argc, char **argv)
{
	micro_begin("mufu");
	signed char *const out = micro_alloc<signed char>(1 << 24);
#define X(name, first, n, instruction, exact)   \
	m_##name<<<(n) / 256, 256>>>(out);          \
	micro_fail(#name, cudaDeviceSynchronize()); \
	keep(argc > 1 ? argv[1] : ".", #name, out, n);
	FUNCTIONS(X)
#undef X
	return 0;
}
