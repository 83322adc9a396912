/* Session to JSON; see snapshot.h. What is written is said by record_session.c. */
#include "model/record_tables.h"
#include "model/snapshot.h"

#include "base/mem.h"

#include <jansson.h>
#include <stdlib.h>

char *snapshot_write(const struct session *s, const char *tool_version)
{
	json_t *doc = json_pack("{s:s, s:i, s:s}", "schema", SNAPSHOT_SCHEMA, "version",
	                        SNAPSHOT_VERSION, "tool", tool_version);
	record_write_into(&session_table, s, doc, FORM_SNAPSHOT);
	char *dump = json_dumps(doc, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	json_decref(doc);
	char *out = dump ? mem_printf("%s\n", dump) : NULL;
	free(dump);
	return out;
}
