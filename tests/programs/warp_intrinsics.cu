// What a warp can do without memory: shuffles, votes, matches, bit counts, byte permutes, dot products
// of bytes, and a line of assembler.
#include "check.h"

__device__ unsigned lane_id()
{
	unsigned lane;
	asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
	return lane;
}

__device__ unsigned add3(unsigned a, unsigned b, unsigned c)
{
	unsigned r;
	asm("{\n\t.reg .u32 t;\n\tadd.u32 t, %1, %2;\n\tadd.u32 %0, t, %3;\n\t}" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	return r;
}

__global__ void intrinsics(unsigned *out)
{
	const unsigned lane = lane_id(), all = 0xffffffffu;
	unsigned *mine = out + lane * 20;
	mine[0] = __ballot_sync(all, lane % 3 == 0);
	mine[1] = __popc(mine[0]) + __clz(lane + 1) + __ffs(lane);
	mine[2] = __brev(lane);
	mine[3] = __shfl_sync(all, lane * 2, (lane + 5) % 32);
	mine[4] = __shfl_up_sync(all, lane, 3);
	mine[5] = __shfl_down_sync(all, lane, 7, 16);
	mine[6] = __shfl_xor_sync(all, lane, 21);
	mine[7] = __any_sync(all, lane == 40) * 2 + __all_sync(all, lane < 32);
	mine[8] = __match_any_sync(all, lane / 5);
	mine[9] = __reduce_add_sync(all, lane);
	mine[10] = __reduce_max_sync(all, lane ^ 9);
	mine[11] = __byte_perm(0x44332211, 0x88776655, 0x7153);
	mine[12] = __dp4a((int)0x01020304, (int)(lane << 8 | 0x7f), 10);
	mine[13] = __funnelshift_l(0xdeadbeef, lane, 12);
	mine[14] = add3(lane, 10, 20);
	mine[15] = __mul24(lane, 100000) + __umulhi(lane << 28, 1u << 20);
	mine[16] = __vadd4(0x01ff0203, lane * 0x01010101);
	mine[17] = __sad((int)lane, 16, 100);
	mine[18] = __activemask();
	mine[19] = __float_as_uint(__int_as_float(0x3f800000 + (int)lane));
}

static unsigned reverse(unsigned v)
{
	unsigned r = 0;
	for (int i = 0; i < 32; i++)
		r |= (v >> i & 1) << (31 - i);
	return r;
}

int main()
{
	unsigned *d, h[32 * 20];
	CHECK(cudaMalloc(&d, sizeof h));
	intrinsics<<<1, 32>>>(d);
	CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	bool good = true;
	unsigned check = 0;
	for (unsigned l = 0; l < 32; l++) {
		const unsigned *v = h + 20 * l;
		unsigned ballot = 0, same = 0, bytes = 0;
		for (unsigned k = 0; k < 32; k++) {
			ballot |= (unsigned)(k % 3 == 0) << k;
			same |= (unsigned)(k / 5 == l / 5) << k;
		}
		for (int b = 0; b < 4; b++)
			bytes |= ((0x01ff0203u >> 8 * b & 255) + l & 255) << 8 * b;
		unsigned top = 0;
		for (unsigned k = 0; k < 32; k++)
			top = (k ^ 9) > top ? k ^ 9 : top;
		good = good && v[0] == ballot && v[2] == reverse(l) && v[3] == (l + 5) % 32 * 2;
		good = good && v[1] == 11u + (unsigned)__builtin_clz(l + 1) + (unsigned)__builtin_ffs((int)l);
		good = good && v[4] == (l < 3 ? l : l - 3) && v[5] == (l % 16 + 7 < 16 ? l + 7 : l);
		good = good && v[6] == (l ^ 21) && v[7] == 1 && v[8] == same && v[9] == 496 && v[10] == top;
		good = good && v[11] == 0x88226644 && v[14] == l + 30 && v[16] == bytes;
		good = good && v[12] == 10 + 4 * 127 + 3 * l && v[13] == (l << 12 | 0xdeadbeefu >> 20);
		good = good && v[15] == l * 100000 + (unsigned)(((unsigned long long)(l << 28) << 20) >> 32);
		good = good && v[17] == 100 + (l > 16 ? l - 16 : 16 - l) && v[18] == 0xffffffffu;
		good = good && v[19] == 0x3f800000u + l;
		for (int k = 0; k < 20; k++)
			check = check * 31 + v[k];
	}
	printf("check %08x\n", check);
	CHECK(cudaFree(d));
	return finish("warp_intrinsics", good);
}
