/*
 * One run in the worker: module, buffers, the launch whose outputs count, then what was asked for.
 *
 * The first launch is on fresh buffers and gives the outputs. Every later one (timing, counters,
 * timeline, lines) comes after what the kernel changes in place has been put back, so that all of
 * them do the same work. A capability that fails keeps its reason and does not end the run.
 */
#include "cuda/cuda_work.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

static bool no_code(CUresult r)
{
	return r == CUDA_ERROR_INVALID_IMAGE || r == CUDA_ERROR_NO_BINARY_FOR_GPU ||
	       r == CUDA_ERROR_UNSUPPORTED_PTX_VERSION || r == CUDA_ERROR_INVALID_PTX ||
	       r == CUDA_ERROR_JIT_COMPILER_NOT_FOUND || r == CUDA_ERROR_INVALID_SOURCE;
}

/* PTX through the driver's compiler; its messages go into the fault. */
static bool load_ptx(struct work *w, const char *ptx, CUmodule *module, struct fault *why)
{
	char log[512] = "";
	CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
	void *values[] = { log, (void *)(uintptr_t)sizeof log };
	work_step(w, "compiling PTX in the driver");
	CUresult r = w->cu.ModuleLoadDataEx(module, ptx, ARRAY_LEN(options), options, values);
	log[sizeof log - 1] = '\0';
	if (cu_ok(w, r, "cuModuleLoadDataEx", why))
		return true;
	size_t n = strlen(why->detail);
	if (log[0])
		snprintf(why->detail + n, sizeof why->detail - n, ": %s", log);
	return false;
}

static bool load(struct work *w, const struct cuda_job *j, struct loaded_module *m,
                 struct fault *why)
{
	m->jit = false;
	CUresult r = CUDA_ERROR_NO_BINARY_FOR_GPU;
	if (j->cubin) {
		work_step(w, "loading the cubin of %s", j->entry);
		r = w->cu.ModuleLoadData(&m->module, j->cubin);
		if (r == CUDA_SUCCESS)
			return true;
	}
	cu_ok(w, r, "cuModuleLoadData", why);
	if (no_code(r) && j->ptx) {
		m->jit = true;
		if (load_ptx(w, j->ptx, &m->module, why))
			return true;
	}
	if (why->id == FAULT_NO_IMAGE && w->driver_cuda < CUDA_VERSION) {
		char detail[sizeof why->detail];
		snprintf(detail, sizeof detail, "%s", why->detail);
		fault_set(why, FAULT_DRIVER_OLD, "it serves CUDA %d.%d: %.180s", w->driver_cuda / 1000,
		          w->driver_cuda % 1000 / 10, detail);
	}
	return false;
}

bool launch_module(struct work *w, const struct cuda_job *j, struct launch *l, bool *jit,
                   struct fault *why)
{
	uint64_t hash = hash_bytes(HASH_SEED, j->cubin, j->cubin_len);
	hash = hash_bytes(hash, j->ptx, j->ptx_len);
	struct loaded_module *m = NULL;
	for (unsigned i = 0; i < w->n_modules; i++)
		if (w->modules[i].hash == hash)
			m = &w->modules[i];
	if (!m) {
		struct loaded_module fresh = { .hash = hash };
		const double begin = wire_now();
		if (!load(w, j, &fresh, why))
			return false;
		fresh.load_ns = (wire_now() - begin) * 1e9;
		if (w->n_modules < WORK_MODULES) {
			m = &w->modules[w->n_modules++];
		} else {
			m = &w->modules[w->next_module++ % WORK_MODULES];
			w->cu.ModuleUnload(m->module);
		}
		*m = fresh;
	}
	*jit = m->jit;
	l->load_ns = m->load_ns;
	return cu_ok(w, w->cu.ModuleGetFunction(&l->function, m->module, j->entry),
	             "cuModuleGetFunction", why);
}

static bool facts(struct work *w, const struct launch *l, bool jit, struct run_static *s,
                  struct fault *why)
{
	const struct {
		CUfunction_attribute a;
		unsigned *to;
	} rows[] = {
		{ CU_FUNC_ATTRIBUTE_NUM_REGS, &s->registers },
		{ CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &s->static_shared_bytes },
		{ CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &s->local_bytes },
		{ CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &s->const_bytes },
		{ CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &s->max_threads },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int v = 0;
		if (!cu_ok(w, w->cu.FuncGetAttribute(&v, rows[i].a, l->function), "cuFuncGetAttribute",
		           why))
			return false;
		*rows[i].to = (unsigned)v;
	}
	uint64_t threads = (uint64_t)l->job->block.x * l->job->block.y * l->job->block.z;
	int blocks = 0;
	if (!cu_ok(
			w,
			w->cu.OccupancyBlocks(&blocks, l->function, (int)threads, l->job->dynamic_shared_bytes),
			"cuOccupancyMaxActiveBlocksPerMultiprocessor", why))
		return false;
	s->blocks_per_sm = (unsigned)blocks;
	s->jit = jit;
	s->known = true;
	if (threads > s->max_threads)
		return fault_set(why, FAULT_LAUNCH,
		                 "%s: %llu threads per block, at most %u with its %u "
		                 "registers",
		                 l->job->entry, (unsigned long long)threads, s->max_threads, s->registers);
	return true;
}

/* More than 48 KiB of shared memory per block must be asked for: CUDA programming guide, 9.0. */
static bool ask_shared(struct work *w, const struct launch *l, struct fault *why)
{
	if (l->job->dynamic_shared_bytes <= 48 * 1024)
		return true;
	return cu_ok(w,
	             w->cu.FuncSetAttribute(l->function,
	                                    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
	                                    (int)l->job->dynamic_shared_bytes),
	             "cuFuncSetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES)", why);
}

bool launch_on(struct work *w, const struct launch *l, const CUdeviceptr *buffers, CUstream stream,
               struct fault *why)
{
	return launch_as(w, l, l->job->grid, l->job->args, buffers, stream, why);
}

bool launch_as(struct work *w, const struct launch *l, struct dim3u grid,
               const struct kernel_arg *values, const CUdeviceptr *buffers, CUstream stream,
               struct fault *why)
{
	const struct cuda_job *j = l->job;
	CUdeviceptr pointers[KERNEL_MAX_ARGS];
	void *args[KERNEL_MAX_ARGS];
	for (unsigned a = 0; a < j->n_args; a++) {
		if (values[a].kind == ARG_BUFFER) {
			pointers[a] = buffers[values[a].buffer];
			args[a] = &pointers[a];
		} else {
			args[a] = (void *)(uintptr_t)&values[a].i64; /* first bytes of the union */
		}
	}
	return cu_ok(w,
	             w->cu.LaunchKernel(l->function, grid.x, grid.y, grid.z, j->block.x, j->block.y,
	                                j->block.z, j->dynamic_shared_bytes, stream, args, NULL),
	             "cuLaunchKernel", why);
}

bool launch_restore(struct work *w, const struct launch *l, struct fault *why)
{
	for (unsigned b = 0; b < l->job->n_buffers; b++)
		if (l->pristine[b] && !cu_ok(w,
		                             w->cu.MemcpyDtoDAsync(l->buffers[b], l->pristine[b],
		                                                   l->job->buffers[b].bytes, w->stream),
		                             "cuMemcpyDtoDAsync", why))
			return false;
	return true;
}

static void free_buffers(struct work *w, struct launch *l)
{
	for (unsigned b = 0; b < KERNEL_MAX_BUFFERS && !w->poisoned; b++) {
		if (l->buffers[b])
			w->cu.MemFree(l->buffers[b]);
		if (l->pristine[b])
			w->cu.MemFree(l->pristine[b]);
	}
	memset(l->buffers, 0, sizeof l->buffers);
	memset(l->pristine, 0, sizeof l->pristine);
}

static bool allocate(struct work *w, CUdeviceptr *p, uint64_t bytes, uint64_t all,
                     struct fault *why)
{
	CUresult r = w->cu.MemAlloc(p, bytes ? bytes : 1);
	if (r == CUDA_ERROR_OUT_OF_MEMORY) {
		size_t free_bytes = 0, total = 0;
		char need[32], have[32];
		w->cu.MemGetInfo(&free_bytes, &total);
		return fault_set(why, FAULT_OUT_OF_MEMORY, "this run needs %s, %s are free",
		                 fmt_bytes(need, sizeof need, (double)all),
		                 fmt_bytes(have, sizeof have, (double)free_bytes));
	}
	return cu_ok(w, r, "cuMemAlloc", why);
}

static bool cancelled(struct work *w, struct fault *why)
{
	return work_cancelled(w) && !fault_set(why, FAULT_CANCELLED, "%s", "");
}

/* A millisecond or two each, and the person can stop it between two. */
#define COPY_PIECE ((uint64_t)16 << 20)

/* One buffer there or back, by pieces. */
static bool copy(struct work *w, CUdeviceptr device, uint8_t *host, uint64_t bytes, bool back,
                 struct fault *why)
{
	for (uint64_t at = 0; at < bytes; at += COPY_PIECE) {
		const uint64_t n = bytes - at < COPY_PIECE ? bytes - at : COPY_PIECE;
		const CUresult r = back ? w->cu.MemcpyDtoH(host + at, device + at, n)
		                        : w->cu.MemcpyHtoD(device + at, host + at, n);
		if (!cu_ok(w, r, back ? "cuMemcpyDtoH" : "cuMemcpyHtoD", why) || cancelled(w, why))
			return false;
	}
	return true;
}

static bool upload(struct work *w, struct launch *l, uint8_t *shared, struct fault *why)
{
	const struct cuda_job *j = l->job;
	uint64_t all = 0;
	bool changes[KERNEL_MAX_BUFFERS];
	for (unsigned b = 0; b < j->n_buffers; b++) {
		changes[b] = j->buffers[b].role == BUF_INOUT || j->buffers[b].partial;
		all += j->buffers[b].bytes * (changes[b] ? 2 : 1);
	}
	for (unsigned b = 0; b < j->n_buffers; b++) {
		work_step(w, "copying buffer %s to the GPU", j->buffers[b].name);
		if (!allocate(w, &l->buffers[b], j->buffers[b].bytes, all, why) ||
		    !copy(w, l->buffers[b], shared + j->buffers[b].offset, j->buffers[b].bytes, false, why))
			return false;
		if (changes[b] && (!allocate(w, &l->pristine[b], j->buffers[b].bytes, all, why) ||
		                   !cu_ok(w,
		                          w->cu.MemcpyDtoDAsync(l->pristine[b], l->buffers[b],
		                                                j->buffers[b].bytes, w->stream),
		                          "cuMemcpyDtoDAsync", why)))
			return false;
	}
	return cu_ok(w, w->cu.StreamSynchronize(w->stream), "cuStreamSynchronize", why);
}

static bool download(struct work *w, const struct launch *l, uint8_t *shared, struct fault *why)
{
	for (unsigned b = 0; b < l->job->n_buffers; b++) {
		work_step(w, "copying buffer %s back", l->job->buffers[b].name);
		if (!copy(w, l->buffers[b], shared + l->job->buffers[b].offset, l->job->buffers[b].bytes,
		          true, why))
			return false;
	}
	return true;
}

static bool timed_launch(struct work *w, void *ctx, struct fault *why)
{
	const struct launch *l = ctx;
	return launch_on(w, l, l->buffers, w->stream, why);
}

static bool timed_restore(struct work *w, void *ctx, struct fault *why)
{
	return launch_restore(w, ctx, why);
}

/* A refused capability leaves its reason in the report, unless the process is past help. */
static bool tolerate(struct work *w, bool ok, struct cuda_report *r, unsigned cap,
                     struct fault *why)
{
	if (ok)
		return true;
	if (w->poisoned || why->id == FAULT_CANCELLED || why->id == FAULT_KERNEL_FAULT)
		return false;
	r->cap[cap] = *why;
	*why = (struct fault){ 0 };
	return true;
}

static bool measure(struct work *w, struct launch *l, uint8_t *shared, struct cuda_report *r,
                    struct fault *why)
{
	const struct cuda_job *j = l->job;
	const unsigned caps = j->caps ? j->caps : ~0u;
	if (caps & CAP_TIME) {
		const struct timed t = {
			.launch = timed_launch,
			.restore = timed_restore,
			.ctx = l,
			.repeat = j->repeat,
			.warm_l2 = j->warm_l2,
		};
		if (!tolerate(w, time_median(w, &t, &r->timing, why), r, CAPN_TIME, why))
			return false;
	}
	work_progress(w, 0.5);
	if (cancelled(w, why))
		return false;
	/* Activity collection is off while counters are read: with it on, counts are wrong. */
	if ((caps & CAP_TIMELINE) &&
	    !tolerate(w, stream_timeline(w, l, shared, r, why), r, CAPN_TIMELINE, why))
		return false;
	work_progress(w, 0.6);
	if (cancelled(w, why))
		return false;
	if ((caps & CAP_COUNTERS) &&
	    !tolerate(w, profile_counters(w, l, r, why), r, CAPN_COUNTERS, why))
		return false;
	work_progress(w, 0.9);
	if (cancelled(w, why))
		return false;
	if ((caps & CAP_PER_LINE) && !tolerate(w, lines_measure(w, l, r, why), r, CAPN_PER_LINE, why))
		return false;
	return true;
}

bool launch_run(struct work *w, const struct cuda_job *j, uint8_t *shared, struct cuda_report *r,
                struct fault *why)
{
	struct launch l = { .job = j };
	bool jit = false, ok = false;
	if (!work_context(w, j->device, why) || !launch_module(w, j, &l, &jit, why) ||
	    !ask_shared(w, &l, why) || !facts(w, &l, jit, &r->loaded, why) ||
	    !upload(w, &l, shared, why))
		goto done;
	work_progress(w, 0.1);
	work_step(w, "running %s", j->entry);
	if (!launch_on(w, &l, l.buffers, w->stream, why) ||
	    !cu_ok(w, w->cu.StreamSynchronize(w->stream), "cuStreamSynchronize", why) ||
	    !download(w, &l, shared, why))
		goto done;
	work_progress(w, 0.2);
	ok = measure(w, &l, shared, r, why);
done:
	free_buffers(w, &l);
	return ok;
}
