/*
 * PTX case files: directives at the top, PTX below (tests/ptx/README.md describes them).
 *
 * Reads a file into struct ptx_case and, for a table, writes the module around its body. Refuses
 * what it does not understand, with file and line. Runs nothing.
 */
#ifndef PMPP_TEST_CASE_FILE_H
#define PMPP_TEST_CASE_FILE_H

#include "base/file.h"
#include "case_values.h"
#include "model/counts.h"
#include "model/kernel.h"

#define CASE_MAX_COUNTS 40
#define CASE_MAX_WORDS 6
#define CASE_MAX_COLUMNS 16
#define CASE_MAX_ROWS 1024

struct case_buffer {
	char name[32];
	enum case_type type;
	enum buffer_role role;
	bool partial;
	size_t count;
	struct case_seq init, expect;
	bool expected;
	struct case_tolerance within;
};

struct case_count {
	const char *name;
	size_t offset; /* in struct counts */
	uint32_t line; /* of the source; UINT32_MAX = whole run */
	uint64_t value;
	bool ptx_only; /* hardware runs SASS: not comparable there */
};

struct case_column {
	char name[32];
	enum case_type type;
	bool out;
	struct case_tolerance within;
};

struct ptx_case {
	char path[512], name[64];
	char *text; /* the whole file */
	char entry[64], target[16], version[8];
	struct dim3u grid, block;
	uint32_t shared;
	unsigned n_buffers, n_args, n_counts, n_words;
	struct case_buffer buffers[KERNEL_MAX_BUFFERS];
	struct kernel_arg args[KERNEL_MAX_ARGS];
	struct case_count counts[CASE_MAX_COUNTS];
	char words[CASE_MAX_WORDS][128]; /* the message must hold all of them */
	enum { CASE_RUNS, CASE_FAULTS, CASE_REFUSED } outcome;
	bool check_races;   /* fails only with the race check on */
	bool racy;          /* races that are meant: not run with the check */
	bool emulator_only; /* hardware would not notice, hang, or behave at random */
	double timeout_s;   /* 0 = a generous one */
	/* table */
	bool table;
	unsigned n_columns, n_rows;
	struct case_column columns[CASE_MAX_COLUMNS];
	struct case_value (*rows)[CASE_MAX_COLUMNS];
	/* while reading */
	unsigned line;
	char why[1024];
};

static const struct {
	const char *name;
	size_t offset;
} case_count_fields[] = {
#define X(field, ...) { #field, offsetof(struct counts, field) },
	COUNT_FIELDS(X)
#undef X
};

static inline bool case_bad(struct ptx_case *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static inline bool case_bad(struct ptx_case *c, const char *fmt, ...)
{
	va_list ap;
	const int n = snprintf(c->why, sizeof c->why, "%s:%u: ", c->path, c->line);
	va_start(ap, fmt);
	vsnprintf(c->why + n, sizeof c->why - (size_t)n, fmt, ap);
	va_end(ap);
	return false;
}

static inline char *case_word(char **rest)
{
	char *s = *rest + strspn(*rest, " \t");
	char *end = s + strcspn(s, " \t");
	*rest = end + strspn(end, " \t");
	*end = '\0';
	return s;
}

static inline bool case_u32(const char *s, uint32_t *v)
{
	char *end;
	const unsigned long x = strtoul(s, &end, 0);
	*v = (uint32_t)x;
	return end != s && !*end && x <= UINT32_MAX;
}

static inline bool case_dim(const char *s, struct dim3u *d)
{
	char *end;
	uint32_t v[3] = { 1, 1, 1 };
	for (unsigned i = 0; i < 3; i++) {
		v[i] = (uint32_t)strtoul(s, &end, 10);
		if (end == s || v[i] == 0)
			return false;
		if (!*end) {
			*d = (struct dim3u){ v[0], v[1], v[2] };
			return true;
		}
		if (*end != ',')
			return false;
		s = end + 1;
	}
	return false;
}

static inline struct case_buffer *case_buffer_named(struct ptx_case *c, const char *name)
{
	for (unsigned i = 0; i < c->n_buffers; i++)
		if (!strcmp(c->buffers[i].name, name))
			return &c->buffers[i];
	return NULL;
}

/* "= values" filling a buffer, repeated where they end in "...". */
static inline bool case_fill(struct ptx_case *c, const struct case_buffer *b, char *rest,
                             struct case_seq *s)
{
	const char *bad;
	rest += strspn(rest, " \t");
	if (*rest != '=')
		return case_bad(c, "'= values' expected, not '%s'", rest);
	if (!case_parse_seq(b->type, rest + 1, s, &bad, false))
		return case_bad(c, "not a %s: '%.40s'", case_types[b->type].name, bad);
	if (s->n == 0 || s->n > b->count || (s->n < b->count && !s->repeat))
		return case_bad(c, "%zu values for the %zu elements of '%s'", s->n, b->count, b->name);
	return true;
}

static inline bool case_launch(struct ptx_case *c, char *rest)
{
	while (*rest) {
		const char *what = case_word(&rest), *value = case_word(&rest);
		if (!(!strcmp(what, "grid") && case_dim(value, &c->grid)) &&
		    !(!strcmp(what, "block") && case_dim(value, &c->block)) &&
		    !(!strcmp(what, "shared") && case_u32(value, &c->shared)))
			return case_bad(c, "launch: '%s %s'", what, value);
	}
	return c->grid.x && c->block.x ? true : case_bad(c, "launch needs grid and block");
}

static inline bool case_buffer(struct ptx_case *c, char *rest)
{
	const char *name = case_word(&rest), *type = case_word(&rest), *role = case_word(&rest);
	uint32_t count = 0;
	if (c->n_buffers == KERNEL_MAX_BUFFERS || strlen(name) >= sizeof c->buffers[0].name)
		return case_bad(c, "too many buffers, or a name that is too long");
	struct case_buffer *b = &c->buffers[c->n_buffers++];
	strcpy(b->name, name);
	b->type = case_type_find(type, strlen(type));
	if (b->type == CT_COUNT || b->type == CT_PRED)
		return case_bad(c, "'%s' is no type of a buffer", type);
	b->partial = !strcmp(role, "part");
	b->role = !strcmp(role, "in") ? BUF_IN : !strcmp(role, "inout") ? BUF_INOUT : BUF_OUT;
	if (b->role == BUF_OUT && !b->partial && strcmp(role, "out"))
		return case_bad(c, "a buffer is in, out, inout or part, not '%s'", role);
	if (!case_u32(case_word(&rest), &count) || count == 0)
		return case_bad(c, "how many elements?");
	b->count = count;
	if (b->role == BUF_OUT && !b->partial)
		return *rest ? case_bad(c, "an output has no contents before") : true;
	return case_fill(c, b, rest, &b->init);
}

static inline bool case_args(struct ptx_case *c, char *rest)
{
	while (*rest) {
		char *word = case_word(&rest), *value = strchr(word, ':');
		if (c->n_args == KERNEL_MAX_ARGS)
			return case_bad(c, "too many arguments");
		struct kernel_arg *a = &c->args[c->n_args++];
		if (!value) {
			const struct case_buffer *b = case_buffer_named(c, word);
			if (!b)
				return case_bad(c, "no buffer '%s'", word);
			*a = (struct kernel_arg){ .kind = ARG_BUFFER, .buffer = (unsigned)(b - c->buffers) };
			continue;
		}
		struct case_value v;
		const enum case_type t = case_type_find(word, (size_t)(value - word));
		if (t == CT_COUNT || !case_parse_value(t, value + 1, &v))
			return case_bad(c, "argument '%s'", word);
		switch (t) {
		case CT_S32: *a = (struct kernel_arg){ .kind = ARG_I32, .i32 = (int32_t)v.bits }; break;
		case CT_U32: *a = (struct kernel_arg){ .kind = ARG_U32, .u32 = (uint32_t)v.bits }; break;
		case CT_S64:
		case CT_U64: *a = (struct kernel_arg){ .kind = ARG_I64, .i64 = (int64_t)v.bits }; break;
		case CT_F32:
			*a = (struct kernel_arg){ .kind = ARG_F32, .f32 = (float)case_number(t, v.bits) };
			break;
		default:
			return case_bad(c, "arguments are s32 u32 s64 u64 f32, not %s", case_types[t].name);
		}
	}
	return true;
}

static inline bool case_counter(struct ptx_case *c, char *rest, bool ptx_only, bool with_line)
{
	uint32_t line = UINT32_MAX;
	if (with_line && !case_u32(case_word(&rest), &line))
		return case_bad(c, "which line?");
	const char *field = case_word(&rest), *value = case_word(&rest);
	char *end;
	if (c->n_counts == CASE_MAX_COUNTS)
		return case_bad(c, "too many counts");
	for (size_t i = 0; i < ARRAY_LEN(case_count_fields); i++) {
		if (strcmp(case_count_fields[i].name, field))
			continue;
		const uint64_t v = strtoull(value, &end, 0);
		if (end == value || *end || *rest)
			return case_bad(c, "count: '%s'", value);
		c->counts[c->n_counts++] = (struct case_count){ .name = case_count_fields[i].name,
			                                            .offset = case_count_fields[i].offset,
			                                            .line = line,
			                                            .value = v,
			                                            .ptx_only = ptx_only || with_line };
		return true;
	}
	return case_bad(c, "'%s' is no field of struct counts", field);
}

static inline bool case_words(struct ptx_case *c, const char *rest)
{
	while (*rest == '"') {
		const size_t len = strcspn(rest + 1, "\"");
		if (rest[1 + len] != '"' || len == 0 || len >= sizeof c->words[0] ||
		    c->n_words == CASE_MAX_WORDS)
			return case_bad(c, "words in quotes expected: %s", rest);
		memcpy(c->words[c->n_words], rest + 1, len);
		c->words[c->n_words++][len] = '\0';
		rest += len + 2;
		rest += strspn(rest, " \t");
	}
	return *rest ? case_bad(c, "words in quotes expected: %s", rest) : true;
}

static inline bool case_within(struct ptx_case *c, char *rest)
{
	const char *name = case_word(&rest);
	struct case_tolerance t = { .given = true };
	char *end;
	t.rel = strtod(case_word(&rest), &end);
	bool ok = *end == '\0' && t.rel >= 0;
	if (*rest) {
		t.abs = strtod(case_word(&rest), &end);
		ok = ok && *end == '\0' && t.abs >= 0;
	}
	if (!ok || *rest)
		return case_bad(c, "within: NAME RELATIVE [ABSOLUTE]");
	struct case_buffer *b = case_buffer_named(c, name);
	if (b) {
		b->within = t;
		return true;
	}
	for (unsigned i = 0; i < c->n_columns; i++)
		if (!strcmp(c->columns[i].name, name)) {
			c->columns[i].within = t;
			return true;
		}
	return case_bad(c, "within: no '%s' above", name);
}

static inline bool case_table(struct ptx_case *c, char *rest)
{
	bool out = false;
	c->table = true;
	while (*rest) {
		const char *word = case_word(&rest), *type = strchr(word, ':');
		if (!strcmp(word, "->")) {
			out = true;
			continue;
		}
		struct case_column *k = &c->columns[c->n_columns];
		if (c->n_columns == CASE_MAX_COLUMNS || !type || (size_t)(type - word) >= sizeof k->name)
			return case_bad(c, "column '%s'", word);
		memcpy(k->name, word, (size_t)(type - word));
		k->type = case_type_find(type + 1, strlen(type + 1));
		k->out = out;
		if (k->type == CT_COUNT)
			return case_bad(c, "'%s' is no type", type + 1);
		c->n_columns++;
	}
	return out && !c->columns[0].out ? true : case_bad(c, "table: inputs -> outputs");
}

static inline bool case_row(struct ptx_case *c, char *rest)
{
	if (!c->table || c->n_rows == CASE_MAX_ROWS)
		return case_bad(c, "a row without a table, or too many");
	c->rows = mem_realloc(c->rows, c->n_rows + 1, sizeof *c->rows);
	struct case_value *row = c->rows[c->n_rows++];
	for (unsigned i = 0; i < c->n_columns; i++) {
		const struct case_column *k = &c->columns[i];
		const char *word = case_word(&rest);
		if (k->out && !c->columns[i - 1].out) {
			if (strcmp(word, "->"))
				return case_bad(c, "'->' expected before '%s'", word);
			word = case_word(&rest);
		}
		if (!*word || !case_parse_value(k->type, word, &row[i]) || (row[i].any && !k->out))
			return case_bad(c, "column %s: '%s' is no %s", k->name, word, case_types[k->type].name);
	}
	return *rest ? case_bad(c, "more values than columns: '%s'", rest) : true;
}

static inline bool case_directive(struct ptx_case *c, char *s)
{
	char *rest = s;
	const char *what = case_word(&rest);
	if (!strcmp(what, "launch"))
		return case_launch(c, rest);
	if (!strcmp(what, "buffer"))
		return case_buffer(c, rest);
	if (!strcmp(what, "arg"))
		return case_args(c, rest);
	if (!strcmp(what, "expect")) {
		const char *name = case_word(&rest);
		struct case_buffer *b = case_buffer_named(c, name);
		if (!b)
			return case_bad(c, "no buffer '%s'", name);
		b->expected = true;
		return case_fill(c, b, rest, &b->expect);
	}
	if (!strcmp(what, "count"))
		return case_counter(c, rest, false, false);
	if (!strcmp(what, "ptx-count"))
		return case_counter(c, rest, true, false);
	if (!strcmp(what, "line"))
		return case_counter(c, rest, true, true);
	if (!strcmp(what, "within"))
		return case_within(c, rest);
	if (!strcmp(what, "table"))
		return case_table(c, rest);
	if (!strcmp(what, "row"))
		return case_row(c, rest);
	if (!strcmp(what, "prints"))
		return case_words(c, rest);
	if (!strcmp(what, "fault") || !strcmp(what, "refuse")) {
		c->outcome = what[0] == 'f' ? CASE_FAULTS : CASE_REFUSED;
		return case_words(c, rest);
	}
	if (!strcmp(what, "races")) {
		c->check_races = true;
		return true;
	}
	if (!strcmp(what, "racy")) {
		c->racy = true;
		return true;
	}
	if (!strcmp(what, "emulator")) {
		c->emulator_only = true;
		return true;
	}
	if (!strcmp(what, "timeout")) {
		c->timeout_s = strtod(rest, &rest);
		return c->timeout_s > 0 && !*rest ? true : case_bad(c, "timeout: seconds");
	}
	struct {
		const char *name;
		char *to;
		size_t size;
	} texts[] = {
		{ "entry", c->entry, sizeof c->entry },
		{ "target", c->target, sizeof c->target },
		{ "version", c->version, sizeof c->version },
	};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (!strcmp(what, texts[i].name)) {
			snprintf(texts[i].to, texts[i].size, "%s", case_word(&rest));
			return true;
		}
	return case_bad(c, "'%s' is no directive", what);
}

static inline bool case_complete(struct ptx_case *c)
{
	if (c->table) {
		if (c->n_rows == 0 || c->n_buffers || c->n_counts)
			return case_bad(c, "a table has rows and neither buffers nor counts");
		return true;
	}
	if (!strstr(c->text, ".version"))
		return case_bad(c, "neither a table nor a module");
	if (!c->grid.x)
		return case_bad(c, "no launch");
	bool checked = c->n_counts > 0 || c->outcome != CASE_RUNS;
	for (unsigned i = 0; i < c->n_buffers; i++)
		checked |= c->buffers[i].expected;
	if (!checked)
		return case_bad(c, "this case expects nothing");
	if (!c->entry[0]) {
		const char *e = strstr(c->text, ".entry");
		if (!e || sscanf(e, ".entry %63[A-Za-z0-9_$]", c->entry) != 1)
			return case_bad(c, "no .entry");
	}
	return true;
}

/* False: c->why says what is wrong with the file. */
static inline bool case_read(struct ptx_case *c, const char *path)
{
	struct text file = { 0 }, joined = { 0 };
	struct err err = { 0 };
	*c = (struct ptx_case){ 0 };
	snprintf(c->path, sizeof c->path, "%s", path);
	snprintf(c->target, sizeof c->target, "sm_80");
	snprintf(c->version, sizeof c->version, "8.0");
	const char *base = strrchr(path, '/');
	snprintf(c->name, sizeof c->name, "%.*s", (int)strcspn(base ? base + 1 : path, "."),
	         base ? base + 1 : path);
	if (!file_read(path, 1 << 20, &file, &err))
		return case_bad(c, "%s", err.msg);
	c->text = file.s;
	bool ok = true;
	unsigned number = 0;
	for (const char *p = c->text; ok && *p;) {
		const size_t len = strcspn(p, "\n");
		number++;
		if (!strncmp(p, "//:", 3) && len > 3) {
			const char *body = p + 3 + strspn(p + 3, " \t");
			const int n = (int)(len - (size_t)(body - p));
			if (*body == '+') { /* goes on with the directive above */
				text_add(&joined, " %.*s", n - 1, body + 1);
			} else {
				if (joined.len)
					ok = case_directive(c, joined.s);
				joined.len = 0;
				c->line = number;
				text_add(&joined, "%.*s", n, body);
			}
		}
		p += len;
		p += *p == '\n';
	}
	if (ok && joined.len)
		ok = case_directive(c, joined.s);
	text_free(&joined);
	return ok && case_complete(c);
}

static inline void case_free(struct ptx_case *c)
{
	for (unsigned i = 0; i < c->n_buffers; i++) {
		free(c->buffers[i].init.v);
		free(c->buffers[i].expect.v);
	}
	free(c->rows);
	free(c->text);
}

#endif
