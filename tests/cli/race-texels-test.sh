#!/bin/sh
# Races of texels: of surfaces, and of linear memory that a texture is read from.
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip race-texels: no nvcc here to compile programs'
	exit 0
}
cd "$dir" || exit 1
cat >texels.cu <<'EOF'
/* each texel by one thread, twice by another behind a barrier */
__global__ void own_texels(cudaSurfaceObject_t s)
{
	surf2Dwrite((int)threadIdx.x, s, threadIdx.x * 4, 0);
	__syncthreads();
	surf2Dwrite(2 * surf2Dread<int>(s, (255 - threadIdx.x) * 4, 0), s, (255 - threadIdx.x) * 4, 1);
}
__global__ void two_for_a_texel(cudaSurfaceObject_t s)
{
	surf2Dwrite((int)threadIdx.x, s, threadIdx.x / 2 * 4, 2);
}
__global__ void two_for_a_texel_alike(cudaSurfaceObject_t s)
{
	surf2Dwrite((int)threadIdx.x / 2, s, threadIdx.x / 2 * 4, 2);
}
__global__ void neighbours_texel(cudaSurfaceObject_t s)
{
	const int v = surf2Dread<int>(s, (threadIdx.x + 32) % 256 * 4, 0);
	surf2Dwrite(v, s, threadIdx.x * 4, 0);
}
__global__ void fetched_while_written(cudaTextureObject_t t, int *x, int *out)
{
	x[threadIdx.x] = threadIdx.x;
	out[threadIdx.x] = tex1Dfetch<int>(t, (threadIdx.x + 64) % 256);
}
__global__ void fetched(cudaTextureObject_t t, int *out)
{
	out[threadIdx.x] = tex1Dfetch<int>(t, (threadIdx.x + 64) % 256);
}
int main()
{
	int *x, *out;
	cudaMalloc(&x, 1024);
	cudaMalloc(&out, 1024);
	cudaMemset(x, 0, 1024);
	cudaArray_t array;
	cudaChannelFormatDesc word = cudaCreateChannelDesc<int>();
	cudaMallocArray(&array, &word, 256, 4, cudaArraySurfaceLoadStore);
	cudaResourceDesc of = {};
	of.resType = cudaResourceTypeArray;
	of.res.array.array = array;
	cudaSurfaceObject_t s;
	cudaCreateSurfaceObject(&s, &of);
	own_texels<<<1, 256>>>(s);
	two_for_a_texel<<<1, 256>>>(s);
	two_for_a_texel_alike<<<1, 256>>>(s);
	neighbours_texel<<<1, 256>>>(s);
	cudaResourceDesc line = {};
	line.resType = cudaResourceTypeLinear;
	line.res.linear.devPtr = x;
	line.res.linear.desc = word;
	line.res.linear.sizeInBytes = 1024;
	cudaTextureDesc how = {};
	how.readMode = cudaReadModeElementType;
	cudaTextureObject_t t;
	cudaCreateTextureObject(&t, &line, &how, nullptr);
	fetched_while_written<<<1, 256>>>(t, x, out);
	fetched<<<1, 256>>>(t, out);
	cudaDeviceSynchronize();
	cudaDestroyTextureObject(t);
	cudaDestroySurfaceObject(s);
	cudaFreeArray(array);
	cudaFree(x);
	return cudaFree(out);
}
EOF
run texels 1 launches texels.cu
same races-of-texels 'fetched_while_written neighbours_texel two_for_a_texel' \
	"$(sed -n 's/^! race (launch [0-9]*).*texels.cu:[0-9]*: \([a-z_]*\): .*/\1/p' err | sort -u | tr '\n' ' ' | sed 's/ $//')"
grep -q 'launch 2.*texels.cu:10: .*this store by .* meets the store of line 10' err &&
	ok texel-stored-twice || not_ok texel-stored-twice "$(cat err)"
grep -q 'launch 5.*meets the load of line 24' err && ok texel-fetched || not_ok texel-fetched "$(cat err)"
