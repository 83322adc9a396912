/* Collects the tests of a program and runs them. The linker puts what TEST() leaves in the section
 * unit_tests side by side, and names its ends. */
#include "unit.h"

#include "base/mem.h"

#include <stdlib.h>

extern const struct unit_test *const __start_unit_tests[] __attribute__((weak));
extern const struct unit_test *const __stop_unit_tests[] __attribute__((weak));

static struct CMUnitTest *tests;
static size_t n_tests;

static void append(const struct CMUnitTest *test)
{
	tests = mem_realloc(tests, n_tests + 1, sizeof *tests);
	tests[n_tests++] = *test;
}

void unit_add(const char *name, CMUnitTestFunction test, const void *state)
{
	append(&(struct CMUnitTest){
		.name = name,
		.test_func = test,
		.initial_state = (void *)(uintptr_t)state,
	});
}

static int by_line(const void *a, const void *b)
{
	const struct unit_test *const *x = a, *const *y = b;
	return ((*x)->line > (*y)->line) - ((*x)->line < (*y)->line);
}

int unit_run(CMFixtureFunction before, CMFixtureFunction after)
{
	const struct unit_test **sorted = NULL;
	size_t n = 0;
	for (const struct unit_test *const *t = __start_unit_tests; t != __stop_unit_tests; t++) {
		sorted = mem_realloc(sorted, n + 1, sizeof *sorted);
		sorted[n++] = *t;
	}
	if (n)
		qsort(sorted, n, sizeof *sorted, by_line);
	for (size_t i = 0; i < n; i++)
		append(&sorted[i]->test);
	free(sorted);
	return _cmocka_run_group_tests("tests", tests, n_tests, before, after);
}
