/*
 * What every unit test needs: cmocka, and TEST(), which puts a test into the program of its file.
 * No list is kept by hand. Tests run in the order of their lines, by the main() of unit_main.c; a
 * file that has more to do defines main() itself and calls unit_run().
 */
#ifndef PMPP_UNIT_H
#define PMPP_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Is a sanitizer of memory or threads in this program, and is it ThreadSanitizer? */
#if defined(__SANITIZE_THREAD__)
#define UNIT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNIT_TSAN 1
#elif __has_feature(address_sanitizer)
#define UNIT_ASAN 1
#endif
#endif
#ifndef UNIT_TSAN
#define UNIT_TSAN 0
#endif
#if defined(__SANITIZE_ADDRESS__)
#define UNIT_ASAN 1
#elif !defined(UNIT_ASAN)
#define UNIT_ASAN 0
#endif

struct unit_test {
	struct CMUnitTest test;
	int line;
};

/* TEST(sums_are_exact) { ... }: one test. Its body may use `void **state`. */
#define TEST(name) TEST_WITH(name, NULL, NULL)

/* The same with functions that run before and after it, each of them NULL or int f(void **). */
#define TEST_WITH(name, before, after)                               \
	static void name(void **state);                                  \
	static const struct unit_test unit_##name = {                    \
		{ #name, name, before, after, NULL },                        \
		__LINE__,                                                    \
	};                                                               \
	static const struct unit_test *const unit_at_##name              \
		__attribute__((used, section("unit_tests"))) = &unit_##name; \
	static void name(__attribute__((unused)) void **state)

/* A row of a table that a test walks: what is given, and what must come of it. */
struct unit_case {
	const char *given, *want;
};

/* Adds a test that no TEST() stands for: one of a table's rows, say. They run first. @name must
 * stay; the test finds @state in *state. */
void unit_add(const char *name, CMUnitTestFunction test, const void *state);

/* Runs all tests, between @before and @after (NULL or int f(void **)); returns how many failed. */
int unit_run(CMFixtureFunction before, CMFixtureFunction after);

#endif
