/* Which macros of a person's program can be turned, and what its words are then. */
#include "../unit.h"
#include "lab/program_macros.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char file[64];

static int with_a_source(void **state)
{
	(void)state;
	snprintf(file, sizeof file, "/tmp/pmpp-macros-%d.cu", (int)getpid());
	FILE *f = fopen(file, "w");
	assert_non_null(f);
	fputs("#ifndef GUARD_H\n#define GUARD_H\n"
	      "#ifndef TILE\n#define TILE 16 // side\n#endif\n"
	      "# ifndef ROWS\n#\tdefine ROWS\t-4\n#endif\n"
	      "#ifndef SIDE\n#define SIDE (TILE * 2)\n#endif\n"
	      "#ifndef A\n#define AB 3\n#endif\n"
	      "#ifndef NAMED\n#define NAMED 5\n#endif\n"
	      "#define PLAIN 7\n"
	      "int main() { return TILE; }\n",
	      f);
	fclose(f);
	return 0;
}

static int without(void **state)
{
	(void)state;
	return unlink(file);
}

static struct program_words parsed(unsigned n, const char *const *words)
{
	struct program_words w;
	assert_true(program_words_parse(n, (char *const *)(uintptr_t)words, &w));
	return w;
}

static void expect(const struct program_macro *m, const char *name, int64_t value, int64_t def)
{
	assert_string_equal(m->name, name);
	assert_int_equal(m->value, value);
	assert_int_equal(m->def, def);
}

TEST_WITH(typed_and_guarded_numbers_are_knobs, with_a_source, without)
{
	struct program_macro m[PROGRAM_MACROS];
	struct program_words w = parsed(8, (const char *const[]){ file, "-DTILE=8", "-D", "DEPTH=2",
	                                                          "-DNAMED", "-DF=1.5", "--", "9" });
	assert_int_equal(program_macros(&w, m), 3);
	expect(&m[0], "TILE", 8, 16); /* typed; the source's own is what Backspace gives */
	expect(&m[1], "DEPTH", 2, 2);
	expect(&m[2], "ROWS", -4, -4);
	program_words_free(&w);
}

TEST_WITH(another_value_is_another_word, with_a_source, without)
{
	struct program_words w =
		parsed(6, (const char *const[]){ file, "-D", "TILE=8", "-O3", "--", "9" });
	char want[200];
	program_macros_set(&w, "TILE", 32);
	snprintf(want, sizeof want, "%s -D TILE=32 -O3 -- 9", file);
	assert_string_equal(w.command, want);
	program_macros_set(&w, "ROWS", 2);
	program_macros_set(&w, "ROWS", 3);
	snprintf(want, sizeof want, "%s -D TILE=32 -O3 -DROWS=3 -- 9", file);
	assert_string_equal(w.command, want);
	struct program_macro m[PROGRAM_MACROS];
	assert_int_equal(program_macros(&w, m), 3);
	expect(&m[0], "TILE", 32, 16);
	expect(&m[1], "ROWS", 3, -4);
	expect(&m[2], "NAMED", 5, 5);
	program_words_free(&w);
}

TEST_WITH(an_executable_has_none, with_a_source, without)
{
	struct program_macro m[PROGRAM_MACROS];
	struct program_words w = parsed(2, (const char *const[]){ "./a.out", "-DTILE=8" });
	assert_int_equal(program_macros(&w, m), 0);
	program_words_free(&w);
}

int main(void)
{
	return unit_run(NULL, NULL);
}
