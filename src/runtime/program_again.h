/*
 * One launch of a program that has run, once more and alone, with another grid, block or shared
 * memory: its memory was kept as it was in front of that launch.
 */
#ifndef PMPP_RUNTIME_PROGRAM_AGAIN_H
#define PMPP_RUNTIME_PROGRAM_AGAIN_H

#include "base/err.h"
#include "model/whole_program.h"
#include "runtime/record.h"

#include <stdatomic.h>

/* Was launch @number kept, or the one that it repeats? Its number; 0 = no. */
uint64_t program_kept(const struct program *p, uint64_t number);
/*
 * @out: a program of this one launch, under its number, and of those that its kernel makes, which
 * come behind it. program_free() it in any case.
 * @contents: of each of again->n_wanted, what was there behind the launch; with again->before, what
 * was there in front of it in the first half and behind it in the second; free() each; NULL = it
 * could not be had. May be NULL itself where nothing is wanted.
 * ERR_UNAVAILABLE: it was not kept, or what kept it is gone; ERR_CANCELLED.
 */
bool program_again(struct program *p, uint64_t number, const struct record_again *again,
                   const atomic_bool *cancel, struct program *out, void **contents,
                   struct err *err);
/* The memory that the kept launch finds, @n places; free() them. False: as above. */
bool program_look(struct program *p, uint64_t number, const atomic_bool *cancel,
                  struct record_memory **out, size_t *n, struct err *err);

#endif
