/*
 * What both libraries of ours inside a person's program need there: the emulated runtime and the
 * one that is injected on a real GPU.
 */
#ifndef PMPP_RUNTIME_RECORD_PROGRAM_H
#define PMPP_RUNTIME_RECORD_PROGRAM_H

/* The program that the explorer started ends with the explorer, however that ends; what the program
 * starts itself is its own affair. Elsewhere nothing happens. */
void program_end_with_explorer(void);
#endif
