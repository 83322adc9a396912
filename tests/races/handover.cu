// Locks, flags and buffers, with their verdicts; see README.md.
#define T threadIdx.x
#define I (blockIdx.x * blockDim.x + threadIdx.x)

__device__ int ticket, serving, spin, turn, value_of_lock, filled[64];
__device__ unsigned int done_blocks;

// ticket locks
//: clean 6 x 32
extern "C" __global__ void ticket_lock(int *a, int *b, int n)
{
	if (T == 0) {
		const int mine = atomicAdd(&b[0], 1);
		while (atomicAdd(&b[1], 0) != mine)
			;
		__threadfence();
		b[2] += a[I];
		__threadfence();
		atomicAdd(&b[1], 1);
	}
}
//: race 6 x 32
extern "C" __global__ void ticket_lock_without_fences(int *a, int *b, int n)
{
	if (T == 0) {
		const int mine = atomicAdd(&b[0], 1);
		while (atomicAdd(&b[1], 0) != mine)
			;
		b[2] += a[I];
		atomicAdd(&b[1], 1);
	}
}
//: race 6 x 32
extern "C" __global__ void ticket_taken_nobody_waits(int *a, int *b, int n)
{
	if (T == 0) {
		const int mine = atomicAdd(&b[0], 1);
		b[2] += a[I] + mine;
		__threadfence();
		atomicAdd(&b[1], 1);
	}
}
//: clean 6 x 32
extern "C" __global__ void lock_by_exchange(int *a, int *b, int n)
{
	if (T == 0) {
		while (atomicExch(&b[0], 1) != 0)
			;
		__threadfence();
		b[2] += a[I];
		b[3] = b[2];
		__threadfence();
		atomicExch(&b[0], 0);
	}
}
//: clean 6 x 32
extern "C" __global__ void lock_given_back_by_volatile(int *a, int *b, int n)
{
	if (T == 0) {
		while (atomicCAS(&b[0], 0, 1) != 0)
			;
		__threadfence();
		b[2] += a[I];
		__threadfence();
		*(volatile int *)&b[0] = 0;
	}
}
//: race 6 x 32
extern "C" __global__ void two_locks_one_word(int *a, int *b, int n)
{
	if (T == 0) {
		int *lock = &b[blockIdx.x % 2];
		while (atomicCAS(lock, 0, 1) != 0)
			;
		__threadfence();
		b[2] += a[I];
		__threadfence();
		atomicExch(lock, 0);
	}
}
//: clean 2 x 64
extern "C" __global__ void lock_for_each_bin(int *a, int *b, int n)
{
	const int bin = I % 8;
	for (bool done = false; !done;) {
		if (atomicCAS(&b[bin], 0, 1) == 0) {
			__threadfence();
			b[64 + bin] += a[I];
			__threadfence();
			atomicExch(&b[bin], 0);
			done = true;
		}
	}
}

// buffers in turn
//: clean 1 x 64
extern "C" __global__ void double_buffer_one_barrier(int *a, int *b, int n)
{
	__shared__ int s[2][64];
	int sum = 0;
	s[0][T] = a[T];
	__syncthreads();
	for (int i = 0; i < 8; i++) {
		if (i < 7)
			s[(i + 1) % 2][T] = a[64 * (i + 1) + T];
		sum += s[i % 2][63 - T];
		__syncthreads();
	}
	b[T] = sum;
}
//: race 1 x 64
extern "C" __global__ void single_buffer_one_barrier(int *a, int *b, int n)
{
	__shared__ int s[64];
	int sum = 0;
	for (int i = 0; i < 8; i++) {
		s[T] = a[64 * i + T];
		__syncthreads();
		sum += s[63 - T];
	}
	b[T] = sum;
}
//: race 1 x 64
extern "C" __global__ void double_buffer_filled_too_soon(int *a, int *b, int n)
{
	__shared__ int s[2][64];
	int sum = 0;
	for (int i = 0; i < 8; i++) {
		s[i % 2][T] = a[64 * i + T];
		if (i % 2)
			__syncthreads();
		sum += s[i % 2][63 - T];
	}
	b[T] = sum;
}
//: clean 1 x 96
extern "C" __global__ void three_buffers_one_barrier(int *a, int *b, int n)
{
	__shared__ int s[3][96];
	int sum = 0;
	for (int i = 0; i < 9; i++) {
		s[i % 3][T] = a[96 * i + T];
		__syncthreads();
		sum += s[i % 3][95 - T];
	}
	b[T] = sum;
}

// the last block adds up
//: clean 8 x 64
extern "C" __global__ void last_block_by_counter(int *a, int *b, int n)
{
	__shared__ bool last;
	if (T == 0) {
		b[blockIdx.x] = a[I];
		__threadfence();
		last = atomicInc(&done_blocks, gridDim.x - 1) == gridDim.x - 1;
	}
	__syncthreads();
	if (last && T == 0) {
		__threadfence();
		int sum = 0;
		for (unsigned i = 0; i < gridDim.x; i++)
			sum += b[i];
		b[100] = sum;
	}
}
//: race 8 x 64
extern "C" __global__ void last_block_does_not_look_who_is_last(int *a, int *b, int n)
{
	if (T == 0) {
		b[blockIdx.x] = a[I];
		__threadfence();
		atomicAdd(&b[50], 1);
	}
	if (blockIdx.x == gridDim.x - 1 && T == 0) {
		int sum = 0;
		for (unsigned i = 0; i < gridDim.x; i++)
			sum += b[i];
		b[100] = sum;
	}
}
// flags
//: clean 2 x 32
extern "C" __global__ void message_by_release_and_acquire(int *a, int *b, int n)
{
	if (T == 0 && blockIdx.x == 0) {
		b[1] = 42;
		asm volatile("st.release.gpu.b32 [%0], 1;" ::"l"(&b[0]) : "memory");
	} else if (T == 0) {
		int f = 0;
		while (!f)
			asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(f) : "l"(&b[0]) : "memory");
		b[2] = b[1];
	}
}
//: race 2 x 32
extern "C" __global__ void message_by_relaxed_flag(int *a, int *b, int n)
{
	if (T == 0 && blockIdx.x == 0) {
		b[1] = 42;
		asm volatile("st.relaxed.gpu.b32 [%0], 1;" ::"l"(&b[0]) : "memory");
	} else if (T == 0) {
		int f = 0;
		while (!f)
			asm volatile("ld.relaxed.gpu.b32 %0, [%1];" : "=r"(f) : "l"(&b[0]) : "memory");
		b[2] = b[1];
	}
}
//: race 2 x 32
extern "C" __global__ void message_of_block_scope(int *a, int *b, int n)
{
	if (T == 0 && blockIdx.x == 0) {
		b[1] = 42;
		asm volatile("st.release.cta.b32 [%0], 1;" ::"l"(&b[0]) : "memory");
	} else if (T == 0) {
		int f = 0;
		while (!f)
			asm volatile("ld.acquire.cta.b32 %0, [%1];" : "=r"(f) : "l"(&b[0]) : "memory");
		b[2] = b[1];
	}
}
//: race 2 x 32
extern "C" __global__ void flag_before_its_message(int *a, int *b, int n)
{
	if (T == 0 && blockIdx.x == 0) {
		asm volatile("st.release.gpu.b32 [%0], 1;" ::"l"(&b[0]) : "memory");
		b[1] = 42;
	} else if (T == 0) {
		int f = 0;
		while (!f)
			asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(f) : "l"(&b[0]) : "memory");
		b[2] = b[1];
	}
}
// lanes that meet in parts of the warp
//: clean 1 x 32
extern "C" __global__ void quarters_of_a_warp(int *a, int *b, int n)
{
	__shared__ int s[32];
	const unsigned mask = 0xffu << (T & ~7u);
	s[T] = a[T];
	__syncwarp(mask);
	b[T] = s[T ^ 7];
}
//: race 1 x 32
extern "C" __global__ void quarters_that_look_at_halves(int *a, int *b, int n)
{
	__shared__ int s[32];
	const unsigned mask = 0xffu << (T & ~7u);
	s[T] = a[T];
	__syncwarp(mask);
	b[T] = s[T ^ 15];
}
//: race 1 x 32
extern "C" __global__ void scan_of_a_warp_without_sync(int *a, int *b, int n)
{
	__shared__ int s[32];
	s[T] = a[T];
	__syncwarp();
	for (int d = 1; d < 32; d *= 2)
		if (T >= d)
			s[T] += s[T - d];
	b[T] = s[T];
}
//: clean 1 x 32
extern "C" __global__ void scan_of_a_warp(int *a, int *b, int n)
{
	__shared__ int s[32];
	s[T] = a[T];
	__syncwarp();
	for (int d = 1; d < 32; d *= 2) {
		const int v = T >= d ? s[T - d] : 0;
		__syncwarp();
		s[T] += v;
		__syncwarp();
	}
	b[T] = s[T];
}
//: clean 1 x 128
extern "C" __global__ void sums_of_warps_then_of_the_block(int *a, int *b, int n)
{
	__shared__ int s[4];
	int sum = a[T];
	for (int d = 16; d > 0; d /= 2)
		sum += __shfl_down_sync(0xffffffff, sum, d);
	if (T % 32 == 0)
		s[T / 32] = sum;
	__syncthreads();
	if (T == 0)
		b[0] = s[0] + s[1] + s[2] + s[3];
}
//: race 1 x 128
extern "C" __global__ void sums_of_warps_without_barrier(int *a, int *b, int n)
{
	__shared__ int s[4];
	int sum = a[T];
	for (int d = 16; d > 0; d /= 2)
		sum += __shfl_down_sync(0xffffffff, sum, d);
	if (T % 32 == 0)
		s[T / 32] = sum;
	if (T == 0)
		b[0] = s[0] + s[1] + s[2] + s[3];
}
// an atomic of one's own, as the CUDA programming guide writes it: the first guess may be old
//: customary 2 x 32 "global-memory race" "atomic"
extern "C" __global__ void add_by_swaps(int *a, int *b, int n)
{
	int old = b[0], guess;
	do {
		guess = old;
		old = atomicCAS(&b[0], guess, guess + a[T]);
	} while (guess != old);
}
//: customary 1 x 32 "shared-memory race" "atomic"
extern "C" __global__ void largest_by_swaps(int *a, int *b, int n)
{
	__shared__ int most;
	if (T == 0)
		most = 0;
	__syncthreads();
	int old = most;
	while (old < a[T] + 1) {
		const int guess = old;
		old = atomicCAS(&most, guess, a[T] + 1);
		if (old == guess)
			break;
	}
	__syncthreads();
	if (T == 0)
		b[0] = most;
}
// what was swapped is taken back by a plain store while others still swap
//: race 2 x 32 "store"
extern "C" __global__ void lock_opened_by_a_store(int *a, int *b, int n)
{
	if (T == 0) {
		while (atomicCAS(&b[0], 0, 1) != 0)
			;
		b[1] += a[blockIdx.x];
		b[0] = 0;
	}
}
// the last block to come sets the counter back: it has seen all others' turns
//: clean 4 x 64
extern "C" __global__ void last_block_sets_back(int *a, int *b, int n)
{
	__shared__ bool last;
	if (T == 0) {
		b[1 + blockIdx.x] = a[blockIdx.x];
		__threadfence();
		last = atomicAdd(&b[0], 1) == (int)gridDim.x - 1;
	}
	__syncthreads();
	if (last && T == 0) {
		for (unsigned i = 0; i < gridDim.x; i++)
			b[64] += b[1 + i];
		b[0] = 0;
	}
}
// by the thread that asked, without a barrier in between
//: clean 4 x 32
extern "C" __global__ void last_thread_sets_back(int *a, int *b, int n)
{
	if (T == 0) {
		__threadfence();
		if (atomicAdd(&b[0], 1) == (int)gridDim.x - 1)
			b[0] = 0;
	}
}
// the first one sets it back instead, while others still count
//: race 4 x 32 "store" "atomic"
extern "C" __global__ void first_block_sets_back(int *a, int *b, int n)
{
	if (T == 0) {
		__threadfence();
		if (atomicAdd(&b[0], 1) == 0)
			b[0] = 0;
	}
}
// a load that asks whether the atomic at the same place is worth its while
//: customary 2 x 64 "atomic"
extern "C" __global__ void asks_first(int *a, int *b, int n)
{
	const int t = threadIdx.x + blockIdx.x * blockDim.x;
	if (a[t] < a[n - 1 - t] && b[t % 4] < a[t])
		atomicMax(&b[t % 4], a[t]);
}
// the same of a member, of whose two addresses the compiler writes one with an offset
struct best {
	int unused[6], value;
};
//: customary 2 x 64 "atomic"
extern "C" __global__ void asks_a_member_first(int *a, int *b, int n)
{
	const int t = threadIdx.x + blockIdx.x * blockDim.x;
	struct best *best = (struct best *)b + t % 4;
	if (a[t] < a[n - 1 - t] && best->value < a[t])
		atomicMax(&best->value, a[t]);
}
// it asks another member than the one that it changes
//: race 2 x 64 "atomic"
extern "C" __global__ void asks_the_wrong_member(int *a, int *b, int n)
{
	const int t = threadIdx.x + blockIdx.x * blockDim.x;
	struct best *best = (struct best *)b + t % 4;
	if (a[t] < a[n - 1 - t] && best->value < a[t])
		atomicMax(&best->unused[5], a[t]);
	if (a[t] == 0)
		atomicMax(&best->value, a[t]);
}
// the sum is read behind the thread's own atomic, while others still add
//: race 2 x 32 "load" "atomic"
extern "C" __global__ void reads_too_early(int *a, int *b, int n)
{
	atomicAdd(&b[0], a[threadIdx.x]);
	__syncthreads();
	if (threadIdx.x == 0)
		b[1 + blockIdx.x] = b[0];
}
// what is asked is one place, and the atomic is at another
//: race 2 x 32 "load" "atomic"
extern "C" __global__ void asks_elsewhere(int *a, int *b, int n)
{
	if (b[1] < 1 << 20)
		atomicAdd(&b[0], 1);
	atomicAdd(&b[2 - blockIdx.x], a[threadIdx.x]);
}
// volatile stores under a lock: whose stays is settled only if the one before is seen to be over
//: race 2 x 1
extern "C" __global__ void volatile_stores_no_fence_behind(int *a, int *b, int n)
{
	while (atomicCAS(&b[0], 0, 1) != 0)
		;
	__threadfence();
	*(volatile int *)&b[1] = a[1 + blockIdx.x];
	atomicExch(&b[0], 0);
}
//: race 2 x 1
extern "C" __global__ void volatile_store_behind_the_lock(int *a, int *b, int n)
{
	while (atomicCAS(&b[0], 0, 1) != 0)
		;
	__threadfence();
	*(volatile int *)&b[1] = a[1 + blockIdx.x];
	__threadfence();
	atomicExch(&b[0], 0);
	if (blockIdx.x == 0)
		*(volatile int *)&b[1] = a[3];
}
//: clean 2 x 1
extern "C" __global__ void volatile_stores_under_a_lock(int *a, int *b, int n)
{
	while (atomicCAS(&b[0], 0, 1) != 0)
		;
	__threadfence();
	*(volatile int *)&b[1] = a[1 + blockIdx.x];
	__threadfence();
	atomicExch(&b[0], 0);
}
//: clean 8 x 1
extern "C" __global__ void volatile_stores_of_one_value(int *a, int *b, int n)
{
	*(volatile int *)&b[1] = a[1];
}
// atomics of one block's scope, which flags hand on from thread to thread and to another block
//: clean 2 x 64
extern "C" __global__ void narrow_atomics_in_a_chain(int *a, int *b, int n)
{
	if (T % 32)
		return;
	const int turn = 2 * blockIdx.x + T / 32;
	while (atomicAdd(&b[0], 0) != turn)
		;
	atomicExch_block(&b[1], a[turn]);
	__threadfence();
	atomicExch(&b[0], turn + 1);
}
//: race 2 x 64
extern "C" __global__ void narrow_atomics_in_no_chain(int *a, int *b, int n)
{
	if (T == 0)
		atomicExch_block(&b[1], a[blockIdx.x]);
}
// every lane waits for the lock where it asks for it
//: clean 2 x 64
extern "C" __global__ void lock_that_lanes_wait_for(int *a, int *b, int n)
{
	while (atomicCAS(&b[0], 0, 1) != 0)
		;
	__threadfence();
	b[1] += a[T];
	__threadfence();
	atomicExch(&b[0], 0);
}
