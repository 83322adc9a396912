/*
 * A function's machine code as panels show it (model/code_listing.h), from what sass/ knows of it
 * and the text of its PTX.
 */
#ifndef PMPP_SASS_CODE_OF_H
#define PMPP_SASS_CODE_OF_H

#include "model/code_listing.h"
#include "sass/sass.h"

/* Of function @f of @m. @ptx: text of the module, NULL = not there. @source_file: lines of other
 * files count as unknown. The caller's: code_listing_free(). */
struct code_listing *sass_code_of(const struct sass_module *m, const struct sass_func *f,
                                  const char *ptx, const char *source_file);

/* sass_sources.c: fills n_sources and sources of @out, as many as @f has instructions. */
void sass_sources(const struct sass_func *f, struct code_inst *out);

#endif
