/* Programs as kernel families; see program_family.h. */
#include "program_family.h"
#include "launch_shape.h"

#include "base/file.h"
#include "base/mem.h"
#include "runtime/program_again.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SOURCE_BYTES ((size_t)16 << 20)
enum {
	PARAM_LAUNCH_NUMBER,
	PARAM_BLOCK_THREADS,
	PARAM_GRID_BLOCKS,
	PARAM_SHARED_BYTES,
	PARAM_MACROS,
};

/* As a parameter's variants: none has it. A program has launches to turn when one run has ended. */
#define NO_LAUNCH_YET (1u << (KERNEL_MAX_VARIANTS - 1))

/* A file's text as it was when its program was built. */
struct text_of_file {
	char *path, *text;
	uint64_t run; /* of the family's programs: 1, 2, ... */
};

struct program_family {
	struct kernel_desc desc; /* first: kernel_desc to family */
	char *name, *file;
	struct variant_desc *variants;
	unsigned n_variants;
	struct param_desc params[PARAM_MACROS + PROGRAM_MACROS];
	struct program_macro macros[PROGRAM_MACROS];
	unsigned n_macros;
	int64_t *numbers; /* of all launches, for + and - */
	const struct program *program;
	int64_t followed; /* the grid that the last change of the block brought */
	uint64_t run;
	struct text_of_file *texts;
	unsigned n_texts;
	struct program_family *made_before;
};

static struct program_family *made_last; /* all of them, for as long as the program lasts */

static unsigned threads_of(const struct program_launch *l)
{
	return l->block[0] * l->block[1] * l->block[2];
}

static int64_t blocks_of(const struct program_launch *l)
{
	return (int64_t)l->grid[0] * l->grid[1] * l->grid[2];
}

/* Another block size: the grid follows, so that at least as many threads start. */
static bool change_block(const struct program *p, const struct program_launch *l, int64_t threads,
                         struct launch_plan *plan, struct err *err)
{
	const struct program_kernel *k = &p->kernels[l->kernel];
	if (threads == threads_of(l))
		return true;
	unsigned block[3];
	if (!launch_shape_block(l->block, (unsigned)threads, block))
		return kernel_refuse(err, KERNEL_BLOCK, threads, "the block is %u deep in z", l->block[2]);
	if (k->max_threads && threads > k->max_threads)
		return kernel_refuse(err, KERNEL_BLOCK, threads, "__launch_bounds__ of %s allow %u threads",
		                     k->name, k->max_threads);
	plan->block.x = block[0];
	plan->block.y = block[1];
	plan->grid.x = launch_shape_grid(l->grid[0], l->block[0], block[0]);
	plan->grid.y = launch_shape_grid(l->grid[1], l->block[1], block[1]);
	return true;
}

static int64_t blocks_planned(const struct launch_plan *plan)
{
	return (int64_t)plan->grid.x * plan->grid.y * plan->grid.z;
}

static bool change_grid(const struct program_launch *l, int64_t blocks, struct launch_plan *plan,
                        struct err *err)
{
	if (blocks == blocks_of(l) || blocks == blocks_planned(plan))
		return true;
	if (l->grid[1] * l->grid[2] != 1)
		return kernel_refuse(err, KERNEL_GRID, blocks,
		                     "only a grid of one dimension can be changed");
	plan->grid.x = (uint32_t)blocks;
	return true;
}

static bool change_shared(const struct program *p, const struct program_launch *l, int64_t bytes,
                          struct launch_plan *plan, struct err *err)
{
	const unsigned own = p->kernels[l->kernel].static_shared_bytes;
	const unsigned most = p->gpu->smem_per_block_optin_bytes;
	if (bytes != l->dynamic_shared_bytes && bytes + own > most)
		return kernel_refuse(
			err, KERNEL_SHARED, bytes,
			"with %u bytes of the kernel's own that is more than the %u of a block", own, most);
	plan->dynamic_shared_bytes = (uint32_t)bytes;
	return true;
}

static bool is_changed(const struct program_launch *l, const int64_t *params)
{
	return params[PARAM_BLOCK_THREADS] != threads_of(l) ||
	       params[PARAM_GRID_BLOCKS] != blocks_of(l) ||
	       params[PARAM_SHARED_BYTES] != l->dynamic_shared_bytes;
}

static bool plan_launch(const struct kernel_desc *k, const int64_t *params,
                        struct launch_plan *plan, struct err *err)
{
	const struct program_family *f = (const struct program_family *)(const void *)k;
	const struct program_launch *l =
		f->program ? program_launch_numbered(f->program, (uint64_t)params[PARAM_LAUNCH_NUMBER])
				   : NULL;
	if (!l)
		return err_set(err, ERR_USAGE, "the program has no launch %lld",
		               (long long)params[PARAM_LAUNCH_NUMBER]);
	*plan = (struct launch_plan){
		.entry = f->program->kernels[l->kernel].mangled,
		.grid = { l->grid[0], l->grid[1], l->grid[2] },
		.block = { l->block[0], l->block[1], l->block[2] },
		.dynamic_shared_bytes = l->dynamic_shared_bytes,
	};
	if (!is_changed(l, params))
		return true;
	if (!change_block(f->program, l, params[PARAM_BLOCK_THREADS], plan, err) ||
	    !change_grid(l, params[PARAM_GRID_BLOCKS], plan, err) ||
	    !change_shared(f->program, l, params[PARAM_SHARED_BYTES], plan, err))
		return false;
	if (program_kept(f->program, l->number))
		return true;
	if (f->program->from_file)
		return kernel_refuse(err, "launch", params[PARAM_LAUNCH_NUMBER],
		                     "a file holds no launch's memory; the program itself is run again");
	if (f->program->time_origin == ORIGIN_MEASURED)
		return kernel_refuse(err, "launch", params[PARAM_LAUNCH_NUMBER],
		                     "on a GPU no launch is kept; the emulator keeps them: --backend emu");
	return kernel_refuse(err, "launch", params[PARAM_LAUNCH_NUMBER],
	                     "this launch was not kept: only the first of a group, and not all");
}

static void no_contents(const struct launch_plan *plan, const int64_t *params, unsigned b,
                        uint64_t seed, void *data)
{
	(void)plan;
	(void)params;
	(void)b;
	(void)seed;
	(void)data;
}

/* What the algorithm needs is the person's to know. */
static void no_cost(unsigned variant, const struct launch_plan *plan, const int64_t *params,
                    struct kernel_cost *cost)
{
	(void)variant;
	(void)plan;
	(void)params;
	*cost = (struct kernel_cost){ 0 };
}

static const int64_t shared_steps[] = { 0,     1024,  2048,   4096,   8192,   16384,    32768,
	                                    49152, 65536, 101376, 166912, 232448, INT64_MIN };

/* What the program is compiled with: another value means another program. */
static void add_macros(struct program_family *f, const struct program_words *words)
{
	f->n_macros = program_macros(words, f->macros);
	for (unsigned i = 0; i < f->n_macros; i++)
		f->params[PARAM_MACROS + i] = (struct param_desc){
			.name = f->macros[i].name,
			.title = "a macro; the program is compiled and run again",
			.unit = "",
			.kind = PARAM_COMPILE,
			.role = PARAM_PLAIN,
			.def = f->macros[i].def,
			.min = INT32_MIN,
			.max = INT32_MAX,
		};
}

bool program_family_recompile(struct program_family *f, const struct selection *sel,
                              struct program_words *words)
{
	bool any = false;
	for (unsigned i = 0; i < f->n_macros; i++) {
		struct program_macro *const m = &f->macros[i];
		if (sel->params[PARAM_MACROS + i] == m->value)
			continue;
		any = true;
		m->value = sel->params[PARAM_MACROS + i];
		program_macros_set(words, m->name, m->value);
	}
	return any;
}

static void put_macros(const struct program_family *f, struct selection *sel)
{
	for (unsigned i = 0; i < f->n_macros; i++)
		sel->params[PARAM_MACROS + i] = f->macros[i].value;
}

struct program_family *program_family_new(const struct program_words *words)
{
	struct program_family *f = mem_zalloc(sizeof *f);
	char name[200];
	program_words_name(words, name, sizeof name);
	f->made_before = made_last;
	made_last = f;
	f->name = mem_strdup(name);
	add_macros(f, words);
	f->variants = mem_calloc(1, sizeof *f->variants);
	f->variants[0] = (struct variant_desc){ .name = "", .entry = "", .title = "", .idea = "" };
	f->params[PARAM_BLOCK_THREADS] = (struct param_desc){
		.name = KERNEL_BLOCK,
		.variants = NO_LAUNCH_YET,
		.title = "threads per block of this launch alone",
		.unit = "threads",
		.kind = PARAM_LAUNCH,
		.role = PARAM_BLOCK,
		.def = 256,
		.min = 1,
		.max = 1024,
	};
	f->params[PARAM_GRID_BLOCKS] = (struct param_desc){
		.name = KERNEL_GRID,
		.variants = NO_LAUNCH_YET,
		.title = "blocks of the grid, where it has one dimension",
		.unit = "",
		.kind = PARAM_LAUNCH,
		.role = PARAM_PLAIN,
		.def = 1,
		.min = 1,
		.max = 2147483647,
	};
	f->params[PARAM_SHARED_BYTES] = (struct param_desc){
		.name = KERNEL_SHARED,
		.variants = NO_LAUNCH_YET,
		.title = "dynamic shared memory of a block",
		.unit = "bytes",
		.kind = PARAM_LAUNCH,
		.role = PARAM_PLAIN,
		.min = 0,
		.max = 1 << 20,
		.steps = shared_steps,
	};
	f->params[PARAM_LAUNCH_NUMBER] = (struct param_desc){
		.name = "launch",
		.variants = NO_LAUNCH_YET,
		.title = "number of the launch",
		.unit = "",
		.kind = PARAM_LAUNCH,
		.role = PARAM_KNOB,
		.def = 1,
		.min = 1,
		.max = 1,
	};
	f->desc = (struct kernel_desc){
		.name = f->name,
		.title = "a program of your own",
		.section = "",
		.about = "",
		.n_params = PARAM_MACROS + f->n_macros,
		.params = f->params,
		.n_variants = 1,
		.variants = f->variants,
		.fill = no_contents,
		.cost = no_cost,
		.source = "",
		.file = f->name,
		.plan_user = plan_launch,
	};
	return f;
}

const struct kernel_desc *program_family_kernel(const struct program_family *f)
{
	return &f->desc;
}

bool program_family_is(const struct kernel_desc *k)
{
	return k && k->plan_user == plan_launch;
}

/* A kernel keeps its place over the program's versions; new ones come behind. */
static unsigned variant_of(struct program_family *f, const struct program_kernel *k)
{
	for (unsigned v = 0; v < f->n_variants; v++)
		if (!strcmp(f->variants[v].entry, k->mangled))
			return v;
	struct variant_desc *more = mem_calloc(f->n_variants + 1u, sizeof *more);
	memcpy(more, f->variants, f->n_variants * sizeof *more);
	more[f->n_variants] = (struct variant_desc){
		.name = mem_strdup(k->name),
		.entry = mem_strdup(k->mangled),
		.title = mem_strdup(k->signature),
		.idea = "",
		.section = "your program",
	};
	free(f->variants);
	f->desc.variants = f->variants = more;
	f->desc.n_variants = ++f->n_variants;
	return f->n_variants - 1;
}

void program_family_follow(struct program_family *f, const struct program *p)
{
	f->program = p;
	f->run++;
	if (!p)
		return;
	free(f->numbers);
	f->numbers = mem_calloc(p->n_launches + 1, sizeof *f->numbers);
	for (size_t i = 0; i < p->n_launches; i++)
		f->numbers[i] = (int64_t)p->launches[i].number;
	f->numbers[p->n_launches] = INT64_MIN;
	for (unsigned i = 0; i < PARAM_MACROS; i++)
		f->params[i].variants = p->n_launches ? 0 : NO_LAUNCH_YET;
	f->params[PARAM_LAUNCH_NUMBER].steps = f->numbers;
	f->params[PARAM_LAUNCH_NUMBER].max = p->n_launches ? f->numbers[p->n_launches - 1] : 1;
	for (unsigned k = 0; k < p->n_kernels; k++)
		variant_of(f, &p->kernels[k]);
}

bool program_family_select(struct program_family *f, uint64_t number, struct selection *sel)
{
	const struct program_launch *l =
		f->program && number ? program_launch_numbered(f->program, number) : NULL;
	sel->kernel = &f->desc;
	put_macros(f, sel);
	if (!l)
		return false;
	sel->variant = variant_of(f, &f->program->kernels[l->kernel]);
	/* what the launch had is what its parameters go back to */
	sel->params[PARAM_LAUNCH_NUMBER] = (int64_t)l->number;
	sel->params[PARAM_BLOCK_THREADS] = f->params[PARAM_BLOCK_THREADS].def = threads_of(l);
	sel->params[PARAM_GRID_BLOCKS] = f->params[PARAM_GRID_BLOCKS].def = blocks_of(l);
	sel->params[PARAM_SHARED_BYTES] = f->params[PARAM_SHARED_BYTES].def = l->dynamic_shared_bytes;
	return l->number == number;
}

bool program_family_changed(const struct program_family *f, const struct selection *sel)
{
	const uint64_t number = program_family_launch(sel);
	const struct program_launch *l =
		f->program ? program_launch_numbered(f->program, number) : NULL;
	return l && is_changed(l, sel->params);
}

void program_family_settle(struct program_family *f, struct selection *sel)
{
	const uint64_t number = program_family_launch(sel);
	const struct program_launch *l =
		f->program ? program_launch_numbered(f->program, number) : NULL;
	int64_t *grid = &sel->params[PARAM_GRID_BLOCKS];
	struct launch_plan plan;
	if (!l || (*grid != f->followed && *grid != blocks_of(l)))
		return;
	*grid = blocks_of(l);
	if (plan_launch(&f->desc, sel->params, &plan, NULL))
		*grid = blocks_planned(&plan);
	f->followed = *grid;
}

uint64_t program_family_launch(const struct selection *sel)
{
	return (uint64_t)sel->params[PARAM_LAUNCH_NUMBER];
}

const char *program_family_source(struct program_family *f, const struct program *p,
                                  uint64_t number)
{
	const struct program_launch *l = number ? program_launch_numbered(p, number) : NULL;
	const char *path = l ? p->kernels[l->kernel].file : "";
	struct text text = { 0 };
	f->desc.source = "";
	if (!*path)
		return "";
	for (unsigned i = 0; i < p->n_texts; i++)
		if (!strcmp(p->texts[i].file, path))
			return f->desc.source = p->texts[i].text;
	for (unsigned i = f->n_texts; i--;)
		if (f->texts[i].run == f->run && !strcmp(f->texts[i].path, path))
			return f->desc.source = f->texts[i].text;
	file_read(path, MAX_SOURCE_BYTES, &text, NULL);
	f->texts = mem_realloc(f->texts, f->n_texts + 1u, sizeof *f->texts);
	f->texts[f->n_texts] = (struct text_of_file){ .path = mem_strdup(path),
		                                          .text = text.s ? text.s : mem_strdup(""),
		                                          .run = f->run };
	return f->desc.source = f->texts[f->n_texts++].text;
}
