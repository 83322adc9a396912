/* One run in a row: records, verdicts in words, refusals, choice of GPU and back end. */
#include "fake_registry.h"
#include "lab/head_start.h"
#include "lab/run_steps.h"

static struct selection start(unsigned variant)
{
	struct selection sel = { .kernel = &toy, .variant = variant, .seed = 7, .backend = "emu" };
	kernel_defaults(&toy, sel.params);
	assert_true(gpu_load("a100", &sel.gpu, NULL));
	fake_reset();
	return sel;
}

static struct run_record *run_ok(const struct selection *sel)
{
	struct err err = { 0 };
	struct run_record *r = NULL;
	if (!run_selection(sel, NULL, &r, &err))
		fail_msg("%s", err.msg);
	assert_non_null(r);
	return r;
}

TEST(test_a_right_answer)
{
	struct selection sel = start(1);
	sel.params[TOY_W] = 2;
	struct run_record *r = run_ok(&sel);
	assert_int_equal(r->verify, VERIFY_OK);
	assert_string_equal(r->verify_text, "exact");
	assert_int_equal(r->plan.grid.x, 8);
	assert_true(metric_get(&r->metrics, M_LAUNCH_GRID_BLOCKS) == 8);
	assert_true(metric_get(&r->metrics, M_LAUNCH_BLOCK_THREADS) == 128);
	assert_true(metric_get(&r->metrics, M_LAUNCH_SHARED) == 4096);
	assert_in_range((unsigned)metric_get(&r->metrics, M_LAUNCH_REGISTERS), 4, 64);
	assert_true(metric_get(&r->metrics, M_INST_WARP) == 80);
	assert_int_equal(r->metrics.v[M_INST_WARP].origin, ORIGIN_COUNTED);
	assert_true(metric_get(&r->metrics, M_OCC_BLOCKS) == r->occ.blocks_per_sm);
	/* Unknown is unknown, with its reason. */
	assert_false(metric_known(&r->metrics, M_ROOF_BOOK_AI));
	assert_non_null(strstr(r->metrics.v[M_ROOF_BOOK_AI].reason, "book"));
	assert_int_equal(fake.open, 0);
	record_free(r);
	/* Not exact, but within the limit: both are said. */
	sel.params[TOY_W] = 3;
	r = run_ok(&sel);
	assert_int_equal(r->verify, VERIFY_OK);
	assert_string_equal(r->verify_text, "max rel. error 6e-08 (limit 1e-06)");
	record_free(r);
}

TEST(test_wrong_answers_in_words)
{
	struct selection sel = start(0);
	fake.wrong = true;
	struct run_record *r = run_ok(&sel);
	assert_int_equal(r->verify, VERIFY_WRONG);
	assert_int_equal(r->check.first, 500);
	assert_non_null(strstr(r->verify_text, "y[500]: got "));
	assert_non_null(strstr(r->verify_text, "(1 of 1000 elements wrong)"));
	record_free(r);

	fake.wrong = false;
	fake.skip = true;
	r = run_ok(&sel);
	assert_int_equal(r->verify, VERIFY_WRONG);
	assert_string_equal(r->verify_text, "y[999] was never written (1 of 1000 elements)");
	record_free(r);

	fake.skip = false;
	fake.clobber = true;
	r = run_ok(&sel);
	assert_int_equal(r->verify, VERIFY_WRONG);
	assert_string_equal(r->verify_text, "x[7]: an input of the kernel was written");
	record_free(r);
}

static struct run_record *run_at(struct workbench *w, const struct selection *sel, bool no_verify)
{
	struct err err = { 0 };
	struct run_record *r = NULL;
	const struct run_options options = { .bench = w, .no_verify = no_verify };
	if (!run_selection_with(sel, &options, NULL, &r, &err))
		fail_msg("%s", err.msg);
	return r;
}

/* Variants of one family at one workbench begin with the same inputs. */
TEST(test_inputs_are_kept_for_the_next_run)
{
	struct selection sel = start(0);
	struct workbench w = { 0 };
	const struct {
		unsigned variant;
		uint64_t seed;
		bool clobber, no_verify;
		int fills; /* in all */
	} rows[] = {
		{ 0, 7, false, false, 1 },
		{ 1, 7, false, false, 1 },
		{ 1, 8, false, false, 2 },
		{ 0, 8, true, false, 3 }, /* filled once more to find where it wrote */
		{ 0, 8, false, false, 4 },
		{ 0, 8, false, true, 4 },
		{ 1, 8, false, false, 5 }, /* nobody had looked whether it wrote them */
	};
	toy_fills = 0;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		sel.variant = rows[i].variant;
		sel.seed = rows[i].seed;
		fake.clobber = rows[i].clobber;
		struct run_record *r = run_at(&w, &sel, rows[i].no_verify);
		assert_int_equal(r->verify, rows[i].clobber     ? VERIFY_WRONG
		                            : rows[i].no_verify ? VERIFY_NOT_RUN
		                                                : VERIFY_OK);
		assert_int_equal(toy_fills, rows[i].fills);
		record_free(r);
	}
	workbench_close(&w);
	assert_int_equal(fake.shared, 0);
	assert_int_equal(fake.open, 0);
}

static struct selection start_on_device(void)
{
	struct selection sel = start(0);
	fake.device = true;
	snprintf(sel.backend, sizeof sel.backend, "cuda");
	return sel;
}

/* A GPU's buffers lie where its worker can map them, and its outputs are poisoned there. */
TEST(test_buffers_of_a_gpu_are_shared)
{
	struct selection sel = start_on_device();
	struct workbench w = { 0 };
	for (int run = 1; run <= 2; run++) {
		struct run_record *r = run_at(&w, &sel, false);
		assert_int_equal(r->verify, VERIFY_OK);
		assert_int_equal(fake.shared, run);
		record_free(r);
	}
	fake.skip = true;
	struct run_record *r = run_at(&w, &sel, false);
	assert_string_equal(r->verify_text, "y[999] was never written (1 of 1000 elements)");
	record_free(r);
	workbench_close(&w);
}

/* Large inputs are filled while a GPU is looked for: once, and nothing is lost if it is in vain. */
TEST(test_a_head_start)
{
	struct selection sel = start_on_device();
	struct workbench w = { 0 };
	toy_fills = 0;
	head_start(&w, &sel);
	assert_null(w.early); /* a small one is quick enough */
	sel.params[TOY_N] = 1 << 25;
	head_start(&w, &sel);
	assert_non_null(w.early);
	struct run_record *r = run_at(&w, &sel, true);
	assert_int_equal(toy_fills, 1);
	record_free(r);
	head_start(&w, &sel);
	workbench_close(&w);
	assert_int_equal(toy_fills, 2);
}

TEST(test_a_sample_is_not_verified)
{
	struct selection sel = start(0);
	struct err err = { 0 };
	struct run_record *r;
	fake.wrong = true; /* nobody may look */
	assert_true(run_selection_with(&sel, &(struct run_options){ .max_blocks = 3 }, NULL, &r, &err));
	assert_int_equal(r->verify, VERIFY_SAMPLED);
	assert_string_equal(r->verify_text, "not verified: 3 of 8 blocks run");
	assert_int_equal(r->metrics.v[M_INST_WARP].origin, ORIGIN_SAMPLED);
	assert_int_equal(r->metrics.v[M_INST_WARP].sampled, 3);
	assert_int_equal(r->metrics.v[M_INST_WARP].of, 8);
	record_free(r);
}

static void refused(const struct selection *sel, enum err_code code, const char *part)
{
	struct err err = { 0 };
	struct run_record *r = NULL;
	int runs = fake.runs;
	assert_false(run_selection(sel, NULL, &r, &err));
	assert_null(r);
	assert_int_equal(err.code, code);
	if (!strstr(err.msg, part))
		fail_msg("'%s' is not in '%s'", part, err.msg);
	assert_int_equal(fake.runs, runs);
}

TEST(test_refusals)
{
	struct selection sel = start(0);
	sel.params[TOY_N] = -1;
	refused(&sel, ERR_USAGE, "'N': -1");
	sel = start(0);
	sel.params[TOY_BLOCK] = 4096;
	refused(&sel, ERR_USAGE, "'block': 4096");
	sel = start(0);
	sel.params[TOY_W] = 99; /* not a parameter of this variant: ignored */
	record_free(run_ok(&sel));
	sel.variant = 1;
	refused(&sel, ERR_USAGE, "'W': 99");
	sel = start(0);
	snprintf(sel.backend, sizeof sel.backend, "emo");
	refused(&sel, ERR_USAGE, "no back end 'emo'");
	sel = start(0);
	snprintf(sel.backend, sizeof sel.backend, "cuda");
	refused(&sel, ERR_UNAVAILABLE, "no GPU in this test");
}

TEST(test_a_fault_is_passed_on)
{
	struct selection sel = start(0);
	struct err err = { 0 };
	struct run_record *r = NULL;
	fake.fault = true;
	assert_false(run_selection(&sel, NULL, &r, &err));
	assert_int_equal(err.code, ERR_FAULT);
	assert_string_equal(err.msg, "toy.cu:8: block 0, thread 3: no");
	assert_null(r);
	assert_int_equal(fake.open, 0);
}

TEST(test_same_seed_same_record)
{
	struct selection a = start(0), b = a;
	assert_true(selection_equal(&a, &b));
	b.params[TOY_W] = 5; /* unused by this variant */
	assert_true(selection_equal(&a, &b));
	b.params[TOY_N]++;
	assert_false(selection_equal(&a, &b));
	b = a;
	b.seed++;
	assert_false(selection_equal(&a, &b));
	b = a;
	assert_true(gpu_load("h100", &b.gpu, NULL));
	assert_false(selection_equal(&a, &b));
}

TEST(test_poison)
{
	static const enum elem_type types[] = { ELEM_F32, ELEM_F64, ELEM_F16, ELEM_I32, ELEM_U32 };
	for (size_t t = 0; t < ARRAY_LEN(types); t++) {
		unsigned char data[10 * 8];
		poison_fill(types[t], data, 10);
		assert_int_equal(poison_first(types[t], data, 10), 0);
		memset(data, 0, 9 * elem_size(types[t]));
		assert_int_equal(poison_first(types[t], data, 10), 9);
		memset(data, 0, sizeof data);
		assert_int_equal(poison_first(types[t], data, 10), 10);
	}
	/* so many that several threads look: the first is found, and all are counted */
	const size_t many = 5u << 20;
	uint16_t *large = calloc(many, sizeof *large);
	assert_non_null(large);
	assert_int_equal(poison_first(ELEM_F16, large, many), many);
	poison_fill(ELEM_F16, large + many - 3, 3);
	poison_fill(ELEM_F16, large + 70001, 1);
	assert_int_equal(poison_first(ELEM_F16, large, many), 70001);
	assert_int_equal(poison_left(ELEM_F16, large, many), 4);
	const uint64_t whole = buffer_fingerprint(large, many);
	large[many / 2 - 1] ^= 1; /* the last that is looked at */
	assert_true(buffer_fingerprint(large, many) != whole);
	free(large);
	float f;
	double d;
	poison_fill(ELEM_F32, &f, 1);
	poison_fill(ELEM_F64, &d, 1);
	assert_true(isnan(f) && isnan(d));
}

TEST(test_sheet_of_device)
{
	static const struct unit_case cases[] = {
		{ "NVIDIA H200", "h200" },
		{ "NVIDIA A100-SXM4-40GB", "a100" },
		{ "Tesla T4", "t4" },
		{ "NVIDIA GeForce RTX 4060 Ti", "rtx4060ti" },
		{ "NVIDIA RTX A6000", "a6000" },
		{ "NVIDIA GeForce RTX 4060 Laptop GPU", "rtx4060laptop" },
		{ "NVIDIA L40S", NULL },
		{ "NVIDIA L4", "l4" },
		{ "NVIDIA GeForce GTX 1080", NULL },
		{ "", NULL },
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct gpu_spec *g = sheet_of_device(cases[i].given);
		if (!cases[i].want)
			assert_null(g);
		else if (!g || strcmp(g->id, cases[i].want))
			fail_msg("%s: %s", cases[i].given, g ? g->id : "none");
	}
}

TEST(test_choosing)
{
	struct selection sel = start(0);
	struct err err = { 0 };
	assert_true(choose_gpu_and_backend(NULL, "auto", &sel, &err));
	assert_string_equal(sel.backend, "emu");
	assert_string_equal(sel.gpu->id, "a100");
	assert_false(choose_gpu_and_backend(NULL, "cuda", &sel, &err));
	assert_int_equal(err.code, ERR_UNAVAILABLE);

	fake.device = true;
	assert_true(choose_gpu_and_backend(NULL, NULL, &sel, &err));
	assert_string_equal(sel.backend, "cuda");
	assert_string_equal(sel.gpu->id, "cuda0"); /* its own sheet */
	/* The GPU's own figures, or none: another sheet can only be emulated. */
	assert_true(choose_gpu_and_backend("A100", "auto", &sel, &err));
	assert_string_equal(sel.backend, "emu");
	assert_string_equal(sel.gpu->id, "a100");
	assert_false(choose_gpu_and_backend("a100", "cuda", &sel, &err));
	assert_int_equal(err.code, ERR_UNAVAILABLE);
	assert_non_null(strstr(err.remedy, "--gpu h200"));
	assert_true(choose_gpu_and_backend("H200", "cuda", &sel, &err));
	assert_string_equal(sel.backend, "cuda");
	assert_string_equal(sel.gpu->id, "h200");

	assert_false(choose_gpu_and_backend("a101", "emu", &sel, &err));
	assert_int_equal(err.code, ERR_USAGE);
	assert_false(choose_gpu_and_backend("a100", "emulator", &sel, &err));
	assert_non_null(strstr(err.remedy, "emu"));
}

int main(void)
{
	return unit_run(own_cache, drop_cache);
}
