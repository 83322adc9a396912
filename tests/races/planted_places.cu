// Lanes, barriers, places and indices, with faults planted in them and without; see README.md.
#define T threadIdx.x
#define I (blockIdx.x * blockDim.x + threadIdx.x)

// lanes
//: race 1 x 32
extern "C" __global__ void first_lane_tells_the_others(int *a, int *b, int n)
{
	__shared__ int s;
	if (T == 0)
		s = a[5];
	b[T] = s;
}
//: clean 1 x 32
extern "C" __global__ void first_lane_tells_behind_a_sync(int *a, int *b, int n)
{
	__shared__ int s;
	if (T == 0)
		s = a[5];
	__syncwarp();
	b[T] = s;
}
//: race 1 x 32
extern "C" __global__ void told_again_without_a_sync(int *a, int *b, int n)
{
	__shared__ int s;
	int sum = 0;
	for (int i = 0; i < 4; i++) {
		if (T == i)
			s = a[i];
		__syncwarp();
		sum += s;
	}
	b[T] = sum;
}
//: clean 1 x 32
extern "C" __global__ void told_again_behind_a_vote(int *a, int *b, int n)
{
	__shared__ int s;
	int sum = 0;
	for (int i = 0; i < 4; i++) {
		if (T == i)
			s = a[i];
		__syncwarp();
		sum += s;
		if (__all_sync(~0u, sum < 0))
			return;
	}
	b[T] = sum;
}
//: race 1 x 64
extern "C" __global__ void sync_of_a_warp_between_two(int *a, int *b, int n)
{
	__shared__ int s[64];
	s[T] = a[T];
	__syncwarp();
	b[T] = s[63 - T];
}
//: race 1 x 32
extern "C" __global__ void sync_of_half_the_lanes(int *a, int *b, int n)
{
	__shared__ int s[32];
	s[T] = a[T];
	if (T < 16)
		__syncwarp(0xffff);
	b[T] = s[31 - T];
}
//: race 1 x 32
extern "C" __global__ void who_is_active_orders_nobody(int *a, int *b, int n)
{
	__shared__ int s[32];
	s[T] = a[T];
	if (__activemask() == 7)
		return;
	b[T] = s[T ^ 1];
}
//: clean 1 x 32
extern "C" __global__ void matching_lanes_are_in_step(int *a, int *b, int n)
{
	__shared__ int s[32];
	s[T] = a[T];
	const unsigned same = __match_any_sync(~0u, T % 4);
	b[T] = s[T ^ 8] + (int)same;
}
//: clean 1 x 64
extern "C" __global__ void a_warp_each_with_its_own_part(int *a, int *b, int n)
{
	__shared__ int s[2][32];
	int *mine = s[T / 32];
	mine[T % 32] = a[T];
	for (int step = 16; step; step /= 2) {
		__syncwarp();
		const int other = mine[(T + step) % 32];
		__syncwarp();
		mine[T % 32] += other;
	}
	b[T] = mine[T % 32];
}
//: race 1 x 64
extern "C" __global__ void a_warp_reaches_into_the_next(int *a, int *b, int n)
{
	__shared__ int s[96];
	s[T] = a[T];
	for (int step = 16; step; step /= 2) {
		__syncwarp();
		const int other = s[T + step];
		__syncwarp();
		s[T] += other;
	}
	b[T] = s[T];
}

// barriers
//: clean 1 x 128
extern "C" __global__ void barrier_that_counts(int *a, int *b, int n)
{
	__shared__ int s[128];
	s[T] = a[T];
	const int odd = __syncthreads_count(a[T] & 1);
	b[T] = s[127 - T] + odd;
}
__device__ int sum_of_block(int *s, int mine)
{
	s[T] = mine;
	for (unsigned step = blockDim.x / 2; step; step /= 2) {
		__syncthreads();
		if (T < step)
			s[T] += s[T + step];
	}
	__syncthreads();
	return s[0];
}
//: race 1 x 128
extern "C" __global__ void summed_twice_in_one_place(int *a, int *b, int n)
{
	__shared__ int s[128];
	const int sum = sum_of_block(s, a[T]);
	b[T] = sum + sum_of_block(s, 2 * a[T] + 1);
}
//: clean 1 x 128
extern "C" __global__ void summed_twice_in_two_places(int *a, int *b, int n)
{
	__shared__ int s[2][128];
	const int sum = sum_of_block(s[0], a[T]);
	b[T] = sum + sum_of_block(s[1], 2 * a[T] + 1);
}
//: clean 1 x 128
extern "C" __global__ void summed_twice_with_a_barrier(int *a, int *b, int n)
{
	__shared__ int s[128];
	const int sum = sum_of_block(s, a[T]);
	__syncthreads();
	b[T] = sum + sum_of_block(s, 2 * a[T] + 1);
}
//: race 1 x 128
extern "C" __global__ void barrier_in_an_arm_that_others_skip(int *a, int *b, int n)
{
	__shared__ int s[128];
	s[T] = a[T];
	if (a[T] < 0)
		__syncthreads();
	b[T] = s[127 - T];
}
//: race 1 x 128
extern "C" __global__ void level_of_a_scan_too_few(int *a, int *b, int n)
{
	__shared__ int s[128];
	s[T] = a[T];
	__syncthreads();
	for (int step = 1; step < 128; step *= 2) {
		const int other = T >= step ? s[T - step] : 0;
		if (step != 16)
			__syncthreads();
		s[T] += other;
		__syncthreads();
	}
	b[T] = s[T];
}

// places that overlap
//: race 1 x 64
extern "C" __global__ void arrays_that_overlap(int *a, int *b, int n)
{
	__shared__ int s[128];
	int *first = s, *second = s + 63;
	first[T] = a[T];
	second[T] = 2 * a[T] + 5;
	__syncthreads();
	b[T] = first[T] + second[T];
}
//: clean 1 x 64
extern "C" __global__ void arrays_side_by_side(int *a, int *b, int n)
{
	__shared__ int s[128];
	int *first = s, *second = s + 64;
	first[T] = a[T];
	second[T] = 2 * a[T] + 5;
	__syncthreads();
	b[T] = first[T] + second[T];
}
struct nibbles {
	unsigned even : 4, odd : 4;
};
//: race 1 x 64
extern "C" __global__ void bits_of_one_byte(int *a, int *b, int n)
{
	__shared__ struct nibbles s[32];
	if (T % 2)
		s[T / 2].odd = a[T] & 7;
	else
		s[T / 2].even = a[T] & 7;
	__syncthreads();
	b[T] = s[T / 2].even + s[T / 2].odd;
}
//: race 2 x 32
extern "C" __global__ void bits_set_in_a_mask(int *a, int *b, int n)
{
	b[0] |= 1 << T;
}
//: clean 2 x 32
extern "C" __global__ void bits_set_by_atomics(int *a, int *b, int n)
{
	atomicOr(&b[0], 1 << T);
}
//: race 2 x 32
extern "C" __global__ void half_of_a_pair(int *a, int *b, int n)
{
	if (blockIdx.x)
		((long long *)b)[T] = 1ll << 40 | T;
	else
		b[2 * T + 1] = a[T];
}
//: clean 2 x 32
extern "C" __global__ void halves_of_pairs(int *a, int *b, int n)
{
	((short *)b)[2 * T + blockIdx.x] = (short)a[I];
}

// indices
//: race 4 x 64
extern "C" __global__ void stride_of_the_block(int *a, int *b, int n)
{
	for (int i = I; i < 1024; i += blockDim.x)
		b[i] += a[i];
}
//: clean 4 x 64
extern "C" __global__ void stride_of_the_grid(int *a, int *b, int n)
{
	for (int i = I; i < 1024; i += gridDim.x * blockDim.x)
		b[i] += a[i];
}
//: race 4 x 64
extern "C" __global__ void thread_for_the_index(int *a, int *b, int n)
{
	b[T] += a[I];
}
//: race 4 x 64
extern "C" __global__ void indices_that_wrap(int *a, int *b, int n)
{
	b[I % 250] = a[I];
}
//: clean 4 x 64
extern "C" __global__ void indices_looked_up(int *a, int *b, int n)
{
	b[a[I]] = I;
}
//: race 4 x 64
extern "C" __global__ void indices_looked_up_twice_the_same(int *a, int *b, int n)
{
	b[a[I] == 255 ? 0 : a[I]] = I;
}
//: clean 4 x 64
extern "C" __global__ void turned_round_by_half(int *a, int *b, int n)
{
	if (I < 128) {
		const int other = a[255 - I];
		a[255 - I] = a[I];
		a[I] = other;
	}
}
//: race 4 x 64
extern "C" __global__ void turned_round_by_all(int *a, int *b, int n)
{
	const int other = a[255 - I];
	a[I] = other;
}
//: clean 4 x 64
extern "C" __global__ void transposed_in_place(int *a, int *b, int n)
{
	const int x = I % 16, y = I / 16;
	if (x < y) {
		const int other = a[x * 16 + y];
		a[x * 16 + y] = a[I];
		a[I] = other;
	}
}
//: race 4 x 64
extern "C" __global__ void transposed_in_place_by_all(int *a, int *b, int n)
{
	const int x = I % 16, y = I / 16, other = a[x * 16 + y];
	a[x * 16 + y] = a[I];
	a[I] = other;
}
//: clean 4 x 64
extern "C" __global__ void red_then_black(int *a, int *b, int n)
{
	const int i = 2 * I + 1;
	a[i] = a[i - 1] + a[i + 1];
}
//: race 4 x 64
extern "C" __global__ void red_and_black(int *a, int *b, int n)
{
	const int i = I + 1;
	a[i] = a[i - 1] + a[i + 1];
}
//: clean 4 x 64
extern "C" __global__ void pairs_compared(int *a, int *b, int n)
{
	const int x = I ^ 64;
	if (x > I && a[I] < a[x]) {
		const int other = a[I];
		a[I] = a[x];
		a[x] = other;
	}
}
//: race 4 x 64
extern "C" __global__ void pairs_compared_from_both_sides(int *a, int *b, int n)
{
	const int x = I ^ 64;
	if (a[I] < a[x] || a[I] == 0)
		a[I] = a[x];
}

// barriers of all blocks
__device__ void all_meet(int *word, int turn, bool fence)
{
	__syncthreads();
	if (T == 0) {
		if (fence)
			__threadfence();
		atomicAdd(word, 1);
		while (atomicAdd(word, 0) < (int)gridDim.x * turn)
			;
		if (fence)
			__threadfence();
	}
	__syncthreads();
}
//: clean 4 x 32
extern "C" __global__ void steps_with_all_blocks(int *a, int *b, int n)
{
	for (int step = 1; step < 6; step++) {
		const int other = a[(I + 32 * step) % 128];
		all_meet(b, 2 * step - 1, true);
		a[I] += other;
		all_meet(b, 2 * step, true);
	}
}
//: race 4 x 32
extern "C" __global__ void steps_that_meet_once(int *a, int *b, int n)
{
	for (int step = 1; step < 6; step++) {
		const int other = a[(I + 32 * step) % 128];
		a[I] += other;
		all_meet(b, step, true);
	}
}
//: race 4 x 32
extern "C" __global__ void steps_without_fences(int *a, int *b, int n)
{
	for (int step = 1; step < 6; step++) {
		const int other = a[(I + 32 * step) % 128];
		all_meet(b, 2 * step - 1, false);
		a[I] += other;
		all_meet(b, 2 * step, false);
	}
}
