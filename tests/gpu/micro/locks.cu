/*
 * Locks that threads wait for in a loop: nanoseconds from one that gets the lock to the next, by
 * how many wait. Each adds to a number in memory meanwhile, with a fence before and behind it.
 *
 *   swap     compare-and-swap until the lock was free, an exchange gives it back
 *   look     the same, but a load looks until it is free before the next exchange
 *   nap      compare-and-swap, with longer and longer naps of 8 to 256 ns between tries
 *   ticket   numbers that are served in their order; an addition of nothing looks which
 *   nothing  one thread alone, without a lock: the same fences, load and store
 */
#include "micro.cuh"

#define TIMES 32 /* of each thread */

struct Lock {
	unsigned taken, next, served, sum;
};

enum Kind { SWAP, LOOK, NAP, TICKET, NOTHING };

template <Kind K> static __device__ unsigned take(volatile Lock *l)
{
	if (K == SWAP) {
		while (atomicCAS((unsigned *)&l->taken, 0, 1) != 0)
			;
	} else if (K == LOOK) {
		while (atomicExch((unsigned *)&l->taken, 1))
			while (l->taken)
				;
	} else if (K == NAP) {
		for (unsigned ns = 8; atomicCAS((unsigned *)&l->taken, 0, 1) != 0;
		     ns = ns < 256 ? 2 * ns : ns)
			__nanosleep(ns);
	} else if (K == TICKET) {
		const unsigned mine = atomicAdd((unsigned *)&l->next, 1);
		while (atomicAdd((unsigned *)&l->served, 0) != mine)
			;
		return mine;
	}
	return 0;
}

/* @locks of them, a line each; threads by their number in the warp. */
template <Kind K, bool FENCES> static __global__ void m_lock(Lock *lock, unsigned locks)
{
	Lock *const l = lock + threadIdx.x % locks * 8;
	for (unsigned i = 0; i < TIMES; i++) {
		take<K>(l);
		if (FENCES)
			__threadfence();
		l->sum += 1 + i;
		if (FENCES)
			__threadfence();
		if (K == TICKET)
			atomicAdd(&l->served, 1);
		else if (K != NOTHING)
			atomicExch(&l->taken, 0);
	}
}

template <Kind K, bool FENCES>
static void measure(const char *name, Lock *lock, unsigned blocks, unsigned threads, unsigned locks)
{
	const double ns = shortest_ns(
		[&] { m_lock<K, FENCES><<<blocks, threads>>>(lock, locks); },
		[&] { micro_fail("clear", cudaMemsetAsync(lock, 0, 32 * 8 * sizeof *lock)); }, 3);
	const double turns = (double)blocks * threads / (threads < locks ? threads : locks) * TIMES;
	Line("locks", name)("fences", FENCES)("blocks", blocks)("threads", threads)("locks", locks)(
		"ns", ns)("turn_ns", ns / turns);
}

template <Kind K> static void all(const char *name, Lock *lock)
{
	const unsigned sizes[][3] = { { 1, 1, 1 },  { 2, 1, 1 },  { 8, 1, 1 },   { 64, 1, 1 },
		                          { 1, 32, 1 }, { 2, 32, 1 }, { 2, 64, 1 },  { 8, 64, 1 },
		                          { 1, 64, 1 }, { 1, 32, 4 }, { 1, 256, 1 }, { 8, 32, 4 } };
	for (const auto &s : sizes) {
		measure<K, true>(name, lock, s[0], s[1], s[2]);
		measure<K, false>(name, lock, s[0], s[1], s[2]);
	}
}

int main()
{
	micro_begin("locks");
	Lock *const lock = micro_alloc<Lock>(32 * 8);
	measure<NOTHING, true>("nothing", lock, 1, 1, 1);
	measure<NOTHING, false>("nothing", lock, 1, 1, 1);
	all<SWAP>("swap", lock);
	all<LOOK>("look", lock);
	all<NAP>("nap", lock);
	all<TICKET>("ticket", lock);
	return 0;
}
