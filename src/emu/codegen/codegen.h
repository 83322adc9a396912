/*
 * Room codegen. Sees: lane, ir, analysis, count.
 *
 * From the intermediate form to programs of micro-operations. Handlers come in as tables, so that
 * nothing here depends on the machine that runs them.
 */
#ifndef PMPP_EMU_CODEGEN_H
#define PMPP_EMU_CODEGEN_H

#include "emu/codegen/handlers.h"
#include "emu/codegen/program.h"
#include "model/kernel.h"

/* Builds the programs for im->ir (lowered before): all, but the checked one only where @checked, or
 * the reference alone. @shared_bytes of a block. */
void image_build(struct image *im, const struct launch_plan *plan, uint32_t shared_bytes,
                 const struct handler_set *handlers, bool reference_only, bool checked);
/* Frees programs and intermediate form. */
void image_free(struct image *im);

#endif
