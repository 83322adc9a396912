/*
 * A compiled module as a value: what it owns, and its entries by name.
 */
#include "compile/compile.h"

#include <stdlib.h>
#include <string.h>

void module_free(struct module *m)
{
	for (unsigned i = 0; i < m->n_entries; i++)
		free(m->entries[i].entry);
	free(m->entries);
	free(m->ptx);
	free(m->cubin);
	free(m->log);
	*m = (struct module){ .n_entries = 0 };
}

const struct entry_usage *module_entry(const struct module *m, const char *entry)
{
	for (unsigned i = 0; i < m->n_entries; i++)
		if (!strcmp(m->entries[i].entry, entry))
			return &m->entries[i];
	return NULL;
}
