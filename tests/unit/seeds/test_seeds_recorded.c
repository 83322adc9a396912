/*
 * What the sources read off a GPU with profilers (checklist 5.3), held against the launches that an
 * H200 recorded for the presets: a measured roofline, achieved occupancy, registers as the driver
 * reports them.
 */
#include "seeds.h"

#include "base/asset.h"
#include "lab/reference_run.h"
#include "lab/session_file.h"

/* Calls @each with every recorded run; returns how many of them it took. */
static unsigned recorded(bool (*each)(const struct run_record *r))
{
	char gpu[64], name[64], note[200];
	unsigned taken = 0;

	for (size_t i = 0; i < asset_count(); i++) {
		struct session s;
		struct err err = { 0 };
		if (!reference_run_recording(asset_at(i), gpu, name))
			continue;
		if (!session_open(asset_at(i)->path, &s, note, sizeof note, &err))
			fail_msg("%s", err.msg);
		for (unsigned k = 0; k < s.n_history; k++) {
			const struct run_record r = { .sel = s.history[k].sel,
				                          .metrics = s.history[k].metrics };
			taken += each(&r);
		}
		session_drop(&s);
	}
	return taken;
}

static bool is_measured(const struct run_record *r, enum metric_id id)
{
	return metric_known(&r->metrics, id) && r->metrics.v[id].origin == ORIGIN_MEASURED;
}

/* The point of the roofline: FLOP that the GPU counted over the bytes its DRAM moved, and over the
 * time it took; what is made of measured figures is called measured. */
static bool has_its_place(const struct run_record *r)
{
	static const enum metric_id needs[] = { M_FLOP_FP16, M_FLOP_FP32,  M_FLOP_FP64,
		                                    M_DRAM_READ, M_DRAM_WRITE, M_TIME_KERNEL };

	for (unsigned i = 0; i < ARRAY_LEN(needs); i++)
		if (!is_measured(r, needs[i]))
			return false;
	const double flop = metric(r, "flop.fp16") + metric(r, "flop.fp32") + metric(r, "flop.fp64");
	const double bytes = metric(r, "dram.read_bytes") + metric(r, "dram.write_bytes");
	if (!(flop > 0) || !(bytes > 0) || !is_measured(r, M_ROOF_AI))
		return false;
	assert_true(near_to(metric(r, "roof.intensity_flop_per_byte"), flop / bytes, 1e-6));
	assert_true(
		near_to(metric(r, "roof.achieved_gflops"), flop / metric(r, "time.kernel_ns"), 1e-6));
	assert_int_equal(r->metrics.v[M_ROOF_ACHIEVED].origin, ORIGIN_MEASURED);
	return true;
}

TEST(s_448_measured_roofline)
{
	assert_true(recorded(has_its_place) >= 20);
}

/* Theoretical beside achieved: of a launch that fills the GPU once the achieved share comes close,
 * and it never lies above. */
static bool achieves_no_more(const struct run_record *r)
{
	if (!is_measured(r, M_OCC_ACHIEVED))
		return false;
	const double theoretical = metric(r, "occ.theoretical_pct");
	const double achieved = metric(r, "occ.achieved_pct");
	assert_true(near_to(theoretical, 100 * metric(r, "occ.warps_per_sm") / 64, 1e-6));
	if (!(achieved > 0 && achieved <= 1.01 * theoretical))
		fail_msg("%s: %.2f of %.2f %%", r->sel.kernel->name, achieved, theoretical);
	return true;
}

TEST(s_443_achieved_and_theoretical)
{
	assert_true(recorded(achieves_no_more) >= 40);
}

/* Registers of a thread as the driver has them of the code that ran; the compiler here says the
 * same for the same launch. */
static bool has_these_registers(const struct run_record *r)
{
	static const char *const of[] = { "transpose", "reduction", "race", "divergence" };
	struct selection sel = r->sel;
	struct run_record *ours = NULL;
	struct err err = { 0 };
	bool wanted = false;

	for (unsigned i = 0; i < ARRAY_LEN(of); i++)
		wanted |= !strcmp(sel.kernel->name, of[i]);
	if (!wanted || !is_measured(r, M_LAUNCH_REGISTERS) ||
	    !choose_gpu_and_backend("h200", "emu", &sel, &err) ||
	    !run_selection(&sel, NULL, &ours, &err))
		return false;
	const double here = metric(ours, "launch.registers_per_thread");
	if (here != metric(r, "launch.registers_per_thread"))
		fail_msg("%s/%s: %.0f registers here, %.0f there", sel.kernel->name,
		         sel.kernel->variants[sel.variant].name, here,
		         metric(r, "launch.registers_per_thread"));
	assert_true(metric(ours, "launch.shared_bytes_per_block") ==
	            metric(r, "launch.shared_bytes_per_block"));
	record_free(ours);
	return true;
}

TEST(s_445_registers_of_the_driver)
{
	assert_true(recorded(has_these_registers) >= 10);
}

/* Memory, DRAM, L2, L1 and compute throughput as shares of their peaks, duration and cycles: what
 * the profiler's first section has. A copy without reuse is very busy (above 80 %) with DRAM. */
TEST(s_441_speed_of_light)
{
	static const char *const parts[] = { "sol.dram_pct", "sol.l2_pct", "sol.l1_pct" };
	struct selection sel = { .kernel = the_kernel("vec_add"), .seed = 1 };
	struct run_record *r = NULL;
	struct err err = { 0 };
	double most = 0;

	sel.variant = the_variant(sel.kernel, "per_element");
	settings(sel.kernel, "N=16777216 block=256", sel.params);
	if (!choose_gpu_and_backend("rtx4060ti", "emu", &sel, &err) ||
	    !run_selection(&sel, NULL, &r, &err))
		fail_msg("%s", err.msg);
	for (unsigned i = 0; i < ARRAY_LEN(parts); i++) {
		assert_true(metric(r, parts[i]) > 0 && metric(r, parts[i]) <= 100);
		most = fmax(most, metric(r, parts[i]));
	}
	assert_true(metric(r, "sol.memory_pct") == most);
	assert_true(metric(r, "sol.dram_pct") == most && most > 80);
	assert_true(metric(r, "sol.compute_pct") > 0 && metric(r, "sol.compute_pct") < 40);
	assert_true(near_to(metric(r, "sol.dram_pct"), metric(r, "dram.throughput_gbs") / 2.88, 1e-9));
	assert_true(near_to(metric(r, "sol.l2_pct"),
	                    100 * metric(r, "time.l2_ns") / metric(r, "time.kernel_ns"), 1e-9));
	assert_true(
		near_to(metric(r, "sol.elapsed_cycles"), metric(r, "time.kernel_ns") * 2.535, 1e-9));
	record_free(r);
}
