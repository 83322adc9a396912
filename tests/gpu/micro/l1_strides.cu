/*
 * What a load that finds its lines in L1 costs an SM's port, by the distance between its lanes and
 * by the lanes that take part: every warp walks along the lines, word by word, as a thread that
 * walks along a row does. Cycles per request of a busy SM.
 */
#include "micro.cuh"

#define WARPS 32
#define LOOPS 64

static __global__ void m_strides(unsigned *cycles, const float *a, int stride, int lanes, int apart)
{
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
	const float *const p = a + (long)(lane / apart) * stride + lane % apart;
	float sum = 0;
	if (lane < lanes)
		for (int k = 0; k < 16; k++)
			sum += __ldca(p + k);
	const BlockClock clock;
	if (lane < lanes) {
#pragma unroll 1
		for (int n = 0; n < LOOPS; n++)
#pragma unroll
			for (int k = 0; k < 16; k++)
				sum += __ldca(p + ((k + warp + n) & 15));
	}
	clock.stop(cycles);
	micro_use(sum, cycles);
}

int main()
{
	micro_begin("l1_strides");
	const unsigned sms = (unsigned)micro_sms();
	const float *const a = micro_alloc<float>((size_t)32 * 8192 + 64);
	static const int strides[] = {
		0, 1, 2, 4, 8, 16, 24, 32, 33, 40, 48, 64, 65, 96, 104, 128, 160, 192, 200, 225,
		256, 257, 288, 320, 352, 384, 396, 416, 512, 513, 544, 576, 608, 640, 664, 768,
		980, 1024, 1056, 1088, 1175, 1536, 2048, 2080, 3072, 4096, 4128, 5129, 6296, 8192
	};
	for (const int apart : { 1, 2, 4, 8 })
		for (const int lanes : { 32, 16, 8, 4 })
			for (const int stride : strides) {
				if (apart > 1 && lanes != 32)
					continue;
				const double c = median_cycles(sms, [&] {
					m_strides<<<sms, WARPS * 32>>>(micro_cycles(), a, stride, lanes, apart);
				});
				Line("l1_strides", "load")("stride", stride)("lanes", lanes)("side_by_side", apart)(
					"cycles", c / LOOPS / 16 / WARPS);
			}
	return 0;
}
