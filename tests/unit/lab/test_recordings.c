/*
 * The recordings that are built in: every one is read, its runs are of a GPU and verified, and they
 * are found for the same launch on any sheet.
 */
#include "../unit.h"
#include "lab/reference_run.h"
#include "model/ladder.h"
#include "lab/registry.h"
#include "base/asset.h"
#include "base/text.h"
#include "lab/session_file.h"

#include <stdio.h>
#include <string.h>

TEST(all_are_read)
{
	char broken[2048], gpu[64], name[64];
	unsigned files = 0;
	const unsigned runs = reference_run_count(broken, sizeof broken);
	assert_string_equal(broken, "");
	for (size_t i = 0; i < asset_count(); i++)
		files += reference_run_recording(asset_at(i), gpu, name);
	assert_true(runs >= files);
}

/* What a recording holds was measured, and the same launch finds it whatever the sheet. */
TEST(a_launch_finds_its_recording)
{
	char gpu[64], name[64];
	for (size_t i = 0; i < asset_count(); i++) {
		struct session s;
		char note[200];
		struct err err = { 0 };
		if (!reference_run_recording(asset_at(i), gpu, name))
			continue;
		if (!session_open(asset_at(i)->path, &s, note, sizeof note, &err))
			fail_msg("%s", err.msg);
		assert_true(s.n_history > 0 && s.now && s.ladder);
		assert_non_null(gpu_find(gpu)); /* the folder is a sheet's */
		for (unsigned k = 0; k < s.n_history; k++) {
			struct selection sel = s.history[k].sel;
			const bool wrong = sel.kernel->variants[sel.variant].wrong;
			assert_string_equal(sel.backend, "cuda");
			assert_int_equal(s.history[k].metrics.v[M_TIME_KERNEL].origin, ORIGIN_MEASURED);
			assert_true(wrong || s.history[k].verify == VERIFY_OK);
			snprintf(sel.backend, sizeof sel.backend, "emu");
			sel.gpu = gpu_find("a100");
			const struct run_brief *b = reference_run_find(&sel);
			assert_non_null(b);
			assert_true(brief_same_launch(b, &sel));
			sel.params[0] += 1; /* another launch: nothing is recorded of it, or it is its own */
			b = reference_run_find(&sel);
			assert_true(!b || brief_same_launch(b, &sel));
		}
		session_drop(&s);
	}
}

TEST(the_folder_names_the_gpu)
{
	char gpu[64], name[64];
	const struct asset a = { .path = "presets/l4/sgemm.json" };
	assert_true(reference_run_recording(&a, gpu, name));
	assert_string_equal(gpu, "l4");
	assert_string_equal(name, "sgemm");
	static const char *const others[] = { "presets/sgemm.json", "presets/gpus/l4.yaml",
		                                  "presets/l4/old/sgemm.json", "kernels/l4/sgemm.json" };
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		assert_false(reference_run_recording(&(struct asset){ .path = others[i] }, gpu, name));
}
