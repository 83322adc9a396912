/*
 * Which panels stand together on a screen that has room for more than one: the layouts that a
 * person chooses from. Where each of them goes is layout.h's arithmetic.
 */
#ifndef PMPP_UI_ARRANGEMENT_H
#define PMPP_UI_ARRANGEMENT_H

#include "ui/layout.h"
#include "ui/screen.h"

size_t arrangement_count(void);
const char *arrangement_name(size_t i);
const char *arrangement_about(size_t i);
/* By name; arrangement_count() = there is none of that name. */
size_t arrangement_find(const char *name);
/* Indices of the host's views for the grid or the side column of layout @i, in their order; at most
 * @max. Returns how many. */
unsigned arrangement_views(size_t i, const struct screen_host *host, enum view_place place,
                           size_t *out, unsigned max);

#endif
