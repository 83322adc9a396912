// Textures read with gradients, of one level: lines, planes, layers, nearest and linear. What PTX and
// machine code print of them is compared (tests/cli/machine-code-test.sh).
#include <cstdio>
#include <cstring>
__global__ void gradients(cudaTextureObject_t line, cudaTextureObject_t plane, cudaTextureObject_t layers,
                          float *out, float step)
{
	const int t = threadIdx.x;
	const float x = t * step - 2, y = t * 0.37f * step;
	out[t] = tex1DGrad<float>(line, x, 0.1f, step);
	out[t + 64] = tex2DGrad<float>(plane, x, y, make_float2(0.1f, 0), make_float2(0, step));
	out[t + 128] = tex2DLayeredGrad<float>(layers, y, x, t % 3, make_float2(0.1f, 0), make_float2(0, step));
}
static cudaTextureObject_t made(int w, int h, int n, bool linear)
{
	const cudaChannelFormatDesc form = cudaCreateChannelDesc<float>();
	float values[16 * 12 * 3];
	cudaArray_t array;
	cudaTextureObject_t t;
	cudaResourceDesc r = {};
	cudaTextureDesc d = {};
	for (int i = 0; i < 16 * 12 * 3; i++)
		values[i] = i * i % 101;
	if (n)
		cudaMalloc3DArray(&array, &form, make_cudaExtent(w, h, n), cudaArrayLayered);
	else
		cudaMallocArray(&array, &form, w, h);
	cudaMemcpy3DParms copy = {};
	copy.srcPtr = make_cudaPitchedPtr(values, w * sizeof(float), w, h ? h : 1);
	copy.dstArray = array;
	copy.extent = make_cudaExtent(w, h ? h : 1, n ? n : 1);
	copy.kind = cudaMemcpyHostToDevice;
	cudaMemcpy3D(&copy);
	r.resType = cudaResourceTypeArray;
	r.res.array.array = array;
	d.addressMode[0] = d.addressMode[1] = cudaAddressModeBorder;
	d.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
	cudaCreateTextureObject(&t, &r, &d, nullptr);
	return t;
}
int main()
{
	float *out;
	cudaMallocManaged(&out, 192 * sizeof *out);
	for (int linear = 0; linear < 2; linear++) {
		gradients<<<1, 64>>>(made(16, 0, 0, linear), made(16, 12, 0, linear), made(16, 12, 3, linear), out, 0.3f);
		cudaDeviceSynchronize();
		for (int i = 0; i < 192; i++)
			printf("%g%c", out[i], i % 16 == 15 ? '\n' : ' ');
	}
	printf("%s\n", cudaGetErrorString(cudaGetLastError()));
	cudaFree(out);
}
