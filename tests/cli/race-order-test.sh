#!/bin/sh
# Races of blocks in global memory: a remark where another order of the blocks leaves the same and
# none of them learns of another; else a fault, though the result be right.
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip race-order: no nvcc here to compile programs'
	exit 0
}
cd "$dir" || exit 1
cat >races.cu <<'EOF'
#include <cstdio>
#include <cstdlib>
const int N = 1024;
/* a level of a search: many store the same, others look whether it is there */
__global__ void level(int *of, const int *to, int now, int *more)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (of[i] == now)
		for (int k = 0; k < 4; k++)
			if (of[to[4 * i + k]] == -1) {
				of[to[4 * i + k]] = now + 1;
				*more = 1;
			}
}
/* two blocks that load the same sum lose one of their additions, though no order of blocks does */
__global__ void add_one(int *sum)
{
	if (threadIdx.x == 0)
		*sum += 1;
}
/* two that find the same one unmarked count it twice */
__global__ void find_new(const int *which, int *mark, int *found)
{
	int i = which[blockIdx.x * blockDim.x + threadIdx.x] % 8;
	if (mark[i] == -1) {
		mark[i] = 1;
		atomicAdd(found, 1);
	}
}
/* the greatest, but two that find the same one smaller may leave the lesser of theirs */
__global__ void greatest(const int *x, int *most)
{
	int mine = x[blockIdx.x * blockDim.x];
	if (threadIdx.x == 0 && mine > *most)
		*most = mine;
}
/* the one in the middle alone writes: the others know only whether they came before it */
__global__ void middle(int *x)
{
	if (threadIdx.x == 0 && blockIdx.x == 1)
		x[0] = 1;
	if (threadIdx.x == 0 && blockIdx.x != 1)
		atomicAdd(&x[1], x[0]);
}
/* each takes what its neighbour has, or had */
__global__ void smear(int *x)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i)
		x[i] = x[i - 1] + 1;
}
__global__ void last_one(int *x)
{
	*x = blockIdx.x;
}
/* no fence between a value and its flag: in every order of blocks the same here */
__global__ void hand_over(int *value, volatile int *flag, int *out)
{
	if (blockIdx.x == 0) {
		value[threadIdx.x] = threadIdx.x;
		__syncthreads();
		if (threadIdx.x == 0)
			*flag = 1;
	} else {
		while (!*flag)
			;
		out[threadIdx.x] = value[threadIdx.x];
	}
}
/* no fence between a part and the ticket of the block that adds all of them */
__global__ void add_up(const int *x, int *part, unsigned *ticket, int *sum)
{
	__shared__ bool last;
	if (threadIdx.x == 0) {
		part[blockIdx.x] = x[blockIdx.x];
		last = atomicAdd(ticket, 1) == gridDim.x - 1;
	}
	__syncthreads();
	if (last && threadIdx.x == 0)
		for (int i = 0; i < gridDim.x; i++)
			*sum += part[i];
}
/* whether both see what was stored first, or last, is no matter of which block came first */
__global__ void value_and_flag(int *value, int *flag, int *out)
{
	if (blockIdx.x == 0) {
		*value = 9;
		*flag = 1;
	} else {
		int there = *flag;
		out[threadIdx.x] = there ? *value : 9;
	}
}
__global__ void each_asks_the_other(int *mine, int *other, int *out)
{
	if (threadIdx.x == 0) {
		*mine = 1;
		out[*other == 0 ? 0 : 1] = 1;
	} else if (threadIdx.x == 32) {
		*other = 1;
		out[*mine == 0 ? 0 : 1] = 1;
	}
}
/* two marks of a search: who sees the second, but not the first, marks that once more */
__global__ void mark_two(int *of, const int *to, int now)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, k = 2 * (i & 1);
	if (of[i] != now)
		return;
	if (of[to[k]] == -1)
		of[to[k]] = now + 1;
	if (of[to[k + 1]] == -1)
		of[to[k + 1]] = now + 1;
}
/* two flags to leave early: who sees the first looks at no other */
__global__ void leave_early(const int *x, int *found, int *also)
{
	if (*also)
		return;
	if (*found)
		return;
	if (x[blockIdx.x * blockDim.x + threadIdx.x] % 64 == 1) {
		*found = 1;
		*also = 1;
	}
}
/* no barrier between two threads of a block */
__global__ void pass_on(int *x)
{
	int *mine = x + blockIdx.x * blockDim.x;
	mine[threadIdx.x] = threadIdx.x;
	mine[threadIdx.x] += mine[(threadIdx.x + 33) % blockDim.x];
}
int main(int, char **argv)
{
	int *x, *to, *more, *down;
	cudaMallocManaged(&x, 4 * N * sizeof *x);
	cudaMallocManaged(&to, 4 * N * sizeof *to);
	cudaMallocManaged(&more, 64);
	cudaMallocManaged(&down, 4 * N * sizeof *to);
	for (int i = 0; i < 4 * N; i++)
		to[i] = i * 7919 % N, down[i] = 4 * N - i, x[i] = i == 5 ? 0 : -1;
	*more = 0;
	switch (argv[1][0]) {
	case 'l':
		for (int now = 0; now < 8; now++)
			level<<<N / 64, 64>>>(x, to, now, more);
		break;
	case 'b': /* in one block */
		for (int now = 0; now < 8; now++)
			level<<<1, N>>>(x, to, now, more);
		break;
	case '+': add_one<<<16, 64>>>(x); break;
	case 'g': greatest<<<16, 64>>>(to, x); break;
	case 'd': greatest<<<16, 64>>>(down, x); break;
	case 'f': find_new<<<16, 64>>>(to, x, more); break;
	case 'm': middle<<<3, 64>>>(x); break;
	case 's': smear<<<N / 64, 64>>>(x); break;
	case 'o': last_one<<<N / 64, 64>>>(x); break;
	case 'h': hand_over<<<2, 64>>>(x, more, to); break;
	case 'a': add_up<<<16, 64>>>(to, x, (unsigned *)more, more + 1); break;
	case 'v': value_and_flag<<<2, 1>>>(x + N, more, to); break;
	case 'e': each_asks_the_other<<<1, 64>>>(x + N, x + N + 64, to); break;
	case 't': /* the first two blocks have 2s at their ends, which mark the same two */
		for (int i = 0; i < 4; i++)
			to[i] = i % 3 ? 70 : 8;
		for (int i = 0; i < 128; i += 63)
			x[i] = 2;
		mark_two<<<2, 64>>>(x, to, 2);
		break;
	case 'y': leave_early<<<16, 64>>>(down, more, more + 1); break;
	case 'p': pass_on<<<N / 64, 64>>>(x); break;
	}
	printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
	cudaFree(x), cudaFree(to), cudaFree(more), cudaFree(down);
	return 0;
}
EOF
nvcc -O3 -lineinfo -cudart shared -o races races.cu || exit 1
for kind in of-a-level:l of-a-level-in-one-block:b two-marks:t early-leave:y; do
	run "race-${kind%:*}" 0 launches ./races -- "${kind#*:}"
	grep -q '^- race' err && grep -q 'from the last to the first' err &&
		ok "race-${kind%:*}-is-told" || not_ok "race-${kind%:*}-is-told" "$(cat err)"
done
for kind in lost-update:+ greatest:g greatest-first:d counted-twice:f smear:s other-values:o no-fence:h no-fence-before-ticket:a no-barrier:p middle:m value-and-flag:v each-asks-the-other:e; do
	run "race-${kind%:*}" 1 launches ./races -- "${kind#*:}"
	grep -q '^! race' err && ok "race-${kind%:*}-is-told" || not_ok "race-${kind%:*}-is-told" "$(cat err)"
done

# a name of some hundred letters leaves room for the rest
cat >long.cu <<'EOF'
namespace a_library_of_algorithms { namespace its_details_for_one_kind_of_device {
template <class First, class Second> struct pair_of_two_different_iterators { First *x; };
template <class T> __global__ void moves_to_the_left(T x)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x, v = x.x[i + 1];
	x.x[i] = v;
}
}}
using namespace a_library_of_algorithms::its_details_for_one_kind_of_device;
typedef pair_of_two_different_iterators<int, long> simple;
typedef pair_of_two_different_iterators<int, pair_of_two_different_iterators<simple, unsigned>> nested;
int main()
{
	int *x, h[513];
	for (int i = 0; i < 513; i++)
		h[i] = i;
	cudaMalloc(&x, sizeof h);
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
	moves_to_the_left<<<512, 1>>>(pair_of_two_different_iterators<int, pair_of_two_different_iterators<nested, simple>>{ x });
	cudaDeviceSynchronize();
	return cudaFree(x);
}
EOF
run long-name 1 launches long.cu
grep -q 'long.cu:[56]: moves_to_the_left: global-memory race.* nothing orders the two blocks' err && ok long-name-leaves-room || not_ok long-name-leaves-room "$(cat err)"

# a load that the compiler moved has no source line of its own; without line tables both sides have
# lines of PTX
cat >flag.cu <<'EOF'
__global__ void waits(int *flag, int *data)
{
	if (blockIdx.x == 0) {
		data[0] = 42;
		__threadfence();
		*flag = 1;
	} else {
		while (*flag == 0)
			;
		__threadfence();
		data[1] = data[0];
	}
}
int main()
{
	int *flag, *data;
	cudaMalloc(&flag, 4);
	cudaMalloc(&data, 8);
	cudaMemset(flag, 0, 4);
	waits<<<2, 1>>>(flag, data);
	cudaDeviceSynchronize();
	cudaFree(flag);
	return cudaFree(data);
}
EOF
run moved-load 1 launches flag.cu
grep -q 'flag.cu:8: waits: global-memory race.* the store of line 6 by' err && ok moved-load-has-a-line || not_ok moved-load-has-a-line "$(cat err)"
nvcc -o no-lines long.cu
run no-lines 1 launches ./no-lines
grep -q 'PTX line [1-9][0-9]*: global-memory race.* of PTX line [1-9][0-9]* by' err && ok no-lines-but-of-ptx || not_ok no-lines-but-of-ptx "$(cat err)"
