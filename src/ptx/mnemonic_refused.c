/* Opcodes that PTX has and this parser refuses: what they are, what to do instead. */
#include "ptx/forms.h"
#include "ptx/parser.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define TEXTURE "What a texture or surface is like is known to the host: pass it as an argument."
#define CLUSTER "Work is not taken from other clusters; launch one block for each piece of it."
static const struct refused_family {
	const char *prefix, *section, *remedy;
} families[] = {
	{ "tex.", "9.7.10", TEXTURE },
	{ "tld4.", "9.7.10", TEXTURE },
	{ "txq.", "9.7.10", TEXTURE },
	{ "istypep", "9.7.10", TEXTURE },
	{ "suld.", "9.7.11", TEXTURE },
	{ "sust.", "9.7.11", TEXTURE },
	{ "sured.", "9.7.11", TEXTURE },
	{ "suq.", "9.7.11", TEXTURE },
	{ "cp.async.bulk", "9.7.9", "Copies of tensors are supported in tile mode only." },
	{ "cp.reduce.async.bulk", "9.7.9", "Copies of tensors are supported in tile mode only." },
	{ "tcgen05.", "9.7.16", "Tensor memory is not supported; use mma.sync or wmma." },
	{ "clusterlaunchcontrol", "9.7.13", CLUSTER },
	{ "multimem.", "9.7.9", "Multicast memory is not supported." },
};

static const struct refused_family *family_of(const struct token *word)
{
	for (size_t i = 0; i < ARRAY_LEN(families); i++) {
		size_t n = strlen(families[i].prefix);
		if (word->len >= n && memcmp(word->s, families[i].prefix, n) == 0)
			return &families[i];
	}
	return NULL;
}

const char *mnemonic_remedy(const struct token *word)
{
	const struct refused_family *f = family_of(word);
	return f ? f->remedy : NULL;
}

bool unknown_opcode(struct parser *p, const struct token *word)
{
	const char *dot = memchr(word->s, '.', word->len);
	size_t n = dot ? (size_t)(dot - word->s) : word->len;
	char base[32];
	snprintf(base, sizeof base, "%.*s", n > 31 ? 31 : (int)n, word->s);
	const struct refused_family *family = family_of(word);
	report_at(p, word->s, word->line, ERR_UNSUPPORTED, "opcode '%.*s' is not supported%s%s",
	          word->len > 80 ? 80 : (int)word->len, word->s, family ? "; PTX ISA " : "",
	          family ? family->section : "");
	const char *remedy = family ? family->remedy : NULL;
	const char *near = str_nearest(base, opcode_names, OP_COUNT);
	struct text known = { 0 };
	for (size_t i = 0; i < OP_COUNT; i++)
		if (opcode_names[i][0] == base[0])
			text_add(&known, " %s", opcode_names[i]);
	if (remedy)
		err_remedy(p->err, "%s", remedy);
	else if (near && str_distance(base, near) <= 1)
		err_remedy(p->err, "Did you mean '%s'?", near);
	else if (known.len)
		err_remedy(p->err, "Supported with the letter '%c':%s.", base[0], known.s);
	else
		err_remedy(p->err, "No opcode with the letter '%c' is supported.", base[0]);
	text_free(&known);
	return false;
}
