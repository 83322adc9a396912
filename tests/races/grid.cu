// Races in global memory, within and between blocks: kernels with their verdicts; see README.md.
#define T threadIdx.x
#define B blockIdx.x
#define I (blockIdx.x * blockDim.x + threadIdx.x)

__device__ int gate, gate_count, lock_word, ready[8];
__device__ int partial_sum[8];

//: clean 4 x 64
extern "C" __global__ void own_elements(int *a, int *b, int n)
{
	b[I] = a[I] + a[(I + 1) % n];
}
//: race 4 x 64 "global-memory race at b["
extern "C" __global__ void stencil_in_place(int *a, int *b, int n)
{
	if (I > 0)
		b[I] = b[I - 1] + a[I];
}
//: race 2 x 64 "nothing orders the two blocks"
extern "C" __global__ void halo_between_blocks(int *a, int *b, int n) // only blocks' edges meet
{
	const int left = T == 0 && I > 0 ? b[I - 1] : 0;
	__syncthreads();
	b[I] = a[I] + left;
}
//: race 4 x 64
extern "C" __global__ void off_by_one_block(int *a, int *b, int n)
{
	b[B * (blockDim.x - 1) + T] = I;
}
//: race 4 x 32
extern "C" __global__ void sum_without_atomics(int *a, int *b, int n)
{
	if (T == 0)
		b[0] += a[I];
}
//: clean 4 x 32
extern "C" __global__ void sum_by_atomics(int *a, int *b, int n)
{
	atomicAdd(&b[0], a[I]);
}
//: race 4 x 32 "atomic"
extern "C" __global__ void sum_read_while_added(int *a, int *b, int n)
{
	atomicAdd(&b[0], a[I]);
	if (T == 0)
		b[1 + B] = b[0];
}
//: clean 4 x 32
extern "C" __global__ void sum_read_by_atomic(int *a, int *b, int n)
{
	atomicAdd(&b[0], a[I]);
	if (T == 0)
		b[1 + B] = atomicAdd(&b[0], 0);
}
//: race 4 x 32 "atomic only within one block"
extern "C" __global__ void sum_of_block_scope(int *a, int *b, int n)
{
	atomicAdd_block(&b[0], a[I]);
}
//: clean 4 x 32
extern "C" __global__ void block_scope_in_own_word(int *a, int *b, int n)
{
	atomicAdd_block(&b[B], a[I]);
}
//: clean 4 x 64
extern "C" __global__ void changed_flag(int *a, int *b, int n) // all write the same
{
	if (a[I] > 10)
		b[0] = 1;
}
//: race 4 x 64
extern "C" __global__ void last_writer_wins(int *a, int *b, int n)
{
	if (a[I] % 50 == 3)
		b[0] = I;
}
//: clean 8 x 32
extern "C" __global__ void last_block_sums(int *a, int *b, int n)
{
	__shared__ int last;
	const int sum = __reduce_add_sync(0xffffffffu, a[I]);
	if (T == 0) {
		partial_sum[B] = sum;
		__threadfence();
		last = atomicAdd(&gate_count, 1) == gridDim.x - 1;
	}
	__syncthreads();
	if (last && T == 0) {
		int all = 0;
		for (int i = 0; i < gridDim.x; i++)
			all += partial_sum[i];
		b[0] = all;
	}
}
//: race 8 x 32 "nothing orders the two blocks"
extern "C" __global__ void last_block_sums_without_fence(int *a, int *b, int n)
{
	__shared__ int last;
	const int sum = __reduce_add_sync(0xffffffffu, a[I]);
	if (T == 0) {
		partial_sum[B] = sum;
		last = atomicAdd(&gate_count, 1) == gridDim.x - 1;
	}
	__syncthreads();
	if (last && T == 0) {
		int all = 0;
		for (int i = 0; i < gridDim.x; i++)
			all += partial_sum[i];
		b[0] = all;
	}
}
//: race 8 x 64
extern "C" __global__ void last_block_fence_of_block_scope(int *a, int *b, int n)
{
	__shared__ int last;
	b[I] = a[I];
	__threadfence_block();
	__syncthreads();
	if (T == 0)
		last = atomicAdd(&gate_count, 1) == gridDim.x - 1;
	__syncthreads();
	if (last)
		b[2048 + T] = b[T] + b[64 + T];
}
//: clean 8 x 64
extern "C" __global__ void last_block_each_fences(int *a, int *b, int n)
{
	__shared__ int last;
	b[I] = a[I];
	__threadfence();
	__syncthreads();
	if (T == 0)
		last = atomicAdd(&gate_count, 1) == gridDim.x - 1;
	__syncthreads();
	if (last)
		b[2048 + T] = b[T] + b[64 + T];
}
//: clean 8 x 64
extern "C" __global__ void last_block_one_fences_for_all(int *a, int *b, int n)
{
	__shared__ int last;
	b[I] = a[I];
	__syncthreads();
	if (T == 0) {
		__threadfence();
		last = atomicAdd(&gate_count, 1) == gridDim.x - 1;
	}
	__syncthreads();
	if (last)
		b[2048 + T] = b[T] + b[64 + T];
}
//: race 8 x 64
extern "C" __global__ void last_block_fence_before_barrier_of_one(int *a, int *b, int n)
{
	__shared__ int last;
	b[I] = a[I];
	if (T == 0)
		__threadfence(); // speaks for itself only
	__syncthreads();
	if (T == 0)
		last = atomicAdd(&gate_count, 1) == gridDim.x - 1;
	__syncthreads();
	if (last)
		b[2048 + T] = b[T] + b[64 + T];
}
//: clean 4 x 64
extern "C" __global__ void barrier_of_all_blocks(int *a, int *b, int n)
{
	b[I] = a[I];
	__syncthreads();
	if (T == 0) {
		__threadfence();
		atomicAdd(&gate, 1);
		while (*(volatile int *)&gate < gridDim.x)
			;
		__threadfence();
	}
	__syncthreads();
	b[1024 + I] = b[(I + 64) % 256];
}
//: race 4 x 64
extern "C" __global__ void barrier_of_all_blocks_without_fence(int *a, int *b, int n)
{
	b[I] = a[I];
	__syncthreads();
	if (T == 0) {
		atomicAdd(&gate, 1);
		while (*(volatile int *)&gate < gridDim.x)
			;
	}
	__syncthreads();
	b[1024 + I] = b[(I + 64) % 256];
}
// each block waits for the one before
//: clean 4 x 32
extern "C" __global__ void chain_of_flags(int *a, int *b, int n)
{
	if (T == 0) {
		int before = 0;
		if (B > 0) {
			while (*(volatile int *)&ready[B - 1] == 0)
				;
			__threadfence();
			before = b[B - 1];
		}
		b[B] = before + a[B];
		__threadfence();
		*(volatile int *)&ready[B] = 1;
	}
}
//: race 4 x 32
extern "C" __global__ void chain_of_flags_without_writers_fence(int *a, int *b, int n)
{
	if (T == 0) {
		int before = 0;
		if (B > 0) {
			while (*(volatile int *)&ready[B - 1] == 0)
				;
			__threadfence();
			before = b[B - 1];
		}
		b[B] = before + a[B];
		*(volatile int *)&ready[B] = 1;
	}
}
//: race 4 x 32
extern "C" __global__ void chain_of_flags_without_readers_fence(int *a, int *b, int n)
{
	if (T == 0) {
		int before = 0;
		if (B > 0) {
			while (*(volatile int *)&ready[B - 1] == 0)
				;
			before = b[B - 1];
		}
		b[B] = before + a[B];
		__threadfence();
		*(volatile int *)&ready[B] = 1;
	}
}
//: clean 2 x 32
extern "C" __global__ void later_block_first(int *a, int *b, int n) // block 0 waits for block 1
{
	if (T == 0 && B == 1) {
		b[1] = a[9];
		__threadfence();
		atomicExch(&gate, 1);
	}
	if (T == 0 && B == 0) {
		while (atomicAdd(&gate, 0) == 0)
			;
		__threadfence();
		b[0] = b[1];
	}
}
//: clean 4 x 32
extern "C" __global__ void release_and_acquire(int *a, int *b, int n)
{
	if (T)
		return;
	if (B == 0) {
		b[1] = a[3];
		asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(&b[0]) : "memory");
	} else {
		int seen;
		do
			asm volatile("ld.acquire.gpu.global.s32 %0, [%1];"
			             : "=r"(seen) : "l"(&b[0]) : "memory");
		while (!seen);
		b[64 + B] = b[1];
	}
}
//: race 4 x 32
extern "C" __global__ void relaxed_alone(int *a, int *b, int n)
{
	if (T)
		return;
	if (B == 0) {
		b[1] = a[3];
		asm volatile("st.relaxed.gpu.global.s32 [%0], 1;" ::"l"(&b[0]) : "memory");
	} else {
		int seen;
		do
			asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];"
			             : "=r"(seen) : "l"(&b[0]) : "memory");
		while (!seen);
		b[64 + B] = b[1];
	}
}
//: clean 4 x 32
extern "C" __global__ void lock_with_fences(int *a, int *b, int n)
{
	if (T == 0) {
		while (atomicCAS(&lock_word, 0, 1) != 0)
			;
		__threadfence();
		b[0] += a[I];
		__threadfence();
		atomicExch(&lock_word, 0);
	}
}
//: race 4 x 32
extern "C" __global__ void lock_without_fences(int *a, int *b, int n)
{
	if (T == 0) {
		while (atomicCAS(&lock_word, 0, 1) != 0)
			;
		b[0] += a[I];
		atomicExch(&lock_word, 0);
	}
}
//: race 4 x 32
extern "C" __global__ void lock_released_by_plain_store(int *a, int *b, int n)
{
	if (T == 0) {
		while (atomicCAS(&lock_word, 0, 1) != 0)
			;
		__threadfence();
		b[0] += a[I];
		__threadfence();
		lock_word = 0;
	}
}
//: race 4 x 32
extern "C" __global__ void lock_around_half_of_it(int *a, int *b, int n)
{
	if (T == 0) {
		if (B % 2) {
			b[0] += 1; // without the lock
			return;
		}
		while (atomicCAS(&lock_word, 0, 1) != 0)
			;
		__threadfence();
		b[0] += a[I];
		__threadfence();
		atomicExch(&lock_word, 0);
	}
}
// done flag, safe in lockstep too
//: clean 2 x 64
extern "C" __global__ void lock_of_every_thread(int *a, int *b, int n)
{
	bool done = false;
	while (!done)
		if (atomicCAS(&lock_word, 0, 1) == 0) {
			__threadfence();
			b[0] += a[I];
			__threadfence();
			atomicExch(&lock_word, 0);
			done = true;
		}
}
//: clean 4 x 64
extern "C" __global__ void slots_by_counter(int *a, int *b, int n)
{
	if (a[I] % 3 == 0)
		b[1 + atomicAdd(&b[0], 1)] = a[I];
}
//: race 4 x 64
extern "C" __global__ void slots_by_counter_read_back(int *a, int *b, int n)
{
	const int at = atomicAdd(&b[0], 1);
	b[1 + at] = a[I];
	if (at > 0)
		b[1024 + at] = b[at];
}
//: clean 4 x 64
extern "C" __global__ void minimum_by_atomic(int *a, int *b, int n)
{
	atomicMin(&b[I % 8], a[I] - 100);
}
//: customary 4 x 64
extern "C" __global__ void minimum_with_plain_look(int *a, int *b, int n)
{
	if (a[I] - 100 < b[I % 8])
		atomicMin(&b[I % 8], a[I] - 100);
}
//: clean 4 x 64
extern "C" __global__ void minimum_with_volatile_look(int *a, int *b, int n)
{
	if (a[I] - 100 < *(volatile int *)&b[I % 8])
		atomicMin(&b[I % 8], a[I] - 100);
}
//: clean 1 x 128
extern "C" __global__ void global_with_block_barrier(int *a, int *b, int n)
{
	b[T] = a[T];
	__syncthreads();
	b[128 + T] = b[127 - T];
}
//: race 2 x 64
extern "C" __global__ void global_with_barrier_of_each_block(int *a, int *b, int n)
{
	b[I] = a[I];
	__syncthreads();
	b[256 + I] = b[127 - I];
}
//: clean 2 x 64
extern "C" __global__ void shared_is_each_blocks_own(int *a, int *b, int n)
{
	__shared__ int s[64];
	s[T] = I;
	__syncthreads();
	b[I] = s[63 - T];
}
//: clean 2 x 32
extern "C" __global__ void words_of_a_vector(int *a, int *b, int n)
{
	if (T % 2)
		((int2 *)b)[I] = make_int2(1, 2);
	else
		b[2 * I] = b[2 * I + 1] = 3;
}
//: race 2 x 32
extern "C" __global__ void vectors_that_overlap(int *a, int *b, int n)
{
	((int4 *)b)[I / 2] = make_int4(I, 2, 3, 4);
}
// the textbook's breadth-first step
//: race 4 x 64
extern "C" __global__ void levels_of_a_search(int *a, int *b, int n)
{
	if (b[I] < 7 && b[(I + 77) % 256] < 7)
		b[(I + 77) % 256] = 7;
}
//: clean 4 x 64
extern "C" __global__ void levels_of_a_search_volatile(int *a, int *b, int n)
{
	volatile int *level = b;
	if (level[I] < 7 && level[(I + 77) % 256] < 7)
		level[(I + 77) % 256] = 7;
}
// many blocks: only a spread of them is looked at unless all are asked for
//: race 4096 x 64
extern "C" __global__ void neighbours_in_a_large_grid(int *a, int *b, int n)
{
	__shared__ int s[64];
	for (int i = 0; i < 8; i++) {
		s[T] = a[(I + i) % n];
		a[(I + i) % n] = s[63 - T];
	}
}
// a fence alone hands nothing over, so that a spread of the blocks shows what they do to each other
//: race 4096 x 64 "nothing orders the two blocks"
extern "C" __global__ void fence_that_orders_nothing(int *a, int *b, int n)
{
	__shared__ int s[64];
	for (int i = 0; i < 8; i++) {
		s[T] = i;
		__syncthreads();
		b[I % n] = a[I % n] + s[63 - T] + B;
		__syncthreads();
	}
	__threadfence();
	a[I % n] = b[(I + 64) % n];
}
//: race 4096 x 64 "nothing orders the two blocks"
extern "C" __global__ void last_block_looks_at_its_neighbour(int *a, int *b, int n)
{
	__shared__ int s[64];
	for (int i = 0; i < 8; i++) {
		s[T] = i;
		__syncthreads();
		if (B >= gridDim.x - 2)
			b[(B % 2) * 64 + T] = a[T] + s[63 - T] + (B % 2 && i == 7 ? b[T] : 0);
		__syncthreads();
	}
}
//: clean 4096 x 64
extern "C" __global__ void large_grid(int *a, int *b, int n)
{
	__shared__ int s[64];
	s[T] = a[I % n];
	__syncthreads();
	atomicAdd(&b[I % n], s[63 - T]);
}
// every block waits for all others, a hundred of them
//: clean 100 x 256
extern "C" __global__ void large_grid_barrier(int *a, int *b, int n)
{
	volatile int *arrived = &b[0];
	if (T < 4)
		a[4 * blockIdx.x + T] = T;
	__threadfence();
	__syncthreads();
	if (T == 0) {
		atomicAdd(&b[0], 1);
		while (*arrived < 100)
			;
		__threadfence();
	}
	__syncthreads();
	if (T < 4)
		b[1 + 4 * blockIdx.x + T] = a[(4 * blockIdx.x + 37 + T) % 400];
}
