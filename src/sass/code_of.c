/* From a disassembled function and its PTX to a listing; see code_of.h. */
#define _GNU_SOURCE /* memmem */
#include "sass/code_of.h"

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- lines of the PTX ------------------------------------------------------------------------- */

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* The line at @s names function @name as what it defines. */
static bool defines(const char *s, const char *end, const char *name)
{
	const size_t len = strlen(name);
	const char *at = memmem(s, (size_t)(end - s), name, len);
	const bool head =
		memmem(s, (size_t)(end - s), ".entry", 6) || memmem(s, (size_t)(end - s), ".func", 5);
	return head && at && (at == s || !is_name(at[-1])) && (at + len == end || !is_name(at[len]));
}

/* ".file 1 "/sgemm.cu"": its number, if it is @file. */
static unsigned file_number(const char *s, const char *end, const char *file)
{
	const char *quote = memchr(s, '"', (size_t)(end - s));
	const char *last = quote ? memchr(quote + 1, '"', (size_t)(end - quote - 1)) : NULL;
	if (!last)
		return 0;
	const char *name = last;
	while (name > quote + 1 && name[-1] != '/')
		name--;
	if (strlen(file) != (size_t)(last - name) || memcmp(name, file, (size_t)(last - name)) != 0)
		return 0;
	return (unsigned)strtoul(s + 5, NULL, 10);
}

/* The number that .loc has for @file; the directives stand behind the functions. 0 = none. */
static unsigned find_file(const char *ptx, const char *file)
{
	for (const char *s = ptx; s && *s;) {
		const char *nl = strchr(s, '\n'), *end = nl ? nl : s + strlen(s);
		while (s < end && isspace((unsigned char)*s))
			s++;
		const unsigned k = end - s > 5 && !memcmp(s, ".file", 5) ? file_number(s, end, file) : 0;
		if (k)
			return k;
		s = nl ? nl + 1 : NULL;
	}
	return 0;
}

/* ".loc 1 26 7": file and line. */
static bool is_loc(const char *s, const char *end, uint32_t *file, uint32_t *line)
{
	char *behind;
	if (end - s < 5 || memcmp(s, ".loc", 4) != 0)
		return false;
	*file = (uint32_t)strtoul(s + 4, &behind, 10);
	*line = (uint32_t)strtoul(behind, NULL, 10);
	return true;
}

static void put_ptx(struct code_listing *c, unsigned *cap, uint32_t number, uint32_t line,
                    const char *s, const char *end)
{
	MEM_ROOM(c->ptx, c->n_ptx, *cap, 64u);
	struct code_ptx *x = &c->ptx[c->n_ptx++];
	*x = (struct code_ptx){ .number = number, .line = line };
	size_t n = 0;
	for (; s < end && n + 1 < sizeof x->text; s++) {
		const bool blank = isspace((unsigned char)*s);
		if (!blank || (n && x->text[n - 1] != ' '))
			x->text[n++] = blank ? ' ' : *s;
	}
	while (n && (x->text[n - 1] == ' ' || x->text[n - 1] == ';'))
		n--;
	x->text[n] = '\0';
}

/*
 * Instructions of function @name with the lines of @file that they come from. An inlined chain
 * comes as several .loc, the innermost first; the outermost one of the file stands.
 */
static void read_ptx(struct code_listing *c, const char *ptx, const char *name, const char *file)
{
	const unsigned ours = find_file(ptx, file);
	unsigned cap = 0;
	uint32_t number = 0, line = 0;
	bool inside = false, body = false;
	for (const char *s = ptx; s && *s;) {
		const char *nl = strchr(s, '\n'), *end = nl ? nl : s + strlen(s);
		const char *p = s;
		number++;
		while (p < end && isspace((unsigned char)*p))
			p++;
		const size_t n = (size_t)(end - p);
		uint32_t of, at;
		if (!inside) {
			inside = defines(p, end, name);
		} else if (n && *p == '{' && !body) {
			body = true;
		} else if (body && n && *p == '}' && p == s) {
			return;
		} else if (is_loc(p, end, &of, &at)) {
			line = of == ours && ours ? at : line;
		} else if (body && n && (isalpha((unsigned char)*p) || *p == '@') && end[-1] != ':') {
			put_ptx(c, &cap, number, line, p, end);
		}
		s = nl ? nl + 1 : NULL;
	}
}

/* The instruction's line of the file as the PTX has it: of an inlined function, its caller's. */
static uint32_t line_of(const struct code_listing *c, const struct sass_module *m,
                        const struct sass_inst *i, const char *file)
{
	unsigned low = 0, high = c->n_ptx;
	while (low < high) {
		const unsigned mid = low + (high - low) / 2;
		if (c->ptx[mid].number < i->ptx_line)
			low = mid + 1;
		else
			high = mid;
	}
	if (i->ptx_line && low < c->n_ptx && c->ptx[low].number == i->ptx_line && c->ptx[low].line)
		return c->ptx[low].line;
	const char *name = m->files[i->file], *slash = strrchr(name, '/');
	return strcmp(slash ? slash + 1 : name, file) ? 0 : i->line;
}

/* --- instructions ----------------------------------------------------------------------------- */

static uint8_t barrier(unsigned b)
{
	return (uint8_t)(b < SASS_N_BARRIERS ? b : CODE_NO_BARRIER);
}

static void put_inst(const struct sass_func *f, const struct sass_inst *i, struct code_inst *out)
{
	*out = (struct code_inst){
		.offset = i->offset,
		.ptx_line = i->ptx_line,
		.target = i->target == SASS_NO_TARGET ? 0 : (uint32_t)i->target + 1,
		.live_regs = i->live_regs == SASS_UNKNOWN_LIVE ? 0 : i->live_regs,
		.stall = i->control.stall,
		.yield = i->control.yield,
		.write_bar = barrier(i->control.write_bar),
		.read_bar = barrier(i->control.read_bar),
		.wait = i->control.wait,
		.reuse = i->control.reuse,
		.spill = i->spill,
	};
	sass_inst_text(f, i, out->text, sizeof out->text);
}

struct code_listing *sass_code_of(const struct sass_module *m, const struct sass_func *f,
                                  const char *ptx, const char *source_file)
{
	struct code_listing *c = mem_zalloc(sizeof *c);
	sass_title(m, c->title, sizeof c->title);
	snprintf(c->disassembler, sizeof c->disassembler, "%s", m->disassembler);
	c->registers = f->cubin->registers;
	c->live = m->live;
	if (ptx)
		read_ptx(c, ptx, f->name, source_file);
	c->n = f->n_insts;
	c->insts = mem_calloc(c->n + 1u, sizeof *c->insts);
	for (unsigned k = 0; k < c->n; k++) {
		put_inst(f, &f->insts[k], &c->insts[k]);
		c->insts[k].conflicts = m->cubin.sm == SASS_BANKS_SM ? sass_registers(f, k).conflicts : 0;
		c->insts[k].line = line_of(c, m, &f->insts[k], source_file);
	}
	sass_sources(f, c->insts);
	return c;
}
