/*
 * Event counts, their tags in the source, and the metrics that follow from counts alone; see
 * counts.h. Every ratio has one formula here; a ratio over nothing is n/a with the reason.
 * Refuses to know how anything was counted.
 */
#include "model/counts.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WARP_LANES 32.0
#define SECTOR_BYTES 32.0

void counts_add(struct counts *to, const struct counts *from)
{
#define X(field, about) to->field += from->field;
	COUNT_FIELDS(X)
#undef X
}

static uint64_t scaled(uint64_t v, double factor)
{
	double r = nearbyint((double)v * factor);
	if (!(r > 0))
		return 0;
	return r < 0x1p64 ? (uint64_t)r : UINT64_MAX;
}

void counts_scale(struct counts *c, double factor)
{
	if (factor == 1)
		return; /* exact also beyond 2^53 */
#define X(field, about) c->field = scaled(c->field, factor);
	COUNT_FIELDS(X)
#undef X
}

void run_counts_free(struct run_counts *r)
{
	if (!r)
		return;
	free(r->lines);
	free(r->accesses);
	free(r->steps);
	free(r->regions);
	*r = (struct run_counts){ .dram_read_bytes = -1, .dram_write_bytes = -1, .l2_sectors = -1 };
}

static void *copy_array(const void *from, size_t n, size_t size)
{
	if (!n)
		return NULL;
	void *to = mem_calloc(n, size);
	memcpy(to, from, n * size);
	return to;
}

void run_counts_copy(struct run_counts *to, const struct run_counts *from)
{
	*to = *from;
	to->lines = copy_array(from->lines, from->n_lines, sizeof *from->lines);
	to->accesses = copy_array(from->accesses, from->n_accesses, sizeof *from->accesses);
	to->steps = copy_array(from->steps, from->n_steps, sizeof *from->steps);
	to->regions = copy_array(from->regions, from->n_regions, sizeof *from->regions);
}

/* @scale * @num / @den, or n/a because of @why. */
static void ratio(struct metric_set *m, enum metric_id id, enum origin o, double scale, double num,
                  double den, const char *why)
{
	if (den > 0)
		metric_num(m, id, o, scale * num / den);
	else
		metric_none(m, id, why);
}

/* Wavefronts beyond the ideal; a back end that knows no ideal leaves it 0 and gets the total. */
static double excess(uint64_t actual, uint64_t ideal)
{
	return actual > ideal ? (double)(actual - ideal) : 0;
}

static const enum metric_id not_by_line[] = { M_INST_BARRIERS, M_FLOP_FP16, M_FLOP_FP32,
	                                          M_FLOP_FP64 };

void metrics_from_counts(struct metric_set *m, const struct counts *c, enum origin o)
{
	const struct {
		enum metric_id id;
		uint64_t value;
	} plain[] = {
		{ M_INST_WARP, c->warp_executed },
		{ M_INST_THREAD, c->thread_executed },
		{ M_INST_BARRIERS, c->barriers },
		{ M_DIV_BRANCHES, c->branches },
		{ M_DIV_DIVERGENT, c->divergent_branches },
		{ M_MEM_LD_REQ, c->ld_requests },
		{ M_MEM_LD_SEC, c->ld_sectors },
		{ M_MEM_LD_LINES, c->ld_lines },
		{ M_MEM_ST_REQ, c->st_requests },
		{ M_MEM_ST_SEC, c->st_sectors },
		{ M_MEM_ST_LINES, c->st_lines },
		{ M_MEM_ATOM_REQ, c->atom_requests },
		{ M_MEM_ATOM_SEC, c->atom_sectors },
		{ M_MEM_LOCAL_REQ, c->local_requests },
		{ M_SH_LD_REQ, c->shared_ld_requests },
		{ M_SH_LD_WAVE, c->shared_ld_wavefronts },
		{ M_SH_ST_REQ, c->shared_st_requests },
		{ M_SH_ST_WAVE, c->shared_st_wavefronts },
		{ M_SH_ATOM_REQ, c->shared_atom_requests },
		{ M_FLOP_FP16, c->flop16 },
		{ M_FLOP_FP32, c->flop32 },
		{ M_FLOP_FP64, c->flop64 },
	};
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		metric_num(m, plain[i].id, o, (double)plain[i].value);

	if (o == ORIGIN_MEASURED) /* of a launch there are counters; of a line there is none */
		for (size_t i = 0; i < ARRAY_LEN(not_by_line); i++)
			metric_none(m, not_by_line[i], "hardware does not count it by line; the emulator does");

	metric_num(m, M_SH_LD_EXCESS, o, excess(c->shared_ld_wavefronts, c->shared_ld_ideal));
	metric_num(m, M_SH_ST_EXCESS, o, excess(c->shared_st_wavefronts, c->shared_st_ideal));

	const double warp = (double)c->warp_executed;
	const char *const idle = "no instruction executed";
	ratio(m, M_INST_RATIO, o, 1, (double)c->thread_executed, warp, idle);
	ratio(m, M_DIV_SIMD_EFF, o, 100, (double)c->thread_executed, WARP_LANES * warp, idle);
	ratio(m, M_DIV_BRANCH_EFF, o, 100, (double)c->branches - (double)c->divergent_branches,
	      (double)c->branches, "no conditional branch executed");
	ratio(m, M_MEM_LD_SPR, o, 1, (double)c->ld_sectors, (double)c->ld_requests,
	      "no global loads executed");
	ratio(m, M_MEM_LD_EFF, o, 100, (double)c->ld_bytes, SECTOR_BYTES * (double)c->ld_sectors,
	      "no global loads executed");
	ratio(m, M_MEM_ST_SPR, o, 1, (double)c->st_sectors, (double)c->st_requests,
	      "no global stores executed");
	ratio(m, M_MEM_ST_EFF, o, 100, (double)c->st_bytes, SECTOR_BYTES * (double)c->st_sectors,
	      "no global stores executed");
}

void metrics_from_run(struct metric_set *m, const struct run_counts *r)
{
	metrics_from_counts(m, &r->total, r->origin);
	if (r->origin != ORIGIN_SAMPLED)
		return;
	for (unsigned i = 0; i < METRIC_COUNT; i++)
		if (m->v[i].origin == ORIGIN_SAMPLED) {
			m->v[i].sampled = r->blocks_run;
			m->v[i].of = r->blocks_total;
		}
}

static bool tag_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
	       c == '_' || c == '.';
}

/* The tag that ends the line [@s, @end), or false. */
static bool tag_of_line(const char *s, const char *end, char name[32])
{
	while (end > s && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	const char *start = end;
	while (start > s && tag_char(start[-1]))
		start--;
	size_t len = (size_t)(end - start);
	if (len == 0 || len >= 32)
		return false;
	const char *p = start;
	while (p > s && (p[-1] == ' ' || p[-1] == '\t'))
		p--;
	if (p - s < 3 || memcmp(p - 3, "//@", 3) != 0)
		return false;
	memcpy(name, start, len);
	name[len] = '\0';
	return true;
}

unsigned source_tags(const char *source, struct line_tag *tags, unsigned max)
{
	unsigned n = 0;
	uint32_t line = 1;
	for (const char *s = source; s && *s; line++) {
		const char *end = strchr(s, '\n');
		struct line_tag t = { .line = line };
		if (tag_of_line(s, end ? end : s + strlen(s), t.name)) {
			if (n < max)
				tags[n] = t;
			n++;
		}
		s = end ? end + 1 : NULL;
	}
	return n;
}

static const struct line_counts *find_line(const struct run_counts *r, uint32_t line)
{
	unsigned lo = 0, hi = r->n_lines;
	while (lo < hi) {
		unsigned mid = lo + (hi - lo) / 2;
		if (r->lines[mid].line < line)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < r->n_lines && r->lines[lo].line == line ? &r->lines[lo] : NULL;
}

bool counts_of_tag(const struct run_counts *r, const char *source, const char *tag,
                   struct counts *sum)
{
	*sum = (struct counts){ 0 };
	unsigned n = source_tags(source, NULL, 0);
	if (!n)
		return false;
	struct line_tag *tags = mem_calloc(n, sizeof *tags);
	bool found = false;
	source_tags(source, tags, n);
	for (unsigned i = 0; i < n; i++) {
		if (strcmp(tags[i].name, tag) != 0)
			continue;
		found = true;
		const struct line_counts *l = find_line(r, tags[i].line);
		if (l)
			counts_add(sum, &l->c);
	}
	free(tags);
	return found;
}

bool source_line(const char *source, uint32_t n, char *out, size_t size)
{
	if (size)
		out[0] = '\0';
	const char *s = source;
	for (uint32_t line = 1; s && *s && n; line++) {
		const char *end = strchr(s, '\n');
		size_t len = end ? (size_t)(end - s) : strlen(s);
		if (line == n) {
			if (len && s[len - 1] == '\r')
				len--;
			if (size) {
				len = len < size - 1 ? len : size - 1;
				memcpy(out, s, len);
				out[len] = '\0';
			}
			return true;
		}
		s = end ? end + 1 : NULL;
	}
	return false;
}
