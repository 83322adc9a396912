/*
 * Every view drawn alone, against tests/ui/views/<view>.screen.
 *
 * The file says itself what is drawn: a line "== FIXTURE ROWSxCOLS [ascii] [styles] [: KEYS]"
 * before each drawing (fixtures: fixture.h; styles: the letters of canvas.h, in a map below the
 * text; keys: pressed with this panel in the focus). A view without a file gets one with the usual
 * drawings from BLESS=1. No other golden changes when a view is added.
 */
#include "fixture_host.h"
#include "../unit.h"
#include "golden.h"
#include "view_list.h"

static const char usual[] = "== done 18x80 styles\n"
							"== done 18x80 ascii\n"
							"== done 34x140\n"
							"== reduced 18x80\n"
							"== none 18x80\n"
							"== failed 8x60\n";

/* The host's only tab. */
static const struct view_desc *alone;

static const struct view_desc *only_view(size_t i)
{
	(void)i;
	return alone;
}

/* One drawing as @head asks for. Freed by the caller. */
static char *drawn(const char *head)
{
	char name[48], options[80] = "";
	int rows = 0, cols = 0;
	const size_t spec_length = strcspn(head, ":\n");
	const char *keys = head[spec_length] == ':' ? head + spec_length : NULL;
	char *spec = mem_strndup(head, spec_length);
	if (sscanf(spec, "== %47s %dx%d %79[^\n]", name, &rows, &cols, options) < 3)
		fail_msg("views/%s.screen: '%s' is not FIXTURE ROWSxCOLS", alone->name, spec);
	const struct fixture *f = fixture_named(name);
	if (!f)
		fail_msg("views/%s.screen: there is no fixture '%s'", alone->name, name);
	struct fixture_host fh = { .s = f->make() };
	struct screen_host host = fixture_host(&fh);
	struct screen_state st = { .open = CMD_NONE };
	struct canvas c;
	host.view_at = only_view;
	host.n_views = 1;
	fh.s->view = alone->name;
	fh.s->cursor.row = alone->start ? alone->start(fh.s) : 0;
	if (keys) {
		char *text = mem_strndup(keys + 1, strcspn(keys + 1, "\n"));
		fixture_press(&host, &st, text);
		free(text);
	}
	canvas_init(&c, rows, cols, strstr(options, "ascii") != NULL);
	alone->draw(fh.s, &c);
	char *text = canvas_dump(&c, strstr(options, "styles") != NULL);
	canvas_free(&c);
	fixture_free(fh.s);
	free(spec);
	return text;
}

static void view_alone(void **state)
{
	char path[200];
	alone = *state;
	snprintf(path, sizeof path, "tests/ui/views/%s.screen", alone->name);
	char *want = golden_read(path);
	struct text is = { 0 };
	const char *spec = want || !golden_bless() ? want : usual;
	if (!spec)
		fail_msg("%s is missing: make bless, and read what it draws", path);
	for (const char *line = spec; *line; line += strcspn(line, "\n") + 1) {
		if (strncmp(line, "== ", 3))
			continue;
		char *drawing = drawn(line);
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

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(all_views); i++)
		unit_add(all_views[i]->name, view_alone, all_views[i]);
	return unit_run(NULL, NULL);
}
