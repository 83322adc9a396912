/*
 * Empties the L2 cache by reading a buffer several times its size, so that every timed launch and
 * every counter pass starts from the same cold cache.
 */
#include "cuda/cuda_work.h"

/* Reads a buffer once, 16 bytes per lane; the sum keeps the compiler from dropping the loads. */
static const char flush_ptx[] =
	".version 6.4\n"
	".target sm_70\n"
	".address_size 64\n"
	".visible .entry pmpp_flush_l2(.param .u64 buffer, .param .u64 vectors, .param .u64 sink)\n"
	"{\n"
	".reg .pred %p<3>;\n"
	".reg .b32 %r<12>;\n"
	".reg .b64 %a<9>;\n"
	"ld.param.u64 %a1, [buffer];\n"
	"ld.param.u64 %a2, [vectors];\n"
	"ld.param.u64 %a3, [sink];\n"
	"cvta.to.global.u64 %a1, %a1;\n"
	"cvta.to.global.u64 %a3, %a3;\n"
	"mov.u32 %r1, %ctaid.x;\n"
	"mov.u32 %r2, %ntid.x;\n"
	"mov.u32 %r3, %tid.x;\n"
	"mov.u32 %r4, %nctaid.x;\n"
	"mul.wide.u32 %a4, %r1, %r2;\n"
	"cvt.u64.u32 %a5, %r3;\n"
	"add.s64 %a4, %a4, %a5;\n"
	"mul.wide.u32 %a6, %r4, %r2;\n"
	"mov.u32 %r5, 0;\n"
	"NEXT:\n"
	"setp.ge.u64 %p1, %a4, %a2;\n"
	"@%p1 bra DONE;\n"
	"shl.b64 %a7, %a4, 4;\n"
	"add.s64 %a7, %a1, %a7;\n"
	"ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%a7];\n"
	"xor.b32 %r6, %r6, %r7;\n"
	"xor.b32 %r8, %r8, %r9;\n"
	"xor.b32 %r6, %r6, %r8;\n"
	"add.s32 %r5, %r5, %r6;\n"
	"add.s64 %a4, %a4, %a6;\n"
	"bra NEXT;\n"
	"DONE:\n"
	"setp.ne.u32 %p2, %r5, 0x5bd1e995;\n"
	"@%p2 bra END;\n"
	"st.global.u32 [%a3], %r5;\n"
	"END:\n"
	"ret;\n"
	"}\n";

static bool prepare_flush(struct gpu_worker *w, struct cuda_fault *why)
{
	struct flusher *f = &w->flusher;
	f->tried = true;
	size_t l2 = (size_t)work_attribute(w, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
	size_t free_bytes = 0, total = 0;
	w->cu.MemGetInfo(&free_bytes, &total);
	f->bytes = l2 ? l2 * 4 : (size_t)256 << 20;
	if (f->bytes > free_bytes / 4)
		f->bytes = free_bytes / 4;
	f->bytes &= ~(size_t)255;
	if (f->bytes < 2 * l2)
		return fault_set(why, FAULT_OUT_OF_MEMORY, "no room for a buffer that empties L2");
	work_step(w, "compiling the kernel that empties L2");
	if (!cu_ok(w, w->cu.ModuleLoadData(&f->module, flush_ptx), "cuModuleLoadData(flush)", why) ||
	    !cu_ok(w, w->cu.ModuleGetFunction(&f->function, f->module, "pmpp_flush_l2"),
	           "cuModuleGetFunction", why) ||
	    !cu_ok(w, w->cu.MemAlloc(&f->buffer, f->bytes), "cuMemAlloc", why))
		return false;
	if (!cu_ok(w, w->cu.MemsetD8Async(f->buffer, 0, f->bytes, w->stream), "cuMemsetD8Async", why)) {
		w->cu.MemFree(f->buffer);
		return false;
	}
	f->blocks = (unsigned)work_attribute(w, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) * 8;
	f->ready = true;
	return true;
}

bool flush_l2(struct gpu_worker *w, struct cuda_fault *why)
{
	struct flusher *f = &w->flusher;
	if (!f->tried) {
		struct cuda_fault no_flush = { 0 };
		prepare_flush(w, &no_flush);
		if (w->poisoned)
			*why = no_flush;
	}
	if (!f->ready)
		return !w->poisoned;
	uint64_t vectors = f->bytes / 16;
	void *args[] = { &f->buffer, &vectors, &f->buffer };
	return cu_ok(
		w, w->cu.LaunchKernel(f->function, f->blocks, 1, 1, 256, 1, 1, 0, w->stream, args, NULL),
		"cuLaunchKernel(flush)", why);
}
