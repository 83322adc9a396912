/*
 * How the lanes of a warp were together, step by step: kernels note places as they pass them.
 *
 * A note is the place, the lanes that were active there and the clock. Lanes note for themselves,
 * without a branch; what lanes noted at one time is one step. steps_line() prints the steps of each
 * warp in the order of time, "place:lanes" with "*n" behind what came n times in a row.
 */
#ifndef PMPP_MICRO_STEPS_CUH
#define PMPP_MICRO_STEPS_CUH

#include "micro.cuh"

#include <algorithm>
#include <string>
#include <vector>

enum { STEPS_MOST = 4096, STEPS_THREADS = 128, STEPS_TEXT = 12000 }; /* of a lane; of a block */

struct Note {
	unsigned place, lanes, clock, pad;
	bool operator<(const Note &o) const
	{
		return clock != o.clock ? clock < o.clock : lanes < o.lanes;
	}
	bool operator==(const Note &o) const
	{
		return clock == o.clock && lanes == o.lanes && place == o.place;
	}
};

static __device__ Note steps_of[STEPS_MOST][STEPS_THREADS];
static __device__ unsigned steps_n[STEPS_THREADS];

/* The @i-th note of this lane. */
static __device__ __forceinline__ void steps_note(unsigned i, unsigned place)
{
	unsigned clock;
	asm volatile("mov.u32 %0, %%clock;" : "=r"(clock));
	steps_of[i % STEPS_MOST][threadIdx.x] = Note{ place, __activemask(), clock, 0 };
}

/* With ON false it is nothing. */
template <bool ON> struct Steps {
	unsigned n = 0;
	__device__ __forceinline__ void note(unsigned place)
	{
		if (ON)
			steps_note(n++, place);
	}
	__device__ __forceinline__ void end()
	{
		if (ON)
			steps_n[threadIdx.x] = n;
	}
};

/* After the kernel: @line has what it was. */
static inline void steps_line(Line &line, unsigned threads)
{
	static Note all[STEPS_MOST][STEPS_THREADS];
	unsigned n[STEPS_THREADS];
	micro_fail("launch", cudaDeviceSynchronize());
	micro_fail("copy", cudaMemcpyFromSymbol(n, steps_n, sizeof n));
	micro_fail("copy", cudaMemcpyFromSymbol(all, steps_of, sizeof all));
	for (unsigned w = 0; w < threads; w += MICRO_WARP) {
		std::vector<Note> notes;
		for (unsigned t = w; t < w + MICRO_WARP; t++)
			for (unsigned i = 0; i < std::min(n[t], (unsigned)STEPS_MOST); i++)
				notes.push_back(all[i][t]);
		std::sort(notes.begin(), notes.end());
		notes.erase(std::unique(notes.begin(), notes.end()), notes.end());
		std::string text;
		for (size_t i = 0, same; i < notes.size() && text.size() < STEPS_TEXT; i += same) {
			char step[40];
			for (same = 1; i + same < notes.size() && notes[i + same].place == notes[i].place &&
			               notes[i + same].lanes == notes[i].lanes;)
				same++;
			snprintf(step, sizeof step, same > 1 ? "%u:%x*%zu " : "%u:%x ", notes[i].place,
			         notes[i].lanes, same);
			text += step;
		}
		char key[20];
		snprintf(key, sizeof key, "steps_%u", w / MICRO_WARP);
		line(key, text.c_str());
	}
}

#endif
