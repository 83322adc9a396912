/*
 * The table of views, and what the lab is told of them: cli/ is the layer that sees both.
 */
#ifndef PMPP_CLI_VIEW_LIST_H
#define PMPP_CLI_VIEW_LIST_H

#include "lab/lab.h"
#include "ui/view.h"

size_t view_count(void);                             /* of all */
const struct view_desc *view_at(size_t i);           /* by order; NULL past the end */
const struct view_desc *view_find(const char *name); /* any case; NULL = none */
/* Those on the screen while a kernel is explored, and while a program is; by order. */
size_t kernel_view_count(void);
const struct view_desc *kernel_view_at(size_t i);
size_t program_view_count(void);
const struct view_desc *program_view_at(size_t i);
/* For lab_new(): name and needs of a view; "" or NULL = the first one. */
bool view_panel(const char *name, struct lab_panel *out);

#endif
