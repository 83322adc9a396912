/* A launch of a program run again alone: another block, grid or shared memory, other contents, what
 * it leaves behind. */
#include "cli/dump_out.h"
#include "cli/program_start.h"

#include "base/mem.h"
#include "base/text.h"
#include "lab/launch_memory.h"
#include "lab/launch_shape.h"
#include "runtime/sandbox.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_changed(const struct program_options *o)
{
	return o->block || o->grid || o->shared || o->set;
}

bool program_wants_again(const struct program_options *o)
{
	return is_changed(o) || o->dump;
}

/* All that one such run needs. */
struct again {
	const struct program_options *options;
	struct program_family *family;
	struct selection sel;
	struct launch_memory memory;
	struct record_again ask;
	struct dump dump;
	unsigned *buffer; /* of each range that is wanted */
	void **contents;
};

/* A block, a grid or a number of bytes as asked for. */
struct wish {
	int64_t value;     /* of all dimensions; 0 = nothing is asked for */
	unsigned shape[3]; /* of each, where several numbers were given; else zeros */
};

/* "32,8" or "32,8,1". */
static bool read_dimensions(const char *text, struct wish *w)
{
	char copy[64];
	unsigned n = 0;
	if (strlen(text) >= sizeof copy)
		return false;
	memcpy(copy, text, strlen(text) + 1);
	*w = (struct wish){ .value = 1, .shape = { 1, 1, 1 } };
	for (char *at = copy, *next; at; at = next) {
		int64_t v;
		next = strchr(at, ',');
		if (next)
			*next++ = '\0';
		if (n == 3 || !parse_int(at, &v) || v < 1 || v > INT32_MAX / w->value)
			return false;
		w->shape[n++] = (unsigned)v;
		w->value *= v;
	}
	return true;
}

static unsigned param_named(const struct again *a, const char *name)
{
	return (unsigned)kernel_param_index(a->sel.kernel, name);
}

/* What @text asks of the launch's parameter @name; NULL = nothing. */
static bool read_wish(struct again *a, const char *name, const char *text, struct wish *w,
                      struct err *err)
{
	const unsigned i = param_named(a, name);
	*w = (struct wish){ 0 };
	if (!text)
		return true;
	if (strchr(text, ',') && strcmp(name, KERNEL_SHARED) != 0) {
		if (!read_dimensions(text, w)) {
			err_set(err, ERR_USAGE, "option '--%s': '%.60s' is not two or three numbers", name,
			        text);
			return err_remedy(err, "whole numbers from 1: --%s 32,8 or --%s 8,8,4", name, name);
		}
		if (kernel_param_legal(a->sel.kernel, i, w->value, err))
			return true;
	} else if (kernel_param_parse(a->sel.kernel, i, text, &w->value, err)) {
		a->sel.params[i] = w->value;
		return true;
	}
	err_prefix(err, "option '--%s': ", name);
	return err_remedy(err, "numbers: --block 128 --block 32,8 --grid 4 --grid 4,4 --shared 1k");
}

/* A block of a shape of its own: the grid follows in each dimension. */
static bool shape_block(const struct program_kernel *k, const struct program_launch *l,
                        const struct wish *w, struct launch_plan *plan, struct err *err)
{
	if (k->max_threads && w->value > k->max_threads)
		return kernel_refuse(err, KERNEL_BLOCK, w->value,
		                     "__launch_bounds__ of %s allow %u threads", k->name, k->max_threads);
	plan->block = (struct dim3u){ w->shape[0], w->shape[1], w->shape[2] };
	plan->grid = (struct dim3u){ launch_shape_grid(l->grid[0], l->block[0], w->shape[0]),
		                         launch_shape_grid(l->grid[1], l->block[1], w->shape[1]),
		                         launch_shape_grid(l->grid[2], l->block[2], w->shape[2]) };
	return true;
}

/* The launch as it is asked for: @a->ask has its shape, and @a->sel's numbers say so. */
static bool read_shape(struct again *a, const struct program *p, const struct program_launch *l,
                       struct err *err)
{
	const struct program_options *o = a->options;
	struct launch_plan plan = { .entry = NULL };
	struct wish block, grid, shared;
	if (!read_wish(a, KERNEL_BLOCK, o->block, &block, err) ||
	    !read_wish(a, KERNEL_GRID, o->grid, &grid, err) ||
	    !read_wish(a, KERNEL_SHARED, o->shared, &shared, err))
		return false;
	if (!selection_plan(&a->sel, &plan, err)) {
		if (!grid.value || grid.shape[0] || l->grid[1] * l->grid[2] == 1)
			return false;
		return err_remedy(err, "give each dimension: --grid %u,%u", l->grid[0], l->grid[1]);
	}
	if ((block.shape[0] && !shape_block(&p->kernels[l->kernel], l, &block, &plan, err)))
		return false;
	/* the grid follows the block, but not where the launch's own is asked for */
	if (grid.shape[0])
		plan.grid = (struct dim3u){ grid.shape[0], grid.shape[1], grid.shape[2] };
	else if (grid.value && plan.grid.y * plan.grid.z == 1)
		plan.grid.x = (unsigned)grid.value;
	if (!kernel_launch_legal(&plan, err))
		return false;
	const unsigned is[2][3] = { { plan.grid.x, plan.grid.y, plan.grid.z },
		                        { plan.block.x, plan.block.y, plan.block.z } };
	memcpy(a->ask.grid, is[0], sizeof is[0]);
	memcpy(a->ask.block, is[1], sizeof is[1]);
	a->ask.shared_bytes = plan.dynamic_shared_bytes;
	a->sel.params[param_named(a, KERNEL_GRID)] = (int64_t)is[0][0] * is[0][1] * is[0][2];
	a->sel.params[param_named(a, KERNEL_BLOCK)] = (int64_t)is[1][0] * is[1][1] * is[1][2];
	return true;
}

static bool read_wishes(struct again *a, struct err *err)
{
	const struct launch_memory *m = &a->memory;
	bool *named = mem_calloc(m->n + 1u, sizeof *named);
	bool ok = (!a->options->set || launch_memory_set(m, a->options->set, &a->ask, err)) &&
	          dump_names(a->options->dump, m->n, m->buffer, named, err);
	a->buffer = mem_calloc(m->n + 1u, sizeof *a->buffer);
	a->contents = mem_calloc(m->n + 1u, sizeof *a->contents);
	for (unsigned b = 0; b < m->n && ok; b++) {
		if (!named[b])
			continue;
		a->buffer[a->ask.n_wanted] = b;
		ok = launch_memory_want(m, b, &a->ask) ||
		     err_set(err, ERR_USAGE, "option '--dump': no more than %d buffers", RECORD_MAX_RANGES);
	}
	free(named);
	return ok;
}

static void take_dump(struct again *a)
{
	void **data = mem_calloc(a->memory.n + 1u, sizeof *data);
	for (unsigned i = 0; i < a->ask.n_wanted; i++)
		data[a->buffer[i]] = a->contents[i];
	dump_buffers(&a->dump, a->memory.n, a->memory.buffer, data);
	free(data);
	for (unsigned i = 0; i < a->ask.n_wanted; i++)
		if (a->memory.guessed[a->buffer[i]] && !strstr(a->dump.words, "="))
			text_add(&a->dump.shown, "%s: nothing tells its type; --dump %s=i32 takes another\n",
			         a->memory.buffer[a->buffer[i]].name, a->memory.buffer[a->buffer[i]].name);
}

static void free_again(struct again *a)
{
	for (unsigned i = 0; i < a->ask.n_set; i++)
		free((void *)(uintptr_t)a->ask.set[i].data);
	for (unsigned i = 0; a->contents && i < a->ask.n_wanted; i++)
		free(a->contents[i]);
	free(a->contents);
	free(a->buffer);
	launch_memory_free(&a->memory);
	dump_free(&a->dump);
}

static double launch_ns(const struct program *p, uint64_t number)
{
	const struct program_launch *l = program_launch_numbered(p, number);
	return l->span.end_ns - l->span.start_ns;
}

static void print_again(struct cli *c, const struct again *a, const struct program *p,
                        struct program *now, uint64_t number, const struct run_record *r)
{
	const bool changed = is_changed(a->options);
	cli_line_in(c, STYLE_TITLE,
	            changed ? "Launch %" PRIu64 " of %s, again and alone" : "Launch %" PRIu64 " of %s",
	            number, p->command);
	print_record(c, r);
	if (changed)
		cli_line(c, "%.3g us in the program, %.3g us now", launch_ns(p, number) / 1000,
		         launch_ns(now, number) / 1000);
	const struct program *from = changed ? now : p;
	for (size_t i = 0; i < from->n_findings; i++)
		if (from->findings[i].launch == number)
			cli_line(c, "%s: %s\n    %s", from->findings[i].kind, from->findings[i].text,
			         from->findings[i].remedy);
	if (a->dump.shown.len)
		fprintf(c->out, "\nBuffers after the launch:\n%s", a->dump.shown.s);
}

/* Looks, runs, takes; false with the reason. */
static bool run_again(struct again *a, struct program *p, const char *source,
                      const struct program_launch *l, struct program *now, struct err *err)
{
	memset(now, 0, sizeof *now);
	if (sandbox_is_wanted()) {
		err_set(err, ERR_UNSUPPORTED,
		        "a launch in a sandbox cannot be run again: what kept it ends with the sandbox");
		return err_remedy(err,
		                  "leave --sandbox out, or --block, --grid, --shared, --set and --dump");
	}
	if (!read_shape(a, p, l, err) || !launch_memory_look(p, l->number, source, &a->memory, err) ||
	    !read_wishes(a, err))
		return false;
	a->ask.uncounted = !is_changed(a->options);
	if (!program_again(p, l->number, &a->ask, NULL, now, a->contents, err))
		return false;
	a->dump.words = a->options->dump;
	if (a->options->dump)
		take_dump(a);
	return !a->options->dump || a->dump.ok || (*err = a->dump.err, false);
}

int program_show_again(struct cli *c, const struct program_options *o, struct program_family *f,
                       struct program *p, uint64_t number, int status)
{
	struct again a = { .options = o, .family = f, .sel = { .seed = 1, .gpu = p->gpu } };
	struct program now;
	struct err err = { 0 };
	const struct program_launch *l = program_launch_numbered(p, number);
	program_family_select(f, number, &a.sel);
	const char *source = program_family_source(f, p, number);
	if (!run_again(&a, p, source, l, &now, &err)) {
		status = cli_fail(c, &err);
	} else {
		const bool changed = is_changed(o);
		struct run_record *r = program_record(changed ? &now : p, number, &a.sel);
		if (changed && program_errors(&now))
			status = CLI_WRONG;
		if (c->json) {
			json_t *whole = json_record(r);
			if (a.dump.json)
				json_object_set(whole, "buffers", a.dump.json);
			status = cli_emit(c, whole, status);
		} else if (o->csv) {
			print_record_csv(c, r);
		} else {
			print_again(c, &a, p, &now, number, r);
		}
		record_free(r);
	}
	program_free(&now);
	free_again(&a);
	return status;
}
