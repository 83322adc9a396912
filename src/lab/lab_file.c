/*
 * A session written to a file, and one read from it, as errands: the screen goes on meanwhile. See
 * lab.h.
 */
#include "errand.h"
#include "lab_state.h"

#include "base/file.h"
#include "base/mem.h"
#include "model/brief.h"
#include "model/ladder.h"
#include "session_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define READ_LIMIT_S 60
#define WRITE_LIMIT_S 60
#define TURN_MS 5

struct lab_files {
	struct errand *reading, *writing; /* NULL = nothing is under way */
	char *reading_path, *writing_path;
	bool read_cancelled, late;     /* the screen opened before the file was read */
	char note[SESSION_NOTE_BYTES]; /* of what was read last */
	struct err read_err;           /* why it was not */
	struct {
		bool any, bad;
		char text[700];
	} said; /* of what was written last, and nobody was told yet */
};

static void say(struct lab_files *f, bool bad, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static const struct timespec turn = { .tv_nsec = TURN_MS * 1000000L };

static struct lab_files *files_of(struct lab *lab)
{
	if (!lab->files)
		lab->files = mem_zalloc(sizeof *lab->files);
	return lab->files;
}

static void say(struct lab_files *f, bool bad, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(f->said.text, sizeof f->said.text, fmt, ap);
	va_end(ap);
	f->said.any = true;
	f->said.bad = bad;
}

static void tell(void *worker)
{
	lab_worker_wake(worker);
}

/* --- reading --- */

struct reading {
	char *path;
	bool ok;
	struct session s;
	struct preset *preset; /* that it walked, where there is one of that name */
	char note[SESSION_NOTE_BYTES];
	struct err err;
};

static void read_it(void *ctx, const atomic_bool *cancel, atomic_uint *part)
{
	struct reading *r = ctx;
	r->ok = session_open_while(r->path, cancel, part, &r->s, r->note, sizeof r->note, &r->err);
	if (r->ok)
		r->preset = tour_preset(&r->s.tour);
}

static void drop_reading(void *ctx)
{
	struct reading *r = ctx;
	if (r->ok)
		session_drop(&r->s);
	preset_free(r->preset);
	free(r->path);
	free(r);
}

static void drop_old(struct lab *lab)
{
	struct lab_files *f = lab->files;
	if (!f || !f->reading)
		return;
	lab_open_cancel(lab);
	struct reading *r = errand_close(f->reading);
	if (r)
		drop_reading(r);
	f->reading = NULL;
	free(f->reading_path);
	f->reading_path = NULL;
}

void lab_open(struct lab *lab, const char *path)
{
	struct lab_files *f = files_of(lab);
	drop_old(lab); /* one that was cancelled may still be under way */
	struct reading *r = mem_zalloc(sizeof *r);
	r->path = mem_strdup(path);
	f->reading_path = mem_strdup(path);
	f->read_err = (struct err){ 0 };
	f->read_cancelled = false;
	f->note[0] = '\0';
	lab->s.opening = f->reading_path;
	lab->s.state = RUN_RUNNING;
	lab->s.stuck_compile = false;
	lab->s.progress = 0;
	f->reading = errand_begin(&(struct errand_order){ .work = read_it,
	                                                  .drop = drop_reading,
	                                                  .ctx = r,
	                                                  .limit_s = READ_LIMIT_S,
	                                                  .tell = tell,
	                                                  .told = lab->worker });
}

/* The session that was read takes the place of the lab's. */
static void take_session(struct lab *lab, struct reading *r)
{
	lab_order_nothing(lab);
	lab->first_serial = lab->last_serial + 1; /* what still comes is not this session's */
	record_free(lab->s.now);
	record_free(lab->s.before);
	ladder_free(lab->s.ladder);
	free(lab->s.map);
	session_forget(&lab->s);
	free(lab->opened);
	lab->opened = r->path;
	lab->s = r->s;
	lab->s.opened = lab->opened;
	lab_tour_resume(lab, r->preset);
	lab->wish.backend[0] = '\0';
	lab->wish.gpu_given = true;
	lab->started = true;
	free(r);
}

/* What became of the file that is read. True: something. */
static bool take_reading(struct lab *lab)
{
	struct lab_files *f = lab->files;
	if (!f->reading)
		return false;
	const enum errand_end end = errand_state(f->reading);
	if (end == ERRAND_UNDER_WAY) {
		const double part = errand_part(f->reading);
		const bool moved = part > lab->s.progress;
		lab->s.progress = part;
		return moved;
	}
	const bool cancelled = f->read_cancelled;
	struct reading *r = errand_close(f->reading);
	f->reading = NULL;
	lab->s.opening = NULL;
	const bool taken = r && r->ok && !cancelled;
	if (taken) {
		memcpy(f->note, r->note, sizeof f->note);
		if (f->late)
			say(f, false, "%.600s", r->note);
		take_session(lab, r);
	} else if (!cancelled || !lab->started) { /* else something else runs by now */
		lab->s.state = RUN_FAILED;
		if (cancelled) {
			err_set(&lab->s.run_err, ERR_CANCELLED, "%s was not opened: cancelled",
			        f->reading_path);
			err_remedy(&lab->s.run_err, "r runs what is selected here; q quits");
		} else if (r) {
			lab->s.run_err = r->err;
		} else {
			err_set(&lab->s.run_err, ERR_TIMEOUT, "%s: was not read in %d s", f->reading_path,
			        READ_LIMIT_S);
			err_remedy(&lab->s.run_err, "copy it to a disk of this machine");
		}
		if (!cancelled)
			f->read_err = lab->s.run_err;
	}
	if (r && !taken)
		drop_reading(r);
	free(f->reading_path);
	f->reading_path = NULL;
	return true;
}

void lab_open_cancel(struct lab *lab)
{
	struct lab_files *f = lab->files;
	if (!f || !f->reading)
		return;
	f->read_cancelled = true;
	errand_cancel(f->reading);
}

bool lab_opened(struct lab *lab, double patience_s, struct err *err)
{
	struct lab_files *f = files_of(lab);
	const unsigned turns = (unsigned)(patience_s * 1e3 / TURN_MS);
	for (unsigned i = 0; f->reading && i < turns; i++) {
		take_reading(lab);
		if (f->reading)
			nanosleep(&turn, NULL);
	}
	*err = f->read_err;
	f->late = f->reading != NULL;
	return !f->late;
}

const char *lab_note(struct lab *lab)
{
	return files_of(lab)->note;
}

/* --- writing --- */

struct writing {
	char *path, *text, *said;
	struct err err;
	bool ok;
};

static void write_it(void *ctx, const atomic_bool *cancel, atomic_uint *part)
{
	struct writing *w = ctx;
	(void)cancel; /* the old file or the new one: there is nothing in between to stop at */
	(void)part;
	w->ok = file_replace(w->path, w->text, strlen(w->text), &w->err);
}

static void drop_writing(void *ctx)
{
	struct writing *w = ctx;
	free(w->path);
	free(w->text);
	free(w->said);
	free(w);
}

bool lab_write(struct lab *lab, const char *path, char *text, const char *said, struct err *err)
{
	struct lab_files *f = files_of(lab);
	if (f->writing) {
		free(text);
		err_set(err, ERR_USAGE, "%s is still being written", f->writing_path);
		return err_remedy(err, "once more when it is there");
	}
	struct writing *w = mem_zalloc(sizeof *w);
	w->path = mem_strdup(path);
	w->text = text;
	w->said = mem_strdup(said);
	f->writing_path = mem_strdup(path);
	f->writing = errand_begin(&(struct errand_order){ .work = write_it,
	                                                  .drop = drop_writing,
	                                                  .ctx = w,
	                                                  .limit_s = WRITE_LIMIT_S,
	                                                  .tell = tell,
	                                                  .told = lab->worker });
	return true;
}

bool lab_export(struct lab *lab, char *name, size_t n, struct err *err)
{
	if (lab->program) {
		err_set(err, ERR_UNSUPPORTED, "a program's launches are written by the verb launches");
		return err_remedy(err, "pmpp-explore launches PROGRAM --json > FILE.json");
	}
	session_file_name(&lab->s, (long long)time(NULL), name, n);
	char *text = session_document(&lab->s);
	if (!text)
		return err_set(err, ERR_INTERNAL, "%s: this session is no document", name);
	char said[640];
	snprintf(said, sizeof said, "written: %.256s   (pmpp-explore %.256s opens it again)", name,
	         name);
	return lab_write(lab, name, text, said, err);
}

static bool take_writing(struct lab *lab)
{
	struct lab_files *f = lab->files;
	if (!f->writing || errand_state(f->writing) == ERRAND_UNDER_WAY)
		return false;
	struct writing *w = errand_close(f->writing);
	f->writing = NULL;
	if (!w)
		say(f, true, "%.300s: not written in %d s; choose a folder on a disk of this machine",
		    f->writing_path, WRITE_LIMIT_S);
	else if (!w->ok)
		say(f, true, "%.400s; %.250s", w->err.msg, w->err.remedy);
	else
		say(f, false, "%s", w->said);
	if (w)
		drop_writing(w);
	free(f->writing_path);
	f->writing_path = NULL;
	return true;
}

bool lab_said(struct lab *lab, char *out, size_t n, bool *bad)
{
	struct lab_files *f = files_of(lab);
	if (!f->said.any)
		return false;
	snprintf(out, n, "%s", f->said.text);
	*bad = f->said.bad;
	f->said.any = false;
	return true;
}

bool lab_written(struct lab *lab, struct err *err)
{
	struct lab_files *f = files_of(lab);
	while (f->writing && !take_writing(lab))
		nanosleep(&turn, NULL);
	const bool ok = !f->said.any || !f->said.bad;
	f->said.any = false;
	return ok || err_set(err, ERR_IO, "%s", f->said.text);
}

/* --- both --- */

bool lab_files_poll(struct lab *lab)
{
	if (!lab->files)
		return false;
	const bool written = take_writing(lab);
	return take_reading(lab) || written;
}

bool lab_files_free(struct lab *lab)
{
	struct lab_files *f = lab->files;
	drop_old(lab);
	if (f && f->writing) {
		struct writing *w = errand_close(f->writing);
		if (w)
			drop_writing(w);
	}
	if (f)
		free(f->writing_path);
	free(f);
	lab->files = NULL;
	return !errands_left();
}
