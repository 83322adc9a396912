/*
 * The lens of one memory instruction of a warp: the 32 addresses, the sectors or banks they fall
 * into, what is wasted, and the cure. See view.h.
 *
 * Sectors and banks as at the top of model/counts.h; the access is taken apart by
 * model/access_shape.h.
 */
#include "ui/view.h"

#include "base/text.h"
#include "model/access_shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LEFT 10 /* column of the first lane, sector or bank */

void panel_bytes(uint64_t n, char *out, size_t size)
{
	if (n >= 1048576 && n % 1048576 == 0)
		snprintf(out, size, "%" PRIu64 "M", n >> 20);
	else if (n >= 1024 && n % 1024 == 0)
		snprintf(out, size, "%" PRIu64 "K", n >> 10);
	else if (n >= 100000)
		snprintf(out, size, "%.0fK", (double)n / 1024);
	else
		snprintf(out, size, "%" PRIu64, n);
}

static const char *cure(const struct access_shape *sh, const struct access_sample *a,
                        const struct bank_use *b)
{
	if (a->shared) {
		if (!b->conflict)
			return b->passes > 1 ? "no bank conflict: wide accesses go by halves or quarters "
			                       "of the warp"
			                     : "no bank conflict: every bank serves at most one word";
		return "cure: pad each row by one word ([T][T+1]) or swizzle the column, so that "
			   "the lanes "
			   "fall into different banks";
	}
	switch (sh->pattern) {
	case ACCESS_ONE_LANE:
		return "one lane works: one sector for a few bytes; let the whole warp load";
	case ACCESS_BROADCAST: return "one address for all lanes: one sector serves the warp";
	case ACCESS_GROUPS:
		return sh->n_sectors <= 2 ? "good: a few addresses, each of them for a group of lanes"
		                          : "each address is one sector for a group of lanes: lay the "
		                            "few values side by side, or let a block cover fewer rows";
	case ACCESS_CONTIGUOUS: return "ideal: neighbouring lanes, neighbouring addresses";
	case ACCESS_MISALIGNED:
		return "cure: start rows on a 32-byte boundary (pad the pitch), or accept one "
			   "sector more";
	case ACCESS_LANES_OFF:
		return "neighbours, but lanes in between are switched off: let whole warps take one way";
	case ACCESS_STRIDED:
		return sh->stride == 2 * a->bytes_per_lane || sh->stride == 3 * a->bytes_per_lane ||
		               sh->stride == 4 * a->bytes_per_lane
		           ? "cure: neighbouring lanes should take neighbouring elements; of "
		             "structures, load whole ones or split them (PMPP 6.1)"
		           : "cure: let threadIdx.x index the dimension that is contiguous, or "
		             "load a tile "
		             "through shared memory (PMPP 6.1, 6.2)";
	case ACCESS_COLUMNS:
		return "cure: a column walk: let neighbouring lanes take neighbouring elements "
			   "(PMPP 6.1), or load a tile through shared memory (6.2)";
	case ACCESS_RUNS:
		return sh->n_sectors <= sh->needed_sectors
		           ? "good: every run fills whole sectors"
		           : "cure: longer runs; a wider block in x puts more lanes on one row";
	case ACCESS_SCATTERED: return "cure: sort the indices, or gather through shared memory";
	}
	return "";
}

const char *panel_cure(const struct access_sample *a)
{
	const struct access_shape sh = access_shape(a);
	const struct bank_use b = access_banks(a);
	return cure(&sh, a, &b);
}

/* Lanes to a row, and columns of each. */
struct lane_grid {
	int per_row, cell;
};

static struct lane_grid lane_grid_of(const struct canvas *c, const struct access_sample *a,
                                     uint64_t base)
{
	struct lane_grid g = { .cell = 5 };
	for (int i = 0; i < 32; i++) {
		char text[32];
		panel_bytes(a->offset[i] - base, text, sizeof text);
		if ((a->mask >> i & 1) && (int)strlen(text) + 2 > g.cell)
			g.cell = (int)strlen(text) + 2;
	}
	const int fit = (c->cols - LEFT) / g.cell;
	g.per_row = fit >= 16 ? 16 : fit >= 8 ? 8 : fit >= 4 ? 4 : fit;
	return g;
}

/* The offsets of lanes @first ... in one row. */
static void offsets(struct canvas *c, int row, const struct access_sample *a, uint64_t base,
                    const struct lane_grid *g, int first)
{
	for (int i = first; i < first + g->per_row && i < 32; i++) {
		char text[32];
		const int right = LEFT + (i - first + 1) * g->cell - 1;
		panel_bytes(a->offset[i] - base, text, sizeof text);
		if (a->mask >> i & 1)
			canvas_right(c, row, right, STYLE_NORMAL, "+%s", text);
		else
			canvas_right(c, row, right, STYLE_DIM, "–");
	}
}

/* All 32 lanes: with their numbers above where @reserve rows stay free below, else in rows that
 * are named by their first and last. */
static int addresses(struct canvas *c, int row, const struct access_sample *a, uint64_t base,
                     int reserve)
{
	const struct lane_grid g = lane_grid_of(c, a, base);
	if (g.per_row < 1)
		return row;
	const int rows = (31 + g.per_row) / g.per_row;
	const bool numbered = 2 * rows + reserve <= c->rows - row;
	for (int i = 0; i < 32 && row < c->rows; i += g.per_row, row++) {
		if (numbered) {
			canvas_text(c, row, 2, STYLE_DIM, "lane");
			for (int k = 0; k < g.per_row && i + k < 32; k++)
				canvas_right(c, row, LEFT + (k + 1) * g.cell - 1, STYLE_DIM, "%d", i + k);
			canvas_text(c, ++row, 2, STYLE_DIM, "offset");
		} else {
			canvas_printf(c, row, 2, STYLE_DIM, "%d-%d", i,
			              i + g.per_row < 32 ? i + g.per_row - 1 : 31);
		}
		offsets(c, row, a, base, &g, i);
	}
	return row;
}

static int sector_map(struct canvas *c, int row, const struct access_shape *sh)
{
	int col = LEFT, used = 0;
	if (row >= c->rows)
		return row;
	canvas_text(c, row, 2, STYLE_DIM, "sectors");
	for (unsigned i = 0; i < sh->n_sectors; i++) {
		bool joined = i && sh->sector[i] == sh->sector[i - 1] + 1 && sh->sector[i] % 4;
		if (i && !joined)
			col++;
		if (col + 4 > c->cols - 3) {
			if (row + 1 >= c->rows || used == 3) {
				canvas_text(c, row, c->cols - 3, STYLE_DIM, "…");
				break;
			}
			row++;
			used++;
			col = LEFT;
		}
		for (int k = 0; k < 4; k++) {
			uint32_t byte = sh->bytes[i] >> 8 * k & 0xff;
			canvas_cell(c, row, col++, byte ? STYLE_BAR : STYLE_BAD,
			            byte == 0xff ? 0x2588
			            : byte       ? 0x258c
			                         : 0x254c);
		}
	}
	return row + 1;
}

static int bank_map(struct canvas *c, int row, const struct bank_use *b)
{
	if (row + 1 >= c->rows)
		return row;
	canvas_text(c, row, 2, STYLE_DIM, "bank");
	for (int i = 0; i < 32; i += 8)
		canvas_printf(c, row, LEFT + i, STYLE_DIM, "%d", i);
	row++;
	for (unsigned p = 0; p < b->parts && row < c->rows; p++, row++) {
		canvas_text(c, row, 2, STYLE_DIM, "words");
		for (int i = 0; i < 32; i++) {
			unsigned n = b->words[p][i];
			canvas_cell(c, row, LEFT + i,
			            !n       ? STYLE_DIM
			            : n == 1 ? STYLE_BAR
			                     : STYLE_BAD,
			            !n      ? 0xb7
			            : n > 9 ? '+'
			                    : (uint32_t)('0' + n));
		}
	}
	return row;
}

/* "A + 128   32 lanes × 4 B   executed 1 024 times" */
static void where(const struct launch_plan *plan, const struct access_sample *a,
                  const struct access_shape *sh, struct canvas *c)
{
	char text[160], num[40];
	panel_bytes(sh->lanes ? sh->lowest : 0, num, sizeof num);
	if (a->buffer >= 0 && (unsigned)a->buffer < plan->n_buffers && a->buffer < KERNEL_MAX_BUFFERS)
		snprintf(text, sizeof text, "%s + %s", plan->buffers[a->buffer].name, num);
	else
		snprintf(text, sizeof text, "%s + %s", a->shared ? "shared" : "address", num);
	int col = canvas_text(c, 0, 2, STYLE_DIM, "from    ");
	col = canvas_text(c, 0, col, STYLE_NORMAL, text);
	fmt_count(num, sizeof num, (double)a->executions);
	col = canvas_printf(c, 0, col, STYLE_DIM, "   %u lanes × %u B", sh->lanes, a->bytes_per_lane);
	canvas_printf(c, 0, col, STYLE_DIM, "   executed %s times", num);
}

static int bank_summary(struct canvas *c, int row, const struct bank_use *b)
{
	int col = canvas_text(c, row, 2, STYLE_NORMAL, "passes ");
	col = canvas_printf(c, row, col, b->conflict ? STYLE_BAD : STYLE_GOOD, "%u %s", b->passes,
	                    b->conflict ? "✗" : "✓");
	canvas_printf(c, row, col, STYLE_DIM, "   ideal %u", b->ideal);
	return row + 1;
}

static int sector_summary(struct canvas *c, int row, const struct access_shape *sh)
{
	const unsigned moved = 32 * sh->n_sectors;
	int col = canvas_printf(c, row, 2, STYLE_NORMAL, "sectors %u", sh->n_sectors);
	col = canvas_printf(c, row, col, STYLE_DIM, ", needed %u   ", sh->needed_sectors);
	col = canvas_printf(c, row, col, STYLE_NORMAL, "lines %u", sh->lines);
	col = canvas_printf(c, row, col, STYLE_DIM, ", needed %u   ", sh->needed_lines);
	if (moved > sh->used_bytes)
		canvas_printf(c, row, col, access_excess(sh) ? STYLE_BAD : STYLE_DIM,
		              "%u of %u B not for this access", moved - sh->used_bytes, moved);
	else
		canvas_text(c, row, col, STYLE_GOOD, "✓ every byte used");
	return row + 1;
}

void panel_access(const struct launch_plan *plan, const struct access_sample *a,
                  enum access_lens lens, struct canvas *c)
{
	if (c->rows < 1)
		return;
	const struct access_shape sh = access_shape(a);
	const struct bank_use b = access_banks(a);
	where(plan, a, &sh, c);
	const int reserve = a->shared ? 4 + (int)b.parts
	                              : 4 + (int)sh.n_sectors * 5 / (c->cols > 22 ? c->cols - 12 : 10);
	int row = lens == LENS_LANES ? addresses(c, 1, a, sh.lanes ? sh.lowest : 0, reserve) : 1;
	row = a->shared ? bank_map(c, row, &b) : sector_map(c, row, &sh);
	if (row < c->rows)
		row = a->shared ? bank_summary(c, row, &b) : sector_summary(c, row, &sh);
	canvas_wrap(c, row, 2, c->rows - row, c->cols - 4, STYLE_KNOB, cure(&sh, a, &b));
}
