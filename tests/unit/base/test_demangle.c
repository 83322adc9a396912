/* Names of C++ as they are written. */
#include "../unit.h"
#include "base/demangle.h"

static void reads(const char *mangled, const char *want)
{
	char out[200];
	assert_string_equal(demangle(mangled, true, out, sizeof out), want);
}

TEST(names_are_as_they_are_written)
{
	reads("_Z3addPfi", "add(float*, int)");
	reads("plain", "");
	reads("_Znothing", "");
}

/* Numba tells versions of a function apart by tags, of which nothing is to be seen. */
TEST(tags_of_compilers_are_left_out)
{
	reads("_ZN4main3addB2v1B6cw51cXEPfi", "main::add(float*, int)");
	reads("_Z4sortB5cxx11i", "sort(int)");
}
