// Bulk copies, and shared memory of other blocks of a cluster, with their verdicts; see README.md.
typedef unsigned int u32;
typedef unsigned long long u64;
#define T threadIdx.x
#define I (blockIdx.x * blockDim.x + threadIdx.x)

static __device__ u32 at(const void *p)
{
	return (u32)__cvta_generic_to_shared(p);
}
static __device__ u32 there(const void *p, u32 rank)
{
	u32 a;
	asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(at(p)), "r"(rank));
	return a;
}
static __device__ int *of_block(int *p, u32 rank)
{
	u64 a;
	asm("mapa.u64 %0, %1, %2;" : "=l"(a) : "l"(p), "r"(rank));
	return (int *)a;
}
static __device__ u32 rank_of_block()
{
	u32 r;
	asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
	return r;
}
#define CLUSTER_ARRIVE asm volatile("barrier.cluster.arrive;" ::: "memory")
#define CLUSTER_WAIT asm volatile("barrier.cluster.wait;" ::: "memory")
static __device__ void cluster_sync()
{
	CLUSTER_ARRIVE;
	CLUSTER_WAIT;
}
static __device__ void make(u64 *b, u32 n)
{
	asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory");
}
static __device__ void expect(u64 *b, u32 bytes)
{
	asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(b)), "r"(bytes)
	             : "memory");
}
static __device__ void arrive(u64 *b)
{
	asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at(b)) : "memory");
}
static __device__ void wait(const u64 *b, u32 parity)
{
	asm volatile("{ .reg .pred p;\n"
	             "again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
	             "@!p bra again; }" ::"r"(at(b)),
	             "r"(parity)
	             : "memory");
}
static __device__ void bring(void *to, const void *from, u32 bytes, u64 *b)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
	             "%2, [%3];" ::"r"(at(to)),
	             "l"(from), "r"(bytes), "r"(at(b))
	             : "memory");
}
static __device__ void take(void *to, const void *from, u32 bytes)
{
	asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
	             "r"(at(from)), "r"(bytes)
	             : "memory");
	asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
static __device__ void add(void *to, const void *from, u32 bytes)
{
	asm volatile(
		"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(to),
		"r"(at(from)), "r"(bytes)
		: "memory");
	asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
#define DONE asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")
#define HAS_READ asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory")
#define PROXY asm volatile("fence.proxy.async.shared::cta;" ::: "memory")

// into shared memory
enum waits { ALL_WAIT, NOBODY, ONLY_BARRIER, ONE, ONE_THEN_BARRIER };
static __device__ void brought(int *a, int *b, enum waits how)
{
	__shared__ alignas(16) int s[64];
	__shared__ u64 full;
	if (T == 0)
		make(&full, 1);
	__syncthreads();
	if (T == 0) {
		expect(&full, sizeof s);
		bring(s, a, sizeof s, &full);
	}
	if (how == ALL_WAIT || ((how == ONE || how == ONE_THEN_BARRIER) && T == 0))
		wait(&full, 0);
	if (how == ONLY_BARRIER || how == ONE_THEN_BARRIER)
		__syncthreads();
	b[T] = s[63 - T];
}
//: clean 1 x 64
extern "C" __global__ void brought_and_awaited(int *a, int *b, int n)
{
	brought(a, b, ALL_WAIT);
}
//: race 1 x 64 "meets the store of a bulk copy" "with no wait for that copy between"
extern "C" __global__ void brought_and_not_awaited(int *a, int *b, int n)
{
	brought(a, b, NOBODY);
}
//: race 1 x 64 "with no wait for that copy between"
extern "C" __global__ void barrier_does_not_wait_for_copies(int *a, int *b, int n)
{
	brought(a, b, ONLY_BARRIER);
}
//: race 1 x 64 "with no wait for that copy between"
extern "C" __global__ void only_one_waits(int *a, int *b, int n)
{
	brought(a, b, ONE);
}
//: clean 1 x 64
extern "C" __global__ void one_waits_and_tells(int *a, int *b, int n)
{
	brought(a, b, ONE_THEN_BARRIER);
}
static __device__ void two_of_them(int *a, int *b, int second, bool wait_for_both)
{
	__shared__ alignas(16) int s[128];
	__shared__ u64 full[2];
	if (T < 2)
		make(&full[T], 1);
	__syncthreads();
	if (T == 0)
		for (int i = 0; i < 2; i++) {
			expect(&full[i], 256);
			bring(s + i * second, a + 64 * i, 256, &full[i]);
		}
	wait(&full[0], 0);
	if (wait_for_both)
		wait(&full[1], 0);
	b[T] = s[T] + (second == 64 ? s[64 + T] : 0);
}
//: clean 1 x 64
extern "C" __global__ void two_copies_awaited(int *a, int *b, int n)
{
	two_of_them(a, b, 64, true);
}
//: race 1 x 64 "with no wait for that copy between"
extern "C" __global__ void second_copy_not_awaited(int *a, int *b, int n)
{
	two_of_them(a, b, 64, false);
}
//: race 1 x 64 "this store of a bulk copy" "meets the store of a bulk copy"
extern "C" __global__ void copies_that_overlap(int *a, int *b, int n)
{
	two_of_them(a, b, 32, true);
}
static __device__ void ring(int *a, int *b, bool reads_on)
{
	__shared__ alignas(16) int s[2][64];
	__shared__ u64 full[2], empty[2];
	int sum = 0;
	if (T < 2) {
		make(&full[T], 1);
		make(&empty[T], 64);
	}
	__syncthreads();
	for (int i = 0; i < 6 && T == 64; i++) {
		if (i >= 2)
			wait(&empty[i % 2], (i / 2 + 1) % 2);
		expect(&full[i % 2], 256);
		bring(s[i % 2], a + 64 * i, 256, &full[i % 2]);
	}
	for (int i = 0; i < 6 && T < 64; i++) {
		wait(&full[i % 2], i / 2 % 2);
		sum += s[i % 2][63 - T];
		arrive(&empty[i % 2]);
		sum += reads_on ? s[i % 2][T] : 0;
	}
	b[T] = sum;
}
//: clean 1 x 96
extern "C" __global__ void ring_of_copies(int *a, int *b, int n)
{
	ring(a, b, false);
}
//: race 1 x 96 "this store of a bulk copy" "meets the load"
extern "C" __global__ void ring_refilled_while_it_is_read(int *a, int *b, int n)
{
	ring(a, b, true);
}
//: race 2 x 64 "global-memory race" "nothing orders the two blocks"
extern "C" __global__ void source_that_another_block_writes(int *a, int *b, int n)
{
	if (blockIdx.x)
		a[T] = T + 5;
	else
		brought(a, b, ALL_WAIT);
}

// out of it
static __device__ void fill(int *s, const int *a, bool fence)
{
	s[T] = a[I] + 2;
	if (fence)
		PROXY;
	__syncthreads();
}
//: clean 1 x 64
extern "C" __global__ void taken_and_used_again(int *a, int *b, int n)
{
	__shared__ alignas(16) int s[64];
	for (int i = 0; i < 3; i++) {
		fill(s, a + 64 * i, true);
		if (T == 0) {
			take(b + 64 * i, s, sizeof s);
			HAS_READ;
		}
		__syncthreads();
	}
}
//: race 1 x 64 "meets the load of a bulk copy" "with no wait for that copy between"
extern "C" __global__ void used_again_while_it_is_taken(int *a, int *b, int n)
{
	__shared__ alignas(16) int s[64];
	for (int i = 0; i < 3; i++) {
		fill(s, a + 64 * i, true);
		if (T == 0)
			take(b + 64 * i, s, sizeof s);
		__syncthreads();
	}
}
//: race 1 x 64 "this load of a bulk copy" "with no fence.proxy.async between"
extern "C" __global__ void taken_another_way_without_a_fence(int *a, int *b, int n)
{
	__shared__ alignas(16) int s[64];
	fill(s, a, false);
	if (T == 0)
		take(b, s, sizeof s);
}
//: clean 1 x 64
extern "C" __global__ void fence_of_the_thread_that_takes(int *a, int *b, int n)
{
	__shared__ alignas(16) int s[64];
	fill(s, a, false);
	if (T == 0) {
		PROXY;
		take(b, s, sizeof s);
	}
}
//: race 1 x 64 "this load of a bulk copy" "no barrier between"
extern "C" __global__ void taken_without_a_barrier(int *a, int *b, int n)
{
	__shared__ alignas(16) int s[64];
	s[T] = a[T];
	PROXY;
	if (T == 32)
		take(b, s, sizeof s);
}
//: clean 4 x 64
extern "C" __global__ void taken_and_read_back(int *a, int *b, int n)
{
	__shared__ alignas(16) int s[64];
	fill(s, a, true);
	if (T == 0) {
		take(b + 64 * blockIdx.x, s, sizeof s);
		DONE;
	}
	__syncthreads();
	b[I] += 1;
}
//: race 4 x 64 "global-memory race" "with no wait for that copy between"
extern "C" __global__ void read_back_when_only_the_source_was_read(int *a, int *b, int n)
{
	__shared__ alignas(16) int s[64];
	fill(s, a, true);
	if (T == 0) {
		take(b + 64 * blockIdx.x, s, sizeof s);
		HAS_READ;
	}
	__syncthreads();
	b[I] += 1;
}
//: clean 4 x 64
extern "C" __global__ void added_by_all_blocks(int *a, int *b, int n)
{
	__shared__ alignas(16) int s[64];
	fill(s, a, true);
	if (T == 0)
		add(b, s, sizeof s);
}
//: race 4 x 64 "nothing orders the two blocks"
extern "C" __global__ void added_and_stored(int *a, int *b, int n)
{
	__shared__ alignas(16) int s[64];
	fill(s, a, true);
	if (T == 0 && blockIdx.x)
		add(b, s, sizeof s);
	else if (T == 0)
		take(b, s, sizeof s);
}

// clusters: each kernel is declared first, since a verdict stands above its name alone
#define PAIR extern "C" __global__ void __cluster_dims__(2, 1, 1)
PAIR read_of_the_other(int *a, int *b, int n);
PAIR read_of_the_other_too_early(int *a, int *b, int n);
PAIR read_of_the_other_behind_relaxed(int *a, int *b, int n);
PAIR written_between_arrival_and_wait(int *a, int *b, int n);
PAIR overwritten_while_it_is_read(int *a, int *b, int n);
PAIR written_by_the_other(int *a, int *b, int n);
PAIR written_by_both(int *a, int *b, int n);
PAIR added_by_both(int *a, int *b, int n);
PAIR added_by_the_other_too_late(int *a, int *b, int n);
PAIR mailed(int *a, int *b, int n);
PAIR mailed_and_not_awaited(int *a, int *b, int n);
PAIR mailed_to_and_fro(int *a, int *b, int n);

static __device__ int *other(int *s)
{
	return of_block(s, rank_of_block() ^ 1);
}
//: clean 4 x 64
extern "C" __global__ void read_of_the_other(int *a, int *b, int n)
{
	__shared__ int s[64];
	s[T] = a[I];
	cluster_sync();
	b[I] = other(s)[63 - T];
	cluster_sync();
}
//: race 4 x 64 "shared-memory race" "of the cluster" "nothing orders the two blocks"
extern "C" __global__ void read_of_the_other_too_early(int *a, int *b, int n)
{
	__shared__ int s[64];
	s[T] = a[I];
	__syncthreads();
	b[I] = other(s)[63 - T];
	cluster_sync();
}
//: race 4 x 64 "nothing orders the two blocks"
extern "C" __global__ void read_of_the_other_behind_relaxed(int *a, int *b, int n)
{
	__shared__ int s[64];
	s[T] = a[I];
	asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
	CLUSTER_WAIT;
	b[I] = other(s)[63 - T];
	cluster_sync();
}
//: race 4 x 64 "nothing orders the two blocks"
extern "C" __global__ void written_between_arrival_and_wait(int *a, int *b, int n)
{
	__shared__ int s[64];
	CLUSTER_ARRIVE;
	s[T] = a[I];
	CLUSTER_WAIT;
	b[I] = other(s)[63 - T];
	cluster_sync();
}
//: race 4 x 64 "nothing orders the two blocks"
extern "C" __global__ void overwritten_while_it_is_read(int *a, int *b, int n)
{
	__shared__ int s[64];
	s[T] = a[I] + 1;
	cluster_sync();
	b[I] = other(s)[63 - T];
	s[T] = 0;
	cluster_sync();
}
//: clean 4 x 64
extern "C" __global__ void written_by_the_other(int *a, int *b, int n)
{
	__shared__ int s[64];
	s[T] = 0;
	cluster_sync();
	other(s)[T] = a[I];
	cluster_sync();
	b[I] = s[63 - T];
}
//: race 4 x 64 "this store" "meets the store"
extern "C" __global__ void written_by_both(int *a, int *b, int n)
{
	__shared__ int s[64];
	cluster_sync();
	of_block(s, 0)[T] = a[I] + 1;
	cluster_sync();
	b[I] = s[63 - T];
}
//: clean 4 x 64
extern "C" __global__ void added_by_both(int *a, int *b, int n)
{
	__shared__ int s[16];
	if (T < 16)
		s[T] = 0;
	cluster_sync();
	atomicAdd(of_block(s, a[I] % 2) + T % 16, 1);
	cluster_sync();
	if (T < 16)
		b[I] = s[T];
}
//: race 2 x 64 "this load" "meets the atomic"
extern "C" __global__ void added_by_the_other_too_late(int *a, int *b, int n)
{
	__shared__ int s[16];
	if (T < 16)
		s[T] = 0;
	cluster_sync();
	if (rank_of_block() == 0)
		atomicAdd(other(s) + T % 16, 1);
	__syncthreads();
	if (T < 16)
		b[I] = s[T];
}
static __device__ void mail(int *s, u64 *full, int what)
{
	asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
					 there(s + T, rank_of_block() ^ 1)),
	             "r"(what), "r"(there(full, rank_of_block() ^ 1))
	             : "memory");
}
//: clean 4 x 32
extern "C" __global__ void mailed(int *a, int *b, int n)
{
	__shared__ int s[32];
	__shared__ u64 full;
	if (T == 0) {
		make(&full, 1);
		expect(&full, sizeof s);
	}
	cluster_sync();
	mail(s, &full, a[I]);
	wait(&full, 0);
	b[I] = s[31 - T];
	cluster_sync();
}
//: race 4 x 32 "asynchronous store"
extern "C" __global__ void mailed_and_not_awaited(int *a, int *b, int n)
{
	__shared__ int s[32];
	__shared__ u64 full;
	if (T == 0) {
		make(&full, 1);
		expect(&full, sizeof s);
	}
	s[T] = 0;
	cluster_sync();
	mail(s, &full, a[I]);
	b[I] = s[31 - T];
	cluster_sync();
}
// what comes back was sent behind what came
//: clean 2 x 32
extern "C" __global__ void mailed_to_and_fro(int *a, int *b, int n)
{
	__shared__ int s[32];
	__shared__ u64 full;
	if (T == 0) {
		make(&full, 1);
		expect(&full, sizeof s);
	}
	cluster_sync();
	for (u32 i = 0; i < 6; i++) {
		if (i % 2 == rank_of_block()) {
			mail(s, &full, a[T] + i);
			continue;
		}
		wait(&full, i / 2 % 2);
		if (T == 0)
			expect(&full, sizeof s);
		__syncwarp();
	}
	b[I] = s[T];
	cluster_sync();
}
