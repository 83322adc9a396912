/*
 * From error numbers of the driver and of CUPTI to a reason and a remedy.
 *
 * One table (cuda_fault.def); no other file words a refusal. Needs no CUDA header and no GPU.
 */
#ifndef PMPP_CUDA_CUDA_FAULT_H
#define PMPP_CUDA_CUDA_FAULT_H

#include "base/err.h"

enum fault_id {
#define FAULT(id, key, reason, remedy) FAULT_##id,
#include "cuda/cuda_fault.def"
#undef FAULT
	FAULT_COUNT
};

/* A fault and what is particular about this one: "cuInit: 803 ...", "driver 12.2". */
struct cuda_fault {
	enum fault_id id;
	char detail[256];
};

const char *fault_key(enum fault_id id);
const char *fault_reason(enum fault_id id); /* static text */
const char *fault_remedy(enum fault_id id);
enum fault_id fault_of_cuda(int result);
enum fault_id fault_of_cupti(int result);
/* The error class that belongs to a fault. */
enum err_code fault_code(enum fault_id id);
/* Sets @f and returns false. */
bool fault_set(struct cuda_fault *f, enum fault_id id, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* "reason (detail)" and the remedy. Returns false. */
bool fault_to_err(const struct cuda_fault *f, struct err *err);

#endif
