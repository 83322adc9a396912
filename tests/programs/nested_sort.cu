// Quicksort whose two halves are sorted by kernels that the kernel launches; a tail launch checks it.
// nvcc: -rdc=true
#include "check.h"

const int small = 32, deepest = 20;

__device__ void selection_sort(unsigned *x, int left, int right)
{
	for (int i = left; i <= right; i++) {
		int least = i;
		for (int j = i + 1; j <= right; j++)
			if (x[j] < x[least])
				least = j;
		unsigned t = x[i];
		x[i] = x[least];
		x[least] = t;
	}
}

__global__ void quicksort(unsigned *x, int left, int right, int depth)
{
	if (depth >= deepest || right - left <= small) {
		selection_sort(x, left, right);
		return;
	}
	int l = left, r = right;
	unsigned pivot = x[(left + right) / 2];
	while (l <= r) {
		while (x[l] < pivot)
			l++;
		while (x[r] > pivot)
			r--;
		if (l > r)
			break;
		unsigned t = x[l];
		x[l++] = x[r];
		x[r--] = t;
	}
	if (left < r) {
		cudaStream_t s;
		cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
		quicksort<<<1, 1, 0, s>>>(x, left, r, depth + 1);
		cudaStreamDestroy(s);
	}
	if (l < right) {
		cudaStream_t s;
		cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
		quicksort<<<1, 1, 0, s>>>(x, l, right, depth + 1);
		cudaStreamDestroy(s);
	}
}

template <typename T> __global__ void in_order(const T *x, int n, int *wrong)
{
	for (int i = threadIdx.x; i + 1 < n; i += blockDim.x)
		if (x[i] > x[i + 1])
			atomicAdd(wrong, 1);
}

__global__ void sort(unsigned *x, int n, int *wrong)
{
	quicksort<<<1, 1>>>(x, 0, n - 1, 0);
	in_order<<<1, 128, 0, cudaStreamTailLaunch>>>(x, n, wrong);
	printf("sorting %d, %s\n", n, cudaGetErrorString(cudaGetLastError()));
}

int main()
{
	const int n = 1500;
	unsigned *x, state = 7, before = 0, after = 0;
	int *wrong;
	CHECK(cudaMallocManaged(&x, n * sizeof *x));
	CHECK(cudaMallocManaged(&wrong, sizeof *wrong));
	*wrong = 0;
	for (int i = 0; i < n; i++)
		before ^= x[i] = next_random(state);
	sort<<<1, 1>>>(x, n, wrong);
	CHECK(cudaDeviceSynchronize());
	bool good = *wrong == 0;
	for (int i = 0; i < n; i++) {
		after ^= x[i];
		good &= i == 0 || x[i - 1] <= x[i];
	}
	free_all(x, wrong);
	return finish("nested_sort", good && before == after);
}
