// Quotients in one side of a branch, of numbers that the quick way cannot divide: of those whose
// result is only looked at in part, the assembler's way back has a guard and a predicate
// (@!P1 RET.REL.NODEC !P0).
#include "check.h"
#include <cstring>

enum { THREADS = 64, BLOCKS = 4, N = THREADS * BLOCKS };

__global__ void whose_value_is_lost(const unsigned *in, const float *fin, unsigned *out,
                                    float *fout)
{
	const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned low = in[2 * i], high = in[2 * i + 1];
	float a = fin[2 * i], b = fin[2 * i + 1];
	if (low & 1u) {
		if (-7.0f < a) {
			if (!(high & 1u))
				a = b;
		} else {
			high = (unsigned)__float2int_rd(__fdiv_rn(b, a));
		}
	}
	high ^= __ballot_sync(~0u, high & 1u);
	high = 0;
	out[2 * i] = low;
	out[2 * i + 1] = high;
	fout[2 * i] = a;
	fout[2 * i + 1] = b;
}

__global__ void whose_value_is_kept(const unsigned *in, const float *fin, unsigned *out,
                                    float *fout)
{
	const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	float a = fin[2 * i], b = fin[2 * i + 1];
	if (in[2 * i] & 1u)
		a = __fdiv_rn(b, a);
	else if (in[2 * i + 1] & 1u)
		b = __fdiv_rn(a, b);
	out[i] = i;
	fout[2 * i] = a;
	fout[2 * i + 1] = b;
}

static unsigned in[2 * N];
static float fin[2 * N], fout[2 * N];

static unsigned bits_of(float f)
{
	unsigned u;
	memcpy(&u, &f, sizeof u);
	return u;
}

/* NaN have no bits of their own. */
static unsigned sum_of(const float *f, int n)
{
	unsigned sum = 0;
	for (int i = 0; i < n; i++)
		sum = 31 * sum + (f[i] == f[i] ? bits_of(f[i]) : 1u);
	return sum;
}

int main()
{
	static const float odd[] = { 0.0f, -0.0f, 1e-40f, -1e-44f, 1e38f, -3e38f, 1e-38f, -8.0f };
	unsigned state = 1, *d_in, *d_out, sums[2];
	float *d_fin, *d_fout;
	for (int i = 0; i < 2 * N; i++) {
		in[i] = next_random(state);
		const unsigned r = next_random(state);
		fin[i] = r & 1 ? odd[r >> 8 & 7] : (float)((int)(r >> 4) - 500000);
	}
	CHECK(cudaMalloc(&d_in, sizeof in));
	CHECK(cudaMalloc(&d_fin, sizeof fin));
	CHECK(cudaMalloc(&d_out, sizeof in));
	CHECK(cudaMalloc(&d_fout, sizeof fout));
	CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_fin, fin, sizeof fin, cudaMemcpyHostToDevice));
	whose_value_is_lost<<<BLOCKS, THREADS>>>(d_in, d_fin, d_out, d_fout);
	CHECK(cudaMemcpy(fout, d_fout, sizeof fout, cudaMemcpyDeviceToHost));
	sums[0] = sum_of(fout, 2 * N);
	whose_value_is_kept<<<BLOCKS, THREADS>>>(d_in, d_fin, d_out, d_fout);
	CHECK(cudaMemcpy(fout, d_fout, sizeof fout, cudaMemcpyDeviceToHost));
	sums[1] = sum_of(fout, 2 * N);
	free_all(d_in, d_fin, d_out, d_fout);
	printf("lost %08x, kept %08x\n", sums[0], sums[1]);
	return finish("quotients_in_branches", sums[0] == 0x415a50feu && sums[1] == 0xe97576aau);
}
