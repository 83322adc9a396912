/*
 * The table of a program's launches: a row for each kernel, grid and block.
 *
 * In a long table the rows of a kernel that was launched in many ways say little each: its longest
 * stay, and those with faults; the others are one row.
 */
#include "cli/program_out.h"

#include "base/mem.h"
#include "base/scopeless.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_TABLE 40 /* rows */
#define KEPT_LONGEST 5
#define KEPT_FAULTY 5

/* Some groups of one kernel. */
struct row {
	unsigned kernel;
	size_t groups; /* how many */
	const struct program_group *only;
	uint64_t launches;
	double total_ns, dram_bytes; /* dram_bytes: negative = not known */
	const char *bound;           /* "" = not the same of all */
	unsigned flags;
};

struct rows {
	size_t n, folded; /* rows; groups that have none of their own */
	struct row *of;
};

void program_kernel_name(const struct cli *c, const char *whole, char out[PROGRAM_NAME_BYTES])
{
	char short_of[512];
	whole = scopeless(whole, PROGRAM_NAME_COLUMNS, short_of, sizeof short_of);
	snprintf(out, PROGRAM_NAME_BYTES, "%.*s%s", PROGRAM_NAME_COLUMNS, whole,
	         strlen(whole) <= PROGRAM_NAME_COLUMNS ? ""
	         : c->utf8                             ? "…"
	                                               : "...");
}

static bool is_faulty(const struct program_group *g)
{
	return g->flags &
	       (1u << PROGRAM_FLAG_FAILED | 1u << PROGRAM_FLAG_FAULT | 1u << PROGRAM_FLAG_RACE);
}

static struct row row_of(const struct program_group *g)
{
	return (struct row){
		.kernel = g->kernel,
		.groups = 1,
		.only = g,
		.launches = g->launches,
		.total_ns = g->total_ns,
		.dram_bytes = g->dram_bytes,
		.bound = g->bound,
		.flags = g->flags,
	};
}

static void join(struct row *r, const struct program_group *g)
{
	r->groups++;
	r->only = NULL;
	r->launches += g->launches;
	r->total_ns += g->total_ns;
	r->dram_bytes = r->dram_bytes < 0 || g->dram_bytes < 0 ? -1 : r->dram_bytes + g->dram_bytes;
	if (strcmp(r->bound, g->bound) != 0)
		r->bound = "";
	r->flags |= g->flags;
}

/* The groups are in order of their time, the longest first; a row of several stands where the
 * first of them would. */
static struct rows rows_of(const struct program *p, bool all)
{
	struct rows rows = { .of = mem_calloc(p->n_groups + 1, sizeof *rows.of) };
	unsigned *longest = mem_calloc(p->n_kernels + 1, sizeof *longest);
	unsigned *faulty = mem_calloc(p->n_kernels + 1, sizeof *faulty);
	size_t *folded = mem_calloc(p->n_kernels + 1, sizeof *folded); /* its row, from 1; 0 = none */
	for (size_t i = 0; i < p->n_groups; i++) {
		const struct program_group *g = &p->groups[i];
		const unsigned k = g->kernel;
		const bool own = all || p->n_groups <= LONG_TABLE || longest[k]++ < KEPT_LONGEST ||
		                 (is_faulty(g) && faulty[k]++ < KEPT_FAULTY);
		if (!own && folded[k]) {
			rows.folded += rows.of[folded[k] - 1].groups == 1 ? 2 : 1;
			join(&rows.of[folded[k] - 1], g);
			continue;
		}
		rows.of[rows.n++] = row_of(g);
		if (!own)
			folded[k] = rows.n;
	}
	free(longest);
	free(faulty);
	free(folded);
	return rows;
}

static void print_row(struct cli *c, struct table *t, const struct program *p, const struct row *r)
{
	const char *times = c->utf8 ? "×" : "x";
	char name[PROGRAM_NAME_BYTES], first[24] = "", grid[64], block[64], shape[160], n[24],
								   total[32], share[16], dram[32], flags[96];
	if (r->only) {
		program_dimensions(r->only->grid, times, grid, sizeof grid);
		program_dimensions(r->only->block, times, block, sizeof block);
		snprintf(shape, sizeof shape, "%s %s %s", grid, c->utf8 ? "·" : "x", block);
		snprintf(first, sizeof first, "%" PRIu64, r->only->first);
	} else {
		snprintf(shape, sizeof shape, "+ %zu", r->groups);
	}
	snprintf(n, sizeof n, "%" PRIu64, r->launches);
	snprintf(share, sizeof share, "%.1f %%", p->gpu_ns > 0 ? 100 * r->total_ns / p->gpu_ns : 0);
	if (r->dram_bytes < 0)
		snprintf(dram, sizeof dram, "n/a");
	else
		fmt_bytes(dram, sizeof dram, r->dram_bytes);
	program_flag_words(r->flags, flags, sizeof flags);
	program_kernel_name(c, p->kernels[r->kernel].name, name);
	table_row(t, first, name, shape, n, fmt_ns(total, sizeof total, r->total_ns), share, dram,
	          r->bound, flags);
}

void program_print_groups(struct cli *c, FILE *f, const struct program *p, bool all)
{
	struct table t = { .cols = 9,
		               .said = true,
		               .head = true,
		               .names = { [1] = true, true },
		               .right = { [0] = true, [3] = true, [4] = true, [5] = true, [6] = true },
		               .looks = { STYLE_DIM, STYLE_BOLD, STYLE_NORMAL, STYLE_NORMAL, STYLE_BOLD,
		                          STYLE_NORMAL, STYLE_NORMAL, STYLE_NORMAL, STYLE_WATCH } };
	struct rows rows = rows_of(p, all);
	table_row(&t, "#", "kernel", "grid block", "n", "total", "share", "DRAM", "limited by",
	          "flags");
	for (size_t i = 0; i < rows.n; i++)
		print_row(c, &t, p, &rows.of[i]);
	table_print(&t, f, "  ");
	if (rows.folded)
		cli_say(f, STYLE_DIM,
		        "  + N: N more grids and blocks of that kernel in one row; --all shows each\n");
	free(rows.of);
}
