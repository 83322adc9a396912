/* Runs in brief; see brief.h. */
#include "model/brief.h"

#include "base/mem.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes up to the host half or the end: the #else or #endif of #ifdef __CUDACC__. A file without
 * one is all device. */
static size_t device_half(const char *text)
{
	unsigned depth = 0;
	bool inside = false;
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		if (!strncmp(line, "#if", 3)) {
			depth = inside ? depth + 1 : 0;
			inside = inside || !strncmp(line, "#ifdef __CUDACC__", 17);
		} else if (inside && !depth &&
		           (!strncmp(line, "#endif", 6) || !strncmp(line, "#else", 5))) {
			return (size_t)(line - text);
		} else if (inside && !strncmp(line, "#endif", 6)) {
			depth--;
		}
	}
	return strlen(text);
}

void source_hash(const char *source, char out[17])
{
	const char *text = source ? source : "";
	snprintf(out, 17, "%016" PRIx64, hash_bytes(HASH_SEED, text, device_half(text)));
}

void brief_of(const struct run_record *r, const char *source, struct run_brief *out)
{
	out->sel = r->sel;
	out->verify = r->verify;
	out->machine_code = run_result_of_machine_code(&r->run);
	out->metrics = r->metrics;
	source_hash(source, out->source);
}

bool brief_same_launch(const struct run_brief *b, const struct selection *sel)
{
	if (!sel->kernel || b->sel.kernel != sel->kernel || b->sel.variant != sel->variant)
		return false;
	for (unsigned i = 0; i < sel->kernel->n_params; i++)
		if (kernel_param_used(sel->kernel, sel->variant, i) && b->sel.params[i] != sel->params[i])
			return false;
	return true;
}

void session_remember(struct session *s, const struct run_record *r, const char *source)
{
	unsigned at = 0;
	if (r->sel.kernel->user || r->sel.kernel->launch_words)
		return; /* a family made at run time may be gone tomorrow */
	while (at < s->n_history && !selection_equal(&s->history[at].sel, &r->sel))
		at++;
	if (at == s->n_history && s->n_history == HISTORY_MAX)
		at = 0;
	if (at < s->n_history) {
		memmove(s->history + at, s->history + at + 1, (s->n_history - at - 1) * sizeof *s->history);
		s->n_history--;
	}
	s->history = mem_realloc(s->history, s->n_history + 1, sizeof *s->history);
	brief_of(r, source, &s->history[s->n_history++]);
}

const struct run_brief *session_reference_run(const struct session *s)
{
	return s->now && !s->reference_run_hidden ? s->reference_run : NULL;
}

void session_pin(struct session *s)
{
	const bool again = s->pinned && s->now && selection_equal(&s->pinned->sel, &s->now->sel);
	free(s->pinned);
	s->pinned = NULL;
	if (again || !s->now)
		return;
	s->pinned = mem_alloc(sizeof *s->pinned);
	brief_of(s->now, s->source, s->pinned);
}

void session_forget(struct session *s)
{
	free(s->history);
	free(s->pinned);
	s->pinned = NULL;
	free(s->reference_run);
	s->history = NULL;
	s->reference_run = NULL;
	s->n_history = 0;
}
