// Textures and surfaces of every shape: what PTX and machine code print of them is compared
// (tests/cli/machine-code-test.sh).
#include <cstdio>
__global__ void t1(cudaTextureObject_t a2, cudaTextureObject_t a3, cudaTextureObject_t l1,
                   cudaTextureObject_t l2, cudaTextureObject_t lin, float *o)
{
	int x = threadIdx.x, k = 0;
	auto put = [&](float v) { o[(k++) * 32 + x] = v; };
	put(tex2D<float>(a2, x * .3f, x * .2f + 1));
	put(tex3D<float>(a3, x * .3f, x * .1f, x * .05f));
	put(tex1DLayered<float>(l1, x * .4f, x & 3));
	put(tex2DLayered<float>(l2, x * .4f, x * .2f, x & 1));
	put(tex1Dfetch<float>(lin, x * 3));
	float4 g = tex2Dgather<float4>(a2, x * .3f, x * .2f, 0);
	put(g.x);
	put(g.y);
	put(g.z);
	put(g.w);
}
__global__ void t4(cudaTextureObject_t a, float *o)
{
	int x = threadIdx.x;
	float4 v = tex2D<float4>(a, x * .2f, x * .1f);
	o[x] = v.x;
	o[32 + x] = v.y;
	o[64 + x] = v.z;
	o[96 + x] = v.w;
	o[128 + x] = tex2D<float4>(a, x * .3f, 1).z;
	float2 w;
	float4 q = tex2D<float4>(a, 1, x * .3f);
	w.x = q.y;
	w.y = q.w;
	o[160 + x] = w.x;
	o[192 + x] = w.y;
}
__global__ void s1(cudaSurfaceObject_t a2, cudaSurfaceObject_t a3, cudaSurfaceObject_t l2, float *o)
{
	int x = threadIdx.x, k = 0;
	auto put = [&](float v) { o[(k++) * 32 + x] = v; };
	put(surf2Dread<float>(a2, (x & 15) * 4, x / 2));
	put(surf3Dread<float>(a3, (x & 7) * 4, x & 3, x & 1));
	put(surf2DLayeredread<float>(l2, (x & 7) * 4, x & 3, x & 1));
	put(surf2Dread<float>(a2, x * 8, x, cudaBoundaryModeZero));
	put(surf2Dread<float>(a2, x * 8, x, cudaBoundaryModeClamp));
	__syncthreads();
	surf2Dwrite(x * 2.f, a2, (x & 15) * 4, x / 16);
	surf2DLayeredwrite(x * 3.f, l2, (x & 7) * 4, x / 8, 1);
	surf3Dwrite(x * 5.f, a3, (x & 7) * 4, x / 8, 1);
	unsigned char c = x;
	surf2Dwrite(c, a2, x, 15);
	short h = x * 77;
	surf2Dwrite(h, a2, x * 2, 14);
	__syncthreads();
	put(surf2Dread<float>(a2, (x & 15) * 4, x / 16));
	put(surf2DLayeredread<float>(l2, (x & 7) * 4, x / 8, 1));
	put(surf3Dread<float>(a3, (x & 7) * 4, x / 8, 1));
	put(surf2Dread<unsigned char>(a2, x, 15));
	put(surf2Dread<short>(a2, x * 2, 14));
	float2 f = surf2Dread<float2>(a2, (x & 7) * 8, 3);
	put(f.x + 2 * f.y);
}
static cudaArray_t arr(int w, int h, int d, unsigned fl, int ch = 1)
{
	cudaArray_t a;
	cudaChannelFormatDesc c =
		ch == 4 ? cudaCreateChannelDesc<float4>() : cudaCreateChannelDesc<float>();
	cudaMalloc3DArray(&a, &c, make_cudaExtent(w, h, d), fl);
	static float v[65536];
	for (int i = 0; i < 65536; i++)
		v[i] = i * .37f;
	cudaMemcpy3DParms p = {};
	p.srcPtr = make_cudaPitchedPtr(v, w * 4 * ch, w, h ? h : 1);
	p.dstArray = a;
	p.extent = make_cudaExtent(w, h ? h : 1, d ? d : 1);
	p.kind = cudaMemcpyHostToDevice;
	cudaMemcpy3D(&p);
	return a;
}
static cudaTextureObject_t tex(cudaArray_t a, int lin)
{
	cudaResourceDesc r = {};
	r.resType = cudaResourceTypeArray;
	r.res.array.array = a;
	cudaTextureDesc t = {};
	t.filterMode = lin ? cudaFilterModeLinear : cudaFilterModePoint;
	t.addressMode[0] = t.addressMode[1] = t.addressMode[2] = cudaAddressModeClamp;
	cudaTextureObject_t o;
	cudaCreateTextureObject(&o, &r, &t, 0);
	return o;
}
static cudaSurfaceObject_t surf(cudaArray_t a)
{
	cudaResourceDesc r = {};
	r.resType = cudaResourceTypeArray;
	r.res.array.array = a;
	cudaSurfaceObject_t o;
	cudaCreateSurfaceObject(&o, &r);
	return o;
}
int main()
{
	float *o, *lin;
	cudaMallocManaged(&o, 65536);
	cudaMallocManaged(&lin, 4096);
	for (int i = 0; i < 1024; i++)
		lin[i] = i * 1.5f;
	cudaResourceDesc r = {};
	r.resType = cudaResourceTypeLinear;
	r.res.linear.devPtr = lin;
	r.res.linear.desc = cudaCreateChannelDesc<float>();
	r.res.linear.sizeInBytes = 4096;
	cudaTextureDesc t = {};
	cudaTextureObject_t lt;
	cudaCreateTextureObject(&lt, &r, &t, 0);
	auto show = [&](int n) {
		printf("%s", cudaGetErrorString(cudaDeviceSynchronize()));
		for (int k = 0; k < n; k++) {
			double s = 0;
			for (int i = 0; i < 32; i++)
				s = s * 1.01 + o[k * 32 + i];
			printf(" %d:%.4f", k, s);
		}
		puts("");
	};
	for (int l = 0; l < 2; l++) {
		t1<<<1, 32>>>(tex(arr(16, 16, 0, cudaArrayTextureGather), l), tex(arr(8, 4, 4, 0), l),
		              tex(arr(16, 0, 4, cudaArrayLayered), l),
		              tex(arr(16, 8, 2, cudaArrayLayered), l), lt, o);
		show(9);
		t4<<<1, 32>>>(tex(arr(8, 8, 0, 0, 4), l), o);
		show(7);
	}
	s1<<<1, 32>>>(surf(arr(16, 16, 0, cudaArraySurfaceLoadStore)),
	              surf(arr(8, 4, 4, cudaArraySurfaceLoadStore)),
	              surf(arr(8, 4, 2, cudaArrayLayered | cudaArraySurfaceLoadStore)), o);
	show(11);
}
