/*
 * The cache folder on disk: one file per compiled module, shared by all processes of a person.
 *
 * Internal to compile/ and its tool. Files appear complete or not at all (temporary file, then
 * rename); a damaged one counts as absent and is written anew. No failure here is an error of the
 * caller: compiling goes on without, and store_note() says why.
 */
#ifndef PMPP_COMPILE_MODULE_STORE_H
#define PMPP_COMPILE_MODULE_STORE_H

#include "base/text.h"
#include "compile/compile.h"

/* ${XDG_CACHE_HOME:-~/.cache}/pmpp-explore; "" = there is none, and store_note() says why. */
void store_dir(char *out, size_t n);
/* Another folder instead, for the build's own cache. Call before any other thread runs. */
void store_use(const char *dir);
bool store_load(const char *key, struct module *m);
void store_save(const struct module *m);
/* Keeps @bytes as file @name of the folder; @path is where, "" when it cannot be. */
void store_keep(const char *name, const char *bytes, size_t n, char *path, size_t size);
/* Folder @name of the folder, made where it is not; @path is where. False: others could write to
 * it; store_note() says so. */
bool store_folder(const char *name, char *path, size_t n);
/* Appends file @name of the folder to @out; false = there is none, or more than @max bytes. */
bool store_find(const char *name, size_t max, struct text *out);
/* Is file @name there, and nobody else's? */
bool store_has(const char *name);
/* Tries to create a file in the folder, so that the note is about now. */
void store_probe(void);
/* Why entries cannot be kept; "" = they can. */
void store_note(char *out, size_t n);
/* Removes the oldest files until at most @max_bytes remain, and temporary files left by a
 * process that died, and folders that nobody has used for 30 days. Done now and then where
 * something is kept. */
void store_trim(unsigned long long max_bytes);

#endif
