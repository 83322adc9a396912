/*
 * What programs use of helper_math.h of NVIDIA's samples, where that is not installed: arithmetic
 * of float2 ... float4, int2 ... int4, uint2 ... uint4, member by member.
 */
#ifndef PMPP_HELPER_MATH_H
#define PMPP_HELPER_MATH_H

#include <cuda_runtime.h>

#include <cmath>

#define PMPP_BOTH static inline __host__ __device__

#ifndef __CUDACC__
static inline float rsqrtf(float x)
{
	return 1.0f / sqrtf(x);
}
static inline int max(int a, int b)
{
	return a > b ? a : b;
}
static inline int min(int a, int b)
{
	return a < b ? a : b;
}
#endif

PMPP_BOTH float lerp(float a, float b, float t)
{
	return a + t * (b - a);
}
PMPP_BOTH float clamp(float x, float low, float high)
{
	return fmaxf(low, fminf(x, high));
}
PMPP_BOTH int clamp(int x, int low, int high)
{
	return x < low ? low : x > high ? high : x;
}
PMPP_BOTH unsigned clamp(unsigned x, unsigned low, unsigned high)
{
	return x < low ? low : x > high ? high : x;
}
PMPP_BOTH float fracf(float x)
{
	return x - floorf(x);
}
PMPP_BOTH float smoothstep(float a, float b, float x)
{
	const float y = clamp((x - a) / (b - a), 0.0f, 1.0f);
	return y * y * (3.0f - 2.0f * y);
}

/* E(m): what stands for member m; together the members of a vector of 2, 3, 4. */
#define PMPP_2(E) E(x), E(y)
#define PMPP_3(E) PMPP_2(E), E(z)
#define PMPP_4(E) PMPP_3(E), E(w)
#define PMPP_ARITHMETIC(V, T, N, name, op)            \
	PMPP_BOTH V##N operator op(V##N a, V##N b)        \
	{                                                 \
		return make_##V##N(PMPP_##N(PMPP_VV_##name)); \
	}                                                 \
	PMPP_BOTH V##N operator op(V##N a, T b)           \
	{                                                 \
		return make_##V##N(PMPP_##N(PMPP_VS_##name)); \
	}                                                 \
	PMPP_BOTH V##N operator op(T a, V##N b)           \
	{                                                 \
		return make_##V##N(PMPP_##N(PMPP_SV_##name)); \
	}                                                 \
	PMPP_BOTH void operator op##=(V##N &a, V##N b)    \
	{                                                 \
		a = a op b;                                   \
	}                                                 \
	PMPP_BOTH void operator op##=(V##N &a, T b)       \
	{                                                 \
		a = a op b;                                   \
	}
#define PMPP_VV_add(m) a.m + b.m
#define PMPP_VS_add(m) a.m + b
#define PMPP_SV_add(m) a + b.m
#define PMPP_VV_sub(m) a.m - b.m
#define PMPP_VS_sub(m) a.m - b
#define PMPP_SV_sub(m) a - b.m
#define PMPP_VV_mul(m) a.m *b.m
#define PMPP_VS_mul(m) a.m *b
#define PMPP_SV_mul(m) a *b.m
#define PMPP_VV_div(m) a.m / b.m
#define PMPP_VS_div(m) a.m / b
#define PMPP_SV_div(m) a / b.m

#define PMPP_ONE(m) s
#define PMPP_NEGATIVE(m) -a.m
#define PMPP_LEAST(m) (a.m < b.m ? a.m : b.m)
#define PMPP_MOST(m) (a.m > b.m ? a.m : b.m)
#define PMPP_CLAMP_S(m) clamp(v.m, low, high)
#define PMPP_CLAMP_V(m) clamp(v.m, low.m, high.m)
#define PMPP_ALL(V, T, N)                             \
	PMPP_ARITHMETIC(V, T, N, add, +)                  \
	PMPP_ARITHMETIC(V, T, N, sub, -)                  \
	PMPP_ARITHMETIC(V, T, N, mul, *)                  \
	PMPP_BOTH V##N make_##V##N(T s)                   \
	{                                                 \
		return make_##V##N(PMPP_##N(PMPP_ONE));       \
	}                                                 \
	PMPP_BOTH V##N clamp(V##N v, T low, T high)       \
	{                                                 \
		return make_##V##N(PMPP_##N(PMPP_CLAMP_S));   \
	}                                                 \
	PMPP_BOTH V##N clamp(V##N v, V##N low, V##N high) \
	{                                                 \
		return make_##V##N(PMPP_##N(PMPP_CLAMP_V));   \
	}
#define PMPP_SIGNED(V, N)                            \
	PMPP_BOTH V##N operator-(const V##N &a)          \
	{                                                \
		return make_##V##N(PMPP_##N(PMPP_NEGATIVE)); \
	}
#define PMPP_WHOLE(V, N)                          \
	PMPP_BOTH V##N min(V##N a, V##N b)            \
	{                                             \
		return make_##V##N(PMPP_##N(PMPP_LEAST)); \
	}                                             \
	PMPP_BOTH V##N max(V##N a, V##N b)            \
	{                                             \
		return make_##V##N(PMPP_##N(PMPP_MOST));  \
	}

#define PMPP_SIZES(X) \
	X(2)              \
	X(3)              \
	X(4)
#define PMPP_TYPES(N)           \
	PMPP_ALL(float, float, N)   \
	PMPP_ALL(int, int, N)       \
	PMPP_ALL(uint, unsigned, N) \
	PMPP_SIGNED(float, N)       \
	PMPP_SIGNED(int, N)         \
	PMPP_WHOLE(int, N)          \
	PMPP_WHOLE(uint, N)         \
	PMPP_ARITHMETIC(float, float, N, div, /)
PMPP_SIZES(PMPP_TYPES)

/* --- of float alone --- */

#define PMPP_FUNCTION(N, f)                          \
	PMPP_BOTH float##N f(float##N v)                 \
	{                                                \
		return make_float##N(PMPP_##N(PMPP_OF_##f)); \
	}
#define PMPP_OF_floorf(m) floorf(v.m)
#define PMPP_OF_fabs(m) fabsf(v.m)
#define PMPP_OF_fracf(m) fracf(v.m)
#define PMPP_FMIN(m) fminf(a.m, b.m)
#define PMPP_FMAX(m) fmaxf(a.m, b.m)
#define PMPP_FMOD(m) fmodf(a.m, b.m)
#define PMPP_OF_FLOAT(N)                                     \
	PMPP_FUNCTION(N, floorf)                                 \
	PMPP_FUNCTION(N, fabs)                                   \
	PMPP_FUNCTION(N, fracf)                                  \
	PMPP_BOTH float##N fminf(float##N a, float##N b)         \
	{                                                        \
		return make_float##N(PMPP_##N(PMPP_FMIN));           \
	}                                                        \
	PMPP_BOTH float##N fmaxf(float##N a, float##N b)         \
	{                                                        \
		return make_float##N(PMPP_##N(PMPP_FMAX));           \
	}                                                        \
	PMPP_BOTH float##N fmodf(float##N a, float##N b)         \
	{                                                        \
		return make_float##N(PMPP_##N(PMPP_FMOD));           \
	}                                                        \
	PMPP_BOTH float##N lerp(float##N a, float##N b, float t) \
	{                                                        \
		return a + t * (b - a);                              \
	}                                                        \
	PMPP_BOTH float length(float##N v)                       \
	{                                                        \
		return sqrtf(dot(v, v));                             \
	}                                                        \
	PMPP_BOTH float##N normalize(float##N v)                 \
	{                                                        \
		return v * rsqrtf(dot(v, v));                        \
	}                                                        \
	PMPP_BOTH float##N reflect(float##N i, float##N n)       \
	{                                                        \
		return i - 2.0f * n * dot(n, i);                     \
	}
#define PMPP_DOT(V, T)                                        \
	PMPP_BOTH T dot(V##2 a, V##2 b)                           \
	{                                                         \
		return a.x * b.x + a.y * b.y;                         \
	}                                                         \
	PMPP_BOTH T dot(V##3 a, V##3 b)                           \
	{                                                         \
		return a.x * b.x + a.y * b.y + a.z * b.z;             \
	}                                                         \
	PMPP_BOTH T dot(V##4 a, V##4 b)                           \
	{                                                         \
		return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; \
	}
PMPP_DOT(float, float)
PMPP_DOT(int, int)
PMPP_DOT(uint, unsigned)
PMPP_SIZES(PMPP_OF_FLOAT)
PMPP_BOTH float3 cross(float3 a, float3 b)
{
	return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

/* --- of one kind from another --- */

#define PMPP_FROM(V, T)                       \
	PMPP_BOTH V##2 make_##V##2(V##3 v)        \
	{                                         \
		return make_##V##2(v.x, v.y);         \
	}                                         \
	PMPP_BOTH V##3 make_##V##3(V##2 v)        \
	{                                         \
		return make_##V##3(v.x, v.y, 0);      \
	}                                         \
	PMPP_BOTH V##3 make_##V##3(V##2 v, T z)   \
	{                                         \
		return make_##V##3(v.x, v.y, z);      \
	}                                         \
	PMPP_BOTH V##3 make_##V##3(V##4 v)        \
	{                                         \
		return make_##V##3(v.x, v.y, v.z);    \
	}                                         \
	PMPP_BOTH V##4 make_##V##4(V##3 v)        \
	{                                         \
		return make_##V##4(v.x, v.y, v.z, 0); \
	}                                         \
	PMPP_BOTH V##4 make_##V##4(V##3 v, T w)   \
	{                                         \
		return make_##V##4(v.x, v.y, v.z, w); \
	}
PMPP_FROM(float, float)
PMPP_FROM(int, int)
PMPP_FROM(uint, unsigned)
#define PMPP_CAST(to, T, from, N)                      \
	PMPP_BOTH to##N make_##to##N(from##N v)            \
	{                                                  \
		return make_##to##N(PMPP_##N(PMPP_CAST_##to)); \
	}
#define PMPP_CAST_float(m) (float)v.m
#define PMPP_CAST_int(m) (int)v.m
#define PMPP_CAST_uint(m) (unsigned)v.m
#define PMPP_CASTS(N)                \
	PMPP_CAST(float, float, int, N)  \
	PMPP_CAST(float, float, uint, N) \
	PMPP_CAST(int, int, float, N)    \
	PMPP_CAST(int, int, uint, N)     \
	PMPP_CAST(uint, unsigned, int, N)
PMPP_SIZES(PMPP_CASTS)

#endif
