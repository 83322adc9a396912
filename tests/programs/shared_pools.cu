// emulator only: a record of a GPU would show the launches of one process alone
// Memory of a pool used by another process: the pool goes there as a file, its memory as data. And
// what pools say of the memory taken from them, which is not that of cudaMalloc().
#include "check.h"
#include <sys/socket.h>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

constexpr int N = 1000;

__global__ void add(int *x, int what)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < N)
		x[i] += what;
}

// A file and @n bytes through a socket: sent, or taken (then @file is set).
static bool pass(int socket, bool send, int &file, void *bytes, size_t n)
{
	alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
	iovec part = { bytes, n };
	msghdr m = {};
	m.msg_iov = &part;
	m.msg_iovlen = 1;
	m.msg_control = control;
	m.msg_controllen = sizeof control;
	cmsghdr *head = CMSG_FIRSTHDR(&m);
	*head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(head), &file, sizeof file);
	const ssize_t done = send ? sendmsg(socket, &m, 0) : recvmsg(socket, &m, 0);
	memcpy(&file, CMSG_DATA(head), sizeof file);
	return done == (ssize_t)n;
}

static int child(int socket)
{
	cudaMemPoolPtrExportData data;
	cudaMemPool_t pool;
	int file = -1, *x, *none;
	if (!pass(socket, false, file, &data, sizeof data))
		return 1;
	CHECK(cudaMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)file, cudaMemHandleTypePosixFileDescriptor, 0));
	CHECK(cudaMemPoolImportPointer((void **)&x, pool, &data));
	if (cudaMallocFromPoolAsync(&none, 64, pool, 0) == cudaSuccess)
		return 2;
	add<<<(N + 127) / 128, 128>>>(x, 1000);
	CHECK(cudaFreeAsync(x, 0));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemPoolDestroy(pool));
	return 0;
}

static unsigned long long figure(cudaMemPool_t pool, cudaMemPoolAttr which)
{
	unsigned long long value = 0;
	CHECK(cudaMemPoolGetAttribute(pool, which, &value));
	return value;
}

int main()
{
	int sockets[2], status, file = -1, *plain, *x;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		return 1;
	const pid_t pid = fork();
	if (pid == 0)
		_exit(child(sockets[1]));
	cudaMemPoolProps what = {};
	what.allocType = cudaMemAllocationTypePinned;
	what.handleTypes = cudaMemHandleTypePosixFileDescriptor;
	what.location = { cudaMemLocationTypeDevice, 0 };
	cudaMemPool_t pool, usual;
	CHECK(cudaMemPoolCreate(&pool, &what));
	CHECK(cudaDeviceGetDefaultMemPool(&usual, 0));
	CHECK(cudaMalloc(&plain, 1 << 20));
	bool good = usual != pool && figure(usual, cudaMemPoolAttrUsedMemCurrent) == 0;
	CHECK(cudaMallocFromPoolAsync(&x, N * sizeof *x, pool, 0));
	CHECK(cudaMemsetAsync(x, 0, N * sizeof *x, 0));
	CHECK(cudaDeviceSynchronize());
	good &= figure(pool, cudaMemPoolAttrUsedMemCurrent) >= N * sizeof *x;
	good &= figure(usual, cudaMemPoolAttrUsedMemHigh) == 0;
	cudaMemPoolPtrExportData data;
	good &= cudaMemPoolExportPointer(&data, plain) != cudaSuccess; // of no pool
	CHECK(cudaMemPoolExportPointer(&data, x));
	CHECK(cudaMemPoolExportToShareableHandle(&file, pool, cudaMemHandleTypePosixFileDescriptor, 0));
	good &= pass(sockets[0], true, file, &data, sizeof data);
	good &= waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
	std::vector<int> found(N);
	CHECK(cudaMemcpy(found.data(), x, N * sizeof *x, cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		good &= found[i] == 1000;
	CHECK(cudaFreeAsync(x, 0));
	CHECK(cudaDeviceSynchronize());
	good &= figure(pool, cudaMemPoolAttrUsedMemCurrent) == 0;
	good &= figure(pool, cudaMemPoolAttrUsedMemHigh) >= N * sizeof *x;
	CHECK(cudaMemPoolDestroy(pool));
	CHECK(cudaFree(plain));
	return finish("shared_pools", good);
}
