#define _GNU_SOURCE /* realpath */
/*
 * The command line of bubblewrap; see sandbox.h. Sockets of the desktop, of agents and of daemons
 * lie in /run and /tmp: both are hidden, but for what the program is made of and its folder.
 */
#include "runtime/sandbox.h"

#include "base/mem.h"
#include "base/text.h"
#include "base/tool.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROBE_LIMIT_S 10
#define MAX_WORDS 48 /* of ours, in front of the program's */

static atomic_bool wanted;

void sandbox_wanted(void)
{
	atomic_store(&wanted, true);
}

bool sandbox_is_wanted(void)
{
	return atomic_load(&wanted);
}

struct command {
	unsigned n, cap;
	char **word;
};

static void add(struct command *c, const char *word)
{
	if (c->n + 1 >= c->cap) {
		c->cap = c->cap ? 2 * c->cap : MAX_WORDS;
		c->word = mem_realloc(c->word, c->cap, sizeof *c->word);
	}
	c->word[c->n++] = mem_strdup(word);
	c->word[c->n] = NULL;
}

void sandbox_free(char **command)
{
	for (unsigned i = 0; command && command[i]; i++)
		free(command[i]);
	free(command);
}

static bool find_bubblewrap(char *out, size_t n)
{
	const char *path = getenv("PATH");
	for (const char *p = path ? path : "/usr/bin:/bin"; *p;) {
		const size_t len = strcspn(p, ":");
		const int k = snprintf(out, n, "%.*s/bwrap", (int)len, p);
		if (len && *p == '/' && k > 0 && (size_t)k < n && !access(out, X_OK))
			return true;
		p += len + (p[len] == ':');
	}
	return false;
}

/* What lies below a hidden folder is shown again; the hidden folder itself is not. */
static void show(struct command *c, const char *path)
{
	static const char *const hidden[] = { "/tmp/", "/run/", "/var/tmp/", "/dev/shm/" };
	for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
		if (!strncmp(path, hidden[i], strlen(hidden[i]))) {
			add(c, "--ro-bind-try");
			add(c, path);
			add(c, path);
		}
}

static void add_walls(struct command *c, const char *library, const char *program)
{
	static const char *const walls[] = {
		"--unshare-all",
		"--die-with-parent",
		"--new-session",
		"--ro-bind",
		"/",
		"/",
		"--dev",
		"/dev",
		"--proc",
		"/proc",
		"--tmpfs",
		"/tmp",
		"--tmpfs",
		"/run",
		"--tmpfs",
		"/var/tmp",
	};
	char cwd[4096];
	for (size_t i = 0; i < ARRAY_LEN(walls); i++)
		add(c, walls[i]);
	show(c, library);
	show(c, program);
	if (!getcwd(cwd, sizeof cwd))
		return;
	show(c, cwd);
	add(c, "--chdir");
	add(c, cwd);
}

/* Many systems let nobody make the name spaces that it needs: known before anything runs. */
static bool try_out(const struct command *walls, struct err *err)
{
	struct command c = { 0 };
	struct text out = { 0 };
	for (unsigned i = 0; i < walls->n; i++)
		add(&c, walls->word[i]);
	add(&c, "/bin/true");
	const struct tool_request req = { .path = c.word[0],
		                              .argv = (const char *const *)c.word,
		                              .fd = -1,
		                              .limit_s = PROBE_LIMIT_S,
		                              .max_bytes = 4096 };
	const bool ok = tool_run(&req, &out, err);
	text_free(&out);
	sandbox_free(c.word);
	if (ok)
		return true;
	err_prefix(err, "--sandbox: bubblewrap can make no sandbox here: ");
	return err_remedy(err,
	                  "allow user name spaces (sysctl kernel.unprivileged_userns_clone=1; in a "
	                  "container its --security-opt), or run the program without --sandbox if "
	                  "you trust it");
}

bool sandbox_command(const char *path, char *const *arguments, char *const *set,
                     const char *library, char ***out, struct err *err)
{
	char bubblewrap[4096];
	struct command c = { 0 };
	*out = NULL;
	if (!find_bubblewrap(bubblewrap, sizeof bubblewrap)) {
		err_set(err, ERR_UNAVAILABLE,
		        "--sandbox: there is no bubblewrap (bwrap) here, and nothing was run without it");
		return err_remedy(err,
		                  "install it (apt-get install bubblewrap), or run the program without "
		                  "--sandbox if you trust it");
	}
	char *const real = realpath(path, NULL);
	add(&c, bubblewrap);
	add_walls(&c, library, real ? real : path);
	if (!try_out(&c, err)) {
		free(real);
		sandbox_free(c.word);
		return false;
	}
	for (unsigned i = 0; set[i]; i++) {
		const char *equals = strchr(set[i], '=');
		char *const name = mem_strndup(set[i], (size_t)(equals - set[i]));
		add(&c, "--setenv");
		add(&c, name);
		add(&c, equals + 1);
		free(name);
	}
	add(&c, "--");
	add(&c, real ? real : path);
	for (unsigned i = 1; arguments[i]; i++)
		add(&c, arguments[i]);
	free(real);
	*out = c.word;
	return true;
}

int sandbox_signal(int exit_status)
{
	return exit_status > 128 && exit_status <= 128 + SIGRTMAX ? exit_status - 128 : 0;
}
