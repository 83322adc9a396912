/* Formulas of metrics: read to postfix, evaluated on a stack; see metric_formula.h. */
#include "model/metric_formula.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMULA_MAX_STEPS 32

enum step_kind { STEP_NUMBER, STEP_COUNT, STEP_ADD, STEP_SUB, STEP_MUL, STEP_DIV, STEP_MAX };

struct step {
	enum step_kind kind;
	double number;
	enum count_id count; /* STEP_COUNT; of STEP_DIV the first count of the divisor */
};

struct formula {
	unsigned n;
	struct step steps[FORMULA_MAX_STEPS];
	uint64_t needs;
};

/* --- reading --- */

struct formula_reader {
	const char *at;
	struct formula *out;
	char *why; /* 160 */
};

static bool read_sum(struct formula_reader *r);

static bool refuse_formula(struct formula_reader *r, const char *what)
{
	snprintf(r->why, 160, "%s before \"%.60s\"", what, r->at);
	return false;
}

static bool accept_char(struct formula_reader *r, char c)
{
	r->at += strspn(r->at, " ");
	if (*r->at != c)
		return false;
	r->at++;
	return true;
}

static bool put_step(struct formula_reader *r, struct step s)
{
	if (r->out->n == FORMULA_MAX_STEPS)
		return refuse_formula(r, "the formula is too long");
	r->out->steps[r->out->n++] = s;
	return true;
}

static bool read_name(struct formula_reader *r)
{
	const size_t len = strspn(r->at, "abcdefghijklmnopqrstuvwxyz0123456789_");
	const enum count_id id = count_find(r->at, len);
	if (id == COUNT_ID_COUNT)
		return refuse_formula(r, len ? "no such count" : "a number or a count is needed");
	r->at += len;
	r->out->needs |= 1ull << id;
	return put_step(r, (struct step){ .kind = STEP_COUNT, .count = id });
}

static bool read_atom(struct formula_reader *r)
{
	r->at += strspn(r->at, " ");
	if (*r->at >= '0' && *r->at <= '9') {
		char *end;
		const double v = strtod(r->at, &end);
		r->at = end;
		return put_step(r, (struct step){ .kind = STEP_NUMBER, .number = v });
	}
	if (!strncmp(r->at, "max(", 4)) {
		r->at += 4;
		return read_sum(r) && (accept_char(r, ',') || refuse_formula(r, "a comma is needed")) &&
		       read_sum(r) && (accept_char(r, ')') || refuse_formula(r, "')' is needed")) &&
		       put_step(r, (struct step){ .kind = STEP_MAX });
	}
	if (accept_char(r, '('))
		return read_sum(r) && (accept_char(r, ')') || refuse_formula(r, "')' is needed"));
	return read_name(r);
}

/* The first count from step @from on: what a divisor of 0 is called after. */
static enum count_id first_count(const struct formula *f, unsigned from)
{
	for (unsigned i = from; i < f->n; i++)
		if (f->steps[i].kind == STEP_COUNT)
			return f->steps[i].count;
	return COUNT_ID_COUNT;
}

static bool read_product(struct formula_reader *r)
{
	if (!read_atom(r))
		return false;
	for (;;) {
		const unsigned from = r->out->n;
		if (accept_char(r, '*')) {
			if (!read_atom(r) || !put_step(r, (struct step){ .kind = STEP_MUL }))
				return false;
		} else if (accept_char(r, '/')) {
			if (!read_atom(r))
				return false;
			const enum count_id divisor = first_count(r->out, from);
			if (!put_step(r, (struct step){ .kind = STEP_DIV, .count = divisor }))
				return false;
		} else {
			return true;
		}
	}
}

static bool read_sum(struct formula_reader *r)
{
	if (!read_product(r))
		return false;
	for (;;) {
		const bool add = accept_char(r, '+');
		if (!add && !accept_char(r, '-'))
			return true;
		if (!read_product(r) || !put_step(r, (struct step){ .kind = add ? STEP_ADD : STEP_SUB }))
			return false;
	}
}

bool formula_read(const char *text, struct formula **out, char why[160])
{
	struct formula_reader r = { .at = text, .out = mem_zalloc(sizeof *r.out), .why = why };
	bool ok = read_sum(&r);
	r.at += strspn(r.at, " ");
	if (ok && *r.at)
		ok = refuse_formula(&r, "an operator is needed");
	if (ok)
		*out = r.out;
	else
		formula_free(r.out);
	return ok;
}

void formula_free(struct formula *f)
{
	free(f);
}

/* --- evaluation --- */

/* NAN for what is no figure, and of a line. */
static double figure_value(const struct formula_input *in, enum count_id id)
{
	return in->launch && id >= COUNT_FIELD_COUNT ? run_counts_figure(in->launch, id) : (double)NAN;
}

static double count_value(const struct formula_input *in, enum count_id id)
{
	return id < COUNT_FIELD_COUNT ? (double)count_get(in->counts, id) : figure_value(in, id);
}

static const char *unknown_count(const struct formula *f, const struct formula_input *in)
{
	for (enum count_id id = 0; id < COUNT_ID_COUNT; id++) {
		if (!(f->needs >> id & 1))
			continue;
		if (!count_known(in->known, id) && isnan(figure_value(in, id)))
			return count_why(in->known, id);
	}
	return NULL;
}

double formula_value(const struct formula *f, const struct formula_input *in, const char **why)
{
	double stack[FORMULA_MAX_STEPS] = { 0 };
	unsigned n = 0;
	*why = unknown_count(f, in);
	if (*why)
		return (double)NAN;
	for (unsigned i = 0; i < f->n; i++) {
		const struct step *s = &f->steps[i];
		if (s->kind == STEP_NUMBER || s->kind == STEP_COUNT) {
			stack[n++] = s->kind == STEP_NUMBER ? s->number : count_value(in, s->count);
			continue;
		}
		const double b = stack[--n], a = stack[n - 1];
		if (s->kind == STEP_DIV && !(b > 0)) {
			*why = s->count < COUNT_FIELD_COUNT ? count_zero(s->count) : "the divisor is 0";
			return (double)NAN;
		}
		stack[n - 1] = s->kind == STEP_ADD   ? a + b
		               : s->kind == STEP_SUB ? a - b
		               : s->kind == STEP_MUL ? a * b
		               : s->kind == STEP_DIV ? a / b
		                                     : fmax(a, b);
	}
	return stack[0];
}

/* --- the catalogue's --- */

static struct formula *catalogue[METRIC_COUNT];

static void read_catalogue(void)
{
	char why[160];
	for (unsigned i = 0; i < METRIC_COUNT; i++)
		if (!strncmp(metric_catalogue[i].source, "= ", 2) &&
		    !formula_read(metric_catalogue[i].source + 2, &catalogue[i], why))
			catalogue[i] = NULL; /* the metric stays n/a; the test over the catalogue names it */
}

const struct formula *metric_formula(enum metric_id id)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, read_catalogue);
	return (unsigned)id < METRIC_COUNT ? catalogue[id] : NULL;
}

uint64_t formula_needs(const struct formula *f)
{
	return f->needs;
}

bool formula_of_lines(const struct formula *f)
{
	return f->needs && !(f->needs >> COUNT_FIELD_COUNT);
}

enum count_id metric_count(enum metric_id id)
{
	const struct formula *f = metric_formula(id);
	return f && f->n == 1 && f->steps[0].kind == STEP_COUNT ? f->steps[0].count : COUNT_ID_COUNT;
}
