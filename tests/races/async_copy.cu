// Asynchronous copies into shared memory and barriers in it, with their verdicts; see README.md.
#define T threadIdx.x
#define I (blockIdx.x * blockDim.x + threadIdx.x)

// asynchronous copies into shared memory
#define COPY(to, from)                                                                            \
	asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(                                \
					 (unsigned)__cvta_generic_to_shared(to)),                                     \
				 "l"(from)                                                                        \
				 : "memory")
#define COMMIT asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group " #n ";" ::: "memory")
//: clean 1 x 64
extern "C" __global__ void copy_waited_for(int *a, int *b, int n)
{
	__shared__ int s[64];
	COPY(&s[T], &a[T]);
	COMMIT;
	WAIT(0);
	__syncthreads();
	b[T] = s[63 - T];
}
//: race 1 x 64
extern "C" __global__ void copy_without_barrier(int *a, int *b, int n)
{
	__shared__ int s[64];
	COPY(&s[T], &a[T]);
	COMMIT;
	WAIT(0);
	b[T] = s[63 - T];
}
//: race 1 x 64
extern "C" __global__ void copy_not_waited_for(int *a, int *b, int n)
{
	__shared__ int s[64];
	COPY(&s[T], &a[T]);
	COMMIT;
	__syncthreads();
	b[T] = s[63 - T];
}
//: race 1 x 64
extern "C" __global__ void copy_waited_for_behind_the_barrier(int *a, int *b, int n)
{
	__shared__ int s[64];
	COPY(&s[T], &a[T]);
	COMMIT;
	__syncthreads();
	WAIT(0);
	b[T] = s[63 - T];
}
//: race 1 x 64
extern "C" __global__ void own_copy_not_waited_for(int *a, int *b, int n)
{
	__shared__ int s[64];
	COPY(&s[T], &a[T]);
	COMMIT;
	b[T] = s[T];
}
//: clean 1 x 64
extern "C" __global__ void own_copy_waited_for(int *a, int *b, int n)
{
	__shared__ int s[64];
	COPY(&s[T], &a[T]);
	COMMIT;
	WAIT(0);
	b[T] = s[T];
}
//: clean 1 x 64
extern "C" __global__ void pipeline_of_two_stages(int *a, int *b, int n)
{
	__shared__ int s[2][64];
	int sum = 0;
	COPY(&s[0][T], &a[T]);
	COMMIT;
	for (int i = 0; i < 8; i++) {
		if (i < 7)
			COPY(&s[(i + 1) % 2][T], &a[64 * (i + 1) + T]);
		COMMIT;
		WAIT(1);
		__syncthreads();
		sum += s[i % 2][63 - T];
		__syncthreads();
	}
	b[T] = sum;
}
//: race 1 x 64
extern "C" __global__ void pipeline_waits_for_too_little(int *a, int *b, int n)
{
	__shared__ int s[2][64];
	int sum = 0;
	COPY(&s[0][T], &a[T]);
	COMMIT;
	for (int i = 0; i < 8; i++) {
		if (i < 7)
			COPY(&s[(i + 1) % 2][T], &a[64 * (i + 1) + T]);
		COMMIT;
		WAIT(2);
		__syncthreads();
		sum += s[i % 2][63 - T];
		__syncthreads();
	}
	b[T] = sum;
}
//: race 1 x 64
extern "C" __global__ void pipeline_refilled_too_soon(int *a, int *b, int n)
{
	__shared__ int s[2][64];
	int sum = 0;
	COPY(&s[0][T], &a[T]);
	COMMIT;
	for (int i = 0; i < 8; i++) {
		if (i < 7)
			COPY(&s[(i + 1) % 2][T], &a[64 * (i + 1) + T]);
		COMMIT;
		WAIT(1);
		__syncthreads();
		sum += s[i % 2][63 - T];
	}
	b[T] = sum;
}

// an mbarrier between warps
#define ARRIVE(bar)                                                                               \
	asm volatile("{.reg .b64 t; mbarrier.arrive.shared.b64 t, [%0];}" ::"r"(                      \
					 (unsigned)__cvta_generic_to_shared(bar))                                     \
				 : "memory")
//: clean 1 x 64
extern "C" __global__ void handed_over_by_mbarrier(int *a, int *b, int n)
{
	__shared__ alignas(8) unsigned long long bar;
	__shared__ int s[32];
	const unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
	if (T == 0)
		asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(at) : "memory");
	__syncthreads();
	if (T < 32) {
		s[T] = a[T];
		ARRIVE(&bar);
	} else {
		unsigned ok = 0;
		while (!ok)
			asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; "
						 "selp.u32 %0, 1, 0, p;}"
						 : "=r"(ok)
						 : "r"(at)
						 : "memory");
		b[T] = s[63 - T];
	}
}
//: race 1 x 64
extern "C" __global__ void mbarrier_nobody_waits_at(int *a, int *b, int n)
{
	__shared__ alignas(8) unsigned long long bar;
	__shared__ int s[32];
	const unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
	if (T == 0)
		asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(at) : "memory");
	__syncthreads();
	if (T < 32) {
		s[T] = a[T];
		ARRIVE(&bar);
	} else {
		b[T] = s[63 - T];
	}
}

// asynchronous copies that a barrier in shared memory counts: who waits for it sees all of them
__device__ unsigned copy_and_arrive(int *to, const int *from, unsigned long long *barrier)
{
	const unsigned at = (unsigned)__cvta_generic_to_shared(barrier);
	const unsigned there = (unsigned)__cvta_generic_to_shared(to);
	if (T == 0)
		asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(blockDim.x) : "memory");
	__syncthreads();
	asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(there), "l"(from) : "memory");
	asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at) : "memory");
	return at;
}
//: clean 1 x 64
extern "C" __global__ void copies_that_a_barrier_counts(int *a, int *b, int n)
{
	__shared__ unsigned long long barrier;
	__shared__ int s[64];
	const unsigned at = copy_and_arrive(&s[T], &a[T], &barrier);
	unsigned ended;
	do
		asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0;\n"
		             "selp.u32 %0, 1, 0, p; }"
		             : "=r"(ended)
		             : "r"(at)
		             : "memory");
	while (!ended);
	b[T] = s[63 - T];
}
//: race 1 x 64
extern "C" __global__ void copies_counted_and_not_awaited(int *a, int *b, int n)
{
	__shared__ unsigned long long barrier;
	__shared__ int s[64];
	copy_and_arrive(&s[T], &a[T], &barrier);
	b[T] = s[63 - T];
}

// one buffer, an mbarrier in every turn: who waits for a phase knows nothing of the next one's
__device__ void everybody_meets(unsigned at, unsigned phase)
{
	asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(at) : "memory");
	unsigned ended;
	do
		asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n"
		             "selp.u32 %0, 1, 0, p; }"
		             : "=r"(ended)
		             : "r"(at), "r"(phase % 2)
		             : "memory");
	while (!ended);
}
__device__ unsigned meeting_place(unsigned long long *barrier)
{
	const unsigned at = (unsigned)__cvta_generic_to_shared(barrier);
	if (T == 0)
		asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(blockDim.x) : "memory");
	__syncthreads();
	return at;
}
//: race 1 x 64
extern "C" __global__ void refilled_before_the_next_phase(int *a, int *b, int n)
{
	__shared__ unsigned long long barrier;
	__shared__ int s[64];
	const unsigned at = meeting_place(&barrier);
	int sum = 0;
	for (int i = 0; i < 6; i++) {
		s[T] = a[64 * i + T];
		everybody_meets(at, i);
		sum += s[63 - T];
	}
	b[T] = sum;
}
//: clean 1 x 64
extern "C" __global__ void refilled_behind_the_next_phase(int *a, int *b, int n)
{
	__shared__ unsigned long long barrier;
	__shared__ int s[64];
	const unsigned at = meeting_place(&barrier);
	int sum = 0;
	for (int i = 0; i < 6; i++) {
		s[T] = a[64 * i + T];
		everybody_meets(at, 2 * i);
		sum += s[63 - T];
		everybody_meets(at, 2 * i + 1);
	}
	b[T] = sum;
}
//: clean 1 x 64
extern "C" __global__ void buffers_in_turn_by_phases(int *a, int *b, int n)
{
	__shared__ unsigned long long barrier;
	__shared__ int s[2][64];
	const unsigned at = meeting_place(&barrier);
	int sum = 0;
	for (int i = 0; i < 6; i++) {
		s[i % 2][T] = a[64 * i + T];
		everybody_meets(at, i);
		sum += s[i % 2][63 - T];
	}
	b[T] = sum;
}
//: clean 1 x 96
extern "C" __global__ void handed_over_two_phases_ago(int *a, int *b, int n)
{
	__shared__ unsigned long long barrier;
	__shared__ int s[64];
	const unsigned at = meeting_place(&barrier);
	if (T < 32)
		s[T] = a[T];
	everybody_meets(at, 0);
	everybody_meets(at, 1);
	if (T >= 64)
		b[T] = s[T - 64];
}
// who makes an mbarrier must be done before others arrive there
__device__ void arrives(unsigned at)
{
	asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(at) : "memory");
}
//: race 1 x 64 "this atomic" "meets the store"
extern "C" __global__ void arrives_at_what_may_not_be_there(int *a, int *b, int n)
{
	__shared__ unsigned long long bar;
	const unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
	if (T == 0)
		asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at) : "memory");
	__syncwarp();
	arrives(at);
	b[T] = a[T];
}
//: race 1 x 32 "no __syncwarp() between"
extern "C" __global__ void lanes_arrive_too_early(int *a, int *b, int n)
{
	__shared__ unsigned long long bar;
	const unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
	if (T == 0)
		asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(at) : "memory");
	arrives(at);
	b[T] = a[T];
}
//: clean 1 x 64
extern "C" __global__ void made_again_behind_a_barrier(int *a, int *b, int n)
{
	__shared__ unsigned long long bar;
	const unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
	for (int i = 0; i < 2; i++) {
		if (T == 32 * i)
			asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at) : "memory");
		__syncthreads();
		arrives(at);
		__syncthreads();
		if (T == 32 * i)
			asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory");
		__syncthreads();
	}
	b[T] = a[T];
}
