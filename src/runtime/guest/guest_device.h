/* What the runtime says of the device and of kernels, for those who hold the lock already. */
#ifndef PMPP_RUNTIME_GUEST_DEVICE_H
#define PMPP_RUNTIME_GUEST_DEVICE_H

#include "runtime/guest/guest.h"

cudaError_t guest_attribute(int *value, enum cudaDeviceAttr which, int device);
/* Sets *@set and gets *@get; NULL = does not. */
cudaError_t guest_limit(enum cudaLimit which, const size_t *set, size_t *get);
void guest_attributes(const struct guest_function *f, struct cudaFuncAttributes *out);

#endif
