/*
 * The rules that a kernel's descriptor keeps, each with a message that says what to write instead.
 *
 * The build checks every file of kernels/ with all of them; a descriptor in a person's own file
 * must only be complete. All: ERR_USAGE, false.
 */
#ifndef PMPP_MODEL_KERNEL_CHECK_H
#define PMPP_MODEL_KERNEL_CHECK_H

#include "model/kernel.h"

/* Nothing is missing that the program relies on, and its counts are within bounds. */
bool kernel_check_complete(const struct kernel_desc *k, struct err *err);
/* Names, texts and parameters as the README promises them; @source is the text of the file. */
bool kernel_check_texts(const struct kernel_desc *k, const char *source, struct err *err);
/* Every default can be launched, every example gives its launch, every refusal is refused. */
bool kernel_check_examples(const struct kernel_desc *k, struct err *err);
/* "M=100 block=64": defaults, and these. */
bool kernel_settings(const struct kernel_desc *k, const char *words, int64_t *params,
                     struct err *err);

#endif
