/* See demangle.h. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "base/demangle.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *demangle(const char *mangled, bool load, char *out, size_t n)
{
	typedef char *demangler(const char *name, char *buffer, size_t *length, int *status);
	union {
		void *symbol;
		demangler *call;
	} cxa = { .symbol = dlsym(RTLD_DEFAULT, "__cxa_demangle") };
	if (!cxa.symbol && load) {
		void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
		cxa.symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
	}
	int status = 0;
	/* names without _Z are taken for those of types: "f" would be a float */
	char *text =
		cxa.symbol && !strncmp(mangled, "_Z", 2) ? cxa.call(mangled, NULL, NULL, &status) : NULL;
	snprintf(out, n, "%s", text ? text : "");
	free(text);
	return out;
}
