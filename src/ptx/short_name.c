/* The name of a kernel as a message has it; see ptx.h. */
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

#define LONG_NAME 120 /* would leave no room for what is to be told of it */

const char *ptx_short_name(const char *name, size_t *len)
{
	const char *own = NULL, *s = name + 2;
	size_t own_len = 0;
	*len = strlen(name);
	if (strncmp(name, "_Z", 2) != 0)
		return name;
	const bool nested = *s == 'N';
	s += nested;
	do { /* behind a name that is not nested come its parameters, which have names too */
		char *behind;
		const size_t n = *s >= '1' && *s <= '9' ? strtoul(s, &behind, 10) : 0;
		if (!n)
			break;
		if (n >= strlen(behind))
			return name;
		own = behind;
		own_len = n;
		s = own + n;
	} while (nested);
	if (!own || (*len <= LONG_NAME && (name[2] == 'N' || *s == 'I')))
		return name;
	*len = own_len;
	return own;
}
