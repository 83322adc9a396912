/*
 * Banks of registers: cycles of an instruction with three source registers, by which registers
 * those are and which of them it keeps for the next one (reuse).
 * registers_check.py holds the rule against it.
 *
 * No compiler lets one choose registers, so the machine code is changed: of a kernel that NVRTC
 * makes, a long row of one instruction gets other sources and control words. What it computes does
 * not matter; its destinations stay, so that nothing that is needed later is overwritten.
 */
#include "micro.cuh"

#include <nvrtc.h>

#include <dlfcn.h>

#include <string>
#include <vector>

static const char source[] = R"(
#define STEP4(op, k) op(k) op(k + 1) op(k + 2) op(k + 3)
#define STEP16(op, k) STEP4(op, k) STEP4(op, k + 4) STEP4(op, k + 8) STEP4(op, k + 12)
#define STEP64(op) STEP16(op, 0) STEP16(op, 16) STEP16(op, 32) STEP16(op, 48)
#define FFMA(k) asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(v[(k) % 24]) : "f"(a), "f"(b));
#define IMAD(k) asm volatile("mad.lo.s32 %0, %1, %2, %0;" : "+r"(v[(k) % 24]) : "r"(a), "r"(b));
#define LOP3(k) \
	asm volatile("lop3.b32 %0, %1, %2, %0, 0x96;" : "+r"(v[(k) % 24]) : "r"(a), "r"(b));
#define FADD(k) asm volatile("add.f32 %0, %1, %0;" : "+f"(v[(k) % 24]) : "f"(v[(k + 1) % 24]));
#define FMUL(k) asm volatile("mul.f32 %0, %1, %0;" : "+f"(v[(k) % 24]) : "f"(v[(k + 1) % 24]));
#define PRMT(k) asm volatile("prmt.b32 %0, %1, %2, %0;" : "+r"(v[(k) % 24]) : "r"(a), "r"(b));
#define SHF(k) asm volatile("shf.l.wrap.b32 %0, %1, %2, %0;" : "+r"(v[(k) % 24]) : "r"(a), "r"(b));
#define KERNEL(name, T, OP)                                                                  \
	extern "C" __global__ void name(unsigned *cycles, T *data, T a, T b)                     \
	{                                                                                        \
		T v[24];                                                                             \
		for (int i = 0; i < 24; i++)                                                         \
			v[i] = data[i * 512 + threadIdx.x];                                              \
		__syncthreads();                                                                     \
		const unsigned from = clock();                                                       \
		_Pragma("unroll 1") for (int i = 0; i < 32; i++) { STEP64(OP) STEP64(OP) STEP64(OP) } \
		const unsigned to = clock();                                                         \
		__syncthreads();                                                                     \
		for (int i = 0; i < 24; i++)                                                         \
			data[i * 512 + threadIdx.x] = v[i];                                              \
		cycles[threadIdx.x] = to - from;                                                     \
	}
KERNEL(row_ffma, float, FFMA)
KERNEL(row_imad, int, IMAD)
KERNEL(row_lop3, int, LOP3)
KERNEL(row_fadd, float, FADD)
KERNEL(row_fmul, float, FMUL)
KERNEL(row_prmt, int, PRMT)
KERNEL(row_shf, int, SHF)
)";
enum { ROW = 192, LOOPS = 32, FIRST = 8, RZ = 255 };

typedef std::vector<char> Bytes;

template <typename F> static F *nvrtc_function(const char *name)
{
	static void *library = nullptr;
	static const char *const names[] = { "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
		                                 "/usr/local/cuda/lib64/libnvrtc.so" };
	for (const char *n : names)
		if (!library)
			library = dlopen(n, RTLD_NOW);
	void *f = library ? dlsym(library, name) : nullptr;
	if (!f) {
		fprintf(stderr, "micro: no %s: libnvrtc is not found\n", name);
		exit(1);
	}
	return (F *)f;
}
#define NVRTC(f) nvrtc_function<decltype(f)>(#f)

static Bytes compile()
{
	cudaDeviceProp prop;
	micro_fail("properties", cudaGetDeviceProperties(&prop, 0));
	const std::string arch =
		"--gpu-architecture=sm_" + std::to_string(prop.major * 10 + prop.minor);
	const char *const options[] = { arch.c_str() };
	nvrtcProgram p;
	size_t size = 0;
	if (NVRTC(nvrtcCreateProgram)(&p, source, "registers.cu", 0, nullptr, nullptr) ||
	    NVRTC(nvrtcCompileProgram)(p, 1, options) || NVRTC(nvrtcGetCUBINSize)(p, &size)) {
		char log[4000] = "";
		NVRTC(nvrtcGetProgramLog)(p, log);
		fprintf(stderr, "micro: %s\n", log);
		exit(1);
	}
	Bytes cubin(size);
	NVRTC(nvrtcGetCUBIN)(p, cubin.data());
	return cubin;
}

/* The opcode's lower 12 bits, where all its sources, two or three, are registers. */
struct Op {
	const char *name, *kernel;
	unsigned code, sources;
};
static const Op ops[] = {
	{ "FFMA", "row_ffma", 0x223, 3 }, { "IMAD", "row_imad", 0x224, 3 },
	{ "LOP3", "row_lop3", 0x212, 3 }, { "FADD", "row_fadd", 0x221, 2 },
	{ "FMUL", "row_fmul", 0x220, 2 }, { "PRMT", "row_prmt", 0x216, 3 },
	{ "SHF", "row_shf", 0x219, 3 },
};

/* Each instruction of that kind gets these sources; returns how many there were. */
static unsigned patch(Bytes &cubin, const Op &op, const unsigned reg[3], unsigned reuse)
{
	unsigned n = 0;
	for (size_t at = 0; at + 16 <= cubin.size(); at += 16) {
		uint64_t w[2];
		memcpy(w, &cubin[at], 16);
		/* a move is a sum with RZ */
		if ((w[0] & 0xffff) != (0x7000 | op.code) || (w[0] >> 24 & 0xff) == RZ)
			continue;
		w[0] &= 0xffffff0000ffffffull;
		w[0] |= (uint64_t)reg[0] << 24 | (uint64_t)reg[1] << 32;
		w[1] = (w[1] & 0x1ffffffff00ull) | (op.sources > 2 ? reg[2] : w[1] & 0xff);
		/* on with the next one after a cycle, no scoreboards */
		w[1] |= (uint64_t)(0x7f1 | reuse << 17) << 41;
		memcpy(&cubin[at], w, 16);
		n++;
	}
	return n;
}

/* Cycles per instruction and warp of a scheduler; -1: this code cannot be measured. */
static double run(const Bytes &cubin, const Op &op, unsigned warps)
{
	static unsigned *const cycles = micro_alloc<unsigned>(512);
	static float *const data = micro_alloc<float>(24 * 512);
	cudaLibrary_t library;
	cudaKernel_t kernel;
	unsigned host[512];
	float a = 1.0f, b = 0.5f;
	unsigned *c = cycles;
	float *d = data;
	void *arguments[] = { &c, &d, &a, &b };
	micro_fail("load", cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr,
	                                       nullptr, 0));
	micro_fail("kernel", cudaLibraryGetKernel(&kernel, library, op.kernel));
	for (int i = 0; i < 3; i++)
		micro_fail("launch", cudaLaunchKernel((const void *)kernel, dim3(1), dim3(32 * warps),
		                                      arguments, 0, nullptr));
	micro_fail("copy", cudaMemcpy(host, cycles, 32 * warps * sizeof *host, cudaMemcpyDeviceToHost));
	micro_fail("unload", cudaLibraryUnload(library));
	const unsigned per_scheduler = warps < 4 ? 1 : warps / 4;
	return (double)host[0] / ((double)ROW * LOOPS * per_scheduler);
}

int main()
{
	micro_begin("registers");
	const Bytes original = compile();
	for (const Op &op : ops)
		for (unsigned b = 0; b < 8; b++)
			for (unsigned c = 0; c < (op.sources > 2 ? 8 : 1); c++)
				for (unsigned reuse = 0; reuse < 1u << op.sources; reuse++) {
					const unsigned reg[3] = { FIRST, FIRST + b, FIRST + c };
					Bytes changed = original;
					const unsigned n = patch(changed, op, reg, reuse);
					if (n != ROW) {
						fprintf(stderr, "micro: %s: %u instructions instead of %d\n", op.name, n,
						        ROW);
						return 1;
					}
					Line("registers", op.name)("a", reg[0])("b", reg[1])("c", reg[2])(
						"reuse", reuse)("one_warp", run(changed, op, 1))("four_warps",
					                                                     run(changed, op, 16));
				}
	return 0;
}
