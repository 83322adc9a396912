/*
 * doctor --ptx FILE: what the emulator would refuse of each kernel of a PTX file or a cubin, or of
 * all such files of a folder; then which instructions stand in how many kernels' way.
 */
#include "cli/ptx_report.h"

#include "base/demangle.h"
#include "base/file.h"
#include "base/lang.h"
#include "base/mem.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_PTX_BYTES ((size_t)256 << 20)

/* An instruction that is refused for a reason. */
struct obstacle {
	char *what, *why;
	unsigned kernels, last; /* @last: number of the kernel that was counted last */
};

struct ptx_report {
	struct cli *c;
	struct obstacle *obstacles;
	unsigned n_obstacles, cap_obstacles;
	json_t *kernels;  /* NULL = text */
	json_t *refusals; /* of the kernel at hand */
	unsigned n_kernels, n_refused, n_of_kernel;
	bool machine_code;
	char kernel[256];
};

static void print_kernel(const struct ptx_report *r, enum style style, const char *sign)
{
	char written[512];
	cli_name(r->c->out, style, sign);
	fputs(r->kernel, r->c->out);
	if (demangle(r->kernel, true, written, sizeof written)[0])
		fprintf(r->c->out, ": %s", written);
	fputc('\n', r->c->out);
}

static void end_kernel(struct ptx_report *r)
{
	if (r->n_kernels && !r->n_of_kernel && !r->kernels)
		print_kernel(r, STYLE_GOOD, r->c->utf8 ? "✓  " : "ok ");
	r->n_of_kernel = 0;
}

static void tell_json(struct ptx_report *r, const struct examine_finding *k)
{
	json_array_append_new(r->refusals,
	                      json_pack("{s:s, s:i, s:i, s:s, s:s}", "instruction", k->what,
	                                r->machine_code ? "offset" : "ptx_line", (int)k->ptx_line,
	                                "line", (int)k->line, "why", k->why, "remedy", k->remedy));
}

static void tell_text(struct ptx_report *r, const struct examine_finding *k)
{
	if (r->n_of_kernel == 1)
		print_kernel(r, STYLE_BAD, r->c->utf8 ? "✗  " : "-  ");
	fputs("     ", r->c->out);
	if (r->machine_code)
		cli_say(r->c->out, STYLE_NORMAL, "offset 0x%x", k->ptx_line);
	else
		cli_say(r->c->out, STYLE_NORMAL, "PTX line %u", k->ptx_line);
	if (k->line)
		cli_say(r->c->out, STYLE_NORMAL, ", source line %u", k->line);
	fprintf(r->c->out, ": '%s': %s\n", k->what, lang_text(k->why));
	if (k->remedy[0])
		fprintf(r->c->out, "     -> %s\n", lang_text(k->remedy));
}

static void note_obstacle(struct ptx_report *r, const struct examine_finding *k)
{
	unsigned i = 0;
	while (i < r->n_obstacles &&
	       (strcmp(r->obstacles[i].what, k->what) != 0 || strcmp(r->obstacles[i].why, k->why) != 0))
		i++;
	if (i == r->n_obstacles) {
		MEM_ROOM(r->obstacles, r->n_obstacles, r->cap_obstacles, 16);
		r->obstacles[r->n_obstacles++] =
			(struct obstacle){ mem_strdup(k->what), mem_strdup(k->why), 0, 0 };
	}
	struct obstacle *o = &r->obstacles[i];
	o->kernels += o->last != r->n_kernels;
	o->last = r->n_kernels;
}

static int by_kernels(const void *a, const void *b)
{
	const struct obstacle *x = a, *y = b;
	if (x->kernels != y->kernels)
		return x->kernels < y->kernels ? 1 : -1;
	return strcmp(x->what, y->what);
}

/* Says them, most kernels first, and forgets them. Returns them for JSON; NULL = text. */
static json_t *end_obstacles(struct ptx_report *r)
{
	json_t *list = r->c->json ? json_array() : NULL;
	if (r->n_obstacles)
		qsort(r->obstacles, r->n_obstacles, sizeof *r->obstacles, by_kernels);
	if (!list && r->n_obstacles)
		cli_line_in(r->c, STYLE_TITLE, "In the way, of how many kernels:");
	for (unsigned i = 0; i < r->n_obstacles; i++) {
		struct obstacle *o = &r->obstacles[i];
		if (list)
			json_array_append_new(list, json_pack("{s:s, s:s, s:i}", "instruction", o->what, "why",
			                                      o->why, "kernels", (int)o->kernels));
		else
			fprintf(r->c->out, "%6u  '%s': %s\n", o->kernels, o->what, lang_text(o->why));
		free(o->what);
		free(o->why);
	}
	free(r->obstacles);
	r->obstacles = NULL;
	r->n_obstacles = r->cap_obstacles = 0;
	return list;
}

static void tell(void *ctx, const struct examine_finding *k)
{
	struct ptx_report *r = ctx;
	if (!k->what) {
		end_kernel(r);
		r->n_kernels++;
		snprintf(r->kernel, sizeof r->kernel, "%s", k->kernel);
		if (r->kernels) {
			r->refusals = json_array();
			json_array_append_new(
				r->kernels, json_pack("{s:s, s:o}", "kernel", k->kernel, "refusals", r->refusals));
		}
		return;
	}
	r->n_refused += !r->n_of_kernel++;
	note_obstacle(r, k);
	if (r->kernels)
		tell_json(r, k);
	else
		tell_text(r, k);
}

/* Adds what is said of one file to @r; false: it cannot be read. */
static bool examine_file(struct ptx_report *r, const char *path, struct err *err)
{
	const struct backend_ops *emu = backend_find("emu");
	struct text text = { 0 };
	bool ok = file_read(path, MAX_PTX_BYTES, &text, err);
	const unsigned before = r->n_kernels;
	r->machine_code = ok && text.len > 4 && !memcmp(text.s, "\177ELF", 4);
	r->n_of_kernel = 0;
	ok = ok && emu->examine(&text, path, tell, r, err);
	text_free(&text);
	if (r->n_kernels > before)
		end_kernel(r);
	return ok;
}

static int status_of(const struct ptx_report *r)
{
	return r->n_refused ? CLI_IMPOSSIBLE : CLI_OK;
}

static int report_file(struct cli *c, const char *path)
{
	struct err err = { 0 };
	struct ptx_report r = { .c = c, .kernels = c->json ? json_array() : NULL };
	const bool good = examine_file(&r, path, &err);
	json_t *obstacles = end_obstacles(&r);
	if (!good) {
		json_decref(r.kernels);
		json_decref(obstacles);
		return cli_fail(c, &err);
	}
	if (c->json)
		return cli_emit(c,
		                json_pack("{s:s, s:s, s:o, s:o}", "schema", CLI_SCHEMA, "file", path,
		                          "kernels", r.kernels, "in_the_way", obstacles),
		                status_of(&r));
	cli_line(c, "%u of %u kernels would run", r.n_kernels - r.n_refused, r.n_kernels);
	return status_of(&r);
}

static int is_examined(const struct dirent *d)
{
	const char *dot = strrchr(d->d_name, '.');
	return dot && (str_ieq(dot, ".ptx") || str_ieq(dot, ".cubin"));
}

/* One that cannot be read is said to be so, and the others still are. */
static int report_folder(struct cli *c, const char *folder)
{
	struct dirent **entry = NULL;
	struct err none = { 0 };
	const int n = scandir(folder, &entry, is_examined, alphasort);
	struct ptx_report r = { .c = c };
	json_t *files = json_array();
	int status = CLI_OK;
	for (int i = 0; i < n; i++) {
		char path[4096];
		struct err err = { 0 };
		snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
		free(entry[i]);
		r.kernels = c->json ? json_array() : NULL;
		if (!c->json)
			cli_line_in(c, STYLE_TITLE, "%s", path);
		const bool good = examine_file(&r, path, &err);
		if (!good && !c->json)
			cli_fail(c, &err);
		status = good ? status : err_exit_status(err.code);
		if (c->json)
			json_array_append_new(files, json_pack("{s:s, s:o*, s:s*}", "file", path, "kernels",
			                                       r.kernels, "error", good ? NULL : err.msg));
	}
	free(entry);
	json_t *obstacles = end_obstacles(&r);
	if (n <= 0) {
		json_decref(files);
		json_decref(obstacles);
		err_set(&none, ERR_USAGE, "%s: there is no .ptx and no .cubin in the folder", folder);
		return cli_fail(c, &none);
	}
	status = status == CLI_OK ? status_of(&r) : status;
	if (c->json)
		return cli_emit(c,
		                json_pack("{s:s, s:o, s:o}", "schema", CLI_SCHEMA, "files", files,
		                          "in_the_way", obstacles),
		                status);
	json_decref(files);
	cli_line(c, "%u of %u kernels of %d files would run", r.n_kernels - r.n_refused, r.n_kernels,
	         n);
	return status;
}

int ptx_report(struct cli *c, const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISDIR(st.st_mode) ? report_folder(c, path) : report_file(c, path);
}
