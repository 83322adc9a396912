/* main() of tests whose emulator is opened once, for a built-in sheet. */
#ifndef TESTS_EMU_EMULATOR_H
#define TESTS_EMU_EMULATOR_H

#include "../unit.h"
#include "backend/backend.h"
#include "model/gpu.h"

#include <stdio.h>

static inline int run_with_emulator(const char *sheet, struct backend **emulator)
{
	struct err err = { 0 };
	const struct gpu_spec *gpu = gpu_find(sheet);
	if (!gpu || !backend_emu.open(emulator, gpu, &err)) {
		fprintf(stderr, "%s: %s\n", sheet, gpu ? err.msg : "no such sheet");
		return 1;
	}
	const int failed = unit_run(NULL, NULL);
	backend_emu.close(*emulator);
	return failed;
}

#endif
