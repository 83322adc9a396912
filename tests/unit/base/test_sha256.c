/* SHA-256 against the examples of FIPS 180-4 and NIST's lengths around a block. */
#include "../unit.h"
#include "base/sha256.h"

#include <string.h>

static void is(const char *text, const char *want)
{
	char hex[65];
	sha256_hex(text, strlen(text), hex);
	assert_string_equal(hex, want);
}

TEST(published_vectors)
{
	is("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	is("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	is("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	   "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(lengths_around_a_block)
{
	char many[65] = "", hex[65];
	memset(many, 'a', 64);
	sha256_hex(many, 55, hex);
	assert_string_equal(hex, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
	sha256_hex(many, 64, hex);
	assert_string_equal(hex, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}
