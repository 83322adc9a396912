/* Printed times and rates of variants; see ladder_book.h. */
#include "ladder_book.h"

#include "base/mem.h"
#include "base/text.h"
#include "model/ladder.h"
#include "model/preset.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct printed {
	char variant[96]; /* "sgemm_fast/thread_tile" */
	char text[200];
};

static struct {
	pthread_once_t once;
	size_t n;
	struct printed *all;
} store = { .once = PTHREAD_ONCE_INIT };

static bool time_or_rate(const char *unit)
{
	static const char *const units[] = { "ms", "us", "ns", "GFLOPS", "GB/s" };
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (!strcmp(units[i], unit))
			return true;
	return false;
}

static void add_figure(const struct preset_step *s, const struct preset_book *b, const char *gpu)
{
	struct printed x;
	char number[32];
	const size_t n = strcspn(s->run, " ");
	if (!time_or_rate(b->unit) || b->wrong || n >= sizeof x.variant)
		return;
	memcpy(x.variant, s->run, n);
	x.variant[n] = '\0';
	snprintf(x.text, sizeof x.text, "%s %s: %.90s (%.24s)",
	         fmt_num(number, sizeof number, b->value, 6), b->unit, b->what, s->gpu ? s->gpu : gpu);
	store.all = mem_realloc(store.all, store.n + 1, sizeof *store.all);
	store.all[store.n++] = x;
}

static void read_presets(void)
{
	for (size_t i = 0; i < preset_count(); i++) {
		struct preset *p;
		struct err err = { 0 };
		if (!preset_load(preset_name(i), &p, &err))
			continue; /* `list presets` says what is wrong with it */
		for (unsigned s = 0; s < p->n_steps; s++)
			for (unsigned b = 0; b < p->steps[s].n_book; b++)
				add_figure(&p->steps[s], &p->steps[s].book[b], p->gpu);
		preset_free(p);
	}
}

void ladder_book_warm(void)
{
	pthread_once(&store.once, read_presets);
}

void ladder_book(struct ladder *l)
{
	ladder_book_warm();
	for (unsigned i = 0; i < l->n; i++) {
		struct ladder_rung *r = &l->rungs[i];
		char name[96];
		snprintf(name, sizeof name, "%s/%s", l->kernel->name, r->variant->name);
		r->book[0] = '\0';
		for (size_t k = 0; k < store.n; k++) {
			const size_t at = strlen(r->book);
			if (strcmp(store.all[k].variant, name) || strstr(r->book, store.all[k].text))
				continue;
			if (at + strlen(store.all[k].text) + 3 > sizeof r->book)
				break;
			snprintf(r->book + at, sizeof r->book - at, "%s%s", at ? "; " : "", store.all[k].text);
		}
	}
}
