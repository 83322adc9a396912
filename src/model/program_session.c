#define _GNU_SOURCE /* sigabbrev_np */
/* A program's run against the one before, and its events in order; see program_session.h. */
#include "model/program_session.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void session_program_free(struct session_program *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < 2; i++) {
		struct program *run = i ? p->before : p->now;
		if (run)
			program_free(run);
		free(run);
	}
	free(p->command);
	free(p->output);
	free(p);
}

/* --- groups of two runs --- */

static const char *kernel_of(const struct program *p, const struct program_group *g)
{
	return p->kernels[g->kernel].signature;
}

static bool same_launch(const struct program *p, const struct program_group *g,
                        const struct program *of, const struct program_group *h)
{
	return !strcmp(kernel_of(p, g), kernel_of(of, h)) &&
	       !memcmp(g->grid, h->grid, sizeof g->grid) &&
	       !memcmp(g->block, h->block, sizeof g->block) &&
	       g->dynamic_shared_bytes == h->dynamic_shared_bytes;
}

static const struct program_group *find_same(const struct program *p, const struct program_group *g,
                                             const struct program *of)
{
	for (size_t i = 0; i < of->n_groups; i++)
		if (same_launch(p, g, of, &of->groups[i]))
			return &of->groups[i];
	return NULL;
}

/* How many groups of @g's kernel that have no counterpart in @of were launched before @g. */
static size_t rank_among_changed(const struct program *p, const struct program_group *g,
                                 const struct program *of)
{
	size_t rank = 0;
	for (size_t i = 0; i < p->n_groups; i++) {
		const struct program_group *h = &p->groups[i];
		rank += h->first < g->first && !strcmp(kernel_of(p, h), kernel_of(p, g)) &&
		        !find_same(p, h, of);
	}
	return rank;
}

const struct program_group *program_group_before(const struct program *p,
                                                 const struct program_group *g,
                                                 const struct program *of)
{
	if (!of)
		return NULL;
	const struct program_group *same = find_same(p, g, of);
	if (same)
		return same;
	const size_t rank = rank_among_changed(p, g, of);
	for (size_t i = 0; i < of->n_groups; i++) {
		const struct program_group *h = &of->groups[i];
		if (!strcmp(kernel_of(of, h), kernel_of(p, g)) && !find_same(of, h, p) &&
		    rank_among_changed(of, h, p) == rank)
			return h;
	}
	return NULL;
}

const struct program_group *program_group_of(const struct program *p, uint64_t number)
{
	const struct program_launch *l = number ? program_launch_numbered(p, number) : NULL;
	return l && l->group < p->n_groups ? &p->groups[l->group] : NULL;
}

double program_group_metric(const struct program *p, const struct program_group *g,
                            enum metric_id id)
{
	for (size_t i = 0; i < p->n_launches; i++) {
		const struct program_launch *l = &p->launches[i];
		if (l->group < p->n_groups && &p->groups[l->group] == g && l->metrics)
			return metric_get(l->metrics, id);
	}
	return NAN;
}

/* --- launches and copies in order --- */

size_t program_events(const struct program *p)
{
	return p->n_launches + p->n_copies;
}

/* Copies before launch index @i: they carry the number of the launch that they precede. */
static size_t copies_before(const struct program *p, size_t i)
{
	size_t low = 0, high = p->n_copies;
	if (i >= p->n_launches)
		return p->n_copies;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (p->copies[middle].before <= p->launches[i].number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct program_event program_event_at(const struct program *p, size_t i)
{
	struct program_event e = { 0 };
	if (i >= program_events(p))
		return e;
	/* the last launch that has at most @i events before it */
	size_t low = 0, high = p->n_launches;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (middle + copies_before(p, middle) <= i)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && low - 1 + copies_before(p, low - 1) == i)
		e.launch = &p->launches[low - 1];
	else
		e.copy = &p->copies[i - low];
	return e;
}

size_t program_event_of(const struct program *p, uint64_t number)
{
	const struct program_launch *l = number ? program_launch_numbered(p, number) : NULL;
	if (!l)
		return program_events(p);
	const size_t i = (size_t)(l - p->launches);
	return i + copies_before(p, i);
}

/* --- output --- */

const char *program_signal_name(const struct program *p)
{
	const char *name = p->signal ? sigabbrev_np(p->signal) : "";
	return name ? name : "RT";
}

const char *program_finding_short(const struct program_finding *f)
{
	const char *slash = strrchr(f->file, '/');
	const size_t folders = slash ? (size_t)(slash + 1 - f->file) : 0;
	return f->text + (strncmp(f->text, f->file, folders) ? 0 : folders);
}

/* The kernel that was at fault, from 1; 0 = none. */
static size_t kernel_at_fault(const struct program *p, const struct program_finding *x)
{
	const struct program_launch *l = x->launch ? program_launch_numbered(p, x->launch) : NULL;
	return l ? (size_t)l->kernel + 1 : 0;
}

static bool same_fault(const struct program *p, const struct program_finding *a,
                       const struct program_finding *b)
{
	return a->line && a->line == b->line && a->launch && b->launch && a->error == b->error &&
	       !strcmp(a->kind, b->kind) && !strcmp(a->file, b->file) &&
	       !strcmp(a->remedy, b->remedy) && kernel_at_fault(p, a) == kernel_at_fault(p, b);
}

bool program_finding_told(const struct program *p, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (same_fault(p, &p->findings[k], &p->findings[i]))
			return true;
	return false;
}

uint64_t program_finding_more(const struct program *p, size_t i)
{
	uint64_t n = 0;
	for (size_t k = i + 1; k < p->n_findings; k++)
		n += same_fault(p, &p->findings[i], &p->findings[k]);
	return n;
}

static size_t count_lines(const char *s)
{
	size_t n = 0;
	for (; s && *s; s++)
		n += *s == '\n' || !s[1];
	return n;
}

size_t program_output_lines(const struct program *p)
{
	return count_lines(p->output) + count_lines(p->errors);
}

bool program_output_line(const struct program *p, size_t i, const char **origin, char *out,
                         size_t n)
{
	const size_t of_output = count_lines(p->output);
	const char *s = i < of_output ? p->output : p->errors;
	*origin = i < of_output ? "stdout" : "stderr";
	if (i >= program_output_lines(p) || !s)
		return false;
	for (size_t k = i < of_output ? i : i - of_output; k; k--)
		s = strchr(s, '\n') + 1;
	snprintf(out, n, "%.*s", (int)strcspn(s, "\n"), s);
	return true;
}
