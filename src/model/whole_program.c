/* Groups and totals of a program's launches; see whole_program.h. */
#include "model/whole_program.h"

#include "base/mem.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REGISTERS_ASSUMED 32 /* where the program holds no machine code for this GPU */

const char *program_direction_name(enum program_direction d)
{
	static const char *const names[] = { "H2D", "D2H", "D2D", "H2H" };
	return d < PROGRAM_DIRECTIONS ? names[d] : "?";
}

const char *program_flag_word(enum program_flag f)
{
	static const char *const words[] = {
#define X(id, word) word,
		PROGRAM_FLAGS(X)
#undef X
	};
	return f < PROGRAM_FLAG_COUNT ? words[f] : "?";
}

void program_flag_words(unsigned flags, char *out, size_t n)
{
	size_t at = 0;
	out[0] = '\0';
	for (unsigned i = 0; i < PROGRAM_FLAG_COUNT; i++)
		if (flags >> i & 1 && i != PROGRAM_FLAG_REPEAT && at < n)
			at += (size_t)snprintf(out + at, n - at, "%s%s", at ? ", " : "",
			                       program_flag_word((enum program_flag)i));
}

void program_dimensions(const unsigned v[3], const char *times, char *out, size_t n)
{
	if (v[2] > 1)
		snprintf(out, n, "%u%s%u%s%u", v[0], times, v[1], times, v[2]);
	else if (v[1] > 1)
		snprintf(out, n, "%u%s%u", v[0], times, v[1]);
	else
		snprintf(out, n, "%u", v[0]);
}

static bool belongs(const struct program_group *g, const struct program_launch *l)
{
	return g->kernel == l->kernel && g->dynamic_shared_bytes == l->dynamic_shared_bytes &&
	       !memcmp(g->grid, l->grid, sizeof g->grid) &&
	       !memcmp(g->block, l->block, sizeof g->block);
}

static double duration(const struct program_span *s)
{
	return s->end_ns - s->start_ns;
}

static void start_group(struct program *p, const struct program_launch *l)
{
	struct program_group *g = &p->groups[p->n_groups++];
	*g = (struct program_group){ .kernel = l->kernel,
		                         .dynamic_shared_bytes = l->dynamic_shared_bytes,
		                         .first = l->number,
		                         .dram_bytes = -1,
		                         .bound = "" };
	memcpy(g->grid, l->grid, sizeof g->grid);
	memcpy(g->block, l->block, sizeof g->block);
}

/* What the launches of a group moved, each as the one that was counted for it did; and what limits
 * the last of them: the first may have found nothing in L2 yet. */
static void sum_traffic(const struct program *p, struct program_group *g, size_t index)
{
	double sum = 0;
	uint64_t known = 0;
	for (size_t i = 0; i < p->n_launches; i++) {
		const struct program_launch *l = &p->launches[i];
		const struct program_launch *of =
			l->group == index ? program_launch_numbered(p, l->like) : NULL;
		if (!of || !of->metrics)
			continue;
		const struct metric_value *bytes = &of->metrics->v[M_DRAM_READ],
								  *written = &of->metrics->v[M_DRAM_WRITE],
								  *bound = &of->metrics->v[M_TIME_BOTTLENECK];
		if (bytes->origin == ORIGIN_NONE || written->origin == ORIGIN_NONE)
			continue;
		sum += bytes->num + written->num;
		known++;
		if (bound->origin != ORIGIN_NONE && bound->text[0])
			g->bound = bound->text;
	}
	if (known)
		g->dram_bytes = sum / (double)known * (double)g->launches;
}

static int by_time(const void *a, const void *b)
{
	const struct program_group *x = a, *y = b;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

static void find_groups(struct program *p)
{
	free(p->groups);
	p->groups = mem_calloc(p->n_launches + 1, sizeof *p->groups);
	p->n_groups = 0;
	p->gpu_ns = 0;
	for (size_t i = 0; i < p->n_launches; i++) {
		struct program_launch *l = &p->launches[i];
		size_t k = 0;
		while (k < p->n_groups && !belongs(&p->groups[k], l))
			k++;
		if (k == p->n_groups)
			start_group(p, l);
		struct program_group *g = &p->groups[k];
		l->group = (unsigned)k;
		g->launches++;
		g->total_ns += duration(&l->span);
		g->flags |= l->flags;
		p->gpu_ns += duration(&l->span);
	}
}

void program_sum_up(struct program *p)
{
	for (size_t i = 0; i < p->n_findings; i++) {
		const struct program_finding *f = &p->findings[i];
		struct program_launch *l =
			(struct program_launch *)(uintptr_t)program_launch_numbered(p, f->launch);
		if (l && f->launch && f->error)
			l->flags |= 1u << (strcmp(f->kind, "race") ? PROGRAM_FLAG_FAULT : PROGRAM_FLAG_RACE);
	}
	find_groups(p);
	for (size_t k = 0; k < p->n_groups; k++)
		sum_traffic(p, &p->groups[k], k);
	qsort(p->groups, p->n_groups, sizeof *p->groups, by_time);
	for (size_t i = 0; i < p->n_launches; i++)
		for (size_t k = 0; k < p->n_groups; k++)
			if (belongs(&p->groups[k], &p->launches[i]))
				p->launches[i].group = (unsigned)k;
	p->copy_ns = 0;
	for (size_t i = 0; i < p->n_copies; i++)
		p->copy_ns += duration(&p->copies[i].span);
}

void program_note(struct program *p, const char *kind, const char *text)
{
	p->findings = mem_realloc(p->findings, p->n_findings + 1, sizeof *p->findings);
	p->findings[p->n_findings++] = (struct program_finding){
		.times = 1,
		.kind = mem_strdup(kind),
		.text = mem_strdup(text),
		.remedy = mem_strdup(""),
		.file = mem_strdup(""),
	};
}

size_t program_errors(const struct program *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_findings; i++)
		n += p->findings[i].error;
	return n;
}

unsigned program_kernel_registers(const struct program_kernel *k)
{
	const unsigned known = k->registers ? k->registers : k->allocated_registers;
	return known ? known : REGISTERS_ASSUMED;
}

struct program_module *program_module(const struct program *p, unsigned id)
{
	for (unsigned i = 0; i < p->n_modules; i++)
		if (p->modules[i].id == id)
			return &p->modules[i];
	return NULL;
}

struct program_module *program_add_module(struct program *p, unsigned id)
{
	p->modules = mem_realloc(p->modules, p->n_modules + 1u, sizeof *p->modules);
	struct program_module *m = &p->modules[p->n_modules++];
	*m = (struct program_module){ .id = id };
	return m;
}

bool program_launch_timed(const struct program_launch *l)
{
	return !(l->flags & (1u << PROGRAM_FLAG_UNTIMED | 1u << PROGRAM_FLAG_FAILED));
}

void program_launch_timing(const struct program_launch *l, struct run_timing *t)
{
	const double ns = l->span.end_ns - l->span.start_ns;
	if (!program_launch_timed(l))
		return;
	*t = (struct run_timing){ .n = 1,
		                      .median_ns = ns,
		                      .min_ns = ns,
		                      .max_ns = ns,
		                      .q1_ns = ns,
		                      .q3_ns = ns,
		                      .from_activity = true };
}

void program_launch_time(const struct program_launch *l, struct metric_set *m)
{
	if (l->flags >> PROGRAM_FLAG_FAILED & 1)
		metric_none(m, M_TIME_KERNEL, "the launch was refused");
	else if (!program_launch_timed(l))
		metric_none(m, M_TIME_KERNEL, "the GPU told no end of this launch");
	else
		metric_num(m, M_TIME_KERNEL, ORIGIN_MEASURED, l->span.end_ns - l->span.start_ns);
}

bool program_counts_proved(const struct program *p, const struct program_launch *l)
{
	const struct program_launch *counted = program_launch_numbered(p, l->like);
	return counted && l->counts_as == l->like &&
	       (l->same_as == l->like || !strcmp(counted->level, "PTX"));
}

const struct program_launch *program_launch_numbered(const struct program *p, uint64_t number)
{
	/* they come in order, but some may be missing */
	size_t low = 0, high = p->n_launches;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (p->launches[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->n_launches && p->launches[low].number == number ? &p->launches[low] : NULL;
}

/* The first launch behind number @i that is kept and like it takes over its counts. */
static void hand_counts_on(struct program *p, size_t i, const bool *kept)
{
	struct program_launch *from = &p->launches[i], *heir = NULL;
	for (size_t k = i + 1; k < p->n_launches && from->metrics && !heir; k++)
		if (kept[k] && p->launches[k].like == from->number)
			heir = &p->launches[k];
	if (heir) {
		heir->counts = from->counts;
		heir->metrics = from->metrics;
		heir->occ = from->occ;
		from->counts = NULL;
		from->metrics = NULL;
	}
	for (size_t k = i + 1; heir && k < p->n_launches; k++)
		if (p->launches[k].like == from->number)
			p->launches[k].like = heir->number;
	run_counts_free(from->counts);
	free(from->counts);
	free(from->metrics);
}

static void drop_finding(struct program *p, size_t i)
{
	struct program_finding *f = &p->findings[i];
	free(f->kind);
	free(f->text);
	free(f->remedy);
	free(f->file);
	memmove(f, f + 1, (p->n_findings - i - 1) * sizeof *f);
	p->n_findings--;
}

void program_keep(struct program *p, bool (*keep)(void *ctx, const struct program_launch *l),
                  void *ctx)
{
	bool *kept = mem_calloc(p->n_launches + 1, sizeof *kept);
	size_t n = 0;
	for (size_t i = 0; i < p->n_launches; i++)
		kept[i] = keep(ctx, &p->launches[i]);
	for (size_t i = 0; i < p->n_launches; i++)
		if (!kept[i])
			hand_counts_on(p, i, kept);
	for (size_t i = 0; i < p->n_launches; i++)
		if (kept[i])
			p->launches[n++] = p->launches[i];
	p->n_launches = n;
	free(kept);
	for (size_t i = p->n_findings; i--;)
		if (p->findings[i].launch && !program_launch_numbered(p, p->findings[i].launch))
			drop_finding(p, i);
	program_sum_up(p);
}

void program_free(struct program *p)
{
	for (unsigned i = 0; i < p->n_modules; i++) {
		free(p->modules[i].ptx);
		free(p->modules[i].cubin);
		free(p->modules[i].listing);
	}
	free(p->modules);
	for (unsigned i = 0; i < p->n_kernels; i++) {
		free(p->kernels[i].name);
		free(p->kernels[i].signature);
		free(p->kernels[i].mangled);
		free(p->kernels[i].file);
		free(p->kernels[i].code);
	}
	for (size_t i = 0; i < p->n_launches; i++) {
		run_counts_free(p->launches[i].counts);
		free(p->launches[i].counts);
		free(p->launches[i].metrics);
	}
	for (size_t i = 0; i < p->n_findings; i++) {
		free(p->findings[i].kind);
		free(p->findings[i].text);
		free(p->findings[i].remedy);
		free(p->findings[i].file);
	}
	for (unsigned i = 0; i < p->n_texts; i++) {
		free(p->texts[i].file);
		free(p->texts[i].text);
	}
	free(p->texts);
	free(p->kernels);
	free(p->launches);
	for (size_t i = 0; i < p->n_keepers; i++)
		if (p->keepers[i].fd >= 0)
			close(p->keepers[i].fd);
	free(p->keepers);
	free(p->copies);
	free(p->marks);
	free(p->findings);
	free(p->groups);
	free(p->path);
	free(p->command);
	free(p->output);
	free(p->errors);
	memset(p, 0, sizeof *p);
}
