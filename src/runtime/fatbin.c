/*
 * Fat binaries; see fatbin.h. Layout of an entry's header, offsets in bytes: 0 kind (16 bits), 4
 * bytes of the header, 8 bytes of the payload (64), 16 bytes as compressed, 28 architecture, 40
 * flags (64), 56 bytes unpacked (64). Compression: zstd (RFC 8878) or LZ4 blocks.
 */
#include "runtime/fatbin.h"

#include "base/mem.h"

#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define WRAPPER_MAGIC 0x466243b1u
#define LINKED_VERSION 2u /* of a wrapper: it has parts */
#define CONTAINER_MAGIC 0xba55ed50u
#define FLAG_LZ4 0x2000u
#define FLAG_ZSTD 0x8000u
#define FLAG_ONE_CHIP 0x100000u /* sm_90a: for this architecture only */
#define FLAG_FAMILY 0x200000u   /* sm_100f: for its family */
#define ENTRY_HEADER_BYTES 64
#define MAX_UNPACKED ((uint64_t)1 << 31)

static uint16_t get_u16(const uint8_t *p)
{
	uint16_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

static uint32_t get_u32(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

static uint64_t get_u64(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

const uint8_t *fatbin_of_wrapper(const void *wrapper, struct err *err)
{
	const uint8_t *w = wrapper;
	if (!w || get_u32(w) != WRAPPER_MAGIC) {
		err_set(err, ERR_UNSUPPORTED,
		        "the program registers device code in an unknown form "
		        "(no fat binary wrapper)");
		return NULL;
	}
	const uint8_t *data;
	memcpy(&data, w + 8, sizeof data);
	if (!fatbin_size(data, 0)) {
		err_set(err, ERR_UNSUPPORTED,
		        "the program's device code is in an unknown form "
		        "(no fat binary header)");
		return NULL;
	}
	return data;
}

const uint8_t *const *fatbin_parts(const void *wrapper)
{
	const uint8_t *w = wrapper;
	const uint8_t *const *parts = NULL;
	if (w && get_u32(w) == WRAPPER_MAGIC && get_u32(w + 4) == LINKED_VERSION)
		memcpy(&parts, w + 16, sizeof parts);
	return parts;
}

size_t fatbin_size(const uint8_t *data, size_t size)
{
	if (!data || (size && size < 16) || get_u32(data) != CONTAINER_MAGIC)
		return 0;
	const uint64_t bytes = get_u16(data + 6) + get_u64(data + 8);
	return size && bytes > size ? 0 : (size_t)bytes;
}

static bool read_entry(const uint8_t *at, size_t left, struct fatbin_entry *out, size_t *step,
                       struct err *err)
{
	if (left < ENTRY_HEADER_BYTES)
		return err_set(err, ERR_PARSE, "fat binary: an entry's header is cut off");
	const uint32_t header = get_u32(at + 4);
	const uint64_t payload = get_u64(at + 8);
	if (header < ENTRY_HEADER_BYTES || header > left || payload > left - header)
		return err_set(err, ERR_PARSE, "fat binary: an entry of %u + %llu bytes does not fit",
		               header, (unsigned long long)payload);
	const uint64_t flags = get_u64(at + 40), unpacked = get_u64(at + 56);
	const uint32_t compressed = get_u32(at + 16);
	*out = (struct fatbin_entry){
		.kind = (enum fatbin_kind)get_u16(at),
		.arch = get_u32(at + 28),
		.suffix = flags & FLAG_ONE_CHIP ? "a"
		          : flags & FLAG_FAMILY ? "f"
		                                : "",
		.payload = at + header,
		.packing = flags & FLAG_ZSTD  ? FATBIN_ZSTD
		           : flags & FLAG_LZ4 ? FATBIN_LZ4
		                              : FATBIN_PLAIN,
	};
	out->stored_bytes = (size_t)payload;
	out->bytes = (size_t)payload;
	*step = header + (size_t)payload;
	if (out->packing == FATBIN_PLAIN)
		return true;
	if (compressed > payload || unpacked > MAX_UNPACKED)
		return err_set(err, ERR_PARSE,
		               "fat binary: a compressed entry of %u bytes in %llu, %llu "
		               "unpacked, cannot be",
		               compressed, (unsigned long long)payload, (unsigned long long)unpacked);
	out->stored_bytes = compressed;
	out->bytes = (size_t)unpacked;
	return true;
}

int fatbin_entry_at(const uint8_t *data, size_t size, unsigned i, struct fatbin_entry *out,
                    struct err *err)
{
	const size_t all = fatbin_size(data, size);
	if (!all)
		return err_set(err, ERR_PARSE, "no fat binary here"), -1;
	size_t at = get_u16(data + 6), step = 0;
	for (unsigned seen = 0; at < all; at += step) {
		if (!read_entry(data + at, all - at, out, &step, err))
			return -1;
		if ((out->kind == FATBIN_PTX || out->kind == FATBIN_CUBIN) && seen++ == i)
			return 1;
	}
	return 0;
}

char *fatbin_unpack(const struct fatbin_entry *entry, struct err *err)
{
	char *text = malloc(entry->bytes + 1);
	if (!text) {
		err_set(err, ERR_UNAVAILABLE, "no memory for %zu bytes of device code", entry->bytes);
		return NULL;
	}
	size_t got = entry->bytes;
	switch (entry->packing) {
	case FATBIN_PLAIN: memcpy(text, entry->payload, entry->bytes); break;
	case FATBIN_ZSTD:
		got = ZSTD_decompress(text, entry->bytes, entry->payload, entry->stored_bytes);
		break;
	case FATBIN_LZ4: {
		const int n = LZ4_decompress_safe((const char *)entry->payload, text,
		                                  (int)entry->stored_bytes, (int)entry->bytes);
		got = n < 0 ? SIZE_MAX : (size_t)n;
		break;
	}
	}
	if (got != entry->bytes) {
		free(text);
		err_set(err, ERR_PARSE, "fat binary: device code for sm_%u does not unpack", entry->arch);
		return NULL;
	}
	text[got] = '\0';
	return text;
}

static void list_codes(const uint8_t *data, size_t size, char *out, size_t n)
{
	struct fatbin_entry e;
	size_t at = 0;
	out[0] = '\0';
	for (unsigned i = 0; at < n && fatbin_entry_at(data, size, i, &e, NULL) == 1; i++)
		at += (size_t)snprintf(out + at, n - at, "%s%s_%u%s", at ? ", " : "",
		                       e.kind == FATBIN_PTX ? "PTX compute" : "machine code sm", e.arch,
		                       e.suffix);
}

bool fatbin_choose(const uint8_t *data, size_t size, unsigned cc, struct fatbin_entry *ptx,
                   struct fatbin_entry *cubin, struct err *err)
{
	struct fatbin_entry e;
	int more;
	*ptx = *cubin = (struct fatbin_entry){ 0 };
	for (unsigned i = 0; (more = fatbin_entry_at(data, size, i, &e, err)) == 1; i++) {
		if (e.kind == FATBIN_PTX && e.arch <= cc && e.arch >= ptx->arch)
			*ptx = e;
		/* machine code runs on its own major version, from its minor one on */
		if (e.kind == FATBIN_CUBIN && e.arch <= cc && e.arch / 10 == cc / 10 &&
		    e.arch >= cubin->arch)
			*cubin = e;
	}
	if (more < 0)
		return false;
	if (ptx->payload || cubin->payload)
		return true;
	char list[200];
	list_codes(data, size, list, sizeof list);
	err_set(err, ERR_UNSUPPORTED,
	        "the program holds no code for compute capability %u.%u; it has %s", cc / 10, cc % 10,
	        list[0] ? list : "none at all");
	return err_remedy(err, "compile it with nvcc -arch=compute_%u, or choose another GPU", cc);
}
