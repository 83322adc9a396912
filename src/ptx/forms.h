/*
 * What may stand in an instruction: the columns takes, needs, types and operands of opcode.def,
 * and the words of modifier.def. Private to the parser.
 */
#ifndef PMPP_PTX_FORMS_H
#define PMPP_PTX_FORMS_H

#include "ptx/ptx.h"

/* Groups of modifiers; what a group sets is in mnemonic.c, apply_modifier(). */
#define GROUPS(X) \
	X(SPACE)      \
	X(ROUND)      \
	X(SAT)        \
	X(SATF)       \
	X(FTZ)        \
	X(NOFTZ)      \
	X(HALF)       \
	X(WIDE)       \
	X(CARRY)      \
	X(APPROX)     \
	X(UNI)        \
	X(SYNC)       \
	X(ALIGNED)    \
	X(VOLATILE)   \
	X(NC)         \
	X(TO)         \
	X(SHIFT)      \
	X(WRAP)       \
	X(NAN)        \
	X(XORSIGN)    \
	X(ABS)        \
	X(RELU)       \
	X(SHIFTAMT)   \
	X(PARITY)     \
	X(TRANS)      \
	X(CMP)        \
	X(BOOL)       \
	X(ATOM)       \
	X(BARRED)     \
	X(BAROP)      \
	X(BARCTA)     \
	X(SHFL)       \
	X(VOTE)       \
	X(PRMT)       \
	X(TEST)       \
	X(GEOMETRY)   \
	X(BOUNDS)     \
	X(CHANNEL)    \
	X(LOD)        \
	X(SEM)        \
	X(MMIO)       \
	X(SCOPE)      \
	X(CACHE)      \
	X(LEVEL)      \
	X(HINT)       \
	X(VEC)        \
	X(TILES)      \
	X(FRAG)       \
	X(LAYOUT)     \
	X(DONE)       \
	X(DIMS)       \
	X(TILE)       \
	X(MULTICAST)  \
	X(POLICY)     \
	X(MAP)        \
	X(NOINC)      \
	X(NOCOMPLETE) \
	X(PROXY)      \
	X(READ)       \
	X(BITS)       \
	X(SCALE)      \
	X(PLUS_ONE)   \
	X(POPC)       \
	X(SHAPE)
enum group {
#define X(g) GROUP_##g,
	GROUPS(X)
#undef X
		GROUP_COUNT
};
#define G(g) ((uint64_t)1 << GROUP_##g)

/* Sets of types. */
#define TS(t) (1u << PTX_##t)
#define TS_BYTE (TS(B8) | TS(U8) | TS(S8))
#define TS_SIGNED (TS(S16) | TS(S32) | TS(S64))
#define TS_INT (TS_SIGNED | TS(U16) | TS(U32) | TS(U64))
#define TS_INT32 (TS(U32) | TS(S32))
#define TS_INT32_64 (TS_INT32 | TS(U64) | TS(S64))
#define TS_BITS32_64 (TS(B32) | TS(B64))
#define TS_BITS (TS(B16) | TS_BITS32_64)
#define TS_FLOAT (TS(F32) | TS(F64))
#define TS_HALF (TS(F16) | TS(F16X2) | TS(BF16) | TS(BF16X2))
#define TS_FP8 (TS(E4M3X2) | TS(E5M2X2))
#define TS_INT_PAIR (TS(U16X2) | TS(S16X2))
#define TS_MEM (TS_BYTE | TS_BITS | TS(B128) | TS_INT | TS_FLOAT)
#define TS_FP8_ONE (TS(E4M3) | TS(E5M2))
#define TS_SMALL (TS(B1) | TS(U4) | TS(S4)) /* less than a byte: elements of matrices */
#define TS_MMA \
	(TS_FP8_ONE | TS(F16) | TS(BF16) | TS(TF32) | TS_FLOAT | TS(S32) | TS(U8) | TS(S8) | TS_SMALL)
_Static_assert(PTX_TYPE_COUNT <= 32, "a set of types is a word");

struct opcode_form {
	uint64_t takes, needs; /* groups, G() or'ed; what is needed may stand */
	uint32_t types, types2;
	const char *operands;
};
extern const struct opcode_form opcode_forms[OP_COUNT];
extern const char *const opcode_names[OP_COUNT];

#endif
