// A small header library as engineers write it: RAII, templates, lambdas on the device.
#include "check.h"
#include <stdexcept>
#include <type_traits>

template <class T>
class buffer {
	T *data_ = nullptr;
	size_t size_ = 0;

  public:
	explicit buffer(size_t n) : size_(n) { CHECK(cudaMalloc(&data_, n * sizeof(T))); }
	explicit buffer(const std::vector<T> &v) : buffer(v.size())
	{
		CHECK(cudaMemcpy(data_, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
	}
	buffer(const buffer &) = delete;
	~buffer() { cudaFree(data_); }
	T *get() const { return data_; }
	size_t size() const { return size_; }
	std::vector<T> host() const
	{
		std::vector<T> v(size_);
		CHECK(cudaMemcpy(v.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
		return v;
	}
};

template <class T, class F>
__global__ void apply(const T *in, T *out, size_t n, F f)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = f(in[i]);
}

struct axpb {
	double a, b;
	__device__ double operator()(double x) const { return a * x + b; }
};
struct clamp {
	int low, high;
	__device__ int operator()(int x) const { return x < low ? low : x > high ? high : x; }
};

template <class T, class F>
std::vector<T> map(const std::vector<T> &v, F f)
{
	static_assert(std::is_trivially_copyable<F>::value, "sent as a parameter");
	buffer<T> in(v), out(v.size());
	apply<<<(unsigned)((v.size() + 191) / 192), 192>>>(in.get(), out.get(), v.size(), f);
	if (cudaGetLastError() != cudaSuccess)
		throw std::runtime_error("launch");
	return out.host();
}

int main()
{
	std::vector<double> d(1000);
	std::vector<int> i(1000);
	for (int k = 0; k < 1000; k++) {
		d[k] = k;
		i[k] = k - 500;
	}
	auto d2 = map(d, axpb{ 2, 1 });
	auto i2 = map(i, clamp{ -100, 100 });
	bool good = true;
	for (int k = 0; k < 1000; k++) {
		good = good && d2[k] == 2 * k + 1;
		good = good && i2[k] == std::max(-100, std::min(100, k - 500));
	}
	printf("%.0f %d\n", d2[999], i2[999]);
	return finish("library_style", good);
}
