/* What people mean by the names of a kernel's parameters; see user_meaning.h. */
#include "userkernel/user_meaning.h"

#include "base/text.h"

#include <ctype.h>
#include <string.h>

static const struct {
	const char *word; /* a whole part of a name: "row" in num_row, numRow */
	enum meaning meaning;
	unsigned value; /* of MEANS_SMALL; of MEANS_ZERO where neighbours are to meet */
} words[] = {
	{ "n", MEANS_SIZE, 0 },
	{ "m", MEANS_SIZE, 0 },
	{ "nx", MEANS_SIZE, 0 },
	{ "ny", MEANS_SIZE, 0 },
	{ "nz", MEANS_SMALL, 8 },
	{ "len", MEANS_SIZE, 0 },
	{ "length", MEANS_SIZE, 0 },
	{ "size", MEANS_SIZE, 0 },
	{ "count", MEANS_SIZE, 0 },
	{ "num", MEANS_SIZE, 0 },
	{ "total", MEANS_SIZE, 0 },
	{ "width", MEANS_SIZE, 0 },
	{ "height", MEANS_SIZE, 0 },
	{ "w", MEANS_SIZE, 0 },
	{ "h", MEANS_SIZE, 0 },
	{ "rows", MEANS_SIZE, 0 },
	{ "cols", MEANS_SIZE, 0 },
	{ "row", MEANS_SIZE, 0 },
	{ "col", MEANS_SIZE, 0 },
	{ "columns", MEANS_SIZE, 0 },
	{ "dim", MEANS_SIZE, 0 },
	{ "elements", MEANS_SIZE, 0 },
	{ "elems", MEANS_SIZE, 0 },
	{ "numel", MEANS_SIZE, 0 },
	{ "stride", MEANS_SIZE, 0 },
	{ "pitch", MEANS_SIZE, 0 },
	{ "ld", MEANS_SIZE, 0 },
	{ "lda", MEANS_SIZE, 0 },
	{ "ldb", MEANS_SIZE, 0 },
	{ "ldc", MEANS_SIZE, 0 },
	{ "points", MEANS_SIZE, 0 },
	{ "bodies", MEANS_SIZE, 0 },
	{ "particles", MEANS_SIZE, 0 },
	{ "nodes", MEANS_SIZE, 0 },
	{ "vertices", MEANS_SIZE, 0 },
	{ "edges", MEANS_SIZE, 0 },
	{ "radius", MEANS_SMALL, 3 },
	{ "filter", MEANS_SMALL, 3 },
	{ "kernel", MEANS_SMALL, 3 },
	{ "mask", MEANS_SMALL, 5 },
	{ "batch", MEANS_SMALL, 4 },
	{ "channels", MEANS_SMALL, 3 },
	{ "channel", MEANS_SMALL, 3 },
	{ "depth", MEANS_SMALL, 8 },
	{ "iterations", MEANS_SMALL, 4 },
	{ "iters", MEANS_SMALL, 4 },
	{ "iter", MEANS_SMALL, 4 },
	{ "steps", MEANS_SMALL, 4 },
	{ "heads", MEANS_SMALL, 4 },
	{ "clusters", MEANS_SMALL, 8 },
	{ "classes", MEANS_SMALL, 8 },
	{ "bins", MEANS_SMALL, 256 },
	{ "threshold", MEANS_SMALL, 100 },
	{ "tile", MEANS_SMALL, 16 },
	{ "levels", MEANS_SMALL, 4 },
	{ "k", MEANS_SMALL, 16 },
	{ "c", MEANS_SMALL, 3 },
	{ "b", MEANS_SMALL, 4 },
	{ "offset", MEANS_ZERO, 1 },
	{ "start", MEANS_ZERO, 0 },
	{ "begin", MEANS_ZERO, 0 },
	{ "mode", MEANS_ZERO, 0 },
	{ "axis", MEANS_ZERO, 0 },
	{ "device", MEANS_ZERO, 0 },
	{ "rank", MEANS_ZERO, 0 },
	{ "phase", MEANS_ZERO, 0 },
	{ "padding", MEANS_ZERO, 0 },
	{ "pad", MEANS_ZERO, 0 },
	{ "source", MEANS_ZERO, 0 },
	{ "src", MEANS_ZERO, 0 },
	{ "id", MEANS_ZERO, 0 },
	{ "dilation", MEANS_ONE, 0 },
	{ "seed", MEANS_ONE, 0 },
	{ "shift", MEANS_ONE, 0 },
	{ "step", MEANS_ONE, 0 },
	{ "inc", MEANS_ONE, 0 },
	{ "incx", MEANS_ONE, 0 },
	{ "incy", MEANS_ONE, 0 },
	{ "bit", MEANS_ZERO, 0 },
	{ "level", MEANS_ZERO, 0 },
	{ "iteration", MEANS_ONE, 0 },
};

/* The next part of "numRows", "num_rows", "NUM_ROWS" in small letters; false = there is none. */
static bool next_part(const char **at, char *out, size_t n)
{
	const char *s = *at;
	size_t len = 0;
	while (*s == '_' || isdigit((unsigned char)*s))
		s++;
	const char *first = s;
	while (isalpha((unsigned char)*s)) {
		const bool rises =
			s > first && isupper((unsigned char)*s) && !isupper((unsigned char)s[-1]);
		if (rises)
			break;
		if (len + 1 < n)
			out[len++] = (char)tolower((unsigned char)*s);
		s++;
	}
	out[len] = '\0';
	*at = s;
	return len > 0;
}

enum meaning name_meaning(const char *name, unsigned *usual)
{
	enum meaning found = MEANS_UNKNOWN;
	char part[48];
	for (const char *s = name; next_part(&s, part, sizeof part);)
		for (size_t i = 0; i < ARRAY_LEN(words); i++)
			if (!strcmp(part, words[i].word) &&
			    (found == MEANS_UNKNOWN || words[i].meaning != MEANS_SIZE)) {
				found = words[i].meaning;
				*usual = words[i].value;
			}
	return found;
}

int name_axis(const char *name)
{
	static const char *const along_x[] = { "width", "w", "cols", "col", "columns", "nx" };
	static const char *const along_y[] = { "height", "h", "rows", "row", "ny" };
	char part[48];
	int axis = !strcmp(name, "N") ? 0 : !strcmp(name, "M") ? 1 : -1;
	for (const char *s = name; next_part(&s, part, sizeof part);) {
		for (size_t i = 0; i < ARRAY_LEN(along_x); i++)
			axis = strcmp(part, along_x[i]) == 0 ? 0 : axis;
		for (size_t i = 0; i < ARRAY_LEN(along_y); i++)
			axis = strcmp(part, along_y[i]) == 0 ? 1 : axis;
	}
	return axis;
}
