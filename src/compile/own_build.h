/*
 * A person's own kernel file by nvcc, host code and all: what NVRTC cannot see through, such as
 * templates that the file's host code instantiates, headers of the host, includes beside the file.
 * Also PTX that the person brings. Internal to compile/.
 */
#ifndef PMPP_COMPILE_OWN_BUILD_H
#define PMPP_COMPILE_OWN_BUILD_H

#include "compile/compile.h"

/* From the cache, or by nvcc and ptxas. ERR_COMPILE with the messages; ERR_UNAVAILABLE: there is
 * no nvcc, no host compiler for it, or no ptxas. @req->own is not NULL. */
bool own_build(const struct compile_request *req, struct module *out, struct err *err);

#endif
