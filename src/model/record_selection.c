/* The tables of what is run, and on what: GPU sheet, selection, run in brief; see record_tables.h.
 */
#include "model/brief.h"
#include "model/record_rows.h"
#include "model/snapshot_reader.h"

/* --- a GPU's sheet --- */

#define T gpu_source
static const struct record_field source_fields[] = {
	FIELD(figures, CHARS),
	FIELD(text, CHARS),
};
static const struct record_table source_table = TABLE("gpu_source", NULL, source_fields);
#undef T

#define WORD_SCHEMA "{\"type\": \"string\", \"pattern\": \"^[A-Za-z0-9_][A-Za-z0-9_.-]*$\"}"
#define T gpu_spec
static json_t *target(const void *x, enum record_form form)
{
	char sm[16];
	(void)form;
	return json_string(gpu_sm_name(x, sm, sizeof sm));
}

static json_t *ridge(const void *x, enum record_form form)
{
	(void)form;
	return json_number(gpu_ridge_flop_per_byte(x));
}

#define GPU_INT UNSIGNED
#define GPU_UINT UNSIGNED
#define GPU_FLOAT DOUBLE
#define FIGURE(field, kind_, least_, most_, ...) \
	SHOWN(field, #field, kind_, .range = { (double)(least_), (double)(most_) }, __VA_ARGS__)
static const struct record_field gpu_fields[] = {
	SHOWN(id, "id", CHARS, .word = true, .schema = WORD_SCHEMA),
	SHOWN(name, "name", CHARS),
	SHOWN(arch, "architecture", CHARS),
	SHOWN(chip, "chip", CHARS),
	COMPUTED("target", target),
	SHOWN(live, "live", BOOL, .about = "read from a device, not from a sheet"),
#define X(type, field, least, most, about_) FIGURE(field, GPU_##type, least, most, .about = about_),
	GPU_FIGURES(X)
#undef X
#define X(type, field, least, most, about_) \
	FIGURE(field, GPU_##type, least, most, .about = about_, .optional = true),
		GPU_OPTIONAL_FIGURES(X)
#undef X
			FIELD(sources, ARRAY, .table = &source_table,
	              .count_offset = offsetof(struct T, n_sources)),
	COMPUTED("ridge_flop_per_byte", ridge),
};
const struct record_table gpu_table = TABLE("gpu", "the data sheet the run was for", gpu_fields);

static const struct record_field gpu_name_fields[] = {
	FIELD(id, CHARS, .word = true, .schema = WORD_SCHEMA),
	FIELD(name, CHARS),
	FIELD(live, BOOL),
};
static const struct record_table gpu_name_table =
	TABLE("gpu_name", "which sheet, without its figures", gpu_name_fields);
#undef T

/* --- a selection --- */

#define OWN_WORDS_MAX 64

/* A person's own kernel comes along: its file and how it was launched. */
static json_t *write_own(const void *x, enum record_form form)
{
	const struct kernel_desc *k = ((const struct selection *)x)->kernel;
	(void)form;
	if (!k->launch_words)
		return NULL;
	json_t *words = json_array();
	for (const char *const *w = k->launch_words; *w; w++)
		json_array_append_new(words, json_utf8(*w));
	return json_pack("{s:o, s:o, s:o}", "file", json_utf8(k->file), "launch", words, "source",
	                 json_utf8(k->source));
}

/* Made again from what the snapshot carries of it. */
static bool read_own(struct reader *r, json_t *from, const char *key, void *x)
{
	struct selection *sel = x;
	const size_t depth = r->depth;
	json_t *o = reader_enter(r, from, key, JSON_OBJECT);
	const char *file = o ? reader_text(r, o, "file") : NULL;
	const char *source = file ? reader_text(r, o, "source") : NULL;
	json_t *list = source ? reader_enter(r, o, "launch", JSON_ARRAY) : NULL;
	const char *words[OWN_WORDS_MAX];
	struct err why = { 0 };
	if (!list)
		return false;
	const size_t n = json_array_size(list);
	for (size_t i = 0; i < n && i < OWN_WORDS_MAX; i++)
		if (!(words[i] = json_string_value(json_array_get(list, i))))
			return reader_complain(r, "", "words are needed");
	if (n > OWN_WORDS_MAX)
		return reader_complain(r, "", "this list is too long");
	if (!names_of(r)->restore_user)
		return reader_complain(r, "", "kernels of one's own are not known here");
	sel->kernel = names_of(r)->restore_user(file, source, (unsigned)n, words, &why);
	if (!sel->kernel) {
		reader_complain(r, "", "this launch is refused");
		return err_remedy(r->err, "%s", why.msg);
	}
	reader_leave(r, depth);
	return true;
}

static bool no_such_name(struct reader *r, json_t *o, const char *key)
{
	const char *variant = json_string_value(json_object_get(o, "variant"));
	reader_complain(r, key, "this program has none of that name");
	return err_remedy(r->err, "open the snapshot with a version that has %s/%s",
	                  json_string_value(json_object_get(o, "kernel")), variant ? variant : "?");
}

static json_t *write_kernel(const void *x, enum record_form form)
{
	(void)form;
	return json_string(((const struct selection *)x)->kernel->name);
}

static bool read_kernel(struct reader *r, json_t *o, const char *key, void *x)
{
	struct selection *sel = x;
	const char *name = reader_text(r, o, key);
	if (name && !sel->kernel) /* else a person's own */
		sel->kernel = names_of(r)->kernel(name);
	return name && (sel->kernel || no_such_name(r, o, key));
}

static json_t *write_variant(const void *x, enum record_form form)
{
	const struct selection *sel = x;
	(void)form;
	return json_string(sel->kernel->variants[sel->variant].name);
}

static bool read_variant(struct reader *r, json_t *o, const char *key, void *x)
{
	struct selection *sel = x;
	const char *name = reader_text(r, o, key);
	const int v = name ? kernel_variant_index(sel->kernel, name) : -1;
	if (v < 0)
		return name && no_such_name(r, o, key);
	sel->variant = (unsigned)v;
	return true;
}

json_t *record_params(const struct selection *sel)
{
	json_t *o = json_object();
	const struct kernel_desc *k = sel->kernel;
	for (unsigned i = 0; i < k->n_params; i++) {
		char word[64];
		if (!kernel_param_used(k, sel->variant, i))
			continue;
		kernel_param_format(k, i, sel->params[i], word, sizeof word);
		json_object_set_new(o, k->params[i].name,
		                    k->params[i].words ? json_utf8(word) : json_integer(sel->params[i]));
	}
	return o;
}

static json_t *write_params(const void *x, enum record_form form)
{
	const struct selection *sel = x;
	if (form == FORM_RUN)
		return record_params(sel);
	json_t *o = json_object();
	for (unsigned i = 0; i < sel->kernel->n_params; i++)
		json_object_set_new(o, sel->kernel->params[i].name, json_integer(sel->params[i]));
	return o;
}

/* A parameter that is not there keeps its default. */
static bool read_params(struct reader *r, json_t *o, const char *key, void *x)
{
	struct selection *sel = x;
	const json_t *params = json_object_get(o, key);
	kernel_defaults(sel->kernel, sel->params);
	for (unsigned i = 0; i < sel->kernel->n_params; i++) {
		const json_t *value = json_object_get(params, sel->kernel->params[i].name);
		if (json_is_integer(value))
			sel->params[i] = json_integer_value(value);
		else if (value)
			return reader_complain(r, key, "whole numbers are needed");
	}
	return true;
}

static json_t *write_gpu(const void *x, enum record_form form)
{
	const struct selection *sel = x;
	return form == FORM_RUN ? record_write_run(&gpu_table, sel->gpu)
	                        : record_write(&gpu_table, sel->gpu);
}

static bool read_sheet(struct reader *r, json_t *o, const char *key, const struct record_table *t,
                       struct selection *sel)
{
	struct gpu_spec gpu = { 0 };
	if (!record_read_member(r, o, key, t, &gpu))
		return false;
	sel->gpu = gpu_intern(&gpu);
	return true;
}

static bool read_gpu(struct reader *r, json_t *o, const char *key, void *x)
{
	return read_sheet(r, o, key, &gpu_table, x);
}

static bool has_own(const void *x)
{
	return ((const struct selection *)x)->kernel->launch_words;
}

static const struct record_codec own_codec = { write_own, read_own };
static const struct record_codec kernel_codec = { write_kernel, read_kernel };
static const struct record_codec variant_codec = { write_variant, read_variant };
static const struct record_codec params_codec = { write_params, read_params };
static const struct record_codec gpu_codec = { write_gpu, read_gpu };

#define NAME_SCHEMA .schema = "{\"type\": \"string\", \"minLength\": 1}"
#define T selection
static const struct record_field launch_fields[] = {
	CODED("kernel", &kernel_codec, NAME_SCHEMA),
	CODED("variant", &variant_codec, NAME_SCHEMA),
	CODED("params", &params_codec,
	      .schema = "{\"type\": \"object\", \"additionalProperties\": {\"type\": \"integer\"}}"),
	SHOWN(backend, "backend", CHARS, .word = true, .schema = WORD_SCHEMA),
	SHOWN(seed, "seed", UNSIGNED),
};
static const struct record_table launch_table = TABLE("launched", NULL, launch_fields);

static const struct record_field selection_fields[] = {
	{ .key = "own",
	  .kind = FIELD_CODED,
	  .codec = &own_codec,
	  .there = has_own,
	  .schema = "{\"description\": \"of a kernel from a person's own file: the file, and the "
	            "words that launched it\", \"type\": \"object\", "
	            "\"required\": [\"file\", \"source\", \"launch\"], \"properties\": {"
	            "\"file\": {\"type\": \"string\", \"pattern\": \"^[^/]+\\\\.[cC][uU]$\"}, "
	            "\"source\": {\"type\": \"string\"}, "
	            "\"launch\": {\"type\": \"array\", \"maxItems\": 64, "
	            "\"items\": {\"type\": \"string\"}}}}" },
	{ .key = "", .run_key = "", .kind = FIELD_RECORD, .table = &launch_table },
	CODED("gpu", &gpu_codec, .table = &gpu_table),
};
const struct record_table selection_table = TABLE("selection", NULL, selection_fields);
#undef T

/* --- a run in brief --- */

#define T run_brief
static json_t *write_gpu_name(const void *x, enum record_form form)
{
	(void)form;
	return record_write(&gpu_name_table, ((const struct run_brief *)x)->sel.gpu);
}

static bool read_gpu_name(struct reader *r, json_t *o, const char *key, void *x)
{
	return read_sheet(r, o, key, &gpu_name_table, &((struct run_brief *)x)->sel);
}

/* Those that are known. */
static json_t *write_metrics(const void *x, enum record_form form)
{
	json_t *metrics = record_metrics(&((const struct run_brief *)x)->metrics, form), *v;
	const char *key;
	void *next;
	json_object_foreach_safe(metrics, next, key, v)
	{
		if (json_is_null(json_object_get(v, "value")))
			json_object_del(metrics, key);
	}
	return metrics;
}

static bool read_metrics(struct reader *r, json_t *o, const char *key, void *x)
{
	return record_read_metrics(r, o, key, &((struct run_brief *)x)->metrics);
}

static const struct record_codec gpu_name_codec = { write_gpu_name, read_gpu_name };
static const struct record_codec known_metrics_codec = { write_metrics, read_metrics };

static const struct record_field brief_fields[] = {
	NAMED("", sel, RECORD, .table = &launch_table),
	CODED("gpu", &gpu_name_codec, .table = &gpu_name_table),
	FIELD(source, CHARS, .schema = "{\"type\": \"string\", \"pattern\": \"^[0-9a-f]{16}$\"}",
	      .about = "hash of the kernel's device code"),
	FIELD(verify, NAME, .names = &verify_names),
	FIELD(machine_code, BOOL, .optional = true, .about = "the emulator counted that, not PTX"),
	CODED("metrics", &known_metrics_codec, METRICS_SCHEMA),
};
const struct record_table brief_table =
	TABLE("brief", "what was run, on what, and the metrics that are known", brief_fields);
#undef T
