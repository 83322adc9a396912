/*
 * Records into a struct program; see program_collect.h. What was counted becomes metrics here, with
 * the same formulas as a kernel's own run.
 */
#include "runtime/program_collect.h"

#include "base/mem.h"
#include "base/text.h"
#include "model/occupancy.h"
#include "model/perf.h"
#include "timemodel/kernel_time.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- kernels --- */

/* "gemm<128>" of "void gemm<128>(float const*, int)": up to the parameters, without a result type.
 */
static char *short_name(const char *signature)
{
	unsigned depth = 0;
	size_t start = 0, end = strlen(signature);
	for (size_t i = 0; signature[i]; i++) {
		const char c = signature[i];
		if (c == '<')
			depth++;
		else if (c == '>' && depth)
			depth--;
		else if (c == '(' && !depth && strncmp(signature + i, "(anonymous namespace)", 21) != 0) {
			end = i;
			break;
		} else if (c == ' ' && !depth)
			start = i + 1;
	}
	return mem_strndup(signature + start, end - start);
}

static bool take_kernel(struct program *p, struct wire_msg *m)
{
	struct record_kernel r;
	if (!record_get_kernel(m, &r))
		return false;
	p->kernels = mem_realloc(p->kernels, p->n_kernels + 1u, sizeof *p->kernels);
	p->kernels[p->n_kernels++] = (struct program_kernel){
		.name = short_name(r.signature[0] ? r.signature : r.name),
		.signature = mem_strdup(r.signature[0] ? r.signature : r.name),
		.mangled = mem_strdup(r.name),
		.file = mem_strdup(r.file),
		.id = r.id,
		.module = r.module,
		.registers = r.registers,
		.allocated_registers = r.allocated_registers,
		.static_shared_bytes = r.static_shared_bytes,
		.local_bytes = r.local_bytes,
		.max_threads = r.max_threads,
	};
	return true;
}

/* Its PTX, for the listing of the machine code. */
static bool take_module(struct program *p, struct wire_msg *m)
{
	struct record_module r;
	const char *ptx;
	size_t n;
	if (!record_get_module(m, &r, &ptx, &n) || program_module(p, r.id))
		return false;
	struct program_module *to = program_add_module(p, r.id);
	to->ptx = mem_strndup(ptx, n);
	to->ptx_bytes = strlen(to->ptx);
	return true;
}

/* --- launches --- */

static struct program_span span_of(const struct record_span *s)
{
	return (struct program_span){ s->call_ns, s->start_ns, s->end_ns };
}

static bool take_launch(struct program *p, struct wire_msg *m)
{
	struct record_launch r;
	if (!record_get_launch(m, &r) || !r.kernel || r.kernel > p->n_kernels)
		return false;
	MEM_ROOM(p->launches, p->n_launches, p->cap_launches, 64);
	struct program_launch *l = &p->launches[p->n_launches++];
	*l = (struct program_launch){
		.number = r.number,
		.kernel = r.kernel - 1,
		.stream = r.stream,
		.dynamic_shared_bytes = r.dynamic_shared_bytes,
		.span = span_of(&r.span),
		.like = r.counted == RECORD_COUNTED ? r.number : r.like,
		.same_as = r.same_as,
		.parent = r.parent,
		.counts_as = r.counts_as,
		.wall_s = r.wall_s,
		.races = r.races,
	};
	memcpy(l->level, r.level, sizeof l->level);
	memcpy(l->level_note, r.note, sizeof l->level_note);
	memcpy(l->grid, r.grid, sizeof l->grid);
	memcpy(l->block, r.block, sizeof l->block);
	l->flags = (r.counted == RECORD_FAILED ? 1u << PROGRAM_FLAG_FAILED : 0) |
	           (r.counted == RECORD_REPEATS ? 1u << PROGRAM_FLAG_REPEAT : 0) |
	           (r.printed_bytes ? 1u << PROGRAM_FLAG_PRINTF : 0) |
	           (r.cooperative ? 1u << PROGRAM_FLAG_COOPERATIVE : 0) |
	           (r.parent ? 1u << PROGRAM_FLAG_NESTED : 0);
	return true;
}

static void derive(const struct program *p, struct program_launch *l)
{
	const struct program_kernel *k = &p->kernels[l->kernel];
	const uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
	const unsigned threads = l->block[0] * l->block[1] * l->block[2];
	const struct launch_plan plan = {
		.grid = { l->grid[0], l->grid[1], l->grid[2] },
		.block = { l->block[0], l->block[1], l->block[2] },
		.dynamic_shared_bytes = l->dynamic_shared_bytes,
	};
	const struct occ_input in = {
		.block_threads = threads,
		.regs_per_thread = k->registers ? k->registers : 32,
		.static_shared_bytes = k->static_shared_bytes,
		.dynamic_shared_bytes = l->dynamic_shared_bytes,
		.barriers = 1,
	};
	struct metric_set *m = l->metrics = mem_zalloc(sizeof *m);
	struct perf_result perf;
	metrics_clear(m, "the emulator has no clock: only a GPU measures this");
	metric_num(m, M_LAUNCH_GRID_BLOCKS, ORIGIN_COUNTED, (double)blocks);
	metric_num(m, M_LAUNCH_BLOCK_THREADS, ORIGIN_COUNTED, threads);
	if (k->registers)
		metric_num(m, M_LAUNCH_REGISTERS, ORIGIN_COUNTED, k->registers);
	else
		metric_none(m, M_LAUNCH_REGISTERS,
		            "the program holds no machine code for this GPU; "
		            "compile it with -arch=sm_XY");
	metric_num(m, M_LAUNCH_SHARED, ORIGIN_COUNTED,
	           (double)k->static_shared_bytes + l->dynamic_shared_bytes);
	metric_num(m, M_LAUNCH_LOCAL, ORIGIN_COUNTED, k->local_bytes);
	if (!occ_compute(p->gpu, &in, &l->occ, NULL))
		memset(&l->occ, 0, sizeof l->occ);
	occ_metrics(m, p->gpu, &l->occ, blocks);
	count_set_unknown(&l->counts->of_total, COUNT_achieved_occupancy_pct,
	                  "the emulator has no hardware counter for it");
	run_counts_set_figure(l->counts, COUNT_achieved_occupancy_pct, (double)NAN);
	metrics_from_run(m, l->counts);
	kernel_time(p->gpu, &plan, &l->occ, l->counts, &perf);
	perf_metrics(m, p->gpu, l->counts, NULL, &perf);
}

static bool take_counts(struct program *p, struct wire_msg *m)
{
	uint64_t number;
	struct run_counts *c = mem_zalloc(sizeof *c);
	struct program_launch *l = p->n_launches ? &p->launches[p->n_launches - 1] : NULL;
	if (!record_get_counts(m, &number, c) || !l || l->number != number || l->counts) {
		run_counts_free(c);
		free(c);
		return false;
	}
	l->counts = c;
	if (c->blocks_run < c->blocks_total)
		l->flags |= 1u << PROGRAM_FLAG_SAMPLED;
	derive(p, l);
	return true;
}

/* --- the rest --- */

static bool take_copy(struct program *p, struct wire_msg *m)
{
	struct record_copy r;
	if (!record_get_copy(m, &r))
		return false;
	MEM_ROOM(p->copies, p->n_copies, p->cap_copies, 64);
	p->copies[p->n_copies++] = (struct program_copy){
		.number = r.number,
		.direction = (enum program_direction)r.direction,
		.stream = r.stream,
		.bytes = r.bytes,
		.pinned = r.pinned,
		.async = r.async,
		.set = r.set,
		.span = span_of(&r.span),
		.before = p->n_launches ? p->launches[p->n_launches - 1].number + 1 : 1,
	};
	return true;
}

static bool take_keeper(struct program *p, struct wire_msg *m)
{
	uint64_t number;
	if (!record_get_keeper(m, &number))
		return false;
	p->keepers = mem_realloc(p->keepers, p->n_keepers + 1, sizeof *p->keepers);
	p->keepers[p->n_keepers++] = (struct program_keeper){ .launch = number, .fd = m->fd };
	m->fd = -1;
	return true;
}

static bool take_event(struct program *p, struct wire_msg *m)
{
	struct record_event r;
	if (!record_get_event(m, &r))
		return false;
	MEM_ROOM(p->marks, p->n_marks, p->cap_marks, 64);
	p->marks[p->n_marks++] = (struct program_mark){
		.event = r.event, .stream = r.stream, .wait = r.wait, .at_ns = r.at_ns
	};
	return true;
}

/* @text with every @mangled as @name; freed by the caller. */
static char *readable(const char *text, const char *mangled, const char *name)
{
	struct text t = { 0 };
	const char *found;
	while (*mangled && (found = strstr(text, mangled))) {
		text_put(&t, text, (size_t)(found - text));
		text_add(&t, "%s", name);
		text = found + strlen(mangled);
	}
	text_add(&t, "%s", text);
	return t.s;
}

static const struct program_kernel *kernel_of(const struct program *p, uint64_t number)
{
	const struct program_launch *l = number ? program_launch_numbered(p, number) : NULL;
	return l ? &p->kernels[l->kernel] : NULL;
}

static bool take_finding(struct program *p, struct wire_msg *m)
{
	struct record_finding r;
	if (!record_get_finding(m, &r))
		return false;
	const struct program_kernel *k = kernel_of(p, r.launch);
	p->findings = mem_realloc(p->findings, p->n_findings + 1, sizeof *p->findings);
	p->findings[p->n_findings++] = (struct program_finding){
		.launch = r.launch,
		.times = r.times,
		.kind = mem_strdup(r.kind),
		.text = readable(r.text, k ? k->mangled : "", k ? k->name : ""),
		.remedy = mem_strdup(r.remedy),
		.file = mem_strdup(r.file),
		.line = r.line,
		.error = r.error,
	};
	return true;
}

static bool take_progress(struct program *p, struct wire_msg *m)
{
	struct record_progress r;
	if (!record_get_progress(m, &r) || !r.kernel || r.kernel > p->n_kernels)
		return false;
	p->running = r.launch;
	p->running_kernel = r.kernel - 1;
	p->running_fraction = r.fraction;
	return true;
}

static bool take_end(struct program *p, struct wire_msg *m)
{
	struct record_end r;
	if (!record_get_end(m, &r))
		return false;
	p->host_ns = r.host_ns;
	return true;
}

bool program_collect(struct program *p, struct wire_msg *m, struct err *err)
{
	bool ok = true;
	switch ((enum record_kind)m->type) {
	case RECORD_HELLO:
		ok = wire_get_u32(m) == RECORD_VERSION;
		p->told = true;
		break;
	case RECORD_KERNEL: ok = take_kernel(p, m); break;
	case RECORD_LAUNCH: ok = take_launch(p, m); break;
	case RECORD_COUNTS: ok = take_counts(p, m); break;
	case RECORD_COPY:
	case RECORD_SET: ok = take_copy(p, m); break;
	case RECORD_FINDING: ok = take_finding(p, m); break;
	case RECORD_PROGRESS: ok = take_progress(p, m); break;
	case RECORD_KEEPER: ok = take_keeper(p, m); break;
	case RECORD_END: ok = take_end(p, m); break;
	case RECORD_EVENT: ok = take_event(p, m); break;
	case RECORD_MODULE: ok = take_module(p, m); break;
	case RECORD_HOST: break;
	case RECORD_NONE:
	case RECORD_CONFIG:
	case RECORD_AGAIN:
	case RECORD_STOP:
	case RECORD_LOOK:
	case RECORD_MEMORY:
	case RECORD_CONTENTS:
	case RECORD_CODE:
	case RECORD_PROBLEM:
	case RECORD_KIND_COUNT:
	default: ok = false;
	}
	return ok || err_set(err, ERR_INTERNAL, "the program's runtime sent a malformed record (%u)",
	                     m->type);
}
