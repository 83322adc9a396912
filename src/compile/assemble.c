/* Running ptxas and keeping what it made; see assemble.h. */
#include "compile/assemble.h"

#include "base/file.h"
#include "base/hash128.h"
#include "base/scratch.h"
#include "base/tool.h"
#include "compile/compile.h"
#include "compile/module_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "ptxas"
/* Changes when the options below change. */
#define CUBIN_FORMAT 1

static const double limit_s = 120;
static const size_t max_cubin_bytes = (size_t)1 << 28;

static bool find(char *path, size_t n, struct err *err)
{
	return cuda_tool_or_named(NAME, "PMPP_PTXAS",
	                          "Install the CUDA Toolkit, or compile with -arch=native's sm_XY.",
	                          path, n, err);
}

static void cubin_name(const char *ptx, size_t len, unsigned cc, char *name, size_t n)
{
	struct hash128 h;
	unsigned char hash[16];
	char hex[33];
	hash128_init(&h, CUBIN_FORMAT, cc);
	hash128_add(&h, ptx, len);
	hash128_end(&h, hash);
	hash128_hex(hash, hex);
	snprintf(name, n, "%s.cubin", hex);
}

/* "a" or "f" of ".target sm_90a", where that is the architecture asked for: such PTX is assembled
 * for nothing else. "" = no such. */
static const char *suffix_of(const char *ptx, unsigned cc)
{
	static const char line[] = ".target sm_";
	const char *at = strstr(ptx, line);
	char *end = NULL;
	if (!at || strtoul(at + sizeof line - 1, &end, 10) != cc)
		return "";
	return *end == 'a' ? "a" : *end == 'f' ? "f" : "";
}

static bool run(const char *path, const char *ptx, size_t len, unsigned cc,
                const atomic_bool *cancel, const struct scratch *s, struct text *cubin,
                struct err *err)
{
	char arch[16], out[600];
	scratch_file(s, "cubin", out, sizeof out);
	struct text said = { 0 };
	snprintf(arch, sizeof arch, "-arch=sm_%u%s", cc, suffix_of(ptx, cc));
	const char *const argv[] = { NAME, arch, "-lineinfo", "-o", out, TOOL_FD_PATH, NULL };
	const struct tool_request req = {
		.path = path,
		.argv = argv,
		.fd = tool_input("ptx", ptx, len),
		.limit_s = limit_s,
		.max_bytes = 1 << 16,
		.cancel = cancel,
		.tmp = s->path,
	};
	if (req.fd < 0)
		return err_set(err, ERR_IO, NAME ": no copy of the PTX: %s", strerror(errno));
	const bool good = tool_run(&req, &said, err);
	close(req.fd);
	text_free(&said);
	return good ? file_read(out, max_cubin_bytes, cubin, err) : err_prefix(err, "%s: ", path);
}

bool assemble(const char *ptx, size_t len, unsigned cc, const atomic_bool *cancel,
              struct text *cubin, struct err *err)
{
	char name[64], path[4096], kept[4200];
	struct scratch s = SCRATCH_NONE;
	len = strnlen(ptx, len);
	cubin_name(ptx, len, cc, name, sizeof name);
	if (store_find(name, max_cubin_bytes, cubin))
		return true;
	if (!find(path, sizeof path, err))
		return err_prefix(err, "machine code cannot be made: ");
	if (!scratch_make(&s, err))
		return false;
	const bool good = run(path, ptx, len, cc, cancel, &s, cubin, err);
	scratch_remove(&s);
	if (good)
		store_keep(name, cubin->s, cubin->len, kept, sizeof kept);
	return good;
}
