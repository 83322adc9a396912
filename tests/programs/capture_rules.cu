// What a stream may not do while it is captured, and what becomes of the capture: branches without
// an end, waits that come from outside or lead there, calls that the capture's mode forbids. Graphs
// are timed by events that are nodes of their own.
#include "check.h"

#include <thread>

__global__ void add(int *x, int v)
{
	*x += v;
}

static bool good = true;
static cudaStream_t first, second, apart; // apart: does not wait for the legacy stream
static cudaEvent_t fork_at, join_at;
static int *x;

static void say(const char *what, cudaError_t got, cudaError_t wanted = cudaSuccess)
{
	printf("%s: %s\n", what, cudaGetErrorName(got));
	good = good && got == wanted;
}

static void begin(cudaStream_t s, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal)
{
	CHECK(cudaStreamBeginCapture(s, mode));
	add<<<1, 1, 0, s>>>(x, 1);
}

// The second stream joins the capture of the first and works there.
static void branch()
{
	CHECK(cudaEventRecord(fork_at, first));
	CHECK(cudaStreamWaitEvent(second, fork_at));
	add<<<1, 1, 0, second>>>(x, 10);
}

// How the capture ends; @nodes: of the graph, where there is one.
static void end(const char *what, cudaStream_t s, cudaError_t wanted, size_t nodes = 0)
{
	cudaGraph_t graph = nullptr;
	cudaStreamCaptureStatus status;
	size_t n = 0;
	say(what, cudaStreamEndCapture(s, &graph), wanted);
	good = good && !graph == (wanted != cudaSuccess);
	if (graph)
		CHECK(cudaGraphGetNodes(graph, nullptr, &n));
	good = good && n == nodes;
	CHECK(cudaStreamIsCapturing(s, &status));
	good = good && status == cudaStreamCaptureStatusNone;
	if (graph)
		CHECK(cudaGraphDestroy(graph));
	cudaGetLastError();
}

static bool is_invalid(cudaStream_t s)
{
	cudaStreamCaptureStatus status;
	CHECK(cudaStreamIsCapturing(s, &status));
	return status == cudaStreamCaptureStatusInvalidated;
}

// A call spoils the capture of @s, which then ends without a graph.
#define SPOILS(s, mode, error, call)                          \
	do {                                                      \
		begin(s, mode);                                       \
		say(#call, call, error);                              \
		good = good && is_invalid(s);                         \
		end("its end", s, cudaErrorStreamCaptureInvalidated); \
	} while (0)

static void branches()
{
	begin(first);
	branch();
	end("a branch is open", first, cudaErrorStreamCaptureUnjoined);
	begin(first);
	branch();
	CHECK(cudaEventRecord(join_at, second));
	CHECK(cudaStreamWaitEvent(first, join_at));
	end("it is joined", first, cudaSuccess, 2);
	begin(first);
	CHECK(cudaEventRecord(fork_at, first));
	CHECK(cudaStreamWaitEvent(second, fork_at));
	end("it has no work", first, cudaSuccess, 1);
	begin(first);
	branch();
	say("ended by the branch", cudaStreamEndCapture(second, nullptr),
	    cudaErrorStreamCaptureUnmatched);
	good = good && is_invalid(first) && is_invalid(second);
	end("its end", first, cudaErrorStreamCaptureInvalidated);
}

static void events()
{
	cudaEvent_t outside;
	CHECK(cudaEventCreate(&outside));
	CHECK(cudaEventRecord(outside, second));
	SPOILS(first, cudaStreamCaptureModeRelaxed, cudaErrorStreamCaptureIsolation,
	       cudaStreamWaitEvent(first, outside));
	begin(first);
	CHECK(cudaEventRecord(fork_at, first));
	say("its event asked", cudaEventQuery(fork_at), cudaErrorCapturedEvent);
	end("its end", first, cudaErrorStreamCaptureInvalidated);
	say("asked again", cudaEventSynchronize(fork_at), cudaErrorInvalidValue);
	begin(apart);
	CHECK(cudaEventRecord(fork_at, apart));
	say("the legacy stream waits", cudaStreamWaitEvent(0, fork_at), cudaErrorStreamCaptureImplicit);
	end("its end", apart, cudaErrorStreamCaptureInvalidated);
	begin(first);
	begin(second);
	CHECK(cudaEventRecord(fork_at, first));
	say("two captures meet", cudaStreamWaitEvent(second, fork_at), cudaErrorStreamCaptureMerge);
	end("the one", first, cudaErrorStreamCaptureInvalidated);
	end("the other", second, cudaErrorStreamCaptureInvalidated);
	CHECK(cudaEventDestroy(outside));
}

static void forbidden()
{
	int *p = nullptr;
	cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
	SPOILS(first, cudaStreamCaptureModeGlobal, cudaErrorStreamCaptureUnsupported,
	       cudaMalloc(&p, 4));
	SPOILS(first, cudaStreamCaptureModeThreadLocal, cudaErrorStreamCaptureUnsupported,
	       cudaFree(nullptr));
	SPOILS(first, cudaStreamCaptureModeGlobal, cudaErrorStreamCaptureUnsupported,
	       cudaStreamSynchronize(apart));
	SPOILS(first, cudaStreamCaptureModeRelaxed, cudaErrorStreamCaptureUnsupported,
	       cudaStreamQuery(first));
	SPOILS(apart, cudaStreamCaptureModeRelaxed, cudaErrorStreamCaptureUnsupported,
	       cudaDeviceSynchronize());
	SPOILS(first, cudaStreamCaptureModeRelaxed, cudaErrorStreamCaptureImplicit,
	       cudaMemset(x, 0, sizeof *x));
	cudaMemPoolProps properties = {};
	cudaMemPool_t pool;
	properties.allocType = cudaMemAllocationTypePinned;
	properties.location.type = cudaMemLocationTypeDevice;
	SPOILS(apart, cudaStreamCaptureModeGlobal, cudaErrorStreamCaptureUnsupported,
	       cudaMemPoolCreate(&pool, &properties));
	SPOILS(apart, cudaStreamCaptureModeGlobal, cudaErrorStreamCaptureUnsupported,
	       cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
	cudaResourceDesc resource = {};
	cudaTextureDesc texture = {};
	cudaTextureObject_t made;
	resource.resType = cudaResourceTypeLinear;
	resource.res.linear.devPtr = x;
	resource.res.linear.desc = cudaCreateChannelDesc<int>();
	resource.res.linear.sizeInBytes = sizeof *x;
	SPOILS(first, cudaStreamCaptureModeGlobal, cudaErrorStreamCaptureUnsupported,
	       cudaCreateTextureObject(&made, &resource, &texture, nullptr));
	begin(first, cudaStreamCaptureModeRelaxed);
	say("relaxed", cudaMalloc(&p, 4));
	say("free in a graph", cudaFreeAsync(p, first), cudaErrorInvalidValue);
	end("its end", first, cudaSuccess, 1);
	begin(first);
	CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
	say("exchanged", cudaFree(p));
	CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
	good = good && mode == cudaStreamCaptureModeRelaxed;
	end("its end", first, cudaSuccess, 1);
	begin(apart);
	say("beside the legacy stream", cudaMemset(x, 0, sizeof *x));
	std::thread([] {
		say("another thread", cudaFree(nullptr), cudaErrorStreamCaptureUnsupported);
	}).join();
	end("its end", apart, cudaErrorStreamCaptureInvalidated);
	begin(first, cudaStreamCaptureModeThreadLocal);
	std::thread([] {
		say("its own captures only", cudaFree(nullptr));
		say("ended elsewhere", cudaStreamEndCapture(first, nullptr),
		    cudaErrorStreamCaptureWrongThread);
	}).join();
	begin(first);
	end("a new one", first, cudaSuccess, 1);
	say("external, outside", cudaEventRecordWithFlags(fork_at, first, cudaEventRecordExternal),
	    cudaErrorIllegalState);
}

// What an event was recorded for last has ended.
static void events_of_before()
{
	cudaGraph_t graph;
	CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed));
	CHECK(cudaEventRecord(join_at, first));
	CHECK(cudaStreamEndCapture(first, &graph));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed));
	say("external, of another capture", cudaStreamWaitEvent(first, join_at, cudaEventWaitExternal),
	    cudaErrorInvalidValue);
	cudaStreamEndCapture(first, &graph);
	cudaGetLastError();
}

static void timed()
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	size_t n = 0;
	float ms = -1;
	cudaEvent_t before, behind; /* no capture knows them yet */
	CHECK(cudaEventCreate(&before));
	CHECK(cudaEventCreate(&behind));
	CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
	CHECK(cudaEventRecordWithFlags(before, first, cudaEventRecordExternal));
	add<<<1, 1, 0, first>>>(x, 5);
	CHECK(cudaEventRecordWithFlags(behind, first, cudaEventRecordExternal));
	CHECK(cudaStreamWaitEvent(first, behind, cudaEventWaitExternal));
	CHECK(cudaStreamEndCapture(first, &graph));
	CHECK(cudaGraphGetNodes(graph, nullptr, &n));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphLaunch(exec, first));
	CHECK(cudaStreamSynchronize(first));
	say("time between nodes", cudaEventElapsedTime(&ms, before, behind));
	good = good && n == 4 && ms > 0;
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaEventDestroy(before));
	CHECK(cudaEventDestroy(behind));
}

int main()
{
	int host = 0;
	CHECK(cudaStreamCreate(&first));
	CHECK(cudaStreamCreate(&second));
	CHECK(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&fork_at));
	CHECK(cudaEventCreate(&join_at));
	CHECK(cudaMalloc(&x, sizeof *x));
	CHECK(cudaMemset(x, 0, sizeof *x));
	branches();
	events();
	forbidden();
	events_of_before();
	timed();
	CHECK(cudaMemcpy(&host, x, sizeof host, cudaMemcpyDeviceToHost));
	printf("%d\n", host);
	CHECK(cudaFree(x));
	CHECK(cudaEventDestroy(fork_at));
	CHECK(cudaEventDestroy(join_at));
	for (cudaStream_t s : { first, second, apart })
		CHECK(cudaStreamDestroy(s));
	return finish("capture_rules", good && host == 5);
}
