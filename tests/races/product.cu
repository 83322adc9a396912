// Products of a warp group (wgmma) read shared memory by themselves, until they are waited for.
#if defined __CUDA_ARCH__ && !defined __CUDA_ARCH_FEAT_SM90_ALL
#error wgmma is there for sm_90a alone
#endif
#define T threadIdx.x
#define PRODUCT(d, a, b)                                           \
	asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " \
	             "{%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"            \
	             : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])      \
	             : "l"(a), "l"(b))
#define FENCE asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(left) asm volatile("wgmma.wait_group.sync.aligned " #left ";" ::: "memory")
#define TO_ENGINES asm volatile("fence.proxy.async;" ::: "memory")
#define WORDS 640 /* 64 x 16 halves of A, then 8 x 16 of B */

static __device__ unsigned long long place(const void *p)
{
	const unsigned at = (unsigned)__cvta_generic_to_shared(p);
	return at >> 4 | 8ull << 16 | 16ull << 32; /* tiles of 8 x 8 halves, 128 and 256 bytes apart */
}
static __device__ void fill(int *s, const int *a)
{
	for (int i = T; i < WORDS; i += 128)
		s[i] = a[i];
}
static __device__ void tell(int *b, const float *d)
{
	b[T] = (int)(d[0] + d[1] + d[2] + d[3]);
}

//: clean 1 x 128
extern "C" __global__ void waits_for_the_product(int *a, int *b, int n)
{
	__shared__ alignas(128) int s[WORDS];
	float d[4] = {};
	fill(s, a);
	TO_ENGINES;
	__syncthreads();
	FENCE;
	PRODUCT(d, place(s), place(s + 512));
	COMMIT;
	WAIT(0);
	__syncthreads();
	fill(s, b);
	tell(b, d);
}
//: race 1 x 128 "this store" "meets the load of a wgmma" "with no wait for that product between"
extern "C" __global__ void stores_before_the_wait(int *a, int *b, int n)
{
	__shared__ alignas(128) int s[WORDS];
	float d[4] = {};
	fill(s, a);
	TO_ENGINES;
	__syncthreads();
	FENCE;
	PRODUCT(d, place(s), place(s + 512));
	COMMIT;
	__syncthreads();
	s[T] = n;
	WAIT(0);
	tell(b, d);
}
// the first of two groups is done, which read something else
//: clean 1 x 128
extern "C" __global__ void stores_what_the_first_group_read(int *a, int *b, int n)
{
	__shared__ alignas(128) int s[WORDS], t[WORDS];
	float d[4] = {};
	fill(s, a);
	fill(t, a);
	TO_ENGINES;
	__syncthreads();
	FENCE;
	PRODUCT(d, place(s), place(s + 512));
	COMMIT;
	PRODUCT(d, place(t), place(t + 512));
	COMMIT;
	WAIT(1);
	__syncthreads();
	s[T] = n;
	WAIT(0);
	tell(b, d);
}
//: race 1 x 128 "meets the load of a wgmma" "with no wait for that product between"
extern "C" __global__ void stores_what_the_second_group_reads(int *a, int *b, int n)
{
	__shared__ alignas(128) int s[WORDS], t[WORDS];
	float d[4] = {};
	fill(s, a);
	fill(t, a);
	TO_ENGINES;
	__syncthreads();
	FENCE;
	PRODUCT(d, place(s), place(s + 512));
	COMMIT;
	PRODUCT(d, place(t), place(t + 512));
	COMMIT;
	WAIT(1);
	__syncthreads();
	t[T] = n;
	WAIT(0);
	tell(b, d);
}
//: race 1 x 128 "this load of a wgmma" "with no fence.proxy.async between"
extern "C" __global__ void no_fence_to_the_engines(int *a, int *b, int n)
{
	__shared__ alignas(128) int s[WORDS];
	float d[4] = {};
	fill(s, a);
	__syncthreads();
	FENCE;
	PRODUCT(d, place(s), place(s + 512));
	COMMIT;
	WAIT(0);
	tell(b, d);
}
// one thread's fence says nothing of what the others store
//: race 1 x 128 "this load of a wgmma" "with no fence.proxy.async between"
extern "C" __global__ void one_fences_for_itself(int *a, int *b, int n)
{
	__shared__ alignas(128) int s[WORDS];
	float d[4] = {};
	fill(s, a);
	if (T == 0)
		TO_ENGINES;
	__syncthreads();
	FENCE;
	PRODUCT(d, place(s), place(s + 512));
	COMMIT;
	WAIT(0);
	tell(b, d);
}
// behind a barrier it does
//: clean 1 x 128
extern "C" __global__ void fences_behind_the_barrier(int *a, int *b, int n)
{
	__shared__ alignas(128) int s[WORDS];
	float d[4] = {};
	fill(s, a);
	__syncthreads();
	if (T == 0)
		TO_ENGINES;
	__syncthreads();
	FENCE;
	PRODUCT(d, place(s), place(s + 512));
	COMMIT;
	WAIT(0);
	tell(b, d);
}
//: race 1 x 128 "this load of a wgmma" "no barrier between"
extern "C" __global__ void no_barrier_before_the_product(int *a, int *b, int n)
{
	__shared__ alignas(128) int s[WORDS];
	float d[4] = {};
	fill(s, a);
	TO_ENGINES;
	FENCE;
	PRODUCT(d, place(s), place(s + 512));
	COMMIT;
	WAIT(0);
	tell(b, d);
}
