/*
 * Instructions by class: cycles until a dependent one (one warp), and cycles per warp instruction
 * of an SM (32 warps, four independent chains each). Backs timemodel/inst_class.def.
 */
#include "micro.cuh"

#define REPEAT 64
#define LOOPS 16

/* One instruction on 32-bit words, on 64-bit words, and on both floating-point types. */
#define OP(name, type, letter, text)                                   \
	struct name {                                                      \
		typedef type T;                                                \
		static __device__ T op(T x, T y)                               \
		{                                                              \
			T d;                                                       \
			asm volatile(text : "=" letter(d) : letter(x), letter(y)); \
			return d;                                                  \
		}                                                              \
	}
#define OP32(name, text) OP(name, unsigned, "r", text)
#define OP64(name, text) OP(name, unsigned long long, "l", text)
#define OPF(name, text) OP(name, float, "f", text)
#define OPD(name, text) OP(name, double, "d", text)

/* The assembler joins two additions, or two of logic, in one instruction with three operands, so
 * these come in pairs; an _xor or _add at the end of a name is one instruction of its own. */
OP32(add_xor, "{ .reg .b32 t; add.s32 t, %1, %2; xor.b32 %0, t, %2; }");
OP32(mul_lo_xor, "{ .reg .b32 t; mul.lo.s32 t, %1, %2; xor.b32 %0, t, %2; }");
OP32(mul_hi_xor, "{ .reg .b32 t; mul.hi.u32 t, %1, %2; xor.b32 %0, t, %2; }");
OP32(mad_lo_s32, "mad.lo.s32 %0, %1, %2, %1;");
OP32(shl_xor, "{ .reg .b32 t; shl.b32 t, %1, %2; xor.b32 %0, t, %2; }");
OP32(shr_xor, "{ .reg .b32 t; shr.u32 t, %1, %2; xor.b32 %0, t, %2; }");
OP32(shf_xor, "{ .reg .b32 t; shf.l.wrap.b32 t, %1, %2, %2; xor.b32 %0, t, %2; }");
OP32(min_add, "{ .reg .b32 t; min.s32 t, %1, %2; add.s32 %0, t, %2; }");
OP32(prmt_add, "{ .reg .b32 t; prmt.b32 t, %1, %2, 0x2145; add.s32 %0, t, %2; }");
OP32(popc_add, "{ .reg .b32 t; popc.b32 t, %1; add.s32 %0, t, %2; }");
OP32(clz_add, "{ .reg .b32 t; clz.b32 t, %1; add.s32 %0, t, %2; }");
OP32(bfe_add, "{ .reg .b32 t; bfe.u32 t, %1, %2, 9; add.s32 %0, t, %2; }");
OP32(setp_selp_add, "{ .reg .pred p; .reg .b32 t; setp.lt.s32 p, %1, %2; "
                    "selp.b32 t, %2, %1, p; add.s32 %0, t, %2; }");
OP32(div_s32, "div.s32 %0, %1, %2;");
OP32(div_u32, "div.u32 %0, %1, %2;");
OP32(rem_u32_add, "{ .reg .b32 t; rem.u32 t, %1, %2; add.s32 %0, t, %2; }");
OP32(rem_s32_add, "{ .reg .b32 t; rem.s32 t, %1, %2; add.s32 %0, t, %2; }");
OP32(cvt_rn_f32_s32, "{ .reg .f32 t; cvt.rn.f32.s32 t, %1; mov.b32 %0, t; }");
OP32(cvt_rzi_s32_f32, "{ .reg .f32 t; mov.b32 t, %1; cvt.rzi.s32.f32 %0, t; }");
OP32(shfl_down, "shfl.sync.down.b32 %0, %1, 1, 31, 0xffffffff;");
OP32(shfl_idx, "shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;");
OP32(shfl_bfly_add,
     "{ .reg .b32 t; shfl.sync.bfly.b32 t, %1, 1, 31, 0xffffffff; add.s32 %0, %1, t; }");
OP32(setp_ballot,
     "{ .reg .pred p; setp.ne.s32 p, %1, %2; vote.sync.ballot.b32 %0, p, 0xffffffff; }");
OP32(match_any, "match.any.sync.b32 %0, %1, 0xffffffff;");
OP32(redux_add, "redux.sync.add.s32 %0, %1, 0xffffffff;");
OP32(activemask_add, "{ .reg .b32 t; activemask.b32 t; add.s32 %0, t, %1; }");
OP32(clock_add, "{ .reg .b32 t; mov.u32 t, %%clock; add.s32 %0, t, %1; }");
OP64(add_xor_64, "{ .reg .b64 t; add.s64 t, %1, %2; xor.b64 %0, t, %2; }");
OP64(mul_lo_s64, "mul.lo.s64 %0, %1, %2;");
OP64(mad_wide_s32, "{ .reg .b32 t; cvt.u32.u64 t, %1; mad.wide.s32 %0, t, 3, %2; }");
OP64(shl_xor_64,
     "{ .reg .b32 t; .reg .b64 u; cvt.u32.u64 t, %2; shl.b64 u, %1, t; xor.b64 %0, u, %2; }");
OP64(min_add_64, "{ .reg .b64 t; min.s64 t, %1, %2; add.s64 %0, t, %2; }");
OP64(div_s64, "div.s64 %0, %1, %2;");
OP64(rem_u64_add, "{ .reg .b64 t; rem.u64 t, %1, %2; add.s64 %0, t, %2; }");
OPF(add_f32, "add.rn.f32 %0, %1, %2;");
OPF(mul_f32, "mul.rn.f32 %0, %1, %2;");
OPF(fma_f32, "fma.rn.f32 %0, %1, %2, %1;");
OPF(min_add_f32, "{ .reg .f32 t; min.f32 t, %1, %2; add.rn.f32 %0, t, %2; }");
OPF(div_rn_f32, "div.rn.f32 %0, %1, %2;");
OPF(div_full_f32, "div.full.f32 %0, %1, %2;");
OPF(div_approx_f32, "div.approx.f32 %0, %1, %2;");
OPF(sqrt_rn_f32, "sqrt.rn.f32 %0, %1;");
OPF(sqrt_approx_f32, "sqrt.approx.f32 %0, %1;");
OPF(rcp_rn_f32, "rcp.rn.f32 %0, %1;");
OPF(rcp_approx_f32, "rcp.approx.f32 %0, %1;");
OPF(rsqrt_approx_f32, "rsqrt.approx.f32 %0, %1;");
OPF(ex2_approx_f32, "ex2.approx.f32 %0, %1;");
OPF(lg2_approx_f32, "lg2.approx.f32 %0, %1;");
OPF(sin_approx_f32, "sin.approx.f32 %0, %1;");
OPF(tanh_approx_f32, "tanh.approx.f32 %0, %1;");
OPD(add_f64, "add.rn.f64 %0, %1, %2;");
OPD(fma_f64, "fma.rn.f64 %0, %1, %2, %1;");
OPD(min_add_f64, "{ .reg .f64 t; min.f64 t, %1, %2; add.rn.f64 %0, t, %2; }");
OPD(div_rn_f64, "div.rn.f64 %0, %1, %2;");
OPD(sqrt_rn_f64, "sqrt.rn.f64 %0, %1;");
OPD(cvt_f64_f32, "{ .reg .f32 t; cvt.rn.f32.f64 t, %1; cvt.f64.f32 %0, t; }");

template <typename O, int CHAINS> static __global__ void m_op(unsigned *cycles, int start)
{
	typename O::T x[CHAINS];
	const typename O::T y = (typename O::T)(start + 3);
	for (int c = 0; c < CHAINS; c++)
		x[c] = (typename O::T)(start + (int)threadIdx.x + c + 1);
	const BlockClock clock;
#pragma unroll 1
	for (int i = 0; i < LOOPS; i++)
#pragma unroll
		for (int k = 0; k < REPEAT; k++)
#pragma unroll
			for (int c = 0; c < CHAINS; c++)
				x[c] = O::op(x[c], y);
	clock.stop(cycles);
	for (int c = 0; c < CHAINS; c++)
		micro_use(x[c], cycles);
}

template <typename O> static void measure(const char *name)
{
	unsigned *const out = micro_cycles();
	const double one = median_cycles(1, [&] { m_op<O, 1><<<1, 32>>>(out, 1); });
	const double full = median_cycles(1, [&] { m_op<O, 4><<<1, 1024>>>(out, 1); });
	Line("pipes", name)("latency_cycles", one / (REPEAT * LOOPS))("sm_cycles_per_warp_inst",
	                                                              full / (REPEAT * LOOPS) / 4 / 32);
}

int main()
{
	micro_begin("pipes");
#define M(name) measure<name>(#name)
	M(add_xor);
	M(mul_lo_xor);
	M(mul_hi_xor);
	M(mad_lo_s32);
	M(shl_xor);
	M(shr_xor);
	M(shf_xor);
	M(min_add);
	M(prmt_add);
	M(popc_add);
	M(clz_add);
	M(bfe_add);
	M(setp_selp_add);
	M(div_s32);
	M(div_u32);
	M(rem_u32_add);
	M(rem_s32_add);
	M(cvt_rn_f32_s32);
	M(cvt_rzi_s32_f32);
	M(shfl_down);
	M(shfl_idx);
	M(shfl_bfly_add);
	M(setp_ballot);
	M(match_any);
	M(redux_add);
	M(activemask_add);
	M(clock_add);
	M(add_xor_64);
	M(mul_lo_s64);
	M(mad_wide_s32);
	M(shl_xor_64);
	M(min_add_64);
	M(div_s64);
	M(rem_u64_add);
	M(add_f32);
	M(mul_f32);
	M(fma_f32);
	M(min_add_f32);
	M(div_rn_f32);
	M(div_full_f32);
	M(div_approx_f32);
	M(sqrt_rn_f32);
	M(sqrt_approx_f32);
	M(rcp_rn_f32);
	M(rcp_approx_f32);
	M(rsqrt_approx_f32);
	M(ex2_approx_f32);
	M(lg2_approx_f32);
	M(sin_approx_f32);
	M(tanh_approx_f32);
	M(add_f64);
	M(fma_f64);
	M(min_add_f64);
	M(div_rn_f64);
	M(sqrt_rn_f64);
	M(cvt_f64_f32);
	return 0;
}
