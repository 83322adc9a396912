/* Words to a program that is built and run; see program_words.h. */
#include "program_words.h"
#include "program_file.h"

#include "base/file.h"
#include "base/mem.h"
#include "compile/program_build.h"
#include "compile/program_repair.h"
#include "userkernel/user_source.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SOURCE_BYTES ((size_t)16 << 20)

static bool is_executable(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Made to be run here, whether or not it may be: no object file, and no machine code of a GPU. */
static bool is_elf(const char *path)
{
	struct stat st;
	Elf64_Ehdr head;
	FILE *f = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
	if (!f)
		return false;
	const bool is = fread(&head, sizeof head, 1, f) == 1 &&
	                !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
	                (head.e_type == ET_EXEC || head.e_type == ET_DYN) && head.e_machine != EM_CUDA;
	fclose(f);
	return is;
}

static bool has_main(const char *path)
{
	struct text text = { 0 };
	const bool ok =
		file_read(path, MAX_SOURCE_BYTES, &text, NULL) && text.s && user_source_has_main(text.s);
	text_free(&text);
	return ok;
}

bool program_words_begin(const char *word)
{
	if (program_is_source(word))
		return has_main(word);
	if (program_file_is(word))
		return true;
	return strchr(word, '/') && (is_executable(word) || is_elf(word));
}

static char *join(unsigned n, char *const *args)
{
	struct text t = { 0 };
	for (unsigned i = 0; i < n; i++)
		text_add(&t, "%s%s", i ? " " : "", args[i]);
	return t.s ? t.s : mem_strdup("");
}

static char **copy_list(unsigned n, char *const *list)
{
	char **out = mem_calloc(n + 1u, sizeof *out);
	for (unsigned i = 0; i < n; i++)
		out[i] = mem_strdup(list[i]);
	return out;
}

bool program_words_parse(unsigned n, char *const *args, struct program_words *out)
{
	unsigned words = 0;
	*out = (struct program_words){ 0 };
	while (words < n && strcmp(args[words], "--") != 0) {
		out->is_source |= program_is_source(args[words]);
		words++;
	}
	if (!words)
		return false;
	const unsigned rest = words < n ? words + 1 : n;
	out->command = join(n, args);
	out->words = copy_list(out->is_source ? words : 1, args);
	out->n = out->is_source ? words : 0;
	out->recorded = n == 1 && !out->is_source && program_file_is(args[0]);
	/* argv[0], and where nothing is compiled the words behind it */
	char **argv = mem_calloc(n + 2u, sizeof *argv);
	unsigned k = 1;
	argv[0] = args[0];
	for (unsigned i = 1; i < words && !out->is_source; i++)
		argv[k++] = args[i];
	for (unsigned i = rest; i < n; i++)
		argv[k++] = args[i];
	out->arguments = copy_list(k, argv);
	free(argv);
	return true;
}

static void free_list(char **list)
{
	for (unsigned i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

static unsigned list_length(char *const *list)
{
	unsigned n = 0;
	while (list[n])
		n++;
	return n;
}

static bool want_path(struct err *err)
{
	return err_remedy(err, "give the path of a source with a main(), or of an executable: "
	                       "prog.cu, ./a.out");
}

bool program_words_no_folder(const char *word, struct err *err)
{
	struct stat st;
	if (stat(word, &st) != 0 || !S_ISDIR(st.st_mode))
		return true;
	err_set(err, ERR_USAGE, "'%s' is a folder", word);
	return want_path(err);
}

/* Without a source the first word is the executable, which is no folder and no option. */
static bool names_executable(unsigned n, char *const *args, struct err *err)
{
	for (unsigned i = 0; i < n && (!i || args[0][0] == '-') && strcmp(args[i], "--") != 0; i++)
		if (!program_words_no_folder(args[i], err))
			return false;
	if (is_elf(args[0]) && !is_executable(args[0])) {
		err_set(err, ERR_USAGE, "'%s' may not be run: it has no permission for that", args[0]);
		return err_remedy(err, "chmod +x %s", args[0]);
	}
	if (access(args[0], F_OK) == 0)
		return true;
	err_set(err, ERR_USAGE,
	        args[0][0] == '-' ? "'%s' is an option, and no program is named"
	                          : "there is no file '%s'",
	        args[0]);
	return want_path(err);
}

bool program_words_are_there(const struct program_words *w, unsigned n, char *const *args,
                             struct err *err)
{
	const char *file;
	if (!w->is_source)
		return names_executable(n, args, err);
	for (unsigned i = 0; (file = program_words_file(w, i)); i++) {
		if (access(file, F_OK) != 0) {
			err_set(err, ERR_USAGE, "there is no file '%s'", file);
			return want_path(err);
		}
		if (!program_words_no_folder(file, err))
			return false;
	}
	return true;
}

void program_words_copy(struct program_words *to, const struct program_words *from)
{
	*to = (struct program_words){
		.is_source = from->is_source,
		.recorded = from->recorded,
		.n = from->n,
		.words = copy_list(list_length(from->words), from->words),
		.arguments = copy_list(list_length(from->arguments), from->arguments),
		.command = mem_strdup(from->command),
	};
}

void program_words_free(struct program_words *w)
{
	free_list(w->words);
	free_list(w->arguments);
	free(w->command);
	*w = (struct program_words){ 0 };
}

const char *program_words_file(const struct program_words *w, unsigned i)
{
	if (!w->is_source)
		return i ? NULL : w->arguments[0];
	for (unsigned k = 0; k < w->n; k++)
		if (program_is_source(w->words[k]) && !i--)
			return w->words[k];
	return NULL;
}

void program_words_name(const struct program_words *w, char *out, size_t n)
{
	const char *path = program_words_file(w, 0), *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
	const size_t length = w->is_source && dot && dot > name ? (size_t)(dot - name) : strlen(name);
	snprintf(out, n, "%.*s", (int)length, name);
}

/* 90 of "arch=compute_90,code=sm_90a": the highest in @word; 0 = none. */
static unsigned architecture_in(const char *word)
{
	unsigned highest = 0;
	for (const char *at = word; (at = strchr(at, '_')); at++) {
		const bool named = (at - word >= 2 && !strncmp(at - 2, "sm", 2)) ||
		                   (at - word >= 7 && !strncmp(at - 7, "compute", 7));
		const unsigned number = named ? (unsigned)strtoul(at + 1, NULL, 10) : 0;
		highest = number > highest ? number : highest;
	}
	return highest;
}

/* The highest architecture that nvcc's words name; 0 = none. */
static unsigned architecture_named(const struct program_words *w)
{
	unsigned highest = 0;
	for (unsigned i = 0; i < w->n; i++) {
		/* "-arch=sm_90", or "-arch sm_90" */
		const bool option =
			w->words[i][0] == '-' ||
			(i && !strchr(w->words[i - 1], '=') &&
		     (strstr(w->words[i - 1], "-arch") || strstr(w->words[i - 1], "-gencode") ||
		      strstr(w->words[i - 1], "architecture") || strstr(w->words[i - 1], "generate-code")));
		const unsigned named = option ? architecture_in(w->words[i]) : 0;
		highest = named > highest ? named : highest;
	}
	return highest;
}

/* The first sheet of architecture @cc where @usual is too old for it, if there is one. */
static const struct gpu_spec *sheet_for(unsigned cc, const struct gpu_spec *usual)
{
	if (cc <= (unsigned)(usual->cc_major * 10 + usual->cc_minor))
		return usual;
	for (size_t i = 0; i < gpu_count(); i++) {
		const struct gpu_spec *g = gpu_at(i);
		if ((unsigned)(g->cc_major * 10 + g->cc_minor) == cc)
			return g;
	}
	return usual;
}

const struct gpu_spec *program_words_gpu(const struct program_words *w,
                                         const struct gpu_spec *usual)
{
	return sheet_for(architecture_named(w), usual);
}

/* A file has figures of one GPU. */
static bool read_run(const struct program_job *job, struct program *out, struct err *err)
{
	const char *path = job->words->arguments[0];
	if (!program_file_read(path, out, err))
		return false;
	if (job->newer || job->gpu == out->gpu)
		return true;
	err_set(err, ERR_USAGE, "%s has the figures of %s", path, out->gpu->name);
	err_remedy(err, "the program itself runs for another GPU: pmpp-explore %.300s --gpu %s",
	           out->command, job->gpu->id);
	program_free(out);
	return false;
}

bool program_job_run(const struct program_job *job, struct program *out, struct err *err)
{
	const struct program_words *w = job->words;
	char built[4400];
	unsigned repairs = 0;
	const char *path = w->arguments[0];
	const struct gpu_spec *gpu = job->gpu;
	memset(out, 0, sizeof *out);
	if (w->recorded)
		return read_run(job, out, err);
	if (w->is_source) {
		const struct program_source source = { .n_words = w->n,
			                                   .words = w->words,
			                                   .cc_major = job->gpu->cc_major,
			                                   .cc_minor = job->gpu->cc_minor,
			                                   .newer = job->newer && !architecture_named(w),
			                                   .cancel = job->cancel };
		if (!program_build(&source, built, sizeof built, &repairs, err))
			return false;
		path = built;
		if (repairs >> PROGRAM_REPAIR_NEWER & 1)
			gpu = sheet_for(PROGRAM_NEWER_CC, gpu);
	} else if (job->newer && !job->measured) {
		gpu = sheet_for(program_least_cc(path), gpu);
	}
	if (job->built)
		job->built(job->ctx);
	const struct program_request req = {
		.path = path,
		.arguments = w->arguments,
		.gpu = gpu,
		.measured = job->measured,
		.config = job->config,
		.catch_output = job->catch_output,
		.no_input = job->no_input,
		.cancel = job->cancel,
		.timeout_s = job->timeout_s,
		.progress = job->progress,
		.ctx = job->ctx,
	};
	const bool ok = program_run(&req, out, err);
	for (unsigned r = 0; out->path && r < PROGRAM_REPAIR_COUNT; r++)
		if (repairs >> r & 1)
			program_note(out, "built", program_repair_note((enum program_repair)r));
	if (out->path && !w->is_source && gpu != job->gpu)
		program_note(out, "newer-gpu",
		             "the executable holds no code for the usual GPU: run for the first that it "
		             "holds code for; --gpu names another");
	return ok;
}
