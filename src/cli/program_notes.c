/*
 * What stands below a program's launches: those whose counts are the PTX's and not machine code's,
 * with the reason, and those counts that a card gives differently each time.
 */
#include "cli/program_out.h"

#include "base/lang.h"
#include "base/mem.h"
#include "base/scopeless.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Counted by itself: later launches like it say the same. */
static bool counted(const struct program_launch *l)
{
	return l->like == l->number && l->metrics;
}

static bool same_note(const struct program_launch *a, const struct program_launch *b)
{
	return a->kernel == b->kernel && counted(b) && !strcmp(a->level, b->level) &&
	       !strcmp(a->level_note, b->level_note);
}

/* Marks the launches behind @i of which the same is to be said; how many. */
static uint64_t mark_same(const struct program *p, size_t i, bool *told)
{
	uint64_t n = 0;
	for (size_t k = i + 1; k < p->n_launches; k++)
		if (!told[k] && same_note(&p->launches[i], &p->launches[k])) {
			told[k] = true;
			n++;
		}
	return n;
}

static bool fell_back(const struct program_launch *l)
{
	return counted(l) && l->level_note[0] && !strcmp(l->level, "PTX");
}

static void say_launches(FILE *f, const struct program *p, size_t i, uint64_t more)
{
	const struct program_launch *l = &p->launches[i];
	char name[512];
	fputs("    ", f);
	cli_name(f, STYLE_BOLD, scopeless(p->kernels[l->kernel].name, 100, name, sizeof name));
	if (more)
		cli_say(f, STYLE_NORMAL, " (launch %" PRIu64 ", and %" PRIu64 " more like it)", l->number,
		        more);
	else
		cli_say(f, STYLE_NORMAL, " (launch %" PRIu64 ")", l->number);
}

static void print_fallbacks(FILE *f, const struct program *p, bool *told)
{
	uint64_t n = 0, all = 0;
	for (size_t i = 0; i < p->n_launches; i++) {
		all += counted(&p->launches[i]);
		n += fell_back(&p->launches[i]);
	}
	if (n)
		cli_say(f, STYLE_WATCH,
		        "  %" PRIu64 " of %" PRIu64 " counted launches: PTX, not machine code\n", n, all);
	for (size_t i = 0; i < p->n_launches; i++) {
		if (told[i] || !fell_back(&p->launches[i]))
			continue;
		say_launches(f, p, i, mark_same(p, i, told));
		fprintf(f, ": %s\n", lang_text(p->launches[i].level_note));
	}
}

static bool same_variation(const struct run_variation *a, const struct run_variation *b)
{
	return !memcmp(a->counts, b->counts, sizeof a->counts);
}

static bool varies(const struct program_launch *l)
{
	return counted(l) && l->counts && variation_any(&l->counts->variation);
}

static uint64_t mark_varying(const struct program *p, size_t i, bool *told)
{
	const struct program_launch *l = &p->launches[i];
	uint64_t n = 0;
	for (size_t k = i + 1; k < p->n_launches; k++) {
		const struct program_launch *m = &p->launches[k];
		if (told[k] || !varies(m) || m->kernel != l->kernel ||
		    !same_variation(&l->counts->variation, &m->counts->variation))
			continue;
		told[k] = true;
		n++;
	}
	return n;
}

static void print_varying(FILE *f, const struct program *p, bool *told)
{
	char words[1024];
	bool any = false;
	for (size_t i = 0; i < p->n_launches; i++) {
		if (told[i] || !varies(&p->launches[i]))
			continue;
		if (!any)
			cli_say(f, STYLE_NORMAL, "  a card may count differently:\n");
		any = true;
		say_launches(f, p, i, mark_varying(p, i, told));
		fputc('\n', f);
		const struct run_variation *v = &p->launches[i].counts->variation;
		for (unsigned w = variation_next(v, 0); w < VARIATION_WHYS; w = variation_next(v, w + 1))
			fprintf(f, "      %s\n        %s\n", lang_text(variation_text((enum variation_why)w)),
			        lang_text(variation_counts_text(v, w, words, sizeof words)));
	}
}

void program_print_notes(FILE *f, const struct program *p)
{
	bool *told = mem_calloc(p->n_launches + 1, sizeof *told);
	print_fallbacks(f, p, told);
	memset(told, 0, (p->n_launches + 1) * sizeof *told);
	print_varying(f, p, told);
	free(told);
}
