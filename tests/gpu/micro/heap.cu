/*
 * malloc, free, printf and new/delete lists in kernels: cycles from the first thread's call to the
 * last one's return, and time of the kernel, by threads, blocks, bytes and arguments; the first
 * kernel of the process that calls them, and later ones.
 */
#include "micro.cuh"

#include <fcntl.h>
#include <unistd.h>

static __global__ void m_malloc(void **kept, size_t bytes, unsigned *cycles)
{
	const BlockClock clock;
	kept[blockIdx.x * blockDim.x + threadIdx.x] = malloc(bytes);
	clock.stop(cycles);
}

static __global__ void m_free(void **kept, unsigned *cycles)
{
	const BlockClock clock;
	free(kept[blockIdx.x * blockDim.x + threadIdx.x]);
	clock.stop(cycles);
}

/* Each thread asks and gives back by turns. */
static __global__ void m_turns(size_t bytes, unsigned turns, unsigned *cycles)
{
	const BlockClock clock;
	for (unsigned i = 0; i < turns; i++) {
		volatile int *const p = (volatile int *)malloc(bytes);
		if (p)
			*p = 1;
		free((void *)p);
	}
	clock.stop(cycles);
}

/* Prints nothing, with @ARGS numbers. */
template <int ARGS> static __global__ void m_printf(unsigned calls, int zero, unsigned *cycles)
{
	const BlockClock clock;
	for (unsigned i = 0; i < calls; i++) {
		if (ARGS == 0)
			printf("");
		else if (ARGS == 1)
			printf("%.0d", zero);
		else
			printf("%.0d%.0d%.0d%.0d%.0d%.0d%.0d%.0d", zero, zero, zero, zero, zero, zero, zero,
			       zero);
	}
	clock.stop(cycles);
}

/* A word of @length letters, whose end the device looks for. */
static __global__ void m_printf_word(unsigned calls, const char *word, unsigned *cycles)
{
	const BlockClock clock;
	for (unsigned i = 0; i < calls; i++)
		printf("%.0s", word);
	clock.stop(cycles);
}

static unsigned cycles_of(unsigned blocks)
{
	unsigned longest = 0;
	static unsigned host[1024];
	micro_fail("copy",
	           cudaMemcpy(host, micro_cycles(), blocks * sizeof *host, cudaMemcpyDeviceToHost));
	for (unsigned i = 0; i < blocks; i++)
		longest = host[i] > longest ? host[i] : longest;
	return longest;
}

/* One launch by events, once. */
template <typename F> static double once_ns(F launch)
{
	cudaEvent_t from, to;
	float ms = 0;
	cudaEventCreate(&from);
	cudaEventCreate(&to);
	cudaEventRecord(from);
	launch();
	cudaEventRecord(to);
	micro_fail("launch", cudaDeviceSynchronize());
	cudaEventElapsedTime(&ms, from, to);
	cudaEventDestroy(from);
	cudaEventDestroy(to);
	return ms * 1e6;
}

template <typename F>
static void line(const char *name, unsigned blocks, unsigned threads, double with, double calls,
                 int run, F launch)
{
	const double ns = once_ns(launch);
	Line("heap", name)("blocks", blocks)("threads", threads)("with", with)("calls", calls)(
		"run", run)("ns", ns)("cycles", cycles_of(blocks));
}

static void blocks_of_memory(void **kept, unsigned blocks, unsigned threads, size_t bytes)
{
	unsigned *const out = micro_cycles();
	for (int run = 0; run < 3; run++) {
		line("malloc", blocks, threads, (double)bytes, 1, run,
		     [&] { m_malloc<<<blocks, threads>>>(kept, bytes, out); });
		line("free", blocks, threads, (double)bytes, 1, run,
		     [&] { m_free<<<blocks, threads>>>(kept, out); });
		for (unsigned turns = 1; turns <= 8; turns *= 8)
			line("turns", blocks, threads, (double)bytes, turns, run,
			     [&] { m_turns<<<blocks, threads>>>(bytes, turns, out); });
	}
}

static void prints(unsigned blocks, unsigned threads, unsigned calls)
{
	unsigned *const out = micro_cycles();
	for (int run = 0; run < 3; run++) {
		line("printf", blocks, threads, 0, calls, run,
		     [&] { m_printf<0><<<blocks, threads>>>(calls, 0, out); });
		line("printf", blocks, threads, 1, calls, run,
		     [&] { m_printf<1><<<blocks, threads>>>(calls, 0, out); });
		line("printf", blocks, threads, 8, calls, run,
		     [&] { m_printf<8><<<blocks, threads>>>(calls, 0, out); });
	}
}

static void words(unsigned length, unsigned calls)
{
	unsigned *const out = micro_cycles();
	char *const word = micro_alloc<char>(length + 1);
	micro_fail("word", cudaMemset(word, 'x', length));
	for (int run = 0; run < 2; run++)
		line("printf_word", 1, 1, length, calls, run,
		     [&] { m_printf_word<<<1, 1>>>(calls, word, out); });
	cudaFree(word);
}

int main()
{
	micro_begin("heap");
	const unsigned sms = (unsigned)micro_sms();
	static const unsigned threads[] = { 1, 2, 8, 32, 64, 256, 1024 };
	static const size_t bytes[] = { 16, 1024, 16384 };
	void **const kept = micro_alloc<void *>(1 << 20);
	micro_fail("limit", cudaDeviceSetLimit(cudaLimitMallocHeapSize, (size_t)1 << 30));
	for (unsigned t : threads)
		for (size_t b : bytes) {
			blocks_of_memory(kept, 1, t, b);
			if (t <= 64)
				blocks_of_memory(kept, sms, t, b);
		}
	for (int run = 0; run < 3; run++) /* no room for that */
		line("malloc", 1, 32, (double)((size_t)4 << 30), 1, run,
		     [&] { m_malloc<<<1, 32>>>(kept, (size_t)4 << 30, micro_cycles()); });
	static const unsigned calls[] = { 1, 5, 20 };
	for (unsigned t : threads)
		for (unsigned c : calls)
			if (t * c <= 1280) {
				prints(1, t, c);
				if (t * c <= 32)
					prints(sms, t, c);
			}
	for (unsigned length = 1; length <= 256; length *= 16) {
		words(length, 1);
		words(length, 5);
	}
	return 0;
}
