/* JSON to session; see snapshot.h. What is read is said by record_session.c. */
#include "model/brief.h"
#include "model/ladder.h"
#include "model/snapshot_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool check_version(struct reader *r, json_t *doc)
{
	const char *schema = json_string_value(json_object_get(doc, "schema"));
	if (json_is_array(json_object_get(doc, "launches"))) {
		err_set(r->err, ERR_PARSE, "%s: a whole program's launches, which are no session",
		        r->origin);
		return err_remedy(r->err, "'pmpp-explore %s' opens it, 'pmpp-explore diff' compares it",
		                  r->origin);
	}
	if (!schema || strcmp(schema, SNAPSHOT_SCHEMA) != 0)
		return err_set(r->err, ERR_PARSE, "%s: not a snapshot of this program", r->origin);
	const json_int_t version = json_integer_value(json_object_get(doc, "version"));
	if (version > SNAPSHOT_VERSION) {
		err_set(r->err, ERR_PARSE,
		        "%s: a snapshot of version %lld, written by pmpp-explore %s; "
		        "this program reads up to version %d",
		        r->origin, (long long)version,
		        json_string_value(json_object_get(doc, "tool"))
		            ? json_string_value(json_object_get(doc, "tool"))
		            : "(unknown)",
		        SNAPSHOT_VERSION);
		return err_remedy(r->err, "open it with a newer pmpp-explore");
	}
	return version >= 1 || reader_complain(r, "version", "a whole number from 1 on is needed");
}

static void take_text(json_t *o, const char *key, char *out, size_t n)
{
	const char *s = json_string_value(json_object_get(o, key));
	snprintf(out, n, "%s", s ? s : "");
}

void snapshot_written(json_t *doc, struct session_written *w)
{
	char found[72];
	json_t *written = json_object_get(doc, "written");
	take_text(written, "by", w->by, sizeof w->by);
	take_text(written, "at", w->at, sizeof w->at);
	take_text(doc, "tool", w->tool, sizeof w->tool);
	take_text(doc, "digest", w->digest, sizeof w->digest);
	json_object_del(doc, "digest");
	snapshot_digest(doc, found);
	w->changed = w->digest[0] && strcmp(w->digest, found) != 0;
}

bool snapshot_read(const char *text, size_t len, const char *origin,
                   const struct snapshot_names *names, struct session *s, char *note, size_t n,
                   struct err *err)
{
	const struct snapshot_reading reading = { names, note, n };
	struct reader r = { .origin = origin, .err = err, .context = &reading };
	*s = (struct session){ 0 };
	json_t *doc = reader_parse(text, len, origin, JSON_REJECT_DUPLICATES, READER_MOST_VALUES, err);
	if (!doc) {
		return err_remedy(err, "the file is damaged or cut off; nothing of it was opened");
	}
	snapshot_written(doc, &s->written);
	const bool ok = check_version(&r, doc) && record_read(&r, doc, &session_table, s);
	json_decref(doc);
	if (!ok) {
		record_free(s->now);
		record_free(s->before);
		ladder_free(s->ladder);
		free(s->map);
		session_forget(s);
		*s = (struct session){ 0 };
	}
	return ok;
}
