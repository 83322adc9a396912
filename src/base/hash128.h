/*
 * A 128-bit hash of bytes, for names of cached things and for checksums.
 *
 * SipHash-2-4 with 128-bit result and an all-zero default key (Aumasson and Bernstein,
 * "SipHash: a fast short-input PRF"; the 128-bit form is of the authors' reference).
 * Not for passwords. Knows nothing of files.
 */
#ifndef PMPP_BASE_HASH128_H
#define PMPP_BASE_HASH128_H

#include <stddef.h>
#include <stdint.h>

/* State of a running hash: hash128_init(), any number of hash128_add(), hash128_end(). */
struct hash128 {
	uint64_t v[4];
	uint64_t tail;  /* bytes not yet mixed in, low byte first */
	uint64_t total; /* bytes added so far */
};

void hash128_init(struct hash128 *h, uint64_t key0, uint64_t key1);
void hash128_add(struct hash128 *h, const void *bytes, size_t n);
void hash128_end(struct hash128 *h, unsigned char out[16]);
/* One call; key 0. */
void hash128_of(const void *bytes, size_t n, unsigned char out[16]);
/* 32 lower-case digits and a NUL. */
void hash128_hex(const unsigned char hash[16], char out[33]);

#endif
