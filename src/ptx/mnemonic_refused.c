/* Opcodes that PTX has and this parser refuses: what they are, what to do instead. */
#include "ptx/forms.h"
#include "ptx/parser.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define TEXTURE "Textures and surfaces are not supported; read through a pointer instead."
#define CLUSTER "Thread-block clusters are not supported."
#define POLICY "Cache policies are not supported; leave the hint out."
#define STACK "Stack memory of variable size is not supported; use an array."
#define VIDEO "Video (SIMD) instructions are not supported; use plain arithmetic."
const char *mnemonic_remedy(const struct token *word)
{
	static const struct {
		const char *prefix, *remedy;
	} families[] = {
		{ "tex.", TEXTURE },
		{ "tld4.", TEXTURE },
		{ "txq.", TEXTURE },
		{ "suld.", TEXTURE },
		{ "sust.", TEXTURE },
		{ "sured.", TEXTURE },
		{ "suq.", TEXTURE },
		{ "cp.async.bulk", "Bulk copies (TMA) are not supported; use cp.async or plain copies." },
		{ "cp.async.mbarrier", "Use cp.async.commit_group and cp.async.wait_group." },
		{ "wgmma.", "Warp-group matrix instructions are not supported; use mma.sync or wmma." },
		{ "tcgen05.", "Tensor memory is not supported; use mma.sync or wmma." },
		{ "barrier.cluster", CLUSTER },
		{ "mapa", CLUSTER },
		{ "getctarank", CLUSTER },
		{ "clusterlaunchcontrol", CLUSTER },
		{ "griddepcontrol", "Dependent launches are not supported." },
		{ "fence.proxy", "Proxy fences belong to bulk copies, which are not supported." },
		{ "multimem.", "Multicast memory is not supported." },
		{ "createpolicy", POLICY },
		{ "applypriority", POLICY },
		{ "discard", POLICY },
		{ "alloca", STACK },
		{ "stacksave", STACK },
		{ "stackrestore", STACK },
		{ "vadd", VIDEO },
		{ "vsub", VIDEO },
		{ "vabsdiff", VIDEO },
		{ "vmin", VIDEO },
		{ "vmax", VIDEO },
		{ "vavrg", VIDEO },
		{ "vshl", VIDEO },
		{ "vshr", VIDEO },
		{ "vmad", VIDEO },
		{ "vset", VIDEO },
	};
	for (size_t i = 0; i < ARRAY_LEN(families); i++) {
		size_t n = strlen(families[i].prefix);
		if (word->len >= n && memcmp(word->s, families[i].prefix, n) == 0)
			return families[i].remedy;
	}
	return NULL;
}

bool unknown_opcode(struct parser *p, const struct token *word)
{
	const char *dot = memchr(word->s, '.', word->len);
	size_t n = dot ? (size_t)(dot - word->s) : word->len;
	char base[32];
	snprintf(base, sizeof base, "%.*s", n > 31 ? 31 : (int)n, word->s);
	report_at(p, word->s, word->line, ERR_UNSUPPORTED, "opcode '%.*s' is not supported",
	          word->len > 80 ? 80 : (int)word->len, word->s);
	const char *remedy = mnemonic_remedy(word);
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
