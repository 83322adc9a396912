// Where a word stands in a text: bytes, early exits, an atomic cursor into a result list.
#include "check.h"
#include <algorithm>
#include <string>
#define MAX_WORD 16
__constant__ char word[MAX_WORD];

__global__ void find(const char *text, int n, int length, int *found, int *count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i + length > n)
		return;
	for (int k = 0; k < length; k++)
		if (text[i + k] != word[k])
			return;
	found[atomicAdd(count, 1)] = i;
}

int main(int argc, char **argv)
{
	std::string pattern = argc > 1 ? argv[1] : "warp", text;
	for (int i = 0; i < 400; i++)
		text += i % 7 == 0 ? "a warp of threads " : "the block and its grid ";
	char *dtext;
	int *dfound, *dcount, count;
	CHECK(cudaMalloc(&dtext, text.size()));
	CHECK(cudaMalloc(&dfound, 1000 * sizeof(int)));
	CHECK(cudaMalloc(&dcount, sizeof(int)));
	CHECK(cudaMemcpy(dtext, text.data(), text.size(), cudaMemcpyHostToDevice));
	CHECK(cudaMemset(dcount, 0, sizeof(int)));
	CHECK(cudaMemcpyToSymbol(word, pattern.data(), pattern.size()));
	find<<<((int)text.size() + 255) / 256, 256>>>(dtext, (int)text.size(), (int)pattern.size(),
	                                              dfound, dcount);
	CHECK(cudaMemcpy(&count, dcount, sizeof count, cudaMemcpyDeviceToHost));
	std::vector<int> found(count);
	CHECK(cudaMemcpy(found.data(), dfound, count * sizeof(int), cudaMemcpyDeviceToHost));
	std::sort(found.begin(), found.end());
	bool good = true;
	size_t at = 0;
	for (int f : found) {
		at = text.find(pattern, at);
		good = good && at == (size_t)f;
		at++;
	}
	good = good && text.find(pattern, at) == std::string::npos;
	printf("'%s' stands at %d places\n", pattern.c_str(), count);
	free_all(dtext, dfound, dcount);
	return finish("string_search", good);
}
