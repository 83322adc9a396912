/*
 * A GPU data sheet's text: YAML by schema, range and consistency checks; see gpu.h.
 * Knows the form of a sheet, not its figures: those are in presets/gpus/, each with its source.
 */
#include "model/gpu.h"
#include "base/text.h"
#include "model/occupancy.h"
#include "model/yaml_load.h"

#include <cyaml/cyaml.h>
#include <stdio.h>
#include <string.h>

static const cyaml_schema_field_t source_fields[] = {
	CYAML_FIELD_STRING("figures", CYAML_FLAG_DEFAULT, struct gpu_source, figures, 1),
	CYAML_FIELD_STRING("text", CYAML_FLAG_DEFAULT, struct gpu_source, text, 1),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t source_entry = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct gpu_source, source_fields),
};

static const cyaml_schema_field_t sheet_fields[] = {
	CYAML_FIELD_STRING("id", CYAML_FLAG_DEFAULT, struct gpu_spec, id, 1),
	CYAML_FIELD_STRING("name", CYAML_FLAG_DEFAULT, struct gpu_spec, name, 1),
	CYAML_FIELD_STRING("arch", CYAML_FLAG_DEFAULT, struct gpu_spec, arch, 1),
	CYAML_FIELD_STRING("chip", CYAML_FLAG_DEFAULT, struct gpu_spec, chip, 1),
#define X(type, field, least, most, about) \
	CYAML_FIELD_##type(#field, CYAML_FLAG_DEFAULT, struct gpu_spec, field),
	GPU_FIGURES(X)
#undef X
#define X(type, field, least, most, about) \
	CYAML_FIELD_##type(#field, CYAML_FLAG_OPTIONAL, struct gpu_spec, field),
		GPU_OPTIONAL_FIGURES(X)
#undef X
			CYAML_FIELD_SEQUENCE_COUNT("sources", CYAML_FLAG_DEFAULT, struct gpu_spec, sources,
	                                   n_sources, &source_entry, 1, GPU_MAX_SOURCES),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t sheet = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct gpu_spec, sheet_fields),
};

static const char *const figure_names[] = {
#define X(type, field, least, most, about) #field,
	GPU_FIGURES(X) GPU_OPTIONAL_FIGURES(X)
#undef X
};

/* --- what the schema cannot say --- */

/* The text being judged, for messages that point into it. */
struct sheet_text {
	const char *yaml;
	size_t len;
	const char *name;
	struct err *err;
};

#define AT(o, path, ...) yaml_error_at((o)->yaml, (o)->len, (o)->name, path, (o)->err, __VA_ARGS__)

static bool check_id(const struct gpu_spec *g, const struct sheet_text *o)
{
	for (const char *c = g->id; *c; c++)
		if (!((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '-' || *c == '_'))
			return AT(o, "id", "'id' is made of a-z, 0-9, '-' and '_' only");
	return true;
}

static bool check_ranges(const struct gpu_spec *g, const struct sheet_text *o)
{
	const struct {
		const char *key, *about;
		double value, least, most;
	} figures[] = {
#define X(type, field, least, most, about) { #field, about, (double)g->field, least, most },
		GPU_FIGURES(X) GPU_OPTIONAL_FIGURES(X)
#undef X
	};
	for (size_t i = 0; i < ARRAY_LEN(figures); i++) {
		if (figures[i].value >= figures[i].least && figures[i].value <= figures[i].most)
			continue;
		char got[32], least[32], most[32];
		return AT(o, figures[i].key, "'%s' (%s) must be from %s to %s, not %s", figures[i].key,
		          figures[i].about, fmt_num(least, sizeof least, figures[i].least, 7),
		          fmt_num(most, sizeof most, figures[i].most, 7),
		          fmt_num(got, sizeof got, figures[i].value, 9));
	}
	return true;
}

/* Figures that contradict one another: each pair with the reason it must hold. */
static bool check_consistent(const struct gpu_spec *g, const struct sheet_text *o)
{
	if (g->max_threads_per_sm % g->warp_size)
		return AT(o, "max_threads_per_sm",
		          "'max_threads_per_sm' must be a multiple of the warp size");
	if (g->max_threads_per_block > g->max_threads_per_sm)
		return AT(o, "max_threads_per_block",
		          "'max_threads_per_block' is larger than 'max_threads_per_sm'");
	if (g->regs_per_block > g->regs_per_sm)
		return AT(o, "regs_per_block", "'regs_per_block' is larger than 'regs_per_sm'");
	if (g->smem_per_block_bytes > g->smem_per_block_optin_bytes)
		return AT(o, "smem_per_block_optin_bytes",
		          "'smem_per_block_optin_bytes' is smaller than 'smem_per_block_bytes'");
	if (g->smem_per_block_optin_bytes + g->smem_reserved_per_block_bytes > g->smem_per_sm_bytes)
		return AT(o, "smem_per_sm_bytes",
		          "'smem_per_sm_bytes' cannot hold one block of 'smem_per_block_optin_bytes' "
		          "and the reserve");
	if (g->l1_bytes < g->smem_per_sm_bytes)
		return AT(o, "l1_bytes", "'l1_bytes' is smaller than the shared memory it contains");
	struct err e = { .code = ERR_NONE };
	const char *key = NULL;
	if (!occ_sheet_known(g, &key, &e))
		return AT(o, key, "%s", e.msg);
	return true;
}

static bool names_figure(const char *list, const char *figure)
{
	size_t n = strlen(figure);
	for (const char *at = list; (at = strstr(at, figure)); at += n)
		if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return true;
	return false;
}

const char *gpu_source_of(const struct gpu_spec *g, const char *figure)
{
	for (unsigned i = 0; i < g->n_sources; i++)
		if (names_figure(g->sources[i].figures, figure))
			return g->sources[i].text;
	return NULL;
}

/* A figure of the link that was not measured needs no source. */
static bool left_out(const struct gpu_spec *g, const char *figure)
{
#define X(type, field, least, most, about) \
	if (!strcmp(figure, #field))           \
		return !(g->field > 0);
	GPU_OPTIONAL_FIGURES(X)
#undef X
	return false;
}

static bool check_sources(const struct gpu_spec *g, const struct sheet_text *o)
{
	for (unsigned i = 0; i < g->n_sources; i++) {
		const char *s = g->sources[i].figures;
		while (*s) {
			char word[64], path[48];
			size_t n = strcspn(s, " ");
			snprintf(word, sizeof word, "%.*s", (int)(n < 63 ? n : 63), s);
			snprintf(path, sizeof path, "sources[%u].figures", i);
			bool known = n == 0;
			for (size_t k = 0; !known && k < ARRAY_LEN(figure_names); k++)
				known = !strcmp(word, figure_names[k]);
			if (!known) {
				const char *near = str_nearest(word, figure_names, ARRAY_LEN(figure_names));
				return AT(o, path, "'%s' is not a figure%s%s%s", word,
				          near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
			}
			s += n + (s[n] == ' ');
		}
	}
	for (size_t k = 0; k < ARRAY_LEN(figure_names); k++)
		if (!gpu_source_of(g, figure_names[k]) && !left_out(g, figure_names[k])) {
			AT(o, figure_names[k], "'%s' has no source", figure_names[k]);
			return err_remedy(o->err, "name it in the 'figures' of an entry of 'sources'");
		}
	return true;
}

bool gpu_parse(const char *yaml, size_t len, const char *origin, struct gpu_spec *out,
               struct err *err)
{
	struct sheet_text o = { .yaml = yaml, .len = len, .name = origin, .err = err };
	void *data;
	if (!yaml_load(yaml, len, origin, &sheet, &data, err))
		return false;
	struct gpu_spec *g = data;
	bool good =
		check_id(g, &o) && check_ranges(g, &o) && check_consistent(g, &o) && check_sources(g, &o);
	if (good)
		*out = *g;
	yaml_unload(&sheet, g);
	return good;
}
