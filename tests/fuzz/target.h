/*
 * What every fuzz target shares. A target takes any bytes; it may refuse them, and the promises of
 * the headers hold for what it accepts and for how it refuses. A broken promise ends the process,
 * as a crash does. Run by `make fuzz` (libFuzzer) and `make fuzz-smoke` (mutate.c).
 */
#ifndef PMPP_FUZZ_TARGET_H
#define PMPP_FUZZ_TARGET_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void promise(bool kept, const char *what)
{
	if (!kept) {
		fprintf(stderr, "broken promise: %s\n", what);
		abort();
	}
}

/* A refusal says why. */
static inline void promise_refusal(const struct err *err)
{
	promise(err->code != ERR_NONE, "a refusal has a code");
	promise(err->msg[0] != '\0', "a refusal says why");
}

/* The input as text that ends; free() it. */
static inline char *input_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	if (!text)
		exit(1);
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* Bytes of the input as numbers, in order; zeros behind its end. */
struct input {
	const uint8_t *at, *end;
};

static inline uint64_t input_number(struct input *in, unsigned bytes)
{
	uint64_t v = 0;
	for (unsigned i = 0; i < bytes && in->at < in->end; i++)
		v |= (uint64_t)*in->at++ << 8 * i;
	return v;
}

#endif
