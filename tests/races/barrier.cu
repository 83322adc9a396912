// Barriers that threads of the block end without: kernels with their verdicts; see README.md.
#define T threadIdx.x

//: customary 1 x 64 "barrier divergence" "24 threads of it have ended"
extern "C" __global__ void leaves_before_the_barrier(int *a, int *b, int n)
{
	__shared__ int s[64];
	if (T >= 40)
		return;
	s[T] = a[T];
	__syncthreads();
	b[T] = s[39 - T];
}
//: customary 1 x 96 "barrier divergence" "32 threads of it have ended"
extern "C" __global__ void whole_warp_leaves(int *a, int *b, int n)
{
	__shared__ int s[64];
	if (T >= 64)
		return;
	s[T] = a[T];
	__syncthreads();
	b[T] = s[63 - T];
}
//: customary 1 x 64 "gone around this barrier"
extern "C" __global__ void goes_around_and_on(int *a, int *b, int n)
{
	__shared__ int s[32];
	if (T < 32) {
		s[T] = a[T];
		__syncthreads();
		b[T] = s[31 - T];
	}
	a[T] = T;
}
//: clean 2 x 48
extern "C" __global__ void half_a_warp_at_the_end(int *a, int *b, int n)
{
	__shared__ int s[48];
	s[T] = a[T];
	__syncthreads();
	b[blockIdx.x * 48 + T] = s[47 - T];
}
//: clean 1 x 96
extern "C" __global__ void leaves_behind_the_last_barrier(int *a, int *b, int n)
{
	__shared__ int s[96];
	s[T] = a[T];
	__syncthreads();
	if (T >= 40)
		return;
	b[T] = s[95 - T];
}
// the others are not meant: the barrier says for how many threads it is
//: clean 1 x 96
extern "C" __global__ void barrier_of_one_warp(int *a, int *b, int n)
{
	__shared__ int s[32];
	if (T >= 32)
		return;
	s[T] = a[T];
	asm volatile("bar.sync 1, 32;" ::: "memory");
	b[T] = s[31 - T];
}
//: customary 1 x 64 "barrier divergence" "1 threads of it have ended"
extern "C" __global__ void returns_behind_its_work(int *a, int *b, int n)
{
	__shared__ int s[64];
	if (n == 4096 && T == 0) {
		b[64] = a[0] + a[1];
		return;
	}
	s[T] = a[T];
	__syncthreads();
	if (T == 1)
		b[65] = n;
	__syncthreads();
	b[T] = s[T == 63 ? T : 63 - T];
}
// each warp fills the barrier by itself, and the two never meet
//: race 1 x 64 "shared-memory race" "no barrier between"
extern "C" __global__ void each_warp_fills_it(int *a, int *b, int n)
{
	__shared__ int s[64];
	s[T] = a[T];
	asm volatile("bar.sync 1, 32;" ::: "memory");
	b[T] = s[63 - T];
}
// the second turn of a barrier does not begin before the first one is over
//: clean 1 x 96
extern "C" __global__ void two_of_three_at_a_time(int *a, int *b, int n)
{
	__shared__ int s[96];
	s[T] = a[T];
	if (T < 32) { /* hands its part to the others, one after the other */
		asm volatile("bar.arrive 1, 64;" ::: "memory");
		asm volatile("bar.arrive 2, 64;" ::: "memory");
	} else if (T < 64) {
		asm volatile("bar.sync 1, 64;" ::: "memory");
	} else {
		asm volatile("bar.sync 2, 64;" ::: "memory");
	}
	b[T] = s[T % 32];
}
// all may go on without waiting: the barrier is full, and the next turn begins
//: clean 1 x 96
extern "C" __global__ void all_go_on(int *a, int *b, int n)
{
	__shared__ int s[96];
	s[T] = a[T];
	if (T < 64) {
		for (int turn = 0; turn < 3; turn++)
			asm volatile("bar.arrive 1, 64;" ::: "memory");
		asm volatile("bar.sync 1, 64;" ::: "memory");
	}
	b[T] = s[T ^ (T < 64)];
}
