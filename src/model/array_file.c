/*
 * Arrays in files; see array.h. The .npy form: NumPy's NEP 1, versions 1 to 3; little-endian, in C
 * order.
 */
#include "model/array.h"

#include "base/file.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE ((size_t)4 << 30)

static const char *const form_names[ARRAY_FORMS] = {
	[ARRAY_TEXT] = "text",
	[ARRAY_CSV] = "csv",
	[ARRAY_NPY] = "npy",
	[ARRAY_RAW] = "raw",
};

const char *array_form_name(enum array_form f)
{
	return form_names[f];
}

bool array_form_find(const char *name, enum array_form *out)
{
	for (int f = 0; f < ARRAY_FORMS; f++)
		if (!strcmp(name, form_names[f])) {
			*out = (enum array_form)f;
			return true;
		}
	return false;
}

/* --- numbers as text --- */

static bool numbers_of(const char *path, const char *s, struct array *out, struct err *err)
{
	size_t room = 0, rows = 0, in_row = 0;
	unsigned line = 1;
	bool same = true;
	while (*s) {
		if (*s == '\n') {
			line++;
			rows += in_row > 0;
			same &= !in_row || !out->cols || in_row == out->cols;
			out->cols = in_row ? in_row : out->cols;
			in_row = 0;
		}
		if (*s == '#') {
			s += strcspn(s, "\n");
			continue;
		}
		if (isspace((unsigned char)*s) || *s == ',' || *s == ';') {
			s++;
			continue;
		}
		char *end;
		const double v = strtod(s, &end);
		if (end == s || (*end && !isspace((unsigned char)*end) && !strchr(",;#", *end))) {
			if (line == 1 && !out->count) { /* names of columns */
				s += strcspn(s, "\n");
				continue;
			}
			free(out->data);
			return err_set(err, ERR_PARSE, "%s:%u: '%.*s' is no number", path, line,
			               (int)strcspn(s, ", ;\t\r\n"), s);
		}
		if (out->count == room) {
			room = room ? 2 * room : 1024;
			out->data = mem_realloc(out->data, room, elem_size(out->type));
		}
		elem_put(out->type, out->data, out->count++, v);
		in_row++;
		s = end;
	}
	rows += in_row > 0;
	same &= !in_row || !out->cols || in_row == out->cols;
	if (!same || rows < 2)
		out->cols = 0;
	return true;
}

/* --- .npy --- */

/* NumPy's name of a type without its byte order: "f4". */
static const char *npy_type(enum elem_type t)
{
	static const char *const names[ELEM_TYPES] = {
		[ELEM_F32] = "f4", [ELEM_F64] = "f8", [ELEM_F16] = "f2", [ELEM_I32] = "i4",
		[ELEM_U32] = "u4", [ELEM_U8] = "u1",  [ELEM_I8] = "i1",  [ELEM_I16] = "i2",
		[ELEM_U16] = "u2", [ELEM_I64] = "i8", [ELEM_U64] = "u8",
	};
	return names[t];
}

/* The value behind "'key':" in the header. */
static const char *npy_value(const char *header, const char *key)
{
	const char *at = strstr(header, key);
	at = at ? strchr(at, ':') : NULL;
	return at ? at + 1 + strspn(at + 1, " ") : "";
}

static bool npy_shape(const char *s, struct array *out)
{
	size_t dims = 0, last = 0;
	out->count = 1;
	if (*s++ != '(')
		return false;
	while (*s && *s != ')') {
		char *end;
		last = strtoull(s, &end, 10);
		if (end == s || __builtin_mul_overflow(out->count, last, &out->count))
			return false;
		dims++;
		s = end + strspn(end, ", ");
	}
	out->cols = dims > 1 ? last : 0;
	return *s == ')';
}

static bool of_npy(const char *path, const struct text *t, struct array *out, struct err *err)
{
	const unsigned char *b = (const unsigned char *)t->s;
	if (t->len < 12 || memcmp(t->s, "\x93NUMPY", 6) != 0)
		return err_set(err, ERR_PARSE, "%s: not a .npy file", path);
	const size_t head = b[6] > 1 ? 12 : 10;
	size_t len = (size_t)b[8] | (size_t)b[9] << 8;
	if (b[6] > 1)
		len |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
	if (len > t->len - head)
		return err_set(err, ERR_PARSE, "%s: the header is longer than the file", path);
	char *header = mem_strndup(t->s + head, len);
	const char *descr = npy_value(header, "'descr'");
	enum elem_type from = ELEM_TYPES;
	for (unsigned k = 0; k < ELEM_TYPES; k++)
		if (npy_type((enum elem_type)k) && strchr("'\"", descr[0]) && strchr("<|=", descr[1]) &&
		    !strncmp(descr + 2, npy_type((enum elem_type)k), 2))
			from = (enum elem_type)k;
	if (!strncmp(descr + 1, "|b1", 3))
		from = ELEM_U8;
	const bool fortran = !strncmp(npy_value(header, "'fortran_order'"), "True", 4);
	const bool shaped = npy_shape(npy_value(header, "'shape'"), out);
	size_t bytes = 0;
	bool ok = from != ELEM_TYPES && shaped && !(fortran && out->cols) &&
	          !__builtin_mul_overflow(out->count, elem_size(from), &bytes) &&
	          bytes <= t->len - head - len;
	if (!ok) {
		err_set(err, ERR_PARSE, "%s: %s: %.100s", path,
		        from == ELEM_TYPES ? "a type of element that is not read here"
		        : !shaped          ? "the shape is not understood"
		        : fortran          ? "a matrix by columns: save it in C order"
		                           : "the file ends too early",
		        header);
		free(header);
		return false;
	}
	free(header);
	out->data = mem_alloc(out->count * elem_size(out->type) + 1);
	if (from == out->type)
		memcpy(out->data, t->s + head + len, bytes);
	for (size_t i = 0; from != out->type && i < out->count; i++)
		elem_put(out->type, out->data, i, elem_get(from, t->s + head + len, i));
	return true;
}

/* --- files --- */

static bool ends(const char *path, const char *ending)
{
	const size_t n = strlen(path), m = strlen(ending);
	return n >= m && str_ieq(path + n - m, ending);
}

bool array_read(const char *path, enum elem_type type, struct array *out, struct err *err)
{
	struct text t = { 0 };
	bool ok = true;
	*out = (struct array){ .type = type };
	if (!file_read(path, MAX_FILE, &t, err))
		return false;
	if (ends(path, ".npy")) {
		ok = of_npy(path, &t, out, err);
	} else if (ends(path, ".csv") || ends(path, ".txt")) {
		ok = numbers_of(path, t.s ? t.s : "", out, err);
	} else if (t.len % elem_size(type)) {
		ok = err_set(err, ERR_PARSE, "%s: %zu bytes are no whole number of elements of %s", path,
		             t.len, elem_name(type));
	} else {
		out->count = t.len / elem_size(type);
		out->data = mem_alloc(t.len + 1);
		if (t.len)
			memcpy(out->data, t.s, t.len);
	}
	text_free(&t);
	if (ok && !out->count) {
		free(out->data);
		return err_set(err, ERR_PARSE, "%s: there is no element in it", path);
	}
	return ok;
}

static void write_numbers(const struct array *a, const char *between, struct text *out)
{
	char one[48];
	for (size_t i = 0; i < a->count; i++) {
		const bool end = !a->cols || (i + 1) % a->cols == 0 || i + 1 == a->count;
		elem_format(a->type, a->data, i, one, sizeof one);
		text_add(out, "%s%s", one, end ? "\n" : between);
	}
}

static void write_npy(const struct array *a, struct text *out)
{
	struct text h = { 0 };
	const char *type = npy_type(a->type);
	const struct array wide = { .type = ELEM_F32 }; /* NumPy has no bfloat16 */
	text_add(&h, "{'descr': '%s%s', 'fortran_order': False, 'shape': (",
	         elem_size(a->type) == 1 ? "|" : "<", type ? type : "f4");
	if (a->cols && a->count % a->cols == 0)
		text_add(&h, "%zu, %zu), }", a->count / a->cols, a->cols);
	else
		text_add(&h, "%zu,), }", a->count);
	while ((10 + h.len + 1) % 64)
		text_put(&h, " ", 1);
	text_put(&h, "\n", 1);
	const char head[] = { (char)0x93,        'N', 'U', 'M', 'P', 'Y', 1, 0, (char)(h.len & 255),
		                  (char)(h.len >> 8) };
	text_put(out, head, sizeof head);
	text_put(out, h.s, h.len);
	text_free(&h);
	if (type) {
		text_put(out, a->data, a->count * elem_size(a->type));
		return;
	}
	for (size_t i = 0; i < a->count; i++) {
		float f;
		elem_put(wide.type, &f, 0, elem_get(a->type, a->data, i));
		text_put(out, (const char *)&f, sizeof f);
	}
}

void array_write(const struct array *a, enum array_form form, struct text *out)
{
	switch (form) {
	case ARRAY_TEXT: write_numbers(a, " ", out); break;
	case ARRAY_CSV: write_numbers(a, ",", out); break;
	case ARRAY_NPY: write_npy(a, out); break;
	default: text_put(out, a->data, a->count * elem_size(a->type)); break;
	}
}
