/* What the screen sees of the session: lists to choose from, and choices that take effect. */
#include "fake_registry.h"
#include "cli/tui_host.h"

static struct lab *open_host(struct screen_host *host)
{
	struct lab *a;
	struct err err = { 0 };
	fake_reset();
	if (!lab_new(&a, "a100", "emu", fake_panels, &err))
		fail_msg("%s", err.msg);
	tui_host(a, host);
	return a;
}

TEST(test_every_function_is_there)
{
	struct screen_host h;
	struct lab *a = open_host(&h);
	assert_true(h.session && h.poll && h.wake_fd && h.set_param && h.set_kernel && h.set_gpu &&
	            h.set_backend && h.set_selection && h.run && h.cancel && h.edit && h.view_at &&
	            h.choices && h.choice_at && h.choose);
	assert_ptr_equal(h.session(h.ctx), lab_session(a));
	assert_ptr_equal(h.edit(h.ctx), lab_session(a));
	assert_true(h.wake_fd(h.ctx) >= 0);
	assert_false(h.poll(h.ctx));
	lab_free(a);
}

TEST(test_kernels_variant_by_variant)
{
	struct screen_host h;
	struct choice c;
	struct lab *a = open_host(&h);
	assert_int_equal(h.choices(h.ctx, CMD_KERNEL), 2);
	h.choice_at(h.ctx, CMD_KERNEL, 1, &c);
	assert_string_equal(c.label, "toy/two");
	assert_true(c.enabled);
	h.choose(h.ctx, CMD_KERNEL, 1);
	assert_int_equal(lab_session(a)->sel.variant, 1);
	h.set_param(h.ctx, TOY_W, 7);
	assert_int_equal(lab_session(a)->sel.params[TOY_W], 7);
	/* The same kernel keeps what was set; a focused parameter that the variant lacks moves. */
	lab_session(a)->param = TOY_W;
	h.set_kernel(h.ctx, &toy, 0);
	assert_int_equal(lab_session(a)->sel.params[TOY_W], 7);
	assert_true(kernel_param_used(&toy, 0, lab_session(a)->param));
	h.choice_at(h.ctx, CMD_KERNEL, 99, &c); /* past the end: nothing, no harm */
	assert_string_equal(c.label, "");
	h.choose(h.ctx, CMD_KERNEL, 99);
	lab_free(a);
}

TEST(test_gpus_and_back_ends)
{
	struct screen_host h;
	struct choice c;
	struct lab *a = open_host(&h);
	const size_t n = h.choices(h.ctx, CMD_GPU);
	assert_int_equal(n, gpu_count());
	for (size_t i = 0; i < n; i++) {
		h.choice_at(h.ctx, CMD_GPU, i, &c);
		assert_string_equal(c.label, gpu_at(i)->id);
	}
	h.choose(h.ctx, CMD_GPU, n - 1);
	assert_string_equal(lab_session(a)->sel.gpu->id, gpu_at(n - 1)->id);
	h.set_gpu(h.ctx, n);
	assert_string_equal(lab_session(a)->sel.gpu->id, gpu_at(n - 1)->id);

	assert_int_equal(h.choices(h.ctx, CMD_BACKEND), 2);
	h.choice_at(h.ctx, CMD_BACKEND, 0, &c);
	assert_string_equal(c.label, "cuda");
	assert_false(c.enabled);
	assert_string_equal(c.why_not, "no GPU in this test");
	h.choice_at(h.ctx, CMD_BACKEND, 1, &c);
	assert_true(c.enabled);
	assert_string_equal(c.note, "fake emulator");
	assert_int_equal(h.choices(h.ctx, CMD_HELP), 0);
	lab_free(a);
}

int main(void)
{
	return unit_run(own_cache, drop_cache);
}
