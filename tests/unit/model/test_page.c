/* Pages: every file is one; what a page lacks is said with its line. */
#include "../unit.h"
#include "model/page.h"

#include "base/asset.h"

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
