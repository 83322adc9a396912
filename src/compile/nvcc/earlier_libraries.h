// What the Thrust and CUB of CUDA 12 and earlier had, for programs that use it.
#pragma once
#include <cstddef>
#include <new>
#include <thrust/detail/config.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace thrust
{
template <class A, class R> struct unary_function {
	typedef A argument_type;
	typedef R result_type;
};
template <class A, class B, class R> struct binary_function {
	typedef A first_argument_type;
	typedef B second_argument_type;
	typedef R result_type;
};
template <class T = void> struct identity {
	__host__ __device__ const T &operator()(const T &x) const
	{
		return x;
	}
};
template <class P> struct unary_negate {
	P predicate;
	template <class A> __host__ __device__ bool operator()(const A &a)
	{
		return !predicate(a);
	}
};
template <class P> struct binary_negate {
	P predicate;
	template <class A, class B> __host__ __device__ bool operator()(const A &a, const B &b)
	{
		return !predicate(a, b);
	}
};
template <class P> __host__ __device__ unary_negate<P> not1(const P &predicate)
{
	return { predicate };
}
template <class P> __host__ __device__ binary_negate<P> not2(const P &predicate)
{
	return { predicate };
}
} // namespace thrust
namespace cub
{
__device__ __forceinline__ unsigned LaneId()
{
	unsigned lane;
	asm("mov.u32 %0, %%laneid;" : "=r"(lane));
	return lane;
}
__device__ __forceinline__ unsigned WarpId()
{
	unsigned warp;
	asm("mov.u32 %0, %%warpid;" : "=r"(warp));
	return warp;
}
__device__ __forceinline__ void CTA_SYNC()
{
	__syncthreads();
}
__device__ __forceinline__ void WARP_SYNC(unsigned lanes)
{
	__syncwarp(lanes);
}
struct Sum {
	template <class T> __host__ __device__ T operator()(const T &a, const T &b) const
	{
		return a + b;
	}
};
struct Max {
	template <class T> __host__ __device__ T operator()(const T &a, const T &b) const
	{
		return a < b ? b : a;
	}
};
struct Min {
	template <class T> __host__ __device__ T operator()(const T &a, const T &b) const
	{
		return b < a ? b : a;
	}
};
struct Equality {
	template <class T> __host__ __device__ bool operator()(const T &a, const T &b) const
	{
		return a == b;
	}
};
struct Inequality {
	template <class T> __host__ __device__ bool operator()(const T &a, const T &b) const
	{
		return a != b;
	}
};
struct Difference {
	template <class T> __host__ __device__ T operator()(const T &a, const T &b) const
	{
		return a - b;
	}
};
struct Division {
	template <class T> __host__ __device__ T operator()(const T &a, const T &b) const
	{
		return a / b;
	}
};
template <class V, class Offset = ptrdiff_t>
using CountingInputIterator = thrust::counting_iterator<V>;
template <class V, class Offset = ptrdiff_t>
using ConstantInputIterator = thrust::constant_iterator<V>;
template <class V, class Op, class From, class Offset = ptrdiff_t>
using TransformInputIterator = thrust::transform_iterator<Op, From, V>;
template <class Offset = ptrdiff_t> using DiscardOutputIterator = thrust::discard_iterator<>;
} // namespace cub

// Page-locked memory for a thrust::host_vector.
THRUST_NAMESPACE_BEGIN
namespace system
{
namespace cuda
{
namespace experimental
{
template <class T> struct pinned_allocator {
	typedef T value_type;
	pinned_allocator() = default;
	template <class U> pinned_allocator(const pinned_allocator<U> &) {}
	T *allocate(size_t n)
	{
		void *memory;
		if (cudaMallocHost(&memory, n * sizeof(T)) != cudaSuccess)
			throw std::bad_alloc();
		return static_cast<T *>(memory);
	}
	void deallocate(T *memory, size_t)
	{
		cudaFreeHost(memory);
	}
	template <class U> bool operator==(const pinned_allocator<U> &) const
	{
		return true;
	}
	template <class U> bool operator!=(const pinned_allocator<U> &) const
	{
		return false;
	}
};
} // namespace experimental
} // namespace cuda
} // namespace system
namespace cuda
{
namespace experimental
{
using thrust::system::cuda::experimental::pinned_allocator;
}
} // namespace cuda
THRUST_NAMESPACE_END
