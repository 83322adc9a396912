/* The machine code of a program's launch, for panels; see program_family.h. */
#include "program_family.h"
#include "program_file.h"

#include "base/mem.h"
#include "runtime/code_answer.h"
#include "sass/code_of.h"

#include <stdio.h>
#include <string.h>

/* The last part of the name that line tables have. */
static const char *file_of(const struct program_kernel *k)
{
	const char *slash = strrchr(k->file, '/');
	return slash ? slash + 1 : k->file;
}

static struct code_listing *listing_of(const struct program_module *m,
                                       const struct program_kernel *k, struct err *err)
{
	struct sass_module code;
	struct code_listing *c = NULL;
	if (!sass_read(&code, m->cubin, m->cubin_bytes, m->listing, m->listing_bytes, err))
		return NULL;
	const struct sass_func *f = sass_func(&code, k->mangled);
	if (f)
		c = sass_code_of(&code, f, m->ptx, file_of(k));
	else
		err_set(err, ERR_UNAVAILABLE, "the machine code has no function %.200s", k->name);
	sass_free(&code);
	return c;
}

struct program_module *program_machine_code(const struct program *p, uint64_t number,
                                            const atomic_bool *cancel, struct err *err)
{
	const struct program_launch *l = program_launch_numbered(p, number);
	const struct program_kernel *k = l ? &p->kernels[l->kernel] : NULL;
	struct program_module *m = k && k->module ? program_module(p, k->module) : NULL;
	if (p->from_file)
		err_set(err, ERR_UNAVAILABLE, "a file of a run has no code of the program");
	else if (!m)
		err_set(err, ERR_UNAVAILABLE,
		        "the executable does not hold the kernel's machine code for this GPU");
	return m && code_need(p, m, cancel, err) ? m : NULL;
}

struct code_listing *program_code(const struct program *p, uint64_t number,
                                  const atomic_bool *cancel)
{
	struct err err = { 0 };
	const struct program_launch *l = program_launch_numbered(p, number);
	struct code_listing *c = l ? program_file_code(&p->kernels[l->kernel]) : NULL;
	if (c)
		return c;
	const struct program_module *m = program_machine_code(p, number, cancel, &err);
	if (m && l)
		c = listing_of(m, &p->kernels[l->kernel], &err);
	if (c || err.code == ERR_CANCELLED)
		return c;
	c = mem_zalloc(sizeof *c);
	snprintf(c->why, sizeof c->why, "%.399s", err.msg);
	snprintf(c->remedy, sizeof c->remedy, "%.399s", err.remedy);
	return c;
}
