#!/bin/sh
# Memory used in the wrong order by programs: read before anything is written there, read by the host
# before it has waited for the kernel; and where memory was allocated that an access misses.
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip program-memory: no nvcc here to compile programs'
	exit 0
}
cd "$dir" || exit 1
findings() { # file option...: "mark kind (launch n) line", a line each
	"$PMPP" launches "$@" 2>err >out
	sed -n 's/^\([!-]\) \([a-z-]*\) (launch \([0-9]*\)).*\.cu:\([0-9]*\): .*/\1 \2 \3 line \4/p' err
}
cat >unset.cu <<'EOF'
__global__ void both(float *x, float *y) { x[threadIdx.x] = 1; y[threadIdx.x] = x[threadIdx.x]; }
__global__ void sum(const float *x, float *s) { atomicAdd(s, x[threadIdx.x]); }
__global__ void add(float *x) { x[threadIdx.x] += 1; }
__global__ void past(int *x) { x[threadIdx.x + 8] = 1; }
int main()
{
	float *x, *y, *s, *z, *part;
	int *small;
	cudaMalloc(&x, 128);
	cudaMalloc(&y, 128);
	cudaMalloc(&s, 4);
	cudaMalloc(&z, 128);
	cudaMalloc(&part, 128);
	cudaMalloc(&small, 128);
	both<<<1, 32>>>(x, y);
	sum<<<1, 32>>>(x, s);
	add<<<1, 32>>>(z);
	add<<<1, 32>>>(z);
	cudaMemset(s, 0, 4);
	sum<<<1, 32>>>(y, s);
	cudaMemset(part, 0, 64); // the rest may be of no use
	add<<<1, 32>>>(part);
	past<<<1, 32>>>(small);
	cudaFree(x), cudaFree(y), cudaFree(s), cudaFree(z), cudaFree(part), cudaFree(small);
}
EOF
for level in sass ptx; do
	same "never-written-$level" '! uninitialised 2 line 2
- uninitialised 3 line 3' "$(findings unset.cu --level "$level" | grep uninit)"
done
cat >exchanged.cu <<'EOF'
__global__ void only_stores(int *x) { atomicExch(x, 1); }
__global__ void takes_what_was_there(int *x, int *y) { y[0] = atomicExch(x, 1); }
int main()
{
	int *x, *y, *z;
	cudaMalloc(&x, 4);
	cudaMalloc(&y, 4);
	cudaMalloc(&z, 4);
	only_stores<<<1, 32>>>(x);
	takes_what_was_there<<<1, 1>>>(y, z);
	cudaFree(x), cudaFree(y), cudaFree(z);
}
EOF
same exchanged-for-nothing '! uninitialised 2 line 2' "$(findings exchanged.cu | grep uninit)"
findings unset.cu >/dev/null
same misses-name-where 1 "$(grep -c '^! out-of-bounds (launch 7).*; allocated at .*unset.cu:14$' err)"
same unset-names-where 1 "$(grep -c '^! uninitialised.*; allocated at .*unset.cu:11$' err)"
# pointers to nothing, to memory that was freed, to the host's own
cat >wrong_pointers.cu <<'EOF'
#include <cstdlib>
#include <vector>
__global__ void add(int *x) { x[threadIdx.x] += 1; }
int main(int argc, char **argv)
{
	int *x, local[32];
	std::vector<int> v(32);
	switch (atoi(argv[1])) {
	case 0: add<<<1, 32>>>(nullptr); break;
	case 1: add<<<1, 32>>>(v.data()); break;
	case 2: add<<<1, 32>>>(local); break;
	case 3:
		cudaMalloc(&x, 128);
		cudaFree(x);
		add<<<1, 32>>>(x);
		cudaDeviceSynchronize();
		cudaFree(x);
	}
	cudaDeviceSynchronize();
}
EOF
met() { # pattern argument
	"$PMPP" launches wrong_pointers.cu -- "$2" 2>&1 | grep -c "$1"
}
same null-pointer 1 "$(met '^! out-of-bounds.*wrong_pointers.cu:3.*address 0x0, of a null pointer;' 0)"
same null-pointer-is-nobodys 0 "$(met 'of a null pointer;.*allocated at' 0)"
same host-vector 1 "$(met '^! out-of-bounds.*: address 0x[0-9a-f]*; .*; it is memory of the host: ' 1)"
same host-variable 1 "$(met '^! out-of-bounds.*; it is memory of the host: ' 2)"
same used-after-free 1 "$(met '^! use-after-free.*; there were 128 bytes, freed at .*:14; allocated at .*:13$' 3)"
same freed-twice 1 "$(met '^! double-free (launch 1): double-free of 0x[0-9a-f]* at .*:17: it was freed before at .*:14$' 3)"
# arrays without memory of their own: a fetch could not say whether a texel is there
cat >sparse.cu <<'EOF'
int main()
{
	cudaArray_t a;
	cudaMipmappedArray_t m;
	const cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
	return cudaMallocArray(&a, &one, 64, 64, cudaArraySparse) != cudaErrorNotSupported ||
	       cudaMallocMipmappedArray(&m, &one, make_cudaExtent(64, 64, 0), 2,
	                                cudaArrayDeferredMapping) != cudaErrorNotSupported;
}
EOF
"$PMPP" launches sparse.cu >sparse.out 2>&1
same sparse-array-named '1 1' "$(grep -c '^! not-served: arrays whose memory is mapped later' sparse.out) $(grep -c 'exit 0$' sparse.out)"
case $PMPP in *address*)
	echo 'skip no-wait: the sanitizer takes faults for its own'
	exit 0
	;;
esac
cat >early.cu <<'EOF'
#include <cstdio>
#include <cstring>
#include <thread>
__global__ void fill(int *m, int v) { m[threadIdx.x] = v; }
__global__ void copy(const int *m, int *to) { to[threadIdx.x] = m[threadIdx.x]; }
__global__ void speak(volatile int *m) { m[1] = 5; __threadfence_system(); m[0] = 1; }
int main()
{
	int *m, *to, *f, got = 0, some[4];
	char text[64];
	cudaStream_t s;
	cudaEvent_t e;
	cudaMallocManaged(&m, 128);
	cudaMallocManaged(&to, 128);
	cudaMallocManaged(&f, 8);
	cudaStreamCreate(&s);
	cudaEventCreate(&e);
	fill<<<1, 32, 0, s>>>(m, 1), cudaStreamSynchronize(s), got += m[3];
	fill<<<1, 32, 0, s>>>(m, 2), cudaEventRecord(e, s), cudaEventSynchronize(e), got += m[3];
	fill<<<1, 32, 0, s>>>(m, 3), cudaEventRecord(e, s);
	while (cudaEventQuery(e) == cudaErrorNotReady)
		;
	got += m[3];
	fill<<<1, 32>>>(m, 4), cudaMemcpy(some, m, sizeof some, cudaMemcpyDefault), got += m[3];
	speak<<<1, 1>>>(f);
	while (!*(volatile int *)f)
		;
	got += f[1], cudaDeviceSynchronize();
	for (int i = 0; i < 50; i++)
		fill<<<1, 32>>>(m, i);
	std::thread([&] { cudaDeviceSynchronize(), got += m[1]; }).join();
	copy<<<1, 32>>>(m, to), got += m[2], cudaDeviceSynchronize(); // both only read m
	fill<<<1, 32>>>(m, 7), cudaGetLastError();
	memcpy(text, m, sizeof text);
	cudaDeviceSynchronize();
	copy<<<1, 32>>>(m, to);
	m[7] = 1;
	cudaDeviceSynchronize();
	for (int i = 0; i < 50; i++)
		fill<<<1, 32>>>(m, i);
	printf("%d %d\n", got, m[9]);
	cudaFree(m), cudaFree(to), cudaFree(f), cudaStreamDestroy(s), cudaEventDestroy(e);
}
EOF
same no-wait '! missing-sync 57 line 34
- missing-sync 58 line 37
! missing-sync 108 line 41' "$(findings early.cu)"
same no-wait-output '113 49' "$(cat out)"
grep -q 'cudaDeviceSynchronize(), or wait' err && ok no-wait-remedy || not_ok no-wait-remedy "$(cat err)"
cat >copies.cu <<'EOF'
#include <cstdio>
#include <cstdlib>
__global__ void add(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
int main()
{
	const int n = 1 << 14, parts = 4;
	float *h, *d, *r = (float *)calloc(n, 4), sum = 0;
	cudaStream_t s[parts];
	cudaEvent_t e[parts];
	cudaMallocHost(&h, n * 4);
	cudaMalloc(&d, n * 4);
	cudaHostRegister(r, n * 4, 0);
	for (int i = 0; i < n; i++)
		h[i] = i % 4;
	for (int i = 0, at = 0; i < parts; i++, at += n / parts) {
		cudaStreamCreate(&s[i]), cudaEventCreate(&e[i]);
		cudaMemcpyAsync(d + at, h + at, n, cudaMemcpyHostToDevice, s[i]);
		add<<<n / parts / 256, 256, 0, s[i]>>>(d + at);
		cudaMemcpyAsync(h + at, d + at, n, cudaMemcpyDeviceToHost, s[i]);
		cudaEventRecord(e[i], s[i]);
	}
	for (int i = 0, at = 0; i < parts; i++) { // each part as soon as it is there
		cudaEventSynchronize(e[i]);
		for (; at < (i + 1) * n / parts; at++)
			sum += h[at];
	}
	cudaMemcpyAsync(h, d, n * 4, cudaMemcpyDeviceToHost, s[0]);
	printf("%g\n", h[3]);
	cudaStreamSynchronize(s[0]);
	cudaMemcpyAsync(d, h, n * 4, cudaMemcpyHostToDevice, s[0]);
	sum += h[5]; // both only read
	h[7] = 2;
	cudaDeviceSynchronize();
	cudaMemcpyAsync(r, d, n * 4, cudaMemcpyDeviceToHost, s[1]);
	printf("%g\n", r[2000]);
	cudaDeviceSynchronize();
	cudaMemcpyAsync(h, d, n * 4, cudaMemcpyDeviceToHost);
	cudaMemcpy(d, h, 4, cudaMemcpyHostToDevice); // waits for what is in the same stream
	printf("%g %g\n", h[9], sum);
	cudaHostUnregister(r), free(r), cudaFreeHost(h), cudaFree(d);
}
EOF
"$PMPP" launches copies.cu 2>err >out
same copies-too-early '! 28
- 32
! 35' "$(sed -n 's/^\([!-]\) missing-sync: .*copies.cu:\([0-9]*\): the host .* asynchronous copy .*copies.cu:[0-9]*$/\1 \2/p' err)"
grep -q 'copies.cu:28: .*allocated at .*copies.cu:10$' err && ok through-two-templates ||
	not_ok through-two-templates "$(cat err)"
# the most that a pool held, since it was set anew
cat >most.cu <<'EOF'
#include <cstdio>
int main()
{
	cudaMemPool_t pool;
	void *a, *b;
	unsigned long long most, zero = 0;
	cudaDeviceGetDefaultMemPool(&pool, 0);
	cudaMallocAsync(&a, 1 << 20, 0);
	cudaMallocAsync(&b, 2 << 20, 0);
	cudaFreeAsync(a, 0);
	cudaDeviceSynchronize();
	cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most);
	printf("%llu", most >> 20);
	cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero);
	cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most);
	printf(" %llu\n", most >> 20);
	cudaFreeAsync(b, 0);
	cudaDeviceSynchronize();
}
EOF
same pool-high '3 2' "$("$PMPP" launches most.cu 2>err)"
# a managed variable is there before the first call; device memory is not the host's
cat >device.cu <<'EOF'
#include <cstdio>
#include <cstring>
__managed__ int first[4];
__global__ void fill(float *x) { x[threadIdx.x] = 3; }
int main(int argc, char **argv)
{
	float *d;
	first[2] = 7;
	cudaMalloc(&d, 128);
	fill<<<1, 32>>>(d);
	cudaDeviceSynchronize();
	printf("%d\n", ++first[2]);
	fflush(stdout);
	if (argc > 1)
		memset(d, 0, 64);
	cudaFree(d);
}
EOF
"$PMPP" launches device.cu >out 2>err
same first-managed '0 8' "$? $(cat out)"
cat >scalar.cu <<'EOF'
int main()
{
	int *d;
	cudaMalloc(&d, sizeof *d);
	*d = 5;
}
EOF
if grep -qw ospke /proc/cpuinfo; then
	"$PMPP" launches scalar.cu 2>err
	same first-allocation '1 1' "$? $(grep -c 'device-memory: .*scalar.cu:5: the host writes to device memory, byte 0 of 4' err)"
	"$PMPP" launches device.cu -- write >out 2>err
	same host-writes-device '1 1' "$? $(grep -c 'device-memory: .*device.cu:15: the host writes to device memory, byte 0 of 128.*device.cu:9$' err)"
	grep -q 'ended by signal 11' err && ok host-ends-as-with-a-gpu || not_ok host-ends-as-with-a-gpu "$(cat err)"
else
	echo 'skip host-writes-device: this processor has no protection keys'
fi
# a graph takes over another one's bodies and outlives it; its numbers go with the device
cat >bodies.cu <<'EOF'
#include <cstdio>
__global__ void add(int *x) { ++*x; }
static cudaGraph_t loop(int *x)
{
	cudaGraph_t g;
	cudaGraphConditionalHandle h = 0;
	cudaGraphNode_t node;
	cudaGraphNodeParams p = {}, k = {};
	void *arguments[] = { &x };
	cudaGraphCreate(&g, 0);
	cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault);
	p.type = cudaGraphNodeTypeConditional;
	p.conditional.handle = h;
	p.conditional.type = cudaGraphCondTypeIf;
	p.conditional.size = 1;
	cudaGraphAddNode(&node, g, nullptr, nullptr, 0, &p);
	k.type = cudaGraphNodeTypeKernel;
	k.kernel.func = (void *)add;
	k.kernel.gridDim = k.kernel.blockDim = dim3(1);
	k.kernel.kernelParams = arguments;
	cudaGraphAddNode(&node, p.conditional.phGraph_out[0], nullptr, nullptr, 0, &k);
	return g;
}
int main()
{
	int *x, *y;
	cudaGraphExec_t exec;
	cudaGraphExecUpdateResultInfo info;
	cudaMallocManaged(&x, 4), cudaMallocManaged(&y, 4);
	cudaGraph_t one = loop(x), two = loop(y);
	cudaGraphInstantiate(&exec, one, 0);
	cudaGraphExecUpdate(exec, two, &info);
	cudaGraphDestroy(one), cudaGraphDestroy(two);
	cudaGraphLaunch(exec, 0), cudaDeviceSynchronize();
	printf("%d %d\n", *x, *y);
	cudaDeviceReset();
	cudaGraphLaunch(exec, 0);
	cudaGraphExecDestroy(exec);
}
EOF
"$PMPP" launches bodies.cu >out 2>err
same bodies-outlive-a-graph '0 0 1' "$? $(cat out)"
cat >crash.cu <<'EOF'
__global__ void fill(int *m) { m[threadIdx.x] = 1; }
int main()
{
	int *m;
	cudaMallocManaged(&m, 128);
	fill<<<1, 32>>>(m);
	return *(volatile int *)8;
}
EOF
run own-fault 1 launches crash.cu
grep -q 'ended by signal 11' err && ok own-fault-told || not_ok own-fault-told "$(cat err)"
# memory of a process that has ended: named, with what to do
cat >ended.cu <<'EOF2'
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>
int main()
{
	cudaIpcMemHandle_t handle;
	int way[2], go[2];
	char c;
	void *m;
	if (pipe(way) || pipe(go) || fork() == 0) {
		if (read(go[0], &c, 1) != 1)
			_exit(1);
		cudaMalloc(&m, 128);
		cudaIpcGetMemHandle(&handle, m);
		_exit(write(way[1], &handle, sizeof handle) != sizeof handle);
	}
	cudaFree(nullptr); // the first to use the GPU is the one that is recorded
	if (write(go[1], "", 1) != 1)
		return 8;
	wait(nullptr);
	if (read(way[0], &handle, sizeof handle) != sizeof handle)
		return 9;
	return cudaIpcOpenMemHandle(&m, handle, cudaIpcMemLazyEnablePeerAccess) != cudaErrorInvalidResourceHandle;
}
EOF2
run memory-of-the-dead 1 launches ended.cu
grep -q '^! ipc: a handle of process [0-9]* cannot be opened: that process has ended' err && ok memory-of-the-dead-told ||
	not_ok memory-of-the-dead-told "$(cat err)"

# Processes that the program forks: the first that uses the GPU is shown, the others are told once.
cat >forked.cu <<'EOF2'
#include <sys/wait.h>
#include <unistd.h>
__global__ void set(int *p) { *p = 1; }
static int work()
{
	int *p;
	if (cudaMalloc(&p, sizeof *p))
		return 1;
	set<<<1, 1>>>(p);
	return cudaFree(p);
}
int main(int argc, char **)
{
	int bad = 0, status;
	for (int child = 0; child < 4 - 3 * (argc > 1); child++)
		if (fork() == 0)
			_exit(work());
	while (wait(&status) > 0)
		bad += status;
	return bad;
}
EOF2
run forked 0 launches forked.cu
[ "$(grep -c '^- not-recorded: processes that the program forked use the GPU' err)" = 1 ] &&
	grep -q '^forked.cu  1 launch ' err && ok forked-told || not_ok forked-told "$(cat err)"
run forked-once 0 launches forked.cu -- 1
! grep -q not-recorded err && grep -q '  1 launch ' err && ok forked-alone || not_ok forked-alone "$(cat err)"

# The same fault at the same line of several launches is one line; another line's is its own.
cat >again.cu <<'EOF2'
__global__ void past(int *p, int n)
{
	p[0] = p[n];
	if (n == 66)
		p[n] = 1;
}
int main()
{
	int *p;
	cudaMalloc(&p, 64 * sizeof *p);
	cudaMemset(p, 0, 64 * sizeof *p);
	for (int n = 64; n < 68; n++)
		past<<<1, 1>>>(p, n);
	return cudaFree(p);
}
EOF2
run again 1 launches again.cu
[ "$(grep -c '^! out-of-bounds' err)" = 2 ] &&
	grep -q '^! out-of-bounds (launch 1, and 3 more like it).*again.cu:3: ' err &&
	grep -q '^! out-of-bounds (launch 3): .*again.cu:5: ' err && ok again-told || not_ok again-told "$(cat err)"
