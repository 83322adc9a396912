/* SipHash-2-4-128 against the authors' vectors (key 00..0f, message 00 01 02 ...). */
#include "../unit.h"
#include "base/hash128.h"

#include <string.h>

static void vector(size_t n, const char *want)
{
	unsigned char message[64];
	for (unsigned i = 0; i < sizeof message; i++)
		message[i] = (unsigned char)i;
	struct hash128 h;
	unsigned char out[16];
	char hex[33];
	hash128_init(&h, 0x0706050403020100u, 0x0f0e0d0c0b0a0908u);
	hash128_add(&h, message, n);
	hash128_end(&h, out);
	hash128_hex(out, hex);
	assert_string_equal(hex, want);
}

TEST(reference_vectors)
{
	vector(0, "a3817f04ba25a8e66df67214c7550293");
	vector(1, "da87c1d86b99af44347659119b22fc45");
	vector(2, "8177228da4a45dc7fca38bdef60affe4");
}

TEST(pieces_equal_whole)
{
	const char *text = "a text that is longer than two words of the hash";
	unsigned char whole[16];
	hash128_of(text, strlen(text), whole);
	for (size_t cut = 0; cut <= strlen(text); cut++) {
		struct hash128 h;
		unsigned char parts[16];
		hash128_init(&h, 0, 0);
		hash128_add(&h, text, cut);
		hash128_add(&h, text + cut, strlen(text) - cut);
		hash128_end(&h, parts);
		assert_memory_equal(parts, whole, 16);
	}
}

TEST(every_bit_counts)
{
	unsigned char bytes[24] = { 0 };
	unsigned char plain[16];
	hash128_of(bytes, sizeof bytes, plain);
	for (unsigned bit = 0; bit < 8 * sizeof bytes; bit++) {
		unsigned char flipped[16];
		bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
		hash128_of(bytes, sizeof bytes, flipped);
		bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
		assert_memory_not_equal(plain, flipped, 16);
	}
	unsigned char shorter[16];
	hash128_of(bytes, sizeof bytes - 1, shorter);
	assert_memory_not_equal(plain, shorter, 16);
}
