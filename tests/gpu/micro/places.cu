/*
 * How far a word of memory is from an SM, by its line: cycles of one thread for a load past L1, an
 * addition that is waited for, a store and a fence behind it, and a turn at a lock that nobody else
 * wants, with its number beside it, volatile or not. The lines of one line of output are one after
 * the other; L2 has all of them.
 */
#include "micro.cuh"

#define LINES 24
#define WORDS_OF_LINE 32
#define TURNS 16

enum Kind { LOAD, ADD, STORE_FENCE, LOCK, LOCK_VOLATILE, KINDS };
static const char *const names[KINDS] = { "load", "add", "store_fence", "lock", "lock_volatile" };

template <typename P> static __device__ void turn_at_lock(unsigned *line)
{
	while (atomicCAS(line, 0, 1) != 0)
		;
	__threadfence();
	*(P)(line + 1) += 1;
	__threadfence();
	atomicExch(line, 0);
}

template <Kind K> static __device__ void once(unsigned *line, unsigned *sum)
{
	if (K == LOAD)
		*sum += __ldcg(line + *sum);
	else if (K == ADD)
		*sum += atomicAdd(line + *sum, 0);
	else if (K == STORE_FENCE) {
		line[*sum] = 0;
		__threadfence();
	} else if (K == LOCK)
		turn_at_lock<unsigned *>(line);
	else
		turn_at_lock<volatile unsigned *>(line);
}

/* Only the block on SM @sm does anything, and only once. */
template <Kind K> static __global__ void m_place(unsigned *memory, unsigned sm, unsigned *cycles)
{
	__shared__ unsigned spent[LINES];
	unsigned own, sum = 0;
	asm volatile("mov.u32 %0, %%smid;" : "=r"(own));
	if (own != sm)
		return;
#pragma unroll 1
	for (unsigned k = 0; k < LINES; k++) {
		unsigned *const line = memory + k * WORDS_OF_LINE;
		once<K>(line, &sum);
		const unsigned from = (unsigned)clock64();
#pragma unroll 1
		for (unsigned i = 0; i < TURNS; i++)
			once<K>(line, &sum);
		spent[k] = ((unsigned)clock64() - from) / TURNS;
	}
	for (unsigned k = 0; k < LINES; k++)
		cycles[k] = spent[k] + sum;
}

template <Kind K> static void measure(unsigned *memory, unsigned sm)
{
	unsigned host[LINES];
	char text[LINES * 8] = "";
	for (int run = 0; run < 2; run++) {
		micro_fail("memset", cudaMemset(memory, 0, LINES * WORDS_OF_LINE * sizeof *memory));
		m_place<K><<<(unsigned)micro_sms(), 1>>>(memory, sm, micro_cycles());
		micro_fail("launch", cudaDeviceSynchronize());
	}
	micro_fail("copy", cudaMemcpy(host, micro_cycles(), sizeof host, cudaMemcpyDeviceToHost));
	for (unsigned k = 0; k < LINES; k++)
		snprintf(text + strlen(text), 8, "%s%u", k ? " " : "", host[k]);
	Line("places", names[K])("sm", sm)("cycles", text);
}

int main()
{
	micro_begin("places");
	unsigned *const memory = micro_alloc<unsigned>(LINES * WORDS_OF_LINE);
	for (unsigned sm = 0; sm < (unsigned)micro_sms(); sm += 13) {
		measure<LOAD>(memory, sm);
		measure<ADD>(memory, sm);
		measure<STORE_FENCE>(memory, sm);
		measure<LOCK>(memory, sm);
		measure<LOCK_VOLATILE>(memory, sm);
	}
	return 0;
}
