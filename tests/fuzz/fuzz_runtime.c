/*
 * Fuzz target: calls of the runtime API in any order, with sizes and addresses of any value.
 * Handles are those that the API gave, as a handle of something destroyed is no promise of CUDA's;
 * memory of the host is given with sizes that it has. Whatever was made is destroyed at the end.
 */
#define _GNU_SOURCE /* MSG_TRUNC */
#include "target.h"

#include "base/monotonic.h"
#include "runtime/guest/guest.h"

#include <math.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SLOTS = 4, HOST_BYTES = 1 << 14, MOST_CALLS = 48 };

static const char module_text[] =
	".version 7.0\n.target sm_80\n.address_size 64\n"
	".visible .global .align 4 .b8 table[64];\n"
	".visible .entry put(.param .u64 p, .param .u32 n)\n{\n"
	".reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
	"ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;\n"
	"setp.ge.u32 %p, %r2, %r1; @%p bra done;\n"
	"mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r2;\n"
	"done: ret;\n}\n";

static struct {
	uint8_t host[HOST_BYTES];
	void *device[SLOTS], *pinned[SLOTS];
	cudaStream_t stream[SLOTS];
	cudaEvent_t event[SLOTS];
	cudaGraph_t graph[SLOTS];
	cudaGraphExec_t exec[SLOTS];
	cudaArray_t array[SLOTS];
	bool registered;
} have;
static cudaKernel_t kernel;

/* The explorer's end: what the program writes is taken, and nobody has machine code. */
static void *explorer(void *fd)
{
	static uint8_t bytes[1 << 16];
	while (read(*(int *)fd, bytes, sizeof bytes) > 0)
		;
	return NULL;
}

static void begin(void)
{
	static int ends[2];
	static const struct record_config config = { .count_first = 1,
		                                         .races = RACES_OFF,
		                                         .threads = 1,
		                                         .launch_timeout_s = 1,
		                                         .level = RUN_LEVEL_PTX };
	struct wire_msg m;
	char number[16];
	pthread_t thread;
	cudaLibrary_t library;
	promise(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "there are sockets");
	record_put_config(&m, &config, gpu_find("a100"));
	promise(wire_send(ends[0], &m, -1, clock_now_s() + 10, NULL) == WIRE_OK, "a record is sent");
	wire_free(&m);
	promise(!pthread_create(&thread, NULL, explorer, &ends[0]), "there are threads");
	snprintf(number, sizeof number, "%d", ends[1]);
	setenv(RECORD_FD_VARIABLE, number, 1);
	promise(cudaLibraryLoadData(&library, module_text, NULL, NULL, 0, NULL, NULL, 0) == cudaSuccess,
	        "the module loads");
	promise(cudaLibraryGetKernel(&kernel, library, "put") == cudaSuccess, "it has a kernel");
}

/* --- arguments --- */

static unsigned slot(struct input *in)
{
	return (unsigned)input_number(in, 1) % SLOTS;
}

/* Small, or at the edges of the type. */
static size_t any_size(struct input *in)
{
	const uint64_t v = input_number(in, 2);
	switch (v & 7) {
	case 0: return (size_t)-1 - (v >> 3);
	case 1: return ((size_t)1 << (v >> 3 & 63)) + (v >> 9) - 64;
	default: return v >> 3;
	}
}

static void *any_device(struct input *in)
{
	const uint64_t v = input_number(in, 2);
	char *const at = have.device[v % SLOTS];
	return at ? at + (v >> 2) % 32 : NULL;
}

struct place {
	void *at;
	size_t most; /* bytes that may be touched there; SIZE_MAX: the API knows the allocation */
};

static struct place any_place(struct input *in)
{
	const unsigned kind = (unsigned)input_number(in, 1);
	const size_t offset = input_number(in, 1);
	if (kind & 1)
		return (struct place){ have.host + offset, HOST_BYTES - offset };
	void *at = kind & 2 ? have.pinned[kind / 4 % SLOTS] : have.device[kind / 4 % SLOTS];
	return at ? (struct place){ (char *)at + offset, SIZE_MAX }
	          : (struct place){ have.host, HOST_BYTES };
}

/* As many bytes as both places allow. */
static size_t bytes_for(struct input *in, const struct place *a, const struct place *b)
{
	const size_t n = any_size(in), most = a->most < b->most ? a->most : b->most;
	return n <= most ? n : n % (most + 1);
}

static enum cudaMemcpyKind any_kind(struct input *in)
{
	return (enum cudaMemcpyKind)(input_number(in, 1) % 6);
}

/* --- calls --- */

static void call_memory(struct input *in)
{
	const unsigned k = slot(in), what = (unsigned)input_number(in, 1) % 10;
	size_t pitch;
	struct cudaPitchedPtr box = { 0 };
	if (what < 6 && have.device[k]) {
		cudaFree((char *)have.device[k] + (what == 5));
		have.device[k] = what == 5 ? have.device[k] : NULL;
		return;
	}
	const size_t a = any_size(in), b = any_size(in), c = any_size(in);
	switch (what) {
	case 0:
	case 1: cudaMalloc(&have.device[k], a); break;
	case 2: cudaMallocManaged(&have.device[k], a, cudaMemAttachGlobal); break;
	case 3: cudaMallocPitch(&have.device[k], &pitch, a, b); break;
	case 4:
		cudaMalloc3D(&box, (struct cudaExtent){ a, b, c });
		have.device[k] = box.ptr;
		break;
	case 5: cudaMallocAsync(&have.device[k], a, have.stream[slot(in)]); break;
	case 6:
		cudaFreeHost(have.pinned[k]);
		have.pinned[k] = NULL;
		cudaHostAlloc(&have.pinned[k], a, 0);
		break;
	case 7: have.registered |= cudaHostRegister(have.host, a, 0) == cudaSuccess; break;
	case 8:
		if (have.registered)
			have.registered = cudaHostUnregister(have.host + a % 2) != cudaSuccess;
		break;
	default: cudaFreeAsync(have.device[k], have.stream[slot(in)]); have.device[k] = NULL;
	}
}

static void call_copy(struct input *in)
{
	const struct place to = any_place(in), from = any_place(in);
	const enum cudaMemcpyKind kind = any_kind(in);
	const cudaStream_t s = have.stream[slot(in)];
	const size_t n = bytes_for(in, &to, &from);
	size_t pitch = any_size(in), rows = any_size(in);
	const bool wild = to.most == SIZE_MAX && from.most == SIZE_MAX;
	if (!wild) { /* of the host's own memory nobody knows the end */
		pitch = n;
		rows = rows % 2;
	}
	const struct cudaMemcpy3DParms box = {
		.srcPtr = { from.at, pitch, n, rows },
		.dstPtr = { to.at, pitch, n, rows },
		.extent = { n, rows, wild ? input_number(in, 2) : 1 },
		.kind = kind,
	};
	switch (input_number(in, 1) % 6) {
	case 0: cudaMemcpy(to.at, from.at, n, kind); break;
	case 1: cudaMemcpyAsync(to.at, from.at, n, kind, s); break;
	case 2: cudaMemcpy2D(to.at, pitch, from.at, pitch, n, rows, kind); break;
	case 3: cudaMemcpy2DAsync(to.at, pitch, from.at, pitch, n, rows, kind, s); break;
	case 4: cudaMemcpy3D(&box); break;
	default: cudaMemcpy3DAsync(&box, s);
	}
}

static void call_set(struct input *in)
{
	void *at = any_device(in);
	const size_t a = any_size(in), b = any_size(in), c = any_size(in);
	const cudaStream_t s = have.stream[slot(in)];
	const struct cudaPitchedPtr box = { at, a, b, c };
	switch (input_number(in, 1) % 4) {
	case 0: cudaMemset(at, 1, a); break;
	case 1: cudaMemsetAsync(at, 1, a, s); break;
	case 2: cudaMemset2DAsync(at, a, 1, b, c, s); break;
	default: cudaMemset3DAsync(box, 1, (struct cudaExtent){ b, c, a }, s);
	}
}

static void call_stream(struct input *in)
{
	const unsigned k = slot(in), e = slot(in);
	float ms;
	switch (input_number(in, 1) % 9) {
	case 0:
		if (have.stream[k]) {
			cudaStreamDestroy(have.stream[k]);
			have.stream[k] = NULL;
		} else {
			cudaStreamCreateWithFlags(&have.stream[k], (unsigned)input_number(in, 1));
		}
		break;
	case 1:
		if (have.event[e])
			cudaEventDestroy(have.event[e]);
		have.event[e] = NULL;
		cudaEventCreateWithFlags(&have.event[e], (unsigned)input_number(in, 1));
		break;
	case 2: cudaEventRecord(have.event[e], have.stream[k]); break;
	case 3: cudaStreamWaitEvent(have.stream[k], have.event[e], 0); break;
	case 4: cudaEventElapsedTime(&ms, have.event[e], have.event[k]); break;
	case 5: cudaStreamSynchronize(have.stream[k]); break;
	case 6: cudaEventSynchronize(have.event[e]); break;
	case 7: cudaStreamQuery(have.stream[k]); break;
	default: cudaEventQuery(have.event[e]);
	}
}

static void call_graph(struct input *in)
{
	const unsigned k = slot(in), g = slot(in);
	cudaGraphNode_t node;
	const struct cudaMemsetParams set = { .dst = any_device(in),
		                                  .elementSize = (unsigned)input_number(in, 1) % 5,
		                                  .height = any_size(in),
		                                  .width = any_size(in),
		                                  .pitch = any_size(in) };
	size_t n = SLOTS;
	cudaGraphNode_t nodes[SLOTS];
	switch (input_number(in, 1) % 9) {
	case 0: cudaStreamBeginCapture(have.stream[k], cudaStreamCaptureModeRelaxed); break;
	case 1:
		if (!have.graph[g])
			cudaStreamEndCapture(have.stream[k], &have.graph[g]);
		break;
	case 2:
		if (have.graph[g])
			cudaGraphDestroy(have.graph[g]);
		have.graph[g] = NULL;
		cudaGraphCreate(&have.graph[g], 0);
		break;
	case 3:
		if (have.graph[g])
			cudaGraphAddMemsetNode(&node, have.graph[g], NULL, 0, &set);
		break;
	case 4:
		if (have.graph[g] && !have.exec[k])
			cudaGraphInstantiate(&have.exec[k], have.graph[g], 0);
		break;
	case 5:
		if (have.exec[k])
			cudaGraphLaunch(have.exec[k], have.stream[g]);
		break;
	case 6:
		if (have.exec[k])
			cudaGraphExecDestroy(have.exec[k]);
		have.exec[k] = NULL;
		break;
	case 7:
		if (have.graph[g])
			cudaGraphGetNodes(have.graph[g], nodes, &n);
		break;
	default:
		if (have.graph[g] && !have.graph[k])
			cudaGraphClone(&have.graph[k], have.graph[g]);
	}
}

static void call_array(struct input *in)
{
	const unsigned k = slot(in);
	const struct cudaChannelFormatDesc f =
		cudaCreateChannelDesc((int)input_number(in, 1), 0, 0, 0, cudaChannelFormatKindFloat);
	const struct cudaChannelFormatDesc word =
		cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
	const size_t a = any_size(in), b = any_size(in), c = any_size(in), d = any_size(in);
	switch (input_number(in, 1) % 5) {
	case 0:
		cudaFreeArray(have.array[k]);
		have.array[k] = NULL;
		cudaMallocArray(&have.array[k], input_number(in, 1) % 4 ? &word : &f, a, b, 0);
		break;
	case 1:
		cudaFreeArray(have.array[k]);
		have.array[k] = NULL;
		cudaMalloc3DArray(&have.array[k], &word, (struct cudaExtent){ a, b, c }, 0);
		break;
	case 2:
		cudaMemcpy2DToArray(have.array[k], a, b, have.host, c % 64, c % 64, d % 256,
		                    cudaMemcpyHostToDevice);
		break;
	case 3:
		cudaMemcpy2DFromArray(have.host, c % 64, have.array[k], a, b, c % 64, d % 256,
		                      cudaMemcpyDeviceToHost);
		break;
	default:
		cudaMemcpy2DArrayToArray(have.array[k], a, b, have.array[slot(in)], c, d, a, b,
		                         cudaMemcpyDeviceToDevice);
	}
}

static void call_launch(struct input *in)
{
	void *p = any_device(in);
	unsigned n = (unsigned)input_number(in, 1) % 64;
	void *args[] = { &p, &n };
	const uint64_t v = input_number(in, 2);
	const dim3 grid = { v & 1 ? (unsigned)any_size(in) % 3 : 1, v & 2 ? 0x7fffffff : 1, 1 };
	const dim3 block = { v & 4 ? (unsigned)any_size(in) : 32, 1, 1 };
	if (v & 2 && grid.x) /* so many blocks would take their time */
		return;
	cudaLaunchKernel((const void *)kernel, grid, block, args, v & 8 ? any_size(in) : 0,
	                 have.stream[slot(in)]);
}

static void call_query(struct input *in)
{
	struct cudaPointerAttributes a;
	size_t left, all;
	int value, blocks;
	enum cudaStreamCaptureStatus status;
	switch (input_number(in, 1) % 7) {
	case 0: cudaPointerGetAttributes(&a, any_place(in).at); break;
	case 1: cudaMemGetInfo(&left, &all); break;
	case 2:
		cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)input_number(in, 1),
		                       (int)input_number(in, 1) % 3 - 1);
		break;
	case 3:
		cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)kernel,
		                                              (int)any_size(in), any_size(in));
		break;
	case 4: cudaStreamIsCapturing(have.stream[slot(in)], &status); break;
	case 5: cudaDeviceSynchronize(); break;
	default: cudaDeviceSetLimit((enum cudaLimit)input_number(in, 1), any_size(in));
	}
}

/* --- all of it --- */

static void forget(void)
{
	cudaGraph_t g;
	for (unsigned k = 0; k < SLOTS; k++) {
		if (have.stream[k] && cudaStreamEndCapture(have.stream[k], &g) == cudaSuccess && g)
			cudaGraphDestroy(g);
		if (have.exec[k])
			cudaGraphExecDestroy(have.exec[k]);
		if (have.graph[k])
			cudaGraphDestroy(have.graph[k]);
		if (have.event[k])
			cudaEventDestroy(have.event[k]);
		cudaFreeArray(have.array[k]);
		cudaFree(have.device[k]);
		cudaFreeHost(have.pinned[k]);
	}
	for (unsigned k = 0; k < SLOTS; k++)
		if (have.stream[k])
			cudaStreamDestroy(have.stream[k]);
	if (have.registered)
		cudaHostUnregister(have.host);
	memset(&have, 0, sizeof have);
	cudaDeviceReset();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const calls[])(struct input *in) = { call_memory, call_copy,  call_set,
		                                               call_stream, call_graph, call_array,
		                                               call_launch, call_query };
	static bool begun;
	struct input in = { data, data + size };
	if (!begun)
		begin();
	begun = true;
	for (unsigned n = 0; in.at < in.end && n < MOST_CALLS; n++)
		calls[input_number(&in, 1) % 8](&in);
	forget();
	return 0;
}
