/* Pages: every file is one; what a page lacks is said with its line. */
#include "../unit.h"
#include "model/page.h"

#include "base/asset.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TEST(every_file_is_a_page)
{
	size_t n = 0;
	char name[48];
	for (size_t i = 0; i < asset_count(); i++) {
		struct text_page p;
		struct err err = { 0 };
		if (!asset_in(asset_at(i), "pages", ".txt", name, sizeof name))
			continue;
		n++;
		if (!page_parse(name, asset_at(i)->data, &p, &err))
			fail_msg("%s", err.msg);
		assert_non_null(page_find(name));
		assert_null(strstr(p.text, "S-")); /* ids are for the checklist, not for readers */
	}
	assert_true(n > 20);
	assert_int_equal(page_count(), n);
	assert_null(page_find("none"));
	assert_null(page_at(n));
}

TEST(what_is_missing)
{
	static const struct unit_case bad[] = {
		{ "Title\npanels:\n\nx\n", "pages/p.txt:1:" },
		{ "# \npanels:\n\nx\n", "pages/p.txt:1:" },
		{ "# T\nx\n", "pages/p.txt:2:" },
		{ "# T\npanels: a\nx\n", "pages/p.txt:3:" },
		{ "# T\npanels: a\nseeds: b\nx\n", "pages/p.txt:4:" },
		{ "# T\npanels: a\n\n", "pages/p.txt:3:" },
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct text_page p;
		struct err err = { 0 };
		assert_false(page_parse("p", bad[i].given, &p, &err));
		assert_non_null(strstr(err.msg, bad[i].want));
	}
}

TEST(panels_by_whole_words)
{
	struct text_page p;
	assert_true(page_parse("p", "# T\npanels: roofline source\n\ntext\n", &p, NULL));
	assert_string_equal(p.title, "T");
	assert_string_equal(p.text, "text\n");
	assert_true(page_explains(&p, "roofline") && page_explains(&p, "source"));
	assert_false(page_explains(&p, "roof") || page_explains(&p, "line") || page_explains(&p, ""));
}

/* Those of a panel, then the others, each once. */
TEST(order_for_a_panel)
{
	bool others = false;
	for (size_t i = 0; i < page_count(); i++) {
		const struct text_page *p = page_for("timeline", i);
		assert_non_null(p);
		others |= !page_explains(p, "timeline");
		assert_true(others != page_explains(p, "timeline"));
		for (size_t k = 0; k < i; k++)
			assert_ptr_not_equal(page_for("timeline", k), p);
	}
	assert_null(page_for("timeline", page_count()));
	assert_true(page_explains(page_for("timeline", 0), "timeline"));
}

/* --- equations --- */

/* A number, with commas in it perhaps; moves *at behind it. */
static double number(const char **at)
{
	char digits[32];
	size_t n = 0;
	while ((isdigit((unsigned char)**at) || **at == '.' || **at == ',') && n + 1 < sizeof digits) {
		if (**at != ',')
			digits[n++] = **at;
		++*at;
	}
	digits[n] = '\0';
	return n ? strtod(digits, NULL) : (double)NAN;
}

static double sum(const char **at);

static double factor(const char **at)
{
	while (**at == ' ')
		++*at;
	if (**at != '(')
		return number(at);
	++*at;
	const double v = sum(at);
	if (**at != ')')
		return (double)NAN;
	++*at;
	return v;
}

static double product(const char **at)
{
	double v = factor(at);
	for (;;) {
		if (!strncmp(*at, " x ", 3)) {
			*at += 3;
			v *= factor(at);
		} else if (!strncmp(*at, " / ", 3)) {
			*at += 3;
			v /= factor(at);
		} else {
			return v;
		}
	}
}

static double sum(const char **at)
{
	double v = product(at);
	for (;;) {
		if (!strncmp(*at, " + ", 3)) {
			*at += 3;
			v += product(at);
		} else if (!strncmp(*at, " - ", 3)) {
			*at += 3;
			v -= product(at);
		} else {
			return v;
		}
	}
}

/* The longest arithmetic that ends at @end in @text and has an operator; NAN = none. */
static double before(const char *text, const char *end)
{
	double found = (double)NAN;
	for (const char *from = end; from > text && strchr("0123456789.,x/+-() ", from[-1]);) {
		const char *at = --from;
		const double v = sum(&at);
		const size_t plain = strspn(from, "0123456789.,");
		if (at == end && from + plain < end && isfinite(v))
			found = v;
	}
	return found;
}

/* Does what stands behind " = " at @text agree with @value, to the digits that are printed? */
static bool agrees(const char *text, double value)
{
	const char *at = text;
	const double printed = number(&at);
	const size_t digits = strcspn(text, ".");
	/* a full stop that ends the sentence is no decimal point */
	size_t decimals = 0;
	if (text + digits < at)
		decimals = strspn(text + digits + 1, "0123456789");
	if (!strncmp(at, " %", 2))
		value *= 100;
	return fabs(printed - value) <= 0.5 * pow(10, -(double)decimals) * (1 + 1e-9);
}

/* Every piece of arithmetic in the pages: 1 / (0.7 + 0.3 / 100) = 1.422. Of Amdahl's law (S-244,
 * S-316, S-382), of DRAM: bursts, banks, channels (S-139, S-140, S-141, S-234, S-237, S-238, S-358)
 * and of intensity in half precision (S-405). */
TEST(every_equation_holds)
{
	size_t n = 0;
	for (size_t i = 0; i < page_count(); i++) {
		const struct text_page *p = page_at(i);
		for (const char *at = strstr(p->text, " = "); at; at = strstr(at + 1, " = ")) {
			const double value = before(p->text, at);
			if (!isfinite(value) || !isdigit((unsigned char)at[3]))
				continue;
			n++;
			if (!agrees(at + 3, value))
				fail_msg("%s: %.40s is %g", p->name, at, value);
		}
	}
	assert_true(n >= 11);
	assert_false(agrees("1.423 (", 1.42248));
	assert_true(agrees("1.422.", 1.42248) && agrees("4.8 %:", 0.0476) && !agrees("4.8", 0.0476));
}
