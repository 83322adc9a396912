// C++ in device code: a vector class with operators, functors as template parameters, recursion at
// compile time, unions, enum classes, default and variadic templates.
#include "check.h"
#include <type_traits>

template <typename T, int N> struct vec {
	T v[N];
	__host__ __device__ T &operator[](int i) { return v[i]; }
	__host__ __device__ const T &operator[](int i) const { return v[i]; }
	__host__ __device__ friend vec operator+(vec a, const vec &b)
	{
		for (int i = 0; i < N; i++)
			a[i] += b[i];
		return a;
	}
	__host__ __device__ T dot(const vec &b) const
	{
		T s = 0;
		for (int i = 0; i < N; i++)
			s += v[i] * b[i];
		return s;
	}
};

struct add { template <typename T> __host__ __device__ T operator()(T a, T b) const { return a + b; } };
struct larger { template <typename T> __host__ __device__ T operator()(T a, T b) const { return a > b ? a : b; } };

template <int N> struct power {
	template <typename T> __host__ __device__ static T of(T x) { return x * power<N - 1>::of(x); }
};
template <> struct power<0> {
	template <typename T> __host__ __device__ static T of(T) { return T(1); }
};

template <typename... A> __host__ __device__ auto sum_all(A... a) { return (a + ...); }

union bits {
	float f;
	unsigned u;
	struct { unsigned mantissa : 23, exponent : 8, sign : 1; } part;
};

enum class mode : unsigned char { sum, most };

class counter {
	int hits = 0;

  public:
	__device__ explicit counter(int start) : hits(start) {}
	__device__ void hit(bool yes) { hits += yes; }
	__device__ int total() const { return hits; }
};

template <typename T, typename F, int BLOCK = 128> __global__ void reduce(const T *in, T *out, int n, F f)
{
	__shared__ T s[BLOCK];
	T mine = in[threadIdx.x % n];
	for (int i = threadIdx.x + BLOCK; i < n; i += BLOCK)
		mine = f(mine, in[i]);
	s[threadIdx.x] = mine;
	__syncthreads();
	for (int d = BLOCK / 2; d > 0; d /= 2) {
		if (threadIdx.x < d)
			s[threadIdx.x] = f(s[threadIdx.x], s[threadIdx.x + d]);
		__syncthreads();
	}
	if (threadIdx.x == 0)
		*out = s[0];
}

__global__ void mixed(const vec<float, 3> *a, float *out, mode m, int n)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	counter c(10);
	const vec<float, 3> s = a[i] + a[(i + 1) % n];
	bits b;
	b.f = s.dot(a[i]);
	for (int k = 0; k < 3; k++)
		c.hit(s[k] > 1.0f);
	const float more = m == mode::sum ? sum_all(s[0], s[1], s[2]) : larger()(s[0], s[2]);
	if constexpr (std::is_same_v<decltype(more), const float>)
		out[i] = power<3>::of(more) + (float)c.total() + (float)b.part.exponent;
}

int main()
{
	const int n = 500;
	double *d, *r, h[n], sum = 0, most = 0, got[2];
	for (int i = 0; i < n; i++) {
		h[i] = (i * 37) % 101;
		sum += h[i];
		most = h[i] > most ? h[i] : most;
	}
	CHECK(cudaMalloc(&d, sizeof h));
	CHECK(cudaMalloc(&r, sizeof got));
	CHECK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
	reduce<<<1, 128>>>(d, r, n, add());
	reduce<double, larger><<<1, 128>>>(d, r + 1, n, larger());
	CHECK(cudaMemcpy(got, r, sizeof got, cudaMemcpyDeviceToHost));
	printf("sum %.0f, most %.0f\n", got[0], got[1]);
	bool good = got[0] == sum && got[1] == most;

	std::vector<vec<float, 3>> a(n);
	for (int i = 0; i < n; i++)
		a[i] = { { i % 4 * 0.5f, i % 3 * 0.25f, i % 5 * 0.5f } };
	vec<float, 3> *da;
	float *out;
	std::vector<float> o(n);
	CHECK(cudaMalloc(&da, n * sizeof *da));
	CHECK(cudaMalloc(&out, n * sizeof *out));
	CHECK(cudaMemcpy(da, a.data(), n * sizeof *da, cudaMemcpyHostToDevice));
	for (mode m : { mode::sum, mode::most }) {
		mixed<<<(n + 127) / 128, 128>>>(da, out, m, n);
		CHECK(cudaMemcpy(o.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost));
		for (int i = 0; i < n; i++) {
			const vec<float, 3> s = a[i] + a[(i + 1) % n];
			bits b;
			b.f = s.dot(a[i]);
			const float more = m == mode::sum ? sum_all(s[0], s[1], s[2]) : larger()(s[0], s[2]);
			const int hits = 10 + (s[0] > 1) + (s[1] > 1) + (s[2] > 1);
			good = good && o[i] == power<3>::of(more) + (float)hits + (float)b.part.exponent;
		}
	}
	free_all(d, r, da, out);
	return finish("functors", good);
}
// seeds: S-012
