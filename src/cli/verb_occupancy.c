/* occupancy: the calculator alone; nothing is compiled or run. */
#include "cli/cli.h"
#include "model/record_tables.h"

#include <string.h>

struct state {
	const char *gpu, *carveout;
	uint64_t block, regs, smem, barriers;
	bool json;
};

#define NOT_SAID UINT64_MAX

static unsigned options(void *state, struct option_spec *o)
{
	struct state *s = state;
	s->block = s->regs = NOT_SAID;
	const struct option_spec all[] = {
		{ "--gpu", OPT_TEXT, &s->gpu, "SHEET",
		  "id of 'list gpus' or a .yaml file (default " LAB_DEFAULT_GPU ")" },
		{ "--block", OPT_COUNT, &s->block, "N", "threads per block" },
		{ "--regs", OPT_COUNT, &s->regs, "N", "registers per thread" },
		{ "--smem", OPT_COUNT, &s->smem, "BYTES",
		  "shared memory per block, static and dynamic (default 0)" },
		{ "--barriers", OPT_COUNT, &s->barriers, "N", "named barriers per block (default 1)" },
		{ "--carveout", OPT_TEXT, &s->carveout, "PERCENT",
		  "preferred shared memory carve-out (default: the driver chooses)" },
		OPTION_JSON(&s->json),
	};
	memcpy(o, all, sizeof all);
	return ARRAY_LEN(all);
}

static bool in_range(const char *option, uint64_t value, uint64_t least, uint64_t most,
                     struct err *err)
{
	if (value >= least && value <= most)
		return true;
	return err_set(err, ERR_USAGE, "option '%s': %llu: must be from %llu to %llu", option,
	               (unsigned long long)value, (unsigned long long)least, (unsigned long long)most);
}

/* "50": half of the shared memory that an SM can have. */
static bool read_carveout(const char *text, struct occ_input *in, struct err *err)
{
	int64_t pct;
	if (!text)
		return true;
	if (!parse_int(text, &pct) || pct < 0 || pct > 100)
		return err_set(err, ERR_USAGE, "option '--carveout': '%s' is not a percentage of 0 to 100",
		               text);
	in->carveout_preferred = true;
	in->carveout_pct = (unsigned)pct;
	return true;
}

static json_t *as_json(const struct gpu_spec *g, const struct occ_input *in,
                       const struct occ_result *r)
{
	struct metric_set m;
	metrics_clear(&m, "nothing was run: this is the occupancy calculator");
	occ_metrics(&m, g, r, 0);
	json_t *metrics = json_object();
	for (int i = 0; i < METRIC_COUNT; i++)
		if (!strncmp(metric_catalogue[i].key, "occ.", 4))
			json_object_set_new(metrics, metric_catalogue[i].key,
			                    record_metric(&m, (enum metric_id)i, FORM_RUN));
	json_t *o = json_pack("{s:s, s:o, s:{s:i, s:i, s:i, s:i}, s:o, s:b}", "schema", CLI_SCHEMA,
	                      "gpu", record_write_run(&gpu_table, g), "input", "block_threads",
	                      in->block_threads, "registers_per_thread", in->regs_per_thread,
	                      "shared_bytes_per_block", in->static_shared_bytes, "barriers",
	                      in->barriers, "metrics", metrics, "launchable", r->launchable);
	json_object_set_new(o, "why_not", r->launchable ? json_null() : json_string(r->why_not));
	record_write_into(&limits_table, r, o, FORM_RUN);
	return o;
}

static int run(struct cli *c, void *state, unsigned n, char **args)
{
	struct state *s = state;
	const struct gpu_spec *g;
	struct occ_result r;
	struct err err = { 0 };
	if (n) {
		err_set(&err, ERR_USAGE, "occupancy takes options only, not '%s'", args[0]);
		err_remedy(&err, "pmpp-explore occupancy --gpu a100 --block 256 --regs 32");
		return cli_fail(c, &err);
	}
	if (s->block == NOT_SAID || s->regs == NOT_SAID) {
		err_set(&err, ERR_USAGE, "option '%s' is missing",
		        s->block == NOT_SAID ? "--block" : "--regs");
		err_remedy(&err, "pmpp-explore occupancy --gpu a100 --block 256 --regs 32");
		return cli_fail(c, &err);
	}
	/* Beyond these no device can be meant; what a device refuses is a result. */
	if (!in_range("--block", s->block, 1, 1024, &err) ||
	    !in_range("--regs", s->regs, 1, 255, &err) ||
	    !in_range("--smem", s->smem, 0, 1 << 20, &err) ||
	    !in_range("--barriers", s->barriers, 0, 16, &err) ||
	    !gpu_load(s->gpu ? s->gpu : LAB_DEFAULT_GPU, &g, &err))
		return cli_fail(c, &err);
	struct occ_input in = {
		.block_threads = (unsigned)s->block,
		.regs_per_thread = (unsigned)s->regs,
		.static_shared_bytes = (unsigned)s->smem,
		.barriers = (unsigned)s->barriers,
	};
	if (!read_carveout(s->carveout, &in, &err) || !occ_compute(g, &in, &r, &err))
		return cli_fail(c, &err);
	if (c->json)
		return cli_emit(c, as_json(g, &in, &r), CLI_OK);
	cli_line(c, "%s, cc %d.%d: block %u, %u registers per thread, %u bytes shared", g->name,
	         g->cc_major, g->cc_minor, in.block_threads, in.regs_per_thread,
	         in.static_shared_bytes);
	print_occupancy(c, g, &r);
	return CLI_OK;
}

CLI_VERB(
	occupancy, .order = 2, .about = "how many blocks fit on an SM, and which resource says so",
	.usage = "--block N --regs N [options]",
	.help = "The answer of NVIDIA's cuda_occupancy.h, explained limit by limit, beside the book's\n"
			"plain division.\n");
