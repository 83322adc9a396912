/*
 * Random CUDA kernels, compiled by NVRTC as any kernel is, in the emulator: every variable of every
 * thread must have the bits that the host's own evaluation of the same program gives, from its PTX
 * and from its machine code.
 *
 * Plain programs hold products and sums that nvcc or the assembler may fuse: there the machine code
 * must give the bits of the PTX that runs with it, which knows what was fused. PTX alone goes by
 * rule, and its settings are compared with one another.
 *
 * Where machine code differs the assembler may be wrong: ptxas 13.0 takes max.u32 of anything and
 * 0 for a number that is not negative, so that min.s32 of it and 0 is 0 (7200726 for sm_100).
 * Seeds are fixed; a failure prints the program. RANDOM_SEED=N runs that program, RANDOM_COUNT=N
 * that many; RANDOM_BATCH=N compiles so many at once and runs each in two settings, RANDOM_TERSE=1
 * then only names those that fail. RANDOM_PLAIN=1 makes them plain. RANDOM_SM=90 is for that
 * architecture, else each program, or batch, is for the next one. What NVRTC itself dies of is
 * named, and compared with nothing.
 */
#include "emulator.h"
#include "backend/backend.h"
#include "base/mem.h"
#include "compile/compile_worker.h"
#include "compile/disassemble.h"
#include "random_data.h"
#include "random_eval.h"
#include "random_print.h"

#include <stdlib.h>

enum { PROGRAMS = 24 };

static struct backend *emulator;
static char found[2200]; /* what was wrong last */
/* of every GPU sheet */
static const int architectures[][2] = {
	{ 7, 5 }, { 8, 0 }, { 8, 6 }, { 8, 9 }, { 9, 0 }, { 10, 0 }, { 12, 0 },
};
static const struct {
	const char *isa, *name;
	unsigned threads;
	bool races;
	enum run_level level;
} settings[] = {
	{ "sse", "sse", 1, false, RUN_LEVEL_PTX },
	{ "avx2", "avx2", 1, false, RUN_LEVEL_PTX },
	{ "avx512", "avx512, 2 threads", 2, false, RUN_LEVEL_PTX },
	{ NULL, "race check", 1, true, RUN_LEVEL_PTX },
	{ NULL, "machine code", 1, false, RUN_LEVEL_SASS },
};
static bool machine_code_too; /* of this program */

/* True when all is equal; else says where. */
static bool compare(const struct data *d, unsigned block, const char *setting)
{
	for (size_t i = 0; i < (size_t)d->threads * N_U; i++)
		if (d->out[i] != d->want[i]) {
			snprintf(found, sizeof found,
			         "%s: block %zu, thread %zu: u%zu is 0x%08x, "
			         "expected 0x%08x",
			         setting, i / N_U / block, i / N_U % block, i % N_U, d->out[i], d->want[i]);
			return false;
		}
	for (size_t i = 0; i < (size_t)d->threads * N_F; i++)
		if (!same_float(d->fout[i], d->fwant[i])) {
			snprintf(found, sizeof found,
			         "%s: block %zu, thread %zu: f%zu is %a, "
			         "expected %a",
			         setting, i / N_F / block, i / N_F % block, i % N_F, (double)d->fout[i],
			         (double)d->fwant[i]);
			return false;
		}
	for (size_t i = 0; i < N_BINS; i++)
		if (d->all[i] != d->all_want[i]) {
			print_error("%s: bin %zu is 0x%08x, expected 0x%08x", setting, i, d->all[i],
			            d->all_want[i]);
			return false;
		}
	return true;
}

static bool run_only(const struct module *m, const char *entry, struct data *d, unsigned block,
                     size_t setting)
{
	const size_t nu = (size_t)d->threads * N_U, nf = (size_t)d->threads * N_F;
	struct launch_plan plan = {
		.entry = entry, .grid = { GRID, 1, 1 }, .block = { block, 1, 1 },
		.n_buffers = 5, .n_args = 5,
		.buffers = {
			{ .name = "in", .type = ELEM_U32, .role = BUF_IN, .count = nu },
			{ .name = "fin", .type = ELEM_F32, .role = BUF_IN, .count = nf },
			{ .name = "out", .type = ELEM_U32, .role = BUF_OUT, .count = nu },
			{ .name = "fout", .type = ELEM_F32, .role = BUF_OUT, .count = nf },
			{ .name = "all", .type = ELEM_U32, .role = BUF_INOUT, .count = N_BINS },
		},
	};
	for (unsigned i = 0; i < 5; i++)
		plan.args[i] = (struct kernel_arg){ .kind = ARG_BUFFER, .buffer = i };
	struct run_request req = {
		.module = m,
		.plan = &plan,
		.source_file = "random.cu",
		.caps = CAP_COUNTERS,
		.timeout_s = 20,
		.threads = settings[setting].threads,
		.check_races = settings[setting].races,
		.level = settings[setting].level,
		.buffers = { { .data = d->in, .bytes = nu * 4 },
		             { .data = d->fin, .bytes = nf * 4 },
		             { .data = d->out, .bytes = nu * 4 },
		             { .data = d->fout, .bytes = nf * 4 },
		             { .data = d->all, .bytes = sizeof d->all } },
	};
	struct run_hooks hooks = { 0 };
	struct run_result res = { 0 };
	struct err err = { 0 };
	memset(d->out, 0xa5, nu * 4);
	memset(d->fout, 0xa5, nf * 4);
	memset(d->all, 0, sizeof d->all);
	if (settings[setting].isa)
		setenv("PMPP_EMU_ISA", settings[setting].isa, 1);
	else
		unsetenv("PMPP_EMU_ISA");
	const bool ok = backend_emu.run(emulator, &req, &hooks, &res, &err);
	unsetenv("PMPP_EMU_ISA");
	run_result_free(&res);
	if (!ok || res.note[0]) { /* a note: the two levels' outputs differ */
		snprintf(found, sizeof found, "%s: %.1000s", settings[setting].name,
		         ok ? res.note : err.msg);
		return false;
	}
	return true;
}

static bool run_setting(const struct module *m, const char *entry, struct program_text *program,
                        struct data *d, size_t setting)
{
	const unsigned block = program->block;
	if (settings[setting].level != RUN_LEVEL_PTX && !machine_code_too)
		return true;
	/* (a plain program's machine code is compared with the PTX that ran with it) */
	return run_only(m, entry, d, block, setting) &&
	       ((program->plain && settings[setting].level != RUN_LEVEL_PTX) ||
	        compare(d, block, settings[setting].name));
}

/* What settings must give: the host's results; of a plain program what its PTX alone gives. */
static bool find_wanted(const struct module *m, const char *entry, struct program_text *program,
                        struct data *d)
{
	if (!program->plain) {
		for (unsigned b = 0; b < GRID; b++)
			run_program(program, b, d->in, d->fin, d->want, d->fwant, d->all_want);
		return true;
	}
	if (!run_only(m, entry, d, program->block, 0))
		return false;
	memcpy(d->want, d->out, (size_t)d->threads * N_U * 4);
	memcpy(d->fwant, d->fout, (size_t)d->threads * N_F * 4);
	memcpy(d->all_want, d->all, sizeof d->all);
	return true;
}

static uint64_t batch = 1; /* programs that are compiled at once */
static int only_sm;        /* RANDOM_SM, 0 = all in turn */
static bool compiler_died; /* of the last one that was not compiled */

/* Of a batch all are compiled for one architecture. */
static bool compile(const char *source, uint64_t seed, struct module *m)
{
	const int *next = architectures[seed / batch % ARRAY_LEN(architectures)];
	const int arch[] = { only_sm ? only_sm / 10 : next[0], only_sm ? only_sm % 10 : next[1] };
	struct err err = { 0 };
	const struct compile_request req = {
		.file = "random.cu", .source = source, .cc_major = arch[0], .cc_minor = arch[1]
	};
	if (compile_module(&req, m, &err))
		return true;
	snprintf(found, sizeof found, "%.1000s", err.msg);
	compiler_died = strstr(err.msg, "itself ended") != NULL;
	return false;
}

/* Runs the program of @m in settings [first, end). */
static bool runs_right(const struct module *m, struct program_text *program, size_t first,
                       size_t end)
{
	struct data d;
	char entry[40];
	snprintf(entry, sizeof entry, "random_%" PRIu64, program->seed);
	data_make(&d, program->seed, program->block);
	bool ok = find_wanted(m, entry, program, &d);
	for (size_t s = first; s < end && ok; s++)
		ok = run_setting(m, entry, program, &d, s);
	data_free(&d);
	return ok;
}

/* Compiles and runs the program in settings [first, end); the source is put into @source. */
static bool passes(struct program_text *program, size_t first, size_t end, struct text *source,
                   bool *compiled)
{
	struct module m;
	text_free(source);
	*source = (struct text){ 0 };
	print_program(program, source);
	*compiled = compile(source->s, program->seed, &m);
	if (!*compiled)
		return false;
	const bool ok = runs_right(&m, program, first, end);
	module_free(&m);
	return ok;
}

/* Puts an operand or zero in the place of operation @i; false when the program then passes. */
static bool simplify(struct program_text *p, unsigned i, size_t setting, struct text *source)
{
	const struct expr old = p->expr[i];
	const char *types = random_ops[old.op].types;
	bool compiled;
	for (unsigned k = 0; !old.is_leaf && k < 4; k++) {
		const bool zero = !types[1 + k];
		if (!zero && types[1 + k] != types[0])
			continue;
		if (zero)
			p->expr[i] = (struct expr){
				.is_leaf = true,
				.leaf = types[0] == 'f' ? LEAF_CONST_F : LEAF_CONST_U,
			};
		else
			p->expr[i] = p->expr[old.kid[k]];
		if (!passes(p, setting, setting + 1, source, &compiled) && compiled)
			return true;
		p->expr[i] = old;
		if (zero)
			break;
	}
	return false;
}

/* Takes away statements and operations while the program still fails in @setting. */
static void shrink(struct program_text *p, size_t setting, struct text *source)
{
	bool smaller = true, compiled;
	while (smaller) {
		smaller = false;
		for (unsigned i = 1; i < p->n_stmt; i++) {
			const struct stmt old = p->stmt[i];
			if (old.kind == S_NOTHING)
				continue;
			p->stmt[i].kind = S_NOTHING;
			if (!passes(p, setting, setting + 1, source, &compiled) && compiled)
				smaller = true;
			else
				p->stmt[i] = old;
		}
		for (unsigned i = 1; i < p->n_expr; i++)
			smaller |= simplify(p, i, setting, source);
	}
	passes(p, setting, setting + 1, source, &compiled);
}

static unsigned one_batch(uint64_t first, uint64_t end, bool plain);

/* Programs [first, end) are not compiled. NVRTC 13.0 dies of some: those are named, and no failure.
 * Returns how many of the others fail. */
static unsigned uncompiled_batch(uint64_t first, uint64_t end, bool plain)
{
	const uint64_t half = first + (end - first) / 2;
	if (end - first > 1)
		return one_batch(first, half, plain) + one_batch(half, end, plain);
	print_message("seed %" PRIu64 ", %s: %s\n", first,
	              compiler_died ? "not compared" : "does not compile", found);
	return !compiler_died;
}

static bool one_program(uint64_t seed, bool plain)
{
	static struct program_text program;
	struct text source = { 0 };
	bool compiled;
	make_program(&program, seed, plain);
	if (passes(&program, 0, ARRAY_LEN(settings), &source, &compiled)) {
		text_free(&source);
		return true;
	}
	bool fine = false;
	if (!compiled) {
		fine = !uncompiled_batch(seed, seed + 1, plain);
	} else {
		size_t setting = 0;
		while (setting + 1 < ARRAY_LEN(settings) &&
		       passes(&program, setting, setting + 1, &source, &compiled))
			setting++;
		shrink(&program, setting, &source);
		print_error("seed %" PRIu64 ", made smaller: %s\n", seed, found);
	}
	for (const char *line = source.s; line && *line; line += *line != 0) {
		/* line by line: cmocka prints 1,000 characters at a time */
		const size_t len = strcspn(line, "\n");
		print_error("  %.*s\n", (int)len, line);
		line += len;
	}
	text_free(&source);
	return fine;
}

/* Programs [first, end) of one module; those that fail run again by themselves, which tells them.
 * Returns how many. */
static unsigned one_batch(uint64_t first, uint64_t end, bool plain)
{
	const size_t settings_from = ARRAY_LEN(settings) - 2; /* one of PTX, machine code */
	const size_t n = (size_t)(end - first);
	struct program_text *programs = mem_calloc(n, sizeof *programs);
	struct text source = { 0 };
	struct module m;
	unsigned failed = 0;
	for (size_t k = 0; k < n; k++) {
		make_program(&programs[k], first + k, plain);
		print_program(&programs[k], &source);
	}
	const bool compiled = compile(source.s, first, &m);
	for (size_t k = 0; k < n && compiled; k++)
		if (!runs_right(&m, &programs[k], settings_from, ARRAY_LEN(settings))) {
			print_error("seed %" PRIu64 ": %s\n", first + k, found);
			if (!getenv("RANDOM_TERSE"))
				one_program(first + k, plain);
			failed++;
		}
	if (compiled)
		module_free(&m);
	text_free(&source);
	free(programs);
	return compiled ? failed : uncompiled_batch(first, end, plain);
}

static void need_compiler(void)
{
	struct compile_info info;
	compile_probe(&info);
	if (!info.nvrtc) {
		print_message("no NVRTC here: %s\n", info.why_not);
		skip();
	}
}

TEST(same_bits_as_the_host)
{
	const char *seed = getenv("RANDOM_SEED"), *count = getenv("RANDOM_COUNT");
	const uint64_t first = seed ? strtoull(seed, NULL, 10) : 1;
	const uint64_t n = count ? strtoull(count, NULL, 10) : seed ? 1 : PROGRAMS;
	need_compiler();
	char path[4096];
	struct err err;
	const bool disassembler = disassembler_find(path, sizeof path, &err);
	if (!disassembler && seed) /* who asks for programs means both */
		fail_msg("no machine code to compare with: %s", err.msg);
	const char *together = getenv("RANDOM_BATCH"), *sm = getenv("RANDOM_SM");
	const bool plain = getenv("RANDOM_PLAIN") != NULL;
	unsigned failed = 0;
	batch = together ? strtoull(together, NULL, 10) : 1;
	only_sm = sm ? atoi(sm) : 0;
	for (uint64_t i = first; batch > 1 && i < first + n;) {
		const uint64_t end = (i / batch + 1) * batch;
		machine_code_too = disassembler;
		failed += one_batch(i, end < first + n ? end : first + n, plain);
		i = end;
	}
	for (uint64_t i = first; batch <= 1 && i < first + n; i++) {
		/* the disassembler costs more than all else: every fourth, unless asked for more */
		machine_code_too = disassembler && (seed || count || i % 4 == 0);
		failed += !one_program(i, plain);
	}
	if (failed)
		fail_msg("%u of %" PRIu64 " programs", failed, n);
}

static void need_machine_code(void)
{
	char path[4096];
	struct err err;
	need_compiler();
	if (disassembler_find(path, sizeof path, &err))
		return;
	print_message("%s\n", err.msg);
	skip();
}

/* A few for each architecture. */
TEST(fused_as_the_assembler_does)
{
	need_machine_code();
	machine_code_too = true;
	batch = 8;
	only_sm = 0;
	for (uint64_t i = 0; i < ARRAY_LEN(architectures); i++)
		assert_int_equal(one_batch(i * batch, (i + 1) * batch, true), 0);
}

/* Which sums are fused is no rule's business where the machine code is there: products that come
 * out of a branch that ptxas takes away (7000435), of numbers that it works out (7008879, 7000975,
 * 7009544, 9300462) and that it does not (9410002), and a square's absolute value (7007115); by a
 * factor that comes from memory (9730071), 2 x - x (7202487), a number for a while (7451569), what
 * a loop moves to another register at its end (11726214). */
TEST(fused_as_machine_code_has_it)
{
	static const uint64_t seeds[] = { 7000435, 7007115, 7008879, 7000975,  7007910, 7009390,
		                              7009544, 9300462, 9410002, 7200837,  7201773, 7202487,
		                              7451569, 7604156, 9204855, 11101803, 11726214 };
	need_machine_code();
	machine_code_too = true;
	batch = 1;
	only_sm = 90;
	for (size_t i = 0; i < ARRAY_LEN(seeds); i++)
		assert_int_equal(one_batch(seeds[i], seeds[i] + 1, true), 0);
	only_sm = 0;
}

/* MOV.64 of a number with bit 31 set, which sm_120 has, extended its sign; lanes were waited for at
 * a barrier of the warp that they had left. */
TEST(sm_120_as_the_host)
{
	need_machine_code();
	machine_code_too = true;
	batch = 1;
	only_sm = 120;
	assert_true(one_program(7000650, false));
	assert_true(one_program(7002646, false)); /* SEL.64 */
	assert_int_equal(one_batch(9300004, 9300005, false), 0);
	only_sm = 0;
}

/* FMUL.M2, FMUL.D4, UFRND, RET with a predicate; a product rounded once with its scale (9502526), a
 * factor that one of two branches left (9502300, 9700511). */
TEST(scaled_products_and_uniform_rounding)
{
	static const struct {
		uint64_t seed;
		int sm;
		bool plain;
	} programs[] = { { 7702486, 89, true },  { 7702810, 75, true }, { 7501126, 120, false },
		             { 9730071, 86, true },  { 9502300, 86, true }, { 9502526, 89, true },
		             { 9700511, 120, true }, { 9701461, 90, true }, { 11402244, 86, true } };
	need_machine_code();
	machine_code_too = true;
	batch = 1;
	for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
		only_sm = programs[i].sm;
		assert_int_equal(one_batch(programs[i].seed, programs[i].seed + 1, programs[i].plain), 0);
	}
	only_sm = 0;
}

/* A loop splits the warp for the first time while other lanes wait behind it: registers that share
 * a slot of the next program were moved over one another (deopt.c). */
TEST(lanes_that_wait_keep_their_registers)
{
	static const uint64_t seeds[] = { 100017, 100036, 100083, 100098 };
	need_compiler();
	machine_code_too = false;
	batch = 1;
	for (size_t i = 0; i < ARRAY_LEN(seeds); i++)
		assert_true(one_program(seeds[i], false));
}

/* YIELD lets lanes that wait go on in the middle of a loop: the warp went back to a program that
 * keeps one value for all of them (deopt.c). */
TEST(lanes_that_take_turns_have_values_of_their_own)
{
	need_machine_code();
	machine_code_too = true;
	batch = 1;
	only_sm = 80;
	assert_int_equal(one_batch(11728103, 11728104, true), 0);
	only_sm = 0;
}

enum { COMPILE_LIMIT_S = 300 }; /* of a batch */

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], COMPILE_WORKER_OPTION))
		return compile_worker_main(atoi(argv[2]));
	compile_use_worker(COMPILE_LIMIT_S);
	if (getenv("RANDOM_SEED"))
		cmocka_set_test_filter("same_bits_as_the_host");
	return run_with_emulator("h200", &emulator);
}
