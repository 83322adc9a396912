// A linked list in managed memory, made by the host, walked and changed by the device.
#include "check.h"

struct node {
	int value;
	node *next;
};
__managed__ int visits;

__global__ void walk(node *head, int *sum)
{
	int s = 0;
	for (node *p = head; p; p = p->next) {
		s += p->value;
		p->value = -p->value;
	}
	*sum = s;
	visits += 1;
}

int main()
{
	node *head = nullptr;
	int *sum, want = 0;
	CHECK(cudaMallocManaged(&sum, sizeof *sum));
	visits = 41;
	for (int i = 1; i <= 20; i++) {
		node *p;
		CHECK(cudaMallocManaged(&p, sizeof *p));
		*p = { i * i, head };
		head = p;
		want += i * i;
	}
	walk<<<1, 1>>>(head, sum);
	CHECK(cudaDeviceSynchronize());
	bool good = *sum == want && visits == 42;
	printf("sum %d, visits %d, head %d\n", *sum, visits, head->value);
	while (head) {
		node *next = head->next;
		good = good && head->value < 0;
		CHECK(cudaFree(head));
		head = next;
	}
	CHECK(cudaFree(sum));
	return finish("managed_list", good);
}
// seeds: S-433
