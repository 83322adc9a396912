/* See fixture_host.h. */
#include "fixture_host.h"
#include "../unit.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

extern const struct view_desc view_occupancy, view_roofline, view_divergence, view_coalescing,
	view_timeline, view_ladder, view_source, view_advice, view_device, view_tour;

static const struct session *fh_session(void *ctx)
{
	return ((struct fixture_host *)ctx)->s;
}
static struct session *fh_edit(void *ctx)
{
	return ((struct fixture_host *)ctx)->s;
}
static bool fh_poll(void *ctx)
{
	(void)ctx;
	return false;
}
static int fh_wake(void *ctx)
{
	(void)ctx;
	return -1;
}
static void fh_param(void *ctx, unsigned param, int64_t value)
{
	struct session *s = fh_edit(ctx);
	s->sel.params[param] = value;
	s->stale = s->now != NULL;
	if (s->sel.kernel == &fixture_reduction && param == 1)
		fixture_occupancy(s, (unsigned)value, 0);
}
static void fh_kernel(void *ctx, const struct kernel_desc *k, unsigned variant)
{
	struct session *s = fh_edit(ctx);
	s->sel.kernel = k;
	s->sel.variant = variant;
	s->stale = s->now != NULL;
}
static void fh_nop(void *ctx, size_t i)
{
	(void)ctx;
	(void)i;
}
static void fh_run(void *ctx)
{
	((struct fixture_host *)ctx)->runs++;
}
static void fh_selection(void *ctx, const struct selection *sel)
{
	((struct fixture_host *)ctx)->s->sel = *sel;
}
static void fh_cancel(void *ctx)
{
	((struct fixture_host *)ctx)->cancels++;
}

const struct view_desc *fixture_tab(size_t i)
{
	static const struct view_desc *const tabs[FIXTURE_TABS] = {
		&view_occupancy, &view_roofline, &view_divergence, &view_coalescing, &view_timeline,
		&view_ladder,    &view_source,   &view_advice,     &view_device,     &view_tour
	};
	return tabs[i];
}

static size_t fh_choices(void *ctx, enum command list)
{
	(void)ctx;
	return list == CMD_KERNEL ? 3 : list == CMD_GPU ? 12 : 2;
}
static void fh_choice(void *ctx, enum command list, size_t i, struct choice *out)
{
	static const char *const gpus[] = { "a100",      "a6000",   "b200",    "h100",
		                                "h200",      "l4",      "rtx3090", "rtx4060laptop",
		                                "rtx4060ti", "rtx4090", "rtx5090", "t4" };
	static const char *const kernels[] = { "reduction / simple", "sgemm / naive", "sgemm / tiled" };
	static const char *const engines[] = { "cuda", "emu" };
	(void)ctx;
	out->enabled = true;
	out->current = i == 1;
	if (list == CMD_KERNEL) {
		snprintf(out->label, sizeof out->label, "%s", kernels[i]);
		snprintf(out->note, sizeof out->note, "%s",
		         i ? fixture_sgemm.variants[i - 1].idea : "threads drop out two by two");
	} else if (list == CMD_GPU) {
		snprintf(out->label, sizeof out->label, "%s", gpus[i]);
		snprintf(out->note, sizeof out->note, "built-in sheet");
	} else {
		snprintf(out->label, sizeof out->label, "%s", engines[i]);
		out->enabled = i == 1;
		snprintf(out->note, sizeof out->note, "PTX emulator, 2 threads");
		snprintf(out->why_not, sizeof out->why_not,
		         "no NVIDIA driver here (libcuda.so.1 not found)");
	}
}
static void fh_choose(void *ctx, enum command list, size_t i)
{
	struct fixture_host *h = ctx;
	h->chosen_list = list;
	h->chosen = (unsigned)i;
}

struct screen_host fixture_host(struct fixture_host *h)
{
	return (struct screen_host){
		.ctx = h,
		.session = fh_session,
		.edit = fh_edit,
		.poll = fh_poll,
		.wake_fd = fh_wake,
		.set_param = fh_param,
		.set_kernel = fh_kernel,
		.set_gpu = fh_nop,
		.set_backend = fh_nop,
		.set_selection = fh_selection,
		.run = fh_run,
		.cancel = fh_cancel,
		.n_views = FIXTURE_TABS,
		.view_at = fixture_tab,
		.choices = fh_choices,
		.choice_at = fh_choice,
		.choose = fh_choose,
	};
}

void fixture_press(const struct screen_host *host, struct screen_state *st, const char *keys)
{
	char name[32];
	int used;
	for (; sscanf(keys, "%31s%n", name, &used) == 1; keys += used) {
		const uint32_t key = key_parse(name);
		if (!key)
			fail_msg("'%s' is no key", name);
		screen_key(host, st, key);
	}
}
