/* Clusters of blocks, barriers that count bytes, bulk copies; see README.md. */
typedef unsigned int u32;

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
static __device__ u32 rank_of_block()
{
	u32 r;
	asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
	return r;
}
static __device__ void cluster_sync()
{
	asm volatile("barrier.cluster.arrive;\n barrier.cluster.wait;" ::: "memory");
}
static __device__ void wait(const void *b, u32 parity)
{
	asm volatile("{ .reg .pred p;\n"
	             "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
	             "@!p bra again; }" ::"r"(at(b)),
	             "r"(parity)
	             : "memory");
}

extern "C" __global__ void __cluster_dims__(4, 1, 1)
cluster_barrier_orders_blocks(int *a, int *b, int n);
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_without_barrier(int *a, int *b, int n);
extern "C" __global__ void __cluster_dims__(2, 1, 1)
barrier_of_another_cluster(int *a, int *b, int n);
extern "C" __global__ void __cluster_dims__(2, 1, 1) shared_of_the_neighbour(int *a, int *b, int n);
extern "C" __global__ void __cluster_dims__(2, 1, 1) own_shared_too_early(int *a, int *b, int n);
extern "C" __global__ void __cluster_dims__(2, 1, 1) arrival_hands_over(int *a, int *b, int n);

/* Each block writes for the next one, which reads behind the barrier. */
//: clean 8 x 64
extern "C" __global__ void cluster_barrier_orders_blocks(int *a, int *b, int n)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	b[i] = a[i] + 1;
	cluster_sync();
	a[i] = b[(i + 64) % 256 + i / 256 * 256];
}

//: race 8 x 64 "global-memory race"
extern "C" __global__ void cluster_without_barrier(int *a, int *b, int n)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	b[i] = a[i] + 1;
	a[i] = b[(i + 64) % 256 + i / 256 * 256];
}

/* The barrier is the cluster's alone. */
//: race 8 x 64 "global-memory race"
extern "C" __global__ void barrier_of_another_cluster(int *a, int *b, int n)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	b[i] = a[i] + 1;
	cluster_sync();
	a[i] = b[(i + 256) % 512];
}

//: clean 4 x 64
extern "C" __global__ void shared_of_the_neighbour(int *a, int *b, int n)
{
	__shared__ int box[64];
	const int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
	box[t] = a[i];
	cluster_sync();
	int v;
	asm volatile("ld.shared::cluster.u32 %0, [%1];"
	             : "=r"(v)
	             : "r"(there(&box[63 - t], rank_of_block() ^ 1)));
	cluster_sync();
	box[63 - t] = v;
	__syncthreads();
	b[i] = box[t];
}

/* The barrier of the cluster orders the threads of a block, too. */
//: race 4 x 64 "shared-memory race"
extern "C" __global__ void own_shared_too_early(int *a, int *b, int n)
{
	__shared__ int box[64];
	const int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
	cluster_sync();
	box[t] = a[i];
	b[i] = box[63 - t];
}

/* A block hands its part of b to the other one by an arrival at that one's mbarrier. */
//: clean 4 x 32
extern "C" __global__ void arrival_hands_over(int *a, int *b, int n)
{
	__shared__ unsigned long long turn;
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	const u32 other = rank_of_block() ^ 1;
	if (threadIdx.x == 0)
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(at(&turn)) : "memory");
	cluster_sync();
	b[i] = a[i];
	asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
					 there(&turn, other))
	             : "memory");
	wait(&turn, 0);
	a[i] = b[i ^ 32];
	cluster_sync();
}

/* A ring of two buffers, filled in bulk, given back by arrivals. */
//: clean 2 x 96
extern "C" __global__ void bulk_pipeline(int *a, int *b, int n)
{
	__shared__ __align__(128) int box[2][64];
	__shared__ unsigned long long full[2], empty[2];
	const int t = threadIdx.x, first = blockIdx.x * 512;
	if (t == 0) {
		for (int k = 0; k < 2; k++) {
			asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full[k])) : "memory");
			asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(at(&empty[k])) : "memory");
		}
		asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
	}
	__syncthreads();
	if (t >= 64) {
		for (int i = 0; t == 64 && i < 8; i++) {
			if (i > 1)
				wait(&empty[i % 2], (i / 2 - 1) % 2);
			asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(
							 at(&full[i % 2]))
			             : "memory");
			asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
			             "[%0], [%1], 256, [%2];" ::"r"(
					     at(box[i % 2])),
			             "l"(a + first + i * 64), "r"(at(&full[i % 2]))
			             : "memory");
		}
		return;
	}
	int sum = 0;
	for (int i = 0; i < 8; i++) {
		wait(&full[i % 2], i / 2 % 2);
		sum += box[i % 2][63 - t];
		asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(&empty[i % 2]))
		             : "memory");
	}
	b[blockIdx.x * 64 + t] = sum;
}
