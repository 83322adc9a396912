/*
 * What the compiler said about every entry compiled so far, so that occupancy follows a change of
 * block size or GPU at once. Knows no compiler and no thread but its own lock.
 */
#include "usage_table.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct row {
	struct build_id id;
	const char *entry; /* of the kernel's variants: lives as long as the program */
	struct usage usage;
};

struct usage_table {
	pthread_mutex_t lock;
	size_t n, cap;
	struct row *rows;
};

void build_id_of(const struct selection *sel, struct build_id *id)
{
	const struct kernel_desc *k = sel->kernel;
	*id = (struct build_id){
		.kernel = k,
		.cc_major = sel->gpu->cc_major,
		.cc_minor = sel->gpu->cc_minor,
	};
	/* A macro that this variant ignores keeps its default: one build serves all of them. */
	for (unsigned i = 0; i < k->n_params; i++)
		if (k->params[i].kind == PARAM_COMPILE)
			id->macros[i] =
				kernel_param_used(k, sel->variant, i) ? sel->params[i] : k->params[i].def;
}

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->kernel == b->kernel && a->cc_major == b->cc_major && a->cc_minor == b->cc_minor &&
	       !memcmp(a->macros, b->macros, sizeof a->macros);
}

struct usage_table *usage_table_new(void)
{
	struct usage_table *t = mem_zalloc(sizeof *t);
	pthread_mutex_init(&t->lock, NULL);
	return t;
}

void usage_table_free(struct usage_table *t)
{
	if (!t)
		return;
	pthread_mutex_destroy(&t->lock);
	free(t->rows);
	free(t);
}

static struct row *row_of(struct usage_table *t, const struct build_id *id, const char *entry)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->rows[i].entry, entry) && build_id_equal(&t->rows[i].id, id))
			return &t->rows[i];
	return NULL;
}

void usage_learn(struct usage_table *t, const struct build_id *id, const struct module *m)
{
	pthread_mutex_lock(&t->lock);
	for (unsigned v = 0; v < id->kernel->n_variants; v++) {
		const char *entry = id->kernel->variants[v].entry;
		const struct entry_usage *e = module_entry(m, entry);
		if (!e || row_of(t, id, entry))
			continue;
		MEM_ROOM(t->rows, t->n, t->cap, 16);
		t->rows[t->n++] = (struct row){ .id = *id, .entry = entry, .usage = usage_of(e) };
	}
	pthread_mutex_unlock(&t->lock);
}

bool usage_find(struct usage_table *t, const struct build_id *id, const char *entry,
                struct usage *out)
{
	pthread_mutex_lock(&t->lock);
	const struct row *r = row_of(t, id, entry);
	if (r)
		*out = r->usage;
	pthread_mutex_unlock(&t->lock);
	return r != NULL;
}

struct usage usage_of(const struct entry_usage *e)
{
	return (struct usage){
		.registers = e->registers,
		.static_shared_bytes = e->static_shared_bytes,
		.stack_bytes = e->stack_bytes,
		.spill_bytes = e->spill_store_bytes + e->spill_load_bytes,
		.barriers = e->barriers,
	};
}

struct occ_input usage_occ_input(const struct usage *u)
{
	return (struct occ_input){
		.regs_per_thread = u->registers,
		.static_shared_bytes = u->static_shared_bytes,
		.barriers = u->barriers,
	};
}
