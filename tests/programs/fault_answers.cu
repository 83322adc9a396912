// What calls answer behind a launch that was at fault: the launch itself and what is asked at once
// know nothing yet; the first call that waits does, and whatever needs the device from then on;
// what does not is still served. Where launches block, the launch says it.
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

// At fault after a tenth of a second or so, so that the host's next calls come before it.
__global__ void stop(long long cycles)
{
	const long long since = clock64();
	while (clock64() - since < cycles)
		;
	asm volatile("trap;");
}

__global__ void nothing() {}

static bool good = true;

static void say(const char *what, cudaError_t got, cudaError_t wanted = cudaSuccess)
{
	printf("%s: %s\n", what, cudaGetErrorName(got));
	good = good && got == wanted;
}

static cudaError_t launch()
{
	long long cycles = 200000000;
	void *args[] = { &cycles };
	return cudaLaunchKernel((const void *)stop, dim3(1), dim3(1), args, 0, 0);
}

// True: it has passed.
static bool blocking()
{
	void *p;
	fflush(stdout);
	const pid_t child = fork();
	if (child == 0) {
		setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
		say("a blocking launch", launch(), cudaErrorLaunchFailure);
		say("asked", cudaGetLastError(), cudaErrorLaunchFailure);
		say("asked again", cudaGetLastError());
		say("cudaMalloc", cudaMalloc(&p, 4), cudaErrorLaunchFailure);
		fflush(stdout);
		_exit(good ? 0 : 1);
	}
	int status = 1;
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main()
{
	int *x, device, n;
	cudaDeviceProp properties;
	cudaPointerAttributes attributes;
	cudaEvent_t event;
	good = blocking();
	CHECK(cudaMalloc(&x, sizeof *x));
	CHECK(cudaEventCreate(&event));
	cudaGraph_t graph, other;
	cudaGraphExec_t exec;
	cudaGraphNode_t node;
	cudaMemPool_t pool;
	const char *name;
	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	nothing<<<1, 1>>>();
	CHECK(cudaDeviceSynchronize());

	say("launch", launch());
	say("asked at once", cudaGetLastError());
	nothing<<<1, 1>>>();
	say("another launch", cudaPeekAtLastError());
	say("cudaEventRecord", cudaEventRecord(event));
	say("cudaDeviceSynchronize", cudaDeviceSynchronize(), cudaErrorLaunchFailure);
	say("peeked", cudaPeekAtLastError(), cudaErrorLaunchFailure);
	say("asked", cudaGetLastError(), cudaErrorLaunchFailure);
	say("asked again", cudaGetLastError());

	say("cudaMemset", cudaMemset(x, 0, sizeof *x), cudaErrorLaunchFailure);
	say("cudaEventQuery", cudaEventQuery(event), cudaErrorLaunchFailure);
	say("cudaFree", cudaFree(x), cudaErrorLaunchFailure);
	nothing<<<1, 1>>>();
	say("a launch", cudaGetLastError(), cudaErrorLaunchFailure);
	say("cudaGetDevice", cudaGetDevice(&device));
	say("cudaSetDevice", cudaSetDevice(0));
	say("cudaGetDeviceCount", cudaGetDeviceCount(&n));
	say("cudaGetDeviceProperties", cudaGetDeviceProperties(&properties, 0));
	say("cudaDriverGetVersion", cudaDriverGetVersion(&n));
	say("cudaPointerGetAttributes", cudaPointerGetAttributes(&attributes, x));
	say("cudaSetDeviceFlags", cudaSetDeviceFlags(0));
	say("cudaDeviceGetDefaultMemPool", cudaDeviceGetDefaultMemPool(&pool, 0));
	say("cudaFuncGetName", cudaFuncGetName(&name, (const void *)nothing));
	say("cudaGraphAddEmptyNode", cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
	say("cudaGraphClone", cudaGraphClone(&other, graph));
	say("cudaGraphInstantiate", cudaGraphInstantiate(&exec, graph, 0), cudaErrorLaunchFailure);
	say("cudaGraphExecDestroy", cudaGraphExecDestroy(exec));
	say("cudaGraphDestroy", cudaGraphDestroy(other));
	say("asked", cudaGetLastError(), cudaErrorLaunchFailure);
	say("nothing to ask", cudaGetLastError());

	say("cudaDeviceReset", cudaDeviceReset());
	say("cudaMalloc", cudaMalloc(&x, sizeof *x), cudaErrorDevicesUnavailable);
	say("cudaSetDevice", cudaSetDevice(0), cudaErrorDevicesUnavailable);
	say("cudaGetDevice", cudaGetDevice(&device));
	return finish("fault_answers", good);
}
