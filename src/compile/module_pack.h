/*
 * A compiled module as bytes: the form of a cache file, and the archive built into the program.
 *
 * Internal to compile/ and its tool. Little-endian, length-prefixed, checksummed; the reader
 * trusts nothing. Knows no file and no compiler.
 */
#ifndef PMPP_COMPILE_MODULE_PACK_H
#define PMPP_COMPILE_MODULE_PACK_H

#include "base/text.h"
#include "compile/compile.h"

/* Changes whenever the packed form, the options given to the compiler or its output's use change.
 */
#define MODULE_FORMAT 1

/* "a" (sm_90a): the source asks by __CUDA_ARCH_FEAT_SM90_ALL whether it may use what only this one
 * architecture has, and then it may; else "". */
const char *module_arch_suffix(const struct compile_request *req);

/* The cache key of a request for a compiler ("NVRTC 13.0"): format, compiler, architecture,
 * file name, macros in order of name, source. Hexadecimal. */
void module_key(const struct compile_request *req, const char *compiler, char key[33]);

/* Appends the packed form. */
void module_pack(const struct module *m, struct text *out);
/* Reads one packed module of exactly @len bytes that must have @key (NULL = any). False, with the
 * reason, when it is not one or was damaged; then @m holds nothing. */
bool module_unpack(const void *bytes, size_t len, const char *key, struct module *m,
                   struct err *err);

/* The archive: a header, then packed modules. */
void archive_begin(struct text *out, const char *compiler);
void archive_add(struct text *out, const struct module *m);
/* Number of modules in it and their compiler; false = not an archive. */
bool archive_info(const void *bytes, size_t len, unsigned *count, const char **compiler);
bool archive_find(const void *bytes, size_t len, const char *key, struct module *m);

#endif
