/* A program's run against the one before: groups matched, events in order, lines of output. */
#include "../unit.h"
#include "base/mem.h"
#include "model/program_session.h"

#include <stdlib.h>
#include <string.h>

static struct program *program_of(const unsigned blocks[], unsigned n)
{
	struct program *p = mem_zalloc(sizeof *p);
	p->kernels = mem_calloc(2, sizeof *p->kernels);
	for (unsigned k = 0; k < 2; k++)
		p->kernels[k] = (struct program_kernel){ .name = mem_strdup(k ? "b" : "a"),
			                                     .signature = mem_strdup(k ? "b()" : "a()"),
			                                     .mangled = mem_strdup(k ? "_b" : "_a"),
			                                     .file = mem_strdup("") };
	p->n_kernels = 2;
	p->launches = mem_calloc(n + 1u, sizeof *p->launches);
	for (unsigned i = 0; i < n; i++)
		p->launches[i] = (struct program_launch){
			.number = i + 1,
			.kernel = blocks[i] >= 1000,
			.grid = { 4, 1, 1 },
			.block = { blocks[i] % 1000, 1, 1 },
			.like = i + 1,
			.span = { i, i, i + 1 },
		};
	p->n_launches = n;
	program_sum_up(p);
	return p;
}

static void drop(struct program *p)
{
	program_free(p);
	free(p);
}

static const struct program_group *group_of(const struct program *p, unsigned kernel,
                                            unsigned block)
{
	for (size_t i = 0; i < p->n_groups; i++)
		if (p->groups[i].kernel == kernel && p->groups[i].block[0] == block)
			return &p->groups[i];
	return NULL;
}

TEST(groups_are_matched)
{
	struct program *was = program_of((const unsigned[]){ 64, 128, 1064 }, 3);
	struct program *is = program_of((const unsigned[]){ 64, 256, 1064, 1032 }, 4);
	/* the same launch */
	assert_ptr_equal(program_group_before(is, group_of(is, 0, 64), was), group_of(was, 0, 64));
	/* another block size: the kernel's next one without a counterpart */
	assert_ptr_equal(program_group_before(is, group_of(is, 0, 256), was), group_of(was, 0, 128));
	assert_null(program_group_before(is, group_of(is, 1, 32), was));
	assert_null(program_group_before(is, group_of(is, 0, 64), NULL));
	assert_ptr_equal(program_group_of(is, 2), group_of(is, 0, 256));
	assert_null(program_group_of(is, 9));
	drop(was);
	drop(is);
}

TEST(events_are_in_order)
{
	struct program *p = program_of((const unsigned[]){ 64, 64, 64 }, 3);
	const uint64_t before[] = { 1, 1, 3, 4 };
	p->copies = mem_calloc(4, sizeof *p->copies);
	for (size_t i = 0; i < 4; i++)
		p->copies[i] = (struct program_copy){ .number = i + 1, .before = before[i] };
	p->n_copies = 4;
	assert_int_equal(program_events(p), 7);
	/* c1 c2 1 2 c3 3 c4; a copy is written as 10 and its number */
	const unsigned want[] = { 11, 12, 1, 2, 13, 3, 14 };
	for (size_t i = 0; i < 7; i++) {
		const struct program_event e = program_event_at(p, i);
		assert_int_equal(e.launch ? e.launch->number : 10 + e.copy->number, want[i]);
	}
	assert_null(program_event_at(p, 7).launch);
	assert_null(program_event_at(p, 7).copy);
	assert_int_equal(program_event_of(p, 2), 3);
	assert_int_equal(program_event_of(p, 9), 7);
	drop(p);
}

TEST(output_has_lines)
{
	struct program *p = program_of(NULL, 0);
	const char *origin;
	char line[32];
	assert_int_equal(program_output_lines(p), 0);
	assert_false(program_output_line(p, 0, &origin, line, sizeof line));
	p->output = mem_strdup("one\n\nthree");
	p->errors = mem_strdup("bad\n");
	assert_int_equal(program_output_lines(p), 4);
	assert_true(program_output_line(p, 1, &origin, line, sizeof line));
	assert_string_equal(line, "");
	assert_true(program_output_line(p, 2, &origin, line, sizeof line));
	assert_string_equal(line, "three");
	assert_string_equal(origin, "stdout");
	assert_true(program_output_line(p, 3, &origin, line, sizeof line));
	assert_string_equal(line, "bad");
	assert_string_equal(origin, "stderr");
	assert_false(program_output_line(p, 4, &origin, line, sizeof line));
	drop(p);
}

static bool of_block_128(void *ctx, const struct program_launch *l)
{
	(void)ctx;
	return l->block[0] == 128 && l->number > 2;
}

TEST(what_is_kept_has_its_counts)
{
	struct program *p = program_of((const unsigned[]){ 64, 128, 128, 64, 128 }, 5);
	p->launches[1].counts = mem_zalloc(sizeof *p->launches[1].counts);
	p->launches[1].metrics = mem_zalloc(sizeof *p->launches[1].metrics);
	p->launches[2].like = p->launches[4].like = 2;
	p->findings = mem_calloc(3, sizeof *p->findings);
	for (unsigned i = 0; i < 3; i++) /* the last is a remark */
		p->findings[i] = (struct program_finding){ .launch = 1 + 2 * (i + (i == 1) - (i == 2)),
			                                       .error = i < 2,
			                                       .kind = mem_strdup("race"),
			                                       .text = mem_strdup(""),
			                                       .remedy = mem_strdup(""),
			                                       .file = mem_strdup("") };
	p->n_findings = 3;
	program_keep(p, of_block_128, NULL);
	assert_int_equal(p->n_launches, 2);
	assert_int_equal(p->launches[0].number, 3);
	assert_non_null(p->launches[0].counts);
	assert_int_equal(p->launches[0].like, 3);
	assert_int_equal(p->launches[1].like, 3);
	assert_int_equal(p->n_groups, 1);
	assert_int_equal(p->n_findings, 2);
	assert_int_equal(p->findings[0].launch, 5);
	assert_int_equal(p->launches[0].flags, 0);
	assert_int_equal(p->launches[1].flags, 1u << PROGRAM_FLAG_RACE);
	assert_ptr_equal(program_launch_numbered(p, 5), &p->launches[1]);
	assert_null(program_launch_numbered(p, 4));
	drop(p);
}
