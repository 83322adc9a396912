/*
 * Snapshots: written, read, written again: the same bytes; drawn: the same panels. Truncated at
 * every length, mutated, of a newer version, of another program: an error with its place.
 */
#include "../unit.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/brief.h"
#include "model/ladder.h"
#include "model/sweep_map.h"
#include "model/snapshot.h"
#include "lab/record_time.h"
#include "lab/registry.h"
#include "cli/view_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct snapshot_names names = { .kernel = kernel_find, .source = kernel_source };

static struct run_record *record(const struct selection *sel, uint64_t seed)
{
	struct run_record *r = mem_zalloc(sizeof *r);
	r->sel = *sel;
	assert_true(selection_plan(sel, &r->plan, NULL));
	sel->kernel->cost(sel->variant, &r->plan, sel->params, &r->cost);
	const struct occ_input usage = { .regs_per_thread = 32, .static_shared_bytes = 1024 };
	session_occ_input(&r->plan, &usage, &r->occ_in);
	assert_true(occ_compute(sel->gpu, &r->occ_in, &r->occ, NULL));
	struct run_counts *c = &r->run.counts;
	c->origin = ORIGIN_SAMPLED;
	c->blocks_run = 3;
	c->blocks_total = 4;
	c->total = (struct counts){ .warp_executed = rand_next(&seed) >> 20,
		                        .thread_executed = 77,
		                        .ld_requests = 100,
		                        .ld_sectors = 400,
		                        .ld_lines = 100,
		                        .ld_bytes = 12800,
		                        .branches = 9,
		                        .divergent_branches = 2,
		                        .flop32 = 1000000 };
	c->n_lines = 2;
	c->lines = mem_calloc(2, sizeof *c->lines);
	c->lines[0] = (struct line_counts){ .line = 50, .c = c->total };
	c->lines[1] = (struct line_counts){ .line = 52, .c = { .st_requests = 5, .st_sectors = 160 } };
	c->n_accesses = 1;
	c->accesses = mem_calloc(1, sizeof *c->accesses);
	c->accesses[0] = (struct access_sample){ .line = 50,
		                                     .op = "ld.global.f32",
		                                     .bytes_per_lane = 4,
		                                     .mask = 0xffffffff,
		                                     .buffer = -1,
		                                     .executions = 100 };
	for (unsigned i = 0; i < 32; i++)
		c->accesses[0].offset[i] = 4 * i;
	c->n_steps = 1;
	c->steps = mem_calloc(1, sizeof *c->steps);
	c->steps[0] = (struct mask_step){ .line = 50, .mask = 0xffff0000, .instructions = 7 };
	c->dram_read_bytes = 12800.5;
	c->dram_write_bytes = (double)NAN;
	c->achieved_occupancy_pct = (double)NAN;
	counts_set_known(&c->of_total);
	counts_set_known(&c->of_lines);
	c->l2_sectors = 400;
	metrics_clear(&r->metrics, "nobody said");
	occ_metrics(&r->metrics, sel->gpu, &r->occ, 4);
	metrics_from_run(&r->metrics, c);
	record_time(r);
	record_timeline(r);
	r->verify = VERIFY_SAMPLED;
	snprintf(r->verify_text, sizeof r->verify_text, "not verified: 3 of 4 blocks");
	snprintf(r->compiler, sizeof r->compiler, "NVRTC 13.0");
	r->check.max_rel_error = 1.25e-7;
	r->run.timing = (struct run_timing){ .n = 9, .median_ns = 5000.25, .l2_flushed = true };
	r->run.loaded = (struct run_static){ .known = true, .registers = 16, .blocks_per_sm = 8 };
	r->run.n_stalls = 2;
	r->run.stalls[0] = (struct run_stall){ .reason = "long_scoreboard", .warps = 12.5 };
	r->run.stalls[1] = (struct run_stall){ .reason = "barrier", .warps = 0.25 };
	r->run.counter_passes = 6;
	r->run.n_spans = 1;
	r->run.spans = mem_calloc(1, sizeof *r->run.spans);
	r->run.spans[0] =
		(struct span){ .kind = SPAN_KERNEL, .name = "k", .start_ns = 0.1, .end_ns = 5000.7 };
	return r;
}

static void make_session(struct session *s)
{
	*s = (struct session){ 0 };
	s->sel = (struct selection){ .kernel = kernel_find("vec_add"), .backend = "emu", .seed = 5 };
	s->sel.variant = 1;
	assert_true(gpu_load("h200", &s->sel.gpu, NULL));
	kernel_defaults(s->sel.kernel, s->sel.params);
	s->source = kernel_source(s->sel.kernel);
	s->view = "coalescing";
	s->cursor.detail = true;
	struct selection older = s->sel;
	older.variant = 2;
	s->now = record(&s->sel, 1);
	s->before = record(&older, 2);
	session_instant(s, &(struct occ_input){ .regs_per_thread = 32 });
	s->state = RUN_DONE;
	s->ladder = ladder_new(&s->sel);
	assert_true(ladder_put(s->ladder, s->before));
	assert_true(ladder_put(s->ladder, s->now));
	s->ladder->library_ns = 1234.5;
	snprintf(s->ladder->library_name, sizeof s->ladder->library_name, "a library");
	ladder_compare(s->ladder);
	snprintf(s->ladder->rungs[0].why, sizeof s->ladder->rungs[0].why, "too large to launch");
	s->ladder->rungs[2].reference_ns = 4321.5;
	snprintf(s->ladder->rungs[2].book, sizeof s->ladder->rungs[2].book, "104 ms: printed (S-004)");
	snprintf(s->ladder->reference_machine, sizeof s->ladder->reference_machine, "NVIDIA H200");
	s->map_pair = 1;
	s->map = sweep_map_new(&s->sel, s->map_pair);
	assert_true(sweep_map_put(s->map, s->now));
	for (unsigned i = 0; i < 4; i++) { /* three that ran, one that failed */
		const struct selection sel = sweep_map_selection(s->map, i);
		struct run_record *r = record(&sel, 10 + i);
		r->verify = i == 3 ? VERIFY_WRONG : VERIFY_OK;
		assert_true(sweep_map_put(s->map, r));
		record_free(r);
	}
	session_remember(s, s->before, s->source);
	session_remember(s, s->now, s->source);
	session_remember(s, s->before, s->source); /* again: it moves to the end */
	s->reference_run = mem_zalloc(sizeof *s->reference_run);
	brief_of(s->now, "an earlier text", s->reference_run);
	metric_num(&s->reference_run->metrics, M_TIME_KERNEL, ORIGIN_MEASURED, 4321.5);
	s->reference_run_earlier = true;
}

static void free_session(struct session *s)
{
	record_free(s->now);
	record_free(s->before);
	ladder_free(s->ladder);
	free(s->map);
	s->ladder = NULL;
	s->map = NULL;
	session_forget(s);
}

static char *panels(const struct session *s)
{
	struct text all = { 0 };
	for (size_t i = 0; i < view_count(); i++) {
		struct canvas c;
		canvas_init(&c, 40, 120, false);
		canvas_clear(&c);
		view_at(i)->draw(s, &c);
		char *dump = canvas_dump(&c, true);
		text_add(&all, "%s\n%s\n", view_at(i)->name, dump);
		free(dump);
		canvas_free(&c);
	}
	return all.s;
}

TEST(round_trip)
{
	struct session s, again;
	struct err err = { 0 };
	char note[200];
	make_session(&s);
	char *first = snapshot_write(&s, "1.0");
	if (!snapshot_read(first, strlen(first), "s.json", &names, &again, note, sizeof note, &err))
		fail_msg("%s", err.msg);
	record_timeline(again.now);
	record_timeline(again.before);
	assert_string_equal(note, "");
	assert_non_null(again.ladder);
	assert_int_equal(again.ladder->n, s.ladder->n);
	assert_string_equal(again.ladder->rungs[0].why, "too large to launch");
	assert_string_equal(again.ladder->rungs[2].moved, s.ladder->rungs[2].moved);
	assert_float_equal(again.ladder->rungs[2].rate, s.ladder->rungs[2].rate, 0);
	assert_float_equal(again.ladder->rungs[2].reference_ns, 4321.5, 0);
	assert_string_equal(again.ladder->rungs[2].book, "104 ms: printed (S-004)");
	assert_non_null(again.map);
	assert_int_equal(again.map_pair, s.map->pair);
	assert_memory_equal(again.map->value, s.map->value, sizeof s.map->value);
	assert_true(sweep_map_ran(s.map) >= 3);
	assert_int_equal(sweep_map_ran(again.map), sweep_map_ran(s.map));
	assert_int_equal(again.map->point[3].state, SWEEP_FAILED);
	assert_string_equal(again.map->point[3].why, s.map->point[3].why);
	assert_string_equal(sweep_map_unit(again.map), sweep_map_unit(s.map));
	assert_int_equal(again.n_history, 2);
	assert_int_equal(again.history[0].sel.variant, 1);
	assert_int_equal(again.history[1].sel.variant, 2);
	assert_float_equal(metric_get(&again.history[1].metrics, M_OCC_PCT),
	                   metric_get(&s.before->metrics, M_OCC_PCT), 0);
	assert_non_null(session_reference_run(&again));
	assert_true(again.reference_run_earlier && brief_same_launch(again.reference_run, &s.now->sel));
	assert_false(brief_same_launch(again.reference_run, &s.before->sel));
	assert_float_equal(metric_get(&again.reference_run->metrics, M_TIME_KERNEL), 4321.5, 0);
	char *second = snapshot_write(&again, "1.0");
	assert_string_equal(first, second);
	char *before = panels(&s);
	char *after = panels(&again);
	assert_string_equal(before, after);
	free(before);
	free(after);
	free(first);
	free(second);
	free_session(&s);
	free_session(&again);
}

TEST(nothing_run_yet)
{
	struct session s, again;
	char note[200];
	make_session(&s);
	free_session(&s);
	s.now = s.before = NULL;
	session_instant(&s, NULL);
	char *text = snapshot_write(&s, "1.0");
	assert_true(
		snapshot_read(text, strlen(text), "s.json", &names, &again, note, sizeof note, NULL));
	assert_null(again.now);
	assert_int_equal(again.state, RUN_NONE);
	free_session(&again);
	free(text);
}

static char *replaced(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	assert_non_null(at);
	return mem_printf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void refused(const char *text, const char *from, const char *to, const char *want)
{
	struct session s;
	struct err err = { 0 };
	char note[200];
	char *bad = replaced(text, from, to);
	if (snapshot_read(bad, strlen(bad), "s.json", &names, &s, note, sizeof note, &err))
		fail_msg("accepted with %s", to);
	if (!strstr(err.msg, want))
		fail_msg("wanted '%s' in: %s", want, err.msg);
	free(bad);
}

TEST(errors_name_their_place)
{
	struct session s, again;
	char note[200];
	make_session(&s);
	char *text = snapshot_write(&s, "1.0");
	refused(text, "\"version\": 1", "\"version\": 99", "version 99");
	refused(text, "pmpp-explore/snapshot", "other", "not a snapshot");
	refused(text, "\"vec_add\"", "\"vec_odd\"", "selection.kernel");
	refused(text, "\"sm_count\": 132", "\"sm_count\": \"many\"",
	        "selection.gpu.sm_count: a number");
	refused(text, "\"sm_count\": 132", "\"sm_count\": 1e9", "out of range");
	refused(text, "\"ld_sectors\": 400", "\"ld_sectors\": 1.5", "ld_sectors: a whole number");
	refused(text, "\"verify\": \"sampled\"", "\"verify\": \"perhaps\"", "now.verify");
	refused(text, "\"why\": \"too large to launch\"", "\"why\": 4", "ladder.rungs.why: text is");
	/* unknown keys are ignored; another source is kept and said */
	char *more = replaced(text, "\"version\": 1,", "\"version\": 1, \"later\": [1, {}],");
	assert_true(
		snapshot_read(more, strlen(more), "s.json", &names, &again, note, sizeof note, NULL));
	free_session(&again);
	free(more);
	more = replaced(text, "Vector addition", "Vektoraddition");
	assert_true(
		snapshot_read(more, strlen(more), "s.json", &names, &again, note, sizeof note, NULL));
	assert_non_null(strstr(note, "source has changed"));
	free_session(&again);
	free(more);
	free(text);
	free_session(&s);
}

TEST(damage_never_crashes)
{
	struct session s, again;
	char note[200];
	make_session(&s);
	char *text = snapshot_write(&s, "1.0");
	const size_t len = strlen(text);
	struct err err = { 0 };
	for (size_t n = 0; n + 2 < len; n += 1 + len / 400)
		assert_false(snapshot_read(text, n, "s.json", &names, &again, note, sizeof note, &err));
	uint64_t seed = 7;
	for (int i = 0; i < 2000; i++) {
		const size_t at = rand_next(&seed) % len;
		const char old = text[at];
		text[at] = (char)rand_next(&seed);
		if (snapshot_read(text, len, "s.json", &names, &again, note, sizeof note, &err)) {
			char *drawn = panels(&again);
			free(drawn);
			free_session(&again);
		}
		text[at] = old;
	}
	free(text);
	free_session(&s);
}

/* A recording grows old with the device code, not with the descriptor beside it. */
TEST(the_hash_is_of_device_code)
{
	char one[17], two[17];
	const char *const head = "#ifdef __CUDACC__\n#if 1\nint a;\n#else\n#endif\n";
	char text[200];
	snprintf(text, sizeof text, "%s#else\nint host;\n#endif\n", head);
	source_hash(text, one);
	snprintf(text, sizeof text, "%s#else\nint other;\n#endif\n", head);
	source_hash(text, two);
	assert_string_equal(one, two);
	snprintf(text, sizeof text, "%s#endif /* the host half is another file */\n", head);
	source_hash(text, two);
	assert_string_equal(one, two);
	text[strlen("#ifdef __CUDACC__\n#if 1\nint ")] = 'b';
	source_hash(text, two);
	assert_string_not_equal(one, two);
	source_hash("int a;\n", one); /* a file without halves is hashed whole */
	source_hash("int b;\n", two);
	assert_string_not_equal(one, two);
}
