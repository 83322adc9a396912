/* Sessions in files; see session_file.h. */
#include "session_file.h"

#include "base/asset.h"
#include "base/file.h"
#include "base/version.h"
#include "model/brief.h"
#include "model/ladder.h"
#include "model/snapshot.h"
#include "userkernel/user_file.h"
#include "record_time.h"
#include "registry.h"
#include "session_sign.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Whose: $PMPP_AUTHOR, else the person's name here and the machine's. */
static void stamp(struct session_written *w)
{
	const char *author = getenv("PMPP_AUTHOR");
	struct passwd person, *found = NULL;
	char names[1024];
	char host[80] = "";
	const time_t now = time(NULL);
	struct tm at = { 0 };
	getpwuid_r(getuid(), &person, names, sizeof names, &found);
	gethostname(host, sizeof host - 1);
	if (author)
		snprintf(w->by, sizeof w->by, "%s", author);
	else
		snprintf(w->by, sizeof w->by, "%.70s@%s", found ? person.pw_name : "?", host);
	gmtime_r(&now, &at);
	strftime(w->at, sizeof w->at, "%Y-%m-%dT%H:%M:%SZ", &at);
}

char *session_document(const struct session *s)
{
	struct session mine = *s;
	if (s->written.at[0] && s->written.tool[0]) /* still as it was read: its writer's figures */
		return snapshot_write(s, s->written.tool);
	stamp(&mine.written);
	return snapshot_write(&mine, PMPP_VERSION);
}

void session_provenance(const struct session_written *w, char *out, size_t n)
{
	snprintf(out, n, "from a file%s%s%s%s%s%s; %s", w->by[0] ? ", written by " : "", w->by,
	         w->at[0] ? " at " : "", w->at, w->tool[0] ? " with pmpp-explore " : "", w->tool,
	         w->changed     ? "CHANGED since it was written: its digest is of something else"
	         : w->digest[0] ? "its digest holds"
	                        : "it has no digest");
}

bool session_vouch(const char *path, const char *text, size_t len, json_t *doc, char *note,
                   size_t n, struct err *err)
{
	struct session_written w = { 0 };
	char about[500], signer[300];
	if (!session_signer(path, text, len, NULL, signer, sizeof signer, err))
		return false;
	snapshot_written(doc, &w);
	session_provenance(&w, about, sizeof about);
	snprintf(note, n, "%s; %s", about, signer);
	return true;
}

bool session_save(const struct session *s, const char *path, struct err *err)
{
	char *text = session_document(s);
	const bool ok = text ? file_replace(path, text, strlen(text), err)
	                     : err_set(err, ERR_INTERNAL, "%s: this session is no document", path);
	free(text);
	return ok;
}

bool session_parse(const char *text, size_t len, const char *origin, struct session *s, char *note,
                   size_t n, struct err *err)
{
	static const struct snapshot_names names = {
		.kernel = kernel_find,
		.source = kernel_source,
		.restore_user = user_file_restore,
	};
	if (!snapshot_read(text, len, origin, &names, s, note, n, err))
		return false;
	if (s->now)
		record_timeline(s->now);
	if (s->before)
		record_timeline(s->before);
	return true;
}

bool session_open(const char *path, struct session *s, char *note, size_t n, struct err *err)
{
	return session_open_while(path, NULL, NULL, s, note, n, err);
}

bool session_open_while(const char *path, const atomic_bool *cancel, atomic_uint *read,
                        struct session *s, char *note, size_t n, struct err *err)
{
	const struct asset *built_in = access(path, F_OK) ? asset_find(path) : NULL;
	struct text t;
	if (built_in)
		return session_parse(built_in->data, built_in->len, path, s, note, n, err);
	if (!file_read_while(path, SNAPSHOT_MAX_BYTES, cancel, read, &t, err))
		return false;
	char signer[300], about[500], more[300];
	bool ok = session_signer(path, t.s, t.len, cancel, signer, sizeof signer, err) &&
	          session_parse(t.s, t.len, path, s, more, sizeof more, err);
	if (ok) {
		session_provenance(&s->written, about, sizeof about);
		snprintf(note, n, "%s; %s%s%s", about, signer, *more ? "; " : "", more);
	}
	text_free(&t);
	return ok;
}

void session_of_record(struct run_record *r, const char *view, struct session *s)
{
	*s = (struct session){ .sel = r->sel,
		                   .source = kernel_source(r->sel.kernel),
		                   .view = view,
		                   .state = RUN_DONE,
		                   .spill_bytes = r->spill_bytes };
	session_instant(s, &r->occ_in);
	s->now = r;
}

void session_drop(struct session *s)
{
	record_free(s->now);
	record_free(s->before);
	ladder_free(s->ladder);
	free(s->map);
	session_forget(s);
	*s = (struct session){ 0 };
}

void session_file_name(const struct session *s, long long now, char *out, size_t n)
{
	const time_t t = (time_t)now;
	struct tm at = { 0 };
	char when[32];
	localtime_r(&t, &at);
	strftime(when, sizeof when, "%Y%m%d-%H%M%S", &at);
	snprintf(out, n, "%s-%s-%s-%s.json", s->sel.kernel->name,
	         s->sel.kernel->variants[s->sel.variant].name, s->sel.gpu->id, when);
}
