/* Life time of run records; see session.h. The rest of a session is plain data. */
#include "model/session.h"

#include <stdlib.h>

void record_free(struct run_record *r)
{
	if (!r)
		return;
	run_counts_free(&r->counts);
	free(r->program);
	free(r->timeline);
	free(r->spans);
	free(r);
}
