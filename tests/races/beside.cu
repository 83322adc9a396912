// Races beside what does no harm: at a warp's border, behind remarks, beside those who set the
// same, or in loops that only look like waiting; see README.md.
#define T threadIdx.x

// lanes of a warp may do it in one step; at its border another warp is met
//: race 1 x 64 "shared-memory race" "with no barrier between"
extern "C" __global__ void shifted_in_place(int *a, int *b, int n)
{
	__shared__ int s[65];
	s[T + 1] = a[T];
	if (T == 0)
		s[0] = 0;
	__syncthreads();
	s[T] = 2 * s[T + 1];
	__syncthreads();
	b[T] = s[T];
}
//: customary 1 x 32
extern "C" __global__ void shifted_in_place_by_one_warp(int *a, int *b, int n)
{
	__shared__ int s[33];
	s[T + 1] = a[T];
	if (T == 0)
		s[0] = 0;
	__syncthreads();
	s[T] = 2 * s[T + 1];
	__syncthreads();
	b[T] = s[T];
}
// many remarks of the last warp's steps leave room for the fault above them
//: race 1 x 256 "with no barrier between"
extern "C" __global__ void tree_without_barrier_above_a_volatile_warp(int *a, int *b, int n)
{
	__shared__ int s[256];
	volatile int *v = s;
	s[T] = a[T];
	__syncthreads();
	for (unsigned d = 128; d > 32; d >>= 1)
		if (T < d)
			s[T] += s[T + d];
	if (T < 32) {
		v[T] += v[T + 32];
		v[T] += v[T + 16];
		v[T] += v[T + 8];
		v[T] += v[T + 4];
		v[T] += v[T + 2];
		v[T] += v[T + 1];
	}
	if (T == 0)
		b[0] = s[0];
}
//: clean 1 x 96
extern "C" __global__ void everyone_sets_and_reads_one_value(int *a, int *b, int n)
{
	__shared__ int s[4];
	for (int i = 0; i < 4; i++)
		s[i] = 7 * i + n;
	b[T] = s[T % 4];
}
//: race 1 x 96
extern "C" __global__ void one_sets_another_value(int *a, int *b, int n)
{
	__shared__ int s[4];
	for (int i = 0; i < 4; i++)
		s[i] = T == 40 ? n : 7 * i + n;
	b[T] = s[T % 4];
}
//: race 1 x 96 "with no barrier between"
extern "C" __global__ void read_by_those_who_did_not_set_it(int *a, int *b, int n)
{
	__shared__ int s;
	if (T < 32)
		s = n;
	b[T] = s;
}
// nobody waits in that loop
//: race 2 x 1
extern "C" __global__ void volatile_sums_in_a_loop(int *a, int *b, int n)
{
	volatile int *sum = b;
	for (int i = 0; i < 4; i++)
		sum[0] += a[i] + 1;
}
//: clean 2 x 1
extern "C" __global__ void atomic_sums_in_a_loop(int *a, int *b, int n)
{
	for (int i = 0; i < 4; i++)
		atomicAdd(&b[0], a[i] + 1);
}
// a word that was the reader's own, until an atomic of another warp came behind a barrier
//: race 1 x 64 "this load" "meets the atomic"
extern "C" __global__ void own_word_that_another_adds_to(int *a, int *b, int n)
{
	__shared__ int s[32];
	if (T >= 32)
		s[T - 32] = 0;
	__syncthreads();
	if (T < 32)
		atomicAdd(&s[T], a[T]);
	else
		b[T] = s[T - 32];
}
