/*
 * Hardware figures that the sources print (checklist 2), against the sheets of this program.
 * Where a source is wrong, the sheet's figure is asserted and the printed one refused.
 */
#include "../unit.h"
#include "base/text.h"
#include "model/gpu.h"
#include "model/occupancy.h"
#include "model/perf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double cycles(const struct gpu_spec *g, double ns)
{
	return ns * g->clock_mhz / 1e3;
}

/* S-101, S-103, S-109, S-126, S-313: 108 x 64 cores in 4 processing blocks, 32 times
 * oversubscribed. */
TEST(s_100_a100_cores)
{
	const struct gpu_spec *a = gpu_find("a100");

	assert_int_equal(a->sm_count * a->fp32_lanes_per_sm, 6912);
	assert_int_equal(a->schedulers_per_sm, 4);
	assert_int_equal(a->fp32_lanes_per_sm / a->schedulers_per_sm, 16);
	assert_int_equal(a->max_threads_per_sm / a->fp32_lanes_per_sm, 32);
	assert_int_equal(gpu_max_warps_per_sm(a) / a->schedulers_per_sm, 16);
	assert_int_equal(a->cc_major * 10 + a->cc_minor, 80);
}

/* S-104, S-105, S-211, S-212, S-343: what an SM has, and per thread when it is full. */
TEST(s_102_a100_limits)
{
	const struct gpu_spec *a = gpu_find("a100");

	assert_int_equal(a->max_blocks_per_sm, 32);
	assert_int_equal(gpu_max_warps_per_sm(a), 64);
	assert_int_equal(a->max_threads_per_sm, 2048);
	assert_int_equal(a->max_threads_per_block, 1024);
	assert_int_equal(a->regs_per_sm, 1 << 16);
	assert_int_equal(a->smem_per_sm_bytes, 164 * 1024);
	assert_int_equal(a->regs_per_sm / a->max_threads_per_sm, 32);
	assert_int_equal(a->smem_per_sm_bytes / a->max_threads_per_sm, 82);
}

/* S-107, S-108, S-219, S-333, S-334: peaks and ridge; 0.25 FLOP/B is 2 % of one roof, 0.25 % of the
 * other (the source's 156 TFLOPS is TF32, half of the dense FP16 figure on the sheet). */
TEST(s_106_a100_rates)
{
	const struct gpu_spec *a = gpu_find("a100");

	assert_true(a->dram_gbs == 1555 && a->fp32_gflops == 19500);
	assert_true(a->fp16_tensor_gflops == 2 * 156000);
	assert_true(fabs(gpu_ridge_flop_per_byte(a) - 12.5) < 0.05);
	assert_true(fabs(4 * gpu_ridge_flop_per_byte(a) - 50) < 0.2); /* per float */
	assert_true(fabs(0.25 * a->dram_gbs / 156000 * 100 - 0.25) < 0.001);
}

/* S-112, S-113, S-114: Hopper's SM, its quarters, and twice Ampere's FP32 and FP64. */
TEST(s_111_h100)
{
	const struct gpu_spec *h = gpu_find("h100"), *a = gpu_find("a100");

	assert_int_equal(h->sm_count, 132);
	assert_int_equal(h->sm_count * h->fp32_lanes_per_sm, 16896);
	assert_true(h->l2_bytes == 50 * 1024 * 1024.0 && h->dram_bytes == 80e9);
	assert_true(round(h->dram_gbs / 1000) == 3);
	assert_int_equal(h->schedulers_per_sm, 4);
	assert_int_equal(h->fp32_lanes_per_sm, 4 * 32);
	assert_int_equal(h->int32_lanes_per_sm, 4 * 16);
	assert_int_equal(h->fp64_lanes_per_sm, 4 * 16);
	assert_int_equal(h->lsu_lanes_per_sm, 4 * 8);
	assert_int_equal(h->sfu_lanes_per_sm, 4 * 4);
	assert_int_equal(h->fp32_lanes_per_sm, 2 * a->fp32_lanes_per_sm);
	assert_int_equal(h->fp64_lanes_per_sm, 2 * a->fp64_lanes_per_sm);
	assert_int_equal(h->int32_lanes_per_sm, a->int32_lanes_per_sm);
	assert_int_equal(h->sfu_lanes_per_sm, a->sfu_lanes_per_sm);
	assert_int_equal(h->lsu_lanes_per_sm, a->lsu_lanes_per_sm);
}

/* S-117, S-118: the link is x8, half of the 31.5 GB/s that the source compares with. */
TEST(s_116_rtx_4060)
{
	const struct gpu_spec *ti = gpu_find("rtx4060ti"), *laptop = gpu_find("rtx4060laptop");

	assert_int_equal(ti->sm_count, 34);
	assert_int_equal(ti->max_threads_per_sm, 1536);
	assert_string_equal(ti->arch, "Ada Lovelace");
	assert_int_equal(ti->cc_major * 10 + ti->cc_minor, 89);
	assert_int_equal(laptop->cc_major * 10 + laptop->cc_minor, 89);
	/* 16 GT/s a lane, 128 of 130 bits: sixteen lanes 31.5 GB/s, as the A100 has, eight half */
	assert_true(fabs(gpu_find("a100")->pcie_gbs - 16 * 16 * 128.0 / 130 / 8) < 0.02);
	assert_true(fabs(gpu_find("a100")->pcie_gbs - 31.5) < 0.02);
	assert_true(ti->pcie_gbs == 31.5 / 2);
}

/* S-120: the generation table gives Turing's TU102 92 SMs and A100 28.3 bn transistors; what the
 * sheets can say of that table: 72 SMs would be TU102, the T4 (TU104) has 40; 108 is right. */
TEST(s_393_generation_table)
{
	const struct gpu_spec *t4 = gpu_find("t4");

	assert_string_equal(t4->arch, "Turing");
	assert_int_equal(t4->sm_count, 40);
	assert_int_equal(t4->fp32_lanes_per_sm, 64);
	assert_int_equal(gpu_find("a100")->sm_count, 108);
	/* four Tensor Cores per SM, 256 FP16 multiply-adds each and cycle: 312 TFLOPS. Eight: 624. */
	const struct gpu_spec *a = gpu_find("a100");
	const double four = a->sm_count * 4 * 256 * 2 * a->clock_mhz / 1e3;
	assert_true(fabs(four / a->fp16_tensor_gflops - 1) < 0.01);
	/* an SM of each generation that there is a sheet of: FP32, INT32 and FP64 lanes as printed */
	static const struct {
		const char *gpu, *arch;
		unsigned sms, fp32, int32, fp64;
	} rows[] = {
		{ "t4", "Turing", 40, 64, 64, 2 },
		{ "a100", "Ampere", 108, 64, 64, 32 },
		{ "h100", "Hopper", 132, 128, 64, 64 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct gpu_spec *g = gpu_find(rows[i].gpu);
		assert_string_equal(g->arch, rows[i].arch);
		assert_int_equal(g->sm_count, rows[i].sms);
		assert_int_equal(g->fp32_lanes_per_sm, rows[i].fp32);
		assert_int_equal(g->int32_lanes_per_sm, rows[i].int32);
		assert_int_equal(g->fp64_lanes_per_sm, rows[i].fp64);
	}
	/* Hopper: four a SM with 512 multiply-adds each, twice Ampere's */
	const struct gpu_spec *h = gpu_find("h100");
	const double hopper = h->sm_count * 4 * 512 * 2 * h->clock_mhz / 1e3;
	assert_true(fabs(hopper / h->fp16_tensor_gflops - 1) < 0.1);
}

/* S-134, S-221: the order of the levels, on every sheet. */
TEST(s_134_order_of_levels)
{
	for (size_t i = 0; i < gpu_count(); i++) {
		const struct gpu_spec *g = gpu_at(i);
		assert_true(g->smem_latency_ns < g->l1_latency_ns);
		assert_true(g->l1_latency_ns < g->l2_latency_ns);
		assert_true(g->l2_latency_ns < g->dram_latency_ns);
		/* 32 banks of 4 bytes a cycle and SM */
		assert_true(g->sm_count * 128 * g->clock_mhz / 1e3 > g->l2_gbs);
		assert_true(g->l2_gbs > g->dram_gbs);
		assert_true(g->fp16_tensor_gflops > g->fp32_gflops && g->fp32_gflops > g->fp64_gflops);
		/* and the roof of a kernel follows: the same product on tensor cores, and without */
		assert_true(roof_peak_gflops(g, &(struct kernel_cost){ .tensor = TENSOR_F16 }) ==
		            g->fp16_tensor_gflops);
		assert_true(roof_peak_gflops(g, &(struct kernel_cost){ .flop = 1 }) == g->fp32_gflops);
	}
}

/* Hundreds of cycles to DRAM (S-129); shared memory takes 20 to 40, not the 1 to 2 that are printed
 * (S-131, S-399); per-block limits are not per-SM limits. */
TEST(s_129_latencies)
{
	for (size_t i = 0; i < gpu_count(); i++) {
		const struct gpu_spec *g = gpu_at(i);
		const double dram = cycles(g, g->dram_latency_ns), shared = cycles(g, g->smem_latency_ns);
		if (!(dram >= 300 && dram < 1000 && shared >= 15 && shared <= 40))
			fail_msg("%s: %.0f and %.0f cycles", g->id, dram, shared);
		assert_true(g->smem_per_block_bytes < g->smem_per_sm_bytes);
	}
}

/* Three operands read and a result written, 4 bytes each, per lane and cycle: registers move two
 * orders of magnitude more than DRAM, on every sheet but those that have much DRAM for their SMs.
 */
TEST(s_132_register_bandwidth)
{
	for (size_t i = 0; i < gpu_count(); i++) {
		const struct gpu_spec *g = gpu_at(i);
		const double gbs = (double)g->sm_count * g->fp32_lanes_per_sm * 4 * 4 * g->clock_mhz / 1e3;
		if (!(gbs / g->dram_gbs > 60))
			fail_msg("%s: %.0f times", g->id, gbs / g->dram_gbs);
	}
	const struct gpu_spec *a = gpu_find("a100");
	assert_true(108 * 64 * 16 * a->clock_mhz / 1e3 > 100 * a->dram_gbs);
}

/* S-220: units x clock x 2, bus width x rate: 5120 bits at 2 x 1215 MHz for the A100. */
TEST(s_220_peak_and_bandwidth)
{
	const struct gpu_spec *a = gpu_find("a100"), *ti = gpu_find("rtx4060ti");

	assert_true(fabs(108 * 64 * 2 * 1.41 / (a->fp32_gflops / 1e3) / 1e3 - 1) < 0.001);
	assert_true(fabs(5120 / 8.0 * 2 * 1.215 / a->dram_gbs - 1) < 0.001);
	assert_true(fabs(128 / 8.0 * 18 / ti->dram_gbs - 1) < 0.001);
}

/* S-123: every sheet's warp has 32 lanes, and limits are whole warps. */
TEST(s_123_warp)
{
	for (size_t i = 0; i < gpu_count(); i++) {
		assert_int_equal(gpu_at(i)->warp_size, 32);
		assert_int_equal(gpu_at(i)->max_threads_per_sm % 32, 0);
		assert_int_equal(gpu_at(i)->max_threads_per_block, 1024);
	}
}
