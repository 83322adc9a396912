/* Session to JSON; see snapshot.h. What is written is said by record_session.c. */
#include "model/record_tables.h"
#include "model/snapshot.h"

#include "base/mem.h"
#include "base/sha256.h"
#include "model/snapshot_reader.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void snapshot_digest(const json_t *doc, char out[72])
{
	char *const all = json_dumps(doc, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
	char hex[65] = "";
	if (all)
		sha256_hex(all, strlen(all), hex);
	snprintf(out, 72, "sha256:%s", hex);
	free(all);
}

char *snapshot_write(const struct session *s, const char *tool_version)
{
	json_t *doc = json_pack("{s:s, s:i, s:s}", "schema", SNAPSHOT_SCHEMA, "version",
	                        SNAPSHOT_VERSION, "tool", tool_version);
	record_write_into(&session_table, s, doc, FORM_SNAPSHOT);
	char digest[72];
	snapshot_digest(doc, digest);
	json_object_set_new(doc, "digest", json_string(digest));
	char *dump = json_dumps(doc, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	json_decref(doc);
	char *out = dump ? mem_printf("%s\n", dump) : NULL;
	free(dump);
	return out;
}
