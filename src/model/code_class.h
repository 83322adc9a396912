/*
 * What instructions of machine code do, and the pipes that run them: X(ID, "name"). Counted as
 * inst.mix.* (metric.def, in the same order).
 */
#ifndef PMPP_MODEL_CODE_CLASS_H
#define PMPP_MODEL_CODE_CLASS_H

#include <stdint.h>

#define CODE_CLASSES(X)            \
	X(NONE, "none")                \
	X(FP32, "FP32")                \
	X(FP64, "FP64")                \
	X(FP16, "FP16")                \
	X(SFU, "special functions")    \
	X(TENSOR, "tensor")            \
	X(INT, "integer")              \
	X(LOGIC, "logic and shifts")   \
	X(CONVERT, "conversion")       \
	X(MOVE, "move and select")     \
	X(PREDICATE, "predicate")      \
	X(SPECIAL, "special register") \
	X(WARP, "warp-wide")           \
	X(CONST, "constant load")      \
	X(LOAD, "load")                \
	X(STORE, "store")              \
	X(ATOMIC, "atomic")            \
	X(CACHE, "cache control")      \
	X(TEXTURE, "texture")          \
	X(FLOW, "control flow")        \
	X(SYNC, "synchronisation")

#define CODE_PIPES(X)   \
	X(OTHER, "other")   \
	X(ALU, "ALU")       \
	X(FMA, "FMA")       \
	X(FP16, "FP16")     \
	X(FP64, "FP64")     \
	X(XU, "XU")         \
	X(TENSOR, "tensor") \
	X(LSU, "LSU")       \
	X(ADU, "ADU")       \
	X(CBU, "CBU")       \
	X(TEX, "TEX")       \
	X(TMA, "TMA")       \
	X(UNIFORM, "uniform")

#define X(id, name) CODE_CLASS_##id,
enum code_class { CODE_CLASSES(X) CODE_CLASS_COUNT };
#undef X
#define X(id, name) CODE_PIPE_##id,
enum code_pipe { CODE_PIPES(X) CODE_PIPE_COUNT };
#undef X

/* Warp instructions by both. */
struct code_mix {
	uint64_t by_class[CODE_CLASS_COUNT], by_pipe[CODE_PIPE_COUNT];
};

#endif
