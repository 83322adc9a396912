/*
 * Which instructions ran exactly as a card runs them.
 *
 * All do, but for functions of which the PTX ISA says only how far from the exact value they may
 * be: there the emulator gives the nearest value. And for hints, which have no effect here.
 * Additions of floats by atomics are exact for the order in which they happen, which a card does
 * not promise either.
 */
#include "emu/launch/launch_fidelity.h"

#include "base/mem.h"
#include "base/text.h"
#include "emu/analysis/analysis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PTX ISA 9.0, sections 9.7.3 and 9.7.4; MUFU is what those become. The first that fits holds. */
static const struct {
	const char *start, *end, *within;
} functions[] = {
	{ "div.approx", "", "2 ulp" },
	{ "div.full", "", "2 ulp" },
	{ "rcp.approx", "f64", "2^-20 of the value" },
	{ "rcp.approx", "", "1 ulp" },
	{ "rsqrt.approx", "f64", "2^-20 of the value" },
	{ "rsqrt.approx", "", "2^-22.9 of the value" },
	{ "sqrt.approx", "", "2^-23 of the value" },
	{ "sin.approx", "", "2^-20.5 in -pi..pi" },
	{ "cos.approx", "", "2^-20.5 in -pi..pi" },
	{ "lg2.approx", "", "2^-22, of the value beyond 0.5..2" },
	{ "ex2.approx", "bf16", "2^-7 of the value" },
	{ "ex2.approx", "bf16x2", "2^-7 of the value" },
	{ "ex2.approx", "f16", "2^-9.9 of the value" },
	{ "ex2.approx", "f16x2", "2^-9.9 of the value" },
	{ "ex2.approx", "", "2^-22.5 of the value" },
	{ "tanh.approx", "bf16", "2^-8" },
	{ "tanh.approx", "bf16x2", "2^-8" },
	{ "tanh.approx", "f16", "2^-10.987" },
	{ "tanh.approx", "f16x2", "2^-10.987" },
	{ "tanh.approx", "", "2^-11 of the value" },
	{ "MUFU.RCP64H", "", "2^-20 of the value" },
	{ "MUFU.RSQ64H", "", "2^-20 of the value" },
	{ "MUFU.RCP", "", "1 ulp" },
	{ "MUFU.RSQ", "", "2^-22.9 of the value" },
	{ "MUFU.SQRT", "", "2^-23 of the value" },
	{ "MUFU.SIN", "", "2^-20.5 in -pi..pi" },
	{ "MUFU.COS", "", "2^-20.5 in -pi..pi" },
	{ "MUFU.LG2", "", "2^-22, of the value beyond 0.5..2" },
	{ "MUFU.EX2", "", "2^-22.5 of the value" },
	{ "MUFU.TANH", "", "2^-11 of the value" },
};

static const char *const hints[] = {
	"prefetch",       "cp.async.bulk.prefetch",
	"applypriority",  "discard",
	"griddepcontrol", "nanosleep",
	"setmaxnreg",     "pmevent",
	"NANOSLEEP",      "CCTL",
};

static bool begins(const char *name, const char *start)
{
	return !strncmp(name, start, strlen(start));
}

static bool ends(const char *name, const char *end)
{
	const size_t n = strlen(name), m = strlen(end);
	return n >= m && !strcmp(name + n - m, end);
}

/* How far a card may be from the exact value; NULL = it is there. */
static const char *within(const char *name)
{
	for (unsigned i = 0; i < ARRAY_LEN(functions); i++)
		if (begins(name, functions[i].start) && ends(name, functions[i].end))
			return functions[i].within;
	return NULL;
}

static bool is_hint(const char *name)
{
	for (unsigned i = 0; i < ARRAY_LEN(hints); i++)
		if (begins(name, hints[i]))
			return true;
	return false;
}

/* Adds @words to @list unless they stand there, or there is no room. */
static void note(char *list, size_t size, const char *words)
{
	const size_t len = strlen(list), more = strlen(words);
	const char *at = strstr(list, words);
	if (at && (at[more] == '\0' || at[more] == ','))
		return;
	if (len + more + 6 < size)
		snprintf(list + len, size - len, "%s%s", len ? ", " : "", words);
	else if (!ends(list, "..."))
		snprintf(list + len, size - len, " ...");
}

static bool note_inst(const char *name, uint64_t warps, struct run_fidelity *f)
{
	const char *how_far = within(name);
	if (how_far) {
		char words[96];
		snprintf(words, sizeof words, "%s (%s)", name, how_far);
		f->approximate += warps;
		note(f->functions, sizeof f->functions, words);
		return true;
	}
	if (is_hint(name)) {
		f->skipped += warps;
		note(f->hints, sizeof f->hints, name);
	} else {
		f->exact += warps;
	}
	return false;
}

void fidelity_of(const struct ir *ir, const struct counts *of_op, struct run_fidelity *f)
{
	bool *approximate = mem_calloc(ir->n_ops + 1, sizeof *approximate);
	bool *ran = mem_calloc(ir->n_ops + 1, sizeof *ran);
	uint64_t warps = 0;
	memset(f, 0, sizeof *f);
	f->known = true;
	bool far = false;
	for (uint32_t o = 0; o < ir->n_ops; o++) {
		if (ir->ops[o].first) {
			warps = of_op[o].warp_executed;
			far = warps && note_inst(ir->insts[ir->ops[o].pc].text, warps, f);
		}
		ran[o] = warps;
		approximate[o] = far;
	}
	uint32_t where = 0;
	f->reaches = f->approximate && values_decide(ir, approximate, ran, &where);
	f->line = f->reaches ? ir->insts[ir->ops[where].pc].line : 0;
	free(approximate);
	free(ran);
}
