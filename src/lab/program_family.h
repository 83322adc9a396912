/*
 * A person's whole program as a kernel family, so that everything which speaks of a selection can
 * speak of one of its launches: its kernels are the variants; the number of the launch, its shape
 * and the program's macros are the parameters. For src/lab/ and the verbs that show one launch.
 */
#ifndef PMPP_LAB_PROGRAM_FAMILY_H
#define PMPP_LAB_PROGRAM_FAMILY_H

#include "program_macros.h"

#include "model/code_listing.h"
#include "model/session.h"
#include "model/whole_program.h"

#include <stdatomic.h>

struct program_family;

/* Of the program that @words make. Kept until this process ends: records speak of it. */
struct program_family *program_family_new(const struct program_words *words);
/* Does @sel ask for other macros than the program is compiled with? Then @words get them, and a
 * selection made from here on has them. */
bool program_family_recompile(struct program_family *f, const struct selection *sel,
                              struct program_words *words);
/* The family of @p's launches from now on; NULL = of none. @p is borrowed. */
void program_family_follow(struct program_family *f, const struct program *p);
const struct kernel_desc *program_family_kernel(const struct program_family *f);
/* Is @k such a family? */
bool program_family_is(const struct kernel_desc *k);
/* Launch @number of the family's program as a selection. False: there is none of that number. */
bool program_family_select(struct program_family *f, uint64_t number, struct selection *sel);
/* Does @sel ask for another block, grid or shared memory than its launch had? */
bool program_family_changed(const struct program_family *f, const struct selection *sel);
/* The grid follows a changed block, unless the person has chosen another one. */
void program_family_settle(struct program_family *f, struct selection *sel);
uint64_t program_family_launch(const struct selection *sel);
/* The text of the file that the chosen launch's kernel is in; "" = not known. Lasts as long as the
 * program does. */
const char *program_family_source(struct program_family *f, const struct program *p,
                                  uint64_t number);

/*
 * The record of launch @number of @p, with what was counted in it or in the first launch like it.
 * NULL: there is no such launch. The caller's: record_free().
 */
struct run_record *program_record(const struct program *p, uint64_t number,
                                  const struct selection *sel);
/*
 * The machine code of launch @number's kernel; where there is none it says why. NULL: cancelled.
 * The caller's: code_listing_free(). Takes its time; what tools gave is kept in @p's modules, which
 * nobody else looks at meanwhile.
 */
struct code_listing *program_code(const struct program *p, uint64_t number,
                                  const atomic_bool *cancel);
/* The module of that kernel with its cubin and its disassembly in it; NULL: @err says why not. */
struct program_module *program_machine_code(const struct program *p, uint64_t number,
                                            const atomic_bool *cancel, struct err *err);
/* The compiler's facts of a launch's kernel, for occupancy. */
struct occ_input program_launch_usage(const struct program *p, const struct program_launch *l);

#endif
