/* Two kernels and a GPU as literals: sgemm (naive, tiled), a reduction, an A100. */
#include "fixture.h"

static const int64_t tile_choices[] = { 2, 4, 8, 16, 32, INT64_MIN };
static const int64_t block_steps[] = { 32, 64, 128, 256, 512, 1024, INT64_MIN };

const struct param_desc fixture_sgemm_params[4] = {
	{ .name = "M", .title = "rows of A and C", .def = 1024, .min = 1, .max = 16384 },
	{ .name = "N", .title = "columns of B and C", .def = 1024, .min = 1, .max = 16384 },
	{ .name = "K", .title = "columns of A, rows of B", .def = 1024, .min = 1, .max = 16384 },
	{ .name = "TILE",
	  .title = "tile width",
	  .kind = PARAM_COMPILE,
	  .def = 16,
	  .min = 2,
	  .max = 32,
	  .choices = tile_choices,
	  .variants = 2 },
};
static const struct variant_desc sgemm_variants[] = {
	{ .name = "naive",
	  .entry = "sgemm_v0_naive",
	  .title = "one thread per element",
	  .idea = "every thread reads its row of A and column of B from global memory",
	  .section = "PMPP 3.4" },
	{ .name = "tiled",
	  .entry = "sgemm_v1_tiled",
	  .title = "shared-memory tiles",
	  .idea = "a block loads each tile once into shared memory and reads it TILE times",
	  .section = "PMPP 5.4" },
};
const char fixture_sgemm_source[] =
	"#ifndef TILE\n"
	"#define TILE 16\n"
	"#endif\n"
	"extern \"C\" __global__ void sgemm_v0_naive(const float *A, const float *B, float *C, int "
	"M, int N, int K)\n"
	"{\n"
	"\tint row = blockIdx.y * blockDim.y + threadIdx.y;\n"
	"\tint col = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"\tfloat sum = 0;\n"
	"\tif (row >= M || col >= N)\n"
	"\t\treturn;\n"
	"\tfor (int k = 0; k < K; k++)\n"
	"\t\tsum += A[row * K + k] * B[k * N + col];\n"
	"\tC[row * N + col] = sum;\n"
	"}\n"
	"extern \"C\" __global__ void sgemm_v1_tiled(const float *A, const float *B, float *C, int "
	"M, int N, int K)\n"
	"{\n"
	"\t__shared__ float Mds[TILE][TILE], Nds[TILE][TILE];\n"
	"\tint tx = threadIdx.x, ty = threadIdx.y;\n"
	"\tint row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;\n"
	"\tfloat sum = 0;\n"
	"\tfor (int p = 0; p < (K + TILE - 1) / TILE; p++) {\n"
	"\t\tMds[ty][tx] = A[row * K + p * TILE + tx]; //@ load-A\n"
	"\t\tNds[ty][tx] = B[(p * TILE + ty) * N + col]; //@ load-B\n"
	"\t\t__syncthreads();\n"
	"\t\tfor (int k = 0; k < TILE; k++)\n"
	"\t\t\tsum += Mds[ty][k] * Nds[k][tx]; //@ fma\n"
	"\t\t__syncthreads();\n"
	"\t}\n"
	"\tif (row < M && col < N)\n"
	"\t\tC[row * N + col] = sum; //@ store\n"
	"}\n";
const struct kernel_desc fixture_sgemm = {
	.name = "sgemm",
	.title = "matrix multiplication",
	.section = "PMPP ch. 5-6",
	.n_params = ARRAY_LEN(fixture_sgemm_params),
	.params = fixture_sgemm_params,
	.n_variants = ARRAY_LEN(sgemm_variants),
	.variants = sgemm_variants,
};

static const struct param_desc reduction_params[] = {
	{ .name = "N",
	  .title = "vector length",
	  .unit = "elements",
	  .def = 256,
	  .min = 2,
	  .max = 1 << 20 },
	KERNEL_BLOCK_SIZE("block", 128, block_steps),
};
static const struct variant_desc reduction_variants[] = {
	{ .name = "simple",
	  .entry = "reduction_v0_simple",
	  .title = "stride doubling",
	  .idea = "threads drop out two by two, and every warp keeps running for a few of them",
	  .section = "PMPP 10.3",
	  .book_lanes = "255/736 = 35 %: it lets all warps run for five iterations; the loop runs "
	                "six for them" },
};
const char fixture_reduction_source[] =
	"extern \"C\" __global__ void reduction_v0_simple(float *input, float *output)\n"
	"{\n"
	"\tunsigned i = 2 * threadIdx.x;\n"
	"\tfor (unsigned stride = 1; stride <= blockDim.x; stride *= 2) {\n"
	"\t\tif (threadIdx.x % stride == 0)\n"
	"\t\t\tinput[i] += input[i + stride]; //@ add\n"
	"\t\t__syncthreads();\n"
	"\t}\n"
	"\tif (threadIdx.x == 0)\n"
	"\t\t*output = input[0];\n"
	"}\n";
const struct kernel_desc fixture_reduction = {
	.name = "reduction",
	.title = "sum of a vector",
	.section = "PMPP ch. 10",
	.n_params = ARRAY_LEN(reduction_params),
	.params = reduction_params,
	.n_variants = ARRAY_LEN(reduction_variants),
	.variants = reduction_variants,
};

const struct gpu_spec *fixture_a100(void)
{
	static const struct gpu_spec a100 = {
		.id = "a100",
		.name = "A100-SXM4-40GB",
		.arch = "Ampere",
		.chip = "GA100",
		.cc_major = 8,
		.cc_minor = 0,
		.sm_count = 108,
		.max_threads_per_sm = 2048,
		.max_blocks_per_sm = 32,
		.max_threads_per_block = 1024,
		.warp_size = 32,
		.regs_per_sm = 65536,
		.regs_per_block = 65536,
		.max_regs_per_thread = 255,
		.smem_per_sm_bytes = 167936,
		.smem_per_block_bytes = 49152,
		.smem_per_block_optin_bytes = 166912,
		.smem_reserved_per_block_bytes = 1024,
		.clock_mhz = 1410,
		.fp32_lanes_per_sm = 64,
		.fp64_lanes_per_sm = 32,
		.int32_lanes_per_sm = 64,
		.sfu_lanes_per_sm = 16,
		.lsu_lanes_per_sm = 32,
		.schedulers_per_sm = 4,
		.fp16_tensor_gflops = 312000,
		.fp32_gflops = 19500,
		.fp64_gflops = 9700,
		.dram_gbs = 1555,
		.dram_bytes = 42949672960.0,
		.l2_bytes = 41943040,
		.l1_bytes = 196608,
		.l2_gbs = 4000,
		.dram_latency_ns = 466,
		.l2_latency_ns = 200,
		.l1_latency_ns = 24,
		.smem_latency_ns = 20,
		.launch_overhead_ns = 2500,
		.pcie_gbs = 31.5,
		.copy_engines = 3,
		.n_sources = 2,
		.sources = { { "sm_count fp32_gflops dram_gbs", "NVIDIA A100 data sheet, 2020, table 1" },
		             { "max_threads_per_sm",
		               "CUDA programming guide, technical specifications, cc 8.0" } },
	};
	return &a100;
}
