// wgmma for 64 x 32 sums: one struct a form. Everything else about a form follows from its types.
#pragma once
#include "hopper.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

static __device__ inline void group_fence()
{
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

static __device__ inline void group_commit()
{
	asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int left> static __device__ inline void group_wait()
{
	asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
}

// @swizzle: 0 none, 1 128 bytes, 2 64, 3 32.
static __device__ inline uint64_t matrix_descriptor(const void *at, unsigned leading, unsigned stride, unsigned swizzle)
{
	const uint64_t start = (shared_address(at) & 0x3ffff) >> 4;
	return start | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | (uint64_t)swizzle << 62;
}

#define SUMS_32                                                                                                    \
	"+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),     \
		"+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
#define WHOLE_32                                                                                                   \
	"+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),     \
		"+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15])
#define PAIRS_32                                                                                                   \
	"+r"(p[0]), "+r"(p[1]), "+r"(p[2]), "+r"(p[3]), "+r"(p[4]), "+r"(p[5]), "+r"(p[6]), "+r"(p[7])
#define D_16 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
#define D_8 "{%0, %1, %2, %3, %4, %5, %6, %7}, "

// A and B in memory: descriptors %16 and %17; or A in registers %16 to %19, B %20. Then scale-d.
#define GROUP_PRODUCT(form, lists, operands, last, sums, ...)                                                      \
	asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, " last ", 0;\n wgmma.mma_async.sync.aligned." form " " lists operands \
	             ";\n}"                                                                                            \
	             : sums                                                                                            \
	             : __VA_ARGS__)
#define IN_MEMORY "l"(a), "l"(b), "r"(keep)
#define IN_REGISTERS "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]), "l"(b), "r"(keep)

template <class A, class B, class D, int K> struct form {
	using a_type = A;
	using b_type = B;
	using d_type = D;
	static constexpr int k = K, registers = 16;
	static constexpr bool has_sign = true;
};
#define MULTIPLY(D) static __device__ void multiply(D *d, const unsigned *from, uint64_t a, uint64_t b, int keep)

template <int across_a, int across_b> struct half_product : form<__half, __half, float, 16> {
	MULTIPLY(float)
	{
		(void)from;
		GROUP_PRODUCT("m64n32k16.f32.f16.f16", D_16, "%16, %17, p, 1, 1, %19, %20", "%18", SUMS_32, IN_MEMORY, "n"(across_a), "n"(across_b));
	}
};

struct bf16_product : form<__nv_bfloat16, __nv_bfloat16, float, 16> {
	MULTIPLY(float)
	{
		(void)from;
		GROUP_PRODUCT("m64n32k16.f32.bf16.bf16", D_16, "%16, %17, p, 1, 1, 0, 0", "%18", SUMS_32, IN_MEMORY);
	}
};

struct bf16_across : form<__nv_bfloat16, __nv_bfloat16, float, 16> {
	MULTIPLY(float)
	{
		(void)from;
		GROUP_PRODUCT("m64n32k16.f32.bf16.bf16", D_16, "%16, %17, p, 1, 1, 1, 1", "%18", SUMS_32, IN_MEMORY);
	}
};

struct negative_a : form<__half, __half, float, 16> {
	MULTIPLY(float)
	{
		(void)from;
		GROUP_PRODUCT("m64n32k16.f32.f16.f16", D_16, "%16, %17, p, -1, 1, 0, 0", "%18", SUMS_32, IN_MEMORY);
	}
};

struct negative_b : form<__half, __half, float, 16> {
	MULTIPLY(float)
	{
		(void)from;
		GROUP_PRODUCT("m64n32k16.f32.f16.f16", D_16, "%16, %17, p, 1, -1, 0, 0", "%18", SUMS_32, IN_MEMORY);
	}
};

struct tf32_product : form<float, float, float, 8> {
	MULTIPLY(float)
	{
		(void)from;
		GROUP_PRODUCT("m64n32k8.f32.tf32.tf32", D_16, "%16, %17, p, 1, 1", "%18", SUMS_32, IN_MEMORY);
	}
};

struct e4m3_product : form<__nv_fp8_e4m3, __nv_fp8_e4m3, float, 32> {
	MULTIPLY(float)
	{
		(void)from;
		GROUP_PRODUCT("m64n32k32.f32.e4m3.e4m3", D_16, "%16, %17, p, 1, 1", "%18", SUMS_32, IN_MEMORY);
	}
};

struct e5m2_product : form<__nv_fp8_e5m2, __nv_fp8_e4m3, float, 32> {
	MULTIPLY(float)
	{
		(void)from;
		GROUP_PRODUCT("m64n32k32.f32.e5m2.e4m3", D_16, "%16, %17, p, 1, 1", "%18", SUMS_32, IN_MEMORY);
	}
};

struct s8_product : form<signed char, signed char, int, 32> {
	MULTIPLY(int)
	{
		(void)from;
		GROUP_PRODUCT("m64n32k32.s32.s8.s8", D_16, "%16, %17, p", "%18", WHOLE_32, IN_MEMORY);
	}
};

struct u8_product : form<unsigned char, signed char, int, 32> {
	static constexpr bool has_sign = false;
	MULTIPLY(int)
	{
		(void)from;
		GROUP_PRODUCT("m64n32k32.s32.u8.s8", D_16, "%16, %17, p", "%18", WHOLE_32, IN_MEMORY);
	}
};

struct from_registers : form<__half, __half, float, 16> {
	MULTIPLY(float)
	{
		(void)a;
		GROUP_PRODUCT("m64n32k16.f32.f16.f16", D_16, "{%16, %17, %18, %19}, %20, p, 1, 1, 0", "%21", SUMS_32, IN_REGISTERS);
	}
};

struct from_registers_across : form<__half, __half, float, 16> {
	MULTIPLY(float)
	{
		(void)a;
		GROUP_PRODUCT("m64n32k16.f32.f16.f16", D_16, "{%16, %17, %18, %19}, %20, p, 1, 1, 1", "%21", SUMS_32, IN_REGISTERS);
	}
};

struct e4m3_registers : form<__nv_fp8_e4m3, __nv_fp8_e4m3, float, 32> {
	MULTIPLY(float)
	{
		(void)a;
		GROUP_PRODUCT("m64n32k32.f32.e4m3.e4m3", D_16, "{%16, %17, %18, %19}, %20, p, 1, 1", "%21", SUMS_32, IN_REGISTERS);
	}
};

struct s8_registers : form<signed char, signed char, int, 32> {
	MULTIPLY(int)
	{
		(void)a;
		GROUP_PRODUCT("m64n32k32.s32.s8.s8", D_16, "{%16, %17, %18, %19}, %20, p", "%21", WHOLE_32, IN_REGISTERS);
	}
};

struct half_sums : form<__half, __half, __half, 16> {
	MULTIPLY(__half)
	{
		(void)from;
		unsigned *p = (unsigned *)d;
		GROUP_PRODUCT("m64n32k16.f16.f16.f16", D_8, "%8, %9, p, 1, 1, 0, 0", "%10", PAIRS_32, IN_MEMORY);
	}
};

struct e4m3_half_sums : form<__nv_fp8_e4m3, __nv_fp8_e4m3, __half, 32> {
	MULTIPLY(__half)
	{
		(void)from;
		unsigned *p = (unsigned *)d;
		GROUP_PRODUCT("m64n32k32.f16.e4m3.e4m3", D_8, "%8, %9, p, 1, 1", "%10", PAIRS_32, IN_MEMORY);
	}
};
