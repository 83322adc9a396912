// What every program here uses: calls that must succeed, and one line at the end.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                       \
	do {                                                                                  \
		cudaError_t e_ = (call);                                                          \
		if (e_ != cudaSuccess) {                                                          \
			printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_)); \
			exit(1);                                                                      \
		}                                                                                 \
	} while (0)

// Device memory that is no longer needed.
template <class... T> void free_all(T *...memory)
{
	for (void *each : { (void *)memory... })
		CHECK(cudaFree(each));
}

// The same inputs on every machine.
inline unsigned next_random(unsigned &state)
{
	state = state * 1664525u + 1013904223u;
	return state >> 8;
}

inline int finish(const char *name, bool good)
{
	printf("%s: %s\n", name, good ? "passed" : "FAILED");
	return good ? 0 : 1;
}
