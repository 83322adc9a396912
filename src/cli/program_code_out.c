/* Machine code in what is written of a program: listings by kernel, counts by launch. */
#include "cli/program_out.h"

#include "model/record_tables.h"

static json_t *counts_json(const struct run_counts *c)
{
	json_t *all = json_array();
	for (unsigned i = 0; i < c->n_code; i++)
		json_array_append_new(all, json_pack("{s:i, s:I, s:I}", "offset", (int)c->code[i].offset,
		                                     "warps", (json_int_t)c->code[i].warps, "lanes",
		                                     (json_int_t)c->code[i].lanes));
	return all;
}

void program_json_counts(json_t *document, const struct program *p)
{
	json_t *launches = json_object_get(document, "launches");
	for (size_t i = 0; i < p->n_launches; i++)
		if (p->launches[i].counts && p->launches[i].counts->n_code)
			json_object_set_new(json_array_get(launches, i), "code",
			                    counts_json(p->launches[i].counts));
}

void program_json_listing(json_t *document, const struct program_kernel *k,
                          const struct code_listing *code)
{
	json_t *all = json_object_get(document, "listings");
	if (!all) {
		all = json_array();
		json_object_set_new(document, "listings", all);
	}
	json_t *o = record_write(&code_table, code);
	json_object_set_new(o, "kernel", json_string(k->signature));
	json_array_append_new(all, o);
}
