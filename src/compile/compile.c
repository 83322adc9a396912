/*
 * compile_module(): built-in archive, then the cache folder, then NVRTC; see compile.h.
 *
 * The built-in archive is asked first and needs no NVRTC, so that the first screen of a shipped
 * kernel waits for nothing. Without NVRTC the cache folder still serves what the archive's
 * compiler made there earlier.
 */
#include "compile/compile.h"
#include "base/monotonic.h"

#include "base/mem.h"
#include "base/text.h"
#include "compile/compile_worker.h"
#include "compile/diagnose.h"
#include "compile/module_pack.h"
#include "compile/module_store.h"
#include "compile/own_build.h"
#include "compile/rtc.h"
#include "compile/entry_usage.h"
#include "model/kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Linked into the program by make; absent from tests and from the tool that makes it. */
extern const char asset_cache[] __attribute__((weak));
extern const char asset_cache_end[] __attribute__((weak));

static size_t built_in_len(void)
{
	const char *start = asset_cache;
	return start ? (size_t)((uintptr_t)asset_cache_end - (uintptr_t)asset_cache) : 0;
}

static const char *built_in_compiler(void)
{
	unsigned count;
	const char *compiler;
	return archive_info(asset_cache, built_in_len(), &count, &compiler) ? compiler : NULL;
}

/* Without NVRTC: what was made earlier by the compiler of the built-in archive. */
static bool find_made(const struct compile_request *req, struct module *out)
{
	const char *compiler = built_in_compiler();
	if (!compiler)
		return false;
	char key[33];
	module_key(req, compiler, key);
	if (!archive_find(asset_cache, built_in_len(), key, out))
		return false;
	out->from = MODULE_BUILT_IN;
	return true;
}

static bool find_kept_without_nvrtc(const struct compile_request *req, struct module *out)
{
	const char *compiler = built_in_compiler();
	char key[33];
	if (!compiler)
		return false;
	module_key(req, compiler, key);
	return store_load(key, out);
}

static void describe(const struct compile_request *req, struct text *t)
{
	text_add(t, "%s", req->file);
	for (unsigned i = 0; i < req->n_macros; i++)
		text_add(t, "%s%s=%" PRId64, i ? ", " : " with ", req->macros[i].name,
		         req->macros[i].value);
	text_add(t, " for sm_%d%d", req->cc_major, req->cc_minor);
}

#define MAX_OPTIONS 80

struct options {
	int n;
	char *s[MAX_OPTIONS];
};

/* The options that change what is compiled. A change here asks for a new MODULE_FORMAT. */
static bool make_options(const struct compile_request *req, struct options *o, struct err *err)
{
	static const char *const fixed[] = {
		"--std=c++17",
		"-lineinfo",
		"-default-device",
		"--ptxas-options=-v",
	};
	if (req->n_macros > MAX_OPTIONS - 10)
		return err_set(err, ERR_USAGE, "%s: %u macros; at most %d are possible", req->file,
		               req->n_macros, MAX_OPTIONS - 10);
	o->s[o->n++] = mem_printf("--gpu-architecture=sm_%d%d%s", req->cc_major, req->cc_minor,
	                          module_arch_suffix(req));
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		o->s[o->n++] = mem_strdup(fixed[i]);
	if (req->max_registers)
		o->s[o->n++] = mem_printf("--maxrregcount=%u", req->max_registers);
	for (unsigned i = 0; i < req->n_macros; i++)
		o->s[o->n++] = mem_printf("-D%s=%" PRId64, req->macros[i].name, req->macros[i].value);
	if (*cuda_home()) {
		o->s[o->n++] = mem_printf("-I%s/include", cuda_home());
		o->s[o->n++] = mem_printf("-I%s/include/cccl", cuda_home());
	}
	return true;
}

/*
 * NVRTC puts its working folder in front of a relative name, and with it into .file, the cubin's
 * line table and so into cached files. A name that starts with '/' is left alone, so "sgemm.cu"
 * is compiled as "/sgemm.cu", and the slash is taken out again here.
 */
static char *without_slash(const char *s, const char *file)
{
	struct text out = { 0 };
	size_t n = strlen(file);
	while (*s) {
		const char *at = strchr(s, '/');
		if (!at) {
			text_put(&out, s, strlen(s));
			break;
		}
		bool ours = !strncmp(at + 1, file, n) && (at[1 + n] == '"' || at[1 + n] == '(') &&
		            (at == s || at[-1] == '"' || at[-1] == '\n' || at[-1] == ' ');
		text_put(&out, s, (size_t)(at - s) + !ours);
		s = at + 1;
	}
	return out.s ? out.s : mem_strdup("");
}

static bool finish(struct rtc_output *raw, const char *log, struct module *out, struct err *err)
{
	out->cubin = raw->cubin;
	out->cubin_len = raw->cubin_len;
	raw->cubin = NULL;
	out->ptx_len = strlen(out->ptx);
	out->log = usage_strip(log);
	return usage_read(log, out, err);
}

static bool compile_now(const struct compile_request *req, struct module *out, struct err *err)
{
	struct options o = { 0 };
	struct rtc_output raw = { .ok = false };
	bool relative = req->file[0] != '/';
	char *name = mem_printf("%s%s", relative ? "/" : "", req->file);
	const double begin = clock_now_s();
	bool ok = make_options(req, &o, err) &&
	          (compile_worker_used()
	               ? compile_in_worker(name, req->source, (const char *const *)o.s, o.n,
	                                   req->cancel, &raw, err)
	               : rtc_compile(name, req->source, (const char *const *)o.s, o.n, &raw, err));
	const double took_s = clock_now_s() - begin;
	if (ok) {
		char *log = relative ? without_slash(raw.log, req->file) : mem_strdup(raw.log);
		if (raw.ok) {
			snprintf(out->compiler, sizeof out->compiler, "%s", rtc_name());
			out->from = MODULE_COMPILED;
			out->compile_ns = (int64_t)(took_s * 1e9);
			out->ptx = relative ? without_slash(raw.ptx, req->file) : mem_strdup(raw.ptx);
			ok = finish(&raw, log, out, err);
		} else {
			ok = diagnose(log, req->file, req->source, raw.ptx, err);
		}
		free(log);
	}
	while (o.n)
		free(o.s[--o.n]);
	free(name);
	rtc_free(&raw);
	return ok;
}

/* What NVRTC is, without keeping it: where there is a worker, only that compiles. */
static bool know_nvrtc(struct err *err)
{
	if (!rtc_load(err))
		return false;
	if (compile_worker_used())
		rtc_let_go();
	return true;
}

static bool compile_by_nvrtc(const struct compile_request *req, struct module *out, struct err *err)
{
	if (find_made(req, out))
		return true;
	if (!know_nvrtc(err)) {
		if (find_kept_without_nvrtc(req, out))
			return true;
		struct text what = { 0 };
		describe(req, &what);
		err_prefix(err, "%s is not in the built-in cache and cannot be compiled: ", what.s);
		text_free(&what);
		return false;
	}
	char key[33];
	module_key(req, rtc_name(), key);
	if (store_load(key, out))
		return true;
	if (!rtc_supports(req->cc_major, req->cc_minor, err) || !compile_now(req, out, err)) {
		module_free(out);
		return false;
	}
	memcpy(out->key, key, sizeof out->key);
	store_save(out);
	return true;
}

/* What NVRTC refuses of a person's own file nvcc may take; if not, NVRTC's words are shown, unless
 * all it said is that it has not the host's headers. */
static bool second_opinion(const struct compile_request *req, struct module *out, struct err *err)
{
	struct err why = { 0 };
	if (own_build(req, out, &why))
		return true;
	const bool headers = why.code == ERR_COMPILE && err && strstr(err->msg, "cannot open source");
	if (err && (headers || why.code == ERR_CANCELLED || why.code == ERR_TIMEOUT))
		*err = why;
	else if (err && why.code == ERR_COMPILE && why.remedy[0])
		err_remedy(err, "%s", why.remedy);
	return false;
}

bool compile_module(const struct compile_request *req, struct module *out, struct err *err)
{
	*out = (struct module){ .n_entries = 0 };
	if (req->own && (req->own->nvcc || req->own->ptx))
		return own_build(req, out, err);
	struct err why = { 0 };
	if (compile_by_nvrtc(req, out, &why))
		return true;
	const bool again = req->own && (why.code == ERR_COMPILE || why.code == ERR_UNAVAILABLE);
	if (again && second_opinion(req, out, &why))
		return true;
	if (err)
		*err = why;
	return false;
}

unsigned kernel_macros(const struct kernel_desc *k, const int64_t *params,
                       struct compile_macro *out)
{
	unsigned n = 0;
	for (unsigned i = 0; i < k->n_params; i++) {
		const struct param_desc *p = &k->params[i];
		if (p->kind == PARAM_COMPILE)
			out[n++] = (struct compile_macro){ p->macro ? p->macro : p->name, params[i] };
	}
	return n;
}

void compile_probe(struct compile_info *info)
{
	*info = (struct compile_info){ .nvrtc = false };
	struct err err;
	err_clear(&err);
	info->nvrtc = know_nvrtc(&err);
	if (info->nvrtc) {
		rtc_version(&info->major, &info->minor);
		snprintf(info->nvrtc_path, sizeof info->nvrtc_path, "%s", rtc_path());
	} else {
		snprintf(info->why_not, sizeof info->why_not, "%.2047s", err.msg);
	}
	char dir[4096];
	store_dir(dir, sizeof dir);
	const size_t n = strlen(dir) + 1;
	if (n <= sizeof info->cache_dir)
		memcpy(info->cache_dir, dir, n);
	store_probe();
	store_note(info->cache_note, sizeof info->cache_note);
	const char *compiler;
	archive_info(asset_cache, built_in_len(), &info->built_in, &compiler);
}
