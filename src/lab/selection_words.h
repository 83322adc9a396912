/*
 * Words to a selection: "sgemm/tiled", "TILE=32", as they are typed and as presets hold them.
 *
 * All of them: ERR_USAGE names the word, suggests the nearest name and lists what there is. They
 * set kernel, variant and parameters; GPU, back end and seed stay as they are.
 */
#ifndef PMPP_LAB_SELECTION_WORDS_H
#define PMPP_LAB_SELECTION_WORDS_H

#include "base/err.h"
#include "model/session.h"

/* Is the part before '/' a kernel? */
bool word_names_kernel(const char *text);
/* "sgemm/tiled", "sgemm" (its first variant) or a file "my.cu" that holds a descriptor; parameters
 * take their defaults. */
bool select_by_name(const char *text, struct selection *sel, struct err *err);
/* "block=256" */
bool select_param(const char *text, struct selection *sel, struct err *err);
/* "block=1 block=2": which of them is meant? For @kernel's parameters "N=1 n=2", too; NULL: names
 * are as they are spelled. */
bool select_named_once(const struct kernel_desc *kernel, unsigned n, char *const *words,
                       struct err *err);
/* Kernel first, then parameters. Without a variant: the first that can be launched with them; where
 * none can, the first that has them all. */
bool select_by_words(unsigned n, char **words, struct selection *sel, struct err *err);
/* The same for all variants at once: a parameter is legal when any variant has it. */
bool select_ladder(unsigned n, char **words, struct selection *sel, struct err *err);

#endif
