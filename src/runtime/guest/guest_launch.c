/*
 * Launches: the call as nvcc writes it, what is legal on this device, the run, its time, its record.
 */
#include "runtime/guest/guest_clock.h"
#include "runtime/guest/guest_op.h"
#include "runtime/guest/guest_record.h"
#include "runtime/guest/guest_time.h"

#include "base/mem.h"
#include "base/text.h"
#include "timemodel/stream_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* nvcc's generated code calls these; no header declares them. */
GUEST_API unsigned CUDARTAPI __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                                         struct CUstream_st *stream);
GUEST_API cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                                           void *stream);
GUEST_API cudaError_t CUDARTAPI __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                                   void **args, size_t shared, cudaStream_t stream);

/* --- kernel<<<grid, block, shared, stream>>>: pushed, then popped by the kernel's stub --- */

#define MAX_NESTED 8
static _Thread_local struct {
	dim3 grid, block;
	size_t shared;
	struct CUstream_st *stream;
} pushed[MAX_NESTED];
static _Thread_local unsigned n_pushed;

unsigned CUDARTAPI __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                               struct CUstream_st *stream)
{
	if (n_pushed == MAX_NESTED)
		return 1;
	pushed[n_pushed].grid = grid;
	pushed[n_pushed].block = block;
	pushed[n_pushed].shared = shared;
	pushed[n_pushed++].stream = stream;
	return 0;
}

cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                                 void *stream)
{
	if (!n_pushed)
		return cudaErrorMissingConfiguration;
	n_pushed--;
	*grid = pushed[n_pushed].grid;
	*block = pushed[n_pushed].block;
	*shared = pushed[n_pushed].shared;
	memcpy(stream, &pushed[n_pushed].stream, sizeof(cudaStream_t));
	return cudaSuccess;
}

/* --- what is legal; the answers are those of CUDA 13 (tests/programs/launch_errors.cu) --- */

static cudaError_t check_limits(const struct guest_op *op)
{
	const unsigned *grid = op->u.launch.grid, *block = op->u.launch.block;
	const struct guest_function *f = op->u.launch.function;
	struct emu_function_info info;
	emu_function_info(f->loaded, &info);
	if (!grid[0] || !grid[1] || !grid[2] || !block[0] || !block[1] || !block[2])
		return cudaErrorInvalidValue;
	if (grid[0] > 0x7fffffff || grid[1] > 65535 || grid[2] > 65535)
		return cudaErrorInvalidValue;
	const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
	if (block[0] > 1024 || block[1] > 1024 || block[2] > 64 ||
	    threads > guest.gpu.max_threads_per_block)
		return cudaErrorInvalidValue;
	if (info.max_threads && threads > info.max_threads)
		return cudaErrorInvalidValue;
	const unsigned most = f->max_dynamic_shared > 0
	                          ? (unsigned)f->max_dynamic_shared + info.static_shared_bytes
	                          : guest.gpu.smem_per_block_bytes;
	if (op->u.launch.shared_bytes + info.static_shared_bytes > most)
		return cudaErrorInvalidValue;
	if (!guest_resident_blocks(op->u.launch.function, (unsigned)threads,
	                           op->u.launch.shared_bytes))
		return cudaErrorLaunchOutOfResources;
	if (op->u.launch.cooperative &&
	    (uint64_t)grid[0] * grid[1] * grid[2] >
	        (uint64_t)guest.gpu.sm_count *
	            guest_resident_blocks(f, (unsigned)threads, op->u.launch.shared_bytes))
		return cudaErrorCooperativeLaunchTooLarge;
	return cudaSuccess;
}

cudaError_t guest_pack_launch(const void *host, dim3 grid, dim3 block, void **args,
                              size_t shared_bytes, bool cooperative, struct guest_op *op)
{
	cudaError_t why;
	struct guest_function *f = guest_function_of(host, &why);
	if (!f)
		return why;
	*op = (struct guest_op){
		.kind = GUEST_OP_LAUNCH,
		.u.launch = { .function = f,
		              .grid = { grid.x, grid.y, grid.z },
		              .block = { block.x, block.y, block.z },
		              .shared_bytes = (unsigned)shared_bytes,
		              .cooperative = cooperative },
	};
	why = shared_bytes > guest.gpu.smem_per_sm_bytes ? cudaErrorInvalidValue : check_limits(op);
	if (why != cudaSuccess)
		return why;
	struct emu_function_info info;
	emu_function_info(f->loaded, &info);
	uint8_t *area = mem_zalloc(info.param_bytes + 1u);
	for (unsigned i = 0; i < info.n_params; i++) {
		unsigned offset, bytes;
		if (emu_function_param(f->loaded, i, &offset, &bytes) && args && args[i])
			memcpy(area + offset, args[i], bytes);
	}
	op->u.launch.params = area;
	return cudaSuccess;
}

/* --- the call --- */

static cudaError_t launch(const void *host, dim3 grid, dim3 block, void **args, size_t shared,
                          cudaStream_t stream, bool cooperative, const void *caller)
{
	struct guest_stream *s = guest_stream_of(stream);
	struct guest_op op;
	if (!s)
		return cudaErrorInvalidResourceHandle;
	cudaError_t e = guest_pack_launch(host, grid, block, args, shared, cooperative, &op);
	if (e != cudaSuccess) {
		guest.unchecked_launch = record_launch_number() + 1;
		return e;
	}
	e = guest_submit(s, &op, GUEST_ASYNC, caller);
	guest_op_drop(&op);
	return e;
}

cudaError_t CUDARTAPI __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                         size_t shared, cudaStream_t stream)
{
	GUEST_CALL(launch(kernel, grid, block, args, shared, stream, false, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaLaunchKernel(const void *host, dim3 grid, dim3 block,
                                                 void **args, size_t shared, cudaStream_t stream)
{
	GUEST_CALL(launch(host, grid, block, args, shared, stream, false, GUEST_CALLER));
}

GUEST_API cudaError_t CUDARTAPI cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block,
                                                            void **args, size_t shared,
                                                            cudaStream_t stream)
{
	GUEST_CALL(launch(host, grid, block, args, shared, stream, true, GUEST_CALLER));
}

static cudaError_t launch_ex(const cudaLaunchConfig_t *c, const void *host, void **args,
                             const void *caller)
{
	bool cooperative = false;
	for (unsigned i = 0; i < c->numAttrs; i++)
		switch (c->attrs[i].id) {
		case cudaLaunchAttributeCooperative: cooperative = c->attrs[i].val.cooperative != 0; break;
		case cudaLaunchAttributeClusterDimension:
			if (c->attrs[i].val.clusterDim.x > 1 || c->attrs[i].val.clusterDim.y > 1 ||
			    c->attrs[i].val.clusterDim.z > 1)
				return cudaErrorNotSupported;
			break;
		default: break; /* priorities and hints change no result */
		}
	return launch(host, c->gridDim, c->blockDim, args, c->dynamicSmemBytes, c->stream, cooperative,
	              caller);
}

GUEST_API cudaError_t CUDARTAPI cudaLaunchKernelExC(const cudaLaunchConfig_t *config,
                                                    const void *host, void **args)
{
	GUEST_CALL(launch_ex(config, host, args, GUEST_CALLER));
}

/* --- running it --- */

/* Launches of one kernel, grid, block and shared memory: the first ones are counted. */
struct kind {
	uint64_t hash, first, counted;
	double ns, share;
};
static struct {
	struct kind *kind;
	size_t n, cap;
} kinds;

static struct kind *kind_of(const struct guest_op *op)
{
	const void *f = op->u.launch.function;
	uint64_t h = hash_bytes(HASH_SEED, &f, sizeof f);
	h = hash_bytes(h, op->u.launch.grid, sizeof op->u.launch.grid);
	h = hash_bytes(h, op->u.launch.block, sizeof op->u.launch.block);
	h = hash_bytes(h, &op->u.launch.shared_bytes, sizeof op->u.launch.shared_bytes);
	for (size_t i = 0; i < kinds.n; i++)
		if (kinds.kind[i].hash == h)
			return &kinds.kind[i];
	if (kinds.n == kinds.cap) {
		kinds.cap = kinds.cap ? 2 * kinds.cap : 64;
		kinds.kind = mem_realloc(kinds.kind, kinds.cap, sizeof *kinds.kind);
	}
	kinds.kind[kinds.n] = (struct kind){ .hash = h };
	return &kinds.kind[kinds.n++];
}

static void print(void *ctx, const char *text, size_t n)
{
	*(unsigned *)ctx += (unsigned)n;
	fwrite(text, 1, n, stdout);
}

static cudaError_t error_of(const struct emu_findings *findings, const struct err *err)
{
	static const struct {
		const char *kind;
		cudaError_t error;
	} table[] = {
		{ "misaligned", cudaErrorMisalignedAddress }, { "assert", cudaErrorAssert },
		{ "trap", cudaErrorLaunchFailure },           { "out-of-bounds", cudaErrorIllegalAddress },
		{ "illegal-address", cudaErrorIllegalAddress }, { "stack", cudaErrorLaunchFailure },
	};
	if (err->code == ERR_TIMEOUT)
		return cudaErrorLaunchTimeout;
	if (err->code == ERR_UNSUPPORTED)
		return cudaErrorNotSupported;
	for (unsigned i = findings->n; i--;)
		for (size_t k = 0; k < ARRAY_LEN(table); k++)
			if (!strcmp(findings->finding[i].kind, table[k].kind))
				return table[k].error;
	return cudaErrorLaunchFailure;
}

static void tell_findings(const struct emu_findings *findings, uint64_t number)
{
	for (unsigned i = 0; i < findings->n; i++) {
		const struct emu_finding *from = &findings->finding[i];
		struct record_finding f = { .launch = number, .times = from->times, .line = from->line,
			                        .error = true };
		snprintf(f.kind, sizeof f.kind, "%s", from->kind);
		snprintf(f.text, sizeof f.text, "%s", from->text);
		snprintf(f.remedy, sizeof f.remedy, "%s", from->remedy);
		snprintf(f.file, sizeof f.file, "%s", from->file);
		record_finding(&f);
	}
}

static void tell_failure(const struct emu_findings *findings, const struct err *err,
                         uint64_t number)
{
	if (findings->n)
		return; /* they say it better */
	struct record_finding f = { .launch = number, .times = 1, .error = true };
	snprintf(f.kind, sizeof f.kind, "%s",
	         err->code == ERR_TIMEOUT ? "timeout" : err->code == ERR_UNSUPPORTED ? "unsupported"
	                                                                             : "failed");
	snprintf(f.text, sizeof f.text, "%.1023s", err->msg);
	snprintf(f.remedy, sizeof f.remedy, "%s", err->remedy);
	record_finding(&f);
}

cudaError_t guest_run_kernel(const struct guest_op *op, struct guest_stream *s, const void *caller)
{
	(void)caller;
	struct guest_function *f = op->u.launch.function;
	struct kind *kind = kind_of(op);
	struct record_launch r = {
		.number = record_launch_number() + 1,
		.stream = s->id,
		.dynamic_shared_bytes = op->u.launch.shared_bytes,
		.cooperative = op->u.launch.cooperative,
	};
	const bool count = record_is_open() && kind->counted < guest.config.count_first;
	struct emu_launch_request req = {
		.function = f->loaded,
		.dynamic_shared_bytes = op->u.launch.shared_bytes,
		.params = op->u.launch.params,
		.registers = f->registers,
		.cooperative = op->u.launch.cooperative,
		.counting = count ? EMU_COUNT_ALL : EMU_COUNT_NONE,
		.check_races = guest.config.check_races && count,
		.strict = guest.config.strict,
		.timeout_s = guest.config.launch_timeout_s,
		.threads = guest.config.threads,
		.print = print,
		.print_ctx = &r.printed_bytes,
	};
	memcpy(req.grid, op->u.launch.grid, sizeof req.grid);
	memcpy(req.block, op->u.launch.block, sizeof req.block);
	memcpy(r.grid, req.grid, sizeof r.grid);
	memcpy(r.block, req.block, sizeof r.block);
	record_kernel(f);
	r.kernel = f->id;
	f->launches++;

	struct run_result res = { 0 };
	struct emu_findings findings = { 0 };
	struct err err = { 0 };
	const bool ok = emu_launch(guest.device, &req, NULL, &res, &findings, &err);
	if (ok && count) {
		kind->ns = guest_kernel_ns(op, &res.counts, &kind->share);
		kind->first = kind->counted++ ? kind->first : r.number;
	}
	const double launch_call_ns = stream_rates_of(&guest.gpu).launch_call_ns;
	const struct clock_span span =
		clock_place(s, GUEST_ENGINE_SM, kind->ns, kind->share, launch_call_ns);
	r.span = (struct record_span){ span.call_ns, span.start_ns, span.end_ns };
	r.counted = !ok ? RECORD_FAILED : count ? RECORD_COUNTED : RECORD_REPEATS;
	r.like = kind->first;
	r.share = kind->share;
	r.wall_s = res.wall_s;
	record_launch(&r, ok && count ? &res.counts : NULL);
	tell_findings(&findings, r.number);
	run_result_free(&res);
	if (guest.config.stop_after && r.number >= guest.config.stop_after) {
		fflush(NULL);
		exit(0);
	}
	if (ok)
		return cudaSuccess;
	tell_failure(&findings, &err, r.number);
	guest.unchecked_launch = r.number;
	guest.sticky = error_of(&findings, &err);
	/* what is not supported harms nothing but this launch */
	if (err.code != ERR_UNSUPPORTED)
		return cudaSuccess;
	guest.sticky = cudaSuccess;
	return cudaErrorNotSupported;
}
