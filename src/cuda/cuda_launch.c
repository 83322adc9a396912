/*
 * Modules and launches: a kernel's code is loaded once, launched with any buffers, on any stream.
 */
#include "cuda/cuda_work.h"
#include "base/monotonic.h"
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
static bool load_ptx(struct gpu_worker *w, const char *ptx, CUmodule *module,
                     struct cuda_fault *why)
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

static bool load_module(struct gpu_worker *w, const struct cuda_job *j, struct loaded_module *m,
                        struct cuda_fault *why)
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

bool launch_module(struct gpu_worker *w, const struct cuda_job *j, struct gpu_launch *l, bool *jit,
                   struct cuda_fault *why)
{
	uint64_t hash = hash_bytes(HASH_SEED, j->cubin, j->cubin_len);
	hash = hash_bytes(hash, j->ptx, j->ptx_len);
	struct loaded_module *m = NULL;
	for (unsigned i = 0; i < w->n_modules; i++)
		if (w->modules[i].hash == hash)
			m = &w->modules[i];
	if (!m) {
		struct loaded_module fresh = { .hash = hash };
		const double begin = clock_now_s();
		if (!load_module(w, j, &fresh, why))
			return false;
		fresh.load_ns = (clock_now_s() - begin) * 1e9;
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

bool launch_on(struct gpu_worker *w, const struct gpu_launch *l, const CUdeviceptr *buffers,
               CUstream stream, struct cuda_fault *why)
{
	return launch_as(w, l, l->job->grid, l->job->args, buffers, stream, why);
}

bool launch_as(struct gpu_worker *w, const struct gpu_launch *l, struct dim3u grid,
               const struct kernel_arg *values, const CUdeviceptr *buffers, CUstream stream,
               struct cuda_fault *why)
{
	const struct cuda_job *j = l->job;
	CUdeviceptr pointers[KERNEL_MAX_ARGS];
	void *args[KERNEL_MAX_ARGS];
	for (unsigned a = 0; a < j->n_args; a++) {
		if (values[a].kind == ARG_BUFFER) {
			pointers[a] = buffers[values[a].buffer] + values[a].offset;
			args[a] = &pointers[a];
		} else if (values[a].kind == ARG_BYTES) {
			args[a] = (void *)(uintptr_t)values[a].bytes;
		} else {
			args[a] = (void *)(uintptr_t)&values[a].i64; /* first bytes of the union */
		}
	}
	return cu_ok(w,
	             w->cu.LaunchKernel(l->function, grid.x, grid.y, grid.z, j->block.x, j->block.y,
	                                j->block.z, j->dynamic_shared_bytes, stream, args, NULL),
	             "cuLaunchKernel", why);
}

bool launch_restore(struct gpu_worker *w, const struct gpu_launch *l, struct cuda_fault *why)
{
	for (unsigned b = 0; b < l->job->n_buffers; b++)
		if (l->pristine[b] && !cu_ok(w,
		                             w->cu.MemcpyDtoDAsync(l->buffers[b], l->pristine[b],
		                                                   l->job->buffers[b].bytes, w->stream),
		                             "cuMemcpyDtoDAsync", why))
			return false;
	return true;
}
