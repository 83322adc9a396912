/* What the files that read machine code share. Internal to sass/. */
#ifndef PMPP_SASS_PARTS_H
#define PMPP_SASS_PARTS_H

#include "sass/sass.h"

enum { SASS_MAX_OPERANDS = 20 };

/* A part of a text. */
struct slice {
	const char *s;
	size_t len;
};

/* Memory that goes all at once with its module; zeroed. */
void *sass_pool_get(struct sass_pool **pool, size_t bytes);
char *sass_pool_text(struct sass_pool **pool, struct slice text);
void sass_pool_free(struct sass_pool **pool);

/* SASS_SR_COUNT = not among them. */
enum sass_special sass_special_find(const char *name, size_t len);

/* One operand as printed. SASS_OPND_OTHER = the form is not understood. A label or relocation gets
 * its name as @symbol, still to be looked up; LABEL has @value when a number is printed. */
struct sass_operand sass_operand_read(struct slice text, struct sass_pool **pool);

/*
 * An instruction's text without offset and comment, "@!P0 LDG.E R2, desc[UR4][R2.64]": guard,
 * opcode, modifiers, operands, which of them are destinations, how many registers each is.
 */
void sass_inst_read(struct slice text, struct sass_inst *i, struct sass_pool **pool);
/* Fills operand @words of an instruction whose opcode and operands are known. */
void sass_set_words(const struct sass_inst *i, struct sass_operand *operands);

/* sass_listing.c: instructions of nvdisasm's text into m->funcs, whose cubin halves are there. */
bool sass_listing_read(struct sass_module *m, const char *text, size_t len, struct err *err);

/* sass_link.c: functions that kernels call behind the kernels' own code, once per kernel. */
void sass_link(struct sass_module *m);

#endif
