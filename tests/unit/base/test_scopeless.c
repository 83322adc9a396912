/* Names of C++ that are too long for their place. */
#include "../unit.h"
#include "base/scopeless.h"

static const struct {
	const char *name;
	int columns;
	const char *shown;
} names[] = {
	{ "a::b", 4, "a::b" }, /* it fits */
	{ "a::b", 3, "b" },
	{ "cub::CUB_300001_SM_800::detail::Scan<thrust::pair<int, int> >", 40,
	  "Scan<pair<int, int> >" },
	{ "x::Policy<int>::Policy1000::Inner", 8, "Policy<int>::Inner" }, /* an instance's stays */
	{ "main::{lambda(void*, unsigned long&)#7}::operator()(n::T*)", 8,
	  "{lambda(void*, unsigned long&)#7}::operator()(T*)" },
	{ "k<(ns::color)2>", 3, "k<(color)2>" },
	{ "größe::wert", 6, "wert" },
	{ "k<f<g<int, long>, a::h<int>>, f<int>, 128>", 40, "k<f<g<int, long>, h<int>>, f<int>, 128>" },
	{ "k<f<g<int, long>, a::h<int>>, f<int>, 128>", 38, "k<f<g<..>, h<..>>, f<int>, 128>" },
	{ "k<f<g<int, long>, h<int>>, f<int>, 128>", 20, "k<f<..>, f<..>, 128>" },
	{ "k<f<g<int, long> >, f<> >(int)", 4, "k<f<..>, f<> >(int)" },
	{ "k<f<int, &n::operator< > >", 4, "k<f<int, &operator< > >" }, /* not all are brackets */
	{ "k<f<int>, (5 > 3)>", 4, "k<f<int>, (5 > 3)>" },
	{ "", 0, "" },
};

TEST(scopes_go_where_there_is_no_room)
{
	char out[100];
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		assert_string_equal(scopeless(names[i].name, names[i].columns, out, sizeof out),
		                    names[i].shown);
}

TEST(a_small_place_holds_as_much_as_it_can)
{
	char out[8];
	assert_string_equal(scopeless("a::abcdefghijkl", 3, out, sizeof out), "abcdefg");
}
