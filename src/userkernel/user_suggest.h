/*
 * A command line that launches a person's kernel: sizes, block and contents are guesses by names
 * and types, tried where there is somebody to try them. Private to src/userkernel/.
 */
#ifndef PMPP_USERKERNEL_USER_SUGGEST_H
#define PMPP_USERKERNEL_USER_SUGGEST_H

#include "base/text.h"
#include "userkernel/user_family.h"

/* Appends "pmpp-explore FILE --kernel ...", to be pasted into a shell. @text: the file's. */
void user_suggest(const struct user_family *o, const struct user_kernel *k, struct text *t);
/* The launch of @o's kernel with what the person did not say guessed and tried: the whole of it in
 * @spec, @names of what was guessed ("--grid, x"), the command line. What @spec points to besides
 * the person's words; free() it. NULL = no guess goes through. */
void *user_guess(const struct user_family *o, struct user_spec *spec, struct text *names,
                 struct text *line);

#endif
