/* What the runtime says of the device and of kernels, for those who hold the lock already. */
#ifndef PMPP_RUNTIME_GUEST_DEVICE_H
#define PMPP_RUNTIME_GUEST_DEVICE_H

#include "runtime/guest/guest.h"

cudaError_t guest_attribute(int *value, enum cudaDeviceAttr which, int device);
void guest_attributes(const struct guest_function *f, struct cudaFuncAttributes *out);

#endif
