/*
 * What a run says of its own exactness: which instructions are a card's to the bit, which are not,
 * which do nothing; whether an approximate value may decide a branch or an address, by registers,
 * through memory, or not at all. And special functions against the C library's in float64.
 */
#include "emu_fixture.h"
#include "emu/lane/lane.h"
#include "model/fidelity.h"

#include <math.h>

#define KERNEL(body)                                                                 \
	PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n\t.reg .pred %p<3>;\n"          \
			 "\t.reg .b32 %r<8>;\n\t.reg .f32 %f<8>;\n\t.reg .b64 %rd<8>;\n"         \
			 "\t.shared .align 4 .b8 s[128];\n"                                      \
			 "\tld.param.u64 %rd1, [out];\n\tmov.u32 %r1, %tid.x;\n"                 \
			 "\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.u64 %rd3, %rd1, %rd2;\n"           \
			 "\tshl.b32 %r2, %r1, 2;\n\tmov.u32 %r3, s;\n\tadd.u32 %r3, %r3, %r2;\n" \
			 "\tcvt.rn.f32.u32 %f1, %r1;\n" body "\tst.global.f32 [%rd3], %f2;\n\tret;\n}\n"
#define SETUP 8 /* instructions in front of the body */
#define END 2

static struct run_fidelity run(const char *ptx)
{
	struct emu_case c = { .ptx = mem_strdup(ptx) };
	emu_launch(&c, "k", (struct dim3u){ 2, 1, 1 }, (struct dim3u){ 32, 1, 1 });
	emu_buffer(&c, "out", ELEM_F32, BUF_OUT, 32);
	emu_must_run(&c);
	const struct run_fidelity f = c.res.counts.fidelity;
	assert_true(f.known);
	assert_int_equal(f.exact + f.approximate + f.skipped, c.res.counts.total.warp_executed);
	emu_case_free(&c);
	return f;
}

TEST(all_exact)
{
	char words[1024];
	const struct run_fidelity f = run(KERNEL("\tsqrt.rn.f32 %f2, %f1;\n"));
	assert_int_equal(f.exact, 2 * (SETUP + 1 + END));
	assert_int_equal(f.approximate + f.skipped, 0);
	assert_false(f.reaches);
	assert_string_equal(f.functions, "");
	assert_string_equal(run_fidelity_text(&f, words, sizeof words),
	                    "exact as on a card: all 22 warp instructions");
}

TEST(functions_and_hints_by_name)
{
	const struct run_fidelity f =
		run(KERNEL("\tex2.approx.f32 %f2, %f1;\n\tex2.approx.f32 %f2, %f2;\n"
	               "\trcp.approx.f32 %f2, %f2;\n\tprefetch.global.L2 [%rd3];\n"));
	assert_int_equal(f.exact, 2 * (SETUP + END));
	assert_int_equal(f.approximate, 6);
	assert_int_equal(f.skipped, 2);
	assert_string_equal(f.functions,
	                    "ex2.approx.f32 (2^-22.5 of the value), rcp.approx.f32 (1 ulp)");
	assert_string_equal(f.hints, "prefetch.global.L2");
	assert_false(f.reaches);
}

/* Neither counts what did not run. */
TEST(only_what_ran)
{
	const struct run_fidelity f =
		run(KERNEL("\tmov.f32 %f2, %f1;\n\tsetp.gt.u32 %p1, %r1, 99;\n\t@!%p1 bra OVER;\n"
	               "\tex2.approx.f32 %f2, %f1;\n\tsetp.gt.f32 %p2, %f2, 0f3F800000;\n"
	               "\t@%p2 bra OVER;\n\tadd.f32 %f2, %f2, %f2;\nOVER:\n"));
	assert_int_equal(f.approximate, 0);
	assert_false(f.reaches);
}

TEST(branch_by_registers)
{
	const struct run_fidelity f =
		run(KERNEL("\tlg2.approx.f32 %f2, %f1;\n\tadd.f32 %f3, %f2, %f2;\n"
	               "\tsetp.gt.f32 %p1, %f3, 0f3F800000;\n\t@%p1 bra OVER;\n"
	               "\tadd.f32 %f2, %f2, %f2;\nOVER:\n"));
	assert_true(f.reaches);
}

TEST(address_by_registers)
{
	assert_true(run(KERNEL("\tsin.approx.f32 %f2, %f1;\n\tcvt.rzi.u32.f32 %r4, %f2;\n"
	                       "\tand.b32 %r4, %r4, 31;\n\tshl.b32 %r4, %r4, 2;\n"
	                       "\tmov.u32 %r5, s;\n\tadd.u32 %r5, %r5, %r4;\n"
	                       "\tst.shared.f32 [%r3], %f1;\n\tbar.sync 0;\n"
	                       "\tld.shared.f32 %f2, [%r5];\n"))
	                .reaches);
}

/* A selection is neither. */
TEST(selected_values_decide_nothing)
{
	assert_false(run(KERNEL("\tsin.approx.f32 %f2, %f1;\n\tsetp.gt.f32 %p1, %f2, 0f00000000;\n"
	                        "\tselp.f32 %f2, %f1, %f2, %p1;\n"))
	                 .reaches);
}

/* Through shared memory it may; what only reads memory that holds no such value may not. */
TEST(through_memory)
{
#define BY_MEMORY(value)                                                                   \
	"\tsin.approx.f32 %f2, %f1;\n\tst.shared.f32 [%r3], " value ";\n\tbar.sync 0;\n"       \
	"\tld.shared.f32 %f4, [%r3];\n\tsetp.gt.f32 %p1, %f4, 0f3F000000;\n\t@%p1 bra OVER;\n" \
	"\tadd.f32 %f2, %f2, %f2;\nOVER:\n"
	assert_true(run(KERNEL(BY_MEMORY("%f2"))).reaches);
	assert_false(run(KERNEL(BY_MEMORY("%f1"))).reaches);
}

/* --- special functions --- */

/* Floats between two that are not the exact value's nearest, per million tried. */
static double wrong_per_million(float (*f)(float), double (*exact)(double), float from, float to)
{
	unsigned n = 0, wrong = 0;
	for (uint32_t u = bits_f32(from); u < bits_f32(to); u += 1009, n++) {
		const float x = f32_bits(u);
		wrong += bits_f32(f(x)) != bits_f32((float)exact((double)x));
		wrong += bits_f32(f(-x)) != bits_f32((float)exact((double)-x)) && exact != log2;
	}
	assert_true(n > 10000);
	return 1e6 * wrong / n;
}

static float sine(float turns)
{
	return lane_sine((double)turns, 0);
}
static float cosine(float turns)
{
	return lane_sine((double)turns, 1);
}
/* By quarters, so that nothing is lost near half a turn. */
static double exact_sine_from(double turns, int quarters)
{
	const double whole = rint(turns * 4), r = (turns * 4 - whole) * 2 * atan(1);
	const int q = (int)fmod(whole, 4) + quarters + 4;
	const double v = q & 1 ? cos(r) : sin(r);
	return q & 2 ? -v : v;
}
static double exact_sine(double turns)
{
	return exact_sine_from(turns, 0);
}
static double exact_cosine(double turns)
{
	return exact_sine_from(turns, 1);
}

TEST(special_functions_are_nearest)
{
	assert_true(wrong_per_million(lane_ex2, exp2, 1e-30f, 150.0f) < 5);
	assert_true(wrong_per_million(lane_lg2, log2, 1e-42f, 3e38f) < 5);
	assert_true(wrong_per_million(lane_tanh, tanh, 1e-30f, 30.0f) < 5);
	assert_true(wrong_per_million(sine, exact_sine, 1e-30f, 0x1p40f) < 5);
	assert_true(wrong_per_million(cosine, exact_cosine, 1e-30f, 0x1p40f) < 5);
}

TEST(special_functions_at_the_edges)
{
	assert_int_equal(bits_f32(lane_ex2(-INFINITY)), 0);
	assert_int_equal(bits_f32(lane_ex2(INFINITY)), bits_f32(INFINITY));
	assert_int_equal(bits_f32(lane_ex2(0)), bits_f32(1.0f));
	assert_int_equal(bits_f32(lane_ex2(-149)), 1);
	assert_int_equal(bits_f32(lane_ex2(NAN)), LANE_NAN32);
	assert_int_equal(bits_f32(lane_lg2(0)), bits_f32(-INFINITY));
	assert_int_equal(bits_f32(lane_lg2(-0.0f)), bits_f32(-INFINITY));
	assert_int_equal(bits_f32(lane_lg2(-1)), LANE_NAN32);
	assert_int_equal(bits_f32(lane_lg2(NAN)), LANE_NAN32);
	assert_int_equal(bits_f32(lane_lg2(INFINITY)), bits_f32(INFINITY));
	assert_int_equal(bits_f32(lane_lg2(f32_bits(1))), bits_f32(-149.0f));
	assert_int_equal(bits_f32(lane_tanh(INFINITY)), bits_f32(1.0f));
	assert_int_equal(bits_f32(lane_tanh(-INFINITY)), bits_f32(-1.0f));
	assert_int_equal(bits_f32(lane_tanh(-0.0f)), bits_f32(-0.0f));
	assert_int_equal(bits_f32(sine(-0.0f)), bits_f32(-0.0f));
	assert_false(lane_is_turns(NAN));
	assert_false(lane_is_turns(0x1.2p40f));
	assert_int_equal(bits_f32(lane_rare_sine(0x1.2p40, 1)), bits_f32(1.0f));
}

/* PTX's angle is a product in front of the unit, rounded towards zero; 2^-150 of a turn is none. */
TEST(angles_become_turns)
{
	static const float angles[] = { 0.5f,      -3.0f,       1e5f,   0x1.921fb6p1f,
		                            0x1p-130f, 0x1.8p-148f, 0x1p90f };
	for (size_t i = 0; i < ARRAY_LEN(angles); i++) {
		const float a = angles[i];
		const double t = lane_is_angle(a) ? lane_turns(a) : lane_rare_turns(a);
		const double exact = (double)a * 0x1.45f306p-3;
		const float nearest = (float)exact;
		const float kept = fabs((double)nearest) > fabs(exact) ? nextafterf(nearest, 0) : nearest;
		assert_int_equal(bits_f32((float)t), bits_f32(kept));
	}
	assert_int_equal(bits_f64(lane_turns(-0.0f)), bits_f64(-0.0));
}
