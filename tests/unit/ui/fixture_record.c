/* Pieces of sessions: selection, occupancy, lines, accesses, spans; and the list of fixtures. */
#include "fixture.h"

struct session *fixture_session(const struct kernel_desc *k, unsigned variant)
{
	struct session *s = mem_zalloc(sizeof *s);
	s->sel = (struct selection){
		.kernel = k, .variant = variant, .gpu = fixture_a100(), .backend = "emu"
	};
	s->view = "occupancy";
	for (unsigned i = 0; i < k->n_params; i++)
		s->sel.params[i] = k->params[i].def;
	return s;
}

/* Occupancy of a block of @threads with 32 registers on an A100: warps, registers and slots. */
static unsigned fixture_blocks(unsigned threads)
{
	unsigned warps = (threads + 31) / 32, n = 64 / warps;
	return n > 32 ? 32 : n;
}

void fixture_occupancy(struct session *s, unsigned threads, unsigned shared)
{
	unsigned warps = (threads + 31) / 32, n = fixture_blocks(threads), fit = 64 / warps;
	unsigned by_shared = shared ? 167936 / (shared + 1024) : OCC_UNLIMITED;
	s->plan_ok = s->usage_known = s->occ_ok = true;
	s->occ_in = (struct occ_input){ .block_threads = threads,
		                            .regs_per_thread = 32,
		                            .static_shared_bytes = shared };
	s->occ = (struct occ_result){
		.blocks_per_sm = n, .warps_per_sm = n * warps, .threads_per_sm = n * warps * 32,
		.pct = 100.0 * n * warps / 64, .launchable = true, .book_blocks = n,
		.book_pct = 100.0 * n * warps / 64,
		.carveout_bytes = 64 << 10, .carveout_blocks = 65536 / (shared + 1024),
		.limits = {
			{ OCC_WARPS, "warps", fit, warps, 64, fit == n, "" },
			{ OCC_REGISTERS, "registers", fit, warps * 1024, 65536, fit == n, "" },
			{ OCC_SHARED, "shared memory", by_shared, shared + 1024, 167936,
			  false, "" },
			{ OCC_BLOCKS, "block slots", 32, 1, 32, n == 32, "" },
			{ OCC_BARRIERS, "barriers", OCC_UNLIMITED, 1, 0, false, "" },
		},
	};
	snprintf(s->occ.limits[0].arithmetic, sizeof s->occ.limits[0].arithmetic, "64 / %u warps",
	         warps);
	snprintf(s->occ.limits[1].arithmetic, sizeof s->occ.limits[1].arithmetic,
	         "%u warps x roundup(32 x 32, 256) = %u registers", warps, warps * 1024);
	snprintf(s->occ.limits[2].arithmetic, sizeof s->occ.limits[2].arithmetic,
	         "roundup(%u + 1024, 128) bytes", shared);
	snprintf(s->occ.limiters, sizeof s->occ.limiters, "%s",
	         n == 32 ? "warps, registers, block slots" : "warps, registers");
	for (unsigned i = 0; i < 32; i++) {
		unsigned b = 32 * (i + 1), k = fixture_blocks(b);
		s->sweep[i].block = b;
		s->sweep[i].blocks_per_sm = k;
		s->sweep[i].pct = 100.0 * k * (i + 1) / 64;
	}
}

void fixture_metrics(struct run_record *r, const struct fixture_metric *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		metric_num(&r->metrics, list[i].id, list[i].origin, list[i].value);
}

struct line_counts *fixture_lines(struct run_record *r, const struct fixture_line *list, unsigned n)
{
	struct line_counts *l = mem_calloc(n, sizeof *l);
	for (unsigned i = 0; i < n; i++) {
		l[i].line = list[i].line;
		l[i].c.warp_executed = list[i].warps;
		l[i].c.thread_executed = list[i].lanes;
	}
	r->run.counts.lines = l;
	r->run.counts.n_lines = n;
	counts_set_known(&r->run.counts.of_lines);
	return l;
}

struct access_sample *fixture_accesses(struct run_record *r, const struct access_sample *list,
                                       unsigned n)
{
	struct access_sample *a = mem_calloc(n, sizeof *a);
	for (unsigned i = 0; i < n; i++) {
		a[i] = list[i];
		a[i].bytes_per_lane = 4;
		a[i].mask = 0xffffffffu;
	}
	r->run.counts.accesses = a;
	r->run.counts.n_accesses = n;
	return a;
}

/* Copies in, kernel, copy out, as activity records would show them. */
void fixture_spans(struct run_record *r, double kernel_ns)
{
	static const struct {
		enum span_kind kind;
		const char *name;
		double ns;
	} parts[] = { { SPAN_H2D, "H2D A", 320000 },
		          { SPAN_H2D, "H2D B", 320000 },
		          { SPAN_KERNEL, "sgemm", 0 },
		          { SPAN_D2H, "D2H C", 310000 } };
	double at = 0;
	r->run.n_spans = ARRAY_LEN(parts);
	r->run.spans = mem_calloc(r->run.n_spans, sizeof *r->run.spans);
	for (unsigned i = 0; i < r->run.n_spans; i++) {
		struct span *p = &r->run.spans[i];
		*p = (struct span){ .kind = parts[i].kind, .start_ns = at, .queued_ns = -1 };
		at += parts[i].ns > 0 ? parts[i].ns : kernel_ns;
		p->end_ns = at;
		p->bytes = p->kind == SPAN_KERNEL ? 0 : 4194304;
		snprintf(p->name, sizeof p->name, "%s", parts[i].name);
	}
}

void fixture_free(struct session *s)
{
	ladder_free(s->ladder);
	free(s->map);
	session_forget(s);
	session_program_free(s->program);
	if (s->now)
		record_free(s->now);
	if (s->before)
		record_free(s->before);
	free(s);
}

/* --- the list --- */

const struct fixture fixtures[] = {
#define X(name_) { .name = #name_, .make = fixture_##name_ },
	FIXTURES(X)
#undef X
};
const size_t n_fixtures = ARRAY_LEN(fixtures);

const struct fixture *fixture_named(const char *name)
{
	for (size_t i = 0; i < n_fixtures; i++)
		if (!strcmp(fixtures[i].name, name))
			return &fixtures[i];
	return NULL;
}
