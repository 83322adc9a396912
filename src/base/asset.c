/* Files built into the program; the table itself is made by assets.sh. See asset.h. */
#include "base/asset.h"

#include <stdio.h>
#include <string.h>

extern const struct asset asset_table[];
extern const unsigned long asset_table_count;

size_t asset_count(void)
{
	return asset_table_count;
}

const struct asset *asset_at(size_t i)
{
	return &asset_table[i];
}

const struct asset *asset_find(const char *path)
{
	for (size_t i = 0; i < asset_count(); i++)
		if (!strcmp(asset_table[i].path, path))
			return &asset_table[i];
	return NULL;
}

int asset_in(const struct asset *a, const char *folder, const char *ext, char *name, size_t n)
{
	size_t f = strlen(folder);
	size_t e = strlen(ext);
	size_t len = strlen(a->path);
	if (len <= f + 1 + e || strncmp(a->path, folder, f) || a->path[f] != '/' ||
	    strcmp(a->path + len - e, ext) || strchr(a->path + f + 1, '/'))
		return 0;
	snprintf(name, n, "%.*s", (int)(len - f - 1 - e), a->path + f + 1);
	return 1;
}
