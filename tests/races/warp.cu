// Races between the lanes of a warp, which need not run in lockstep: kernels with their verdicts.
#define T threadIdx.x

//: race 1 x 32 "with no __syncwarp() between"
extern "C" __global__ void lanes_without_sync(int *a, int *b, int n)
{
	__shared__ int s[32];
	s[T] = a[T];
	b[T] = s[31 - T];
}
//: clean 1 x 32
extern "C" __global__ void lanes_with_sync(int *a, int *b, int n)
{
	__shared__ int s[32];
	s[T] = a[T];
	__syncwarp();
	b[T] = s[31 - T];
}
// as it was written before Volta
//: customary 1 x 64 "with no __syncwarp() between"
extern "C" __global__ void volatile_last_warp(int *a, int *b, int n)
{
	__shared__ volatile int s[64];
	s[T] = a[T];
	__syncthreads();
	if (T < 32) {
		s[T] += s[T + 32];
		s[T] += s[T + 16];
		s[T] += s[T + 8];
		s[T] += s[T + 4];
		s[T] += s[T + 2];
		s[T] += s[T + 1];
	}
	if (T == 0)
		b[0] = s[0];
}
//: clean 1 x 64
extern "C" __global__ void last_warp(int *a, int *b, int n)
{
	__shared__ int s[64];
	s[T] = a[T];
	__syncthreads();
	if (T < 32) {
		int v = s[T] + s[T + 32];
		for (int d = 16; d > 0; d >>= 1) {
			__syncwarp();
			s[T] = v;
			__syncwarp();
			v += s[T ^ d];
		}
		if (T == 0)
			b[0] = v;
	}
}
// one __syncwarp() for two: all lanes load before one stores, as the same step of a GPU's warp does
//: customary 1 x 32 "this store" "load of line"
extern "C" __global__ void last_warp_read_and_written(int *a, int *b, int n)
{
	__shared__ int s[64];
	s[T] = a[T];
	s[T + 32] = 0;
	__syncwarp();
	for (int d = 16; d > 0; d >>= 1) {
		s[T] += s[T + d];
		__syncwarp();
	}
	b[T] = s[0];
}
// the same without any: a step's store meets the next step's load
//: race 1 x 32
extern "C" __global__ void last_warp_without_sync(int *a, int *b, int n)
{
	__shared__ int s[64];
	s[T] = a[T];
	s[T + 32] = 0;
	__syncwarp();
	for (int d = 16; d > 0; d >>= 1)
		s[T] += s[T + d];
	b[T] = s[0];
}
// a branch between the load and the store: lanes may go on alone
//: race 1 x 32
extern "C" __global__ void read_branched_and_written(int *a, int *b, int n)
{
	__shared__ int s[64];
	s[T] = a[T];
	s[T + 32] = a[T + 32];
	__syncwarp();
	int v = s[T + 1];
	for (int i = 0; i < a[T] % 3; i++)
		v = v * 3 + a[v % 64];
	s[T] = v;
	__syncwarp();
	b[T] = s[0];
}
// one scans while another, later, writes where it read: only the scan is volatile
//: customary 1 x 32 "with no __syncwarp() between"
extern "C" __global__ void volatile_scan_plain_result(int *a, int *b, int n)
{
	__shared__ int s[64];
	volatile int *v = s;
	v[T] = 0;
	v[T + 32] = a[T];
	v[T + 32] += v[T + 31];
	v[T + 32] += v[T + 30];
	s[T] = v[T + 32];
	__syncwarp();
	b[T] = s[31 - T];
}
//: clean 1 x 32
extern "C" __global__ void lanes_by_shuffle(int *a, int *b, int n)
{
	int v = a[T];
	for (int d = 16; d > 0; d >>= 1)
		v += __shfl_xor_sync(0xffffffffu, v, d);
	b[T] = v;
}
//: race 1 x 32
extern "C" __global__ void one_store_two_values(int *a, int *b, int n)
{
	b[T / 2] = T;
}
//: clean 1 x 32
extern "C" __global__ void one_store_one_value(int *a, int *b, int n)
{
	b[T / 2] = T / 2;
}
//: race 1 x 32
extern "C" __global__ void arms_of_a_branch(int *a, int *b, int n)
{
	__shared__ int s[32];
	s[T] = 0;
	__syncwarp();
	if (T < 16)
		s[T] = a[T];
	else
		b[T] = s[T - 16];
}
//: clean 1 x 32
extern "C" __global__ void arms_of_a_branch_apart(int *a, int *b, int n)
{
	__shared__ int s[32];
	s[T] = 0;
	__syncwarp();
	if (T < 16)
		s[T] = a[T];
	__syncwarp();
	if (T >= 16)
		b[T] = s[T - 16];
}
//: clean 1 x 32
extern "C" __global__ void half_warps(int *a, int *b, int n)
{
	__shared__ int s[32];
	if (T < 16) {
		s[T] = a[T];
		__syncwarp(0x0000ffffu);
		b[T] = s[15 - T];
	} else {
		s[T] = a[T];
		__syncwarp(0xffff0000u);
		b[T] = s[47 - T];
	}
}
//: race 1 x 32
extern "C" __global__ void half_warps_that_meet(int *a, int *b, int n)
{
	__shared__ int s[32];
	if (T < 16) {
		s[T] = a[T];
		__syncwarp(0x0000ffffu);
		b[T] = s[15 - T];
	} else {
		s[T] = a[T];
		__syncwarp(0xffff0000u);
		b[T] = s[31 - T];
	}
}
//: race 1 x 32
extern "C" __global__ void counter_of_a_warp(int *a, int *b, int n)
{
	b[0] += a[T];
}
//: clean 1 x 32
extern "C" __global__ void counter_of_a_warp_by_atomic(int *a, int *b, int n)
{
	atomicAdd(&b[0], a[T]);
}
//: clean 1 x 32
extern "C" __global__ void leader_adds(int *a, int *b, int n)
{
	const unsigned odd = __ballot_sync(0xffffffffu, a[T] & 1);
	if (T == 0)
		b[0] += __popc(odd);
}
//: race 1 x 32
extern "C" __global__ void global_lanes_without_sync(int *a, int *b, int n)
{
	b[T] = a[T];
	b[T + 32] = b[31 - T];
}
//: clean 1 x 32
extern "C" __global__ void global_lanes_with_sync(int *a, int *b, int n)
{
	b[T] = a[T];
	__syncwarp();
	b[T + 32] = b[31 - T];
}
//: race 2 x 32
extern "C" __global__ void transpose_in_a_warp(int *a, int *b, int n)
{
	__shared__ int s[32][33];
	for (int i = 0; i < 32; i++)
		s[i][T] = a[i * 32 + T];
	for (int i = 0; i < 32; i++)
		b[blockIdx.x * 1024 + i * 32 + T] = s[T][i];
}
//: clean 2 x 32
extern "C" __global__ void transpose_in_a_warp_with_sync(int *a, int *b, int n)
{
	__shared__ int s[32][33];
	for (int i = 0; i < 32; i++)
		s[i][T] = a[i * 32 + T];
	__syncwarp();
	for (int i = 0; i < 32; i++)
		b[blockIdx.x * 1024 + i * 32 + T] = s[T][i];
}

// lanes that load one word, add and store it again: all sums but one are lost, in one step as well
//: race 1 x 64 "shared-memory race"
extern "C" __global__ void bins_of_a_warp(int *a, int *b, int n)
{
	__shared__ int bin[2][16];
	const int warp = T / 32, lane = T % 32;
	if (lane < 16)
		bin[warp][lane] = 0;
	__syncwarp();
	bin[warp][a[T] % 16] += 1;
	__syncwarp();
	if (lane < 16)
		b[16 * warp + lane] = bin[warp][lane];
}
//: race 1 x 64 "shared-memory race"
extern "C" __global__ void volatile_bins_of_a_warp(int *a, int *b, int n)
{
	__shared__ volatile int bin[2][16];
	const int warp = T / 32, lane = T % 32;
	if (lane < 16)
		bin[warp][lane] = 0;
	__syncwarp();
	bin[warp][a[T] % 16] += 1;
	__syncwarp();
	if (lane < 16)
		b[16 * warp + lane] = bin[warp][lane];
}
// --- meetings in different arms of a branch ---

//: clean 1 x 32
extern "C" __global__ void each_arm_syncs(int *a, int *b, int n)
{
	__shared__ int s[32];
	if (T < 16) {
		s[T] = a[T];
		__syncwarp();
		b[T] = s[T];
	} else {
		__syncwarp();
		b[T] = s[T - 16];
	}
}
// the arms wait for their own lanes only
//: race 1 x 32 "with no __syncwarp() between"
extern "C" __global__ void each_arm_syncs_itself(int *a, int *b, int n)
{
	__shared__ int s[32];
	if (T < 16) {
		s[T] = a[T];
		__syncwarp(0xffff);
		b[T] = s[T];
	} else {
		__syncwarp(0xffff0000);
		b[T] = s[T - 16];
	}
}
// a second time round without waiting for those who read
//: race 1 x 32 "with no __syncwarp() between"
extern "C" __global__ void stores_while_others_read(int *a, int *b, int n)
{
	__shared__ int s[32];
	int v = 0;
	if (T < 16)
		for (int i = 0; i < 4; i++) {
			s[T] = a[T + i];
			__syncwarp();
		}
	else
		for (int i = 0; i < 4; i++) {
			__syncwarp();
			v += s[T - 16];
		}
	b[T] = v;
}
//: clean 1 x 32
extern "C" __global__ void stores_when_others_have_read(int *a, int *b, int n)
{
	__shared__ int s[32];
	int v = 0;
	if (T < 16)
		for (int i = 0; i < 4; i++) {
			s[T] = a[T + i];
			__syncwarp();
			__syncwarp();
		}
	else
		for (int i = 0; i < 4; i++) {
			__syncwarp();
			v += s[T - 16];
			__syncwarp();
		}
	b[T] = v;
}
// a shuffle in each arm orders them as well
//: clean 1 x 32
extern "C" __global__ void each_arm_shuffles(int *a, int *b, int n)
{
	__shared__ int s[32];
	int v;
	if (T < 16) {
		s[T] = a[T];
		v = __shfl_sync(~0u, a[T], T + 16);
	} else {
		v = __shfl_sync(~0u, a[2 * T], T - 16);
		v += s[T - 16];
	}
	b[T] = v;
}
// those who go round more often leave the others behind
//: clean 1 x 32
extern "C" __global__ void halves_that_shrink(int *a, int *b, int n)
{
	__shared__ int s[32];
	s[T] = a[T];
	__syncwarp();
	for (int half = 16; half; half >>= 1)
		if (T < half) {
			s[T] += s[T + half];
			__syncwarp();
		}
	if (T == 0)
		b[0] = s[0];
}
// lanes that have ended take no part
//: race 1 x 32 "no __syncwarp() between"
extern "C" __global__ void sync_of_those_who_are_left(int *a, int *b, int n)
{
	__shared__ int s[32];
	s[T] = a[T] + 1;
	if (T >= 16)
		return;
	__syncwarp(0xffff);
	b[T] = s[31 - T];
}
//: clean 1 x 32
extern "C" __global__ void sync_before_some_end(int *a, int *b, int n)
{
	__shared__ int s[32];
	s[T] = a[T] + 1;
	__syncwarp();
	if (T >= 16)
		return;
	__syncwarp(0xffff);
	b[T] = s[31 - T];
	__syncwarp(0xffff);
	s[15 - T] = T;
	__syncwarp(0xffff);
	b[T] += s[T];
}
//: clean 1 x 48
extern "C" __global__ void warp_that_is_not_full(int *a, int *b, int n)
{
	__shared__ int s[48];
	s[T] = a[T] + 1;
	__syncwarp();
	b[T] = s[T ^ 1];
}
