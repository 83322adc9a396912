/* Consent to run a person's code; see consent.h. Before the screen opens, so plain lines will do.
 */
#include "cli/consent.h"

#include "base/mem.h"
#include "base/plain.h"
#include "cli/cli.h"
#include "runtime/sandbox.h"
#include "userkernel/user_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool given;

static bool ask(const char *path, unsigned line, const char *symbol)
{
	char answer[16];
	if (given)
		return true;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return false;
	char *const shown = plain_text(mem_strdup(path));
	fprintf(
		stderr,
		"%s:%u: %s is a descriptor. cc compiles it, and its code runs inside this program with\n"
		"all your rights, now and whenever the file changes. Run it? [y/N] ",
		shown, line, symbol);
	fflush(stderr);
	free(shown);
	given =
		fgets(answer, sizeof answer, stdin) && (!strcmp(answer, "y\n") || !strcmp(answer, "Y\n"));
	return given;
}

void consent_open(void)
{
	user_plugin_ask(ask);
}

void consent_given(void)
{
	given = true;
}

void consent_in_sandbox(void)
{
	sandbox_wanted();
}

void consent_announce(const char *program)
{
	char *const shown = plain_text(mem_strdup(program));
	fputs("pmpp-explore: ", stderr);
	if (sandbox_is_wanted())
		cli_say(stderr, STYLE_NORMAL,
		        "%s runs here as a program, in a sandbox: no network, files only to be read\n",
		        shown);
	else
		cli_say(stderr, STYLE_NORMAL,
		        "%s runs here as a program, with your rights (--sandbox: no network, files only to "
		        "be read)\n",
		        shown);
	free(shown);
}
