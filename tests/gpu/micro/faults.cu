/*
 * Faults of managed memory, one by one: the first of a process (which this program starts anew as
 * its own child), chains of pages of which each names the next, pages that are read and then
 * written, and pages that lanes or blocks touch together, by number and distance.
 */
#include "micro.cuh"

#include <string>

typedef unsigned long long word;

static const size_t KIB = 1024, MIB = 1024 * KIB;

/* Follows @pages links; cycles of the whole way. */
static __global__ void m_chain(word *at, unsigned pages, unsigned *cycles)
{
	const long long from = clock64();
	for (unsigned i = 0; i < pages; i++)
		at = (word *)*(volatile word *)at;
	micro_use((long long)(size_t)at, cycles);
	cycles[0] = (unsigned)(clock64() - from);
}

/* Reads @reads pages together, then writes @writes others, which need what was read. */
static __global__ void m_rounds(const word *in, unsigned reads, word *out, unsigned writes,
                                size_t words_apart)
{
	word sum = 0;
#pragma unroll 4
	for (unsigned i = 0; i < reads; i++)
		sum += in[i * words_apart];
	for (unsigned i = 0; i < writes; i++)
		out[i * words_apart] = sum;
}

/* Every lane has a page of its own. */
static __global__ void m_together(word *at, size_t words_apart, bool write, unsigned *cycles)
{
	word *const mine = at + (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * words_apart;
	if (write)
		*mine = 1;
	else
		micro_use((long long)*(volatile word *)mine, cycles);
}

static __global__ void m_three(const word *a, const word *b, word *c)
{
	c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

static __global__ void nothing(unsigned *p)
{
	p[0] = 0;
}

static word *managed(size_t bytes)
{
	word *p = nullptr;
	micro_fail("cudaMallocManaged", cudaMallocManaged(&p, bytes));
	return p;
}

/* A child: kernels that each touch one more buffer, by events and by their own clock. */
static int first_faults(const char *name)
{
	const int buffers = 6;
	const bool fresh = strstr(name, "fresh") != nullptr, warm = strstr(name, "warm") != nullptr;
	const bool device = strstr(name, "device") != nullptr;
	word *at[buffers];
	cudaEvent_t from, to;
	unsigned *const cycles = micro_cycles();
	cudaEventCreate(&from);
	cudaEventCreate(&to);
	for (int i = 0; i < buffers; i++) {
		at[i] = device ? micro_alloc<word>(4 * MIB / 8) : managed(4 * MIB);
		if (!fresh && !device)
			at[i][0] = (word)at[i];
	}
	if (warm) {
		nothing<<<1, 32>>>(cycles);
		m_chain<<<1, 1>>>((word *)cycles, 0, cycles);
		micro_fail("warm", cudaDeviceSynchronize());
	}
	for (int i = 0; i < buffers; i++) {
		float ms = 0;
		unsigned n = 0;
		cudaEventRecord(from);
		if (fresh)
			m_together<<<1, 1>>>(at[i], 0, true, cycles);
		else
			m_chain<<<1, 1>>>(at[i], 1, cycles);
		cudaEventRecord(to);
		micro_fail("launch", cudaDeviceSynchronize());
		cudaEventElapsedTime(&ms, from, to);
		micro_fail("copy", cudaMemcpy(&n, cycles, sizeof n, cudaMemcpyDeviceToHost));
		Line("faults", name)("kernel", i)("ns", ms * 1e6)("cycles", fresh ? -1.0 : n);
	}
	return 0;
}

static void children(const char *program)
{
	static const char *const names[] = { "first_cold_device", "first_cold_host", "first_cold_fresh",
		                                 "first_warm_host", "first_warm_fresh" };
	for (int turn = 0; turn < 2; turn++)
		for (const char *name : names)
			if (system(("'" + std::string(program) + "' " + name).c_str()))
				fprintf(stderr, "faults: %s failed\n", name);
}

static void chain(unsigned pages, size_t apart)
{
	word *const all = managed(pages * apart);
	unsigned n = 0;
	const Times t = times_ns([&] { m_chain<<<1, 1>>>(all, pages, micro_cycles()); },
	                         [&] {
								 for (unsigned i = 0; i < pages; i++)
									 all[i * apart / 8] = (word)(all + (i + 1) % pages * apart / 8);
							 });
	micro_fail("copy", cudaMemcpy(&n, micro_cycles(), sizeof n, cudaMemcpyDeviceToHost));
	Line("faults", "chain")("pages", pages)("kib_apart", (double)(apart / KIB))("ns", t.least)(
		"median_ns", t.median)("most_ns", t.most)("cycles", n);
	cudaFree(all);
}

static void rounds(unsigned reads, unsigned writes, bool written)
{
	const size_t apart = 4 * MIB;
	word *in = managed(8 * apart), *out = nullptr;
	const Times t = times_ns([&] { m_rounds<<<1, 1>>>(in, reads, out, writes, apart / 8); },
	                         [&] {
								 cudaFree(out);
								 out = managed(8 * apart);
								 for (unsigned i = 0; i < reads; i++)
									 in[i * apart / 8] = i;
								 for (unsigned i = 0; i < writes && written; i++)
									 out[i * apart / 8] = i;
							 });
	Line("faults", "rounds")("reads", reads)("writes", writes)("host_wrote", written)(
		"ns", t.least)("median_ns", t.median)("most_ns", t.most);
	cudaFree(in);
	cudaFree(out);
}

static void together(unsigned blocks, unsigned threads, size_t apart, bool fresh, bool write)
{
	const size_t pages = (size_t)blocks * threads;
	word *all = nullptr;
	const Times t =
		times_ns([&] { m_together<<<blocks, threads>>>(all, apart / 8, write, micro_cycles()); },
	             [&] {
					 if (fresh || !all) {
						 cudaFree(all);
						 all = managed(pages * apart);
					 }
					 for (size_t i = 0; i < pages && !fresh; i++)
						 all[i * apart / 8] = i;
				 },
	             5);
	Line("faults", fresh ? "together_fresh" : "together_host")("blocks", blocks)(
		"threads", threads)("kib_apart", (double)(apart / KIB))("write", write)("ns", t.least)(
		"median_ns", t.median)("most_ns", t.most);
	cudaFree(all);
}

/*
 * Small buffers as programs have them: two that the host wrote and the kernel reads, one that it
 * writes. @anew: all are allocated again before each launch, and freed after it.
 */
static void small(size_t bytes, bool anew, bool written)
{
	word *at[3] = {};
	const Times t = times_ns([&] { m_three<<<1, 32>>>(at[0], at[1], at[2]); },
	                         [&] {
								 for (word *&p : at) {
									 if (anew)
										 cudaFree(p);
									 if (anew || !p)
										 p = managed(bytes);
								 }
								 at[0][0] = at[1][0] = 1;
								 if (written)
									 at[2][0] = 1;
							 },
	                         25);
	Line("faults", "small")("bytes", (double)bytes)("anew", anew)("written", written)(
		"apart", (double)((char *)at[1] - (char *)at[0]))("ns", t.least)("median_ns", t.median)(
		"most_ns", t.most);
	for (word *p : at)
		cudaFree(p);
}

int main(int argc, char **argv)
{
	const bool alone =
		argc > 1 && !strcmp(argv[1], "alone"); /* no child, which others would record */
	if (argc > 1 && !alone)
		return first_faults(argv[1]);
	if (!alone)
		children(argv[0]);
	micro_begin("faults");
	for (size_t bytes = 512; bytes <= 8 * MIB; bytes *= 128)
		for (int anew = 0; anew < 2; anew++)
			for (int written = 0; written < 2; written++)
				small(bytes, anew != 0, written != 0);
	static const size_t apart[] = { 4 * KIB, 64 * KIB, 2 * MIB };
	for (size_t a : apart)
		for (unsigned pages = 1; pages <= 32; pages *= 2)
			chain(pages, a);
	for (unsigned reads = 0; reads <= 2; reads++)
		for (unsigned writes = 0; writes <= 2; writes++)
			for (int written = 0; written < 2; written++)
				if (reads + writes)
					rounds(reads, writes, written != 0);
	for (int write = 0; write < 2; write++)
		for (int fresh = 0; fresh < 2; fresh++)
			for (size_t a : apart) {
				for (unsigned lanes = 1; lanes <= 32; lanes *= 2)
					together(1, lanes, a, fresh != 0, write != 0);
				if (a < 2 * MIB)
					together((unsigned)micro_sms(), 1, a, fresh != 0, write != 0);
			}
	return 0;
}
