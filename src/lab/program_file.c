/* A program's run from the object that tells it; see program_file.h. */
#include "program_file.h"
#include "program_family.h"

#include "base/file.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/plain.h"
#include "model/json_reader.h"
#include "model/record_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_VALUES ((size_t)1 << 23)
#define MAX_BYTES ((size_t)256 << 20)
#define MAX_SOURCE_BYTES ((size_t)16 << 20)
#define FIRST_BYTES 256
#define MOST ((uint64_t)1 << 53)

bool program_file_is(const char *path)
{
	char head[FIRST_BYTES + 1] = "";
	struct stat st;
	/* what is read from a pipe is gone for whoever reads next */
	FILE *f = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
	const size_t n = f ? fread(head, 1, FIRST_BYTES, f) : 0;
	if (f)
		fclose(f);
	head[n] = '\0';
	return strstr(head, "\"" PROGRAM_FILE_SCHEMA "\"") && strstr(head, "\"program\":");
}

/* --- reading --- */

static const char *word_of(const json_t *o)
{
	const char *s = json_string_value(o);
	return s ? s : "";
}

static const char *text_of(const json_t *o, const char *key)
{
	return word_of(json_object_get(o, key));
}

static uint64_t number_of(json_t *o, const char *key)
{
	const json_int_t v = json_integer_value(json_object_get(o, key));
	return v > 0 ? (uint64_t)v : 0;
}

static unsigned small_of(json_t *o, const char *key)
{
	const uint64_t v = number_of(o, key);
	return v < UINT32_MAX ? (unsigned)v : UINT32_MAX;
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
		if (id == METRIC_COUNT)
			continue;
		if (origin == ORIGIN_NONE && *text_of(o, "reason"))
			metric_none(m, id, intern(text_of(o, "reason")));
		else if (origin != ORIGIN_NONE && json_is_string(value))
			metric_text(m, id, origin, json_string_value(value));
		else if (origin != ORIGIN_NONE && json_is_number(value))
			metric_num(m, id, origin, json_number_value(value));
	}
	return m;
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

static struct program_span span_of(json_t *o)
{
	json_t *span = json_object_get(o, "span");
	return (struct program_span){ json_number_value(json_object_get(span, "call_ns")),
		                          json_number_value(json_object_get(span, "start_ns")),
		                          json_number_value(json_object_get(span, "end_ns")) };
}

/* Three whole numbers from 1 on. */
static bool read_triple(struct reader *r, json_t *o, const char *key, unsigned out[3])
{
	for (size_t i = 0; i < 3; i++) {
		const json_int_t v = json_integer_value(json_array_get(json_object_get(o, key), i));
		if (v < 1 || v > INT32_MAX)
			return reader_complain(r, key, "three whole numbers from 1 on are needed");
		out[i] = (unsigned)v;
	}
	return true;
}

static unsigned flags_of(json_t *o)
{
	unsigned flags = 0;
	size_t i;
	json_t *word;
	json_array_foreach(json_object_get(o, "flags"), i,
	                   word) for (unsigned f = 0; f < PROGRAM_FLAG_COUNT;
	                              f++) if (json_is_string(word) &&
	                                       !strcmp(json_string_value(word),
	                                               program_flag_word((enum program_flag)f)))
		flags |= 1u << f;
	return flags;
}

static bool read_launch(struct reader *r, struct program *p, json_t *o)
{
	json_t *of = json_object_get(o, "counts_of");
	const uint64_t number = number_of(o, "number");
	const uint64_t before = p->n_launches ? p->launches[p->n_launches - 1].number : 0;
	if (number <= before || number > MOST)
		return reader_complain(r, "number", "a number larger than the one before is needed");
	struct program_launch *l = &p->launches[p->n_launches++];
	*l = (struct program_launch){
		.number = number,
		.kernel = kernel_of(p, text_of(o, "kernel"), text_of(o, "signature")),
		.stream = small_of(o, "stream"),
		.dynamic_shared_bytes = small_of(o, "dynamic_shared_bytes"),
		.span = span_of(o),
		.flags = flags_of(o),
		.parent = number_of(o, "parent"),
		.same_as = number_of(o, "same_as"),
		.like = of ? number_of(o, "counts_of") : number,
	};
	l->counts_as = json_is_true(json_object_get(o, "counts_proved")) ? l->like : 0;
	snprintf(l->level, sizeof l->level, "%s", text_of(o, "level"));
	snprintf(l->level_note, sizeof l->level_note, "%s", text_of(o, "level_note"));
	if (json_object_get(o, "races") && !record_read_member(r, o, "races", &races_table, &l->races))
		return false;
	if (!of)
		l->metrics = read_metrics(json_object_get(o, "metrics"));
	return read_triple(r, o, "grid", l->grid) && read_triple(r, o, "block", l->block);
}

static void read_copy(struct program *p, json_t *o)
{
	struct program_copy *c = &p->copies[p->n_copies++];
	const char *kind = text_of(o, "kind");
	*c = (struct program_copy){
		.number = number_of(o, "number"),
		.stream = small_of(o, "stream"),
		.bytes = number_of(o, "bytes"),
		.pinned = json_is_true(json_object_get(o, "pinned")),
		.async = json_is_true(json_object_get(o, "async")),
		.set = !strcmp(kind, "memset"),
		.direction = PROGRAM_D2D,
		.span = span_of(o),
		.before = number_of(o, "before_launch"),
	};
	for (int d = 0; d < PROGRAM_DIRECTIONS; d++)
		if (!strcmp(kind, program_direction_name((enum program_direction)d)))
			c->direction = (enum program_direction)d;
}

static void read_finding(struct program *p, json_t *o)
{
	p->findings[p->n_findings++] = (struct program_finding){
		.launch = number_of(o, "launch"),
		.times = number_of(o, "times"),
		.kind = mem_strdup(text_of(o, "kind")),
		.text = mem_strdup(text_of(o, "text")),
		.remedy = mem_strdup(text_of(o, "remedy")),
		.file = mem_strdup(text_of(o, "file")),
		.line = small_of(o, "line"),
		.error = json_is_true(json_object_get(o, "error")),
	};
}

/* --- its session --- */

static void read_kernel(struct program *p, json_t *o)
{
	for (unsigned k = 0; k < p->n_kernels; k++) {
		struct program_kernel *kernel = &p->kernels[k];
		if (strcmp(kernel->signature, text_of(o, "signature")) != 0)
			continue;
		free(kernel->mangled);
		free(kernel->file);
		kernel->mangled = mem_strdup(text_of(o, "mangled"));
		kernel->file = mem_strdup(text_of(o, "file"));
		kernel->registers = small_of(o, "registers");
		kernel->static_shared_bytes = small_of(o, "static_shared_bytes");
		kernel->local_bytes = small_of(o, "local_bytes");
		kernel->max_threads = small_of(o, "max_threads");
	}
}

static bool read_counts(struct reader *r, struct program *p, json_t *o)
{
	const struct program_launch *found = program_launch_numbered(p, number_of(o, "launch"));
	struct program_launch *l = (struct program_launch *)(uintptr_t)found;
	if (!l || l->counts || !l->metrics)
		return reader_complain(r, "launch", "a launch that has metrics is needed");
	l->wall_s = json_number_value(json_object_get(o, "wall_s"));
	struct run_counts *c = l->counts = mem_zalloc(sizeof *l->counts);
	return record_read_member(r, o, "counts", &counts_table, c) &&
	       record_read_member(r, o, "fidelity", &fidelity_table, &c->fidelity) &&
	       record_read_variation(r, o, "varies", &c->variation);
}

static bool read_session(struct reader *r, struct program *p, json_t *o)
{
	const json_t *kernels = json_object_get(o, "kernels"), *counts = json_object_get(o, "counts"),
				 *texts = json_object_get(o, "texts");
	bool ok = true;
	p->host_ns = json_number_value(json_object_get(o, "host_ns"));
	for (size_t i = 0; i < json_array_size(kernels); i++)
		read_kernel(p, json_array_get(kernels, i));
	for (size_t i = 0; i < json_array_size(counts) && ok; i++)
		ok = read_counts(r, p, json_array_get(counts, i));
	p->texts = mem_calloc(json_array_size(texts) + 1, sizeof *p->texts);
	for (size_t i = 0; i < json_array_size(texts); i++) {
		const json_t *t = json_array_get(texts, i);
		p->texts[p->n_texts++] =
			(struct program_text){ mem_strdup(text_of(t, "file")), mem_strdup(text_of(t, "text")) };
	}
	return ok;
}

/* --- machine code --- */

static void read_listing(struct program *p, json_t *o)
{
	for (unsigned k = 0; k < p->n_kernels; k++)
		if (!p->kernels[k].code && !strcmp(p->kernels[k].signature, text_of(o, "kernel")))
			p->kernels[k].code = json_dumps(o, JSON_COMPACT);
}

struct code_listing *program_file_code(const struct program_kernel *k)
{
	struct err err = { 0 };
	struct reader r = { .origin = "machine code", .err = &err };
	json_t *o = k->code ? json_loads(k->code, 0, NULL) : NULL;
	struct code_listing *c = o ? mem_zalloc(sizeof *c) : NULL;
	if (c && !record_read(&r, o, &code_table, c)) {
		code_listing_free(c);
		c = NULL;
	}
	json_decref(o);
	return c;
}

/* --- all of it --- */

static char *command_of(const json_t *doc)
{
	struct text t = { 0 };
	const json_t *args = json_object_get(doc, "args");
	text_add(&t, "%s", text_of(doc, "program"));
	for (size_t i = 0; i < json_array_size(args); i++)
		text_add(&t, " %s", word_of(json_array_get(args, i)));
	return t.s;
}

/* Where in the document the reader is. */
static void set_place(struct reader *r, const char *list, size_t i)
{
	if (i < SIZE_MAX)
		snprintf(r->path, sizeof r->path, "%s[%zu]", list, i);
	else
		snprintf(r->path, sizeof r->path, "%s", list);
	r->depth = strlen(r->path);
}

static bool read_all(struct reader *r, json_t *doc, struct program *out)
{
	const json_t *launches = json_object_get(doc, "launches"),
				 *copies = json_object_get(doc, "copies"), *faults = json_object_get(doc, "faults"),
				 *listings = json_object_get(doc, "listings");
	bool ok = true;
	snprintf(out->backend, sizeof out->backend, "%s", text_of(doc, "backend"));
	out->time_origin = strcmp(out->backend, "cuda") ? ORIGIN_MODELLED : ORIGIN_MEASURED;
	out->ended = out->from_file = true;
	out->exit_status = (int)json_integer_value(json_object_get(doc, "exit"));
	/* somebody else's file writes nothing but text on this terminal */
	out->output = plain_text(mem_strdup(text_of(doc, "stdout")));
	out->errors = plain_text(mem_strdup(text_of(doc, "stderr")));
	out->launches = mem_calloc(json_array_size(launches) + 1, sizeof *out->launches);
	out->copies = mem_calloc(json_array_size(copies) + 1, sizeof *out->copies);
	out->findings = mem_calloc(json_array_size(faults) + 1, sizeof *out->findings);
	for (size_t i = 0; i < json_array_size(launches) && ok; i++) {
		set_place(r, "launches", i);
		ok = read_launch(r, out, json_array_get(launches, i));
	}
	for (size_t i = 0; i < json_array_size(copies); i++)
		read_copy(out, json_array_get(copies, i));
	for (size_t i = 0; i < json_array_size(faults); i++)
		read_finding(out, json_array_get(faults, i));
	for (size_t i = 0; i < json_array_size(listings); i++)
		read_listing(out, json_array_get(listings, i));
	set_place(r, "session", SIZE_MAX);
	return ok && read_session(r, out, json_object_get(doc, "session"));
}

bool program_file_read(const char *path, struct program *out, struct err *err)
{
	struct text t = { 0 };
	struct reader r = { .origin = path, .err = err };
	memset(out, 0, sizeof *out);
	if (!file_read(path, MAX_BYTES, &t, err))
		return false;
	json_t *doc = reader_parse(t.s ? t.s : "", t.len, path, 0, MAX_VALUES, err);
	text_free(&t);
	if (!doc)
		return false;
	bool ok = !strcmp(text_of(doc, "schema"), PROGRAM_FILE_SCHEMA) &&
	          json_is_array(json_object_get(doc, "launches"));
	if (!ok)
		err_set(err, ERR_PARSE, "%s: not what 'pmpp-explore launches --json' writes", path);
	else if (!gpu_load(text_of(doc, "gpu"), &out->gpu, err))
		ok = err_prefix(err, "%s: ", path);
	ok = ok && read_all(&r, doc, out);
	if (ok) {
		out->path = mem_strdup(path);
		out->command = command_of(doc);
		program_sum_up(out);
	}
	json_decref(doc);
	return ok;
}

/* --- writing --- */

static json_t *kernel_json(const struct program_kernel *k)
{
	return json_pack("{s:s,s:s,s:s,s:i,s:i,s:i,s:i}", "signature", k->signature, "mangled",
	                 k->mangled, "file", k->file, "registers", (int)k->registers,
	                 "static_shared_bytes", (int)k->static_shared_bytes, "local_bytes",
	                 (int)k->local_bytes, "max_threads", (int)k->max_threads);
}

static json_t *counts_json(const struct program_launch *l)
{
	return json_pack("{s:I,s:f,s:o,s:o,s:o}", "launch", (json_int_t)l->number, "wall_s", l->wall_s,
	                 "fidelity", record_write(&fidelity_table, &l->counts->fidelity), "varies",
	                 record_variation(&l->counts->variation), "counts",
	                 record_write(&counts_table, l->counts));
}

static bool is_told(const json_t *texts, const char *file)
{
	size_t i = 0;
	while (i < json_array_size(texts) && strcmp(text_of(json_array_get(texts, i), "file"), file))
		i++;
	return i < json_array_size(texts);
}

/* Text that is no UTF-8 cannot stand in a document. */
static void add_text(json_t *texts, const char *file)
{
	struct text t = { 0 };
	if (!*file || is_told(texts, file) || !file_read(file, MAX_SOURCE_BYTES, &t, NULL))
		return;
	json_t *text = json_string(t.s ? t.s : "");
	if (text)
		json_array_append_new(texts, json_pack("{s:s,s:o}", "file", file, "text", text));
	text_free(&t);
}

void program_file_add_session(json_t *document, const struct program *p)
{
	json_t *kernels = json_array(), *counts = json_array(), *texts = json_array();
	for (unsigned k = 0; k < p->n_kernels; k++) {
		json_array_append_new(kernels, kernel_json(&p->kernels[k]));
		add_text(texts, p->kernels[k].file);
	}
	for (size_t i = 0; i < p->n_launches; i++) {
		const struct program_launch *l = &p->launches[i];
		if (l->counts)
			json_array_append_new(counts, counts_json(l));
	}
	json_object_set_new(document, "session",
	                    json_pack("{s:f,s:o,s:o,s:o}", "host_ns", p->host_ns, "kernels", kernels,
	                              "counts", counts, "texts", texts));
}
