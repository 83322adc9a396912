/*
 * The two forms of a disassembled function. The columns of the text:
 *
 *     41 | float acc = 0.0f;
 *       0060  p219   12/ 1/ 2   4 y  w0 r- wait 0-2---  @!P0 LDG.E R2, desc[UR4][R2.64]
 *
 * offset; PTX line; live registers, predicates, uniform registers; stall cycles; y = yields;
 * scoreboard set when written and when read; scoreboards waited for; the instruction, and what is
 * wrong with it: it spills, or waits for registers of one bank. Where a launch was counted, how
 * often it ran, its share of all and its lanes stand behind the offset (sass_counts_out.c).
 */
#include "cli/sass_out.h"

#include "base/demangle.h"
#include "base/mem.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Is @name the signature, with or without its result and its parameters? "deep::scale",
 * "scale<float>(float*)" */
static bool names_signature(const char *signature, const char *name)
{
	const size_t n = strlen(name);
	for (const char *at = strstr(signature, name); n && at; at = strstr(at + 1, name)) {
		const bool begins = at == signature || at[-1] == ' ' || at[-1] == ':';
		const bool in_parameters = memchr(signature, '(', (size_t)(at - signature)) != NULL;
		if (begins && !in_parameters && (!at[n] || at[n] == '(' || at[n] == '<'))
			return true;
	}
	return false;
}

bool sass_is_named(const char *symbol, const char *name)
{
	char part[160], written[512];
	if (!strcmp(symbol, name))
		return true;
	if (strncmp(symbol, "_Z", 2) != 0)
		return false;
	snprintf(part, sizeof part, "%zu%s", strlen(name), name);
	for (const char *at = symbol; (at = strstr(at, part)); at++)
		if (!isdigit((unsigned char)at[-1]))
			return true;
	return names_signature(demangle(symbol, true, written, sizeof written), name);
}

void sass_say_name(struct cli *c, const struct sass_func *f)
{
	char written[512];
	cli_name(c->out, STYLE_TITLE, f->name);
	if (!demangle(f->name, true, written, sizeof written)[0])
		return;
	fputs(": ", c->out);
	cli_name(c->out, STYLE_BOLD, written);
}

/* --- text ------------------------------------------------------------------------------------- */

static void print_place(struct cli *c, const struct sass_show *show, const struct sass_inst *i)
{
	char code[160];
	if (!i->line) {
		cli_line_in(c, STYLE_DIM, "   ? | (no line)");
		return;
	}
	fprintf(c->out, "%4u | ", i->line);
	cli_name(c->out, STYLE_KNOB, sass_line_text(show, i->file, i->line, code, sizeof code));
	fputc('\n', c->out);
}

/* Which banks of registers there are was measured there only. */
static bool banks_known(const struct sass_show *show)
{
	return show->module->cubin.sm == SASS_BANKS_SM;
}

static void live_text(const struct sass_inst *i, char *out, size_t n)
{
	if (i->live_regs == SASS_UNKNOWN_LIVE)
		snprintf(out, n, "  ?/ ?/ ?");
	else
		snprintf(out, n, "%3u/%2u/%2u", i->live_regs, i->live_preds, i->live_uregs);
}

static char barrier_digit(unsigned b)
{
	return b < SASS_N_BARRIERS ? (char)('0' + b) : '-';
}

/* @reached: another instruction leads to it. */
static void print_inst(struct cli *c, const struct sass_show *show, const struct sass_func *f,
                       const struct sass_inst *i, bool reached)
{
	const unsigned conflicts =
		banks_known(show) ? sass_registers(f, (unsigned)(i - f->insts)).conflicts : 0;
	char operands[256];
	char live[24], ptx[16] = "", wait[SASS_N_BARRIERS + 1] = "", guard[8];
	live_text(i, live, sizeof live);
	if (i->ptx_line)
		snprintf(ptx, sizeof ptx, "p%" PRIu32, i->ptx_line);
	for (unsigned b = 0; b < SASS_N_BARRIERS; b++)
		wait[b] = i->control.wait >> b & 1 ? (char)('0' + b) : '-';
	sass_guard_text(i, guard);
	sass_operands_text(f, i, operands, sizeof operands);
	fprintf(c->out, " %c%04" PRIx32, reached ? '>' : ' ', i->offset);
	sass_print_count(c, show, i);
	fprintf(c->out, "  %-6s %s  %2u %c  w%c r%c wait %s  %5s %s%s%s", ptx, live, i->control.stall,
	        i->control.yield ? 'y' : '-', barrier_digit(i->control.write_bar),
	        barrier_digit(i->control.read_bar), wait, guard, i->opcode, *operands ? " " : "",
	        operands);
	if (i->spill)
		cli_say(c->out, STYLE_BAD, "   // spill");
	if (conflicts)
		cli_say(c->out, STYLE_WATCH, "   // + %u cyc: registers of one bank", conflicts);
	fputc('\n', c->out);
}

struct mix {
	unsigned by_class[SASS_CLASS_COUNT], by_pipe[SASS_PIPE_COUNT], spills, strange, n;
	unsigned reads, kept, conflicts; /* of registers */
	const char *why_not;             /* of the first strange one */
};

static struct mix count_mix(const struct sass_func *f)
{
	struct mix m = { .n = f->n_insts };
	for (unsigned n = 0; n < f->n_insts; n++) {
		const struct sass_inst *i = &f->insts[n];
		const struct sass_op_info *info = sass_op_info(i->op);
		m.by_class[info->class]++;
		m.by_pipe[info->pipe]++;
		const struct sass_registers r = sass_registers(f, n);
		m.reads += r.reads;
		m.kept += r.kept;
		m.conflicts += r.conflicts;
		m.spills += i->spill;
		if (i->why_not && !m.strange++)
			m.why_not = i->why_not;
	}
	return m;
}

static void print_registers(struct cli *c, const struct sass_show *show, const struct mix *m)
{
	if (m->reads)
		cli_line(c, "    arithmetic reads %u registers; %u of them the instruction before kept",
		         m->reads, m->kept);
	if (m->conflicts && banks_known(show))
		cli_line_in(c, STYLE_WATCH, "    cycles that instructions wait for a bank of registers: %u",
		            m->conflicts);
}

static void print_mix(struct cli *c, const struct sass_show *show, const struct sass_func *f)
{
	const struct mix m = count_mix(f);
	struct table t = { .cols = 3, .said = true, .right = { false, true, true } };
	cli_line_in(c, STYLE_TITLE, "\n  Instructions in the code, not executed ones:");
	for (unsigned k = 0; k < SASS_CLASS_COUNT; k++) {
		char count[16], share[16];
		if (!m.by_class[k])
			continue;
		snprintf(count, sizeof count, "%u", m.by_class[k]);
		snprintf(share, sizeof share, "%.1f %%", 100.0 * m.by_class[k] / m.n);
		table_row(&t, sass_class_name(k), count, share);
	}
	table_print(&t, c->out, "    ");
	print_registers(c, show, &m);
	if (m.spills) {
		cli_line_in(c, STYLE_BAD,
		            "    %u of them spill registers to local memory or bring them back", m.spills);
		sass_print_spills(c, show, f);
	}
	if (m.strange)
		cli_line_in(c, STYLE_WATCH, "    %u are not understood; the first: %s", m.strange,
		            m.why_not);
}

bool sass_ignores_registers(const struct sass_show *show, const struct sass_func *f)
{
	return show->max_registers && f->cubin->entry && f->cubin->max_threads;
}

void sass_say_registers(struct cli *c, const struct sass_show *show, const struct sass_func *f)
{
	if (sass_ignores_registers(show, f))
		cli_line_in(c, STYLE_WATCH,
		            "  --maxrregcount %u has no effect on this kernel: the assembler goes by its "
		            "launch bounds (blocks of at most %u threads)",
		            show->max_registers, f->cubin->max_threads);
}

/* Where most registers hold a value: what stands there decides how many a thread needs. */
static void print_most_live(struct cli *c, const struct sass_func *f)
{
	const struct sass_inst *most = NULL;
	for (const struct sass_inst *i = f->insts; i < f->insts + f->n_insts; i++)
		if (i->live_regs != SASS_UNKNOWN_LIVE && (!most || i->live_regs > most->live_regs))
			most = i;
	if (most)
		cli_line(c, "  most registers hold a value at %04x: %u", (unsigned)most->offset,
		         most->live_regs);
}

static bool has_lines(const struct sass_func *f)
{
	for (unsigned n = 0; n < f->n_insts; n++)
		if (f->insts[n].line)
			return true;
	return false;
}

static void print_head(struct cli *c, const struct sass_show *show, const struct sass_func *f)
{
	const struct cubin_func *k = f->cubin;
	char shared[32], stack[32];
	fmt_bytes(shared, sizeof shared, k->shared_bytes);
	fmt_bytes(stack, sizeof stack, k->stack_bytes);
	sass_say_name(c, f);
	cli_say(c->out, STYLE_NORMAL, " (%s), sm_%u: %u instructions, %u registers, %s static shared",
	        k->entry ? "kernel" : "function", show->module->cubin.sm, f->n_insts, k->registers,
	        shared);
	if (k->stack_bytes != CUBIN_NO_COUNT)
		cli_say(c->out, STYLE_NORMAL, ", %s stack", stack);
	fputs("\n", c->out);
	sass_say_registers(c, show, f);
	for (unsigned i = 0; i < k->n_params; i++)
		cli_line(c, "  parameter %u: %u bytes at c[0x0][0x%x]", k->params[i].index,
		         k->params[i].bytes, k->param_offset + k->params[i].offset);
	print_most_live(c, f);
	if (!has_lines(f))
		cli_line_in(c, STYLE_WATCH,
		            "  it names no source lines: compile with -lineinfo to see them here");
	if (sass_is_counted(show))
		cli_line_in(c, STYLE_TITLE,
		            "\n  offset      runs     %% lanes  PTX    R/ P/UR  stall, yield, barriers set "
		            "and waited for, instruction");
	else
		cli_line_in(
			c, STYLE_TITLE,
			"\n  offset PTX    R/ P/UR  stall, yield, barriers set and waited for, instruction");
}

/* By instruction: another one leads to it. */
static bool *reached_ones(const struct sass_func *f)
{
	bool *reached = mem_calloc(f->n_insts + 1, sizeof *reached);
	for (unsigned n = 0; n < f->n_insts; n++) {
		const struct sass_inst *i = &f->insts[n];
		if (i->target >= 0)
			reached[i->target] = true;
		for (unsigned k = 0; k < i->n_targets; k++)
			reached[i->targets[k]] = true;
	}
	return reached;
}

void sass_print(struct cli *c, const struct sass_show *show, const struct sass_func *f)
{
	const bool lines = has_lines(f);
	bool *reached = reached_ones(f);
	print_head(c, show, f);
	for (unsigned n = 0; n < f->n_insts; n++) {
		const struct sass_inst *i = &f->insts[n];
		const struct sass_inst *last = n ? i - 1 : NULL;
		if (lines && (!last || last->line != i->line || last->file != i->file))
			print_place(c, show, i);
		print_inst(c, show, f, i, reached[n]);
	}
	free(reached);
	print_mix(c, show, f);
	sass_print_counts(c, show, f);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *json_bits(unsigned bits)
{
	json_t *a = json_array();
	for (unsigned b = 0; bits >> b; b++)
		if (bits >> b & 1)
			json_array_append_new(a, json_integer(b));
	return a;
}

static json_t *json_barrier(unsigned b)
{
	return b < SASS_N_BARRIERS ? json_integer(b) : json_null();
}

static json_t *json_live(const struct sass_inst *i)
{
	if (i->live_regs == SASS_UNKNOWN_LIVE)
		return json_null();
	return json_pack("{s:i, s:i, s:i, s:i}", "registers", i->live_regs, "predicates", i->live_preds,
	                 "uniform", i->live_uregs, "uniform_predicates", i->live_upreds);
}

static json_t *json_line(unsigned line)
{
	return line ? json_integer(line) : json_null();
}

static json_t *json_guard(const struct sass_inst *i)
{
	char guard[8];
	sass_guard_text(i, guard);
	if (!guard[0])
		return json_null();
	return json_string(guard + 1);
}

static json_t *json_registers(const struct sass_show *show, unsigned reads, unsigned kept,
                              unsigned conflicts)
{
	return json_pack("{s:i, s:i, s:o}", "read", (int)reads, "kept", (int)kept, "bank_conflicts",
	                 banks_known(show) ? json_integer(conflicts) : json_null());
}

static json_t *json_inst(const struct sass_show *show, const struct sass_func *f, unsigned n)
{
	const struct sass_module *m = show->module;
	const struct sass_inst *i = &f->insts[n];
	const struct sass_registers r = sass_registers(f, n);
	char code[36];
	const struct sass_op_info *info = sass_op_info(i->op);
	const struct sass_control *k = &i->control;
	snprintf(code, sizeof code, "%016" PRIx64 "%016" PRIx64, i->code[1], i->code[0]);
	json_t *o = json_pack("{s:i, s:o, s:o, s:o}", "offset", (int)i->offset, "file",
	                      i->line ? json_string(sass_file_name(m->files[i->file])) : json_null(),
	                      "line", json_line(i->line), "ptx_line", json_line(i->ptx_line));
	json_object_set_new(o, "guard", json_guard(i));
	json_object_set_new(o, "opcode", json_string(i->opcode));
	json_object_set_new(o, "operands", json_string(i->text));
	json_object_set_new(o, "class", json_string(sass_class_name(info->class)));
	json_object_set_new(o, "pipe", json_string(sass_pipe_name(info->pipe)));
	json_object_set_new(o, "target",
	                    i->target == SASS_NO_TARGET ? json_null()
	                                                : json_integer(f->insts[i->target].offset));
	json_object_set_new(o, "stall", json_integer(k->stall));
	json_object_set_new(o, "yield", json_boolean(k->yield));
	json_object_set_new(o, "write_barrier", json_barrier(k->write_bar));
	json_object_set_new(o, "read_barrier", json_barrier(k->read_bar));
	json_object_set_new(o, "waits", json_bits(k->wait));
	json_object_set_new(o, "reuse", json_bits(k->reuse));
	json_object_set_new(o, "registers", json_registers(show, r.reads, r.kept, r.conflicts));
	json_object_set_new(o, "live", json_live(i));
	if (sass_is_counted(show)) {
		const struct code_count *count = sass_count(show, i);
		json_object_set_new(o, "warps", json_integer(count ? (json_int_t)count->warps : 0));
		json_object_set_new(o, "lanes", json_integer(count ? (json_int_t)count->lanes : 0));
	}
	json_object_set_new(o, "spill", json_boolean(i->spill));
	json_object_set_new(o, "code", json_string(code));
	if (i->why_not)
		json_object_set_new(o, "not_understood", json_string(i->why_not));
	return o;
}

static json_t *json_mix(const struct sass_show *show, const struct sass_func *f)
{
	const struct mix m = count_mix(f);
	json_t *by_class = json_object(), *by_pipe = json_object();
	for (unsigned k = 0; k < SASS_CLASS_COUNT; k++)
		if (m.by_class[k])
			json_object_set_new(by_class, sass_class_name(k), json_integer(m.by_class[k]));
	for (unsigned k = 0; k < SASS_PIPE_COUNT; k++)
		if (m.by_pipe[k])
			json_object_set_new(by_pipe, sass_pipe_name(k), json_integer(m.by_pipe[k]));
	return json_pack("{s:o, s:o, s:i, s:o}", "by_class", by_class, "by_pipe", by_pipe, "spills",
	                 (int)m.spills, "registers",
	                 json_registers(show, m.reads, m.kept, m.conflicts));
}

json_t *sass_json(const struct sass_show *show, const struct sass_func *f)
{
	const struct cubin_func *k = f->cubin;
	json_t *insts = json_array(), *params = json_array();
	for (unsigned i = 0; i < k->n_params; i++)
		json_array_append_new(params, json_pack("{s:i, s:i, s:i}", "index", (int)k->params[i].index,
		                                        "constant_offset",
		                                        (int)(k->param_offset + k->params[i].offset),
		                                        "bytes", (int)k->params[i].bytes));
	for (unsigned n = 0; n < f->n_insts; n++)
		json_array_append_new(insts, json_inst(show, f, n));
	json_t *o = json_pack("{s:s, s:b, s:i, s:i, s:i}", "name", f->name, "kernel", k->entry,
	                      "registers", (int)k->registers, "static_shared_bytes",
	                      (int)k->shared_bytes, "barriers", (int)k->barriers);
	char written[512];
	if (demangle(f->name, true, written, sizeof written)[0])
		json_object_set_new(o, "signature", json_string(written));
	json_object_set_new(o, "stack_bytes",
	                    k->stack_bytes == CUBIN_NO_COUNT ? json_null()
	                                                     : json_integer(k->stack_bytes));
	json_object_set_new(o, "ignores_max_registers", json_boolean(sass_ignores_registers(show, f)));
	json_object_set_new(o, "parameters", params);
	json_object_set_new(o, "mix", json_mix(show, f));
	if (show->counts->asked)
		json_object_set_new(o, "executed", sass_counts_json(show, f));
	json_object_set_new(o, "instructions", insts);
	return o;
}
