/*
 * Arrays of elements: one element to and from a number, what an array holds in a few figures, two
 * arrays compared, and arrays in files (NumPy's .npy, .csv and .txt, raw bytes). For inputs that a
 * person brings and outputs that they want to see.
 */
#ifndef PMPP_MODEL_ARRAY_H
#define PMPP_MODEL_ARRAY_H

#include "base/err.h"
#include "base/text.h"
#include "model/kernel.h"

double elem_get(enum elem_type type, const void *data, size_t i);
/* Whole numbers are cut to what the type holds. */
void elem_put(enum elem_type type, void *data, size_t i, double v);
/* As many digits as tell it from its neighbours: "0.1", "-7", "nan". */
void elem_format(enum elem_type type, const void *data, size_t i, char *out, size_t n);

/* Elements in memory; @data is borrowed unless array_read() made it. */
struct array {
	enum elem_type type;
	size_t count;
	size_t cols; /* of a matrix; 0 = a vector */
	void *data;
};

struct array_stats {
	size_t numbers; /* neither NaN nor infinite; the figures below are theirs */
	size_t nans, infinities, zeros;
	size_t first_odd; /* the first NaN or infinity; count = none */
	double min, max, mean, deviation;
};
void array_stats(const struct array *a, struct array_stats *out);

/* Element by element; the same NaN on both sides is no difference. */
struct array_difference {
	size_t compared, differ, first, largest_at;
	double largest, largest_relative;
};
void array_compare(const struct array *a, const struct array *b, struct array_difference *out);

/* The form of file @path by its ending. */
enum array_form { ARRAY_TEXT, ARRAY_CSV, ARRAY_NPY, ARRAY_RAW, ARRAY_FORMS };
const char *array_form_name(enum array_form f);
bool array_form_find(const char *name, enum array_form *out);
/* The file's elements as @type; others are converted. free(out->data). Raw bytes (any other ending
 * than .npy .csv .txt) are elements of @type as they stand. */
bool array_read(const char *path, enum elem_type type, struct array *out, struct err *err);
/* Appends the array in this form, text and CSV with a line for each row. */
void array_write(const struct array *a, enum array_form form, struct text *out);

#endif
