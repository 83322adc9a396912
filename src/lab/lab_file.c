/* A session written to a file, and one read from it. See lab.h. */
#include "lab_state.h"

#include "base/mem.h"
#include "model/brief.h"
#include "model/ladder.h"
#include "session_file.h"

#include <stdlib.h>
#include <time.h>

bool lab_export(struct lab *lab, char *name, size_t n, struct err *err)
{
	if (lab->program) {
		err_set(err, ERR_UNSUPPORTED, "a program's launches are written by the verb launches");
		return err_remedy(err, "pmpp-explore launches PROGRAM --json > FILE.json");
	}
	session_file_name(&lab->s, (long long)time(NULL), name, n);
	return session_save(&lab->s, name, err);
}

bool lab_open(struct lab *lab, const char *path, char *note, size_t n, struct err *err)
{
	struct session read;
	if (!session_open(path, &read, note, n, err))
		return false;
	lab_order_nothing(lab);
	lab->first_serial = lab->last_serial + 1; /* what still comes is not this session's */
	record_free(lab->s.now);
	record_free(lab->s.before);
	ladder_free(lab->s.ladder);
	session_forget(&lab->s);
	free(lab->opened);
	lab->opened = mem_strdup(path);
	lab->s = read;
	lab->s.opened = lab->opened;
	lab_tour_resume(lab);
	lab->wish.backend[0] = '\0';
	lab->wish.gpu_given = true;
	lab->started = true;
	return true;
}
