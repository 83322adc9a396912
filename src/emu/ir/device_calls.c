/* Names of the device's runtime; see device_calls.def. */
#include "emu/ir/ir.h"

#include "base/text.h"

#include <ctype.h>
#include <string.h>

static const char *const names[] = {
#define X(id, name) name,
#include "emu/ir/device_calls.def"
#undef X
};

static const char *behind_prefix(const char *name)
{
	static const char *const prefixes[] = { "__cudaCDP2", "cuda" };
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		const size_t n = strlen(prefixes[i]);
		if (!strncmp(name, prefixes[i], n) && isupper((unsigned char)name[n]))
			return name + n;
	}
	return NULL;
}

int system_runtime_call(const char *name)
{
	static const char per_thread[] = "_ptsz"; /* with the default stream of each thread */
	const char *word = behind_prefix(name);
	if (!word)
		return -1;
	size_t n = strlen(word);
	if (n > strlen(per_thread) && !strcmp(word + n - strlen(per_thread), per_thread))
		n -= strlen(per_thread);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strlen(names[i]) == n && !memcmp(word, names[i], n))
			return SYSTEM_RUNTIME + (int)i;
	return SYSTEM_CALLS;
}
