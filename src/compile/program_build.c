/* Programs by nvcc; see program_build.h. */
#include "compile/program_build.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/tool.h"
#include "compile/compile.h"
#include "compile/module_store.h"
#include "compile/nvcc.h"
#include "compile/program_repair.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADERS "include" /* in the program's folder: those of repairs */
#define MAX_DEPENDENCIES ((size_t)4 << 20)

bool program_is_source(const char *word)
{
	static const char *const endings[] = { ".cu", ".cpp", ".cc", ".cxx", ".c", ".o", ".a" };
	const char *dot = strrchr(word, '.');
	for (size_t i = 0; dot && word[0] != '-' && i < ARRAY_LEN(endings); i++)
		if (!strcasecmp(dot, endings[i]))
			return true;
	return false;
}

/* --- the command --- */

/* Code for the chosen GPU is built beside what the person names, but instead of it where that is
 * for this GPU alone: "a" of sm_90a, "f" of sm_100f; "" = it is not. Such code has instructions
 * that compute_90 does not compile, and nvcc 13 makes compute_90 of -arch=sm_90a, too. */
static const char *variant_of(const struct program_source *s, int cc)
{
	char accelerated[16], family[16];
	snprintf(accelerated, sizeof accelerated, "_%da", cc);
	snprintf(family, sizeof family, "_%df", cc);
	for (unsigned i = 0; i < s->n_words; i++)
		if (strstr(s->words[i], accelerated))
			return "a";
		else if (strstr(s->words[i], family))
			return "f";
	return "";
}

static void make_command(struct nvcc_command *c, const struct program_source *s, unsigned repairs,
                         const char *nvcc, const char *folder)
{
	const bool newer = repairs >> PROGRAM_REPAIR_NEWER & 1;
	const int cc = newer ? PROGRAM_NEWER_CC : s->cc_major * 10 + s->cc_minor;
	char headers[4300];
	nvcc_word(c, "%s", nvcc);
	nvcc_word(c, "-cudart=shared");
	nvcc_word(c, "-lineinfo");
	nvcc_word(c, "-g");
	const char *v = newer ? "a" : variant_of(s, cc);
	nvcc_word(c, "-gencode=arch=compute_%d%s,code=[sm_%d%s,compute_%d%s]", cc, v, cc, v, cc, v);
	if (v[0])
		repairs |= 1u << PROGRAM_REPAIR_ARCHITECTURE; /* leaves out what names it */
	snprintf(headers, sizeof headers, "%s/" HEADERS, folder);
	program_repair_words(repairs, headers, c);
	for (unsigned i = 0; i < s->n_words;) {
		const unsigned left_out = program_repair_drops(repairs, s->n_words - i, s->words + i);
		if (!left_out)
			nvcc_word(c, "%s", s->words[i]);
		i += left_out ? left_out : 1;
	}
	nvcc_word(c, "-o");
	nvcc_word(c, "%s/program", folder);
	c->word[c->n] = NULL;
}

/* --- what went into it --- */

static bool dependencies(const struct nvcc_command *build, const atomic_bool *cancel,
                         struct text *rule, struct err *err)
{
	struct nvcc_command c = { 0 };
	for (unsigned i = 0; i + 2 < build->n; i++) { /* without -o and its file */
		const char *w = build->word[i];
		const char *dot = strrchr(w, '.');
		if (dot && i && w[0] != '-' && (!strcmp(dot, ".o") || !strcmp(dot, ".a")))
			continue;
		nvcc_word(&c, "%s", w);
		if (!i)
			nvcc_word(&c, "-M");
	}
	c.word[c.n] = NULL;
	const struct tool_request req = { .path = c.word[0],
		                              .argv = (const char *const *)c.word,
		                              .fd = -1,
		                              .limit_s = 120,
		                              .max_bytes = MAX_DEPENDENCIES,
		                              .cancel = cancel };
	const bool ok = tool_run(&req, rule, err);
	nvcc_free(&c);
	return ok;
}

/* --- the cache --- */

/* @out: its folder, nobody else's; @name: the same within the cache's. */
static bool program_folder(const struct program_source *s, const char *nvcc, char name[40],
                           char *out, size_t n, struct err *err)
{
	char cwd[4096], note[512];
	uint64_t hash = hash_bytes(HASH_SEED, nvcc, strlen(nvcc));
	const int cc[] = { s->cc_major, s->cc_minor, s->newer };
	hash = hash_bytes(hash, cc, sizeof cc);
	if (getcwd(cwd, sizeof cwd))
		hash = hash_bytes(hash, cwd, strlen(cwd));
	for (unsigned i = 0; i < s->n_words; i++)
		hash = hash_bytes(hash, s->words[i], strlen(s->words[i]) + 1);
	snprintf(name, 40, "programs/%016" PRIx64, hash);
	if (store_folder("programs", out, n) && store_folder(name, out, n))
		return true;
	store_note(note, sizeof note);
	return err_set(err, ERR_IO, "programs are built in the cache folder: %s", note);
}

/* The executable of an earlier build, if it is ours alone and every file that went into it is as it
 * was. */
static bool is_fresh(const char *name)
{
	char inputs[64], program[64];
	struct text kept = { 0 };
	snprintf(inputs, sizeof inputs, "%s/inputs", name);
	snprintf(program, sizeof program, "%s/program", name);
	bool fresh = false;
	if (store_has(program) && store_find(inputs, MAX_DEPENDENCIES, &kept) && kept.s) {
		char *rule = NULL;
		const uint64_t hash = strtoull(kept.s, &rule, 16);
		fresh = hash && rule && nvcc_inputs_hash(rule) == hash;
	}
	text_free(&kept);
	return fresh;
}

static void remember_inputs(const struct nvcc_command *c, const char *folder,
                            const atomic_bool *cancel)
{
	char path[4300];
	struct text rule = { 0 }, all = { 0 };
	if (dependencies(c, cancel, &rule, NULL) && rule.s) {
		text_add(&all, "%016" PRIx64 "\n%s", nvcc_inputs_hash(rule.s), rule.s);
		snprintf(path, sizeof path, "%s/inputs", folder);
		file_replace(path, all.s, all.len, NULL);
	}
	text_free(&rule);
	text_free(&all);
}

/* --- all of it --- */

/* The header of "x.cu:1:10: fatal error: x.h: No such file or directory"; "" = none is missing. */
static void missing_header(const char *messages, char *out, size_t n)
{
	const char *end = strstr(messages, ": No such file or directory"), *at = end;
	while (at && at > messages && at[-1] != ' ' && at[-1] != '\n')
		at--;
	snprintf(out, n, "%.*s", (int)(end - at), at ? at : "");
}

/* The library of the linker's "cannot find -lx: ..."; "" = none is missing. */
static void missing_library(const char *messages, char *out, size_t n)
{
	static const char before[] = "cannot find -l";
	const char *at = strstr(messages, before);
	at = at ? at + strlen(before) : "";
	snprintf(out, n, "%.*s", (int)strcspn(at, ": \n"), at);
}

/* The library of NVIDIA's that has what the linker misses, as "undefined reference to `cublas...'"
 * tells; NULL = none of these. */
static const char *library_not_given(const char *messages)
{
	static const char *const libraries[] = { "cublas", "curand", "cufft", "cusparse", "cusolver",
		                                     "nvjpeg", "nvml",   "cudnn", "nccl" };
	for (size_t i = 0; i < ARRAY_LEN(libraries); i++) {
		char missed[60];
		snprintf(missed, sizeof missed, "undefined reference to `%s", libraries[i]);
		if (strstr(messages, missed))
			return libraries[i];
	}
	return NULL;
}

/* What nvcc wrote, and what helps where a header or a library was not found. */
static void refuse(const char *messages, struct err *err)
{
	char header[200], library[100];
	missing_header(messages, header, sizeof header);
	missing_library(messages, library, sizeof library);
	err_set(err, ERR_COMPILE, "nvcc does not compile this:\n%.1900s", messages);
	if (strstr(messages, "\"cudaDeviceSynchronize") && strstr(messages, "from a __global__"))
		err_remedy(err, "since CUDA 12 a kernel cannot wait for kernels that it launches: launch "
		                "what follows them with <<<grid, block, 0, cudaStreamTailLaunch>>>");
	else if (program_repairs_for(messages) >> PROGRAM_REPAIR_NEWER & 1)
		err_remedy(
			err,
			"the chosen GPU does not run this: choose a newer one, --gpu h100 or -arch=sm_90a");
	else if (library[0])
		err_remedy(err, "give the folder of lib%s with -L", library);
	else if (library_not_given(messages))
		err_remedy(err, "give -l%s; it holds machine code, and runs only on a GPU: --backend cuda",
		           library_not_given(messages));
	else if (!strncmp(header, "helper_", 7))
		err_remedy(err,
		           "%s belongs to NVIDIA's CUDA samples: give the folder with its headers, "
		           "-I/path/to/cuda-samples/Common (common/inc in older ones)",
		           header);
	else if (header[0])
		err_remedy(err, "give the folder of %s with -I", header);
	else if (strstr(messages, "undefined reference to `main'"))
		err_remedy(err, "no source has a main(): give the one that has, too; a kernel alone is run "
		                "by 'pmpp-explore run FILE.cu'");
	else if (strstr(messages, "ndefined reference to"))
		err_remedy(err, "give the program's other sources too, 'main.cu kernels.cu', or the "
		                "library that has it, -lNAME");
}

/* Compiles with @repairs, and with more of them as long as nvcc's messages ask for others. */
static bool compile_program(const struct program_source *source, unsigned *repairs,
                            const char *nvcc, const char *folder, struct err *err)
{
	char headers[4300];
	snprintf(headers, sizeof headers, "%s/" HEADERS, folder);
	for (;;) {
		struct nvcc_command c = { 0 };
		struct text messages = { 0 };
		struct err why = { 0 };
		if (*repairs && !program_repair_headers(headers, err))
			return false;
		make_command(&c, source, *repairs, nvcc, folder);
		const bool ok = nvcc_run(&c, source->cancel, &messages, &why);
		const bool refused = !ok && why.code == ERR_UNAVAILABLE && messages.s;
		const unsigned known = *repairs | (source->newer ? 0 : 1u << PROGRAM_REPAIR_NEWER);
		const unsigned more = refused ? program_repairs_for(messages.s) & ~known : 0;
		if (ok)
			remember_inputs(&c, folder, source->cancel);
		else if (refused && !more)
			refuse(messages.s, err);
		else if (!refused && err)
			*err = why;
		nvcc_free(&c);
		text_free(&messages);
		if (!more)
			return ok;
		*repairs |= more;
	}
}

/* The repairs that the last build of this program needed are in a file beside it. */
static unsigned read_repairs(const char *folder)
{
	char path[4300];
	struct text kept = { 0 };
	snprintf(path, sizeof path, "%s/repairs", folder);
	const unsigned repairs =
		file_read(path, 64, &kept, NULL) && kept.s ? (unsigned)strtoul(kept.s, NULL, 16) : 0;
	text_free(&kept);
	return repairs & ((1u << PROGRAM_REPAIR_COUNT) - 1);
}

static bool write_repairs(const char *folder, unsigned repairs, struct err *err)
{
	char path[4300], text[16];
	snprintf(path, sizeof path, "%s/repairs", folder);
	const int n = snprintf(text, sizeof text, "%x\n", repairs);
	return file_replace(path, text, (size_t)n, err);
}

/* Options that end before linking leave something else, or nothing, in its place. */
static bool is_executable(const char *path, struct err *err)
{
	if (access(path, X_OK) == 0)
		return true;
	err_set(err, ERR_USAGE, "nvcc made no program with these options");
	return err_remedy(err, "leave out those that end before linking: -c, -dc, -ptx, -cubin, "
	                       "-fatbin, -lib, -E, -M, -dryrun");
}

bool program_build(const struct program_source *source, char *path, size_t n, unsigned *repairs,
                   struct err *err)
{
	char nvcc[4096], folder[4200], name[40];
	if (source->n_words > NVCC_MAX_WORDS)
		return err_set(err, ERR_USAGE, "%u words for the compiler; at most %d are possible",
		               source->n_words, NVCC_MAX_WORDS);
	if (!cuda_tool("nvcc", nvcc, sizeof nvcc, err)) {
		err_prefix(err, "whole programs are compiled by nvcc: ");
		return err_remedy(err,
		                  "run 'make programs-compiler' where pmpp-explore was built (100 MB of "
		                  "NVIDIA's wheels; it needs g++ too), or install the CUDA Toolkit");
	}
	if (!program_folder(source, nvcc, name, folder, sizeof folder, err))
		return false;
	snprintf(path, n, "%s/program", folder);
	*repairs = read_repairs(folder);
	if (is_fresh(name))
		return is_executable(path, err);
	unlink(path); /* the linker would write through a link */
	return compile_program(source, repairs, nvcc, folder, err) && is_executable(path, err) &&
	       write_repairs(folder, *repairs, err);
}
