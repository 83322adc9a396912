#!/bin/sh
# Shared memory that is read without a value: an error where something follows from it, a note where
# the value is dropped.
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip unset-shared: no nvcc here to compile programs'
	exit 0
}
cd "$dir" || exit 1

# 96 threads: three partial sums; the first warp scans 32 of them and three are used. The second kernel
# gives the sum of all 32 out, the third only prints it, the fourth asks it which way to go.
cat >sums.cu <<'EOF'
#include <cstdio>
#include <cstdlib>
__device__ int scan(int v, int lane)
{
	for (int i = 1; i < 32; i *= 2) {
		int n = __shfl_up_sync(0xffffffffu, v, i);
		v += lane >= i ? n : 0;
	}
	return v;
}
template <int HOW> __global__ void sums(const int *x, int *out)
{
	__shared__ int part[32];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32, v = scan(x[threadIdx.x], lane);
	if (lane == 31)
		part[warp] = v;
	__syncthreads();
	if (warp == 0)
		part[lane] = scan(part[lane], lane);
	__syncthreads();
	out[threadIdx.x] = v + (warp ? part[warp - 1] : 0);
	if (HOW == 1 && threadIdx.x == 0)
		out[0] = part[31];
	if (HOW == 2 && threadIdx.x == 0)
		printf("all %d\n", part[31]);
	if (HOW == 3 && threadIdx.x == 0)
		out[96 + (part[31] & 1)] = 7;
}
int main(int argc, char **argv)
{
	int how = atoi(argv[1]), h[96], *x, *out;
	for (int i = 0; i < 96; i++)
		h[i] = i;
	cudaMalloc(&x, sizeof h);
	cudaMalloc(&out, 98 * sizeof *out);
	cudaMemset(out, 0, 98 * sizeof *out);
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
	how == 0   ? sums<0><<<1, 96>>>(x, out)
	: how == 1 ? sums<1><<<1, 96>>>(x, out)
	: how == 2 ? sums<2><<<1, 96>>>(x, out)
	           : sums<3><<<1, 96>>>(x, out);
	cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
	printf("last %d\n", h[95]);
	cudaFree(x);
	cudaFree(out);
}
EOF
run value-is-dropped 0 launches sums.cu --json -- 0
same dropped-is-a-note false "$(field "$dir/out" faults 0 error)"
same dropped-kind uninitialised "$(field "$dir/out" faults 0 kind)"
same dropped-remedy 'none is needed: with other bytes there the launch leaves the same' \
	"$(field "$dir/out" faults 0 remedy)"
for how in 1 2 3; do
	run "value-is-used-$how" 1 launches sums.cu --json -- $how
	same "used-is-an-error-$how" true "$(field "$dir/out" faults 0 error)"
	same "used-kind-$how" uninitialised "$(field "$dir/out" faults 0 kind)"
done
# what the copy of the program does is no part of the program: nothing is printed twice
same printed-once 1 "$("$PMPP" launches sums.cu -- 2 2>/dev/null | grep -c '^all ')"

# with other bytes there the second block of a cluster never ends: that copy of the program ends
# when nobody waits for it any more
cat >trusting.cu <<'EOF'
__global__ void __cluster_dims__(2) trusting(int *out, int odd)
{
	__shared__ int s[64];
	if (odd)
		s[threadIdx.x] = odd;
	while (blockIdx.x && !(s[0] & 1))
		atomicAdd(&out[1], 1);
	out[0] = 1;
}
int main()
{
	int *out;
	cudaMalloc(&out, 8);
	cudaMemset(out, 0, 8);
	trusting<<<2, 64>>>(out, 0);
	cudaDeviceSynchronize();
	return cudaFree(out);
}
EOF
nvcc -O3 -cudart shared -arch=sm_90 -o "trusting.$$" trusting.cu || exit 1
run a-copy-that-never-ends 1 launches "./trusting.$$" --gpu h200 --level ptx --timeout 60
same it-is-not-waited-for 0 "$(grep -c 'still runs' err)"
left() {
	for process in /proc/[0-9]*; do
		[ "$(readlink "$process/exe")" != "$dir/trusting.$$" ] || echo "${process#/proc/}"
	done
}
for turn in 1 2 3 4 5; do
	[ -z "$(left)" ] || sleep 1
done
same no-copy-is-left '' "$(left)"
for process in $(left); do
	kill -9 "$process"
done
