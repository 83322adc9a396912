/* Words of the command line to machine code; see sass_subject.h. */
#define _XOPEN_SOURCE 700 /* realpath() */
#include "cli/sass_subject.h"

#include "base/demangle.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/program_start.h"
#include "compile/compile.h"
#include "compile/disassemble.h"
#include "lab/registry.h"
#include "userkernel/user_file.h"
#include "userkernel/user_plugin.h"
#include "userkernel/user_ptx.h"
#include "userkernel/user_source.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_CU_BYTES ((size_t)4 << 20)
#define MAX_CUBIN_BYTES ((size_t)256 << 20)
#define MOST_REGISTERS 255 /* of a thread */

static atomic_bool interrupted;

static void on_interrupt(int signal)
{
	(void)signal;
	atomic_store(&interrupted, true);
}

static bool is_named_so(const char *word, const char *end)
{
	const size_t n = strlen(word), of_end = strlen(end);
	return n > of_end && str_ieq(word + n - of_end, end);
}

static bool compiled(const struct compile_request *req, struct sass_code *out, struct err *err)
{
	struct module m = { 0 };
	if (!compile_module(req, &m, err))
		return false;
	const bool good = m.cubin != NULL;
	if (good) {
		text_put(&out->cubin, m.cubin, m.cubin_len);
		snprintf(out->compiler, sizeof out->compiler, "%s", m.compiler);
		snprintf(out->file, sizeof out->file, "%s", req->file);
	} else {
		err_set(err, ERR_UNAVAILABLE, "%s: the cache holds no machine code of it", req->file);
	}
	module_free(&m);
	return good;
}

static bool of_kernel(const struct sass_ask *s, struct selection *sel, const struct gpu_spec *gpu,
                      struct sass_code *out, struct err *err)
{
	const struct kernel_desc *k = sel->kernel;
	struct compile_macro macros[KERNEL_MAX_PARAMS];
	char file[64];
	const struct compile_request req = {
		.file = kernel_file(k, file, sizeof file),
		.source = k->device_source ? k->device_source : kernel_source(k),
		.own = k->own_build,
		.n_macros = kernel_macros(k, sel->params, macros),
		.macros = macros,
		.cc_major = gpu->cc_major,
		.cc_minor = gpu->cc_minor,
		.max_registers = (unsigned)s->max_registers,
		.cancel = &interrupted,
	};
	out->source = mem_strdup(kernel_source(k));
	return compiled(&req, out, err);
}

/* Kernels of the file need no launch to be compiled. Its host code is left out, unless only nvcc
 * can do it, with @words of a command line for that. */
static bool of_file(const struct sass_ask *s, const char *path, const char *text, unsigned n_words,
                    char **words, const struct gpu_spec *gpu, struct sass_code *out,
                    struct err *err)
{
	const char *slash = strrchr(path, '/');
	struct user_source source;
	const bool ptx = is_named_so(path, ".ptx");
	char *with_lines = ptx ? user_ptx_with_lines(text, slash ? slash + 1 : path) : NULL;
	user_source_scan(ptx ? "" : text, &source);
	const struct compile_own own = {
		.path = path,
		.text = !ptx && source.plain && !n_words ? source.linked : text,
		.n_words = n_words,
		.words = (const char *const *)words,
		.nvcc = !ptx && (!source.plain || n_words),
		.ptx = ptx,
	};
	const struct compile_request req = {
		.file = slash ? slash + 1 : path,
		.source = ptx ? with_lines : source.device,
		.own = &own,
		.cc_major = gpu->cc_major,
		.cc_minor = gpu->cc_minor,
		.max_registers = (unsigned)s->max_registers,
		.cancel = &interrupted,
	};
	out->source = mem_strdup(text);
	const bool good = compiled(&req, out, err);
	if (!strncmp(out->compiler, "nvcc", 4) && !realpath(path, out->file))
		snprintf(out->file, sizeof out->file, "%s", path);
	user_source_free(&source);
	free(with_lines);
	return good;
}

static bool of_cubin(const char *path, struct sass_code *out, struct err *err)
{
	struct cubin c;
	if (!file_read(path, MAX_CUBIN_BYTES, &out->cubin, err))
		return false;
	if (!cubin_read(&c, out->cubin.s, out->cubin.len, err))
		return err_prefix(err, "%s: ", path);
	cubin_free(&c);
	return true;
}

/* A cubin has neither parameters nor a launch. */
static bool find_cubin(const struct sass_ask *s, unsigned n, char **args, struct sass_code *out,
                       struct err *err)
{
	if (s->max_registers)
		return err_set(err, ERR_USAGE, "--maxrregcount: a cubin is compiled already");
	if (sass_ask_counts(s)) {
		err_set(err, ERR_USAGE, "%s: a cubin has no launch whose instructions could be counted",
		        args[0]);
		return err_remedy(err, "give what it was compiled from: sass my.cu --counts, or the "
		                       "program: sass prog.cu --launch 1");
	}
	if (n > 1)
		return err_set(err, ERR_USAGE, "a cubin takes no parameters: '%s'", args[1]);
	return of_cubin(args[0], out, err);
}

/* -arch=sm_90, and what else nvcc calls it */
static bool names_architecture(const char *word)
{
	static const char *const begins[] = { "-arch", "--gpu-architecture", "-gencode", "-code" };
	for (size_t i = 0; i < ARRAY_LEN(begins); i++)
		if (!strncmp(word, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* False: the file has a descriptor and is a kernel with variants, *@plain = false, or is refused.
 */
static bool find_file(const struct sass_ask *s, unsigned n, char **args, const struct gpu_spec *gpu,
                      bool *plain, struct sass_code *out, struct err *err)
{
	struct text text = { 0 };
	char symbol[128];
	if (!file_read(args[0], MAX_CU_BYTES, &text, err))
		return false;
	user_plugin_symbol(text.s, symbol, sizeof symbol);
	unsigned words = 1;
	for (unsigned more = 1; more && words < n; words += more)
		more = user_compiler_words(n - words, args + words);
	*plain = !symbol[0];
	const bool good =
		*plain && words == n && of_file(s, args[0], text.s, n - 1, args + 1, gpu, out, err);
	text_free(&text);
	if (*plain && words < n && names_architecture(args[words])) {
		err_set(err, ERR_USAGE, "'%s': the GPU that it is compiled for is named by --gpu",
		        args[words]);
		return err_remedy(err, "as --gpu h200 for sm_90; 'pmpp-explore list gpus' has all");
	}
	if (*plain && words < n) {
		err_set(err, ERR_USAGE, "'%s': a file without a descriptor has no parameters", args[words]);
		return err_remedy(err, "with --counts it is launched, and they are its arguments");
	}
	return good;
}

/* A .cubin, a .cu without a descriptor, or a kernel. */
static bool find_subject(struct cli *c, const struct sass_ask *s, unsigned n, char **args,
                         struct sass_code *out, struct err *err)
{
	struct selection sel = { .seed = 1 };
	const struct gpu_spec *gpu = NULL;
	snprintf(out->only, sizeof out->only, "%s", s->user.kernel ? s->user.kernel : "");
	if (s->max_registers > MOST_REGISTERS)
		return err_set(err, ERR_USAGE, "--maxrregcount: a thread has at most %d registers",
		               MOST_REGISTERS);
	if (n && is_named_so(args[0], ".cubin"))
		return find_cubin(s, n, args, out, err);
	if (sass_ask_counts(s))
		return sass_run(c, s, n, args, out, err);
	if (s->user.block || s->user.grid || s->user.shared || s->user.define) {
		err_set(err, ERR_USAGE, "--block, --grid, --shared and --define belong to a launch");
		return err_remedy(err, "add --counts: the kernel is run, and its instructions are counted");
	}
	if (!gpu_load(s->gpu ? s->gpu : LAB_DEFAULT_GPU, &gpu, err))
		return false;
	if (n && user_file_named(args[0])) {
		bool plain = false;
		const bool good = find_file(s, n, args, gpu, &plain, out, err);
		if (plain || good || err->code != ERR_NONE)
			return good;
	}
	if (n && program_words_begin(args[0])) {
		err_set(err, ERR_USAGE, "%s: its machine code is known once it has run", args[0]);
		return err_remedy(err,
		                  "pmpp-explore sass %s --counts shows the kernel that took longest, "
		                  "--launch N that of a launch",
		                  args[0]);
	}
	if (!select_by_words(n, args, &sel, err))
		return false;
	if (!s->user.kernel && strchr(args[0], '/') && !user_file_named(args[0]))
		snprintf(out->only, sizeof out->only, "%s", sel.kernel->variants[sel.variant].entry);
	return of_kernel(s, &sel, gpu, out, err);
}

static bool known_function(const struct sass_module *m, const char *name, struct err *err)
{
	struct text names = { 0 };
	char name_of[512];
	bool known = !name[0];
	for (unsigned f = 0; f < m->n_funcs; f++) {
		known = known || sass_is_named(m->funcs[f].name, name);
		const char *written = demangle(m->funcs[f].name, true, name_of, sizeof name_of);
		text_add(&names, "%s%s", f ? ", " : "", written[0] ? written : m->funcs[f].name);
	}
	if (known) {
		text_free(&names);
		return true;
	}
	err_set(err, ERR_USAGE, "there is no function '%s' in it", name);
	err_remedy(err, "functions: %s", names.s ? names.s : "none");
	text_free(&names);
	return false;
}

/* A cubin's source, where the file that its lines name is here and was not written since. */
static void find_source(const char *cubin, struct sass_code *out)
{
	struct stat of_cubin, of_source;
	struct err none = { 0 };
	for (unsigned i = 1; i < out->module.n_files && !out->source; i++) {
		const char *file = out->module.files[i];
		struct text text = { 0 };
		if (!is_named_so(file, ".cu") || stat(cubin, &of_cubin) || stat(file, &of_source) ||
		    of_source.st_mtime > of_cubin.st_mtime || !file_read(file, MAX_CU_BYTES, &text, &none))
			continue;
		out->source = text.s;
		snprintf(out->file, sizeof out->file, "%s", file);
	}
}

bool sass_ask_counts(const struct sass_ask *s)
{
	return s->counts || s->launch;
}

bool sass_find(struct cli *c, const struct sass_ask *s, unsigned n, char **args,
               struct sass_code *out, struct err *err)
{
	struct text listing = { 0 };
	const struct sigaction end = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };
	sigaction(SIGINT, &end, NULL);
	bool good = find_subject(c, s, n, args, out, err);
	sigaction(SIGINT, &end, NULL); /* a run has its own */
	good = good && disassemble(out->cubin.s, out->cubin.len, &interrupted, &listing, err) &&
	       sass_read(&out->module, out->cubin.s, out->cubin.len, listing.s, listing.len, err) &&
	       known_function(&out->module, out->only, err);
	if (good && n && is_named_so(args[0], ".cubin"))
		find_source(args[0], out);
	out->show = (struct sass_show){
		.module = &out->module,
		.source = out->source,
		.source_file = out->source ? out->file : NULL,
		.max_registers = (unsigned)s->max_registers,
		.counts = &out->counts,
	};
	text_free(&listing);
	return good;
}

void sass_drop(struct sass_code *code)
{
	sass_free(&code->module);
	run_counts_free(&code->counts.counts);
	text_free(&code->cubin);
	free(code->source);
}
