/*
 * YAML by schema, with errors a person can act on.
 *
 * libcyaml turns text into a struct; its own messages name a place only roughly. So the text is
 * first walked against the same schema with libyaml's events, and every complaint (unknown,
 * missing or repeated key, wrong type, malformed number, bad UTF-8, broken syntax) carries
 * "file:line:column: message", the line and a caret. Numbers are plain decimals in any locale;
 * aliases, several documents and control characters are refused.
 */
#ifndef PMPP_MODEL_YAML_LOAD_H
#define PMPP_MODEL_YAML_LOAD_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct cyaml_schema_value;

/* Longer texts are refused: nothing this program reads comes near. */
#define YAML_MAX_BYTES (1024u * 1024u)

/*
 * @schema is a CYAML_VALUE_MAPPING with CYAML_FLAG_POINTER; each mapping in it has at most 64
 * fields. Supported below it: INT UINT BOOL ENUM FLOAT STRING MAPPING SEQUENCE SEQUENCE_FIXED.
 * Strings in arrays of char hold no line break; those behind CYAML_FLAG_POINTER may.
 * Fills @data, which yaml_unload() releases. All errors are ERR_PARSE.
 */
bool yaml_load(const char *text, size_t len, const char *origin,
               const struct cyaml_schema_value *schema, void **data, struct err *err);
void yaml_unload(const struct cyaml_schema_value *schema, void *data);

/*
 * A complaint about a value that the schema alone cannot judge: @path is "dram_gbs" or
 * "steps[3].kernel"; the message points at that value, or at the start of the nearest outer thing
 * that exists. "" is the whole document. Returns false.
 */
bool yaml_error_at(const char *text, size_t len, const char *origin, const char *path,
                   struct err *err, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

#endif
