/* See pace.h. */
#include "model/pace.h"

void pace_note(struct pace *p, unsigned done, unsigned due, double now_s)
{
	if (!(p->from_s > 0) || done < p->from) {
		*p = (struct pace){ .from_s = now_s, .from = done };
	} else if (done > p->from && now_s > p->from_s) {
		p->per_s = (done - p->from) / (now_s - p->from_s);
		p->left_s = due / p->per_s;
	}
}

void pace_end(struct pace *p)
{
	*p = (struct pace){ .from_s = 0 };
}
