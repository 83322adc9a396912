/*
 * Reads what the compiler says about each entry; see entry_usage.h.
 *
 * The report, as ptxas 12 and 13 write it:
 *   ptxas info    : Compiling entry function 'k' for 'sm_90'
 *   ptxas info    : Function properties for k
 *   ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
 *   ptxas info    : Used 32 registers, used 1 barriers, 8192 bytes smem, 372 bytes cmem[0]
 * Shared memory in it leaves out the 1 KiB that sm_80 and newer reserve per block; the cubin's
 * own section sizes do not, so they are not used for it.
 */
#include "compile/entry_usage.h"

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
	const char *s;
	size_t len;
};

static bool next_line(const char **at, struct line *line)
{
	if (!**at)
		return false;
	line->s = *at;
	line->len = strcspn(*at, "\n");
	*at += line->len + ((*at)[line->len] == '\n');
	return true;
}

static const char *find_in(struct line line, const char *what)
{
	size_t n = strlen(what);
	for (size_t i = 0; i + n <= line.len; i++)
		if (!memcmp(line.s + i, what, n))
			return line.s + i;
	return NULL;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static struct entry_usage *entry_named(struct module *m, const char *name, size_t len)
{
	for (unsigned i = 0; i < m->n_entries; i++)
		if (strlen(m->entries[i].entry) == len && !memcmp(m->entries[i].entry, name, len))
			return &m->entries[i];
	return NULL;
}

static bool directive(struct line line, const char *name)
{
	while (line.len && (*line.s == ' ' || *line.s == '\t')) {
		line.s++;
		line.len--;
	}
	size_t n = strlen(name);
	return line.len > n && !memcmp(line.s, name, n) && isspace((unsigned char)line.s[n]);
}

/* ".maxntid 16, 16, 1" -> 256 */
static unsigned bound_of(struct line line)
{
	unsigned product = 1;
	for (size_t i = 0; i < line.len;) {
		if (!isdigit((unsigned char)line.s[i])) {
			i++;
			continue;
		}
		product *= (unsigned)strtoul(line.s + i, NULL, 10);
		while (i < line.len && isdigit((unsigned char)line.s[i]))
			i++;
	}
	return product;
}

/* PTX ISA, "Kernel and Function Directives": .entry name, then .maxntid or .reqntid. */
static void read_entries(struct module *m)
{
	const char *at = m->ptx;
	struct line line;
	while (next_line(&at, &line)) {
		if (line.len >= 2 && line.s[0] == '/' && line.s[1] == '/')
			continue;
		const char *entry = find_in(line, ".entry");
		if (entry) {
			const char *name = entry + strlen(".entry");
			const char *end = line.s + line.len;
			while (name < end && isspace((unsigned char)*name))
				name++;
			size_t len = 0;
			while (name + len < end && is_name_char(name[len]))
				len++;
			if (!len || entry_named(m, name, len))
				continue;
			m->entries = mem_realloc(m->entries, m->n_entries + 1, sizeof *m->entries);
			m->entries[m->n_entries++] = (struct entry_usage){ .entry = mem_strndup(name, len) };
		} else if (m->n_entries && (directive(line, ".maxntid") || directive(line, ".reqntid"))) {
			m->entries[m->n_entries - 1].max_threads = bound_of(line);
		}
	}
}

/* The number before @label ("8192 bytes smem"); false = the line does not say. */
static bool number_before(struct line line, const char *label, unsigned *value)
{
	const char *at = find_in(line, label);
	if (!at)
		return false;
	while (at > line.s && at[-1] == ' ')
		at--;
	const char *end = at;
	while (at > line.s && isdigit((unsigned char)at[-1]))
		at--;
	if (at == end)
		return false;
	*value = (unsigned)strtoul(at, NULL, 10);
	return true;
}

/* Name after @label, up to a quote or the end of the line. */
static struct entry_usage *entry_after(struct module *m, struct line line, const char *label)
{
	const char *at = find_in(line, label);
	if (!at)
		return NULL;
	at += strlen(label);
	size_t len = 0;
	while (at + len < line.s + line.len && is_name_char(at[len]))
		len++;
	return entry_named(m, at, len);
}

/* Constant bank 0 of an entry (its parameters and the driver's words) is a section of the cubin. */
static void read_constants(struct module *m)
{
	const unsigned char *image = m->cubin;
	Elf64_Ehdr head;
	if (m->cubin_len < sizeof head)
		return;
	memcpy(&head, image, sizeof head);
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_shentsize != sizeof(Elf64_Shdr) || head.e_shstrndx >= head.e_shnum ||
	    head.e_shoff > m->cubin_len ||
	    (m->cubin_len - head.e_shoff) / sizeof(Elf64_Shdr) < head.e_shnum)
		return;
	Elf64_Shdr names;
	memcpy(&names, image + head.e_shoff + head.e_shstrndx * sizeof names, sizeof names);
	if (names.sh_offset > m->cubin_len || names.sh_size > m->cubin_len - names.sh_offset)
		return;
	static const char prefix[] = ".nv.constant0.";
	for (unsigned i = 0; i < head.e_shnum; i++) {
		Elf64_Shdr s;
		memcpy(&s, image + head.e_shoff + i * sizeof s, sizeof s);
		if (s.sh_name >= names.sh_size)
			continue;
		const char *name = (const char *)image + names.sh_offset + s.sh_name;
		size_t room = names.sh_size - s.sh_name;
		size_t len = strnlen(name, room);
		if (len == room || len < sizeof prefix || memcmp(name, prefix, sizeof prefix - 1))
			continue;
		struct entry_usage *e = entry_named(m, name + sizeof prefix - 1, len - (sizeof prefix - 1));
		if (e)
			e->const_bytes = (unsigned)s.sh_size;
	}
}

bool usage_read(const char *report, struct module *m, struct err *err)
{
	read_entries(m);
	const char *at = report;
	struct line line;
	struct entry_usage *compiled = NULL;  /* "Compiling entry function" */
	struct entry_usage *described = NULL; /* "Function properties for": may be a callee */
	while (next_line(&at, &line)) {
		if (find_in(line, "Compiling entry function '")) {
			compiled = entry_after(m, line, "Compiling entry function '");
			described = NULL;
		} else if (find_in(line, "Function properties for ")) {
			described = entry_after(m, line, "Function properties for ");
		} else if (described && number_before(line, "bytes stack frame", &described->stack_bytes)) {
			number_before(line, "bytes spill stores", &described->spill_store_bytes);
			number_before(line, "bytes spill loads", &described->spill_load_bytes);
		} else if (compiled && number_before(line, "registers", &compiled->registers)) {
			number_before(line, "barriers", &compiled->barriers);
			number_before(line, "bytes smem", &compiled->static_shared_bytes);
		}
	}
	for (unsigned i = 0; i < m->n_entries; i++)
		if (!m->entries[i].registers)
			return err_set(err, ERR_INTERNAL, "%s reported no registers for entry '%s'",
			               m->compiler, m->entries[i].entry);
	read_constants(m);
	return true;
}

char *usage_strip(const char *report)
{
	struct text kept = { 0 };
	struct line line;
	bool resources = false; /* inside the assembler's lines: older ones indent without a prefix */
	while (next_line(&report, &line)) {
		if (directive(line, "ptxas") &&
		    (find_in(line, "ptxas info") || find_in(line, "bytes stack frame"))) {
			resources = true;
			continue;
		}
		if (resources && (!line.len || find_in(line, "bytes stack frame")))
			continue;
		resources = false;
		if (find_in(line, "-diag-suppress"))
			continue;
		text_put(&kept, line.s, line.len);
		text_put(&kept, "\n", 1);
	}
	while (kept.len && isspace((unsigned char)kept.s[kept.len - 1]))
		kept.s[--kept.len] = '\0';
	return kept.s ? kept.s : mem_strdup("");
}
