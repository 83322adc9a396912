/* SipHash-2-4-128, byte order independent; see hash128.h. */
#include "base/hash128.h"

static uint64_t rotl(uint64_t x, int by)
{
	return (x << by) | (x >> (64 - by));
}

static void rounds(uint64_t v[4], int n)
{
	while (n--) {
		v[0] += v[1];
		v[1] = rotl(v[1], 13) ^ v[0];
		v[0] = rotl(v[0], 32);
		v[2] += v[3];
		v[3] = rotl(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotl(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotl(v[1], 17) ^ v[2];
		v[2] = rotl(v[2], 32);
	}
}

static void mix(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	rounds(v, 2);
	v[0] ^= word;
}

void hash128_init(struct hash128 *h, uint64_t key0, uint64_t key1)
{
	*h = (struct hash128){
		.v = { key0 ^ 0x736f6d6570736575u, key1 ^ 0x646f72616e646f6du ^ 0xee,
		       key0 ^ 0x6c7967656e657261u, key1 ^ 0x7465646279746573u },
	};
}

void hash128_add(struct hash128 *h, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	for (size_t i = 0; i < n; i++) {
		h->tail |= (uint64_t)p[i] << (h->total % 8 * 8);
		if (++h->total % 8 == 0) {
			mix(h->v, h->tail);
			h->tail = 0;
		}
	}
}

static void put_word(uint64_t word, unsigned char *out)
{
	for (int i = 0; i < 8; i++)
		out[i] = (unsigned char)(word >> (8 * i));
}

void hash128_end(struct hash128 *h, unsigned char out[16])
{
	mix(h->v, h->tail | h->total << 56);
	h->v[2] ^= 0xee;
	rounds(h->v, 4);
	put_word(h->v[0] ^ h->v[1] ^ h->v[2] ^ h->v[3], out);
	h->v[1] ^= 0xdd;
	rounds(h->v, 4);
	put_word(h->v[0] ^ h->v[1] ^ h->v[2] ^ h->v[3], out + 8);
}

void hash128_of(const void *bytes, size_t n, unsigned char out[16])
{
	struct hash128 h;
	hash128_init(&h, 0, 0);
	hash128_add(&h, bytes, n);
	hash128_end(&h, out);
}

void hash128_hex(const unsigned char hash[16], char out[33])
{
	static const char digits[] = "0123456789abcdef";
	for (int i = 0; i < 16; i++) {
		out[2 * i] = digits[hash[i] >> 4];
		out[2 * i + 1] = digits[hash[i] & 15];
	}
	out[32] = '\0';
}
