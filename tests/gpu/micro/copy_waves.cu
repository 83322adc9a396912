/*
 * Wavefronts of copies from global to shared memory (cp.async): one warp, one instruction, by which
 * lanes read where and write where, and which of them copy only zeros. No time is taken; the
 * counters of each launch are the result (micro.sh, with ncu).
 */
#include "micro.cuh"

#include <string>
#include <vector>

#define UNITS 2048

/* Lane l copies unit from[l] to unit to[l]; a unit is as long as the copy. Lanes that are not in
 * @mask do nothing, those in @zeros write zeros. */
struct Pattern {
	unsigned mask, zeros;
	unsigned short from[MICRO_WARP], to[MICRO_WARP];
};

/* X(name, bytes, cache operator) */
#define COPIES(X)        \
	X(copy_4, 4, "ca")   \
	X(copy_8, 8, "ca")   \
	X(copy_16, 16, "ca") \
	X(copy_16_past_l1, 16, "cg")

#define X(name, bytes, cache)                                                                     \
	static __global__ void m_##name(const char *data, Pattern q)                                  \
	{                                                                                             \
		__shared__ __align__(128) char room[UNITS * bytes];                                       \
		const unsigned lane = threadIdx.x;                                                        \
		const unsigned s = (unsigned)__cvta_generic_to_shared(room + q.to[lane] * bytes);         \
		const size_t p = __cvta_generic_to_global(data + q.from[lane] * bytes);                   \
		if (q.mask >> lane & 1)                                                                   \
			asm volatile("cp.async." cache ".shared.global [%0], [%1], " #bytes ", %2;" ::"r"(s), \
			             "l"(p), "r"(q.zeros >> lane & 1 ? 0 : bytes)                             \
			             : "memory");                                                             \
		asm volatile("cp.async.wait_all;" ::: "memory");                                          \
	}
COPIES(X)
#undef X

/* Where a lane reads or writes: rows of so many lanes, so many units apart, from a unit on; the
 * lanes of a row change places by an exclusive or with their row. */
struct Side {
	unsigned row, stride, first, swap;
};

static unsigned place(const Side &s, unsigned lane)
{
	const unsigned y = lane / s.row, x = lane % s.row;
	return s.first + y * s.stride + (x ^ (y & s.swap));
}

static Pattern pattern(const Side &from, const Side &to, unsigned mask, unsigned zeros)
{
	Pattern q;
	q.mask = mask;
	q.zeros = zeros;
	for (unsigned l = 0; l < MICRO_WARP; l++) {
		q.from[l] = (unsigned short)place(from, l);
		q.to[l] = (unsigned short)place(to, l);
	}
	return q;
}

static unsigned one_of(uint64_t *state, std::initializer_list<unsigned> values)
{
	return values.begin()[micro_random(state) % values.size()];
}

static Side any_side(uint64_t *state, bool shared)
{
	Side s;
	s.row = one_of(state, { 1, 2, 4, 8, 16, 32, 32 });
	s.stride = s.row + one_of(state, { 0, 0, 1, 2, 4, 8, 31, 32 - s.row % 32 });
	s.first = one_of(state, { 0, 0, 1, 2, 4, 7, 16 });
	s.swap = shared && s.row > 1 ? one_of(state, { 0, 0, s.row - 1 }) : 0;
	return s;
}

static std::vector<Pattern> patterns()
{
	const Side row = { 32, 32, 0, 0 };
	std::vector<Pattern> all;
	for (unsigned first : { 0u, 1u, 2u, 4u, 8u }) { /* one side beside its lines */
		all.push_back(pattern({ 32, 32, first, 0 }, row, ~0u, 0));
		all.push_back(pattern(row, { 32, 32, first, 0 }, ~0u, 0));
		all.push_back(pattern({ 32, 32, first, 0 }, { 32, 32, first, 0 }, ~0u, 0));
	}
	for (unsigned stride :
	     { 0u, 2u, 4u, 8u, 32u }) { /* one side spread, or all lanes on one unit */
		all.push_back(pattern({ 1, stride, 0, 0 }, row, ~0u, 0));
		all.push_back(pattern(row, { 1, stride, 0, 0 }, ~0u, 0));
		all.push_back(pattern({ 1, stride, 0, 0 }, { 1, stride, 0, 0 }, ~0u, 0));
	}
	for (unsigned mask : { 1u, 0x80000000u, 0xffu, 0xffffu, 0x55555555u, 0x00ff00ffu }) {
		all.push_back(pattern(row, row, mask, 0));
		all.push_back(pattern(row, row, ~0u, mask));
		all.push_back(pattern({ 4, 32, 0, 0 }, row, ~0u, mask));
	}
	all.push_back(pattern(row, row, ~0u, ~0u));
	uint64_t state = 21;
	for (unsigned n = 0; n < 60; n++) {
		const Side from = any_side(&state, false), to = any_side(&state, true);
		const unsigned mask = n % 4 == 1 ? micro_random(&state) | 1 : ~0u;
		all.push_back(pattern(from, to, mask, n % 4 == 2 ? micro_random(&state) : 0));
	}
	for (unsigned range : { 32u, 256u, 2048u })
		for (unsigned n = 0; n < 6; n++) {
			Pattern q = { ~0u, n % 2 ? micro_random(&state) & micro_random(&state) : 0, {}, {} };
			for (unsigned l = 0; l < MICRO_WARP; l++) {
				q.from[l] = (unsigned short)(micro_random(&state) % range);
				q.to[l] = (unsigned short)(n < 3 ? l : micro_random(&state) % range);
			}
			all.push_back(q);
		}
	return all;
}

static std::string list(const unsigned short *v)
{
	std::string text;
	for (unsigned l = 0; l < MICRO_WARP; l++)
		text += (l ? "," : "") + std::to_string(v[l]);
	return text;
}

int main()
{
	micro_begin("copy_waves");
	const size_t bytes = UNITS * 16; /* on a multiple of its size */
	char *const room = micro_alloc<char>(2 * bytes);
	const char *const data = room + (bytes - (size_t)room % bytes) % bytes;
	for (const Pattern &q : patterns()) {
		const std::string from = list(q.from), to = list(q.to);
#define X(name, bytes, cache)                                                    \
	m_##name<<<1, MICRO_WARP>>>(data, q);                                        \
	micro_fail(#name, cudaDeviceSynchronize());                                  \
	Line("copy_waves", #name)("bytes", bytes)("mask", q.mask)("zeros", q.zeros)( \
		"from", from.c_str())("to", to.c_str())("untimed", 1);
		COPIES(X)
#undef X
	}
	return 0;
}
