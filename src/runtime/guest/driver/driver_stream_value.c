/*
 * Values of memory that streams write and wait for. A write is a set of one word; a wait is a
 * kernel of one thread, which looks until the value is there: what is behind it in its stream waits
 * as behind any kernel that waits for memory to change (guest_flight.c).
 */
#include "runtime/guest/driver/driver.h"

#include <pthread.h>
#include <stdio.h>

#define WAITS 4 /* enum CUstreamWaitValue_flags without the flush */

/* Goes round again as long as it holds: t is free, v the value found, want the one wanted. */
static const char *const again[WAITS] = {
	[CU_STREAM_WAIT_VALUE_GEQ] = "sub.s%u t, v, want;\nsetp.lt.s%u p, t, 0;\n",
	[CU_STREAM_WAIT_VALUE_EQ] = "mov.b%u t, v;\nsetp.ne.u%u p, t, want;\n",
	[CU_STREAM_WAIT_VALUE_AND] = "and.b%u t, v, want;\nsetp.eq.u%u p, t, 0;\n",
	[CU_STREAM_WAIT_VALUE_NOR] = "or.b%u t, v, want;\nsetp.eq.u%u p, t, -1;\n",
};
static const char *const names[WAITS] = { "geq", "eq", "and", "nor" };

static CUresult load_wait(CUfunction *out, unsigned how, unsigned bits)
{
	char name[64], test[128], text[1024];
	CUmodule module;
	snprintf(name, sizeof name, "stream_wait_value_%s_%u", names[how], bits);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(test, sizeof test, again[how], bits, bits);
#pragma GCC diagnostic pop
	snprintf(text, sizeof text,
	         ".version 7.0\n.target sm_70\n.address_size 64\n"
	         ".visible .entry %s(.param .u64 at, .param .u%u value)\n{\n"
	         ".reg .b64 a;\n.reg .b%u v, t, want;\n.reg .pred p;\n"
	         "ld.param.u64 a, [at];\nld.param.u%u want, [value];\n"
	         "AGAIN:\nld.volatile.global.u%u v, [a];\n%s@p bra AGAIN;\nret;\n}\n",
	         name, bits, bits, bits, bits, test);
	const CUresult r = cuModuleLoadData(&module, text);
	return r == CUDA_SUCCESS ? cuModuleGetFunction(out, module, name) : r;
}

/* Loaded when first asked for; it stays. */
static CUresult wait_function(CUfunction *out, unsigned how, unsigned bits)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static CUfunction function[WAITS][2];
	CUresult r = CUDA_SUCCESS;
	pthread_mutex_lock(&lock);
	CUfunction *f = &function[how][bits == 64];
	if (!*f)
		r = load_wait(f, how, bits);
	*out = *f;
	pthread_mutex_unlock(&lock);
	return r;
}

static CUresult wait_for_value(CUstream stream, CUdeviceptr at, uint64_t value, unsigned flags,
                               unsigned bits)
{
	const unsigned how = flags & ~(unsigned)CU_STREAM_WAIT_VALUE_FLUSH;
	CUfunction f;
	if (how >= WAITS || !at || at % (bits / 8))
		return CUDA_ERROR_INVALID_VALUE;
	const CUresult r = wait_function(&f, how, bits);
	if (r != CUDA_SUCCESS)
		return r;
	void *args[] = { &at, &value };
	return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL);
}

static CUresult write_value(CUstream stream, CUdeviceptr at, uint64_t value, unsigned flags,
                            unsigned bits)
{
	if ((flags & ~(unsigned)CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) || at % (bits / 8))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult r = CUDA_SUCCESS;
	if (bits == 64)
		r = cuMemsetD32Async(at + 4, (unsigned)(value >> 32), 1, stream);
	return r == CUDA_SUCCESS ? cuMemsetD32Async(at, (unsigned)value, 1, stream) : r;
}

GUEST_API CUresult CUDAAPI cuStreamWaitValue32(CUstream stream, CUdeviceptr at, cuuint32_t value,
                                               unsigned flags)
{
	return wait_for_value(stream, at, value, flags, 32);
}

GUEST_API CUresult CUDAAPI cuStreamWaitValue64(CUstream stream, CUdeviceptr at, cuuint64_t value,
                                               unsigned flags)
{
	return wait_for_value(stream, at, value, flags, 64);
}

GUEST_API CUresult CUDAAPI cuStreamWriteValue32(CUstream stream, CUdeviceptr at, cuuint32_t value,
                                                unsigned flags)
{
	return write_value(stream, at, value, flags, 32);
}

GUEST_API CUresult CUDAAPI cuStreamWriteValue64(CUstream stream, CUdeviceptr at, cuuint64_t value,
                                                unsigned flags)
{
	return write_value(stream, at, value, flags, 64);
}

static CUresult do_one(CUstream stream, const CUstreamBatchMemOpParams *p)
{
	switch (p->operation) {
	case CU_STREAM_MEM_OP_WAIT_VALUE_32:
		return wait_for_value(stream, p->waitValue.address, p->waitValue.value, p->waitValue.flags,
		                      32);
	case CU_STREAM_MEM_OP_WAIT_VALUE_64:
		return wait_for_value(stream, p->waitValue.address, p->waitValue.value64,
		                      p->waitValue.flags, 64);
	case CU_STREAM_MEM_OP_WRITE_VALUE_32:
		return write_value(stream, p->writeValue.address, p->writeValue.value, p->writeValue.flags,
		                   32);
	case CU_STREAM_MEM_OP_WRITE_VALUE_64:
		return write_value(stream, p->writeValue.address, p->writeValue.value64,
		                   p->writeValue.flags, 64);
	case CU_STREAM_MEM_OP_BARRIER:
	case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: return CUDA_SUCCESS; /* all is done in order */
	default: return CUDA_ERROR_INVALID_VALUE;
	}
}

GUEST_API CUresult CUDAAPI cuStreamBatchMemOp(CUstream stream, unsigned n,
                                              CUstreamBatchMemOpParams *ops, unsigned flags)
{
	if (flags || !ops || n > 256)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult r = CUDA_SUCCESS;
	for (unsigned i = 0; i < n && r == CUDA_SUCCESS; i++)
		r = do_one(stream, &ops[i]);
	return r;
}
