/*
 * What programs use of helper_cuda.h of NVIDIA's samples, where that is not installed: errors are
 * named and end the program, a device is chosen.
 */
#ifndef PMPP_HELPER_CUDA_H
#define PMPP_HELPER_CUDA_H

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "helper_string.h"

#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef DEVICE_RESET
#define DEVICE_RESET cudaDeviceReset();
#endif

inline const char *_cudaGetErrorEnum(cudaError_t error)
{
	return cudaGetErrorName(error);
}
/* of the driver and of libraries: its number says it */
template <class T> inline const char *_cudaGetErrorEnum(T)
{
	return "";
}

template <class T> void check(T result, char const *const call, const char *const file, int line)
{
	if (!result)
		return;
	fprintf(stderr, "%s:%d: %s: error %d %s\n", file, line, call, (int)result,
	        _cudaGetErrorEnum(result));
	exit(EXIT_FAILURE);
}
#define checkCudaErrors(call) check((call), #call, __FILE__, __LINE__)

inline void __getLastCudaError(const char *what, const char *file, int line)
{
	const cudaError_t error = cudaGetLastError();
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, cudaGetErrorString(error));
	exit(EXIT_FAILURE);
}
#define getLastCudaError(what) __getLastCudaError(what, __FILE__, __LINE__)
#define printLastCudaError(what) __printLastCudaError(what, __FILE__, __LINE__)
inline void __printLastCudaError(const char *what, const char *file, int line)
{
	const cudaError_t error = cudaGetLastError();
	if (error != cudaSuccess)
		fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, cudaGetErrorString(error));
}

inline int ftoi(float value)
{
	return (int)(value >= 0 ? value + 0.5f : value - 0.5f);
}

/* Lanes for FP32 of an SM. */
inline int _ConvertSMVer2Cores(int major, int minor)
{
	switch (major) {
	case 3: return 192;
	case 6: return minor ? 128 : 64;
	case 7: return 64;
	case 8: return minor ? 128 : 64;
	default: return 128;
	}
}
inline const char *_ConvertSMVer2ArchName(int major, int minor)
{
	switch (major) {
	case 3: return "Kepler";
	case 5: return "Maxwell";
	case 6: return "Pascal";
	case 7: return minor >= 5 ? "Turing" : minor == 2 ? "Xavier" : "Volta";
	case 8: return minor == 9 ? "Ada" : "Ampere";
	case 9: return "Hopper";
	default: return "Blackwell";
	}
}

inline int gpuDeviceInit(int device)
{
	int count = 0;
	checkCudaErrors(cudaGetDeviceCount(&count));
	if (device < 0)
		device = 0;
	if (device >= count) {
		fprintf(stderr, "there is no device %d; there are %d\n", device, count);
		return -device;
	}
	checkCudaErrors(cudaSetDevice(device));
	return device;
}

/* The one with most lanes. */
inline int gpuGetMaxGflopsDeviceId()
{
	int count = 0, best = 0, most = -1;
	checkCudaErrors(cudaGetDeviceCount(&count));
	for (int i = 0; i < count; i++) {
		int sms = 0, major = 0, minor = 0;
		checkCudaErrors(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, i));
		checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, i));
		checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, i));
		if (sms * _ConvertSMVer2Cores(major, minor) > most) {
			most = sms * _ConvertSMVer2Cores(major, minor);
			best = i;
		}
	}
	return best;
}

inline int findCudaDevice(int argc, const char **argv)
{
	const char *asked = pmpp_option(argc, argv, "device");
	const int device = gpuDeviceInit(asked ? atoi(asked) : gpuGetMaxGflopsDeviceId());
	int major = 0, minor = 0;
	if (device < 0)
		exit(EXIT_FAILURE);
	checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
	checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
	printf("GPU Device %d: \"%s\" with compute capability %d.%d\n\n", device,
	       _ConvertSMVer2ArchName(major, minor), major, minor);
	return device;
}

inline bool checkCudaCapabilities(int wanted_major, int wanted_minor)
{
	int device = 0, major = 0, minor = 0;
	checkCudaErrors(cudaGetDevice(&device));
	checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
	checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
	const bool has = major > wanted_major || (major == wanted_major && minor >= wanted_minor);
	if (!has)
		printf("device %d has compute capability %d.%d, and %d.%d is needed\n", device, major,
		       minor, wanted_major, wanted_minor);
	return has;
}

#endif
