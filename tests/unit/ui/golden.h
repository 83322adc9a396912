/*
 * Approved drawings in files. BLESS=1 (make bless) rewrites them; read the difference before you
 * commit it.
 */
#ifndef TESTS_UI_GOLDEN_H
#define TESTS_UI_GOLDEN_H

#include <stdbool.h>

/* The whole file; NULL = there is none. Freed by the caller. */
char *golden_read(const char *path);
/* Is it asked to rewrite? */
bool golden_bless(void);
void golden_write(const char *path, const char *text);
/* Fails the test with the first row that differs. */
void golden_compare(const char *path, const char *is, const char *want);

#endif
