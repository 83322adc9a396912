/* A launch of a program run again alone: another block, grid or shared memory, other contents, what
 * it leaves behind. */
#include "cli/dump_out.h"
#include "cli/program_start.h"

#include "base/mem.h"
#include "lab/launch_memory.h"
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

/* The value of the launch's parameter @name, where one is asked for. */
static bool read_value(struct again *a, const char *name, const char *text, int64_t *value,
                       struct err *err)
{
	*value = 0;
	if (!text)
		return true;
	for (unsigned i = 0; i < a->sel.kernel->n_params; i++) {
		if (strcmp(a->sel.kernel->params[i].name, name) != 0)
			continue;
		if (!kernel_param_parse(a->sel.kernel, i, text, value, err)) {
			err_prefix(err, "option '--%s': ", name);
			return err_remedy(err, "one number: --block 128 --grid 4 --shared 1k");
		}
		a->sel.params[i] = *value;
	}
	return true;
}

/* What is asked for; its legality is the family's. */
static bool read_shape(struct again *a, const struct program_launch *l, struct err *err)
{
	const struct program_options *o = a->options;
	struct launch_plan plan = { .entry = NULL };
	int64_t threads, blocks, bytes;
	memcpy(a->ask.grid, l->grid, sizeof l->grid);
	memcpy(a->ask.block, l->block, sizeof l->block);
	a->ask.shared_bytes = l->dynamic_shared_bytes;
	if (!read_value(a, KERNEL_BLOCK, o->block, &threads, err) ||
	    !read_value(a, KERNEL_GRID, o->grid, &blocks, err) ||
	    !read_value(a, KERNEL_SHARED, o->shared, &bytes, err) ||
	    !selection_plan(&a->sel, &plan, err))
		return false;
	if (!blocks)
		program_family_settle(a->family, &a->sel);
	/* the grid follows the block, but not where the launch's own is asked for */
	const bool asked = blocks && plan.grid.y * plan.grid.z == 1;
	const unsigned grid[] = { asked ? (unsigned)blocks : plan.grid.x, plan.grid.y, plan.grid.z };
	const unsigned block[] = { plan.block.x, plan.block.y, plan.block.z };
	memcpy(a->ask.grid, grid, sizeof grid);
	memcpy(a->ask.block, block, sizeof block);
	a->ask.shared_bytes = plan.dynamic_shared_bytes;
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
	if (!read_shape(a, l, err) || !launch_memory_look(p, l->number, source, &a->memory, err) ||
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
