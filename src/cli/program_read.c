/* A program's run from the object that `launches --json` or the key e wrote; see program_out.h. */
#include "cli/program_out.h"

#include "base/file.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define MAX_VALUES ((size_t)1 << 23)
#define MAX_BYTES ((size_t)256 << 20)

static const char *text_of(json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	return s ? s : "";
}

static struct metric_set *read_metrics(json_t *from)
{
	const char *key;
	json_t *o;
	struct metric_set *m = mem_zalloc(sizeof *m);
	metrics_clear(m, "not in the file");
	json_object_foreach(from, key, o)
	{
		const enum metric_id id = metric_find(key);
		json_t *value = json_object_get(o, "value");
		const enum origin origin = origin_named(text_of(o, "origin"));
		if (id == METRIC_COUNT || origin == ORIGIN_NONE)
			continue;
		if (json_is_string(value))
			metric_text(m, id, origin, json_string_value(value));
		else if (json_is_number(value))
			metric_num(m, id, origin, json_number_value(value));
	}
	return m;
}

static void read_triple(json_t *o, const char *key, unsigned out[3])
{
	for (size_t i = 0; i < 3; i++)
		out[i] = (unsigned)json_integer_value(json_array_get(json_object_get(o, key), i));
}

static unsigned kernel_of(struct program *p, const char *name, const char *signature)
{
	for (unsigned k = 0; k < p->n_kernels; k++)
		if (!strcmp(p->kernels[k].signature, signature))
			return k;
	p->kernels = mem_realloc(p->kernels, p->n_kernels + 1u, sizeof *p->kernels);
	p->kernels[p->n_kernels] = (struct program_kernel){ .name = mem_strdup(name),
		                                                .signature = mem_strdup(signature),
		                                                .mangled = mem_strdup(signature),
		                                                .file = mem_strdup("") };
	return p->n_kernels++;
}

static void read_launch(struct program *p, json_t *o)
{
	json_t *span = json_object_get(o, "span"), *of = json_object_get(o, "counts_of");
	const uint64_t number = (uint64_t)json_integer_value(json_object_get(o, "number"));
	struct program_launch *l = &p->launches[p->n_launches++];
	*l = (struct program_launch){
		.number = number,
		.kernel = kernel_of(p, text_of(o, "kernel"), text_of(o, "signature")),
		.stream = (unsigned)json_integer_value(json_object_get(o, "stream")),
		.dynamic_shared_bytes =
			(unsigned)json_integer_value(json_object_get(o, "dynamic_shared_bytes")),
		.span = { json_number_value(json_object_get(span, "call_ns")),
		          json_number_value(json_object_get(span, "start_ns")),
		          json_number_value(json_object_get(span, "end_ns")) },
		.parent = (uint64_t)json_integer_value(json_object_get(o, "parent")),
		.like = of ? (uint64_t)json_integer_value(of) : number,
	};
	read_triple(o, "grid", l->grid);
	read_triple(o, "block", l->block);
	if (!of)
		l->metrics = read_metrics(json_object_get(o, "metrics"));
}

bool program_read(const char *path, struct program *out, struct err *err)
{
	struct text t = { 0 };
	size_t i;
	memset(out, 0, sizeof *out);
	if (!file_read(path, MAX_BYTES, &t, err))
		return false;
	json_t *doc = reader_parse(t.s ? t.s : "", t.len, path, 0, MAX_VALUES, err);
	text_free(&t);
	if (!doc)
		return false;
	json_t *launches = json_object_get(doc, "launches");
	if (strcmp(text_of(doc, "schema"), CLI_SCHEMA) != 0 || !json_is_array(launches)) {
		json_decref(doc);
		return err_set(err, ERR_PARSE, "%s: not what 'pmpp-explore launches --json' writes", path);
	}
	if (!gpu_load(text_of(doc, "gpu"), &out->gpu, err)) {
		json_decref(doc);
		return err_prefix(err, "%s: ", path);
	}
	out->path = mem_strdup(path);
	out->command = mem_strdup(path);
	out->ended = true;
	out->exit_status = (int)json_integer_value(json_object_get(doc, "exit"));
	out->launches = mem_calloc(json_array_size(launches) + 1, sizeof *out->launches);
	for (i = 0; i < json_array_size(launches); i++)
		read_launch(out, json_array_get(launches, i));
	json_decref(doc);
	program_sum_up(out);
	return true;
}
