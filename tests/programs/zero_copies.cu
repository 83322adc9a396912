// Copies past L1 of which some lanes only write zeros (cp.async with a size): where the machine
// code says which lanes these are decides what a card counts, so each pattern is there under
// several predicates: P0 of a comparison, !P0 of a bit, P1 and !P1 beside others that are needed, a
// register.
#include "check.h"

enum { PATTERNS = 6, FORMS = 4, LINE = 256, BYTES = 8192 };

static __device__ __forceinline__ void copy(unsigned to, const void *from, int bytes)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to),
	             "l"(__cvta_generic_to_global(from)), "r"(bytes)
	             : "memory");
}

// Where a lane copies from and to, and which lanes write zeros.
static __device__ __forceinline__ unsigned place(int pattern, int t, unsigned &to, unsigned &from)
{
	const int row = t / 16, column = t % 16, y = t / 4, x = t % 4;
	to = row * LINE + (column ^ row % 8) * 16;
	from = row * LINE + column * 16;
	switch (pattern) {
	case 0: return 0xf000f000u; // the ends of two rows
	case 1: from = row * 192 + column * 16; return 0xf000f000u;
	case 2: return 0xffff0000u;                     // the second row
	case 3: to = from = t * 16; return 0x0000ffffu; // as it lies, the first half
	case 4:                                         // rows of 64 bytes, the last three
		to = y * 64 + (x ^ y / 2 % 4) * 16;
		from = y * LINE + x * 16;
		return 0xfff00000u;
	default: // the same, all of them
		to = y * 64 + (x ^ y / 2 % 4) * 16;
		from = y * LINE + x * 16;
		return 0;
	}
}

template <int PATTERN, int FORM> __global__ void copies(const char *from, const int *ones, int *out)
{
	__shared__ __align__(1024) char shared[BYTES];
	const int t = threadIdx.x;
	unsigned to, at;
	const unsigned zeros = place(PATTERN, t, to, at) ^ (ones[64] - 1), mine = zeros >> t & 1;
	to += (unsigned)__cvta_generic_to_shared(shared);
	if (FORM == 0)
		copy(to, from + at, mine ? 0 : 16);
	if (FORM == 1)
		copy(to, from + at, !mine && ones[t] ? 16 : 0);
	if (FORM == 2) {
		const bool a = ones[t] & 2, b = ones[t + 32] & 4;
		copy(to, from + at, mine ? 0 : 16);
		out[t + 32] = (a ? 3 : 5) * (b ? 7 : 9) * (mine ? 11 : 13);
		if (a)
			out[t + 64] = 1;
		if (b)
			out[t + 96] = 1;
	}
	if (FORM == 3) {
		bool p[4];
		int sum = 0;
		for (int i = 0; i < 4; i++)
			p[i] = ones[t + 32 * i] && !mine;
		for (int i = 0; i < 4; i++)
			sum += p[i] ? 1 << i : 0;
		copy(to, from + at, p[0] ? 16 : 0);
		copy(to + 1024, from + at + 2048, p[1] ? 16 : 0);
		for (int i = 0; i < 4; i++)
			sum *= p[i] ? 3 : 5;
		out[t + 32] = sum;
	}
	asm volatile("cp.async.wait_all;" ::: "memory");
	__syncthreads();
	int words = 0;
	for (int i = 0; i < 4; i++)
		words += *(int *)(shared + 4 * t + 128 * i);
	out[t] = words;
}

static int *out, *ones;
static char *from;
static long sum;

template <int PATTERN, int FORM> static void all_forms()
{
	static int back[32];
	copies<PATTERN, FORM><<<1, 32>>>(from, ones, out);
	CHECK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 32; i++)
		sum += back[i];
	if constexpr (FORM + 1 < FORMS)
		all_forms<PATTERN, FORM + 1>();
	else if constexpr (PATTERN + 1 < PATTERNS)
		all_forms<PATTERN + 1, 0>();
}

int main()
{
	std::vector<int> start(1024, 1);
	std::vector<char> bytes(2 * BYTES, 1);
	CHECK(cudaMalloc(&ones, start.size() * sizeof(int)));
	CHECK(cudaMalloc(&out, start.size() * sizeof(int)));
	CHECK(cudaMalloc(&from, bytes.size()));
	CHECK(cudaMemcpy(ones, start.data(), start.size() * sizeof(int), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(from, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
	all_forms<0, 0>();
	// 16 bytes of ones from each lane that copies: 24, 24, 16, 16, 20 and 32 lanes, in four forms
	const long words = 4L * 4 * (24 + 24 + 16 + 16 + 20 + 32);
	free_all(ones, out, from);
	printf("%ld of %ld\n", sum / 0x01010101, words);
	return finish("zero_copies", sum == 0x01010101L * words);
}
