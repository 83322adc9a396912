/*
 * A person's own kernel file by nvcc; see own_build.h.
 *
 * What nvcc gets is a file of ours that includes the person's, so that names in messages and line
 * tables are theirs, and "..." is looked for beside it. The cache knows a build by its request and
 * by size and time of every file that nvcc read.
 */
#define _GNU_SOURCE /* realpath */
#include "compile/own_build.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/monotonic.h"
#include "base/scratch.h"
#include "compile/diagnose.h"
#include "compile/entry_usage.h"
#include "compile/module_pack.h"
#include "compile/module_store.h"
#include "compile/nvcc.h"
#include "compile/program_repair.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_PTX ((size_t)256 << 20)
#define MAX_RULE ((size_t)4 << 20)

struct own {
	const struct compile_request *req;
	char nvcc[4096], ptxas[4096];
	struct scratch folder;
	char path[4096]; /* of the person's file, absolute; "" = there is only its text */
	struct text key; /* what the cache knows a build by, beside module_key()'s */
	bool specific;   /* with what only this one architecture has (sm_90a) */
};

static void describe(struct own *o)
{
	const struct compile_own *own = o->req->own;
	char cwd[4096];
	text_add(&o->key, "nvcc\n%s\n%s\n%s\n%s\n", o->nvcc, o->path, own->extra ? own->extra : "",
	         getcwd(cwd, sizeof cwd) ? cwd : "");
	for (unsigned i = 0; i < own->n_words; i++)
		text_add(&o->key, "%s\n", own->words[i]);
}

/* The cache key of a build that read these files. */
static void key_with(const struct own *o, uint64_t inputs, char key[33])
{
	struct text all = { 0 };
	text_add(&all, "%s%016" PRIx64, o->key.s, inputs);
	module_key(o->req, all.s, key);
	text_free(&all);
}

static void rule_name(const struct own *o, char *out, size_t n)
{
	char key[33];
	module_key(o->req, o->key.s, key);
	snprintf(out, n, "%s.inputs", key);
}

static bool find_kept(const struct own *o, struct module *out)
{
	char name[64], key[33];
	struct text rule = { 0 };
	rule_name(o, name, sizeof name);
	const uint64_t inputs = store_find(name, MAX_RULE, &rule) ? nvcc_inputs_hash(rule.s) : 0;
	text_free(&rule);
	if (!inputs)
		return false;
	key_with(o, inputs, key);
	return store_load(key, out);
}

/* --- files of ours --- */

static const char *file_at(const struct own *o, const char *name, char *out, size_t n)
{
	return scratch_file(&o->folder, name, out, n);
}

static bool write_source(const struct own *o, struct err *err)
{
	char path[600];
	struct text t = { 0 };
	if (o->path[0] && o->req->own->nvcc)
		text_add(&t, "#include \"%s\"\n", o->path);
	else
		text_add(&t, "#line 1 \"%s\"\n%s\n", o->path[0] ? o->path : o->req->file,
		         o->req->own->text);
	text_add(&t, "%s\n", o->req->own->extra ? o->req->own->extra : "");
	const bool ok = file_replace(file_at(o, "own.cu", path, sizeof path), t.s, t.len, err);
	text_free(&t);
	return ok;
}

/* --- the two compilers --- */

static void nvcc_words(const struct own *o, unsigned repairs, const char *headers,
                       struct nvcc_command *c)
{
	const struct compile_request *req = o->req;
	char path[600];
	nvcc_word(c, "%s", o->nvcc);
	nvcc_word(c, "-ptx");
	nvcc_word(c, "-lineinfo");
	nvcc_word(c, "-arch=compute_%d%d%s", req->cc_major, req->cc_minor, o->specific ? "a" : "");
	if (o->path[0])
		nvcc_word(c, "-I%.*s", (int)(strrchr(o->path, '/') - o->path), o->path);
	program_repair_words(repairs, headers, c);
	for (unsigned i = 0; i < req->own->n_words; i++)
		nvcc_word(c, "%s", req->own->words[i]);
	for (unsigned i = 0; i < req->n_macros; i++)
		nvcc_word(c, "-D%s=%" PRId64, req->macros[i].name, req->macros[i].value);
	nvcc_word(c, "-MD");
	nvcc_word(c, "-MF");
	nvcc_word(c, "%s", file_at(o, "own.d", path, sizeof path));
	nvcc_word(c, "-o");
	nvcc_word(c, "%s", file_at(o, "own.ptx", path, sizeof path));
	nvcc_word(c, "%s", file_at(o, "own.cu", path, sizeof path));
	c->word[c->n] = NULL;
}

static bool no_host_compiler(const char *messages)
{
	return strstr(messages, "Failed to preprocess host compiler") ||
	       strstr(messages, "cannot find compiler") ||
	       strstr(messages, "No such file or directory\nnvcc");
}

/* Does the architecture lack what the file uses, by what an assembler has said? */
static bool lacks(const char *said)
{
	return said && (strstr(said, "not supported on .target") || strstr(said, "requires .target"));
}

#define SPECIFIC_FROM 9 /* compute capability whose name may have an "a" */

/* With repairs for an earlier CUDA, as long as nvcc's messages ask for more of them. */
static bool to_ptx(struct own *o, struct err *err)
{
	unsigned repairs = 0;
	char cache[4096], headers[4200];
	store_dir(cache, sizeof cache);
	snprintf(headers, sizeof headers, "%s/include", cache[0] ? cache : o->folder.path);
	for (;;) {
		struct nvcc_command c = { 0 };
		struct text said = { 0 };
		struct err why = { 0 };
		if (repairs && (!folder_make(cache) || !program_repair_headers(headers, err)))
			return false;
		nvcc_words(o, repairs, headers, &c);
		const bool ok = nvcc_run(&c, o->req->cancel, &said, &why);
		const bool refused = !ok && why.code == ERR_UNAVAILABLE && said.s;
		const unsigned more = refused ? program_repairs_for(said.s) & ~repairs : 0;
		const bool specific =
			refused && lacks(said.s) && !o->specific && o->req->cc_major >= SPECIFIC_FROM;
		nvcc_free(&c);
		if (refused && no_host_compiler(said.s))
			err_set(err, ERR_UNAVAILABLE, "nvcc: %.500s", said.s);
		else if (refused && !more && !specific)
			diagnose(said.s, o->req->file, o->req->own->text, NULL, err);
		else if (!ok && !refused && err)
			*err = why;
		text_free(&said);
		if (ok || !(more || specific))
			return ok;
		repairs |= more;
		o->specific = o->specific || specific;
	}
}

/* PTX of a later compiler than this assembler (Triton's, say) asks for a version that it does not
 * know, @said: the file then asks for the assembler's own, and what is really newer in it is
 * refused by name. False: that is not what was said. */
static bool ask_for_own_version(const struct own *o, const char *said)
{
	char path[600];
	struct text old = { 0 }, new = { 0 };
	static const char is[] = "current version is '";
	const char *own = said ? strstr(said, "Unsupported .version") : NULL;
	own = own ? strstr(own, is) : NULL;
	const size_t digits = own ? strspn(own + strlen(is), "0123456789.") : 0;
	if (!digits || !file_read(file_at(o, "own.ptx", path, sizeof path), MAX_PTX, &old, NULL))
		return false;
	const char *at = strstr(old.s, ".version");
	const char *end = at ? strchr(at, '\n') : NULL;
	bool ok = end != NULL;
	if (ok) {
		text_add(&new, "%.*s.version %.*s", (int)(at - old.s), old.s, (int)digits,
		         own + strlen(is));
		text_add(&new, "%s", end);
		ok = file_replace(path, new.s, new.len, NULL);
	}
	text_free(&old);
	text_free(&new);
	return ok;
}

/* "a": the PTX asks for what only this one architecture has (.target sm_90a); else "". */
static const char *target_suffix(const struct own *o)
{
	char target[40];
	const struct compile_request *req = o->req;
	snprintf(target, sizeof target, ".target sm_%d%da", req->cc_major, req->cc_minor);
	return o->specific || (req->own->ptx && strstr(req->source, target)) ? "a" : "";
}

/* @ptx, a file of ours, to @out->cubin and what ptxas reports of each entry. */
static bool assemble_own(const struct own *o, struct module *out, struct err *err)
{
	struct nvcc_command c = { 0 };
	struct text said = { 0 }, cubin = { 0 };
	struct err why = { 0 };
	char path[600];
	nvcc_word(&c, "%s", o->ptxas);
	nvcc_word(&c, "-v");
	nvcc_word(&c, "-lineinfo");
	nvcc_word(&c, "-arch=sm_%d%d%s", o->req->cc_major, o->req->cc_minor, target_suffix(o));
	if (o->req->max_registers)
		nvcc_word(&c, "-maxrregcount=%u", o->req->max_registers);
	nvcc_word(&c, "-o");
	nvcc_word(&c, "%s", file_at(o, "own.cubin", path, sizeof path));
	nvcc_word(&c, "%s", file_at(o, "own.ptx", path, sizeof path));
	c.word[c.n] = NULL;
	bool ok = nvcc_run(&c, o->req->cancel, &said, &why);
	if (!ok && o->req->own->ptx && ask_for_own_version(o, said.s)) {
		text_free(&said);
		said = (struct text){ 0 };
		why = (struct err){ 0 };
		ok = nvcc_run(&c, o->req->cancel, &said, &why);
	}
	if (!ok && why.code == ERR_UNAVAILABLE && said.s)
		diagnose(said.s, o->req->file, o->req->own->text, out->ptx, err);
	else if (!ok && err)
		*err = why;
	if (!ok && lacks(said.s) && o->req->cc_major < SPECIFIC_FROM)
		err_remedy(err, "choose a GPU that has it, as with --gpu h100");
	ok = ok && file_read(file_at(o, "own.cubin", path, sizeof path), MAX_PTX, &cubin, err);
	if (ok) {
		out->cubin = cubin.s;
		out->cubin_len = cubin.len;
		out->log = usage_strip(said.s ? said.s : "");
		ok = usage_read(said.s ? said.s : "", out, err);
	}
	nvcc_free(&c);
	text_free(&said);
	return ok;
}

static bool build_now(struct own *o, struct module *out, struct err *err)
{
	char path[600];
	struct text ptx = { 0 };
	const double begin = clock_now_s();
	if (o->req->own->ptx) {
		file_at(o, "own.ptx", path, sizeof path);
		if (!file_replace(path, o->req->source, strlen(o->req->source), err))
			return false;
	} else if (!write_source(o, err) || !to_ptx(o, err)) {
		return false;
	}
	if (!file_read(file_at(o, "own.ptx", path, sizeof path), MAX_PTX, &ptx, err))
		return false;
	out->ptx = ptx.s ? ptx.s : mem_strdup("");
	out->ptx_len = ptx.len;
	snprintf(out->compiler, sizeof out->compiler, "%s", o->req->own->ptx ? "ptxas" : "nvcc");
	out->from = MODULE_COMPILED;
	const bool ok = assemble_own(o, out, err);
	out->compile_ns = (int64_t)((clock_now_s() - begin) * 1e9);
	return ok;
}

static void keep(const struct own *o, struct module *out)
{
	char path[600], name[64], kept[4200];
	struct text rule = { 0 };
	if (o->req->own->ptx)
		text_add(&rule, "own.o :");
	else if (!file_read(file_at(o, "own.d", path, sizeof path), MAX_RULE, &rule, NULL))
		return;
	/* our own file, the rule's first, is gone at once: it is part of the request */
	struct text without = { 0 };
	const char *ours = strstr(rule.s, "/own.cu");
	const char *colon = strchr(rule.s, ':');
	text_add(&without, "own.o : %s", ours ? ours + 7 : colon ? colon + 1 : "");
	key_with(o, nvcc_inputs_hash(without.s), out->key);
	store_save(out);
	rule_name(o, name, sizeof name);
	store_keep(name, without.s, without.len, kept, sizeof kept);
	text_free(&without);
	text_free(&rule);
}

bool own_build(const struct compile_request *req, struct module *out, struct err *err)
{
	struct own o = { .req = req, .folder = SCRATCH_NONE };
	*out = (struct module){ .n_entries = 0 };
	if (!req->own->ptx && !cuda_tool("nvcc", o.nvcc, sizeof o.nvcc, err))
		return err_remedy(err, "run 'make programs-compiler' where pmpp-explore was built, or "
		                       "install the CUDA Toolkit");
	if (!cuda_tool("ptxas", o.ptxas, sizeof o.ptxas, err))
		return false;
	if (!req->own->path || !realpath(req->own->path, o.path))
		o.path[0] = '\0';
	describe(&o);
	bool ok = find_kept(&o, out);
	if (!ok && scratch_make(&o.folder, err)) {
		ok = build_now(&o, out, err);
		if (ok)
			keep(&o, out);
		scratch_remove(&o.folder);
	}
	if (!ok)
		module_free(out);
	text_free(&o.key);
	return ok;
}
