/*
 * Code that runs for the first time: straight-line code of so many instructions, once with nothing
 * of it in any cache (L2 emptied before) and once again, on one SM and on all.
 */
#include "micro.cuh"

#define TEN(x) x x x x x x x x x x
#define STEP "fma.rn.f32 %0, %0, %1, %1;\n"

#define KERNEL(name, body)                                                    \
	static __global__ void m_##name(unsigned *cycles, float by)               \
	{                                                                         \
		float v = by;                                                         \
		asm volatile(body : "+f"(v) : "f"(by));                               \
		micro_use(v, cycles);                                                 \
	}
KERNEL(code_10, TEN(STEP))
KERNEL(code_100, TEN(TEN(STEP)))
KERNEL(code_200, TEN(TEN(STEP)) TEN(TEN(STEP)))
KERNEL(code_400, TEN(TEN(STEP)) TEN(TEN(STEP)) TEN(TEN(STEP)) TEN(TEN(STEP)))
KERNEL(code_1000, TEN(TEN(TEN(STEP))))
KERNEL(code_2000, TEN(TEN(TEN(STEP))) TEN(TEN(TEN(STEP))))

template <typename F> static void measure(F kernel, int instructions)
{
	unsigned *const out = micro_cycles();
	static const int blocks[] = { 1, 132, 1056 };
	for (int n : blocks) {
		const auto launch = [&] { kernel<<<n, 256>>>(out, 0.5f); };
		/* reads leave nothing dirty behind */
		const double cold = shortest_ns(launch, [] { micro_flush_l2(); }, 15);
		const double warm = shortest_ns(launch, 15);
		Line("code", "straight")("instructions", instructions)("blocks", n)("cold_ns", cold)(
			"warm_ns", warm);
	}
}

int main()
{
	micro_begin("code");
	measure(m_code_10, 10);
	measure(m_code_100, 100);
	measure(m_code_200, 200);
	measure(m_code_400, 400);
	measure(m_code_1000, 1000);
	measure(m_code_2000, 2000);
	return 0;
}
