/*
 * For tests of machine code: modules of the shipped kernels, compiled and disassembled, with the
 * build's own cache, so that nothing is compiled twice.
 */
#ifndef PMPP_TEST_SASS_FIXTURE_H
#define PMPP_TEST_SASS_FIXTURE_H

#include "../unit.h"
#include "compile/compile.h"
#include "compile/disassemble.h"
#include "compile/module_store.h"
#include "lab/registry.h"
#include "model/gpu.h"
#include "sass/sass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Why no machine code can be had here; NULL = it can. */
static inline const char *no_sass(void)
{
	static struct err err;
	struct compile_info info;
	char path[4096];
	compile_probe(&info);
	if (!info.nvrtc)
		return "no NVRTC";
	return disassembler_find(path, sizeof path, &err) ? NULL : err.msg;
}

static inline int use_build_cache(void **state)
{
	(void)state;
	const char *root = getenv("TEST_ROOT");
	char dir[4096];
	snprintf(dir, sizeof dir, "%s/build/modules", root ? root : ".");
	store_use(dir);
	return 0;
}

static inline void sass_of_source(const char *file, const char *source, unsigned n_macros,
                                  const struct compile_macro *macros, int cc,
                                  struct sass_module *out)
{
	const struct compile_request req = {
		.file = file,
		.source = source,
		.n_macros = n_macros,
		.macros = macros,
		.cc_major = cc / 10,
		.cc_minor = cc % 10,
	};
	struct module m;
	struct text listing = { 0 };
	struct err err = { 0 };
	if (!compile_module(&req, &m, &err) ||
	    !disassemble(m.cubin, m.cubin_len, NULL, &listing, &err) ||
	    !sass_read(out, m.cubin, m.cubin_len, listing.s, listing.len, &err))
		fail_msg("%s for sm_%d: %s", file, cc, err.msg);
	text_free(&listing);
	module_free(&m);
}

static inline void sass_of_kernel(const struct kernel_desc *k, int cc, struct sass_module *out)
{
	int64_t params[KERNEL_MAX_PARAMS];
	struct compile_macro macros[KERNEL_MAX_PARAMS];
	char file[64];
	kernel_defaults(k, params);
	const unsigned n = kernel_macros(k, params, macros);
	sass_of_source(kernel_file(k, file, sizeof file), kernel_source(k), n, macros, cc, out);
}

/* Every architecture of the GPU sheets, once; returns how many. */
static inline unsigned sheet_architectures(int cc[32])
{
	unsigned n = 0;
	for (size_t g = 0; g < gpu_count(); g++) {
		const int this = gpu_at(g)->cc_major * 10 + gpu_at(g)->cc_minor;
		unsigned i = 0;
		while (i < n && cc[i] != this)
			i++;
		if (i == n && n < 32)
			cc[n++] = this;
	}
	return n;
}

#endif
