/*
 * What the sources printed for a ladder's rungs: the `book` figures of the presets' steps that run
 * the same variant, in times and rates.
 *
 * Thread-safe; the first call reads every preset, some tens of milliseconds: not the screen's.
 */
#ifndef PMPP_LAB_LADDER_BOOK_H
#define PMPP_LAB_LADDER_BOOK_H

struct ladder;

/* Fills rungs[].book: "4120.14 GFLOPS: achieved at 512, release build (S-351, rtx4060laptop)";
 * the last word is the GPU sheet of the step. "" = none. */
void ladder_book(struct ladder *l);
/* Reads the presets, if nobody has. */
void ladder_book_warm(void);

#endif
