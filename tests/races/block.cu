// Races in shared memory between the warps of a block: kernels with their verdicts; see README.md.
#define T threadIdx.x

//: race 1 x 64 "shared-memory race" "with no barrier between"
extern "C" __global__ void neighbour_without_barrier(int *a, int *b, int n)
{
	__shared__ int s[64];
	s[T] = a[T];
	b[T] = s[63 - T];
}
//: clean 1 x 64
extern "C" __global__ void neighbour_with_barrier(int *a, int *b, int n)
{
	__shared__ int s[64];
	s[T] = a[T];
	__syncthreads();
	b[T] = s[63 - T];
}
//: race 1 x 256
extern "C" __global__ void reduction_without_inner_barrier(int *a, int *b, int n)
{
	__shared__ int s[256];
	s[T] = a[T];
	__syncthreads();
	for (unsigned d = 128; d > 0; d >>= 1)
		if (T < d)
			s[T] += s[T + d];
	if (T == 0)
		b[0] = s[0];
}
//: clean 1 x 256
extern "C" __global__ void reduction(int *a, int *b, int n)
{
	__shared__ int s[256];
	s[T] = a[T];
	__syncthreads();
	for (unsigned d = 128; d > 0; d >>= 1) {
		if (T < d)
			s[T] += s[T + d];
		__syncthreads();
	}
	if (T == 0)
		b[0] = s[0];
}
// Hillis-Steele: reads and writes one array
//: race 1 x 256
extern "C" __global__ void scan_in_place(int *a, int *b, int n)
{
	__shared__ int s[256];
	s[T] = a[T];
	__syncthreads();
	for (unsigned d = 1; d < 256; d *= 2) {
		if (T >= d)
			s[T] += s[T - d];
		__syncthreads();
	}
	b[T] = s[T];
}
//: clean 1 x 256
extern "C" __global__ void scan_by_register(int *a, int *b, int n)
{
	__shared__ int s[256];
	s[T] = a[T];
	__syncthreads();
	for (unsigned d = 1; d < 256; d *= 2) {
		int v = s[T];
		if (T >= d)
			v += s[T - d];
		__syncthreads();
		s[T] = v;
		__syncthreads();
	}
	b[T] = s[T];
}
//: clean 1 x 256
extern "C" __global__ void scan_two_arrays(int *a, int *b, int n)
{
	__shared__ int s[2][256];
	int from = 0;
	s[0][T] = a[T];
	__syncthreads();
	for (unsigned d = 1; d < 256; d *= 2) {
		s[1 - from][T] = s[from][T] + (T >= d ? s[from][T - d] : 0);
		from = 1 - from;
		__syncthreads();
	}
	b[T] = s[from][T];
}
// second barrier of a tile loop missing
//: race 2 x 64
extern "C" __global__ void tile_not_guarded_behind(int *a, int *b, int n)
{
	__shared__ int s[64];
	int sum = 0;
	for (int t = 0; t < 4; t++) {
		s[T] = a[t * 64 + T];
		__syncthreads();
		for (int k = 0; k < 64; k++)
			sum += s[k];
	}
	b[blockIdx.x * 64 + T] = sum;
}
//: clean 2 x 64
extern "C" __global__ void tile(int *a, int *b, int n)
{
	__shared__ int s[64];
	int sum = 0;
	for (int t = 0; t < 4; t++) {
		s[T] = a[t * 64 + T];
		__syncthreads();
		for (int k = 0; k < 64; k++)
			sum += s[k];
		__syncthreads();
	}
	b[blockIdx.x * 64 + T] = sum;
}
//: race 1 x 64
extern "C" __global__ void one_word_of_many(int *a, int *b, int n) // different values
{
	__shared__ int s;
	s = T;
	__syncthreads();
	b[T] = s;
}
//: clean 1 x 64
extern "C" __global__ void one_word_same_value(int *a, int *b, int n)
{
	__shared__ int s;
	s = n;
	__syncthreads();
	b[T] = s;
}
//: clean 1 x 256
extern "C" __global__ void flag_found_by_many(int *a, int *b, int n)
{
	__shared__ int found;
	if (T == 0)
		found = 0;
	__syncthreads();
	if (a[T] % 3 == 0)
		found = 1;
	__syncthreads();
	b[T] = found;
}
//: race 1 x 256
extern "C" __global__ void flag_cleared_without_barrier(int *a, int *b, int n)
{
	__shared__ int found;
	if (T == 0)
		found = 0;
	if (a[T] % 3 == 1)
		found = 1;
	__syncthreads();
	b[T] = found;
}
//: race 1 x 64
extern "C" __global__ void broadcast_without_barrier(int *a, int *b, int n)
{
	__shared__ int s;
	if (T == 0)
		s = a[5];
	b[T] = T == 0 ? 0 : s;
}
//: race 1 x 96
extern "C" __global__ void broadcast_again_too_soon(int *a, int *b, int n) // write after read
{
	__shared__ int s;
	int sum = 0;
	for (int i = 0; i < 3; i++) {
		if (T == 0)
			s = a[i];
		__syncthreads();
		sum += s;
	}
	b[T] = sum;
}
//: clean 1 x 96
extern "C" __global__ void broadcast_again(int *a, int *b, int n)
{
	__shared__ int s;
	int sum = 0;
	for (int i = 0; i < 3; i++) {
		__syncthreads();
		if (T == 0)
			s = a[i];
		__syncthreads();
		sum += s;
	}
	b[T] = sum;
}
//: race 1 x 128
extern "C" __global__ void histogram_without_atomics(int *a, int *b, int n)
{
	__shared__ int s[16];
	if (T < 16)
		s[T] = 0;
	__syncthreads();
	s[a[T] % 16]++;
	__syncthreads();
	if (T < 16)
		b[T] = s[T];
}
//: clean 1 x 128
extern "C" __global__ void histogram(int *a, int *b, int n)
{
	__shared__ int s[16];
	if (T < 16)
		s[T] = 0;
	__syncthreads();
	atomicAdd(&s[a[T] % 16], 1);
	__syncthreads();
	if (T < 16)
		b[T] = s[T];
}
//: race 1 x 128 "atomic"
extern "C" __global__ void histogram_read_too_soon(int *a, int *b, int n)
{
	__shared__ int s[16];
	if (T < 16)
		s[T] = 0;
	__syncthreads();
	atomicAdd(&s[a[T] % 16], 1);
	if (T < 16)
		b[T] = s[T];
}
//: race 1 x 128 "atomic"
extern "C" __global__ void histogram_cleared_too_late(int *a, int *b, int n)
{
	__shared__ int s[16];
	if (T < 16)
		s[T] = 0;
	atomicAdd(&s[a[T] % 16], 1);
	__syncthreads();
	if (T < 16)
		b[T] = s[T];
}
//: clean 1 x 128
extern "C" __global__ void queue_by_counter(int *a, int *b, int n)
{
	__shared__ int s[128], count;
	if (T == 0)
		count = 0;
	__syncthreads();
	if (a[T] & 1)
		s[atomicAdd(&count, 1)] = a[T];
	__syncthreads();
	if (T < count)
		b[T] = s[T];
}
//: clean 1 x 64
extern "C" __global__ void bytes_side_by_side(int *a, int *b, int n)
{
	__shared__ char s[64];
	s[T] = (char)a[T];
	__syncthreads();
	b[T] = s[63 - T];
}
//: race 1 x 64
extern "C" __global__ void bytes_that_overlap(int *a, int *b, int n)
{
	__shared__ __align__(8) char s[64];
	s[T] = (char)a[T];
	if (T < 8)
		b[T] = ((int *)s)[T + 8];
}
//: clean 1 x 128
extern "C" __global__ void halves_with_named_barriers(int *a, int *b, int n)
{
	__shared__ int s[128];
	const int half = T / 64;
	s[T] = a[T];
	asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
	b[T] = s[half * 64 + 63 - T % 64];
}
//: race 1 x 128
extern "C" __global__ void other_half_with_named_barriers(int *a, int *b, int n)
{
	__shared__ int s[128];
	const int half = T / 64;
	s[T] = a[T];
	asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
	b[T] = s[127 - T];
}
//: clean 1 x 128
extern "C" __global__ void producer_and_consumer(int *a, int *b, int n) // bar.arrive and bar.sync
{
	__shared__ int s[64];
	if (T < 64) {
		s[T] = a[T];
		asm volatile("bar.arrive 1, 128;" ::: "memory");
	} else {
		asm volatile("bar.sync 1, 128;" ::: "memory");
		b[T] = s[127 - T];
	}
}
//: race 1 x 128
extern "C" __global__ void producer_overwrites(int *a, int *b, int n)
{
	__shared__ int s[64];
	if (T < 64) {
		s[T] = a[T];
		asm volatile("bar.arrive 1, 128;" ::: "memory");
		s[T] = 0;
	} else {
		asm volatile("bar.sync 1, 128;" ::: "memory");
		b[T] = s[127 - T];
	}
}
//: clean 1 x 128
extern "C" __global__ void read_before_it_is_given_back(int *a, int *b, int n)
{
	__shared__ int s[64];
	s[T % 64] = 7;
	__syncthreads();
	if (T < 64) {
		asm volatile("bar.arrive 1, 128;" ::: "memory");
		asm volatile("bar.sync 2, 128;" ::: "memory");
		s[T] = 0;
	} else {
		const int seen = s[127 - T];
		asm volatile("bar.arrive 2, 128;" ::: "memory");
		asm volatile("bar.sync 1, 128;" ::: "memory");
		b[T] = seen;
	}
}
//: race 1 x 128
extern "C" __global__ void read_behind_giving_it_back(int *a, int *b, int n)
{
	__shared__ int s[64];
	s[T % 64] = 7;
	__syncthreads();
	if (T < 64) {
		asm volatile("bar.arrive 1, 128;" ::: "memory");
		asm volatile("bar.sync 2, 128;" ::: "memory");
		s[T] = 0;
	} else {
		asm volatile("bar.arrive 2, 128;" ::: "memory");
		const int seen = s[127 - T];
		asm volatile("bar.sync 1, 128;" ::: "memory");
		b[T] = seen;
	}
}
//: race 1 x 128
extern "C" __global__ void last_step_writes_what_others_read(int *a, int *b, int n)
{
	__shared__ int s[128];
	int sum = 0;
	s[T] = a[T];
	__syncthreads();
	for (int i = 0; i < 40; i++) {
		sum += s[(T * 5 + i) % 128];
		if (i % 8 == 7)
			__syncthreads();
	}
	sum += s[T ^ 64];
	s[T] = sum;
	__syncthreads();
	b[T] = s[T ^ 1];
}
//: clean 1 x 128
extern "C" __global__ void last_step_writes_its_own(int *a, int *b, int n)
{
	__shared__ int s[2048];
	int sum = 0;
	s[T] = a[T];
	__syncthreads();
	for (int i = 0; i < 40; i++) {
		sum += s[(T * 5 + i) % 128];
		s[1024 + T] = sum;
		if (i % 8 == 7)
			__syncthreads();
	}
	s[1024 + T] += s[T ^ 64];
	__syncthreads();
	b[T] = s[1024 + (T ^ 1)];
}
//: race 1 x 64
extern "C" __global__ void barrier_in_wrong_place(int *a, int *b, int n)
{
	__shared__ int s[64];
	__syncthreads();
	s[T] = a[T];
	b[T] = s[T ^ 32];
	__syncthreads();
}
//: clean 1 x 64
extern "C" __global__ void flag_with_block_fence(int *a, int *b, int n)
{
	__shared__ int data, flag;
	if (T == 0)
		flag = 0;
	__syncthreads();
	if (T == 0) {
		data = a[7];
		__threadfence_block();
		*(volatile int *)&flag = 1;
	} else if (T == 32) {
		while (*(volatile int *)&flag == 0)
			;
		__threadfence_block();
		b[0] = data;
	}
}
//: race 1 x 64
extern "C" __global__ void flag_without_fence(int *a, int *b, int n)
{
	__shared__ int data, flag;
	if (T == 0)
		flag = 0;
	__syncthreads();
	if (T == 0) {
		data = a[7];
		*(volatile int *)&flag = 1;
	} else if (T == 32) {
		while (*(volatile int *)&flag == 0)
			;
		b[0] = data;
	}
}
//: race 1 x 128
extern "C" __global__ void volatile_without_barrier(int *a, int *b, int n)
{
	__shared__ volatile int s[128];
	s[T] = a[T];
	b[T] = s[127 - T];
}
//: race 1 x 256
extern "C" __global__ void reduction_by_volatile_alone(int *a, int *b, int n)
{
	__shared__ volatile int s[256];
	s[T] = a[T];
	__syncthreads();
	for (unsigned d = 128; d > 0; d >>= 1)
		if (T < d)
			s[T] += s[T + d];
	if (T == 0)
		b[0] = s[0];
}
//: clean 1 x 64
extern "C" __global__ void lock_of_the_block(int *a, int *b, int n)
{
	__shared__ int lock, sum;
	if (T == 0)
		lock = sum = 0;
	__syncthreads();
	if (T % 32 == 0) {
		while (atomicCAS(&lock, 0, 1) != 0)
			;
		__threadfence_block();
		sum += a[T];
		__threadfence_block();
		atomicExch(&lock, 0);
	}
	__syncthreads();
	b[T] = sum;
}
//: clean 1 x 128
extern "C" __global__ void reduced_by_barrier(int *a, int *b, int n)
{
	__shared__ int s[128];
	s[T] = a[T];
	const int odd = __syncthreads_count(a[T] & 1);
	b[T] = s[127 - T] + odd;
}

/* Sums of products that the emulator does as one: it looks at all loads of shared memory together.
 */
#define PRODUCT_OF_TILES(name, loaded, used)               \
	extern "C" __global__ void name(int *a, int *b, int n) \
	{                                                      \
		__shared__ float left[16][16], right[16][16];      \
		const float *in = (const float *)a;                \
		const int x = T % 16, y = T / 16;                  \
		float sum = 0;                                     \
		for (int tile = 0; tile < 4; tile++) {             \
			left[y][x] = in[T + 256 * tile];               \
			right[y][x] = in[T + 256 * tile + 1024];       \
			loaded;                                        \
			for (int k = 0; k < 16; k++)                   \
				sum += left[y][k] * right[k][x];           \
			used;                                          \
		}                                                  \
		((float *)b)[blockIdx.x * 256 + T] = sum;          \
	}
//: clean 2 x 256
extern "C" __global__ void tiles_that_all_wait_for(int *a, int *b, int n);
PRODUCT_OF_TILES(tiles_that_all_wait_for, __syncthreads(), __syncthreads())
//: race 2 x 256
extern "C" __global__ void tiles_stored_while_others_read(int *a, int *b, int n);
PRODUCT_OF_TILES(tiles_stored_while_others_read, __syncthreads(), (void)0)
//: race 2 x 256
extern "C" __global__ void tiles_read_before_all_are_stored(int *a, int *b, int n);
PRODUCT_OF_TILES(tiles_read_before_all_are_stored, (void)0, __syncthreads())
