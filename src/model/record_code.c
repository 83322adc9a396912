/* The tables of a record's machine code; see record_tables.h. */
#include "model/record_rows.h"
#include "model/record_tables.h"

#define T code_source
static const struct record_field source_fields[] = {
	FIELD(index, UNSIGNED),
};
static const struct record_table source_table =
	TABLE("code_source", "an instruction whose result is read", source_fields);
#undef T

#define T code_inst
static const struct record_field inst_fields[] = {
	FIELD(offset, UNSIGNED, .about = "in the kernel; bytes"),
	FIELD(text, CHARS),
	FIELD(line, UNSIGNED, .optional = true),
	FIELD(ptx_line, UNSIGNED, .optional = true),
	FIELD(target, UNSIGNED, .optional = true, .about = "1 + index of where it jumps to"),
	FIELD(live_regs, UNSIGNED, .optional = true),
	FIELD(stall, UNSIGNED, .optional = true),
	FIELD(yield, BOOL, .optional = true),
	FIELD(write_bar, UNSIGNED, .about = "scoreboard of the result; 7: none"),
	FIELD(read_bar, UNSIGNED, .about = "scoreboard of the operands; 7: none"),
	FIELD(wait, UNSIGNED, .optional = true, .about = "bits of the scoreboards waited for"),
	FIELD(reuse, UNSIGNED, .optional = true),
	FIELD(conflicts, UNSIGNED, .optional = true, .about = "cycles for a bank of registers"),
	FIELD(spill, BOOL, .optional = true),
	FIELD(sources, ARRAY, .table = &source_table, .count_offset = offsetof(struct T, n_sources)),
};
static const struct record_table inst_table =
	TABLE("code_inst", "an instruction of the machine code", inst_fields);
#undef T

#define T code_ptx
static const struct record_field ptx_fields[] = {
	FIELD(number, UNSIGNED),
	FIELD(line, UNSIGNED, .optional = true),
	FIELD(text, CHARS),
};
static const struct record_table ptx_table =
	TABLE("code_ptx", "an instruction of the PTX", ptx_fields);
#undef T

#define T code_listing
/* What names an instruction names one that is there. */
static bool check_listing(struct reader *r, json_t *o, void *x)
{
	const struct code_listing *c = x;
	(void)o;
	for (unsigned i = 0; i < c->n; i++) {
		const struct code_inst *in = &c->insts[i];
		bool good = in->target <= c->n && (!i || in[-1].offset < in->offset);
		for (unsigned k = 0; k < in->n_sources; k++)
			good = good && in->sources[k].index < c->n;
		if (!good)
			return reader_complain(r, "insts", "the listing speaks of instructions it lacks");
	}
	return true;
}

static const struct record_field listing_fields[] = {
	FIELD(title, CHARS),
	FIELD(disassembler, CHARS),
	FIELD(why, CHARS, .optional = true, .about = "there is no code: the reason"),
	FIELD(remedy, CHARS, .optional = true),
	FIELD(registers, UNSIGNED),
	FIELD(live, BOOL),
	FIELD(insts, LIST, .table = &inst_table, .count_offset = offsetof(struct T, n),
	      .most = CODE_MAX_INSTS),
	FIELD(ptx, LIST, .table = &ptx_table, .count_offset = offsetof(struct T, n_ptx),
	      .most = CODE_MAX_INSTS),
};
const struct record_table code_table =
	TABLE("code", "the kernel's machine code", listing_fields, .finish = check_listing);
#undef T
