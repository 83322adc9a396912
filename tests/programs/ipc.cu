// emulator only: a record of a GPU would show the launches of one process alone
// Memory and events of one process used by two others, which it forks before it uses the GPU: each
// adds to its part, and what they leave is seen here.
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

constexpr int N = 3000, CHILDREN = 2;

struct handles {
	cudaIpcMemHandle_t memory;
	cudaIpcEventHandle_t ready;
};

__global__ void count_up(int *x, int from)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < N)
		x[i] = from + i;
}

__global__ void add(int *x, int first, int n, int what)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[first + i] += what;
}

static bool send_all(int fd, const void *what, size_t n)
{
	return write(fd, what, n) == (ssize_t)n;
}

static bool take_all(int fd, void *what, size_t n)
{
	size_t had = 0;
	for (ssize_t more; had < n && (more = read(fd, (char *)what + had, n - had)) > 0;)
		had += (size_t)more;
	return had == n;
}

static int child(int number, int in, int out)
{
	handles h;
	int *x, *again, first = number * N / CHILDREN, found[2];
	cudaEvent_t ready;
	if (!take_all(in, &h, sizeof h))
		return 1;
	CHECK(cudaIpcOpenMemHandle((void **)&x, h.memory, cudaIpcMemLazyEnablePeerAccess));
	CHECK(cudaIpcOpenMemHandle((void **)&again, h.memory, cudaIpcMemLazyEnablePeerAccess));
	CHECK(cudaIpcOpenEventHandle(&ready, h.ready));
	CHECK(cudaStreamWaitEvent(0, ready, 0));
	add<<<(N / CHILDREN + 127) / 128, 128>>>(x, first, N / CHILDREN, 1000 * (number + 1));
	CHECK(cudaMemcpy(found, x + first, sizeof found, cudaMemcpyDeviceToHost));
	if (again != x || found[0] != first + 1000 * (number + 1) || found[1] != found[0] + 1)
		return 2;
	send_all(out, "1", 1);
	char go;
	if (!take_all(in, &go, 1)) // the memory has been set anew
		return 3;
	add<<<(N / CHILDREN + 127) / 128, 128>>>(x, first, N / CHILDREN, 1000 * (number + 1));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaEventDestroy(ready));
	CHECK(cudaIpcCloseMemHandle(again));
	CHECK(cudaIpcCloseMemHandle(x));
	return cudaIpcCloseMemHandle(x) == cudaErrorInvalidValue ? 10 + number : 4;
}

static bool as_left(const int *x, int from)
{
	std::vector<int> found(N);
	bool good = true;
	CHECK(cudaMemcpy(found.data(), x, N * sizeof(int), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		good &= found[i] == from + i + 1000 * (i / (N / CHILDREN) + 1);
	return good;
}

int main()
{
	int to[CHILDREN][2], back[CHILDREN][2], status;
	for (int i = 0; i < CHILDREN; i++) {
		if (pipe(to[i]) || pipe(back[i]))
			return 1;
		if (fork() == 0)
			_exit(child(i, to[i][0], back[i][1]));
	}
	int *before, *x, *behind, guard[2] = { 0, 0 };
	handles h;
	cudaEvent_t ready, plain;
	CHECK(cudaMalloc(&before, 64));
	CHECK(cudaMalloc(&x, N * sizeof(int)));
	CHECK(cudaMalloc(&behind, 64));
	CHECK(cudaMemset(before, 7, 64));
	CHECK(cudaMemset(behind, 9, 64));
	CHECK(cudaEventCreateWithFlags(&ready, cudaEventInterprocess | cudaEventDisableTiming));
	CHECK(cudaEventCreate(&plain));
	CHECK(cudaIpcGetEventHandle(&h.ready, ready));
	bool good = cudaIpcGetEventHandle(&h.ready, plain) != cudaSuccess;
	CHECK(cudaIpcGetMemHandle(&h.memory, x));
	void *own;
	good &= cudaIpcOpenMemHandle(&own, h.memory, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess;
	good &= cudaIpcGetMemHandle(&h.memory, x + 1) == cudaErrorInvalidValue;
	count_up<<<(N + 127) / 128, 128>>>(x, 0);
	CHECK(cudaEventRecord(ready));
	for (int i = 0; i < CHILDREN; i++)
		good &= send_all(to[i][1], &h, sizeof h);
	char done;
	for (int i = 0; i < CHILDREN; i++)
		good &= take_all(back[i][0], &done, 1);
	good &= as_left(x, 0);
	count_up<<<(N + 127) / 128, 128>>>(x, 5); // the same kernel twice: the second one has to run
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < CHILDREN; i++)
		good &= send_all(to[i][1], "2", 1);
	for (int i = 0; i < CHILDREN; i++) {
		wait(&status);
		good &= WIFEXITED(status) && WEXITSTATUS(status) >= 10;
		printf("a child ends %s\n", WIFEXITED(status) && WEXITSTATUS(status) >= 10 ? "well" : "badly");
	}
	good &= as_left(x, 5);
	CHECK(cudaMemcpy(&guard[0], before, sizeof(int), cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(&guard[1], behind, sizeof(int), cudaMemcpyDeviceToHost));
	good &= guard[0] == 0x07070707 && guard[1] == 0x09090909;
	CHECK(cudaEventDestroy(ready));
	CHECK(cudaEventDestroy(plain));
	free_all(before, x, behind);
	cudaGetLastError();
	return finish("ipc", good);
}
