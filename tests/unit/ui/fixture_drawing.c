/* See fixture_drawing.h. */
#include "fixture_drawing.h"
#include "../unit.h"
#include "golden.h"

#include "base/mem.h"
#include "base/text.h"

/* The host's only tab. */
static const struct view_desc *alone;

static const struct view_desc *only_view(size_t i)
{
	(void)i;
	return alone;
}

/* One drawing as @head asks for. Freed by the caller. */
static char *drawn(const char *path, const char *head, bool whole)
{
	char name[48], options[80] = "";
	int rows = 0, cols = 0;
	const size_t spec_length = strcspn(head, ":\n");
	const char *keys = head[spec_length] == ':' ? head + spec_length : NULL;
	char *spec = mem_strndup(head, spec_length);
	if (sscanf(spec, "== %47s %dx%d %79[^\n]", name, &rows, &cols, options) < 3)
		fail_msg("%s: '%s' is not FIXTURE ROWSxCOLS", path, spec);
	const struct fixture *f = fixture_named(name);
	if (!f)
		fail_msg("%s: there is no fixture '%s'", path, name);
	struct fixture_host fh = { .s = f->make() };
	struct screen_host host = fixture_host(&fh);
	struct screen_state st = { .open = CMD_NONE };
	struct canvas c;
	if (alone) {
		host.view_at = only_view;
		host.n_views = 1;
		fh.s->view = alone->name;
		fh.s->cursor.row = alone->start ? alone->start(fh.s) : 0;
	}
	if (keys) {
		char *text = mem_strndup(keys + 1, strcspn(keys + 1, "\n"));
		fixture_press(&host, &st, text);
		free(text);
	}
	canvas_init(&c, rows, cols, strstr(options, "ascii") != NULL);
	if (whole)
		screen_draw(&host, &st, &c);
	else
		alone->draw(fh.s, &c);
	char *text = canvas_dump(&c, strstr(options, "styles") != NULL);
	canvas_free(&c);
	fixture_free(fh.s);
	free(spec);
	return text;
}

void drawings_compare(const char *path, const char *usual, const struct view_desc *view, bool whole)
{
	alone = view;
	char *want = golden_read(path);
	struct text is = { 0 };
	const char *spec = want || !golden_bless() ? want : usual;
	if (!spec)
		fail_msg("%s is missing: make bless, and read what it draws", path);
	for (const char *line = spec; *line; line += strcspn(line, "\n") + 1) {
		if (strncmp(line, "== ", 3))
			continue;
		char *drawing = drawn(path, line, whole);
		text_put(&is, line, strcspn(line, "\n") + 1);
		text_put(&is, drawing, strlen(drawing));
		free(drawing);
	}
	assert_non_null(is.s);
	if (golden_bless())
		golden_write(path, is.s);
	else
		golden_compare(path, is.s, want);
	text_free(&is);
	free(want);
}
