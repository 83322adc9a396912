/* Two programs, or two runs of one, kernel by kernel: grid and block, launches, time, traffic. */
#include "cli/program_out.h"
#include "cli/program_start.h"
#include "lab/program_file.h"

#include "base/file.h"
#include "base/mem.h"
#include "model/program_session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAME_RELATIVE 1e-9 /* modelled times repeat; more is a change */

struct side {
	const char *name;
	struct program program;
	struct program_words words;
};

/* A group of either side with what stands against it on the other; one of them may be NULL. */
struct pair {
	const struct program_group *a, *b;
};

bool program_is_side(const char *word)
{
	struct text t = { 0 };
	if (program_words_begin(word))
		return true;
	const bool is = !word_names_kernel(word) && file_looks_like_path(word, ".json") &&
	                file_read(word, (size_t)256 << 20, &t, NULL) && t.s &&
	                strstr(t.s, "\"launches\": [");
	text_free(&t);
	return is;
}

static bool open_side(struct side *x, const char *gpu, unsigned n, char **rest, struct err *err)
{
	if (program_file_is(x->name) || !program_words_begin(x->name))
		return program_file_read(x->name, &x->program, err);
	const struct program_options o = { .gpu = gpu, .backend = "emu", .count = 1 };
	char **args = mem_calloc(n + 2u, sizeof *args);
	args[0] = (char *)(uintptr_t)x->name;
	memcpy(args + 1, rest, n * sizeof *args);
	const bool ok = program_start(&o, n + 1, args, true, &x->words, &x->program, err);
	free(args);
	return ok;
}

static bool same(double a, double b)
{
	return a == b || fabs(a - b) <= SAME_RELATIVE * fmax(fabs(a), fabs(b));
}

static bool is_same(const struct pair *x)
{
	return x->a && x->b && x->a->launches == x->b->launches &&
	       same(x->a->total_ns, x->b->total_ns) && same(x->a->dram_bytes, x->b->dram_bytes) &&
	       !memcmp(x->a->grid, x->b->grid, sizeof x->a->grid) &&
	       !memcmp(x->a->block, x->b->block, sizeof x->a->block);
}

/* Those of B by time, then those that only A has. */
static size_t make_pairs(const struct program *a, const struct program *b, struct pair *out)
{
	size_t n = 0;
	for (size_t i = 0; i < b->n_groups; i++)
		out[n++] = (struct pair){ program_group_before(b, &b->groups[i], a), &b->groups[i] };
	const size_t of_b = n;
	for (size_t i = 0; i < a->n_groups; i++) {
		bool taken = false;
		for (size_t k = 0; k < of_b; k++)
			taken |= out[k].a == &a->groups[i];
		if (!taken)
			out[n++] = (struct pair){ &a->groups[i], NULL };
	}
	return n;
}

/* --- forms --- */

static void shape(const struct program_group *g, char *out, size_t n)
{
	if (g)
		snprintf(out, n, "%ux%ux%u %ux%ux%u", g->grid[0], g->grid[1], g->grid[2], g->block[0],
		         g->block[1], g->block[2]);
	else
		snprintf(out, n, "-");
}

static double each_ns(const struct program_group *g)
{
	return g && g->launches ? g->total_ns / (double)g->launches : NAN;
}

static void bytes_text(const struct program_group *g, char *out, size_t n)
{
	if (!g)
		snprintf(out, n, "-");
	else if (g->dram_bytes < 0)
		snprintf(out, n, "n/a");
	else
		fmt_bytes(out, n, g->dram_bytes / (double)g->launches);
}

static void print_side(FILE *f, const struct side *x, char letter)
{
	char ns[32];
	fprintf(f, "%c  %s: ", letter, x->name);
	cli_say(f, STYLE_NORMAL, "%zu launches, %s on %s ~, exit %d\n", x->program.n_launches,
	        fmt_ns(ns, sizeof ns, x->program.gpu_ns), x->program.gpu->name, x->program.exit_status);
}

static void print_pairs(struct cli *c, const struct side side[2], const struct pair *all, size_t n)
{
	struct table t = { .cols = 10,
		               .said = true,
		               .head = true,
		               .names = { true, true, true },
		               .looks = { STYLE_BOLD },
		               .right = { [3] = true,
		                          [4] = true,
		                          [5] = true,
		                          [6] = true,
		                          [7] = true,
		                          [8] = true,
		                          [9] = true } };
	print_side(c->out, &side[0], 'A');
	print_side(c->out, &side[1], 'B');
	table_row(&t, "kernel", "A grid block", "B grid block", "n A", "n B", "each A", "each B", "A/B",
	          "DRAM each A", "DRAM each B");
	for (size_t i = 0; i < n; i++) {
		const struct pair *x = &all[i];
		const struct program *p = x->b ? &side[1].program : &side[0].program;
		char text[9][64];
		shape(x->a, text[0], sizeof text[0]);
		shape(x->b, text[1], sizeof text[1]);
		for (unsigned k = 0; k < 2; k++) {
			const struct program_group *g = k ? x->b : x->a;
			if (g) {
				fmt_count(text[2 + k], sizeof text[0], (double)g->launches);
				fmt_ns(text[4 + k], sizeof text[0], each_ns(g));
			} else {
				snprintf(text[2 + k], sizeof text[0], "-");
				snprintf(text[4 + k], sizeof text[0], "-");
			}
			bytes_text(g, text[7 + k], sizeof text[0]);
		}
		const double ratio = each_ns(x->a) / each_ns(x->b);
		if (isfinite(ratio))
			fmt_num(text[6], sizeof text[6], ratio, 3);
		else
			snprintf(text[6], sizeof text[6], x->a ? "gone" : "new");
		char name[PROGRAM_NAME_BYTES];
		program_kernel_name(c, p->kernels[(x->b ? x->b : x->a)->kernel].name, name);
		table_row(&t, name, text[0], text[1], text[2], text[3], text[4], text[5], text[6], text[7],
		          text[8]);
		if (!isfinite(ratio))
			table_style(&t, 7, STYLE_WATCH);
		else if (!same(ratio, 1))
			table_style(&t, 7, ratio > 1 ? STYLE_GOOD : STYLE_BAD);
	}
	table_print(&t, c->out, "");
}

static json_t *json_group(const struct program_group *g)
{
	if (!g)
		return json_null();
	return json_pack("{s:[i,i,i], s:[i,i,i], s:I, s:f, s:o, s:s}", "grid", (int)g->grid[0],
	                 (int)g->grid[1], (int)g->grid[2], "block", (int)g->block[0], (int)g->block[1],
	                 (int)g->block[2], "launches", (json_int_t)g->launches, "total_ns", g->total_ns,
	                 "dram_bytes", g->dram_bytes < 0 ? json_null() : json_real(g->dram_bytes),
	                 "limited_by", g->bound);
}

static json_t *json_pairs(const struct side side[2], const struct pair *all, size_t n, bool moved)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++) {
		const struct program *p = all[i].b ? &side[1].program : &side[0].program;
		const struct program_group *g = all[i].b ? all[i].b : all[i].a;
		json_array_append_new(list,
		                      json_pack("{s:s, s:b, s:o, s:o}", "kernel",
		                                p->kernels[g->kernel].name, "same", is_same(&all[i]), "a",
		                                json_group(all[i].a), "b", json_group(all[i].b)));
	}
	return json_pack("{s:s, s:s, s:s, s:b, s:o}", "schema", CLI_SCHEMA, "a", side[0].name, "b",
	                 side[1].name, "same", !moved, "kernels", list);
}

/* --- all of it --- */

static void close_side(struct side *x)
{
	program_free(&x->program);
	program_words_free(&x->words);
}

int program_diff(struct cli *c, const char *gpu, unsigned n, char **args)
{
	struct err err = { 0 };
	struct side side[2] = { { .name = args[0] }, { .name = args[1] } };
	int status = 0;
	for (unsigned i = 0; i < 2 && !status; i++)
		if (!open_side(&side[i], gpu, n - 2, args + 2, &err)) {
			cli_fail(c, &err);
			status = 2;
		}
	if (!status) {
		const struct program *a = &side[0].program, *b = &side[1].program;
		struct pair *all = mem_calloc(a->n_groups + b->n_groups + 1, sizeof *all);
		const size_t pairs = make_pairs(a, b, all);
		for (size_t i = 0; i < pairs; i++)
			status |= !is_same(&all[i]);
		if (c->json)
			status = cli_emit(c, json_pairs(side, all, pairs, status), status);
		else
			print_pairs(c, side, all, pairs);
		free(all);
	}
	close_side(&side[0]);
	close_side(&side[1]);
	return status;
}
