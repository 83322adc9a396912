/* What helps a program that nvcc refuses; see program_repair.h. */
#include "compile/program_repair.h"

#include "compile/nvcc.h"

#include "base/asset.h"
#include "base/file.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define HEADERS "src/compile/nvcc/"

/* What nvcc, its host compiler or the linker writes when a repair helps. */
static const struct {
	enum program_repair repair;
	const char *message;
} symptoms[] = {
	{ PROGRAM_REPAIR_NAMES, "class \"cudaDeviceProp\" has no member" },
	{ PROGRAM_REPAIR_NAMES, "cudaDeviceProp’ has no member named" },
	{ PROGRAM_REPAIR_NAMES, "to \"cudaMemLocation\"" },
	{ PROGRAM_REPAIR_NAMES, "‘cudaMemLocation’" },
	{ PROGRAM_REPAIR_NAMES, "identifier \"cudaThread" },
	{ PROGRAM_REPAIR_NAMES, "‘cudaThread" },
	{ PROGRAM_REPAIR_NAMES, "identifier \"__shfl" },
	{ PROGRAM_REPAIR_NAMES, "cudaGraphEdgeData *" },
	{ PROGRAM_REPAIR_NAMES, "cudaGraphEdgeData*" },
	{ PROGRAM_REPAIR_NAMES, "identifier \"cudaGraph" },
	{ PROGRAM_REPAIR_NAMES, "identifier \"cudaStream" },
	{ PROGRAM_REPAIR_NAMES, "‘cudaGraph" },
	{ PROGRAM_REPAIR_NAMES, "‘cudaStream" },
	{ PROGRAM_REPAIR_NAMES, "in call to \"cudaGraph" },
	{ PROGRAM_REPAIR_NAMES, "nvToolsExt.h: No such file" },
	{ PROGRAM_REPAIR_PROFILER, "cuda_profiler_api.h: No such file" },
	{ PROGRAM_REPAIR_TEXTURES, "texture is not a template" },
	{ PROGRAM_REPAIR_TEXTURES, "identifier \"cudaBindTexture" },
	{ PROGRAM_REPAIR_TEXTURES, "texture_types.h: No such file" },
	{ PROGRAM_REPAIR_TEXTURES, "texture_fetch_functions.h: No such file" },
	{ PROGRAM_REPAIR_SURFACES, "surface is not a template" },
	{ PROGRAM_REPAIR_SURFACES, "identifier \"cudaBindSurface" },
	{ PROGRAM_REPAIR_SURFACES, "surface_types.h: No such file" },
	{ PROGRAM_REPAIR_SURFACES, "surface_functions.h: No such file" },
	{ PROGRAM_REPAIR_OWN_SUM, "\"atomicAdd(double *, double)\" has already been defined" },
	{ PROGRAM_REPAIR_NAMES, "_atomic_functions.h: No such file" },
	{ PROGRAM_REPAIR_NAMES, "sm_13_double_functions.h: No such file" },
	{ PROGRAM_REPAIR_VOTES, "Instruction 'vote' without '.sync'" },
	{ PROGRAM_REPAIR_LIBRARIES, "namespace \"thrust\" has no member" },
	{ PROGRAM_REPAIR_LIBRARIES, "namespace \"cub\" has no member" },
	{ PROGRAM_REPAIR_LIBRARIES, "_input_iterator.cuh: No such file" },
	{ PROGRAM_REPAIR_LIBRARIES, "_output_iterator.cuh: No such file" },
	{ PROGRAM_REPAIR_LIBRARIES, "pinned_allocator.h: No such file" },
	{ PROGRAM_REPAIR_DRIVER, "cuCtxCreate_v4" },
	{ PROGRAM_REPAIR_STANDARD, "requires at least C++17" },
	{ PROGRAM_REPAIR_STANDARD, "requires at least C++ 17" },
	{ PROGRAM_REPAIR_ARCHITECTURE, "Unsupported gpu architecture" },
	{ PROGRAM_REPAIR_ARCHITECTURE, "is not defined for option 'gpu-" },
	{ PROGRAM_REPAIR_NEWER, "not supported for this GPU architecture" },
	{ PROGRAM_REPAIR_NEWER, "not supported on .target 'sm_" },
	{ PROGRAM_REPAIR_NEWER, "requires .target sm_8" },
	{ PROGRAM_REPAIR_NEWER, "requires .target sm_9" },
	{ PROGRAM_REPAIR_NEWER, "is_not_supported_before_SM_" },
	{ PROGRAM_REPAIR_NEWER, "\"this_cluster\"" },
	{ PROGRAM_REPAIR_NEWER, "\"cluster_group\"" },
	{ PROGRAM_REPAIR_NEWER, "has no member \"cluster_" },
	{ PROGRAM_REPAIR_NEWER, "has no member \"cp_async_bulk" },
	{ PROGRAM_REPAIR_NEWER, "has no member \"barrier_arrive_tx\"" },
	{ PROGRAM_REPAIR_NVTX, "cannot find -lnvToolsExt" },
	{ PROGRAM_REPAIR_RELOCATABLE, "requires separate compilation mode" },
	{ PROGRAM_REPAIR_RELOCATABLE, "Unresolved extern " }, /* function, variable */
	{ PROGRAM_REPAIR_SAMPLES, "helper_cuda.h: No such file" },
	{ PROGRAM_REPAIR_SAMPLES, "helper_functions.h: No such file" },
	{ PROGRAM_REPAIR_SAMPLES, "helper_image.h: No such file" },
	{ PROGRAM_REPAIR_SAMPLES, "helper_math.h: No such file" },
	{ PROGRAM_REPAIR_SAMPLES, "helper_string.h: No such file" },
	{ PROGRAM_REPAIR_SAMPLES, "helper_timer.h: No such file" },
	{ PROGRAM_REPAIR_LAMBDAS, "requires --extended-lambda" },
	{ PROGRAM_REPAIR_CONSTEXPR, "'--expt-relaxed-constexpr' can be used" },
	{ PROGRAM_REPAIR_STANDARD_20, "namespace \"std\" has no member" },
	{ PROGRAM_REPAIR_STANDARD_20, "is not a member of ‘std’" },
	{ PROGRAM_REPAIR_STANDARD_20, "name must be a namespace name" }, /* std::ranges */
	{ PROGRAM_REPAIR_STANDARD_20, "identifier \"concept\"" },
	{ PROGRAM_REPAIR_STANDARD_20, "identifier \"requires\"" },
	{ PROGRAM_REPAIR_STANDARD_20, "identifier \"consteval\"" },
	{ PROGRAM_REPAIR_STANDARD_20, "identifier \"constinit\"" },
	{ PROGRAM_REPAIR_STANDARD_20, "requires at least C++20" },
	{ PROGRAM_REPAIR_OPENMP, "undefined reference to `omp_" },
	{ PROGRAM_REPAIR_CALLS_DRIVER, "undefined reference to `cuInit'" },
	{ PROGRAM_REPAIR_CALLS_DRIVER, "undefined reference to `cuGet" },
	{ PROGRAM_REPAIR_CALLS_DRIVER, "undefined reference to `cuDevice" },
	{ PROGRAM_REPAIR_CALLS_DRIVER, "undefined reference to `cuCtx" },
	{ PROGRAM_REPAIR_CALLS_DRIVER, "undefined reference to `cuM" }, /* cuMem..., cuModule... */
	{ PROGRAM_REPAIR_CALLS_DRIVER, "undefined reference to `cuLaunch" },
	{ PROGRAM_REPAIR_CALLS_DRIVER, "undefined reference to `cuTensorMap" },
	{ PROGRAM_REPAIR_CALLS_NVRTC, "undefined reference to `nvrtc" },
};

static const char *const notes[] = {
#define X(id, note) note,
	PROGRAM_REPAIRS(X)
#undef X
};

unsigned program_repairs_for(const char *messages)
{
	unsigned repairs = 0;
	for (size_t i = 0; i < ARRAY_LEN(symptoms); i++)
		if (strstr(messages, symptoms[i].message))
			repairs |= 1u << symptoms[i].repair;
	return repairs;
}

const char *program_repair_note(enum program_repair r)
{
	return notes[r];
}

/* Words that are left out, as "-o x", "-o=x"; those of `when`: with this repair only. */
static const struct {
	const char *word;
	bool always;
	enum program_repair when;
} dropped[] = {
	{ "-o", true, 0 },
	{ "--output-file", true, 0 },
	{ "-cudart", true, 0 },
	{ "--cudart", true, 0 },
	{ "-arch", false, PROGRAM_REPAIR_ARCHITECTURE },
	{ "--gpu-architecture", false, PROGRAM_REPAIR_ARCHITECTURE },
	{ "-code", false, PROGRAM_REPAIR_ARCHITECTURE },
	{ "--gpu-code", false, PROGRAM_REPAIR_ARCHITECTURE },
	{ "-gencode", false, PROGRAM_REPAIR_ARCHITECTURE },
	{ "--generate-code", false, PROGRAM_REPAIR_ARCHITECTURE },
	{ "-std", false, PROGRAM_REPAIR_STANDARD },
	{ "--std", false, PROGRAM_REPAIR_STANDARD },
	{ "-std", false, PROGRAM_REPAIR_STANDARD_20 },
	{ "--std", false, PROGRAM_REPAIR_STANDARD_20 },
};

unsigned program_repair_drops(unsigned repairs, unsigned n, char *const *words)
{
	if (!n)
		return 0;
	if (repairs >> PROGRAM_REPAIR_NVTX & 1 && !strcmp(words[0], "-lnvToolsExt"))
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(dropped); i++) {
		const size_t length = strlen(dropped[i].word);
		if ((!dropped[i].always && !(repairs >> dropped[i].when & 1)) ||
		    strncmp(words[0], dropped[i].word, length) != 0)
			continue;
		if (words[0][length] == '=')
			return 1;
		if (!words[0][length])
			return n > 1 ? 2 : 1;
	}
	return 0;
}

/* Headers that are gone: what they had is in one that is included in front of the program. */
static const char *const emptied[] = {
	"cub/iterator/constant_input_iterator.cuh",
	"cub/iterator/counting_input_iterator.cuh",
	"cub/iterator/discard_output_iterator.cuh",
	"cub/iterator/transform_input_iterator.cuh",
	"cuda_surface_types.h",
	"cuda_texture_types.h",
	"sm_11_atomic_functions.h",
	"sm_12_atomic_functions.h",
	"sm_13_double_functions.h",
	"surface_functions.h",
	"texture_fetch_functions.h",
	"thrust/system/cuda/experimental/pinned_allocator.h",
};

static bool write_header(const char *folder, const char *name, const void *data, size_t n,
                         struct err *err)
{
	char path[4400];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	char *slash = strrchr(path, '/');
	*slash = '\0';
	if (!folder_make(path))
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	*slash = '/';
	return file_replace(path, data, n, err);
}

bool program_repair_headers(const char *folder, struct err *err)
{
	for (size_t i = 0; i < asset_count(); i++) {
		const struct asset *a = asset_at(i);
		if (!strncmp(a->path, HEADERS, strlen(HEADERS)) &&
		    !write_header(folder, a->path + strlen(HEADERS), a->data, a->len, err))
			return false;
	}
	for (size_t i = 0; i < ARRAY_LEN(emptied); i++)
		if (!write_header(folder, emptied[i], "", 0, err))
			return false;
	return true;
}

/* Parts of the header that are there only where they are needed. */
static const struct {
	enum program_repair repair;
	const char *macro;
} parts[] = {
	{ PROGRAM_REPAIR_TEXTURES, "PMPP_TEXTURE_REFERENCES" },
	{ PROGRAM_REPAIR_SURFACES, "PMPP_SURFACE_REFERENCES" },
	{ PROGRAM_REPAIR_OWN_SUM, "PMPP_OWN_ATOMIC_ADD" },
	{ PROGRAM_REPAIR_VOTES, "PMPP_VOTES" },
	{ PROGRAM_REPAIR_LIBRARIES, "PMPP_EARLIER_LIBRARIES" },
	{ PROGRAM_REPAIR_DRIVER, "PMPP_EARLIER_DRIVER" },
};

/* Options as a makefile gives them. */
static const struct {
	enum program_repair repair;
	const char *word;
} options[] = {
	{ PROGRAM_REPAIR_RELOCATABLE, "-rdc=true" },
	{ PROGRAM_REPAIR_LAMBDAS, "--extended-lambda" },
	{ PROGRAM_REPAIR_CONSTEXPR, "--expt-relaxed-constexpr" },
	{ PROGRAM_REPAIR_STANDARD_20, "-std=c++20" },
	{ PROGRAM_REPAIR_OPENMP, "-Xcompiler=-fopenmp" },
	{ PROGRAM_REPAIR_CALLS_DRIVER, "-lcuda" },
	{ PROGRAM_REPAIR_CALLS_NVRTC, "-lnvrtc" },
};

void program_repair_words(unsigned repairs, const char *headers, struct nvcc_command *c)
{
	const bool newest = repairs >> PROGRAM_REPAIR_STANDARD_20 & 1;
	bool includes = repairs >> PROGRAM_REPAIR_NAMES & 1;
	if (repairs >> PROGRAM_REPAIR_STANDARD & 1 && !newest)
		nvcc_word(c, "-std=c++17");
	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		if (repairs >> options[i].repair & 1)
			nvcc_word(c, "%s", options[i].word);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (repairs >> parts[i].repair & 1) {
			nvcc_word(c, "-D%s", parts[i].macro);
			includes = true;
		}
	if (includes || repairs & (1u << PROGRAM_REPAIR_PROFILER | 1u << PROGRAM_REPAIR_SAMPLES))
		nvcc_word(c, "-I%s", headers);
	if (!includes)
		return;
	nvcc_word(c, "-include");
	nvcc_word(c, "%s/earlier_cuda.h", headers);
}
