/*
 * What the screen asks of the session: changes, news, and the three lists to choose from.
 * Returns at once, always: no back end is probed here. Draws nothing.
 */
#include "cli/view_list.h"
#include "lab/registry.h"
#include "cli/beside.h"
#include "cli/program_out.h"
#include "lab/program_file.h"
#include "cli/settings_keep.h"
#include "cli/settings_file.h"
#include "cli/tui_host.h"

#include "base/mem.h"
#include "base/text.h"
#include "model/preset.h"
#include "model/program_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct session *host_session(void *ctx)
{
	return lab_session(ctx);
}

static struct session *host_edit(void *ctx)
{
	return lab_session(ctx);
}

static bool host_poll(void *ctx)
{
	const bool ended = beside_poll();
	return lab_poll(ctx) || ended;
}

static int host_wake_fd(void *ctx)
{
	return beside_wake_fd(lab_wake_fd(ctx));
}

/* --- the line behind ':' --- */

static bool host_line(void *ctx, const char *line, bool *runs, char *said, size_t n)
{
	struct err err = { 0 };
	const bool ok = beside_line(ctx, line, runs, &err);
	snprintf(said, n, "%.300s%s%.200s", err.msg, err.remedy[0] ? " → " : "", err.remedy);
	return ok;
}

static bool host_complete(void *ctx, const char *line, size_t i, char *out, size_t n)
{
	(void)ctx;
	return beside_complete(line, i, out, n);
}

static const char *host_output(void *ctx)
{
	(void)ctx;
	return beside_text();
}

static void host_output_end(void *ctx)
{
	(void)ctx;
	beside_end();
}

static void host_set_param(void *ctx, unsigned param, int64_t value)
{
	lab_param(ctx, param, value);
}

static void host_set_kernel(void *ctx, const struct kernel_desc *k, unsigned variant)
{
	lab_select(ctx, k, variant);
}

static void host_set_gpu(void *ctx, size_t gpu)
{
	if (gpu < gpu_count())
		lab_gpu(ctx, gpu_at(gpu));
}

static void host_set_backend(void *ctx, size_t backend)
{
	if (backend < backend_count())
		lab_backend(ctx, backend_at(backend)->name);
}

static void host_set_launch(void *ctx, uint64_t number)
{
	lab_launch(ctx, number);
}

static void host_set_selection(void *ctx, const struct selection *sel)
{
	lab_selection(ctx, sel);
}

static void host_run(void *ctx)
{
	lab_rerun(ctx);
}

static void host_cancel(void *ctx)
{
	lab_cancel(ctx);
}

static void host_focus(void *ctx)
{
	lab_focus(ctx);
}

/* --- presets and files --- */

static bool host_step(void *ctx, int direction, char *said, size_t n)
{
	struct err err = { 0 };
	const bool ok = lab_tour_step(ctx, direction, &err);
	snprintf(said, n, "%s", ok ? "" : err.msg);
	return ok;
}

static bool host_reveal(void *ctx, char *said, size_t n)
{
	struct err err = { 0 };
	const bool ok = lab_tour_reveal(ctx, &err);
	snprintf(said, n, "%s", ok ? "" : err.msg);
	return ok;
}

/* A program's run as `launches --json` writes it. */
static bool save_program(struct lab *lab, char *name, size_t n, struct err *err)
{
	const struct session *s = lab_session(lab);
	const struct program *p = s->program->now;
	if (!p)
		return err_set(err, ERR_USAGE, "the program has not run yet: there is nothing to write");
	char *const arguments[] = { p->command, NULL };
	char date[32];
	const time_t now = time(NULL);
	struct tm at;
	strftime(date, sizeof date, "%Y%m%d-%H%M%S", localtime_r(&now, &at));
	snprintf(name, n, "%.100s-launches-%.40s-%s.json", s->sel.kernel->name, p->gpu->id, date);
	json_t *o = program_json(p, arguments);
	const struct program_launch *l = program_launch_numbered(p, s->program->launch);
	program_json_counts(o, p);
	program_file_add_session(o, p);
	if (l && s->now && s->now->code)
		program_json_listing(o, &p->kernels[l->kernel], s->now->code);
	char *text = json_dumps(o, JSON_INDENT(2));
	json_decref(o);
	char said[640];
	snprintf(said, sizeof said, "written: %.256s   (pmpp-explore %.256s opens it)", name, name);
	return lab_write(lab, name, text, said, err);
}

static bool host_save(void *ctx, char *said, size_t n)
{
	struct err err = { 0 };
	char name[256];
	const bool ok = lab_session(ctx)->program ? save_program(ctx, name, sizeof name, &err)
	                                          : lab_export(ctx, name, sizeof name, &err);
	if (ok)
		snprintf(said, n, "writing %s", name);
	else
		snprintf(said, n, "%.300s%s%.250s", err.msg, err.remedy[0] ? "; " : "", err.remedy);
	return ok;
}

static bool host_said(void *ctx, char *said, size_t n, bool *bad)
{
	return lab_said(ctx, said, n, bad);
}

/* --- settings --- */

static char *host_settings(void *ctx, char *path, size_t n)
{
	struct err err = { 0 };
	(void)ctx;
	return settings_file_read(path, n, &err);
}

static void host_keep(void *ctx, const struct settings *was, const struct settings *is)
{
	(void)ctx;
	settings_keep(was, is);
}

/* --- lists --- */

/* Kernels are listed variant by variant; of a program its own. */
static const struct kernel_desc *variant_at(struct lab *lab, size_t i, unsigned *variant)
{
	const struct session *s = lab_session(lab);
	if (s->program) {
		*variant = (unsigned)i;
		return i < s->sel.kernel->n_variants ? s->sel.kernel : NULL;
	}
	for (size_t k = 0; k < kernel_count(); k++) {
		const struct kernel_desc *d = kernel_at(k);
		if (i < d->n_variants) {
			*variant = (unsigned)i;
			return d;
		}
		i -= d->n_variants;
	}
	return NULL;
}

static size_t host_choices(void *ctx, enum command list)
{
	const struct session *s = lab_session(ctx);
	size_t n = 0;
	switch (list) {
	case CMD_KERNEL:
		if (s->program)
			return s->sel.kernel->n_variants;
		for (size_t k = 0; k < kernel_count(); k++)
			n += kernel_at(k)->n_variants;
		return n;
	case CMD_GPU: return gpu_count();
	case CMD_BACKEND: return s->program ? 0 : backend_count();
	case CMD_PRESET: return s->program ? 0 : preset_count();
	default: return 0;
	}
}

static void backend_choice(const struct backend_ops *ops, struct choice *out)
{
	const struct backend_status *st = backend_peek(ops);
	snprintf(out->label, sizeof out->label, "%s", ops->name);
	if (!st) {
		snprintf(out->note, sizeof out->note, "not looked for yet: choose it to try");
	} else if (st->usable) {
		snprintf(out->note, sizeof out->note, "%s", st->info.title);
	} else {
		out->enabled = false;
		snprintf(out->why_not, sizeof out->why_not, "%.159s", st->err.msg);
	}
}

static void preset_choice(const struct preset_brief *p, struct choice *out)
{
	out->enabled = !p->why_not[0];
	snprintf(out->label, sizeof out->label, "%s", p->name);
	if (out->enabled)
		snprintf(out->note, sizeof out->note, "%.150s, %u steps (%.60s)", p->title, p->n_steps,
		         p->chapter);
	snprintf(out->why_not, sizeof out->why_not, "%s", p->why_not);
}

static void host_choice_at(void *ctx, enum command list, size_t i, struct choice *out)
{
	const struct selection *sel = &lab_session(ctx)->sel;
	*out = (struct choice){ .enabled = true };
	if (list == CMD_KERNEL) {
		unsigned v;
		const struct kernel_desc *k = variant_at(ctx, i, &v);
		if (!k)
			return;
		out->current = k == sel->kernel && v == sel->variant;
		snprintf(out->label, sizeof out->label, "%s/%s", k->name, k->variants[v].name);
		snprintf(out->note, sizeof out->note, "%.319s", k->variants[v].idea);
	} else if (list == CMD_GPU && i < gpu_count()) {
		const struct gpu_spec *g = gpu_at(i);
		char dram[32];
		out->current = !strcmp(g->id, sel->gpu->id);
		snprintf(out->label, sizeof out->label, "%s", g->id);
		snprintf(out->note, sizeof out->note, "%s, %s, cc %d.%d, %u SMs, %s", g->name, g->arch,
		         g->cc_major, g->cc_minor, g->sm_count, fmt_gb(dram, sizeof dram, g->dram_bytes));
	} else if (list == CMD_BACKEND && i < backend_count()) {
		out->current = !strcmp(backend_at(i)->name, sel->backend);
		backend_choice(backend_at(i), out);
	} else if (list == CMD_PRESET && preset_brief(i)) {
		preset_choice(preset_brief(i), out);
	}
}

static void host_choose(void *ctx, enum command list, size_t i)
{
	if (list == CMD_KERNEL) {
		unsigned v;
		const struct kernel_desc *k = variant_at(ctx, i, &v);
		if (k)
			lab_select(ctx, k, v);
	} else if (list == CMD_GPU) {
		host_set_gpu(ctx, i);
	} else if (list == CMD_BACKEND) {
		host_set_backend(ctx, i);
	} else if (list == CMD_PRESET && i < preset_count()) {
		lab_tour(ctx, preset_name(i), NULL);
	}
}

void tui_host(struct lab *a, struct screen_host *host)
{
	const bool program = lab_session(a)->program != NULL;
	*host = (struct screen_host){
		.ctx = a,
		.session = host_session,
		.edit = host_edit,
		.poll = host_poll,
		.wake_fd = host_wake_fd,
		.set_param = host_set_param,
		.set_kernel = host_set_kernel,
		.set_gpu = host_set_gpu,
		.set_backend = host_set_backend,
		.set_selection = host_set_selection,
		.run = host_run,
		.cancel = host_cancel,
		.focus = host_focus,
		.set_launch = host_set_launch,
		.n_views = program ? program_view_count() : kernel_view_count(),
		.view_at = program ? program_view_at : kernel_view_at,
		.step = host_step,
		.reveal = host_reveal,
		.save = host_save,
		.said = host_said,
		.line = host_line,
		.complete = host_complete,
		.output = host_output,
		.output_end = host_output_end,
		.settings = host_settings,
		.keep = host_keep,
		.choices = host_choices,
		.choice_at = host_choice_at,
		.choose = host_choose,
	};
}
