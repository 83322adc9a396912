/*
 * Fuzz target: no bytes, however malformed, may crash the reader of cubins or of their line
 * tables. The listing goes with the uncut tests/data/sass/tiny_sm_90.cubin.
 */
#include "sass_promise.h"

static const char listing[] = "\t.section .text.tiny,\"ax\",@progbits\n"
							  "tiny:\n"
							  "/*0000*/ LDC R1, c[0x0][0x28] ;\n"
							  "/*0010*/ @P0 BRA `(tiny) ;\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sass_module m;
	struct err err = { .code = ERR_NONE };
	if (sass_read(&m, data, size, listing, sizeof listing - 1, &err)) {
		check_module(&m);
		for (unsigned f = 0; f < m.n_funcs; f++) {
			const struct cubin_func *k = &m.cubin.funcs[f];
			promise(strlen(k->name) < size, "names end in the image");
			promise(k->code_bytes % CUBIN_INST_BYTES == 0, "whole instructions");
			for (unsigned r = 0; r < k->n_relocs; r++)
				promise(strlen(k->relocs[r].symbol) < size, "symbols end in the image");
		}
		sass_free(&m);
	} else {
		check_refusal(&m, &err);
	}
	return 0;
}
