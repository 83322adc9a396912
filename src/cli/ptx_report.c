/* doctor --ptx FILE: what the emulator would refuse of each kernel of a PTX file or a cubin. */
#include "cli/ptx_report.h"

#include "base/file.h"
#include "base/lang.h"

#include <string.h>

#define MAX_PTX_BYTES ((size_t)256 << 20)

struct ptx_report {
	struct cli *c;
	json_t *kernels;  /* NULL = text */
	json_t *refusals; /* of the kernel at hand */
	unsigned n_kernels, n_refused, n_of_kernel;
	bool machine_code;
	char kernel[256];
};

static void print_kernel(const struct ptx_report *r, enum style style, const char *sign)
{
	cli_name(r->c->out, style, sign);
	fprintf(r->c->out, "%s\n", r->kernel);
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
	if (r->kernels)
		tell_json(r, k);
	else
		tell_text(r, k);
}

int ptx_report(struct cli *c, const char *path)
{
	const struct backend_ops *emu = backend_find("emu");
	struct text text = { 0 };
	struct err err = { 0 };
	struct ptx_report r = { .c = c, .kernels = c->json ? json_array() : NULL };
	bool ok = file_read(path, MAX_PTX_BYTES, &text, &err);
	r.machine_code = ok && text.len > 4 && !memcmp(text.s, "\177ELF", 4);
	ok = ok && emu->examine(&text, path, tell, &r, &err);
	text_free(&text);
	if (!ok) {
		json_decref(r.kernels);
		return cli_fail(c, &err);
	}
	end_kernel(&r);
	const int status = r.n_refused ? CLI_IMPOSSIBLE : CLI_OK;
	if (c->json)
		return cli_emit(
			c,
			json_pack("{s:s, s:s, s:o}", "schema", CLI_SCHEMA, "file", path, "kernels", r.kernels),
			status);
	cli_line(c, "%u of %u kernels would run", r.n_kernels - r.n_refused, r.n_kernels);
	return status;
}
