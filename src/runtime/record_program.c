/* See record_program.h. */
#define _GNU_SOURCE /* RTLD_DEFAULT, struct ucred */
#include "runtime/record_program.h"

#include "runtime/record.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

void program_end_with_explorer(void)
{
	const char *text = getenv(RECORD_FD_VARIABLE);
	struct ucred explorer;
	socklen_t n = sizeof explorer;
	if (!text ||
	    getsockopt((int)strtol(text, NULL, 10), SOL_SOCKET, SO_PEERCRED, &explorer, &n) != 0 ||
	    explorer.pid != getppid())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != explorer.pid) /* it has ended in between */
		raise(SIGKILL);
}

void program_demangle(const char *mangled, bool load, char *signature, size_t n)
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
	snprintf(signature, n, "%s", text ? text : "");
	free(text);
}
