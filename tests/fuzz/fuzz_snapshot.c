/* Fuzz target: snapshots. What is read can be drawn by every panel, and written and read again. */
#include "target.h"

#include "cli/view_list.h"
#include "lab/registry.h"
#include "lab/session_file.h"
#include "model/brief.h"
#include "model/ladder.h"
#include "model/snapshot.h"
#include "ui/canvas.h"

static const struct snapshot_names names = { .kernel = kernel_find, .source = kernel_source };

static void forget(struct session *s)
{
	record_free(s->now);
	record_free(s->before);
	ladder_free(s->ladder);
	session_forget(s);
}

static void draw(const struct session *s)
{
	for (size_t i = 0; i < kernel_view_count(); i++) {
		struct session shown = *s;
		struct canvas c;
		shown.view = kernel_view_at(i)->name;
		canvas_init(&c, 24, 80, false);
		canvas_clear(&c);
		kernel_view_at(i)->draw(&shown, &c);
		canvas_free(&c);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = input_text(data, size), note[SESSION_NOTE_BYTES];
	struct session s = { 0 }, again = { 0 };
	struct err err = { 0 };
	if (snapshot_read(text, size, "fuzz.json", &names, &s, note, sizeof note, &err)) {
		draw(&s);
		char *written = snapshot_write(&s, "0");
		promise(written != NULL, "what was read can be written");
		const bool ok = snapshot_read(written, strlen(written), "again.json", &names, &again, note,
		                              sizeof note, &err);
		promise(ok, err.msg);
		forget(&again);
		forget(&s);
		free(written);
	} else {
		promise_refusal(&err);
	}
	free(text);
	return 0;
}
