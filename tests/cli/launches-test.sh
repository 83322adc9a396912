#!/bin/sh
# Whole programs: several files and nvcc's options, the runtime linked in, errors. Every program of
# tests/programs by itself: programs-*-test.sh.
. "$(dirname "$0")/lib.sh"
programs=$TEST_ROOT/tests/programs
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

nvcc=$(command -v nvcc || true)
[ -n "$nvcc" ] || {
	echo 'skip whole-programs: no nvcc here to compile them'
	exit 0
}

# several files, nvcc's options, standard input, OpenMP, a child process
(cd "$programs/several" && printf 'one\ntwo\n' |
	"$PMPP" launches main.cu scale.cu host_part.cpp -Iinclude -DFACTOR=3 -std=c++17 -O1 \
		-Xcompiler -fopenmp -- hello) >"$work/several" 2>"$work/err"
[ $? -eq 0 ] && grep -qx 'hello: 2 lines, total 4032, host 2' "$work/several" &&
	grep -qx 'child ended with 7' "$work/several" && echo 'ok several-files' || {
	echo 'not ok several-files'
	cat "$work/several" "$work/err"
}
# a program that is none of CUDA's
"$PMPP" launches /bin/true >"$work/true" 2>&1
if [ $? -eq 0 ] && grep -q 'made no CUDA call' "$work/true" && grep -q 'launches kernels' "$work/true"; then
	echo 'ok no-cuda-call'
else
	echo 'not ok no-cuda-call' && cat "$work/true"
fi
# a library of machine code is refused by its name, with the remedy
printf '#include <cublas_v2.h>\nint main() { cublasHandle_t h; return cublasCreate(&h); }\n' >"$work/blas.cu"
"$PMPP" launches "$work/blas.cu" -lcublas >/dev/null 2>"$work/err"
case $?:$(cat "$work/err") in
3:*libcublas*'on a machine with an NVIDIA GPU'*) echo 'ok library-is-refused' ;;
1:*cublas_v2.h*) echo 'skip library-is-refused: no cuBLAS header here' ;;
*) echo 'not ok library-is-refused' && cat "$work/err" ;;
esac

# (the runtime of a sanitizer cannot come after one that is linked into the program)
static='vector_add graphs managed_list'
(ulimit -v 20000000 && "$PMPP" --version) >/dev/null 2>&1 || {
	echo 'skip static: with a sanitizer in it the runtime takes no program that has its own'
	static=
}
for name in $static; do
	"$nvcc" -O1 -cudart static -gencode 'arch=compute_90,code=[sm_90,compute_90]' \
		-o "$work/$name" "$programs/$name.cu" 2>/dev/null
	"$PMPP" launches "$work/$name" --gpu h200 2>/dev/null | grep -q "^$name: passed" &&
		echo "ok static-$name" || echo "not ok static-$name"
done

# an out-of-bounds read is named, the program goes on, and the status tells
"$PMPP" launches "$programs/out_of_bounds.cu" -O1 --gpu h200 --json >"$work/json" 2>/dev/null
status=$?
[ "$status" -eq 1 ] && grep -q '"kind": "out-of-bounds"' "$work/json" &&
	echo 'ok out-of-bounds-is-named' || echo "not ok out-of-bounds-is-named (status $status)"
# so are reads and writes behind the end of a large buffer, in every launch: its page goes on there
cat >"$work/ragged.cu" <<'END'
#include <cstdio>
#define N 1000
__global__ void down(const float *in, float *out)
{
	const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
	if (column < N)
		out[row * N + column] = in[row * N + column] + 1;
}
int main()
{
	float *one, *two, *last;
	cudaMalloc(&one, N * N * 4);
	cudaMalloc(&two, N * N * 4);
	cudaMalloc(&last, 4);
	cudaMemset(one, 0, N * N * 4);
	cudaMemset(last, 0, 4);
	for (int i = 0; i < 4; i++) {
		down<<<dim3(63, 63), dim3(16, 16)>>>(one, two);
		float *other = one;
		one = two, two = other;
	}
	float value, kept;
	cudaMemcpy(&value, one + N * N - 1, 4, cudaMemcpyDeviceToHost);
	cudaMemcpy(&kept, last, 4, cudaMemcpyDeviceToHost);
	printf("%g %g %s\n", value, kept, cudaGetErrorName(cudaGetLastError()));
	cudaFree(one);
	cudaFree(two);
	cudaFree(last);
}
END
# (a busy machine may not have the time for machine code of all launches)
"$PMPP" launches "$work/ragged.cu" --gpu h200 --level ptx --json >"$work/json" 2>/dev/null
same ragged-status 1 $? && same ragged-goes-on '4 0 cudaSuccess\n' "$(field "$work/json" stdout)" &&
	same ragged-is-named out-of-bounds "$(field "$work/json" launches 0 faults 0 kind)" &&
	same ragged-counts-of 2 "$(field "$work/json" launches 3 counts_of)" &&
	same ragged-metrics-are-shared "$(field "$work/json" launches 0 metrics inst.warp_executed value)" \
		"$(field "$work/json" launches 3 metrics inst.warp_executed value)"
# doubles of all patterns that half warps have
cat >"$work/doubles.cu" <<'END'
#include <cstdio>
__global__ void product(const double *a, const double *b, double *c, int n)
{
	const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
	double sum = 0;
	for (int k = 0; k < n; k++)
		sum += a[row * n + k] * b[k * n + column];
	c[row * n + column] = sum;
}
int main()
{
	const int n = 128;
	static double a[n * n], b[n * n], c[n * n];
	double *da, *db, *dc;
	cudaMalloc(&da, sizeof a);
	cudaMalloc(&db, sizeof b);
	cudaMalloc(&dc, sizeof c);
	for (int i = 0; i < n * n; i++) {
		a[i] = i % 13 - 6;
		b[i] = i % 11 - 5;
	}
	cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
	cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
	const dim3 shapes[] = { dim3(32, 8), dim3(16, 16), dim3(8, 8), dim3(4, 16), dim3(2, 32), dim3(1, 64) };
	for (const dim3 &s : shapes) {
		product<<<dim3(n / s.x, n / s.y), s>>>(da, db, dc, n);
		cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost);
		int wrong = 0;
		for (int i = 0; i < n * n; i++) {
			double sum = 0;
			for (int k = 0; k < n; k++)
				sum += a[i / n * n + k] * b[k * n + i % n];
			wrong += sum != c[i];
		}
		printf("%d ", wrong);
	}
	cudaFree(da);
	cudaFree(db);
	cudaFree(dc);
}
END
"$PMPP" launches "$work/doubles.cu" --gpu h200 --json >"$work/json" 2>/dev/null
same doubles-status 0 $? && same doubles '0 0 0 0 0 0 ' "$(field "$work/json" stdout)"
# a race is a fault of its launch, unless nobody is to look for one
cat >"$work/racy.cu" <<'END'
#include <cstdio>
__global__ void early(int *out)
{
	__shared__ int s[64];
	s[63 - threadIdx.x] = 0;
	__syncthreads();
	s[threadIdx.x] = threadIdx.x;
	out[threadIdx.x] = s[63 - threadIdx.x];
}
int main()
{
	int *out;
	cudaMalloc(&out, 256);
	early<<<1, 64>>>(out);
	printf("%d\n", cudaDeviceSynchronize());
	cudaFree(out);
}
END
"$PMPP" launches "$work/racy.cu" --gpu h200 --json >"$work/json" 2>/dev/null
[ $? -eq 1 ] && same race-kind race "$(field "$work/json" launches 0 faults 0 kind)" &&
	same race-line 7 "$(field "$work/json" launches 0 faults 0 line)" &&
	same race-flag race "$(field "$work/json" launches 0 flags 0)" &&
	same race-blocks 1 "$(field "$work/json" launches 0 races blocks_checked)" || echo 'not ok race-status'
"$PMPP" launches "$work/racy.cu" --gpu h200 --json --no-races >"$work/json" 2>/dev/null
[ $? -eq 0 ] && same race-off '' "$(field "$work/json" launches 0 races blocks)" || echo 'not ok race-off-status'
# the guess of a compare-and-swap loop is told, and fails no program
cat >"$work/largest.cu" <<'END'
__device__ float most;
__global__ void largest(const float *x)
{
	int *word = (int *)&most, old = *word, guess;
	do {
		guess = old;
		old = atomicCAS(word, guess, __float_as_int(fmaxf(x[threadIdx.x], __int_as_float(guess))));
	} while (old != guess);
}
int main()
{
	float x[64], *on_gpu, found = 0;
	for (int i = 0; i < 64; i++)
		x[i] = i * 37 % 64;
	cudaMalloc(&on_gpu, sizeof x);
	cudaMemcpy(on_gpu, x, sizeof x, cudaMemcpyHostToDevice);
	largest<<<1, 64>>>(on_gpu);
	cudaMemcpyFromSymbol(&found, most, sizeof found);
	cudaFree(on_gpu);
	return cudaGetLastError() || found != 63;
}
END
"$PMPP" launches "$work/largest.cu" --gpu h200 --json >"$work/json" 2>/dev/null
[ $? -eq 0 ] && same guess-is-a-remark race "$(field "$work/json" launches 0 faults 0 kind)" ||
	echo 'not ok guess-is-a-remark'
# a launch that failed: the program that waits for it is told, the one that asks nothing is not
cat >"$work/fails.cu" <<'END'
__global__ void stops() { asm("trap;"); }
int main()
{
	stops<<<1, 1>>>();
	return WAIT;
}
END
for way in 'cudaDeviceSynchronize()==0:- unchecked-error' '0:! unchecked-error'; do
	"$PMPP" launches "$work/fails.cu" "-DWAIT=${way%%:*}" >/dev/null 2>"$work/err"
	[ $? -eq 1 ] && grep -q "^${way#*:}" "$work/err" && echo "ok error-told-${way%%:*}" || {
		echo "not ok error-told-${way%%:*}" && cat "$work/err"
	}
done
# one that was given a stream which is gone is made by nobody, and that is told
cat >"$work/gone.cu" <<'END'
__global__ void nothing() {}
int main()
{
	cudaStream_t s;
	cudaStreamCreate(&s);
	cudaStreamDestroy(s);
	nothing<<<1, 1, 0, s>>>();
	return cudaDeviceSynchronize();
}
END
"$PMPP" launches "$work/gone.cu" >/dev/null 2>"$work/err"
[ $? -eq 1 ] && grep -q '^! unchecked-error (launch 1): .*"invalid resource handle"' "$work/err" && echo 'ok stream-is-gone' || {
	echo 'not ok stream-is-gone' && cat "$work/err"
}
# a grid that waits for all its blocks without a cooperative launch stops itself, and what is missing
# is named
cat >"$work/alone.cu" <<'END'
#include <cooperative_groups.h>
__global__ void wait_for_all() { cooperative_groups::this_grid().sync(); }
int main()
{
	wait_for_all<<<2, 1>>>();
	return cudaDeviceSynchronize() != cudaErrorLaunchFailure;
}
END
"$PMPP" launches "$work/alone.cu" >/dev/null 2>"$work/err"
[ $? -eq 1 ] && grep -q '^! trap' "$work/err" &&
	grep -q 'without cudaLaunchCooperativeKernel()' "$work/err" && echo 'ok grid-not-cooperative' || {
	echo 'not ok grid-not-cooperative' && cat "$work/err"
}
# a kernel that waits for the clock takes the time it waits for
cat >"$work/wait.cu" <<'END'
#include <cstdio>
__global__ void wait(long long cycles)
{
	const long long start = clock64();
	while (clock64() - start < cycles)
		;
}
int main()
{
	cudaEvent_t from, to;
	float ms;
	int khz;
	cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0);
	cudaEventCreate(&from);
	cudaEventCreate(&to);
	cudaEventRecord(from);
	wait<<<1, 1>>>(10LL * khz);
	cudaEventRecord(to);
	cudaEventSynchronize(to);
	cudaEventElapsedTime(&ms, from, to);
	printf("%s\n", ms > 8 && ms < 13 ? "as long as it said" : "another time");
	return printf("%g ms\n", ms) < 0;
}
END
"$PMPP" launches "$work/wait.cu" --gpu a100 >"$work/out" 2>/dev/null
same waits-for-the-clock 'as long as it said' "$(head -n 1 "$work/out")" || cat "$work/out"
# what is never freed names the line that asked for it, through the template of NVIDIA's header or not
cat >"$work/forgets.cu" <<'END'
int main()
{
	float *x;
	void *y;
	cudaMalloc(&x, 400);
	cudaMalloc(&y, 300);
	return 0;
}
END
"$PMPP" launches "$work/forgets.cu" --gpu a100 --json >"$work/json" 2>/dev/null
for way in 400:5 300:6; do
	grep -q "${way%:*} bytes of device memory are never freed; allocated at .*forgets.cu:${way#*:}\"" "$work/json" &&
		echo "ok leak-names-line-${way#*:}" || echo "not ok leak-names-line-${way#*:}"
done

"$PMPP" launches "$work/absent" >/dev/null 2>"$work/err"
[ $? -eq 2 ] && grep -q absent "$work/err" && echo 'ok absent-program' || echo 'not ok absent-program'
printf '#!/bin/sh\n' >"$work/script"
chmod +x "$work/script"
"$PMPP" launches "$work/script" >/dev/null 2>"$work/err"
[ $? -eq 2 ] && grep -q ELF "$work/err" && echo 'ok script-is-refused' || echo 'not ok script-is-refused'
printf '#include <helper_gl.h>\nint main() {}\n' >"$work/sample.cu"
"$PMPP" launches "$work/sample.cu" >/dev/null 2>"$work/err"
[ $? -eq 1 ] && grep -q 'helper_gl.h belongs to.*-I/path/to' "$work/err" &&
	echo 'ok header-of-the-samples' || { echo 'not ok header-of-the-samples' && cat "$work/err"; }
printf 'int main() {}\n' >"$work/none.cu"
"$PMPP" launches "$work/none.cu" -lnot_there >/dev/null 2>"$work/err"
[ $? -eq 1 ] && grep -q 'the folder of libnot_there with -L' "$work/err" &&
	echo 'ok missing-library' || { echo 'not ok missing-library' && cat "$work/err"; }
cat >"$work/nested.cu" <<'EOF'
__global__ void child() {}
__global__ void parent() { child<<<1, 1>>>(); }
int main()
{
	parent<<<1, 1>>>();
	return cudaDeviceSynchronize() != cudaGetLastError();
}
EOF
"$PMPP" launches "$work/nested.cu" -rdc=true -lcudadevrt >/dev/null 2>"$work/err"
[ $? -eq 0 ] && grep -q 'child .* by a kernel' "$work/err" && echo 'ok launches-by-kernels' || {
	echo 'not ok launches-by-kernels' && cat "$work/err"
}
printf '__global__ void k() { int x = ; }\nint main() { k<<<1,1>>>(); }\n' >"$work/bad.cu"
"$PMPP" launches "$work/bad.cu" >/dev/null 2>"$work/err"
[ $? -eq 1 ] && grep -q 'bad.cu(1): error' "$work/err" && echo 'ok compile-error' || echo 'not ok compile-error'
# a loop that times one launch: it runs once, and once more with its data in L2, also where the host
# could write the memory; what is added in place runs every time, and the host's own write is seen
cat >"$work/timed.cu" <<'CUDA'
#include <cstdio>
__managed__ int seen;
__global__ void twice(const int *in, int *out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }
__global__ void add(int *x) { x[threadIdx.x] += seen; }
int main()
{
	int *in, *out, host[32] = { 1, 2, 3 };
	cudaMalloc(&in, sizeof host);
	cudaMalloc(&out, sizeof host);
	cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
	for (int i = 0; i < 5; i++)
		twice<<<1, 32>>>(in, out);
	for (seen = 1; seen <= 3; seen++)
		add<<<1, 32>>>(out), cudaDeviceSynchronize();
	cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
	printf("%d %d %d\n", host[0], host[1], host[2]);
	cudaFree(in), cudaFree(out);
}
CUDA
"$PMPP" launches "$work/timed.cu" --json >"$work/out" 2>"$work/err"
same repeated-launches '8 10 12\n 2 2 2' \
	"$(sed -n 's/.*"stdout": "\([^"]*\)".*/\1/p' "$work/out")$(sed -n 's/.*"same_as": \([0-9]*\).*/ \1/p' "$work/out" | tr -d '\n')"
same repeated-launches-count 3 "$(grep -c '"counts_proved": true' "$work/out")"
# L2 keeps from launch to launch what fits: the first reads what the host sent from memory, the
# second finds it, and so does one behind a set; what the host sends again is read again. Of what is
# larger than L2 nothing is left.
cat >"$work/kept.cu" <<'CUDA'
__global__ void add(float *x, size_t n)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		x[i] += 1;
}
int main()
{
	const size_t n = 1 << 22, many = 1 << 25;
	static float host[n];
	float *x, *y;
	cudaMalloc(&x, n * sizeof *x);
	cudaMalloc(&y, many * sizeof *y);
	cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
	add<<<64, 128>>>(x, n);
	add<<<64, 128>>>(x, n);
	cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
	add<<<64, 128>>>(x, n);
	cudaMemset(x, 0, sizeof host);
	add<<<64, 128>>>(x, n);
	cudaMemset(y, 0, many * sizeof *y);
	for (int i = 0; i < 2; i++)
		add<<<1024, 128>>>(y, many);
	add<<<64, 128>>>(x, n);
	cudaFree(x), cudaFree(y);
}
CUDA
"$PMPP" launches "$work/kept.cu" --gpu h200 --json >"$work/out" 2>"$work/err"
same kept-in-l2 '16 0 16 0 128 128 16' \
	"$(for k in 0 1 2 3 4 5 6; do field "$work/out" launches $k metrics dram.read_bytes value; done |
		awk '{ printf "%s%.0f", (NR > 1 ? " " : ""), $1 / 1048576 }')"
same kept-time-less 1 \
	"$(awk "BEGIN { print $(field "$work/out" launches 1 metrics time.kernel_ns value) < $(field "$work/out" launches 0 metrics time.kernel_ns value) }")"
# Pages of managed memory: they come once, which takes longer the first time, and again where the host
# wrote or read; a prefetch spares them.
cat >"$work/pages.cu" <<'CUDA'
__global__ void add(float *x, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		x[i] += 1;
}
int main()
{
	const int n = 1 << 20;
	float *x;
	cudaMallocManaged(&x, n * sizeof *x);
	for (int i = 0; i < n; i++)
		x[i] = 1;
	for (int k = 0; k < 2; k++)
		add<<<64, 128>>>(x, n), cudaDeviceSynchronize();
	x[5] = 9;
	add<<<64, 128>>>(x, n), cudaDeviceSynchronize();
	for (int i = 0; i < n; i++)
		x[i] = 1;
#if CUDART_VERSION >= 13000
	cudaMemPrefetchAsync(x, n * sizeof *x, cudaMemLocation{ cudaMemLocationTypeDevice, 0 }, 0);
#else
	cudaMemPrefetchAsync(x, n * sizeof *x, 0);
#endif
	add<<<64, 128>>>(x, n), cudaDeviceSynchronize();
	const bool good = *(volatile float *)(x + 7) == 2;
	add<<<64, 128>>>(x, n), cudaDeviceSynchronize();
	cudaFree(x);
	return !good;
}
CUDA
"$PMPP" launches "$work/pages.cu" --gpu h200 --json >"$work/out" 2>"$work/err"
same pages-come '732 0 76 0 76' \
	"$(for k in 0 1 2 3 4; do field "$work/out" launches $k metrics time.pages_ns value; done |
		awk '{ printf "%s%.0f", (NR > 1 ? " " : ""), $1 / 1000 }')"
same pages-decide pages "$(field "$work/out" launches 0 metrics time.bottleneck value)"
# ... and a variable that is declared so
cat >"$work/managed.cu" <<'CUDA'
__managed__ int value = 5;
__global__ void use(int *p) { *p = value; }
int main()
{
	int *p;
	value = 9;
	cudaMalloc(&p, sizeof *p);
	for (int i = 0; i < 2; i++) {
		use<<<1, 1>>>(p);
		cudaDeviceSynchronize();
	}
	cudaFree(p);
}
CUDA
"$PMPP" launches "$work/managed.cu" --gpu h200 --json >"$work/out" 2>"$work/err"
same managed-variable '208 0' "$(for k in 0 1; do field "$work/out" launches $k metrics time.pages_ns value; done |
	awk '{ printf "%s%.0f", (NR > 1 ? " " : ""), $1 / 1000 }')"

# memory of the host that a kernel reads and writes itself: pinned, and the program's own
cat >"$work/mapped.cu" <<'CUDA'
#include <cstdlib>
__global__ void scale(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = 2 * in[i];
}
int main()
{
	const int n = 1 << 20;
	float *pinned, *own = (float *)aligned_alloc(4096, n * 4), *device;
	cudaHostAlloc(&pinned, n * 4, cudaHostAllocMapped);
	cudaHostRegister(own, n * 4, cudaHostRegisterMapped);
	cudaMalloc(&device, n * 4);
	for (int i = 0; i < n; i++)
		pinned[i] = i;
	scale<<<n / 256, 256>>>(pinned, device, n);
	scale<<<n / 256, 256>>>(device, own, n);
	cudaDeviceSynchronize();
	const bool good = own[5] == 20;
	cudaHostUnregister(own);
	cudaFreeHost(pinned);
	cudaFree(device);
	free(own);
	return !good;
}
CUDA
"$PMPP" launches "$work/mapped.cu" --gpu h200 --json >"$work/out" 2>"$work/err"
for k in 0 1; do
	same "mapped-bytes-$k" "$((4194304 * (1 - k))) $((4194304 * k)) 0" \
		"$(for key in host.read_bytes host.write_bytes dram.read_bytes; do
			field "$work/out" launches $k metrics $key value
		done | cut -d. -f1 | paste -sd' ')"
	same "mapped-decides-$k" 'host memory' "$(field "$work/out" launches $k metrics time.bottleneck value)"
done
# the long name of a library's kernel leaves what is refused, and why, to be read
cat >"$dir/long_name.cu" <<'EOF2'
template <int... N> struct numbers {};
template <class... T> __global__ void with_a_long_name(int *x)
{
	asm volatile("tcgen05.fence::before_thread_sync;");
	x[0] = sizeof...(T);
}
int main()
{
	int *x;
	cudaMalloc(&x, 4);
	with_a_long_name<numbers<1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17>,
	                 numbers<21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35>><<<1, 1>>>(x);
	return cudaDeviceSynchronize() != cudaErrorNotSupported;
}
EOF2
run long-name 1 launches "$dir/long_name.cu" -arch=sm_100a --gpu b200
grep -q "with_a_long_name: 'tcgen05.fence::before_thread_sync' (PTX line" "$dir/err" && ok long-name-leaves-room ||
	not_ok long-name-leaves-room "$(cat "$dir/err")"
