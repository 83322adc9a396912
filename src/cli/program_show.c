/* One launch of a program, or a few, shown as `run` shows a kernel's. */
#include "cli/program_start.h"

#include "base/mem.h"
#include "lab/program_family.h"

#include <inttypes.h>

static struct run_record *record_of(struct program_family *f, const struct program *p,
                                    uint64_t number)
{
	struct selection sel = { .seed = 1, .gpu = p->gpu };
	program_family_select(f, number, &sel);
	program_family_source(f, p, number);
	return program_record(p, number, &sel);
}

static void print_launch(struct cli *c, const struct program *p, const struct run_record *r,
                         uint64_t number)
{
	cli_line_in(c, STYLE_TITLE, "Launch %" PRIu64 " of %s", number, p->command);
	print_record(c, r);
	for (size_t i = 0; i < p->n_findings; i++)
		if (p->findings[i].launch == number)
			cli_line(c, "%s: %s\n    %s", p->findings[i].kind, p->findings[i].text,
			         p->findings[i].remedy);
}

static struct program_family *family_of(const struct program_words *words, const struct program *p)
{
	struct program_family *f = program_family_new(words);
	program_family_follow(f, p);
	return f;
}

struct run_record *program_longest(const struct program_words *words, const struct program *p)
{
	struct run_record *r = record_of(family_of(words, p), p, p->groups[0].first);
	r->code = program_code(p, p->groups[0].first, NULL);
	return r;
}

struct shown {
	struct cli *c;
	const struct program_options *options;
};

/* Its launches asked for, or the first of the group that takes longest. */
static int show(void *ctx, const struct program_words *words, struct program *p, int status)
{
	const struct shown *s = ctx;
	struct cli *c = s->c;
	const bool range = s->options->range;
	json_t *list = json_array();
	struct program_family *f = family_of(words, p);
	if (program_wants_again(s->options)) {
		json_decref(list);
		return program_show_again(c, s->options, f, p, p->groups[0].first, status);
	}
	for (size_t i = 0; i < (range ? p->n_launches : 1); i++) {
		const uint64_t number = range ? p->launches[i].number : p->groups[0].first;
		struct run_record *r = record_of(f, p, number);
		if (c->json) {
			json_array_append_new(list, json_record(r));
		} else if (s->options->csv) {
			print_record_csv(c, r);
		} else {
			print_launch(c, p, r, number);
		}
		record_free(r);
	}
	if (!c->json) {
		json_decref(list);
		return status;
	}
	if (!range) {
		json_t *one = json_incref(json_array_get(list, 0));
		json_decref(list);
		return cli_emit(c, one, status);
	}
	return cli_emit(c, json_pack("{s:s, s:o}", "schema", CLI_SCHEMA, "records", list), status);
}

/* Why, if the program said anything of it. */
static void no_launch(const struct program *p, struct err *why)
{
	const struct program_finding *f = p->n_findings ? &p->findings[0] : NULL;
	if (f) {
		err_set(why, ERR_UNAVAILABLE, "%s launched no kernel: %s", p->command, f->text);
		err_remedy(why, "%s", f->remedy);
		return;
	}
	err_set(why, ERR_USAGE, "%s launched no kernel", p->command);
	err_remedy(why, "kernels are __global__ functions, launched as kernel<<<grid, block>>>()");
}

int program_with(struct cli *c, const struct program_options *o, unsigned n, char **args,
                 bool catch, program_use *use, void *ctx)
{
	struct err err = { 0 }, why = { 0 };
	struct program_words words;
	struct program p;
	const bool ran = program_start(o, n, args, catch, &words, &p, &err);
	int status = ran ? program_status(&p) : CLI_WRONG;
	fflush(NULL); /* the program's output comes before what is said of it */
	if (!p.path) {
		status = cli_fail(c, &err);
	} else if (!p.n_launches) {
		no_launch(&p, &why);
		status = cli_fail(c, &why);
	} else if (!program_select(&p, o, &why)) {
		status = cli_fail(c, &why);
	} else {
		status = use(ctx, &words, &p, status);
		if (!ran)
			cli_fail(c, &err);
	}
	program_free(&p);
	program_words_free(&words);
	return status;
}

int program_show(struct cli *c, const struct program_options *o, unsigned n, char **args)
{
	return program_with(c, o, n, args, c->json || o->csv, show, &(struct shown){ c, o });
}
