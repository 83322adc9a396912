/* Descriptors as plugins; see user_plugin.h. The headers they need are assets of this program. */
#include "userkernel/user_plugin.h"

#include "base/asset.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/kernel_check.h"
#include "userkernel/user_list.h"
#include "userkernel/user_text.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_LOG_BYTES ((size_t)1 << 20)
extern char **environ;

struct plugin {
	struct kernel_desc desc;
	char *path, *text, *name;
	const char *file;
	struct plugin *older;
};
static struct plugin *newest; /* every version: records and the worker may still speak of it */

static user_plugin_consent *may_load;

void user_plugin_ask(user_plugin_consent *consent)
{
	may_load = consent;
}

static unsigned line_of(const char *text, const char *p)
{
	unsigned line = 1;
	for (; text < p; text++)
		line += *text == '\n';
	return line;
}

unsigned user_plugin_symbol(const char *text, char *symbol, size_t n)
{
	static const char type[] = "struct kernel_desc";
	char *code = code_only(text);
	unsigned line = 0;
	*symbol = '\0';
	for (const char *p = code; !line && (p = strstr(p, type)); p += sizeof type - 1) {
		const char *name = p + sizeof type - 1;
		name += strspn(name, " \t\n");
		size_t len = 0;
		while (isalnum((unsigned char)name[len]) || name[len] == '_')
			len++;
		if (!strncmp(name, "kernel_", 7) && len > 7 && len < n &&
		    name[len + strspn(name + len, " \t\n")] == '=') {
			snprintf(symbol, n, "%.*s", (int)len, name);
			line = line_of(code, p);
		}
	}
	free(code);
	return line;
}

/* A file that is loaded already was agreed to: its next version joins as the person was told. */
static bool consent(const char *path, const char *text, const char *symbol, struct err *err)
{
	char first[128];
	const unsigned line = user_plugin_symbol(text, first, sizeof first);
	for (const struct plugin *p = newest; p; p = p->older)
		if (!strcmp(p->path, path))
			return true;
	if (may_load && may_load(path, line, symbol))
		return true;
	err_set(err, ERR_USAGE,
	        "%s:%u: %s is a descriptor: its code would be compiled and run inside this program, "
	        "with all your rights",
	        path, line, symbol);
	return err_remedy(err, "read the file; if you trust whoever wrote it, add --plugin");
}

/* --- building --- */

static bool put_header(const char *folder, const char *layer, const char *name, struct err *err)
{
	char path[600], from[64];
	snprintf(path, sizeof path, "%s/%s", folder, layer);
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	snprintf(path, sizeof path, "%s/%s/%s", folder, layer, name);
	snprintf(from, sizeof from, "src/%s/%s", layer, name);
	const struct asset *a = asset_find(from);
	return a ? file_replace(path, a->data, a->len, err)
	         : err_set(err, ERR_INTERNAL, "%s is not part of this program", from);
}

static void clean(const char *folder)
{
	static const char *const files[] = { "model/kernel.h", "base/err.h", "plugin.so", "log",
		                                 "model",          "base",       "" };
	char path[600];
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		snprintf(path, sizeof path, "%s/%s", folder, files[i]);
		if (remove(path) != 0)
			continue; /* was never made */
	}
}

static bool run_compiler(const char *folder, const char *path, struct err *err)
{
	char include[600], out[600], log[600];
	snprintf(include, sizeof include, "-I%s", folder);
	snprintf(out, sizeof out, "%s/plugin.so", folder);
	snprintf(log, sizeof log, "%s/log", folder);
	const char *const argv[] = { "cc",  "-x",    "c",       "-std=c11", "-D_POSIX_C_SOURCE=200809L",
		                         "-O1", "-fPIC", "-shared", include,    "-o",
		                         out,   path,    "-lm",     NULL };
	posix_spawn_file_actions_t files;
	pid_t pid;
	int status = 0;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_adddup2(&files, 1, 2);
	/* posix_spawnp() does not write to its arguments */
	const int failed =
		posix_spawnp(&pid, "cc", &files, NULL, (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&files);
	if (failed) {
		err_set(err, ERR_UNAVAILABLE,
		        "%s holds a descriptor, and there is no C compiler to build it: cc: %s", path,
		        strerror(failed));
		return err_remedy(
			err, "install one (apt-get install gcc), or give a plain CUDA file and its launch");
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(err, ERR_INTERNAL, "waiting for cc: %s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	struct text said = { 0 };
	if (!file_read(log, MAX_LOG_BYTES, &said, NULL) || !said.len)
		err_set(err, ERR_COMPILE, "%s: cc ended with status %d", path, status);
	else
		err_set(err, ERR_COMPILE, "%.1900s", said.s);
	text_free(&said);
	return false;
}

static const struct kernel_desc *open_object(const char *folder, const char *path,
                                             const char *symbol, struct err *err)
{
	char object[600];
	snprintf(object, sizeof object, "%s/plugin.so", folder);
	void *so = dlopen(object, RTLD_NOW | RTLD_LOCAL);
	if (!so) {
		err_set(err, ERR_COMPILE, "%s: %.1500s", path, dlerror());
		err_remedy(err, "a descriptor may call what model/kernel.h declares, and libc");
		return NULL;
	}
	const struct kernel_desc *d = dlsym(so, symbol);
	if (d && kernel_check_complete(d, err))
		return d; /* cppcheck-suppress resourceLeak ; what @d points to stays with the library */
	if (d)
		err_prefix(err, "%s: '%s': ", path, symbol);
	else
		err_set(err, ERR_USAGE, "%s: '%s' cannot be seen from outside: it must not be static", path,
		        symbol);
	dlclose(so);
	return NULL;
}

static void add_family(const struct kernel_desc *d, const char *path, const char *text,
                       const struct kernel_desc **out)
{
	struct plugin *p = mem_zalloc(sizeof *p);
	const char *slash = strrchr(path, '/');
	char name[128];
	p->desc = *d;
	p->path = mem_strdup(path);
	p->text = mem_strdup(text);
	p->file = slash ? p->path + (slash - path) + 1 : p->path;
	user_kernel_name(d->name, name, sizeof name);
	p->name = mem_strdup(name);
	p->desc.name = p->name;
	p->desc.source = p->text;
	p->desc.file = p->file;
	p->older = newest;
	newest = p;
	user_kernel_publish(&p->desc);
	*out = &p->desc;
}

bool user_plugin_load(const char *path, const char *text, const char *symbol,
                      const struct kernel_desc **out, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	if (!consent(path, text, symbol, err))
		return false;
	char folder[512];
	if (snprintf(folder, sizeof folder, "%s/pmpp-plugin-XXXXXX", tmp && *tmp ? tmp : "/tmp") >=
	        (int)sizeof folder ||
	    !mkdtemp(folder))
		return err_set(err, ERR_IO, "%s: no folder to build in: %s", tmp ? tmp : "/tmp",
		               strerror(errno));
	const struct kernel_desc *d = NULL;
	if (put_header(folder, "model", "kernel.h", err) && put_header(folder, "base", "err.h", err) &&
	    run_compiler(folder, path, err))
		d = open_object(folder, path, symbol, err);
	clean(folder); /* the mapping outlives the files */
	if (d)
		add_family(d, path, text, out);
	return d != NULL;
}

const char *user_plugin_path(const struct kernel_desc *k)
{
	for (const struct plugin *p = newest; p; p = p->older)
		if (&p->desc == k)
			return p->path;
	return NULL;
}
