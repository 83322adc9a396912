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

/* Registers, memory and resident blocks of the kernel, as the driver says. */
static bool kernel_facts(struct gpu_worker *w, const struct gpu_launch *l, bool jit,
                         struct run_static *s, struct cuda_fault *why)
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
static bool ask_shared(struct gpu_worker *w, const struct gpu_launch *l, struct cuda_fault *why)
{
	if (l->job->dynamic_shared_bytes <= 48 * 1024)
		return true;
	return cu_ok(w,
	             w->cu.FuncSetAttribute(l->function,
	                                    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
	                                    (int)l->job->dynamic_shared_bytes),
	             "cuFuncSetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES)", why);
}

static void free_buffers(struct gpu_worker *w, struct gpu_launch *l)
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

static bool allocate(struct gpu_worker *w, CUdeviceptr *p, uint64_t bytes, uint64_t all,
                     struct cuda_fault *why)
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

/* One buffer's contents before the run. */
static bool fill(struct gpu_worker *w, struct gpu_launch *l, unsigned b, uint8_t *shared,
                 struct cuda_fault *why)
{
	const struct cuda_job *j = l->job;
	const uint64_t bytes = j->buffers[b].bytes, words = bytes / sizeof(uint32_t);
	uint32_t pattern = j->buffers[b].pattern;
	if (!j->buffers[b].patterned)
		return copy_buffer(w, l->buffers[b], shared + j->buffers[b].offset, bytes, false, why);
	return (!words || cu_ok(w, w->cu.MemsetD32Async(l->buffers[b], pattern, words, w->stream),
	                        "cuMemsetD32Async", why)) &&
	       copy_buffer(w, l->buffers[b] + words * sizeof pattern, (uint8_t *)&pattern,
	                   bytes % sizeof pattern, false, why);
}

static bool upload(struct gpu_worker *w, struct gpu_launch *l, uint8_t *shared,
                   struct cuda_fault *why)
{
	const struct cuda_job *j = l->job;
	uint64_t all = 0;
	bool changes[KERNEL_MAX_BUFFERS] = { false };
	for (unsigned b = 0; b < j->n_buffers; b++) {
		changes[b] = j->buffers[b].role == BUF_INOUT || j->buffers[b].partial;
		all += j->buffers[b].bytes * (changes[b] ? 2 : 1);
	}
	for (unsigned b = 0; b < j->n_buffers; b++) {
		work_step(w, "copying buffer %s to the GPU", j->buffers[b].name);
		if (!allocate(w, &l->buffers[b], j->buffers[b].bytes, all, why) ||
		    !fill(w, l, b, shared, why))
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

static bool download(struct gpu_worker *w, const struct gpu_launch *l, uint8_t *shared,
                     struct cuda_fault *why)
{
	for (unsigned b = 0; b < l->job->n_buffers; b++) {
		work_step(w, "copying buffer %s back", l->job->buffers[b].name);
		if (!copy_buffer(w, l->buffers[b], shared + l->job->buffers[b].offset,
		                 l->job->buffers[b].bytes, true, why))
			return false;
	}
	return true;
}

static bool timed_launch(struct gpu_worker *w, void *ctx, struct cuda_fault *why)
{
	const struct gpu_launch *l = ctx;
	return launch_on(w, l, l->buffers, w->stream, why);
}

static bool timed_restore(struct gpu_worker *w, void *ctx, struct cuda_fault *why)
{
	return launch_restore(w, ctx, why);
}

/* A refused capability leaves its reason in the report, unless the process is past help. */
static bool tolerate(struct gpu_worker *w, bool ok, struct cuda_report *r, unsigned cap,
                     struct cuda_fault *why)
{
	if (ok)
		return true;
	if (w->poisoned || why->id == FAULT_CANCELLED || why->id == FAULT_KERNEL_FAULT)
		return false;
	r->cap[cap] = *why;
	*why = (struct cuda_fault){ 0 };
	return true;
}

static bool measure(struct gpu_worker *w, struct gpu_launch *l, uint8_t *shared,
                    struct cuda_report *r, struct cuda_fault *why)
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
		if (!tolerate(w, time_median(w, &t, &r->run.timing, why), r, CAPN_TIME, why))
			return false;
	}
	work_progress(w, 0.5);
	if (work_stopped(w, why))
		return false;
	/* Activity collection is off while counters are read: with it on, counts are wrong. */
	if ((caps & CAP_TIMELINE) &&
	    !tolerate(w, stream_timeline(w, l, shared, r, why), r, CAPN_TIMELINE, why))
		return false;
	work_progress(w, 0.6);
	if (work_stopped(w, why))
		return false;
	if ((caps & CAP_COUNTERS) &&
	    !tolerate(w, profile_counters(w, l, r, why), r, CAPN_COUNTERS, why))
		return false;
	work_progress(w, 0.9);
	if (work_stopped(w, why))
		return false;
	if ((caps & CAP_PER_LINE) && !tolerate(w, lines_measure(w, l, r, why), r, CAPN_PER_LINE, why))
		return false;
	return true;
}

bool run_job(struct gpu_worker *w, const struct cuda_job *j, uint8_t *shared, struct cuda_report *r,
             struct cuda_fault *why)
{
	struct gpu_launch l = { .job = j };
	bool jit = false, ok = false;
	if (!work_context(w, j->device, why) || !launch_module(w, j, &l, &jit, why) ||
	    !ask_shared(w, &l, why) || !kernel_facts(w, &l, jit, &r->run.loaded, why) ||
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
	copy_end(w);
	free_buffers(w, &l);
	return ok;
}
