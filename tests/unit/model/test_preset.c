/* Presets: every built-in one parses; errors name file, line, column and what is wrong. */
#include "../unit.h"
#include "model/preset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char good[] =
	"title: T\nchapter: PMPP ch. 2\nabout: A\ngpu: a100\nsteps:\n"
	"  - title: one\n    run: vec_add/chunks N=10\n    view: coalescing\n    say: look\n"
	"    book:\n      - what: w\n        value: 32\n        unit: sectors\n"
	"        ours: mem.ld_sectors * 2\n        within: 5 %\n"
	"    expect:\n      - mem.ld_sectors_per_request == 32\n";

TEST(a_whole_preset)
{
	struct preset *p;
	struct err err = { 0 };
	if (!preset_parse(good, strlen(good), "here/tour.yaml", &p, &err))
		fail_msg("%s", err.msg);
	assert_string_equal(p->name, "tour");
	assert_int_equal(p->n_steps, 1);
	assert_string_equal(p->steps[0].run, "vec_add/chunks N=10");
	assert_float_equal(p->steps[0].book[0].value, 32, 0);
	assert_null(p->steps[0].reveal);
	preset_free(p);
}

static void refused(const char *from, const char *to, const char *want)
{
	char text[2000];
	const char *at = strstr(good, from);
	assert_non_null(at);
	snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
	struct preset *p;
	struct err err = { 0 };
	if (preset_parse(text, strlen(text), "x.yaml", &p, &err))
		fail_msg("accepted: %s", text);
	if (!strstr(err.msg, want))
		fail_msg("wanted '%s' in: %s", want, err.msg);
}

TEST(errors_point)
{
	refused("view:", "veiw:", "x.yaml:8:");
	refused("== 32", "= 32", "x.yaml:17:");
	refused("- mem.ld_sectors_per_request", "- mem.ld_sectors_per_reqest", "no metric");
	refused("ours: mem.ld_sectors * 2", "ours: mem.nothing", "mem.nothing");
	refused("ours: mem.ld_sectors * 2", "ours: time.kernel_ns", "'sectors' is no unit of");
	refused("        ours: mem.ld_sectors * 2\n", "", "wants 'ours' beside it");
	refused("within: 5 %", "within: close", "x.yaml:14:");
	refused("    say: look\n", "", "say");
	refused("value: 32", "value: many", "x.yaml:12:");
	refused("    expect:\n      - mem.ld_sectors_per_request == 32\n", "",
	        "either expect or stops");
	refused("    expect:", "    stops: words\n    expect:", "x.yaml:16:");
}

TEST(truncation_never_crashes)
{
	for (size_t n = 0; n < strlen(good); n++) {
		struct preset *p = NULL;
		struct err err = { 0 };
		if (preset_parse(good, n, "x.yaml", &p, &err))
			preset_free(p);
		else
			assert_true(err.msg[0]);
	}
}

TEST(every_built_in_one_parses)
{
	assert_true(preset_count() >= 3);
	for (size_t i = 0; i < preset_count(); i++) {
		struct preset *p;
		struct err err = { 0 };
		if (!preset_load(preset_name(i), &p, &err))
			fail_msg("%s", err.msg);
		preset_free(p);
	}
}

TEST(names_and_paths)
{
	struct preset *p;
	struct err err = { 0 };
	assert_false(preset_load("vec_ad", &p, &err));
	assert_non_null(strstr(err.msg, "vec_add"));
	assert_false(preset_load("/nowhere/x.yaml", &p, &err));
	assert_non_null(strstr(err.msg, "/nowhere/x.yaml"));
	assert_true(preset_load("VEC_ADD", &p, &err));
	preset_free(p);
}

/* Words that a reader of the tour cannot know, or that were true once. */
static void plain_words(const char *where, const char *text)
{
	static const char *const no[] = {
		"S-0", "S-1", "S-2", "S-3", "S-4", "S-5", "our model sets", "the source is wrong", "16 10"
	};
	for (size_t i = 0; text && i < sizeof no / sizeof *no; i++)
		if (strstr(text, no[i]))
			fail_msg("preset %s says '%s'", where, no[i]);
}

TEST(texts_are_for_readers)
{
	for (size_t i = 0; i < preset_count(); i++) {
		struct preset *p;
		struct err err = { 0 };
		assert_true(preset_load(preset_name(i), &p, &err));
		plain_words(p->name, p->title);
		plain_words(p->name, p->about);
		for (unsigned k = 0; k < p->n_steps; k++) {
			const struct preset_step *s = &p->steps[k];
			plain_words(p->name, s->title);
			plain_words(p->name, s->say);
			plain_words(p->name, s->reveal);
			for (unsigned b = 0; b < s->n_book; b++) {
				plain_words(p->name, s->book[b].what);
				plain_words(p->name, s->book[b].note);
			}
		}
		preset_free(p);
	}
}

/* Printed values times seven: a step whose figures are held against ours no longer holds. */
TEST(book_figures_are_claims)
{
	unsigned rows = 0, held = 0;
	for (size_t i = 0; i < preset_count(); i++) {
		struct preset *p;
		struct err err = { 0 };
		char line[400];
		assert_true(preset_load(preset_name(i), &p, &err));
		for (unsigned k = 0; k < p->n_steps; k++) {
			struct preset_step *s = &p->steps[k];
			for (unsigned b = 0; b < s->n_book; b++) {
				const unsigned claim = preset_book_claim(s, b);
				rows++;
				if (claim == PRESET_MAX_CLAIMS)
					continue;
				held++;
				assert_true(claim >= s->n_expect && claim < preset_claims(s));
				assert_non_null(strstr(preset_claim(s, claim, line, sizeof line), s->book[b].ours));
				if (s->book[b].within && strtod(s->book[b].within, NULL) >= 50)
					assert_true(s->book[b].note && s->book[b].wrong);
			}
		}
		preset_free(p);
	}
	assert_true(4 * held >= 3 * rows); /* the others say in a note why there is nothing to hold */
}

TEST(units_are_converted)
{
	struct preset_book b = { .value = 4, .unit = "ms", .ours = "time.kernel_ns" };
	assert_float_equal(preset_book_value(&b), 4e6, 0);
	b.unit = "sectors";
	assert_true(isnan(preset_book_value(&b)));
	b.ours = "2 * time.kernel_ns"; /* computed: in the book's unit as it is */
	assert_float_equal(preset_book_value(&b), 4, 0);
	b = (struct preset_book){ .value = 0, .unit = "ms", .ours = "time.kernel_ns" };
	assert_float_equal(preset_book_factor(&b), 1e6, 0); /* of a printed 0, too */
}
