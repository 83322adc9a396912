/* What a card may count differently each time, as a list of reasons in a document; variation.h. */
#include "model/record_tables.h"

#include <string.h>

static json_t *metrics_of(uint32_t counts)
{
	json_t *list = json_array();
	for (unsigned c = 0; c < VARIATION_COUNTS; c++)
		for (const char *key = variation_keys((enum variation_counts)c); counts >> c & 1 && *key;) {
			const size_t n = strcspn(key, " ");
			json_array_append_new(list, json_stringn(key, n));
			key += n + (key[n] == ' ');
		}
	return list;
}

json_t *record_variation(const struct run_variation *v)
{
	json_t *list = json_array();
	for (unsigned w = 0; w < VARIATION_WHYS; w++) {
		if (!v->counts[w])
			continue;
		json_array_append_new(
			list, json_pack("{s:s, s:s, s:I, s:o}", "why", variation_word((enum variation_why)w),
		                    "text", variation_text((enum variation_why)w), "line",
		                    (json_int_t)v->line[w], "metrics", metrics_of(v->counts[w])));
	}
	return list;
}

static json_t *write_variation(const void *x, enum record_form form)
{
	(void)form;
	return record_variation(&((const struct run_record *)x)->run.counts.variation);
}

/* Metrics that this version does not know of are not taken. */
static uint32_t counts_of(json_t *metrics)
{
	struct run_variation one = { .counts = { 0 } };
	uint32_t counts = 0;
	for (unsigned c = 0; c < VARIATION_COUNTS; c++) {
		one.counts[0] = 1u << c;
		for (size_t i = 0; i < json_array_size(metrics); i++) {
			const char *key = json_string_value(json_array_get(metrics, i));
			if (key && variation_has(&one, key))
				counts |= 1u << c;
		}
	}
	return counts;
}

static bool read_reason(struct reader *r, json_t *o, struct run_variation *v)
{
	int64_t line;
	json_t *metrics;
	if (!json_is_object(o))
		return reader_complain(r, "", "an object is needed");
	const size_t depth = r->depth;
	const char *word = reader_text(r, o, "why");
	if (!word || !reader_whole(r, o, "line", 0, UINT32_MAX, &line) ||
	    !(metrics = reader_enter(r, o, "metrics", JSON_ARRAY)))
		return false;
	reader_leave(r, depth);
	for (unsigned w = 0; w < VARIATION_WHYS; w++) {
		if (strcmp(word, variation_word((enum variation_why)w)))
			continue;
		v->counts[w] = counts_of(metrics);
		v->line[w] = (uint32_t)line;
	}
	return true;
}

bool record_read_variation(struct reader *r, json_t *o, const char *key, struct run_variation *v)
{
	const size_t depth = r->depth;
	json_t *list = reader_enter(r, o, key, JSON_ARRAY);
	if (!list)
		return false;
	for (size_t i = 0; i < json_array_size(list); i++)
		if (!read_reason(r, json_array_get(list, i), v))
			return false;
	reader_leave(r, depth);
	return true;
}

static bool read_variation(struct reader *r, json_t *o, const char *key, void *x)
{
	return record_read_variation(r, o, key, &((struct run_record *)x)->run.counts.variation);
}

const struct record_codec variation_codec = { write_variation, read_variation };
