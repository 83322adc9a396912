/*
 * Our counters beside Nsight Compute's of the same launches: gpu_check ncu COUNTERS.jsonl NCU.csv
 *
 * Counts must be equal to the last unit, ratios within half a percent. FP16 operations of kernels
 * without any are an exception: ours leave out the constants that ptxas moves by HFMA2. Bytes
 * beyond L1 and occupancy depend on what ran before and vary from run to run on either side: their
 * spread is shown, not judged.
 */
#include "gpu_launches.h"

#include "cuda/cuda_counters.h"
#include "base/mem.h"
#include "base/text.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 2048
#define RATIO_LIMIT 0.005

static const enum metric_id varying[] = { M_OCC_ACHIEVED, M_DRAM_READ, M_DRAM_WRITE, M_L2_SECTORS };

/* Splits a line of quoted fields in place. */
static unsigned split(char *s, char **field, unsigned max)
{
	unsigned n = 0;
	while (*s == '"' && n < max) {
		field[n++] = ++s;
		while (*s && !(*s == '"' && s[1] != '"'))
			s += *s == '"' ? 2 : 1;
		if (*s)
			*s++ = '\0';
		s += *s == ',';
	}
	return n;
}

static int column(char *const *header, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(header[i], name))
			return (int)i;
	return -1;
}

static double number(const char *s)
{
	char plain[64];
	size_t n = 0;
	for (; *s && n + 1 < sizeof plain; s++)
		if (*s != ',')
			plain[n++] = *s;
	plain[n] = '\0';
	char *end;
	double v = strtod(plain, &end);
	return n && !*end ? v : (double)NAN;
}

/* The metrics object of the launch of @entry in our file, or NULL. Borrowed from @lines. */
static json_t *ours(json_t *lines, const char *entry)
{
	size_t i;
	json_t *l;
	json_array_foreach(lines, i, l)
	{
		const char *e = json_string_value(json_object_get(l, "entry"));
		if (e && !strcmp(e, entry))
			return json_object_get(l, "metrics");
	}
	return NULL;
}

static json_t *load_lines(const char *path)
{
	FILE *f = fopen(path, "r");
	json_t *all = json_array();
	json_t *l;
	while (f && (l = json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL)))
		json_array_append_new(all, l);
	if (f)
		fclose(f);
	return all;
}

struct tally {
	unsigned compared, equal;
	double worst;
	char where[200];
};

static bool varies(enum metric_id id)
{
	for (size_t i = 0; i < ARRAY_LEN(varying); i++)
		if (varying[i] == id)
			return true;
	return false;
}

/* Metrics that we take from elsewhere than from a counter of the launch. */
static const struct {
	enum metric_id id;
	const char *name;
} others[] = {
	{ M_MEM_LD_LINES, "l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld.sum" },
	{ M_MEM_ST_LINES, "l1tex__t_set_accesses_pipe_lsu_mem_global_op_st.sum" },
};

int do_names(void)
{
	static struct counter_plan p;
	char bad[160];
	if (!counters_plan("GH100", opt.stalls, &p, bad)) {
		fprintf(stderr, "%s\n", bad);
		return 1;
	}
	for (unsigned i = 0; i < p.n; i++)
		printf("%s,", p.names[i]);
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		printf("%s%s", i ? "," : "", others[i].name);
	printf("\n");
	return 0;
}

static double theirs_of(const struct counter_plan *plan, const double *values, unsigned id)
{
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (others[i].id == id)
			return values[plan->n + i];
	return counters_metric(plan, (enum metric_id)id, values);
}

static void compare(const struct counter_plan *plan, const double *values, json_t *metrics,
                    const char *entry, struct tally *tally)
{
	for (unsigned id = 0; id < METRIC_COUNT; id++) {
		double theirs = theirs_of(plan, values, id);
		json_t *j = json_object_get(metrics, metric_catalogue[id].key);
		if (!isfinite(theirs) || !j)
			continue;
		double mine = json_number_value(j);
		if (id == M_FLOP_FP16 && mine == 0)
			continue;
		struct tally *t = &tally[id];
		t->compared++;
		double rel = fabs(mine - theirs) / fmax(fmax(fabs(mine), fabs(theirs)), 1);
		t->equal += rel < 1e-12;
		if (rel > t->worst) {
			t->worst = rel;
			snprintf(t->where, sizeof t->where, "%.80s: %.9g, ncu %.9g", entry, mine, theirs);
		}
	}
}

int do_ncu(const char *jsonl, const char *csv)
{
	static struct counter_plan plan;
	static struct tally tally[METRIC_COUNT];
	char bad[160];
	if (!counters_plan("GH100", false, &plan, bad)) {
		fprintf(stderr, "%s\n", bad);
		return 2;
	}
	json_t *mine = load_lines(jsonl);
	FILE *f = fopen(csv, "r");
	char *line = NULL, *head = NULL, *header[MAX_COLUMNS], *field[MAX_COLUMNS];
	size_t cap = 0;
	unsigned n_header = 0, launches = 0, unknown = 0;
	while (f && getline(&line, &cap, f) > 0) {
		if (!n_header && !strncmp(line, "\"ID\"", 4)) {
			head = mem_strdup(line);
			n_header = split(head, header, MAX_COLUMNS);
			continue;
		}
		if (!n_header || split(line, field, MAX_COLUMNS) != n_header || !*field[0])
			continue; /* tool's own lines, and the row of units */
		int kernel = column(header, n_header, "Kernel Name");
		json_t *metrics = kernel < 0 ? NULL : ours(mine, field[kernel]);
		if (!metrics) {
			unknown++;
			continue;
		}
		double values[COUNTERS_MAX + ARRAY_LEN(others)];
		for (unsigned i = 0; i < plan.n + ARRAY_LEN(others); i++) {
			int c = column(header, n_header, i < plan.n ? plan.names[i] : others[i - plan.n].name);
			values[i] = c < 0 ? (double)NAN : number(field[c]);
		}
		compare(&plan, values, metrics, field[kernel], tally);
		launches++;
	}
	unsigned wrong = 0;
	printf("%u launches, %u of ncu's not in our file\n\n", launches, unknown);
	printf("%-30s %9s %9s  %s\n", "metric", "compared", "equal", "largest difference");
	for (unsigned id = 0; id < METRIC_COUNT; id++) {
		const struct tally *t = &tally[id];
		if (!t->compared)
			continue;
		bool ratio = plan.metric[id].below != 0;
		bool ok = varies((enum metric_id)id) || t->equal == t->compared ||
		          (ratio && t->worst <= RATIO_LIMIT);
		wrong += !ok;
		printf("%-30s %9u %9u", metric_catalogue[id].key, t->compared, t->equal);
		if (t->equal < t->compared)
			printf("  %.3g %% (%s)%s", 100 * t->worst, t->where,
			       varies((enum metric_id)id) ? ": varies from run to run"
			       : ok                       ? ""
			                                  : ": MUST BE EQUAL");
		printf("\n");
	}
	if (f)
		fclose(f);
	free(line);
	free(head);
	json_decref(mine);
	return wrong || !launches ? 1 : 0;
}
