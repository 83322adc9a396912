/*
 * Modules to bytes and back; see module_pack.h.
 *
 * Packed module: magic, format, key, compiler, PTX, cubin, log, entries, then SipHash-128 of all
 * that precedes. Archive: magic, compiler (32 bytes), and per module its length (8 bytes) and the
 * packed form, padded to 8; a length of 0 ends it early.
 */
#include "compile/module_pack.h"

#include "base/hash128.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[8] = "PMPPmod";
static const char archive_magic[8] = "PMPParc";
enum { ARCHIVE_HEAD = 8 + 32, HASH_BYTES = 16, MAX_ENTRIES = 4096 };

/* The numbers of an entry, in packed order. */
#define USAGE_FIELDS(X)    \
	X(registers)           \
	X(static_shared_bytes) \
	X(stack_bytes)         \
	X(spill_store_bytes)   \
	X(spill_load_bytes)    \
	X(barriers)            \
	X(const_bytes)         \
	X(max_threads)

static int by_name(const void *a, const void *b)
{
	const struct compile_macro *x = a;
	const struct compile_macro *y = b;
	int order = strcmp(x->name, y->name);
	return order ? order : (x->value > y->value) - (x->value < y->value);
}

const char *module_arch_suffix(const struct compile_request *req)
{
	char macro[64];
	snprintf(macro, sizeof macro, "__CUDA_ARCH_FEAT_SM%d%d_ALL", req->cc_major, req->cc_minor);
	return strstr(req->source, macro) ? "a" : "";
}

void module_key(const struct compile_request *req, const char *compiler, char key[33])
{
	struct text t = { 0 };
	text_add(&t, "%d\n%s\nsm_%d%d%s\n%s\n%u\n", MODULE_FORMAT, compiler, req->cc_major,
	         req->cc_minor, module_arch_suffix(req), req->file, req->n_macros);
	if (req->max_registers)
		text_add(&t, "registers %u\n", req->max_registers);
	struct compile_macro *sorted = mem_calloc(req->n_macros + 1u, sizeof *sorted);
	if (req->n_macros)
		memcpy(sorted, req->macros, req->n_macros * sizeof *sorted);
	qsort(sorted, req->n_macros, sizeof *sorted, by_name);
	for (unsigned i = 0; i < req->n_macros; i++)
		text_add(&t, "%s=%" PRId64 "\n", sorted[i].name, sorted[i].value);
	free(sorted);
	text_put(&t, req->source, strlen(req->source));
	unsigned char hash[16];
	hash128_of(t.s, t.len, hash);
	hash128_hex(hash, key);
	text_free(&t);
}

static void put_number(struct text *t, uint64_t value, int bytes)
{
	char b[8];
	for (int i = 0; i < bytes; i++)
		b[i] = (char)(value >> (8 * i));
	text_put(t, b, (size_t)bytes);
}

static void put_bytes(struct text *t, const void *bytes, size_t n)
{
	put_number(t, n, 8);
	if (n)
		text_put(t, bytes, n);
}

void module_pack(const struct module *m, struct text *out)
{
	size_t start = out->len;
	text_put(out, magic, sizeof magic);
	put_number(out, MODULE_FORMAT, 4);
	text_put(out, m->key, 32);
	put_bytes(out, m->compiler, strlen(m->compiler));
	put_bytes(out, m->ptx, m->ptx_len);
	put_bytes(out, m->cubin, m->cubin_len);
	put_bytes(out, m->log, strlen(m->log));
	put_number(out, m->n_entries, 4);
	for (unsigned i = 0; i < m->n_entries; i++) {
		const struct entry_usage *e = &m->entries[i];
		put_bytes(out, e->entry, strlen(e->entry));
#define X(field) put_number(out, e->field, 4);
		USAGE_FIELDS(X)
#undef X
	}
	unsigned char hash[HASH_BYTES];
	hash128_of(out->s + start, out->len - start, hash);
	text_put(out, (const char *)hash, sizeof hash);
}

struct reader {
	const unsigned char *at;
	size_t left;
	bool short_of; /* wanted more than there was */
};

static const unsigned char *read_raw(struct reader *r, uint64_t n)
{
	if (r->short_of || n > r->left) {
		r->short_of = true;
		return NULL;
	}
	const unsigned char *p = r->at;
	r->at += n;
	r->left -= (size_t)n;
	return p;
}

static uint64_t read_number(struct reader *r, int bytes)
{
	const unsigned char *p = read_raw(r, (uint64_t)bytes);
	uint64_t value = 0;
	for (int i = 0; p && i < bytes; i++)
		value |= (uint64_t)p[i] << (8 * i);
	return value;
}

/* A copy with a NUL behind it. */
static char *read_text(struct reader *r, size_t *len)
{
	uint64_t n = read_number(r, 8);
	const unsigned char *p = read_raw(r, n);
	if (len)
		*len = p ? (size_t)n : 0;
	return mem_strndup(p ? (const char *)p : "", p ? (size_t)n : 0);
}

static void read_body(struct reader *r, struct module *m)
{
	char *compiler = read_text(r, NULL);
	strncpy(m->compiler, compiler, sizeof m->compiler - 1);
	free(compiler);
	m->ptx = read_text(r, &m->ptx_len);
	m->cubin = read_text(r, &m->cubin_len);
	if (!m->cubin_len) {
		free(m->cubin);
		m->cubin = NULL;
	}
	m->log = read_text(r, NULL);
	uint64_t n = read_number(r, 4);
	if (n > MAX_ENTRIES)
		r->short_of = true;
	if (r->short_of)
		return;
	m->entries = mem_calloc(n + 1, sizeof *m->entries);
	for (; m->n_entries < n && !r->short_of; m->n_entries++) {
		struct entry_usage *e = &m->entries[m->n_entries];
		e->entry = read_text(r, NULL);
#define X(field) e->field = (unsigned)read_number(r, 4);
		USAGE_FIELDS(X)
#undef X
	}
}

bool module_unpack(const void *bytes, size_t len, const char *key, struct module *m,
                   struct err *err)
{
	*m = (struct module){ .from = MODULE_CACHED };
	struct reader r = { bytes, len, false };
	const unsigned char *head = read_raw(&r, sizeof magic);
	if (!head || memcmp(head, magic, sizeof magic) || len < HASH_BYTES)
		return err_set(err, ERR_PARSE, "not a cache entry");
	uint64_t format = read_number(&r, 4);
	if (format != MODULE_FORMAT)
		return err_set(err, ERR_PARSE, "cache entry of format %" PRIu64 ", not %d", format,
		               MODULE_FORMAT);
	unsigned char hash[HASH_BYTES];
	hash128_of(bytes, len - HASH_BYTES, hash);
	if (memcmp(hash, (const unsigned char *)bytes + len - HASH_BYTES, HASH_BYTES))
		return err_set(err, ERR_PARSE, "damaged cache entry (checksum)");
	const unsigned char *stored = read_raw(&r, 32);
	if (!stored || (key && memcmp(stored, key, 32)))
		return err_set(err, ERR_PARSE, "cache entry of another key");
	memcpy(m->key, stored, 32);
	read_body(&r, m);
	if (r.short_of || r.left != HASH_BYTES) {
		module_free(m);
		return err_set(err, ERR_PARSE, "malformed cache entry");
	}
	return true;
}

void archive_begin(struct text *out, const char *compiler)
{
	char name[32] = { 0 };
	strncpy(name, compiler, sizeof name - 1);
	text_put(out, archive_magic, sizeof archive_magic);
	text_put(out, name, sizeof name);
}

void archive_add(struct text *out, const struct module *m)
{
	struct text one = { 0 };
	module_pack(m, &one);
	put_bytes(out, one.s, one.len);
	while (out->len % 8)
		text_put(out, "", 1);
	text_free(&one);
}

/* The next packed module; false at the end or where the archive makes no sense. */
static bool archive_next(struct reader *r, const unsigned char **packed, size_t *len)
{
	if (r->left < 8)
		return false;
	uint64_t n = read_number(r, 8);
	if (!n)
		return false;
	*packed = read_raw(r, n);
	*len = (size_t)n;
	read_raw(r, (8 - n % 8) % 8);
	return !r->short_of;
}

bool archive_info(const void *bytes, size_t len, unsigned *count, const char **compiler)
{
	*count = 0;
	if (!bytes || len < ARCHIVE_HEAD || memcmp(bytes, archive_magic, sizeof archive_magic))
		return false;
	*compiler = (const char *)bytes + sizeof archive_magic;
	struct reader r = { (const unsigned char *)bytes + ARCHIVE_HEAD, len - ARCHIVE_HEAD, false };
	const unsigned char *packed;
	size_t packed_len;
	while (archive_next(&r, &packed, &packed_len))
		++*count;
	return memchr(*compiler, '\0', 32) != NULL;
}

bool archive_find(const void *bytes, size_t len, const char *key, struct module *m)
{
	unsigned count;
	const char *compiler;
	if (!archive_info(bytes, len, &count, &compiler))
		return false;
	struct reader r = { (const unsigned char *)bytes + ARCHIVE_HEAD, len - ARCHIVE_HEAD, false };
	const unsigned char *packed;
	size_t packed_len;
	while (archive_next(&r, &packed, &packed_len))
		if (packed_len >= 44 && !memcmp(packed + 12, key, 32))
			return module_unpack(packed, packed_len, key, m, NULL);
	return false;
}
