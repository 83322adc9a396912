/* See demangle.h. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "base/demangle.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes out "[abi:...]", by which compilers mark versions of a function: Numba its arguments. */
static void without_tags(char *text)
{
	char *tag, *end;
	while ((tag = strstr(text, "[abi:")) && (end = strchr(tag, ']')))
		memmove(tag, end + 1, strlen(end + 1) + 1);
}

const char *demangle(const char *mangled, bool load, char *out, size_t n)
{
	typedef char *demangler(const char *name, char *buffer, size_t *length, int *status);
	union {
		void *symbol;
		demangler *call;
	} cxa = { .symbol = dlsym(RTLD_DEFAULT, "__cxa_demangle") };
	if (!cxa.symbol) {
		/* an interpreter's libraries may have brought it */
		void *library = dlopen("libstdc++.so.6", RTLD_LAZY | (load ? RTLD_LOCAL : RTLD_NOLOAD));
		cxa.symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
	}
	int status = 0;
	/* names without _Z are taken for those of types: "f" would be a float */
	char *text =
		cxa.symbol && !strncmp(mangled, "_Z", 2) ? cxa.call(mangled, NULL, NULL, &status) : NULL;
	if (text)
		without_tags(text);
	snprintf(out, n, "%s", text ? text : "");
	free(text);
	return out;
}
