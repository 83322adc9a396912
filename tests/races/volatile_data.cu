// Volatile data beside flags and locks, and locks that lack a fence, with their verdicts; see
// README.md.
#define T threadIdx.x
#define B blockIdx.x
#define V(p) (*(volatile int *)(p))

__device__ void lock(int *l)
{
	while (atomicCAS(l, 0, 1) != 0)
		;
}
__device__ void lock_in_block(int *l)
{
	while (atomicCAS_block(l, 0, 1) != 0)
		;
}

// --- handed over by a flag
//: clean 2 x 1
extern "C" __global__ void datum_behind_a_flag(int *a, int *b, int n)
{
	if (B == 0) {
		V(&a[5]) = 7;
		__threadfence();
		atomicExch(&b[0], 1);
	} else {
		while (atomicExch(&b[0], 0) == 0)
			;
		b[9] = V(&a[5]);
	}
}
//: race 2 x 1 "load" "store"
extern "C" __global__ void fence_of_the_block_only(int *a, int *b, int n)
{
	if (B == 0) {
		V(&a[5]) = 7;
		__threadfence_block();
		atomicExch(&b[0], 1);
	} else {
		while (atomicExch(&b[0], 0) == 0)
			;
		b[9] = V(&a[5]);
	}
}
//: clean 1 x 64
extern "C" __global__ void fence_of_the_block_within_it(int *a, int *b, int n)
{
	if (T == 0) {
		V(&a[5]) = 7;
		__threadfence_block();
		atomicExch(&b[0], 1);
	} else if (T == 32) {
		while (atomicExch(&b[0], 0) == 0)
			;
		b[9] = V(&a[5]);
	}
}
//: race 2 x 1
extern "C" __global__ void read_again_behind_the_flag(int *a, int *b, int n)
{
	if (B == 0) {
		b[8] = V(&a[5]);
		__threadfence();
		atomicExch(&b[0], 1);
		b[9] = V(&a[5]);
	} else {
		while (atomicExch(&b[0], 0) == 0)
			;
		V(&a[5]) = 1;
	}
}
//: clean 2 x 1
extern "C" __global__ void read_before_the_flag_only(int *a, int *b, int n)
{
	if (B == 0) {
		b[8] = V(&a[5]);
		__threadfence();
		atomicExch(&b[0], 1);
	} else {
		while (atomicExch(&b[0], 0) == 0)
			;
		V(&a[5]) = 1;
	}
}
//: clean 2 x 64
extern "C" __global__ void handed_on_from_warp_to_block(int *a, int *b, int n)
{
	if (B == 0 && T == 0) {
		V(&a[5]) = 1;
		__threadfence_block();
		atomicExch(&b[0], 1);
	} else if (B == 0 && T == 32) {
		while (atomicAdd(&b[0], 0) != 1)
			;
		V(&a[5]) += 2;
		__threadfence();
		atomicExch(&b[0], 2);
	} else if (B == 1 && T == 0) {
		while (atomicAdd(&b[0], 0) != 2)
			;
		V(&a[5]) += 2;
		__threadfence_block();
		atomicExch(&b[0], 3);
	} else if (B == 1 && T == 32) {
		while (atomicAdd(&b[0], 0) != 3)
			;
		b[9] = V(&a[5]);
	}
}

// --- beside an atomic
//: race 2 x 1 "store" "atomic"
extern "C" __global__ void stored_beside_an_exchange(int *a, int *b, int n)
{
	if (B == 0)
		atomicExch(&a[5], 1);
	else
		V(&a[5]) = 2;
}
//: race 1 x 64
extern "C" __global__ void stored_beside_an_exchange_of_the_block(int *a, int *b, int n)
{
	if (T == 0)
		atomicExch_block(&a[5], 1);
	else if (T == 32)
		V(&a[5]) = 2;
}
//: clean 4 x 32
extern "C" __global__ void counter_set_back_by_the_last(int *a, int *b, int n)
{
	if (T == 0 && atomicAdd(&b[0], 1) == (int)gridDim.x - 1)
		V(&b[0]) = 0;
}
// whoever sees the word has something to decide by it: a flag
//: clean 4 x 32
extern "C" __global__ void stop_is_asked_for(int *a, int *b, int n)
{
	if (V(&b[0]) != 0)
		return;
	a[B * 32 + T] = 1;
	if (B == 2 && T == 0)
		V(&b[0]) = 1;
}
//: clean 4 x 32
extern "C" __global__ void root_is_followed(int *a, int *b, int n)
{
	int at = V(&a[B + 1]);
	while (at != V(&a[at]))
		at = V(&a[at]);
	if (T == 0)
		atomicMin(&a[at], 0);
}
//: race 4 x 32
extern "C" __global__ void sum_without_atomics(int *a, int *b, int n)
{
	if (T == 0)
		V(&b[0]) = V(&b[0]) + a[B];
}

// --- under a lock
//: clean 2 x 1
extern "C" __global__ void fences_behind_and_before(int *a, int *b, int n)
{
	lock(&b[0]);
	__threadfence();
	V(&a[5]) = 1 + B;
	__threadfence();
	atomicExch(&b[0], 0);
}
//: race 2 x 1
extern "C" __global__ void first_lacks_the_fence_behind(int *a, int *b, int n)
{
	lock(&b[0]);
	if (B)
		__threadfence();
	V(&a[5]) = 1 + B;
	__threadfence();
	atomicExch(&b[0], 0);
}
//: race 2 x 1
extern "C" __global__ void first_has_the_fence_of_its_block(int *a, int *b, int n)
{
	lock(&b[0]);
	if (B)
		__threadfence();
	else
		__threadfence_block();
	a[5] = 1 + B;
	__threadfence();
	atomicExch(&b[0], 0);
}
//: race 1 x 64
extern "C" __global__ void first_warp_lacks_the_fence_behind(int *a, int *b, int n)
{
	if (T % 32)
		return;
	lock_in_block(&b[0]);
	if (T)
		__threadfence_block();
	V(&a[5]) = 1 + T;
	__threadfence_block();
	atomicExch_block(&b[0], 0);
}
//: clean 1 x 64
extern "C" __global__ void fences_of_the_block_within_it(int *a, int *b, int n)
{
	if (T % 32)
		return;
	lock_in_block(&b[0]);
	__threadfence_block();
	V(&a[5]) = 1 + T;
	__threadfence_block();
	atomicExch_block(&b[0], 0);
}
//: race 2 x 1
extern "C" __global__ void stored_again_behind_the_lock(int *a, int *b, int n)
{
	lock(&b[0]);
	__threadfence();
	b[8 + B] = V(&a[5]);
	__threadfence();
	atomicExch(&b[0], 0);
	if (B == 0)
		V(&a[5]) = 1;
}
// nobody else touches what the first did before its fence
//: clean 2 x 1
extern "C" __global__ void bare_only_where_nobody_else_is(int *a, int *b, int n)
{
	lock(&b[0]);
	a[8 + B] = 1;
	__threadfence();
	a[5] += 1;
	__threadfence();
	atomicExch(&b[0], 0);
}
// a barrier behind the taking is as good as a fence
//: clean 2 x 64
extern "C" __global__ void barrier_behind_the_taking(int *a, int *b, int n)
{
	if (T == 0)
		lock(&b[0]);
	__syncthreads();
	a[T] += 1;
	__threadfence();
	__syncthreads();
	if (T == 0)
		atomicExch(&b[0], 0);
}
// a loop of compare-and-swap is no lock
//: clean 4 x 32
extern "C" __global__ void product_by_compare_and_swap(int *a, int *b, int n)
{
	int old = V(&b[0]), seen;
	while ((seen = atomicCAS(&b[0], old, old * 3 + 1)) != old)
		old = seen;
	a[B * 32 + T] = old;
}
// past L1 (.cg, .cv) GPUs load and store as they do volatile: a wait that does so is one
//: clean 4 x 64
extern "C" __global__ void waits_past_l1(int *a, int *b, int n)
{
	if (threadIdx.x == 0) {
		int before = 0;
		if (blockIdx.x) {
			while (__ldcv(b + blockIdx.x - 1) == 0)
				;
			__threadfence();
			before = a[blockIdx.x - 1];
		}
		a[blockIdx.x] = before + 1;
		__threadfence();
		__stcg(b + blockIdx.x, 1);
	}
}
//: race 4 x 64 "nothing orders the two blocks"
extern "C" __global__ void waits_past_l1_with_no_fence(int *a, int *b, int n)
{
	if (threadIdx.x == 0) {
		int before = 0;
		if (blockIdx.x) {
			while (__ldcv(b + blockIdx.x - 1) == 0)
				;
			before = a[blockIdx.x - 1];
		}
		a[blockIdx.x] = before + 1;
		__stcg(b + blockIdx.x, 1);
	}
}
// but who only looks, and waits for nothing, hands nothing over
//: race 4 x 64 "nothing orders the two blocks"
extern "C" __global__ void looks_past_l1(int *a, int *b, int n)
{
	int i = blockIdx.x * 64 + threadIdx.x;
	__stcg(a + i, __ldcg(a + (i + 64) % 256) + 1);
}
