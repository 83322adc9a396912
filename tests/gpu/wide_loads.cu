/*
 * One 128-bit shared load of one warp: lane l reads unit (l / a % b) * c + (l / d % e) * f of 16
 * bytes, if its bit of `mask` is set. What it costs is in shared.ld_wavefronts.
 */
extern "C" __global__ void wide_load(float *out, int mask, int a, int b, int c, int d, int e, int f)
{
	__shared__ float4 s[512];
	const int l = (int)threadIdx.x;
	for (int i = l; i < 512; i += 32)
		s[i] = make_float4((float)i, 1, 2, 3);
	__syncthreads();
	if ((unsigned)mask >> l & 1) {
		const float4 v = s[l / a % b * c + l / d % e * f];
		out[l] = v.x + v.y * v.z - v.w;
	}
}
