/*
 * Running nvdisasm and keeping what it printed; see disassemble.h.
 *
 * One run in text form gives everything that sass/ does not read from the cubin itself: operands,
 * labels, and live registers (-plr). Its JSON form has resolved targets instead of labels, but no
 * live registers, and a second run would cost as much again. Where the analysis that -plr needs
 * fails, a plain run follows.
 */
#define _GNU_SOURCE /* memmem */
#include "compile/disassemble.h"

#include "base/hash128.h"
#include "base/tool.h"
#include "compile/compile.h"
#include "compile/module_store.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "nvdisasm"
/* Changes when what is kept of the listing changes. */
#define LISTING_FORMAT 1

static const double limit_s = 120;
static const size_t max_listing_bytes = (size_t)1 << 30;

bool disassembler_find(char *path, size_t n, struct err *err)
{
	return cuda_tool_or_named(
		NAME, "PMPP_NVDISASM",
		"Install the CUDA Toolkit, or: pip install nvidia-cuda-nvdisasm==13.5.37 "
		"(a file elsewhere: PMPP_NVDISASM=/path/to/nvdisasm).",
		path, n, err);
}

/* "... release 13.5, V13.5.37" -> "nvdisasm 13.5.37" */
static void tool_version(const char *path, char *out, size_t n)
{
	const char *const argv[] = { NAME, "--version", NULL };
	const struct tool_request req = {
		.path = path,
		.argv = argv,
		.fd = -1,
		.limit_s = 10,
		.max_bytes = 1 << 16,
	};
	struct text words = { 0 };
	snprintf(out, n, "%s", NAME);
	if (tool_run(&req, &words, NULL) && words.s) {
		const char *v = strstr(words.s, ", V");
		const int len = v ? (int)strspn(v + 3, "0123456789.") : 0;
		if (len)
			snprintf(out, n, "%s %.*s", NAME, len, v + 3);
	}
	text_free(&words);
}

/* --- what is kept ----------------------------------------------------------------------------- */

/* Data sections, directives, frames of tables: not read, not kept. */
static bool wanted(const char *s, size_t n)
{
	static const char section[] = ".section", code[] = ".text";
	const size_t head = sizeof section - 1;
	if (!n)
		return false;
	if (*s == '.')
		return (n > head && !memcmp(s, section, head) && isspace((unsigned char)s[head]) &&
		        memmem(s, n, code, sizeof code - 1)) ||
		       (n > 1 && s[1] == 'L');
	if (n > 2 && s[0] == '/' && s[1] == '/')
		return memmem(s, n, "GPR", 3) != NULL;
	return s[0] == '/' || isalnum((unsigned char)*s) || *s == '_' || *s == '$';
}

/* The line with single blanks, and none beside a bar or a slash. */
static void put_line(struct text *out, const char *s, size_t n)
{
	const size_t start = out->len;
	for (size_t i = 0; i < n; i++) {
		const char c = isspace((unsigned char)s[i]) ? ' ' : s[i];
		const char last = out->len > start ? out->s[out->len - 1] : '|';
		if (c == ' ' && strchr(" |/;", last))
			continue;
		if (strchr("|/;", c) && last == ' ')
			out->s[--out->len] = '\0';
		text_put(out, &c, 1);
	}
	while (out->len > start && out->s[out->len - 1] == ' ')
		out->s[--out->len] = '\0';
	text_put(out, "\n", 1);
}

static void compact(const struct text *raw, struct text *out)
{
	for (size_t at = 0; at < raw->len;) {
		const char *s = raw->s + at;
		const char *nl = memchr(s, '\n', raw->len - at);
		size_t n = nl ? (size_t)(nl - s) : raw->len - at;
		at += n + 1;
		while (n && isspace((unsigned char)*s)) {
			s++;
			n--;
		}
		if (wanted(s, n))
			put_line(out, s, n);
	}
}

/* --- the cache -------------------------------------------------------------------------------- */

/* A file: this, the hash of what follows it, a new line, the listing. */
static const char head[] = "pmpp-explore listing ";
enum { HASH_DIGITS = 32 };

static void listing_name(const void *cubin, size_t len, char *name, size_t n)
{
	struct hash128 h;
	unsigned char hash[16];
	char hex[33];
	hash128_init(&h, LISTING_FORMAT, 0);
	hash128_add(&h, cubin, len);
	hash128_end(&h, hash);
	hash128_hex(hash, hex);
	snprintf(name, n, "%s.listing", hex);
}

static void hash_text(const char *s, size_t n, char hex[33])
{
	unsigned char hash[16];
	hash128_of(s, n, hash);
	hash128_hex(hash, hex);
}

static bool load(const char *name, struct text *listing)
{
	struct text file = { 0 };
	char hex[33];
	const size_t skip = sizeof head - 1 + HASH_DIGITS + 1;
	bool good = store_find(name, max_listing_bytes, &file) && file.len > skip &&
	            !memcmp(file.s, head, sizeof head - 1);
	if (good) {
		hash_text(file.s + skip, file.len - skip, hex);
		good = !memcmp(file.s + sizeof head - 1, hex, HASH_DIGITS);
	}
	if (good)
		text_put(listing, file.s + skip, file.len - skip);
	text_free(&file);
	return good;
}

static void save(const char *name, const char *s, size_t n)
{
	struct text file = { 0 };
	char hex[33], path[4200];
	hash_text(s, n, hex);
	text_add(&file, "%s%s\n", head, hex);
	text_put(&file, s, n);
	store_keep(name, file.s, file.len, path, sizeof path);
	text_free(&file);
}

/* --- running ---------------------------------------------------------------------------------- */

static bool run_tool(const char *path, const void *cubin, size_t len, const atomic_bool *cancel,
                     struct text *raw, struct err *err)
{
	const char *const live[] = { NAME, "-c", "-plr", "-lrm", "count", TOOL_FD_PATH, NULL };
	const char *const plain[] = { NAME, "-c", "-ndf", TOOL_FD_PATH, NULL };
	struct tool_request req = {
		.path = path,
		.argv = live,
		.fd = tool_input("cubin", cubin, len),
		.limit_s = limit_s,
		.max_bytes = max_listing_bytes,
		.cancel = cancel,
	};
	if (req.fd < 0)
		return err_set(err, ERR_IO, NAME ": no copy of the cubin: %s", strerror(errno));
	struct err first = { .code = ERR_NONE };
	bool good = tool_run(&req, raw, &first);
	if (!good && first.code == ERR_UNAVAILABLE) {
		text_free(raw);
		*raw = (struct text){ 0 };
		req.argv = plain;
		good = tool_run(&req, raw, NULL);
	}
	close(req.fd);
	if (!good && err)
		*err = first;
	return good;
}

bool disassembled(const void *cubin, size_t len, struct text *listing)
{
	char name[64];
	listing_name(cubin, len, name, sizeof name);
	return load(name, listing);
}

bool disassemble(const void *cubin, size_t len, const atomic_bool *cancel, struct text *listing,
                 struct err *err)
{
	char name[64], path[4096], version[64];
	struct text raw = { 0 };
	listing_name(cubin, len, name, sizeof name);
	if (load(name, listing))
		return true;
	if (!disassembler_find(path, sizeof path, err))
		return err_prefix(err, "machine code cannot be shown: ");
	if (!run_tool(path, cubin, len, cancel, &raw, err)) {
		text_free(&raw);
		return err_prefix(err, "%s: ", path);
	}
	const size_t start = listing->len;
	tool_version(path, version, sizeof version);
	text_add(listing, "// %s\n", version);
	compact(&raw, listing);
	const bool read = raw.len && strstr(raw.s, "\t.elftype\t"); /* it was a cubin */
	text_free(&raw);
	if (!strstr(listing->s + start, "\n.section .text.") && read)
		return err_set(err, ERR_UNSUPPORTED, "there is no machine code in it");
	if (!strstr(listing->s + start, "\n.section .text."))
		return err_set(err, ERR_UNAVAILABLE, "%s: what it printed is no disassembly", path);
	save(name, listing->s + start, listing->len - start);
	return true;
}
