// Scopes, flags and locks with faults planted in them, and without; verdicts: see README.md.
#define T threadIdx.x
#define I (blockIdx.x * blockDim.x + threadIdx.x)

// scopes
//: clean 4 x 32
extern "C" __global__ void steals_by_atomics_of_the_device(int *a, int *b, int n)
{
	for (unsigned victim = blockIdx.x; victim < blockIdx.x + gridDim.x; victim++) {
		int *head = &b[victim % gridDim.x];
		for (int i; (i = atomicAdd(head, 1)) < 8;)
			b[1024 + victim % gridDim.x * 8 + i] = I;
	}
}
//: race 4 x 32 "atomic only within one block"
extern "C" __global__ void owner_takes_within_its_block(int *a, int *b, int n)
{
	for (unsigned victim = blockIdx.x; victim < blockIdx.x + gridDim.x; victim++) {
		int *head = &b[victim % gridDim.x];
		while ((victim == blockIdx.x ? atomicAdd_block(head, 1) : atomicAdd(head, 1)) < 8)
			;
	}
}
//: race 4 x 1
extern "C" __global__ void lock_of_block_scope(int *a, int *b, int n)
{
	while (atomicCAS_block(&b[0], 0, 1) != 0)
		;
	__threadfence();
	b[1]++;
	__threadfence();
	atomicExch_block(&b[0], 0);
}
//: race 4 x 1
extern "C" __global__ void lock_given_back_within_the_block(int *a, int *b, int n)
{
	while (atomicCAS(&b[0], 0, 1) != 0)
		;
	__threadfence();
	b[1]++;
	__threadfence();
	atomicExch_block(&b[0], 0);
}
//: race 4 x 1
extern "C" __global__ void lock_with_fences_of_the_block(int *a, int *b, int n)
{
	while (atomicCAS(&b[0], 0, 1) != 0)
		;
	__threadfence_block();
	b[1]++;
	__threadfence_block();
	atomicExch(&b[0], 0);
}
//: clean 4 x 1
extern "C" __global__ void lock_of_system_scope(int *a, int *b, int n)
{
	while (atomicCAS_system(&b[0], 0, 1) != 0)
		;
	__threadfence_system();
	b[1]++;
	__threadfence_system();
	atomicExch_system(&b[0], 0);
}
//: clean 4 x 64
extern "C" __global__ void bins_of_each_block(int *a, int *b, int n)
{
	int *mine = b + 64 * blockIdx.x;
	atomicAdd_block(&mine[a[I] % 7], 1);
	__syncthreads();
	if (T < 7)
		atomicAdd(&b[1024 + T], mine[T]);
}
//: race 4 x 64
extern "C" __global__ void bins_of_the_next_block(int *a, int *b, int n)
{
	int *mine = b + 64 * blockIdx.x;
	atomicAdd_block(&mine[a[I] % 7], 1);
	__syncthreads();
	if (T < 7)
		atomicAdd(&b[1024 + T], b[64 * ((blockIdx.x + 1) % gridDim.x) + T]);
}
//: race 2 x 1
extern "C" __global__ void release_within_the_block(int *a, int *b, int n)
{
	int seen = 0;
	if (blockIdx.x == 0) {
		b[1] = 5;
		asm volatile("st.release.cta.s32 [%0], 1;" ::"l"(b) : "memory");
	} else {
		while (!seen)
			asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(seen) : "l"(b) : "memory");
		b[2] = b[1];
	}
}
//: clean 8 x 1
extern "C" __global__ void last_by_an_ordering_atomic(int *a, int *b, int n)
{
	int before, sum = 0;
	b[1 + blockIdx.x] = I;
	asm volatile("atom.add.acq_rel.gpu.s32 %0, [%1], 1;" : "=r"(before) : "l"(b) : "memory");
	if (before == 7)
		for (int i = 0; i < 8; i++)
			sum += b[1 + i];
	if (before == 7)
		b[100] = sum;
}
//: race 8 x 1
extern "C" __global__ void last_by_a_relaxed_atomic(int *a, int *b, int n)
{
	int before, sum = 0;
	b[1 + blockIdx.x] = I;
	asm volatile("atom.add.relaxed.gpu.s32 %0, [%1], 1;" : "=r"(before) : "l"(b) : "memory");
	if (before == 7)
		for (int i = 0; i < 8; i++)
			sum += b[1 + i];
	if (before == 7)
		b[100] = sum;
}

//: clean 8 x 64
extern "C" __global__ void last_by_a_ticket_in_shared_memory(int *a, int *b, int n)
{
	__shared__ int ticket;
	b[1 + I] = a[I];
	__threadfence();
	__syncthreads();
	if (T == 0)
		ticket = atomicAdd(&b[0], 1);
	__syncthreads();
	if (ticket == gridDim.x - 1)
		b[1024 + T] = b[1 + T] + b[1 + 64 * 7 + T];
}
//: clean 8 x 64
extern "C" __global__ void last_sets_the_counter_back(int *a, int *b, int n)
{
	__shared__ bool last;
	b[64 + I] = a[I];
	__threadfence();
	__syncthreads();
	if (T == 0)
		last = atomicAdd(&b[0], 1) == gridDim.x - 1;
	__syncthreads();
	if (last && T == 0)
		b[0] = 0;
}
//: race 8 x 64 "store" "atomic"
extern "C" __global__ void some_block_sets_the_counter_back(int *a, int *b, int n)
{
	__shared__ bool some;
	if (T == 0)
		some = atomicAdd(&b[0], 1) == 3;
	__syncthreads();
	if (some && T == 0)
		b[0] = 0;
}
//: race 8 x 64 "store" "atomic"
extern "C" __global__ void last_block_sets_back_what_it_did_not_ask(int *a, int *b, int n)
{
	if (T == 0)
		atomicAdd(&b[0], 1);
	if (I == blockDim.x * gridDim.x - blockDim.x)
		b[0] = 0;
}
//: race 8 x 64 "store" "atomic"
extern "C" __global__ void another_thread_sets_the_counter_back(int *a, int *b, int n)
{
	__shared__ bool last;
	if (T == 0)
		last = atomicAdd(&b[0], 1) == gridDim.x - 1;
	__syncthreads();
	if (last && T == 40)
		b[0] = 0;
}
//: clean 8 x 32
extern "C" __global__ void last_by_a_ticket_of_one_lane(int *a, int *b, int n)
{
	int ticket = 0;
	b[1 + I] = a[I];
	__threadfence();
	__syncwarp();
	if (T == 0)
		ticket = atomicAdd(&b[0], 1);
	ticket = __shfl_sync(~0u, ticket, 0);
	__threadfence();
	if (ticket == gridDim.x - 1)
		b[1024 + T] = b[1 + T] + b[1 + 32 * 7 + T];
}
//: clean 8 x 1
extern "C" __global__ void last_by_a_ticket_in_memory(int *a, int *b, int n)
{
	b[64 + I] = a[I];
	__threadfence();
	b[512 + I] = atomicAdd(&b[0], 1);
	__threadfence();
	if (b[512 + I] == gridDim.x - 1)
		b[1024] = b[64] + b[71];
}

// words that carry their flag with them
//: clean 8 x 1
extern "C" __global__ void sum_and_flag_in_one_word(int *a, int *b, int n)
{
	volatile unsigned long long *state = (volatile unsigned long long *)b;
	unsigned long long seen = 1ull << 32;
	if (blockIdx.x)
		while (!((seen = state[blockIdx.x - 1]) >> 32))
			;
	state[blockIdx.x] = 1ull << 32 | (unsigned)((int)seen + a[I]);
	b[100 + blockIdx.x] = (int)seen;
}
//: race 8 x 1
extern "C" __global__ void sum_and_flag_in_two_words(int *a, int *b, int n)
{
	volatile int *sum = b, *flag = b + 64;
	int seen = 0;
	if (blockIdx.x) {
		while (!flag[blockIdx.x - 1])
			;
		seen = sum[blockIdx.x - 1];
	}
	sum[blockIdx.x] = seen + a[I];
	flag[blockIdx.x] = 1;
	b[200 + blockIdx.x] = seen;
}
//: clean 8 x 1
extern "C" __global__ void relaxed_sum_and_flag_in_one_word(int *a, int *b, int n)
{
	unsigned long long *state = (unsigned long long *)b, seen = 1ull << 32, *at;
	if (blockIdx.x)
		do {
			at = &state[blockIdx.x - 1];
			asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(seen) : "l"(at) : "memory");
		} while (!(seen >> 32));
	at = &state[blockIdx.x];
	asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(at), "l"(seen + a[I]) : "memory");
	b[100 + blockIdx.x] = (int)seen;
}

// lists, queues, tables
//: clean 4 x 32
extern "C" __global__ void pushed_behind_a_fence(int *a, int *b, int n)
{
	const int me = I + 1;
	int head = atomicAdd(&b[0], 0), old;
	do {
		old = head;
		b[me] = old;
		__threadfence();
	} while ((head = atomicCAS(&b[0], old, me)) != old);
}
//: race 2 x 1
extern "C" __global__ void popped_without_a_fence(int *a, int *b, int n)
{
	if (blockIdx.x == 0) {
		b[5] = 42;
		b[4] = 0;
		atomicExch(&b[0], 4);
	} else {
		int node;
		while (!(node = atomicExch(&b[0], 0)))
			;
		b[6] = b[node + 1];
	}
}
//: clean 2 x 1
extern "C" __global__ void popped_behind_fences(int *a, int *b, int n)
{
	if (blockIdx.x == 0) {
		b[5] = 42;
		b[4] = 0;
		__threadfence();
		atomicExch(&b[0], 4);
	} else {
		int node;
		while (!(node = atomicExch(&b[0], 0)))
			;
		__threadfence();
		b[6] = b[node + 1];
	}
}
//: clean 4 x 64
extern "C" __global__ void keys_by_swap(int *a, int *b, int n)
{
	const int key = a[I] + 1;
	int at = key * 7 % 512;
	while (atomicCAS(&b[at], 0, key) != 0)
		at = (at + 1) % 512;
	b[512 + at] = I;
}
//: race 4 x 64
extern "C" __global__ void equal_keys_share_a_value(int *a, int *b, int n)
{
	const int key = a[I] / 2 + 1;
	int at = key * 7 % 512, was;
	while ((was = atomicCAS(&b[at], 0, key)) != 0 && was != key)
		at = (at + 1) % 512;
	b[512 + at] = I;
}
//: clean 4 x 64
extern "C" __global__ void equal_keys_count(int *a, int *b, int n)
{
	const int key = a[I] / 2 + 1;
	int at = key * 7 % 512, was;
	while ((was = atomicCAS(&b[at], 0, key)) != 0 && was != key)
		at = (at + 1) % 512;
	atomicAdd(&b[512 + at], 1);
}
//: race 4 x 64
extern "C" __global__ void looked_up_while_put_in(int *a, int *b, int n)
{
	const int key = a[I] + 1, at = key % 512;
	if (I % 2)
		b[at] = key;
	else
		b[1024 + I] = b[at + 1];
}
//: clean 2 x 32
extern "C" __global__ void ring_of_slots(int *a, int *b, int n)
{
	volatile int *turn = b + 64;
	if (T)
		return;
	for (int i = 0; i < 16; i++) {
		const int slot = i % 4;
		if (blockIdx.x == 0) {
			while (turn[slot] != i / 4 * 2)
				;
			__threadfence();
			b[slot] = i;
		} else {
			while (turn[slot] != i / 4 * 2 + 1)
				;
			__threadfence();
			b[128 + i] = b[slot];
		}
		__threadfence();
		turn[slot] = i / 4 * 2 + (blockIdx.x == 0 ? 1 : 2);
	}
}

// locks
//: clean 4 x 1
extern "C" __global__ void two_locks_in_order(int *a, int *b, int n)
{
	const int x = blockIdx.x % 3, y = (blockIdx.x + 1) % 3;
	const int first = x < y ? x : y, second = x < y ? y : x;
	while (atomicCAS(&b[first], 0, 1) != 0)
		;
	while (atomicCAS(&b[second], 0, 1) != 0)
		;
	__threadfence();
	b[64 + x]--;
	b[64 + y]++;
	__threadfence();
	atomicExch(&b[second], 0);
	atomicExch(&b[first], 0);
}
//: race 4 x 1
extern "C" __global__ void only_one_of_two_locks(int *a, int *b, int n)
{
	const int x = blockIdx.x % 3, y = (blockIdx.x + 1) % 3;
	while (atomicCAS(&b[x], 0, 1) != 0)
		;
	__threadfence();
	b[64 + x]--;
	b[64 + y]++;
	__threadfence();
	atomicExch(&b[x], 0);
}
//: race 4 x 1
extern "C" __global__ void result_taken_outside_the_lock(int *a, int *b, int n)
{
	while (atomicCAS(&b[0], 0, 1) != 0)
		;
	__threadfence();
	b[1]++;
	__threadfence();
	atomicExch(&b[0], 0);
	b[64 + blockIdx.x] = b[1];
}
//: clean 4 x 1
extern "C" __global__ void result_taken_inside_the_lock(int *a, int *b, int n)
{
	while (atomicCAS(&b[0], 0, 1) != 0)
		;
	__threadfence();
	const int mine = ++b[1];
	__threadfence();
	atomicExch(&b[0], 0);
	b[64 + blockIdx.x] = mine;
}
//: clean 4 x 1
extern "C" __global__ void tried_once_and_left(int *a, int *b, int n)
{
	if (atomicCAS(&b[0], 0, 1) != 0)
		return;
	b[1] = a[I];
}
//: race 4 x 1
extern "C" __global__ void entered_whether_it_was_free_or_not(int *a, int *b, int n)
{
	atomicCAS(&b[0], 0, 1);
	__threadfence();
	b[1] += a[I] + 1;
	__threadfence();
	atomicExch(&b[0], 0);
}
//: clean 6 x 1
extern "C" __global__ void readers_and_a_writer(int *a, int *b, int n)
{
	if (blockIdx.x == 3) {
		while (atomicCAS(&b[0], 0, -1) != 0)
			;
		__threadfence();
		b[1] = 7;
		__threadfence();
		atomicExch(&b[0], 0);
		return;
	}
	for (int seen = atomicAdd(&b[0], 0);;) {
		const int was = seen < 0 ? -2 : atomicCAS(&b[0], seen, seen + 1);
		if (was == seen)
			break;
		seen = was == -2 ? atomicAdd(&b[0], 0) : was;
	}
	__threadfence();
	b[64 + blockIdx.x] = b[1];
	__threadfence();
	atomicSub(&b[0], 1);
}
