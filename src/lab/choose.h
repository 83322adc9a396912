/*
 * From the person's words to a GPU sheet and a back end: "a100", "auto", or nothing.
 *
 * A GPU's figures must belong to the device that runs: results measured on one card are never
 * shown against another card's sheet.
 */
#ifndef PMPP_LAB_CHOOSE_H
#define PMPP_LAB_CHOOSE_H

#include "base/err.h"
#include "model/session.h"

#define LAB_DEFAULT_GPU "a100"

/* Turns "a100" (NULL = default) and "auto" into @sel's gpu and backend. Batch use: may probe a GPU,
 * which takes time. */
bool choose_gpu_and_backend(const char *gpu, const char *backend, struct selection *sel,
                            struct err *err);

/* "auto" or a back end's name. False: there is none of that name (the nearest is suggested). */
bool backend_named(const char *name, struct err *err);
/* Where *gpu is a device ("cuda1"): no sheet, and that device's back end. */
bool choose_device(const char **gpu, const char **backend, struct err *err);
/* choose_gpu_and_backend() when @sel->gpu holds the person's GPU already (@gpu_given) or is still
 * open. */
bool choose_backend(bool gpu_given, const char *backend, struct selection *sel, struct err *err);
/* The sheet whose id is spelt by whole words of a device's name; NULL = none. */
const struct gpu_spec *sheet_of_device(const char *device);

#endif
