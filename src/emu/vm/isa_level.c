/* Chooses the handler set for this processor; see codegen/handlers.h. */
#include "emu/count/count.h"
#include "emu/vm/warp.h"

#include <stddef.h>

#include <string.h>

#define LEVELS(X)        \
	X(avx512, "AVX-512") \
	X(avx2, "AVX2")      \
	X(sse, "SSE2")
#define X(level, title)                                        \
	extern const struct alu_handlers alu_handlers_##level;     \
	extern const struct mem_handlers mem_handlers_##level;     \
	extern const struct wide_handlers wide_handlers_##level;   \
	extern const struct handler tensor_handlers_##level;       \
	extern const struct handler quick_handlers_##level;        \
	extern const struct fused_handlers fused_handlers_##level; \
	extern const struct forward_tables forward_tables_##level;
LEVELS(X)
#undef X

static bool level_supported(const char *name)
{
#if defined(__x86_64__) || defined(__i386__)
	if (strcmp(name, "avx512") == 0)
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
		       __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("fma") &&
		       __builtin_cpu_supports("bmi2");
	if (strcmp(name, "avx2") == 0)
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
		       __builtin_cpu_supports("bmi2");
#endif
	return strcmp(name, "sse") == 0;
}

const struct handler_set *handler_set_choose(const char *wanted)
{
	static const struct handler_set sets[] = { /* best first */
#define X(level, level_title)                         \
	{                                                 \
		.name = #level,                               \
		.title = level_title,                         \
		.control = &vm_control_handlers,              \
		.branch = &vm_branch_handlers,                \
		.call = &vm_call_handlers,                    \
		.system = &vm_system,                         \
		.meet = &vm_meet_handlers,                    \
		.tensor = &tensor_handlers_##level,           \
		.barrier = &vm_barrier_handlers,              \
		.warp = &vm_warp_handlers,                    \
		.uniform = &vm_uniform_handlers,              \
		.access = &vm_access,                         \
		.watch = vm_watch,                            \
		.watch_chains = &vm_watch_chains,             \
		.quick = &quick_handlers_##level,             \
		.texture = &vm_texture,                       \
		.alu = &alu_handlers_##level,                 \
		.mem = &mem_handlers_##level,                 \
		.wide = &wide_handlers_##level,               \
		.fused = &fused_handlers_##level,             \
		.forward = &forward_tables_##level,           \
		.header_bytes = sizeof(struct warp),          \
		.special_at = offsetof(struct warp, special), \
		.tid_at = offsetof(struct warp, tid),         \
	},
		                                       LEVELS(X)
#undef X
	};
	const size_t n = sizeof sets / sizeof *sets;
	bool reached = !wanted || !wanted[0];
	for (size_t i = 0; i < n; i++) {
		reached |= !reached && strcmp(sets[i].name, wanted) == 0;
		if (reached && level_supported(sets[i].name)) {
			lane_wide_allow(strcmp(sets[i].name, "avx512") == 0);
			return &sets[i];
		}
	}
	return &sets[n - 1];
}
