/* Fuzz target: the scanner of a person's .cu file. Line numbers stay, names end, kernels are listed
 * once each by their line. */
#include "target.h"

#include "userkernel/user_plugin.h"
#include "userkernel/user_source.h"

static size_t lines(const char *s)
{
	size_t n = 0;
	for (; *s; s++)
		n += *s == '\n';
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = input_text(data, size), signature[600], symbol[128];
	struct user_source s;
	user_source_scan(text, &s);
	promise(lines(s.device) == lines(text), "device code has the lines of the file");
	for (unsigned i = 0; i < s.n_kernels; i++) {
		const struct user_kernel *k = &s.kernels[i];
		promise(k->name[0] != '\0' && k->line >= 1 && k->line <= lines(text) + 1,
		        "a kernel has a name and a line of the file");
		promise(k->n_params <= KERNEL_MAX_ARGS, "parameters fit");
		promise(user_source_find(&s, k->name) != NULL, "a kernel is found by its name");
		user_signature(k, signature, sizeof signature);
	}
	user_source_free(&s);
	user_source_has_main(text);
	const unsigned line = user_plugin_symbol(text, symbol, sizeof symbol);
	promise((line == 0) == (symbol[0] == '\0'), "a descriptor has a line");
	free(text);
	return 0;
}
