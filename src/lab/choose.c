/*
 * From the person's words to a GPU sheet and a back end: "a100", "auto", or nothing.
 *
 * A GPU's figures must belong to the device that runs: results measured on one card are never
 * shown against another card's sheet. Probes back ends; runs and draws nothing.
 */
#include "choose.h"
#include "registry.h"

#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

bool backend_named(const char *name, struct err *err)
{
	if (!strcmp(name, "auto") || backend_find(name))
		return true;
	const char *names[16] = { "auto" };
	size_t n = 1;
	char list[200] = "auto";
	for (size_t i = 0; i < backend_count() && n < ARRAY_LEN(names); i++) {
		names[n++] = backend_at(i)->name;
		size_t at = strlen(list);
		snprintf(list + at, sizeof list - at, ", %s", backend_at(i)->name);
	}
	err_set(err, ERR_USAGE, "there is no back end '%s'", name);
	const char *near = str_nearest(name, names, n);
	return near ? err_remedy(err, "did you mean '%s'? There are: %s", near, list)
	            : err_remedy(err, "choose one of: %s", list);
}

/* Letters and digits of the words of @s from @at on, lower case; each word's end is recorded. */
struct words {
	char s[128];
	bool starts[128], ends[128];
	size_t n;
};

static void words_of(const char *s, struct words *w)
{
	*w = (struct words){ .n = 0 };
	bool inside = false;
	for (; *s && w->n < sizeof w->s - 1; s++) {
		if (!isalnum((unsigned char)*s)) {
			if (inside)
				w->ends[w->n - 1] = true;
			inside = false;
			continue;
		}
		w->starts[w->n] = !inside;
		inside = true;
		w->s[w->n++] = (char)tolower((unsigned char)*s);
	}
	if (inside)
		w->ends[w->n - 1] = true;
}

/* Whether whole words of @device, run together, spell @id: "NVIDIA RTX A6000" has "a6000", and
 * "NVIDIA L40S" has no "l4". */
static bool spells(const struct words *device, const char *id)
{
	size_t len = strlen(id);
	for (size_t i = 0; i + len <= device->n; i++)
		if (device->starts[i] && device->ends[i + len - 1] && !strncmp(device->s + i, id, len))
			return true;
	return false;
}

const struct gpu_spec *sheet_of_device(const char *device)
{
	struct words w;
	words_of(device, &w);
	const struct gpu_spec *best = NULL;
	for (size_t i = 0; i < gpu_count(); i++) {
		const struct gpu_spec *g = gpu_at(i);
		if (spells(&w, g->id) && (!best || strlen(g->id) > strlen(best->id)))
			best = g;
	}
	return best;
}

static const char *device_of(const struct backend_info *info)
{
	return info->chosen < info->n_devices ? info->device[info->chosen] : "another device";
}

/* Does the person's sheet describe the device? */
static bool describes(const struct gpu_spec *g, const struct backend_info *info)
{
	const struct gpu_spec *like = sheet_of_device(device_of(info));
	return g->live || (like && !strcmp(g->id, like->id));
}

/* A back end that runs on a device of its own: takes it if the sheet fits, or brings the sheet. */
static bool take_device(const struct backend_ops *ops, bool gpu_given, struct selection *sel,
                        struct err *err)
{
	const struct backend_status *st = backend_probe(ops);
	if (!st->usable) {
		*err = st->err;
		return err_prefix(err, "back end '%s': ", ops->name);
	}
	if (gpu_given && !describes(sel->gpu, &st->info)) {
		const char *device = device_of(&st->info);
		const struct gpu_spec *like = sheet_of_device(device);
		err_set(err, ERR_UNAVAILABLE, "back end '%s' runs on %s, and the sheet of %s is asked for",
		        ops->name, device, sel->gpu->name);
		return like ? err_remedy(err, "say --gpu %s, or --backend emu", like->id)
		            : err_remedy(err, "leave --gpu away, or say --backend emu");
	}
	if (!gpu_given && !ops->sheet(&sel->gpu, err))
		return err_prefix(err, "back end '%s': ", ops->name);
	snprintf(sel->backend, sizeof sel->backend, "%s", ops->name);
	return true;
}

bool choose_backend(bool gpu_given, const char *backend, struct selection *sel, struct err *err)
{
	const bool automatic = !strcmp(backend, "auto");
	struct err why = { 0 };

	if (!backend_named(backend, err))
		return false;
	for (size_t i = 0; i < backend_count(); i++) {
		const struct backend_ops *ops = backend_at(i);
		if (!ops->sheet || !(automatic || !strcmp(backend, ops->name)))
			continue;
		if (take_device(ops, gpu_given, sel, &why))
			return true;
		if (!automatic) {
			if (err)
				*err = why;
			return false;
		}
	}
	if (!gpu_given && !gpu_load(LAB_DEFAULT_GPU, &sel->gpu, err))
		return false;
	snprintf(sel->backend, sizeof sel->backend, "%s", automatic ? "emu" : backend);
	return true;
}

bool choose_device(const char **gpu, const char **backend, struct err *err)
{
	for (size_t i = 0; *gpu && i < backend_count(); i++) {
		const struct backend_ops *ops = backend_at(i);
		if (!ops->choose || !ops->choose(*gpu))
			continue;
		if (*backend && strcmp(*backend, "auto") && strcmp(*backend, ops->name)) {
			err_set(err, ERR_USAGE, "--gpu %s is a device of back end '%s', and '%s' is asked for",
			        *gpu, ops->name, *backend);
			return err_remedy(err, "leave --backend away, or name a sheet: "
			                       "'pmpp-explore list gpus'");
		}
		*gpu = NULL; /* it brings its own sheet */
		*backend = ops->name;
	}
	return true;
}

bool choose_gpu_and_backend(const char *gpu, const char *backend, struct selection *sel,
                            struct err *err)
{
	if (!choose_device(&gpu, &backend, err) || (gpu && !gpu_load(gpu, &sel->gpu, err)))
		return false;
	return choose_backend(gpu != NULL, backend ? backend : "auto", sel, err);
}
