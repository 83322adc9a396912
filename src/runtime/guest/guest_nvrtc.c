#define _GNU_SOURCE /* RTLD_NEXT */
/*
 * Programs that compile while they run: NVRTC is NVIDIA's own, and only what it hands out is looked
 * at. From a cubin nothing can be run here, so the PTX that it was made of is kept beside it, as it
 * is of what programs link (guest_jitlink.c).
 */
#include "runtime/guest/guest.h"

#include "base/mem.h"
#include "base/text.h"

#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* nvrtc.h, which not every toolkit has */
typedef struct program_handle *nvrtc_program;
typedef int (*size_function)(nvrtc_program, size_t *);
typedef int (*code_function)(nvrtc_program, char *);
#define NVRTC_INTERNAL_ERROR 11

/* One function under each version of the name that programs import. */
int get_cubin(nvrtc_program program, char *cubin);
#define VERSION(number, name)                                                                    \
	GUEST_API int get_cubin_##number(nvrtc_program, char *) __attribute__((alias("get_cubin"))); \
	__asm__(".symver get_cubin_" #number ", nvrtcGetCUBIN" name);
VERSION(11, "@libnvrtc.so.11.2")
VERSION(12, "@libnvrtc.so.12")
VERSION(13, "@@libnvrtc.so.13")

/* By the hash of the cubin's bytes. */
static struct made {
	Elf64_Ehdr head;
	size_t bytes;
	uint64_t hash;
	char *ptx;
	struct made *next;
} *made;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list; the API's may be held */

/* Functions have no other way out of dlsym() than through bytes. */
static void find(const char *name, void *function, size_t n)
{
	void *const at = dlsym(RTLD_NEXT, name);
	memcpy(function, &at, n);
}

static char *ptx_of(nvrtc_program program)
{
	size_function size_of;
	code_function get;
	size_t bytes = 0;
	find("nvrtcGetPTXSize", &size_of, sizeof size_of);
	find("nvrtcGetPTX", &get, sizeof get);
	if (!size_of || !get || size_of(program, &bytes) != 0 || !bytes)
		return NULL;
	char *ptx = mem_zalloc(bytes + 1);
	if (get(program, ptx) == 0)
		return ptx;
	free(ptx);
	return NULL;
}

void guest_keep_ptx(const void *cubin, size_t bytes, char *ptx)
{
	if (bytes < sizeof(Elf64_Ehdr)) {
		free(ptx);
		return;
	}
	struct made *m = mem_zalloc(sizeof *m);
	*m = (struct made){ .bytes = bytes, .hash = hash_bytes(HASH_SEED, cubin, bytes), .ptx = ptx };
	memcpy(&m->head, cubin, sizeof m->head);
	pthread_mutex_lock(&lock);
	m->next = made;
	made = m;
	pthread_mutex_unlock(&lock);
}

static void remember(nvrtc_program program, const char *cubin)
{
	size_function size_of;
	size_t bytes = 0;
	find("nvrtcGetCUBINSize", &size_of, sizeof size_of);
	if (!size_of || size_of(program, &bytes) != 0)
		return;
	char *ptx = ptx_of(program);
	if (ptx)
		guest_keep_ptx(cubin, bytes, ptx);
}

int get_cubin(nvrtc_program program, char *cubin)
{
	code_function get;
	find("nvrtcGetCUBIN", &get, sizeof get);
	if (!get)
		return NVRTC_INTERNAL_ERROR;
	const int result = get(program, cubin);
	if (result == 0)
		remember(program, cubin);
	return result;
}

/* An equal head says where the tables end, so that no byte behind another cubin is read. */
const char *guest_ptx_of_cubin(const void *cubin)
{
	pthread_mutex_lock(&lock);
	const struct made *m = made;
	while (m && (memcmp(&m->head, cubin, sizeof m->head) != 0 ||
	             hash_bytes(HASH_SEED, cubin, m->bytes) != m->hash))
		m = m->next;
	pthread_mutex_unlock(&lock);
	return m ? m->ptx : NULL;
}
