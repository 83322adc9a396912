/*
 * Every panel, alone on a whole screen, in four sizes, in UTF-8 and in ASCII, in every language,
 * with a run and without: each is looked over by the checker (fixture_watch.h), and its checksum is
 * held against tests/ui/sums/<view>.sums, a line for each.
 *
 * A checksum shows that something changed, not what: the screens that people read and approve are
 * those of test_goldens, test_view_goldens and test_lang_goldens. SHOW=folder writes each of these
 * here into a file, for a diff of two commits. BLESS=1 (make bless) rewrites the sums.
 */
#include "fixture_watch.h"
#include "../unit.h"
#include "golden.h"
#include "view_list.h"

#include "base/hash128.h"
#include "base/lang.h"
#include "base/text.h"

static const int sizes[][2] = { { 16, 50 }, { 24, 80 }, { 40, 120 }, { 60, 200 } };
static const char *const of_kernel[] = { "done", "none", "reduced" };
static const char *const of_program[] = { "program", "program_idle" };

static const struct view_desc *alone;

static const struct view_desc *only_view(size_t i)
{
	(void)i;
	return alone;
}

static void show(const char *name, const char *text)
{
	const char *folder = getenv("SHOW");
	char path[400];
	if (!folder || !*folder)
		return;
	snprintf(path, sizeof path, "%s/%s", folder, name);
	golden_write(path, text);
}

/* One screen: checked, and its sum added to @sums. */
static void one(const char *state, const int size[2], bool ascii, struct text *sums)
{
	struct world w;
	struct canvas c;
	struct canvas_watch watch = { 0 };
	unsigned char hash[16];
	char hex[33], name[160];
	world_begin(&w, fixture_named(state)->make());
	w.host.view_at = only_view;
	w.host.n_views = 1;
	w.fh.s->view = alone->name;
	w.fh.s->cursor.row = alone->start ? alone->start(w.fh.s) : 0;
	canvas_init(&c, size[0], size[1], ascii);
	c.watch = &watch;
	screen_draw(&w.host, &w.st, &c);
	snprintf(name, sizeof name, "%s-%s-%dx%d-%s%s", alone->name, state, size[1], size[0],
	         lang_code(lang_used()), ascii ? "-ascii" : "");
	char *text = canvas_dump(&c, true);
	const char *fault = frame_fault(&w, &c, &watch);
	if (fault) {
		fputs(text, stderr);
		fail_msg("%s: %s", name, fault);
	}
	show(name, text);
	hash128_of(text, strlen(text), hash);
	hash128_hex(hash, hex);
	text_add(sums, "%s %.12s\n", name, hex);
	free(text);
	canvas_free(&c);
	world_end(&w);
}

/* The names whose line in @is is not in @was. */
static void fail_changed(const char *path, const char *is, const char *was)
{
	struct text changed = { 0 };
	for (const char *line = is; *line; line += strcspn(line, "\n") + 1) {
		char one_line[200];
		snprintf(one_line, sizeof one_line, "%.*s\n", (int)strcspn(line, "\n"), line);
		if (!strstr(was, one_line))
			text_add(&changed, " %.*s", (int)strcspn(line, " "), line);
	}
	fail_msg("%s: not as approved:%s. Look at them: SHOW=folder %s; then make bless", path,
	         changed.s ? changed.s : " (some are gone)", "build/unit/ui/test_panel_sums");
}

static void every_screen(void **state)
{
	struct text sums = { 0 };
	char path[200];
	alone = *state;
	const bool program = alone->scope == VIEW_OF_PROGRAM;
	const char *const *states = program ? of_program : of_kernel;
	const size_t n_states = program ? ARRAY_LEN(of_program) : ARRAY_LEN(of_kernel);
	for (size_t i = 0; i < n_states; i++)
		for (size_t size = 0; size < ARRAY_LEN(sizes); size++) {
			one(states[i], sizes[size], true, &sums); /* ASCII is English */
			for (size_t lang = 0; lang < lang_count(); lang++) {
				lang_use(lang);
				one(states[i], sizes[size], false, &sums);
			}
			lang_use(0);
		}
	snprintf(path, sizeof path, "tests/ui/sums/%s.sums", alone->name);
	if (golden_bless())
		golden_write(path, sums.s);
	char *want = golden_read(path);
	if (!want)
		fail_msg("%s is missing: make bless", path);
	if (strcmp(sums.s, want) != 0)
		fail_changed(path, sums.s, want);
	free(want);
	text_free(&sums);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(all_views); i++)
		unit_add(all_views[i]->name, every_screen, all_views[i]);
	return unit_run(NULL, NULL);
}
