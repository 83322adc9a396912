/*
 * nvcc as a child: its command line, all that it said, and which files it read. Internal to
 * compile/.
 */
#ifndef PMPP_COMPILE_NVCC_H
#define PMPP_COMPILE_NVCC_H

#include "base/err.h"
#include "base/text.h"

#include <stdatomic.h>
#include <stdint.h>

#define NVCC_MAX_WORDS 512

struct nvcc_command {
	unsigned n;
	char *word[NVCC_MAX_WORDS + 32]; /* ended by NULL when it runs */
};
void nvcc_word(struct nvcc_command *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void nvcc_free(struct nvcc_command *c);
/* @messages: all that it wrote. ERR_UNAVAILABLE: it ended with another status than 0. */
bool nvcc_run(const struct nvcc_command *c, const atomic_bool *cancel, struct text *messages,
              struct err *err);
/* A hash over the files of nvcc -M's rule "program.o : a.cu \ b.h ...", by size and time of change;
 * 0 = one of them is gone. */
uint64_t nvcc_inputs_hash(const char *rule);

#endif
