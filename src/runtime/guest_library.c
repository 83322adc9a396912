/* Places what programs load; see guest_library.h. */
#include "runtime/guest_library.h"

#include "base/text.h"
#include "compile/module_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Linked into the program by make; absent from tests. */
extern const char asset_guest[] __attribute__((weak));
extern const char asset_guest_end[] __attribute__((weak));
extern const char asset_inject[] __attribute__((weak));
extern const char asset_inject_end[] __attribute__((weak));

#define INJECT_LIBRARY "libpmpp-inject.so"

/* The file is ours alone and the library, byte for byte: whatever else is there is replaced. */
static bool place_library(const char *name, const char *start, size_t bytes)
{
	struct text there = { 0 };
	char path[4200];
	const bool same =
		store_find(name, bytes, &there) && there.len == bytes && !memcmp(there.s, start, bytes);
	text_free(&there);
	if (same)
		return true;
	store_keep(name, start, bytes, path, sizeof path);
	return path[0];
}

/* Another name for it, whatever had that name before. */
static bool place_link(const char *path)
{
	char to[sizeof GUEST_LIBRARY];
	const ssize_t n = readlink(path, to, sizeof to);
	if (n == sizeof GUEST_LIBRARY - 1 && !memcmp(to, GUEST_LIBRARY, (size_t)n))
		return true;
	unlink(path);
	return !symlink(GUEST_LIBRARY, path) || errno == EEXIST; /* of a start at the same time */
}

/* By whole words: it is of megabytes, at every start. */
static uint64_t hash_words(const char *start, size_t bytes)
{
	uint64_t hash = HASH_SEED, word;
	size_t at = 0;
	for (; bytes - at >= sizeof word; at += sizeof word) {
		memcpy(&word, start + at, sizeof word);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 29;
	}
	return hash_bytes(hash, start + at, bytes - at);
}

/* @file, the bytes from @start to @behind, in a folder of the cache that is named after them. */
static bool place(const char *file, const char *start, const char *behind, char *folder, size_t n,
                  struct err *err)
{
	const size_t bytes = (size_t)((uintptr_t)behind - (uintptr_t)start);
	char name[80], note[512];
	const int end = snprintf(name, sizeof name, "runtime-%016" PRIx64, hash_words(start, bytes));
	const bool there = store_folder(name, folder, n);
	snprintf(name + end, sizeof name - (size_t)end, "/%s", file);
	if (there && place_library(name, start, bytes))
		return true;
	store_note(note, sizeof note);
	return err_set(err, ERR_IO, "programs need the cache folder: %s", note);
}

bool inject_library_place(char *path, size_t n, struct err *err)
{
	char folder[4200];
	if (!asset_inject)
		return err_set(err, ERR_INTERNAL, "this build holds no library for programs on a GPU");
	if (!place(INJECT_LIBRARY, asset_inject, asset_inject_end, folder, sizeof folder, err))
		return false;
	snprintf(path, n, "%s/" INJECT_LIBRARY, folder);
	return true;
}

bool guest_library_place(char *folder, size_t n, struct err *err)
{
	char path[4300];
	if (!asset_guest)
		return err_set(err, ERR_INTERNAL, "this build holds no emulated CUDA runtime");
	if (!place(GUEST_LIBRARY, asset_guest, asset_guest_end, folder, n, err))
		return false;
	/* older runtimes, the driver, and what -lcuda looks for */
	static const char *const others[] = { "libcudart.so.12", "libcudart.so.11.0", "libcuda.so.1",
		                                  "libcuda.so" };
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		snprintf(path, sizeof path, "%s/%s", folder, others[i]);
		if (!place_link(path))
			return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	}
	return true;
}
