// malloc and free, new and delete in device code: lists, reuse, memory that outlives its kernel, no room.
#include "check.h"

struct node {
	int value;
	node *next;
};
__global__ void lists(int *sum)
{
	node *head = nullptr;
	for (int k = 0; k < 5; k++) {
		node *n = new node;
		n->value = k + threadIdx.x;
		n->next = head;
		head = n;
	}
	int s = 0;
	while (head) {
		s += head->value;
		node *n = head;
		head = head->next;
		delete n;
	}
	sum[threadIdx.x] = s;
}
__device__ int *kept;
__global__ void keep(int n)
{
	kept = (int *)malloc(n * sizeof(int));
	for (int i = 0; i < n; i++)
		kept[i] = i * i;
}
__global__ void use(int *out, int n)
{
	for (int i = 0; i < n; i++)
		out[i] = kept[i];
	free(kept);
}
__global__ void too_much(int *none) { none[threadIdx.x] = malloc((size_t)1 << 30) == nullptr; }

int main()
{
	int *out;
	bool good = true;
	CHECK(cudaMallocManaged(&out, 1000 * sizeof *out));
	for (int turn = 0; turn < 3; turn++) {
		lists<<<1, 64>>>(out);
		CHECK(cudaDeviceSynchronize());
		for (int i = 0; i < 64; i++)
			good &= out[i] == 10 + 5 * i;
	}
	keep<<<1, 1>>>(1000);
	use<<<1, 1>>>(out, 1000);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < 1000; i++)
		good &= out[i] == i * i;
	too_much<<<1, 32>>>(out);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < 32; i++)
		good &= out[i] == 1;
	CHECK(cudaFree(out));
	return finish("device_heap", good);
}
