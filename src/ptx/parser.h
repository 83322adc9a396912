/*
 * What the parts of the PTX parser share: the token at hand, the names in scope, the function
 * that is being read. Private to src/ptx; everybody else includes ptx.h.
 *
 * Every function returns false once the error is set, and the caller returns at once.
 */
#ifndef PMPP_PTX_PARSER_H
#define PMPP_PTX_PARSER_H

#include "base/mem.h"
#include "ptx/lexer.h"
#include "ptx/ptx.h"

#include <string.h>

/* Makes room for one more element of @bytes in the array *items. */
static inline void grow_array(void *items, size_t n, size_t *cap, size_t bytes)
{
	if (n < *cap)
		return;
	void *old;
	memcpy(&old, items, sizeof old);
	*cap = *cap ? *cap * 2 : 16;
	old = mem_realloc(old, *cap, bytes);
	memcpy(items, &old, sizeof old);
}

static inline uint64_t align_up(uint64_t offset, uint64_t align)
{
	return align > 1 ? (offset + align - 1) / align * align : offset;
}

/* --- ptx_names.c: names in nested scopes --- */
enum sym_kind { SYM_REG, SYM_VECTOR, SYM_VAR, SYM_PARAM, SYM_FUNC, SYM_PROTO, SYM_TARGETS };
/* The elements of a vector register are a second symbol of its name, with its hash changed by this.
 */
#define ELEMENT_HASH 0x9e3779b9u

struct sym {
	const char *name; /* in the text */
	uint32_t len, hash;
	enum sym_kind kind;
	int32_t index;  /* register, variable, parameter or function; of a branch table the place in
	                   func->lists of its number of entries, which follow */
	uint32_t count; /* of a range "%r<count>": %r0 .. ; 0 = not a range */
	uint8_t lanes;  /* elements of a vector register, else 0 */
	int32_t next;   /* in the hash chain */
};

struct names {
	struct sym *syms;
	size_t n, cap;
	int32_t *buckets;
	size_t n_buckets; /* a power of two */
};

void names_free(struct names *t);
/* Adds a symbol; names_close() takes away all that were added since names_open(). */
size_t names_open(const struct names *t);
void names_close(struct names *t, size_t mark);
void names_add(struct names *t, const struct sym *s);
/* Innermost symbol of that spelling, NULL = none. */
const struct sym *names_find(const struct names *t, const char *name, size_t len, uint32_t hash);
/* The same for a token, which may also name a member of a range or an element of a vector register
 * ("%v.x"); *member is its number, of a register what is to be added to its index. */
const struct sym *names_find_token(const struct names *t, const struct token *tok,
                                   uint32_t *member);

/* --- the parser --- */
struct label_def {
	const char *name;
	uint32_t len, hash, line, scope, inst;
	int32_t next; /* in the hash chain */
};

struct label_ref {
	struct token tok;
	uint32_t scope;
	int64_t inst;   /* whose first operand it is, -1 = an entry of a branch table: */
	uint32_t entry; /* in func->lists */
};

/* Where a source position was inlined to, as the last .loc said; see body_loc(). */
struct inline_site {
	uint32_t file, line, col;
	uint32_t at_file, at_line, at_col; /* at_line 0 = not inlined */
	int32_t next;                      /* in the hash chain */
};

/* { ... } in a body: where it stands, and the names_open() of the one around it. */
struct scope {
	uint32_t parent;
	size_t mark;
};

/* A mnemonic that has been read before: everything that its modifiers say. */
struct mnemonic {
	const char *text;
	uint32_t len, hash;
	struct ptx_inst inst;
};

#define OP_HASH 1024 /* powers of two, more than twice the number of entries */
#define MODIFIER_HASH 512
#define MNEMONIC_HASH 1024
#define SITE_HASH 256

struct parser {
	struct lexer lx;
	struct token tok; /* the token at hand, not yet consumed */
	const char *text, *name;
	struct err *err;
	char why[256]; /* the last error without its place, which is: */
	uint32_t why_line, why_column;
	struct ptx_module *m;
	size_t funcs_cap, vars_cap, files_cap;
	struct names names;
	size_t scope_mark;               /* names_open() of the innermost scope */
	uint64_t regs_total, init_total; /* limits against absurd input */

	/* the function at hand */
	int32_t func; /* its index, -1 = module scope */
	size_t regs_cap, insts_cap, lists_cap;
	uint32_t scope; /* the innermost; 0 = the body itself */
	struct scope *scopes;
	size_t n_scopes, scopes_cap;
	struct label_def *labels;
	size_t n_labels, labels_cap;
	struct label_ref *refs;
	size_t n_refs, refs_cap;
	struct token mnemonic;         /* of the instruction that was begun last */
	uint32_t line, leaf_line;      /* of the last .loc */
	uint32_t file;                 /* whose lines these are: ptx_func.file; 0 = not yet known */
	bool nounroll;                 /* .pragma "nounroll" since the last instruction */
	struct ptx_inst constants[16]; /* of the instruction at hand: what is to stand before it */
	unsigned n_constants;
	struct ptx_inst behind; /* and behind it */
	bool has_behind;
	bool register_results; /* the function gives results in registers */
	struct inline_site *sites;
	size_t n_sites, sites_cap;
	int32_t site_hash[SITE_HASH];

	/* tables of known words, filled by inst_tables(); entries are index + 1 */
	uint16_t op_hash[OP_HASH], modifier_hash[MODIFIER_HASH], mnemonic_hash[MNEMONIC_HASH];
	struct mnemonic *mnemonics;
	size_t n_mnemonics, mnemonics_cap;
};

/* parse_token.c: errors and tokens */
void report_at(struct parser *p, const char *at, uint32_t line, enum err_code code, const char *fmt,
               ...) __attribute__((format(printf, 5, 6)));
/* Sets the error and is false, visibly so for static analysis. */
#define fail_at(...) (report_at(__VA_ARGS__), false)
/* Malformed text at the token at hand. */
#define fail(p, ...) fail_at(p, tok_begin(&(p)->tok), (p)->tok.line, ERR_PARSE, __VA_ARGS__)
bool advance(struct parser *p);
bool at_punct(const struct parser *p, char c);
bool at_dot(const struct parser *p, const char *name);
/* Consumes @c if it is at hand; *found says whether. */
bool accept_punct(struct parser *p, char c, bool *found);
bool expect(struct parser *p, char c, const char *after);
bool expect_name(struct parser *p, struct token *name, const char *what);
bool expect_uint(struct parser *p, uint64_t max, uint64_t *value, const char *what);
struct ptx_func *func_at_hand(struct parser *p);
/* Malformed text: something else than @wanted is at hand. */
bool unexpected(struct parser *p, const char *wanted);
/* Adds a name to the innermost scope; refuses a second one of the same spelling there. */
bool declare_name(struct parser *p, const struct token *name, enum sym_kind kind, int32_t index,
                  uint32_t count);

/* parse_constant.c: constant expressions */
struct constant {
	bool is_float, is_unsigned;
	uint8_t float_bytes; /* 4 = one 0f, with a sign at most; 8 = any other */
	uint64_t u;          /* 64 bits of an integer; bits of a FLOAT, of 0f its 32 */
	double f64;
};
/* Does a constant begin with the token at hand? */
bool at_constant(const struct parser *p);
bool parse_constant(struct parser *p, struct constant *c, const char *what);
/* An integer expression: the 64-bit pattern. */
bool expect_int(struct parser *p, int64_t *value, const char *what);

/* parse_reg.c: .reg */
bool parse_reg_decl(struct parser *p);
/* A register of the function at hand that no text has. */
int32_t add_nameless_reg(struct parser *p, enum ptx_type type);

/* parse_var.c: .shared .local .global .const .param */
#define MAX_DIMENSIONS 16
struct decl {
	enum ptx_type type;
	uint32_t lanes; /* .v2 .v4 */
	uint32_t align;
	struct token name;
	uint64_t size; /* bytes */
	uint64_t dims[MAX_DIMENSIONS];
	unsigned n_dims;
	bool is_array, is_open; /* open: first dimension left out, its entry in dims is 0 */
};
bool parse_type(struct parser *p, enum ptx_type *type);
/* From the state space at hand to the semicolon; linkage words were consumed before. */
bool parse_var_decl(struct parser *p, enum ptx_space space, bool is_extern);
/* "(.param ..., ...)" into f->params. */
bool parse_params(struct parser *p, struct ptx_func *f, bool returns);

/* .attribute(.managed, .unified(a, b)) of a variable or a function makes no difference here. */
bool skip_attribute(struct parser *p);

/* parse_init.c: behind the "=" of a variable that was declared as @d. */
bool parse_init(struct parser *p, struct ptx_var *var, const struct decl *d);

/* parse_body.c: "{ ... }" of a function */
bool parse_body(struct parser *p);
bool parse_loc(struct parser *p);

/* parse_refused.c: what is unknown ends the function, not the module. */
/* After an error of @what (its first token) behind @n_refs label references: true when it is one of
 * those; the text goes on behind the next semicolon, and an OP_REFUSED stands in its place. */
bool refuse_statement(struct parser *p, const struct token *what, size_t n_refs);
/* The same for a directive on the head of a function: goes on at the next one or at the body. */
bool refuse_head(struct parser *p, const struct token *what);

/* parse_func.c */
bool parse_func(struct parser *p, bool is_entry);
void params_free(struct ptx_func *f);
bool skip_pragma(struct parser *p);
/* Refuses the directive at hand; @known are those that may stand @where. */
bool unknown_directive(struct parser *p, const char *where, const char *known);

/* mnemonic.c, mnemonic_refused.c, parse_inst.c: one instruction, from what follows its mnemonic */
void inst_tables(struct parser *p);
bool unknown_opcode(struct parser *p, const struct token *word);
/* What to do instead of a family of instructions that is not supported; NULL = none such. */
const char *mnemonic_remedy(const struct token *word);
bool parse_inst(struct parser *p, const struct token *word, int32_t guard, bool guard_negated);
bool parse_mnemonic(struct parser *p, const struct token *word, struct ptx_inst *inst);
bool parse_operands(struct parser *p, struct ptx_inst *inst);
/* parse_operand.c, for parse_bulk.c: one operand by its two characters of opcode.def. */
bool parse_one(struct parser *p, char role, char width, const struct ptx_inst *inst,
               struct ptx_operand *o);
bool expect_comma(struct parser *p, const struct ptx_inst *inst);
/* parse_bulk.c: operands of bulk copies and of wgmma.mma_async. */
bool parse_bulk(struct parser *p, struct ptx_inst *inst);
bool parse_wgmma(struct parser *p, struct ptx_inst *inst);

/* parse_value.c: registers and constants as operands */
/* What one operand must be: the bytes of a register (0 = any), whether wider ones will do. */
struct want {
	unsigned bytes;
	bool wider, pred;
	enum ptx_type type; /* how a literal is read */
};
/* @width: the second character of an operand in opcode.def. */
struct want want_of(const struct ptx_inst *inst, char width);
bool unknown_name(struct parser *p, const struct token *t);
bool check_reg(struct parser *p, const struct token *t, int32_t reg, const struct want *w,
               const struct ptx_inst *inst);
bool parse_symbol_offset(struct parser *p, struct ptx_operand *o);
/* A constant where registers stand: a move before the instruction puts it into *reg. */
bool parse_element_constant(struct parser *p, const struct want *w, const struct ptx_inst *inst,
                            int32_t *reg);
/* Appends the elements of the vector register at hand to @o, if it is one. */
bool take_vector_reg(struct parser *p, struct ptx_operand *o);
bool parse_source(struct parser *p, const struct want *w, const struct ptx_inst *inst, bool vector,
                  struct ptx_operand *o);
bool parse_destination(struct parser *p, const struct want *w, const struct ptx_inst *inst,
                       bool vector, struct ptx_operand *o);

/* parse_pass.c: arguments and results in registers */
/* At the begin of a body: declares those of the function, and loads its arguments. */
bool open_parameter_registers(struct parser *p);
/* Stores its results, before the instruction at hand or @behind all. */
bool give_register_results(struct parser *p, bool behind);
/* The register or constant at hand as an argument of @call, or as where its @result goes. */
bool pass_register(struct parser *p, const struct ptx_inst *call, bool result, int32_t *symbol);

/* shared_layout.c: offsets of .shared variables per entry, of .global and .const ones */
void layout_variables(struct ptx_module *m);

#endif
