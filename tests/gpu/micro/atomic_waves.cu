/*
 * Wavefronts of atomics: one warp, one atomic instruction, by which lanes touch which elements.
 * No time is taken; the counters of each launch are the result (micro.sh, with ncu).
 * Shared memory first, then global memory.
 */
#include "micro.cuh"

#include <string>
#include <vector>

#define ELEMENTS 4096

/* Lane l touches element at[l]; lanes that are not in @mask do nothing. */
struct Pattern {
	unsigned mask;
	unsigned short at[MICRO_WARP];
};

/* X(name, type, statement): @p an address of that type, @s the same in shared memory */
#define SHARED(X)                                                     \
	X(shared_red_add_u32, unsigned,                                   \
	  asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(s), "r"(v)    \
	               : "memory"))                                       \
	X(shared_red_inc_u32, unsigned,                                   \
	  asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(s)             \
	               : "memory"))                                       \
	X(shared_atom_add_u32, unsigned,                                  \
	  asm volatile("atom.shared.add.u32 %0, [%1], %0;"                \
	               : "+r"(v)                                          \
	               : "r"(s)                                           \
	               : "memory"))                                       \
	X(shared_atom_max_u32, unsigned,                                  \
	  asm volatile("atom.shared.max.u32 %0, [%1], %0;"                \
	               : "+r"(v)                                          \
	               : "r"(s)                                           \
	               : "memory"))                                       \
	X(shared_atom_exch_b32, unsigned,                                 \
	  asm volatile("atom.shared.exch.b32 %0, [%1], %0;"               \
	               : "+r"(v)                                          \
	               : "r"(s)                                           \
	               : "memory"))                                       \
	X(shared_atom_cas_b32, unsigned,                                  \
	  asm volatile("atom.shared.cas.b32 %0, [%1], %0, 7;"             \
	               : "+r"(v)                                          \
	               : "r"(s)                                           \
	               : "memory"))                                       \
	X(shared_atom_exch_b64, unsigned long long,                       \
	  asm volatile("atom.shared.exch.b64 %0, [%1], %0;"               \
	               : "+l"(w)                                          \
	               : "r"(s)                                           \
	               : "memory"))                                       \
	X(shared_atom_cas_b64, unsigned long long,                        \
	  asm volatile("atom.shared.cas.b64 %0, [%1], %0, 7;"             \
	               : "+l"(w)                                          \
	               : "r"(s)                                           \
	               : "memory"))                                       \
	X(shared_red_add_u64, unsigned long long,                         \
	  asm volatile("red.shared.add.u64 [%0], %1;" ::"r"(s), "l"(w)    \
	               : "memory"))                                       \
	X(shared_red_add_f32, float,                                      \
	  asm volatile("red.shared.add.f32 [%0], %1;" ::"r"(s), "f"(1.0f) \
	               : "memory"))

#define GLOBAL(X)                                                     \
	X(global_red_add_u32, unsigned,                                   \
	  asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(v)    \
	               : "memory"))                                       \
	X(global_red_add_u64, unsigned long long,                         \
	  asm volatile("red.global.add.u64 [%0], %1;" ::"l"(p), "l"(w)    \
	               : "memory"))                                       \
	X(global_red_add_f32, float,                                      \
	  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(p), "f"(1.0f) \
	               : "memory"))                                       \
	X(global_red_add_f64, double,                                     \
	  asm volatile("red.global.add.f64 [%0], %1;" ::"l"(p), "d"(1.0)  \
	               : "memory"))                                       \
	X(global_atom_add_u32, unsigned,                                  \
	  asm volatile("atom.global.add.u32 %0, [%1], %0;"                \
	               : "+r"(v)                                          \
	               : "l"(p)                                           \
	               : "memory"))                                       \
	X(global_atom_exch_b32, unsigned,                                 \
	  asm volatile("atom.global.exch.b32 %0, [%1], %0;"               \
	               : "+r"(v)                                          \
	               : "l"(p)                                           \
	               : "memory"))                                       \
	X(global_atom_cas_b32, unsigned,                                  \
	  asm volatile("atom.global.cas.b32 %0, [%1], %0, 7;"             \
	               : "+r"(v)                                          \
	               : "l"(p)                                           \
	               : "memory"))                                       \
	X(global_atom_cas_b64, unsigned long long,                        \
	  asm volatile("atom.global.cas.b64 %0, [%1], %0, 7;"             \
	               : "+l"(w)                                          \
	               : "l"(p)                                           \
	               : "memory"))                                       \
	X(global_atom_add_u64, unsigned long long,                        \
	  asm volatile("atom.global.add.u64 %0, [%1], %0;"                \
	               : "+l"(w)                                          \
	               : "l"(p)                                           \
	               : "memory"))

#define X(name, type, statement)                                                   \
	static __global__ void m_##name(unsigned *out, void *data, Pattern q)          \
	{                                                                              \
		__shared__ __align__(8) type words[ELEMENTS];                              \
		const unsigned lane = threadIdx.x;                                         \
		unsigned v = out[lane];                                                    \
		unsigned long long w = v;                                                  \
		type *const p = (type *)data + q.at[lane];                                 \
		const unsigned s = (unsigned)__cvta_generic_to_shared(words + q.at[lane]); \
		words[q.at[lane]] = 0;                                                     \
		__syncwarp();                                                              \
		if (q.mask >> lane & 1)                                                    \
			statement;                                                             \
		if (v + (unsigned)w + s + (unsigned)(size_t)p == 123456789)                \
			out[lane] = v + (unsigned)w;                                           \
	}
SHARED(X)
GLOBAL(X)
#undef X

static std::vector<Pattern> patterns()
{
	static const unsigned masks[] = { 0x1,        0x3,        0xf,        0xffff,    0xffff0000,
		                              0x55555555, 0x0f0f0f0f, 0x80000001, 0x00ff00ff };
	std::vector<Pattern> all;
	Pattern q;
	q.mask = ~0u;
	for (unsigned lanes = 1; lanes <= 32; lanes *= 2) /* on one element */
		for (unsigned stride = 1; stride <= (lanes < 32 ? 32 : 1); stride *= 2) {
			for (unsigned l = 0; l < MICRO_WARP; l++)
				q.at[l] = (unsigned short)(l / lanes * stride);
			all.push_back(q);
		}
	for (unsigned n = 2; n <= 16; n *= 2) {
		for (unsigned l = 0; l < MICRO_WARP; l++)
			q.at[l] = (unsigned short)(l % n);
		all.push_back(q);
	}
	for (unsigned stride = 1; stride <= 32; stride *= 32)
		for (unsigned mask : masks) {
			q.mask = mask;
			for (unsigned l = 0; l < MICRO_WARP; l++)
				q.at[l] = (unsigned short)(l * stride);
			all.push_back(q);
		}
	uint64_t state = 11;
	for (unsigned range = 16; range <= ELEMENTS; range *= 4)
		for (unsigned again = 0; again < 3; again++) {
			q.mask = again < 2 ? ~0u : micro_random(&state) | 1;
			for (unsigned l = 0; l < MICRO_WARP; l++)
				q.at[l] = (unsigned short)(micro_random(&state) % range);
			all.push_back(q);
		}
	return all;
}

int main()
{
	micro_begin("atomic_waves");
	/* on a multiple of its size, so that lines fall into the same sets wherever it lies */
	const size_t bytes = ELEMENTS * 8;
	char *const room = micro_alloc<char>(2 * bytes);
	char *const data = room + (bytes - (size_t)room % bytes) % bytes;
	unsigned *const out = micro_alloc<unsigned>(MICRO_WARP);
	for (const Pattern &q : patterns()) {
		std::string at;
		for (unsigned l = 0; l < MICRO_WARP; l++)
			at += (l ? "," : "") + std::to_string(q.at[l]);
#define X(name, type, statement)                                             \
	m_##name<<<1, MICRO_WARP>>>(out, data, q);                               \
	micro_fail(#name, cudaDeviceSynchronize());                              \
	Line("atomic_waves", #name)("bytes", sizeof(type))("mask", q.mask)("at", \
	                                                                   at.c_str())("untimed", 1);
		SHARED(X)
		GLOBAL(X)
#undef X
	}
	return 0;
}
