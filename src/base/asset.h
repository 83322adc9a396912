/*
 * Files built into the program: kernel sources, GPU sheets, presets.
 * Every asset is NUL-terminated text; `len` leaves the NUL out.
 */
#ifndef PMPP_BASE_ASSET_H
#define PMPP_BASE_ASSET_H

#include <stddef.h>

struct asset {
	const char *path; /* "presets/gpus/a100.yaml" */
	const char *data;
	size_t len;
};

/* All assets, ascending by path. */
size_t asset_count(void);
const struct asset *asset_at(size_t i);
/* Exact path; NULL = none. */
const struct asset *asset_find(const char *path);
/* "a100" for "presets/gpus/a100.yaml" when it lies directly in @folder with ending @ext, else
 * false. */
int asset_in(const struct asset *a, const char *folder, const char *ext, char *name, size_t n);

#endif
