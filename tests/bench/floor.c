/*
 * What three launches of emu_bench ask of the machine's memory at least: the same words moved, in
 * the order in which the launch does it, by a plain loop that counts nothing and keeps no flags.
 * Milliseconds of one core, the best of REPEAT (default 10) runs, to be held against emu_bench's.
 *
 * floor [REPEAT]
 */
#include "base/mem.h"
#include "base/monotonic.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARP = 32, SIDE = 1024, WORDS = 1 << 22, GRID_THREADS = 136 * 256 }; /* as by default */

/* Every warp's row goes to a column. */
static void transpose(const float *in, float *out)
{
	for (size_t i = 0; i < (size_t)SIDE * SIDE; i += WARP)
		for (size_t k = 0; k < WARP; k++)
			out[(i % SIDE + k) * SIDE + i / SIDE] = in[i + k];
}

static void add_row(const float *in, float *out, size_t at)
{
	for (size_t k = at; k < at + WARP; k++)
		out[k] = in[k] + in[WORDS + k];
}

static void per_element(const float *in, float *out)
{
	for (size_t i = 0; i < WORDS; i += WARP)
		add_row(in, out, i);
}

/* Each warp of a block runs to its end before the next one begins. */
static void grid_stride(const float *in, float *out)
{
	for (size_t first = 0; first < GRID_THREADS; first += WARP)
		for (size_t i = first; i < WORDS; i += GRID_THREADS)
			add_row(in, out, i);
}

static const struct bare {
	const char *name;
	void (*run)(const float *in, float *out);
} all[] = {
	{ "vec_add   per_element, 4 Mi", per_element },
	{ "vec_add   grid_stride, 4 Mi", grid_stride },
	{ "transpose first variant", transpose },
};

int main(int argc, char **argv)
{
	const int repeat = argc > 1 ? atoi(argv[1]) : 10;
	const size_t bytes = (size_t)WORDS * sizeof(float);
	if (repeat < 1) {
		fprintf(stderr, "floor: '%s' is no number of runs\n", argv[1]);
		return 2;
	}
	float *in = mem_pages(2 * bytes), *out = mem_pages(bytes);
	memset(in, 0, 2 * bytes);
	memset(out, 0, bytes);
	for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
		double best_s = 1e30;
		for (int i = 0; i < repeat; i++) {
			const double began_s = clock_now_s();
			all[k].run(in, out);
			const double took_s = clock_now_s() - began_s;
			best_s = took_s < best_s ? took_s : best_s;
		}
		printf("%-36s %7.1f ms\n", all[k].name, 1e3 * best_s);
	}
	free(in);
	free(out);
	return 0;
}
