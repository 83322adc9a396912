// Thrust as most programs use it: sort, reduce, transform, scan, a functor, a zip of two vectors.
#include "check.h"
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <algorithm>
#include <numeric>

struct saxpy {
	float a;
	__host__ __device__ float operator()(float x, float y) const
	{
		return a * x + y;
	}
};

struct is_even {
	__host__ __device__ bool operator()(int v) const
	{
		return v % 2 == 0;
	}
};

struct square {
	__host__ __device__ long long operator()(int x) const
	{
		return (long long)x * x;
	}
};

int main()
{
	const int n = 20000;
	unsigned seed = 11;
	thrust::host_vector<int> h(n);
	for (int i = 0; i < n; i++)
		h[i] = next_random(seed) % 100000;
	thrust::device_vector<int> d = h;

	thrust::sort(d.begin(), d.end());
	std::vector<int> expected(h.begin(), h.end());
	std::sort(expected.begin(), expected.end());
	thrust::host_vector<int> sorted = d;
	bool good = std::equal(expected.begin(), expected.end(), sorted.begin());

	const long long sum = thrust::reduce(d.begin(), d.end(), 0LL, thrust::plus<long long>());
	good = good && sum == std::accumulate(expected.begin(), expected.end(), 0LL);
	const long long squares = thrust::transform_reduce(d.begin(), d.end(), square(), 0LL,
	                                                   thrust::plus<long long>());
	long long want = 0;
	for (int v : expected)
		want += (long long)v * v;
	good = good && squares == want;
	printf("sum %lld, smallest %d, largest %d\n", sum, (int)d.front(), (int)d.back());

	thrust::device_vector<int> prefix(n);
	thrust::inclusive_scan(d.begin(), d.end(), prefix.begin());
	good = good && prefix[n - 1] == (int)sum;
	thrust::exclusive_scan(d.begin(), d.end(), prefix.begin());
	good = good && prefix[0] == 0 && prefix[2] == expected[0] + expected[1];

	thrust::device_vector<float> x(n), y(n, 2.0f);
	thrust::sequence(x.begin(), x.end());
	thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), saxpy{ 0.5f });
	const float largest = *thrust::max_element(y.begin(), y.end());
	good = good && largest == 0.5f * (n - 1) + 2.0f;
	printf("largest of a x + y: %.1f\n", largest);

	// keys with values, and what is left of them
	thrust::device_vector<int> keys(h.begin(), h.begin() + 1000), index(1000);
	thrust::sequence(index.begin(), index.end());
	thrust::sort_by_key(keys.begin(), keys.end(), index.begin(), thrust::greater<int>());
	const int first = index[0];
	good = good && h[first] == *std::max_element(h.begin(), h.begin() + 1000);
	const int even = thrust::count_if(d.begin(), d.end(), is_even());
	good = good && even == std::count_if(expected.begin(), expected.end(),
	                                     [](int v) { return v % 2 == 0; });
	printf("%d of %d are even\n", even, n);
	return finish("thrust_basics", good);
}
