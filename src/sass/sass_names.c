/* The tables of sass.h: opcodes, modifiers, special registers; and finding their names. */
#include "base/text.h"
#include "sass/sass.h"
#include "sass/sass_parts.h"

#include <pthread.h>
#include <string.h>

static const struct sass_op_info ops[SASS_OP_COUNT] = {
	[SASS_UNKNOWN] = { .name = "?" },
#define SASS_OP(name_, class_, pipe_, flops_, space_, access_, flow_, p, r, q) \
	[SASS_##name_] = {                                                         \
		.name = #name_,                                                        \
		.class = SASS_CLASS_##class_,                                          \
		.pipe = SASS_PIPE_##pipe_,                                             \
		.flops = flops_,                                                       \
		.space = SASS_SPACE_##space_,                                          \
		.access = SASS_ACCESS_##access_,                                       \
		.flow = SASS_FLOW_##flow_,                                             \
		.pred_dsts = p,                                                        \
		.reg_dsts = r,                                                         \
		.carry_dsts = q,                                                       \
	},
#include "sass/opcode.def"
#undef SASS_OP
};

static const char *const mods[SASS_MOD_COUNT] = {
	[SASS_MOD_NONE] = "",
	[SASS_MOD_UNKNOWN] = "?",
#define SASS_MODIFIER(name) [SASS_MOD_##name] = #name,
#include "sass/modifier.def"
#undef SASS_MODIFIER
};

static const char *const specials[SASS_SR_COUNT] = {
#define SASS_SPECIAL(id, name) [SASS_SR_##id] = name,
#include "sass/special.def"
#undef SASS_SPECIAL
};

/* Open addressing; both tables are far from full. */
enum { SLOTS = 2048 };
_Static_assert(SASS_OP_COUNT < SLOTS / 4 && SASS_MOD_COUNT < SLOTS / 4, "a bigger hash table");

static struct {
	pthread_once_t once;
	uint16_t op[SLOTS], mod[SLOTS];
} index_of = { .once = PTHREAD_ONCE_INIT };

static unsigned slot_of(const char *name, size_t len)
{
	uint32_t h = 2166136261u;
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)name[i]) * 16777619u;
	return (h ^ h >> 15) & (SLOTS - 1);
}

static void put(uint16_t *table, const char *name, unsigned value)
{
	unsigned at = slot_of(name, strlen(name));
	while (table[at])
		at = (at + 1) & (SLOTS - 1);
	table[at] = (uint16_t)value;
}

static void fill(void)
{
	for (unsigned i = SASS_UNKNOWN + 1; i < SASS_OP_COUNT; i++)
		put(index_of.op, ops[i].name, i);
	for (unsigned i = SASS_MOD_UNKNOWN + 1; i < SASS_MOD_COUNT; i++)
		put(index_of.mod, mods[i], i);
}

static bool same(const char *entry, const char *name, size_t len)
{
	return strlen(entry) == len && !memcmp(entry, name, len); /* there may be NULs in @name */
}

enum sass_op sass_op_find(const char *name, size_t len)
{
	pthread_once(&index_of.once, fill);
	for (unsigned at = slot_of(name, len); index_of.op[at]; at = (at + 1) & (SLOTS - 1))
		if (same(ops[index_of.op[at]].name, name, len))
			return (enum sass_op)index_of.op[at];
	return SASS_UNKNOWN;
}

/* "64x128x16" */
static bool group_shape(const char *name, size_t len)
{
	unsigned parts = 0;
	if (len < 6 || memcmp(name, "64x", 3) != 0)
		return false;
	for (size_t i = 3; i < len; i++) {
		const bool mark = name[i] == 'x';
		if (mark ? name[i - 1] == 'x' : name[i] < '0' || name[i] > '9')
			return false;
		parts += mark;
	}
	return parts == 1 && name[len - 1] != 'x';
}

enum sass_mod sass_mod_find(const char *name, size_t len)
{
	pthread_once(&index_of.once, fill);
	for (unsigned at = slot_of(name, len); index_of.mod[at]; at = (at + 1) & (SLOTS - 1))
		if (same(mods[index_of.mod[at]], name, len))
			return (enum sass_mod)index_of.mod[at];
	return group_shape(name, len) ? SASS_MOD_64xNxK : SASS_MOD_UNKNOWN;
}

enum sass_special sass_special_find(const char *name, size_t len)
{
	for (unsigned i = 0; i < SASS_SR_COUNT; i++)
		if (same(specials[i], name, len))
			return (enum sass_special)i;
	return SASS_SR_COUNT;
}

const struct sass_op_info *sass_op_info(enum sass_op op)
{
	return &ops[op < SASS_OP_COUNT ? op : SASS_UNKNOWN];
}

const char *sass_mod_name(enum sass_mod m)
{
	return m < SASS_MOD_COUNT ? mods[m] : "?";
}

#define X(id, name) name,
const char *sass_class_name(enum sass_class c)
{
	static const char *const names[] = { CODE_CLASSES(X) };
	return c < SASS_CLASS_COUNT ? names[c] : "?";
}

const char *sass_pipe_name(enum sass_pipe p)
{
	static const char *const names[] = { CODE_PIPES(X) };
	return p < SASS_PIPE_COUNT ? names[p] : "?";
}
#undef X

bool sass_op_is_branch(enum sass_op op)
{
	const enum sass_flow flow = sass_op_info(op)->flow;
	return flow == SASS_FLOW_BRANCH || flow == SASS_FLOW_INDIRECT || flow == SASS_FLOW_CALL ||
	       flow == SASS_FLOW_RETURN || flow == SASS_FLOW_EXIT || flow == SASS_FLOW_SYNC;
}

bool sass_has(const struct sass_inst *i, enum sass_mod mod)
{
	for (unsigned m = 0; m < i->n_mods; m++)
		if (i->mods[m] == mod)
			return true;
	return false;
}

struct sass_control sass_control_of(uint64_t high_half)
{
	const uint64_t c = high_half >> 41;
	return (struct sass_control){
		.stall = c & 15,
		.yield = !(c >> 4 & 1), /* the bit says that the warp may stay */
		.write_bar = c >> 5 & 7,
		.read_bar = c >> 8 & 7,
		.wait = c >> 11 & 63,
		.reuse = c >> 17 & 15,
	};
}
