/*
 * SHA-256 (FIPS 180-4) of bytes, in hexadecimal: what a document's digest is made of. Anybody can
 * make one: it shows a change, not who made it.
 */
#ifndef PMPP_BASE_SHA256_H
#define PMPP_BASE_SHA256_H

#include <stddef.h>

void sha256_hex(const void *bytes, size_t n, char out[65]);

#endif
