#define _GNU_SOURCE /* RTLD_NEXT */
/*
 * Programs that link while they run: nvJitLink is NVIDIA's own, and only what it is given and hands
 * out is looked at. From a cubin nothing can be run here, so the PTX of its parts is kept beside
 * it; of parts in the optimiser's own form (LTO-IR) it is asked for the PTX.
 */
#include "runtime/guest/guest.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "ptx/join.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PART_BYTES ((size_t)1 << 30)

/* nvJitLink.h, which not every toolkit has */
typedef struct link_handle *jit_link;
enum { LINK_OK = 0, LINK_INTERNAL = 6 };
enum {
	PART_CUBIN = 1,
	PART_PTX,
	PART_LTOIR,
	PART_FATBIN,
	PART_OBJECT,
	PART_LIBRARY,
	PART_ANY = 10
};

int link_create(jit_link *out, uint32_t n, const char *const *options);
int link_add_data(jit_link handle, int type, const void *data, size_t bytes, const char *name);
int link_add_file(jit_link handle, int type, const char *path);
int link_get_cubin(jit_link handle, void *cubin);
int link_destroy(jit_link *handle);

/* One function under each name, and each version of it, that programs import: headers call names
 * with the number of their release. */
#define NAMED(function, id, name, parameters)                                   \
	GUEST_API int function##_##id parameters __attribute__((alias(#function))); \
	__asm__(".symver " #function "_" #id ", " name);
#define RELEASE(function, suffix, release, parameters) \
	NAMED(function, release, "__nvJitLink" #suffix "_" #release "@@libnvJitLink.so.13", parameters)
#define RELEASE_12(function, suffix, release, parameters) \
	NAMED(function, release, "__nvJitLink" #suffix "_" #release "@@libnvJitLink.so.12", parameters)
#define NAMES(function, suffix, parameters)                                     \
	NAMED(function, 12, "nvJitLink" #suffix "@libnvJitLink.so.12", parameters)  \
	NAMED(function, 13, "nvJitLink" #suffix "@@libnvJitLink.so.13", parameters) \
	RELEASE_12(function, suffix, 12_0, parameters)                              \
	RELEASE_12(function, suffix, 12_1, parameters)                              \
	RELEASE_12(function, suffix, 12_2, parameters)                              \
	RELEASE_12(function, suffix, 12_3, parameters)                              \
	RELEASE_12(function, suffix, 12_4, parameters)                              \
	RELEASE_12(function, suffix, 12_5, parameters)                              \
	RELEASE_12(function, suffix, 12_6, parameters)                              \
	RELEASE_12(function, suffix, 12_7, parameters)                              \
	RELEASE_12(function, suffix, 12_8, parameters)                              \
	RELEASE_12(function, suffix, 12_9, parameters)                              \
	RELEASE(function, suffix, 13_0, parameters)                                 \
	RELEASE(function, suffix, 13_1, parameters)                                 \
	RELEASE(function, suffix, 13_2, parameters)                                 \
	RELEASE(function, suffix, 13_3, parameters)                                 \
	RELEASE(function, suffix, 13_4, parameters)                                 \
	RELEASE(function, suffix, 13_5, parameters)
NAMES(link_create, Create, (jit_link *, uint32_t, const char *const *))
NAMES(link_add_data, AddData, (jit_link, int, const void *, size_t, const char *))
NAMES(link_add_file, AddFile, (jit_link, int, const char *))
NAMES(link_get_cubin, GetLinkedCubin, (jit_link, void *))
NAMES(link_destroy, Destroy, (jit_link *))

/* What a link was given. */
static struct link {
	jit_link handle;
	uint32_t n_options, n_parts;
	char **options;
	struct part {
		bool lto;
		char *bytes; /* PTX, or LTO-IR */
		size_t n;
	} *parts;
	bool unknown; /* a part holds machine code alone */
	struct link *next;
} *links;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Functions have no other way out of dlsym() than through bytes. */
static bool find(const char *name, void *function, size_t n)
{
	void *at = dlsym(RTLD_NEXT, name);
	static const char *const libraries[] = { "libnvJitLink.so.13", "libnvJitLink.so.12" };
	for (unsigned i = 0; !at && i < 2; i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY); /* the program opened it for itself */
		at = library ? dlsym(library, name) : NULL;
	}
	memcpy(function, &at, n);
	return at != NULL;
}

static struct link *link_of(jit_link handle)
{
	struct link *l = links;
	while (l && l->handle != handle)
		l = l->next;
	return l;
}

int link_create(jit_link *out, uint32_t n, const char *const *options)
{
	int (*create)(jit_link *, uint32_t, const char *const *);
	if (!find("nvJitLinkCreate", &create, sizeof create))
		return LINK_INTERNAL;
	const int result = create(out, n, options);
	if (result != LINK_OK)
		return result;
	struct link *l = mem_zalloc(sizeof *l);
	*l = (struct link){ .handle = *out, .n_options = n };
	l->options = mem_calloc(n + 1u, sizeof *l->options);
	for (uint32_t i = 0; i < n; i++)
		l->options[i] = mem_strdup(options[i]);
	pthread_mutex_lock(&lock);
	l->next = links;
	links = l;
	pthread_mutex_unlock(&lock);
	return result;
}

/* --- parts --- */

static bool is_ltoir(const unsigned char *data, size_t bytes)
{
	static const unsigned char magic[] = { 0xed, 0x43, 0x4e, 0x7f };
	return bytes >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

static void keep_part(struct link *l, int type, const void *data, size_t bytes)
{
	struct err err = { 0 };
	struct part p = { .lto = type == PART_LTOIR || (type == PART_ANY && is_ltoir(data, bytes)),
		              .bytes = mem_alloc(bytes + 1),
		              .n = bytes };
	memcpy(p.bytes, data, bytes);
	p.bytes[bytes] = 0;
	if (!p.lto && type != PART_PTX) {
		const bool may = type == PART_CUBIN || type == PART_FATBIN || type == PART_ANY;
		char *text = may ? guest_ptx_of_code(p.bytes, &err) : NULL;
		free(p.bytes);
		p.bytes = text;
	}
	if (!p.bytes) {
		l->unknown = true;
		return;
	}
	l->parts = mem_realloc(l->parts, l->n_parts + 1u, sizeof *l->parts);
	l->parts[l->n_parts++] = p;
}

int link_add_data(jit_link handle, int type, const void *data, size_t bytes, const char *name)
{
	int (*add)(jit_link, int, const void *, size_t, const char *);
	if (!find("nvJitLinkAddData", &add, sizeof add))
		return LINK_INTERNAL;
	const int result = add(handle, type, data, bytes, name);
	if (result != LINK_OK || !data)
		return result;
	pthread_mutex_lock(&lock);
	struct link *l = link_of(handle);
	/* NVIDIA's device runtime: its functions are the emulator's own */
	if (l && !(type == PART_LIBRARY && name && strstr(name, "cudadevrt")))
		keep_part(l, type, data, bytes);
	pthread_mutex_unlock(&lock);
	return result;
}

int link_add_file(jit_link handle, int type, const char *path)
{
	int (*add)(jit_link, int, const char *);
	struct text code = { 0 };
	if (!find("nvJitLinkAddFile", &add, sizeof add))
		return LINK_INTERNAL;
	const int result = add(handle, type, path);
	if (result != LINK_OK || (type == PART_LIBRARY && strstr(path, "cudadevrt")))
		return result;
	const bool read = file_read(path, MAX_PART_BYTES, &code, NULL);
	pthread_mutex_lock(&lock);
	struct link *l = link_of(handle);
	if (l && read)
		keep_part(l, type, code.s, code.len);
	else if (l)
		l->unknown = true;
	pthread_mutex_unlock(&lock);
	text_free(&code);
	return result;
}

/* --- what is made of them --- */

/* The PTX that the linker makes of the parts in LTO-IR, by a link of our own with the program's
 * options; NULL = none. Caller frees it. */
static char *ptx_of_lto(const struct link *l)
{
	int (*create)(jit_link *, uint32_t, const char *const *), (*complete)(jit_link);
	int (*add)(jit_link, int, const void *, size_t, const char *), (*destroy)(jit_link *);
	int (*size)(jit_link, size_t *), (*get)(jit_link, char *);
	if (!find("nvJitLinkCreate", &create, sizeof create) ||
	    !find("nvJitLinkAddData", &add, sizeof add) ||
	    !find("nvJitLinkComplete", &complete, sizeof complete) ||
	    !find("nvJitLinkGetLinkedPtxSize", &size, sizeof size) ||
	    !find("nvJitLinkGetLinkedPtx", &get, sizeof get) ||
	    !find("nvJitLinkDestroy", &destroy, sizeof destroy))
		return NULL;
	const char **options = mem_calloc(l->n_options + 1u, sizeof *options);
	for (uint32_t i = 0; i < l->n_options; i++)
		options[i] = l->options[i];
	options[l->n_options] = "-ptx";
	jit_link link;
	size_t bytes = 0;
	char *ptx = NULL;
	if (create(&link, l->n_options + 1, options) == LINK_OK) {
		bool ok = true;
		for (uint32_t i = 0; i < l->n_parts; i++)
			ok &= !l->parts[i].lto ||
			      add(link, PART_LTOIR, l->parts[i].bytes, l->parts[i].n, NULL) == LINK_OK;
		if (ok && complete(link) == LINK_OK && size(link, &bytes) == LINK_OK && bytes) {
			ptx = mem_zalloc(bytes + 1);
			if (get(link, ptx) != LINK_OK)
				*ptx = 0;
		}
		destroy(&link);
	}
	free(options);
	return ptx;
}

/* NULL = it cannot be told. Caller frees it. */
static char *ptx_of_parts(const struct link *l)
{
	struct err err = { 0 };
	const char **texts = mem_calloc(l->n_parts + 1u, sizeof *texts);
	unsigned n = 0;
	bool lto = false;
	for (uint32_t i = 0; i < l->n_parts; i++) {
		lto |= l->parts[i].lto;
		if (!l->parts[i].lto)
			texts[n++] = l->parts[i].bytes;
	}
	char *made = lto ? ptx_of_lto(l) : NULL, *whole = NULL;
	if (made)
		texts[n++] = made;
	if (n && !lto == !made)
		whole = ptx_join(n, texts, &err);
	free(made);
	free(texts);
	return whole;
}

int link_get_cubin(jit_link handle, void *cubin)
{
	int (*size)(jit_link, size_t *), (*get)(jit_link, void *);
	size_t bytes = 0;
	if (!find("nvJitLinkGetLinkedCubin", &get, sizeof get) ||
	    !find("nvJitLinkGetLinkedCubinSize", &size, sizeof size))
		return LINK_INTERNAL;
	const int result = get(handle, cubin);
	if (result != LINK_OK || size(handle, &bytes) != LINK_OK)
		return result;
	pthread_mutex_lock(&lock);
	const struct link *l = link_of(handle);
	char *ptx = l && !l->unknown ? ptx_of_parts(l) : NULL;
	pthread_mutex_unlock(&lock);
	if (ptx)
		guest_keep_ptx(cubin, bytes, ptx);
	return result;
}

int link_destroy(jit_link *handle)
{
	int (*destroy)(jit_link *);
	if (!find("nvJitLinkDestroy", &destroy, sizeof destroy))
		return LINK_INTERNAL;
	pthread_mutex_lock(&lock);
	struct link **at = &links, *l = handle ? link_of(*handle) : NULL;
	while (l && *at != l)
		at = &(*at)->next;
	if (l)
		*at = l->next;
	pthread_mutex_unlock(&lock);
	for (uint32_t i = 0; l && i < l->n_parts; i++)
		free(l->parts[i].bytes);
	for (uint32_t i = 0; l && i < l->n_options; i++)
		free(l->options[i]);
	if (l) {
		free(l->parts);
		free(l->options);
	}
	free(l);
	return destroy(handle);
}
