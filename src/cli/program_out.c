/* A program's launches for people, for scripts, for spreadsheets. */
#include "cli/program_out.h"

#include "base/lang.h"
#include "base/mem.h"
#include "model/program_session.h"
#include "model/record_tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- JSON --- */

static json_t *triple(const unsigned v[3])
{
	return json_pack("[i,i,i]", (int)v[0], (int)v[1], (int)v[2]);
}

static json_t *span_json(const struct program_span *s)
{
	return json_pack("{s:f,s:f,s:f}", "call_ns", s->call_ns, "start_ns", s->start_ns, "end_ns",
	                 s->end_ns);
}

static json_t *finding_json(const struct program_finding *f)
{
	json_t *o = json_pack("{s:s,s:s,s:s,s:I,s:b}", "kind", f->kind, "text", f->text, "remedy",
	                      f->remedy, "times", (json_int_t)f->times, "error", f->error);
	if (f->launch)
		json_object_set_new(o, "launch", json_integer((json_int_t)f->launch));
	if (f->line)
		json_object_set_new(o, "line", json_integer(f->line));
	if (f->file[0])
		json_object_set_new(o, "file", json_string(f->file));
	return o;
}

static json_t *flags_json(unsigned flags)
{
	json_t *a = json_array();
	for (unsigned i = 0; i < PROGRAM_FLAG_COUNT; i++)
		if (flags >> i & 1 && i != PROGRAM_FLAG_REPEAT)
			json_array_append_new(a, json_string(program_flag_word((enum program_flag)i)));
	return a;
}

/* Those of the launch whose counts are shown; the time is each launch's own where a GPU told it.
 * What several launches show is made once: @shared, by the number of the launch that was counted.
 */
static json_t *metrics_json(const struct program *p, const struct program_launch *l,
                            const struct program_launch *counted, json_t **shared)
{
	if (!counted || !counted->metrics)
		return json_object();
	if (p->time_origin != ORIGIN_MEASURED) {
		json_t **made = &shared[counted - p->launches];
		if (!*made)
			*made = record_metrics(counted->metrics, FORM_RUN);
		return json_incref(*made);
	}
	struct metric_set own = *counted->metrics;
	program_launch_time(l, &own);
	return record_metrics(&own, FORM_RUN);
}

static json_t *launch_json(const struct program *p, const struct program_launch *l, json_t **shared)
{
	const struct program_kernel *k = &p->kernels[l->kernel];
	json_t *findings = json_array();
	for (size_t i = 0; i < p->n_findings; i++)
		if (p->findings[i].launch == l->number)
			json_array_append_new(findings, finding_json(&p->findings[i]));
	json_t *o = json_pack(
		"{s:I,s:s,s:s,s:o,s:o,s:i,s:i,s:o,s:o,s:o}", "number", (json_int_t)l->number, "kernel",
		k->name, "signature", k->signature, "grid", triple(l->grid), "block", triple(l->block),
		"dynamic_shared_bytes", (int)l->dynamic_shared_bytes, "stream", (int)l->stream, "span",
		span_json(&l->span), "flags", flags_json(l->flags), "faults", findings);
	if (l->parent)
		json_object_set_new(o, "parent", json_integer((json_int_t)l->parent));
	const struct program_launch *counted = program_launch_numbered(p, l->like);
	if (l->like != l->number && counted && counted->counts) {
		json_object_set_new(o, "counts_of", json_integer((json_int_t)l->like));
		json_object_set_new(o, "counts_proved", json_boolean(program_counts_proved(p, l)));
	}
	if (l->same_as)
		json_object_set_new(o, "same_as", json_integer((json_int_t)l->same_as));
	if (counted && counted->metrics) {
		json_object_set_new(o, "level", json_string(counted->level));
		if (counted->races.of)
			json_object_set_new(o, "races", record_write_run(&races_table, &counted->races));
		if (counted->level_note[0])
			json_object_set_new(o, "level_note", json_string(counted->level_note));
		if (counted->counts && variation_any(&counted->counts->variation))
			json_object_set_new(o, "varies", record_variation(&counted->counts->variation));
	}
	json_object_set_new(o, "metrics", metrics_json(p, l, counted, shared));
	return o;
}

static json_t *copy_json(const struct program_copy *c)
{
	return json_pack("{s:I,s:s,s:I,s:i,s:b,s:b,s:o,s:I}", "number", (json_int_t)c->number, "kind",
	                 c->set ? "memset" : program_direction_name(c->direction), "bytes",
	                 (json_int_t)c->bytes, "stream", (int)c->stream, "pinned", c->pinned, "async",
	                 c->async, "span", span_json(&c->span), "before_launch", (json_int_t)c->before);
}

/* Text that may not be UTF-8: jansson refuses such, so each such byte becomes '?'. */
static json_t *output_json(const char *s)
{
	if (!s)
		return json_string("");
	json_t *o = json_string(s);
	if (o)
		return o;
	char *copy = mem_strdup(s);
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	o = json_string(copy);
	free(copy);
	return o;
}

json_t *program_json(const struct program *p, char *const *arguments)
{
	json_t *args = json_array(), *launches = json_array(), *copies = json_array(),
		   *faults = json_array();
	for (unsigned i = 1; arguments[0] && arguments[i]; i++)
		json_array_append_new(args, output_json(arguments[i]));
	json_t **shared = mem_calloc(p->n_launches + 1, sizeof(json_t *));
	for (size_t i = 0; i < p->n_launches; i++)
		json_array_append_new(launches, launch_json(p, &p->launches[i], shared));
	for (size_t i = 0; i < p->n_launches; i++)
		json_decref(shared[i]);
	free(shared);
	for (size_t i = 0; i < p->n_copies; i++)
		json_array_append_new(copies, copy_json(&p->copies[i]));
	for (size_t i = 0; i < p->n_findings; i++)
		json_array_append_new(faults, finding_json(&p->findings[i]));
	return json_pack("{s:s,s:s,s:o,s:s,s:s,s:i,s:o,s:o,s:o,s:o,s:o}", "schema", CLI_SCHEMA,
	                 "program", arguments[0], "args", args, "gpu", p->gpu->id, "backend",
	                 p->backend, "exit", p->exit_status, "stdout", output_json(p->output), "stderr",
	                 output_json(p->errors), "launches", launches, "copies", copies, "faults",
	                 faults);
}

/* --- text --- */

static void print_copies(struct cli *c, FILE *f, const struct program *p)
{
	for (unsigned d = 0; d < PROGRAM_DIRECTIONS; d++)
		for (unsigned pinned = 0; pinned < 2; pinned++) {
			uint64_t n = 0, bytes = 0;
			double ns = 0;
			for (size_t i = 0; i < p->n_copies; i++) {
				const struct program_copy *k = &p->copies[i];
				if (k->set || k->direction != d || k->pinned != (pinned != 0))
					continue;
				n++;
				bytes += k->bytes;
				ns += k->span.end_ns - k->span.start_ns;
			}
			char size[32], time[32];
			if (n)
				cli_say(f, STYLE_NORMAL, "  copies %s %" PRIu64 " · %s%s in %s %s\n",
				        program_direction_name((enum program_direction)d), n,
				        fmt_bytes(size, sizeof size, (double)bytes),
				        d == PROGRAM_D2D ? ""
				        : pinned         ? " pinned"
				                         : " pageable",
				        fmt_ns(time, sizeof time, ns), origin_mark(p->time_origin, !c->utf8));
		}
}

static void print_findings(FILE *f, const struct program *p)
{
	for (size_t i = 0; i < p->n_findings; i++) {
		const struct program_finding *x = &p->findings[i];
		const enum style style = x->error ? STYLE_BAD : STYLE_WATCH;
		if (program_finding_told(p, i))
			continue;
		const uint64_t later = program_finding_more(p, i);
		cli_name(f, style, x->error ? "! " : "- ");
		cli_say(f, style, "%s", x->kind);
		if (x->launch && later)
			cli_say(f, STYLE_NORMAL, " (launch %" PRIu64 ", and %" PRIu64 " more like it)",
			        x->launch, later);
		else if (x->launch)
			cli_say(f, STYLE_NORMAL, " (launch %" PRIu64 ")", x->launch);
		if (x->times > 1)
			cli_say(f, STYLE_NORMAL, " %" PRIu64 " times", x->times);
		fprintf(f, ": %s\n", lang_text(x->text));
		if (x->remedy[0])
			fprintf(f, "    %s\n", lang_text(x->remedy));
	}
}

static void print_repeats(FILE *f, const struct program *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_launches; i++)
		n += p->launches[i].same_as != 0;
	if (n)
		cli_say(f, STYLE_NORMAL,
		        n == 1 ? "  %zu launch not run: proved to repeat an earlier one\n"
		               : "  %zu launches not run: proved to repeat an earlier one\n",
		        n);
}

void program_print(struct cli *c, FILE *f, const struct program *p, bool all)
{
	char gpu[32];
	cli_name(f, STYLE_TITLE, p->command);
	cli_say(f, STYLE_BOLD,
	        p->n_launches == 1 ? "  %zu launch · %s on %s %s" : "  %zu launches · %s on %s %s",
	        p->n_launches, fmt_ns(gpu, sizeof gpu, p->gpu_ns), p->gpu->name,
	        origin_mark(p->time_origin, !c->utf8));
	if (p->signal)
		cli_say(f, STYLE_BAD, "  ended by signal %d (SIG%s)", p->signal, program_signal_name(p));
	else
		cli_say(f, p->exit_status ? STYLE_WATCH : STYLE_NORMAL, "  exit %d", p->exit_status);
	fputs("\n", f);
	if (p->n_launches)
		program_print_groups(c, f, p, all);
	print_repeats(f, p);
	print_copies(c, f, p);
	program_print_notes(f, p);
	print_findings(f, p);
}

void program_print_csv(FILE *f, const struct program *p)
{
	fputs("number,kernel,grid_x,grid_y,grid_z,block_x,block_y,block_z,stream,start_ns,ns,"
	      "counts_of,parent\n",
	      f);
	for (size_t i = 0; i < p->n_launches; i++) {
		const struct program_launch *l = &p->launches[i];
		fprintf(f, "%" PRIu64 ",\"%s\",%u,%u,%u,%u,%u,%u,%u,%.1f,%.1f,%" PRIu64 ",%" PRIu64 "\n",
		        l->number, p->kernels[l->kernel].name, l->grid[0], l->grid[1], l->grid[2],
		        l->block[0], l->block[1], l->block[2], l->stream, l->span.start_ns,
		        l->span.end_ns - l->span.start_ns, l->like, l->parent);
	}
}
