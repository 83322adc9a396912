/* Fuzz target: GPU sheets and presets from any text; a refusal names the file. */
#include "target.h"

#include "model/gpu.h"
#include "model/preset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = input_text(data, size);
	struct gpu_spec gpu;
	struct preset *preset = NULL;
	struct err err = { 0 };
	if (gpu_parse(text, size, "fuzz.yaml", &gpu, &err)) {
		promise(gpu.warp_size == 32 && gpu.sm_count >= 1, "figures are in their ranges");
	} else {
		promise_refusal(&err);
		promise(strstr(err.msg, "fuzz.yaml") != NULL, "a refusal names the file");
	}
	err_clear(&err);
	if (preset_parse(text, size, "fuzz.yaml", &preset, &err)) {
		for (unsigned i = 0; i < preset->n_steps; i++) {
			char claim[400];
			promise(preset_claims(&preset->steps[i]) <= PRESET_MAX_CLAIMS, "claims are limited");
			for (unsigned k = 0; k < preset_claims(&preset->steps[i]); k++)
				preset_claim(&preset->steps[i], k, claim, sizeof claim);
		}
		preset_free(preset);
	} else {
		promise_refusal(&err);
	}
	free(text);
	return 0;
}
