/*
 * Machine code of every shipped kernel for every architecture of the GPU sheets: all of it is
 * understood, control words agree with what the instructions need, and registers live at each
 * instruction, computed from the operands as read, are those that nvdisasm counts.
 */
#include "sass_fixture.h"

typedef void (*check_func)(const struct sass_module *m, const struct sass_func *f);

/* Sums over all functions of one test. */
static struct {
	unsigned funcs, insts, compared, guarded;
	bool seen[SASS_OP_COUNT];
} sum;

static void each_function(check_func check)
{
	int cc[32];
	const unsigned n_cc = sheet_architectures(cc);
	if (no_sass()) {
		print_message("%s\n", no_sass());
		skip();
	}
	memset(&sum, 0, sizeof sum);
	for (size_t k = 0; k < kernel_count(); k++)
		for (unsigned a = 0; a < n_cc; a++) {
			struct sass_module m;
			sass_of_kernel(kernel_at(k), cc[a], &m);
			assert_int_equal(m.cubin.sm, cc[a]);
			for (unsigned f = 0; f < m.n_funcs; f++) {
				sum.funcs++;
				sum.insts += m.funcs[f].n_insts;
				check(&m, &m.funcs[f]);
			}
			sass_free(&m);
		}
}

#define ASSERT_AT(f, i, condition)                                                         \
	do {                                                                                   \
		if (!(condition))                                                                  \
			fail_msg("%s %04x: %s %s: %s", (f)->name, (i)->offset, (i)->opcode, (i)->text, \
			         #condition);                                                          \
	} while (0)

static void check_understood(const struct sass_module *m, const struct sass_func *f)
{
	assert_true(f->cubin->entry);
	assert_in_range(f->cubin->registers, 1, 255);
	for (unsigned n = 0; n < f->n_insts; n++) {
		const struct sass_inst *i = &f->insts[n];
		const enum sass_flow flow = sass_op_info(i->op)->flow;
		if (i->why_not)
			fail_msg("%s sm_%u %04x: %s %s: %s", f->name, m->cubin.sm, i->offset, i->opcode,
			         i->text, i->why_not);
		sum.seen[i->op] = true;
		ASSERT_AT(f, i, i->offset == n * CUBIN_INST_BYTES);
		ASSERT_AT(f, i, i->line > 0 && i->file > 0 && i->ptx_line > 0);
		ASSERT_AT(f, i, i->live_regs != SASS_UNKNOWN_LIVE);
		if (flow == SASS_FLOW_BRANCH || flow == SASS_FLOW_CALL || flow == SASS_FLOW_SYNC_BEGIN)
			ASSERT_AT(f, i, i->target >= 0 && (unsigned)i->target < f->n_insts);
	}
	/* the assembler's own list of exits */
	for (unsigned e = 0; e < f->cubin->n_exits; e++) {
		const int32_t at = sass_inst_at(f, f->cubin->exits[e]);
		assert_true(at >= 0);
		ASSERT_AT(f, &f->insts[at], f->insts[at].op == SASS_EXIT);
	}
}

TEST(all_is_understood)
{
	unsigned opcodes = 0;
	each_function(check_understood);
	for (unsigned o = 0; o < SASS_OP_COUNT; o++)
		opcodes += sum.seen[o];
	print_message("%u functions, %u instructions, %u base opcodes\n", sum.funcs, sum.insts,
	              opcodes);
	assert_true(sum.funcs > 300 && opcodes > 40);
}

/* --- control words ---------------------------------------------------------------------------- */

static bool uses(const struct sass_inst *i, unsigned reg)
{
	for (unsigned n = 0; n < i->n_operands; n++) {
		const struct sass_operand *o = &i->operands[n];
		const bool has =
			o->kind == SASS_OPND_REG || o->kind == SASS_OPND_MEM || o->kind == SASS_OPND_CONST;
		if (has && o->reg != SASS_NO_REG && reg >= o->reg && reg < o->reg + (unsigned)o->words)
			return true;
	}
	return false;
}

/* From instruction @n, a load into @reg, on: somebody waits before it is used. A load without a
 * scoreboard relies on a later one of its kind, because those come back in order. */
static void check_load(const struct sass_func *f, unsigned n, unsigned reg)
{
	const struct sass_inst *load = &f->insts[n];
	unsigned bar = load->control.write_bar;
	for (unsigned k = n + 1; k < f->n_insts; k++) {
		const struct sass_inst *i = &f->insts[k];
		const enum sass_flow flow = sass_op_info(i->op)->flow;
		if (bar < SASS_N_BARRIERS && i->control.wait >> bar & 1)
			break; /* waited for: by this instruction or one before */
		ASSERT_AT(f, i, !uses(i, reg) && "waits for the load that it needs");
		if (flow == SASS_FLOW_BRANCH || flow == SASS_FLOW_EXIT || flow == SASS_FLOW_SYNC)
			break; /* the rest is on another path */
		if (bar >= SASS_N_BARRIERS && i->op == load->op)
			bar = i->control.write_bar;
	}
	sum.compared++;
}

static void check_waits(const struct sass_module *m, const struct sass_func *f)
{
	(void)m;
	for (unsigned n = 0; n < f->n_insts; n++) {
		const struct sass_inst *i = &f->insts[n];
		const struct sass_op_info *info = sass_op_info(i->op);
		if (info->class != SASS_CLASS_LOAD || info->access != SASS_ACCESS_LOAD || !i->n_dsts)
			continue;
		const struct sass_operand *to = &i->operands[i->n_dsts - 1];
		if (to->kind == SASS_OPND_REG && to->reg != SASS_RZ)
			check_load(f, n, to->reg);
	}
}

TEST(loads_are_waited_for)
{
	each_function(check_waits);
	print_message("%u loads\n", sum.compared);
	assert_true(sum.compared > 5000);
}

/* The bits of the encoding that say "kept for the next" are those that the text calls reuse. */
static void check_reuse(const struct sass_module *m, const struct sass_func *f)
{
	(void)m;
	for (unsigned n = 0; n < f->n_insts; n++) {
		const struct sass_inst *i = &f->insts[n];
		unsigned printed = 0, bits = 0;
		for (unsigned k = 0; k < i->n_operands; k++)
			printed += (i->operands[k].flags & SASS_REUSE) != 0;
		for (unsigned b = 0; b < 4; b++)
			bits += i->control.reuse >> b & 1;
		ASSERT_AT(f, i, printed == bits);
		sum.compared += printed;
	}
}

TEST(reuse_is_what_is_printed)
{
	each_function(check_reuse);
	assert_true(sum.compared > 10000);
}

/* --- live registers --------------------------------------------------------------------------- */

struct reg_set {
	uint64_t w[4];
};

static void add(struct reg_set *s, unsigned reg, unsigned n)
{
	for (; n && reg < SASS_RZ; n--, reg++)
		s->w[reg / 64] |= (uint64_t)1 << reg % 64;
}

static unsigned size_of_union(const struct reg_set *a, const struct reg_set *b)
{
	unsigned n = 0;
	for (int i = 0; i < 4; i++)
		n += (unsigned)__builtin_popcountll(a->w[i] | b->w[i]);
	return n;
}

/* R1, the stack pointer, is held to the end. */
static void read_and_written(const struct sass_inst *i, struct reg_set *read,
                             struct reg_set *written)
{
	if (sass_op_info(i->op)->flow == SASS_FLOW_EXIT)
		add(read, 1, 1);
	for (unsigned n = 0; n < i->n_operands; n++) {
		const struct sass_operand *o = &i->operands[n];
		if (o->kind == SASS_OPND_REG)
			add(o->flags & SASS_DST ? written : read, o->reg, o->words);
		else if (o->kind == SASS_OPND_MEM || o->kind == SASS_OPND_CONST)
			add(read, o->reg, o->reg == SASS_NO_REG ? 0 : o->words);
	}
}

static bool always(const struct sass_inst *i)
{
	return i->guard == SASS_PT && !i->guard_not;
}

static bool goes_on(const struct sass_inst *i)
{
	const enum sass_flow flow = sass_op_info(i->op)->flow;
	return !(always(i) &&
	         (flow == SASS_FLOW_EXIT || (flow == SASS_FLOW_BRANCH && i->n_operands == 1)));
}

/* One step backwards through the function; true = something changed. */
static bool flow_back(const struct sass_func *f, struct reg_set *in, const struct reg_set *read,
                      const struct reg_set *written)
{
	bool changed = false;
	for (unsigned n = f->n_insts; n--;) {
		const struct sass_inst *i = &f->insts[n];
		struct reg_set now = { { 0 } };
		for (int w = 0; w < 4; w++) {
			if (goes_on(i))
				now.w[w] |= in[n + 1].w[w];
			if (sass_op_info(i->op)->flow == SASS_FLOW_BRANCH && i->target >= 0)
				now.w[w] |= in[i->target].w[w];
			if (always(i))
				now.w[w] &= ~written[n].w[w];
			now.w[w] |= read[n].w[w];
		}
		changed |= memcmp(&now, &in[n], sizeof now) != 0;
		in[n] = now;
	}
	return changed;
}

/*
 * Equal, where no guarded instruction writes a register: such a write leaves the old value in other
 * lanes, and nvdisasm knows of some that those lanes do not need it.
 */
static void check_live(const struct sass_module *m, const struct sass_func *f)
{
	bool guarded = false;
	for (unsigned n = 0; n < f->n_insts; n++) {
		const enum sass_flow flow = sass_op_info(f->insts[n].op)->flow;
		if (flow == SASS_FLOW_CALL || flow == SASS_FLOW_RETURN || flow == SASS_FLOW_INDIRECT)
			return;
	}
	struct reg_set *in = calloc(f->n_insts + 1, sizeof *in);
	struct reg_set *read = calloc(f->n_insts, sizeof *read);
	struct reg_set *written = calloc(f->n_insts, sizeof *written);
	for (unsigned n = 0; n < f->n_insts; n++) {
		read_and_written(&f->insts[n], &read[n], &written[n]);
		guarded |= !always(&f->insts[n]) && size_of_union(&written[n], &written[n]);
	}
	while (flow_back(f, in, read, written))
		;
	for (unsigned n = 0; n < f->n_insts; n++) {
		const struct sass_inst *i = &f->insts[n];
		const unsigned live = size_of_union(&in[n], &written[n]);
		if (i->op == SASS_BRA && i->target == (int32_t)n)
			continue; /* behind the end */
		if (guarded ? live < i->live_regs : live != i->live_regs)
			fail_msg("%s sm_%u %04x: %s %s: %u registers live, nvdisasm says %u", f->name,
			         m->cubin.sm, i->offset, i->opcode, i->text, live, i->live_regs);
		sum.compared += live == i->live_regs;
		sum.guarded += live != i->live_regs;
	}
	free(in);
	free(read);
	free(written);
}

TEST(live_registers_agree)
{
	each_function(check_live);
	print_message("%u counts equal, %u larger in functions with guarded writes\n", sum.compared,
	              sum.guarded);
	assert_true(sum.compared > 50000 && sum.guarded < sum.compared / 100);
}

int main(void)
{
	return unit_run(use_build_cache, NULL);
}
