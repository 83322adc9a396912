/* Descriptors as plugins; see user_plugin.h. The headers they need are assets of this program. */
#include "userkernel/user_plugin.h"

#include "base/asset.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/scratch.h"
#include "base/text.h"
#include "base/tool.h"
#include "model/kernel_check.h"
#include "userkernel/user_list.h"
#include "userkernel/user_text.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_LOG_BYTES ((size_t)1 << 20)
#define COMPILER_LIMIT_S 120

struct plugin {
	struct kernel_desc desc;
	char *path, *text, *name;
	const char *file;
	struct plugin *older;
};
/* Every version: records and the worker may still speak of it. Joined by one thread at a time, read
 * by any. */
static struct plugin *_Atomic newest;

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

static bool put_header(const struct scratch *folder, const char *layer, const char *name,
                       struct err *err)
{
	char path[600], from[64];
	if (mkdir(scratch_file(folder, layer, path, sizeof path), 0700) != 0 && errno != EEXIST)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	snprintf(from, sizeof from, "%s/%s", layer, name);
	scratch_file(folder, from, path, sizeof path);
	snprintf(from, sizeof from, "src/%s/%s", layer, name);
	const struct asset *a = asset_find(from);
	return a ? file_replace(path, a->data, a->len, err)
	         : err_set(err, ERR_INTERNAL, "%s is not part of this program", from);
}

static bool run_compiler(const struct scratch *folder, const char *path, const atomic_bool *cancel,
                         struct err *err)
{
	char cc[4096], include[600], out[600];
	struct text said = { 0 };
	struct err why = { 0 };
	if (!tool_find("cc", cc, sizeof cc)) {
		err_set(err, ERR_UNAVAILABLE,
		        "%s holds a descriptor, and there is no C compiler to build it: no cc in PATH",
		        path);
		return err_remedy(
			err, "install one (apt-get install gcc), or give a plain CUDA file and its launch");
	}
	snprintf(include, sizeof include, "-I%s", folder->path);
	scratch_file(folder, "plugin.so", out, sizeof out);
	/* the messages are on standard error, of which a tool's last words are all that is kept */
	const char *const argv[] = { "sh",    "-c",       "exec \"$@\" 2>&1",
		                         "cc",    cc,         "-x",
		                         "c",     "-std=c11", "-D_POSIX_C_SOURCE=200809L",
		                         "-O1",   "-fPIC",    "-shared",
		                         include, "-o",       out,
		                         path,    "-lm",      NULL };
	const struct tool_request req = { .path = "/bin/sh",
		                              .argv = argv,
		                              .fd = -1,
		                              .limit_s = COMPILER_LIMIT_S,
		                              .max_bytes = MAX_LOG_BYTES,
		                              .cancel = cancel,
		                              .tmp = folder->path };
	const bool ok = tool_run(&req, &said, &why);
	if (!ok && why.code == ERR_UNAVAILABLE && said.len)
		err_set(err, ERR_COMPILE, "%.1900s", said.s);
	else if (!ok)
		err_set(err, why.code == ERR_UNAVAILABLE ? ERR_COMPILE : why.code, "%s: %.1900s", path,
		        why.msg);
	text_free(&said);
	return ok;
}

static const struct kernel_desc *open_object(const struct scratch *folder, const char *path,
                                             const char *symbol, struct err *err)
{
	char object[600];
	void *so =
		dlopen(scratch_file(folder, "plugin.so", object, sizeof object), RTLD_NOW | RTLD_LOCAL);
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
                      const atomic_bool *cancel, const struct kernel_desc **out, struct err *err)
{
	struct scratch folder;
	if (!consent(path, text, symbol, err) || !scratch_make(&folder, err))
		return false;
	const struct kernel_desc *d = NULL;
	if (put_header(&folder, "model", "kernel.h", err) &&
	    put_header(&folder, "base", "err.h", err) && run_compiler(&folder, path, cancel, err))
		d = open_object(&folder, path, symbol, err);
	scratch_remove(&folder); /* the mapping outlives the files */
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
