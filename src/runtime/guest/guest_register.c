/*
 * What nvcc's start-up code registers before main(): fat binaries, kernels, variables. Nothing is
 * parsed here; a module is loaded when something in it is used first.
 */
#include "runtime/guest/guest.h"
#include "runtime/guest/guest_record.h"

#include "base/mem.h"
#include "ptx/join.h"
#include "runtime/fatbin.h"
#include "sass/cubin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* crt/host_runtime.h declares these for nvcc's generated code only. */
GUEST_API void **CUDARTAPI __cudaRegisterFatBinary(void *wrapper);
GUEST_API void CUDARTAPI __cudaRegisterFatBinaryEnd(void **handle);
GUEST_API void CUDARTAPI __cudaUnregisterFatBinary(void **handle);
GUEST_API void CUDARTAPI __cudaRegisterFunction(void **handle, const char *host, char *device,
                                                const char *name, int thread_limit, void *tid,
                                                void *bid, void *block, void *grid, int *wsize);
GUEST_API void CUDARTAPI __cudaRegisterVar(void **handle, char *host, char *device,
                                           const char *name, int ext, size_t bytes, int constant,
                                           int global);
GUEST_API void CUDARTAPI __cudaRegisterManagedVar(void **handle, void **host, char *device,
                                                  const char *name, int ext, size_t bytes,
                                                  int constant, int global);
GUEST_API void CUDARTAPI __cudaRegisterHostVar(void **handle, const char *name, char *host,
                                               size_t bytes);
GUEST_API cudaError_t CUDARTAPI __cudaGetKernel(cudaKernel_t *kernel, const void *host);

/* --- modules --- */

static struct guest_module *new_module(void)
{
	static unsigned n_modules;
	struct guest_module *m = mem_zalloc(sizeof *m);
	m->id = ++n_modules;
	m->next = guest.modules;
	guest.modules = m;
	return m;
}

static bool is_machine_code(const void *code)
{
	return strncmp(code, "\177ELF", 4) == 0;
}

/* What @code points to: text, a fat binary, or one in its wrapper. False: neither. */
static bool find_code(const void *code, const uint8_t **fatbin, const char **text, struct err *err)
{
	*fatbin = NULL;
	*text = NULL;
	if (fatbin_size(code, 0) > 0) {
		*fatbin = code;
		return true;
	}
	if (is_machine_code(code)) {
		*text = guest_ptx_of_cubin(code);
		if (*text)
			return true;
		err_set(err, ERR_UNSUPPORTED, "the program loads machine code, and only PTX can run here");
		return err_remedy(err, "load PTX, or a fat binary that holds it (nvcc -ptx, nvcc -fatbin "
		                       "-gencode arch=compute_80,code=compute_80, nvrtcGetPTX(), "
		                       "nvJitLinkGetLinkedPtx() of -lto -ptx)");
	}
	if (*(const unsigned char *)code < 0x80) /* a wrapper begins with 0xb1 */
		*text = code;
	else
		*fatbin = fatbin_of_wrapper(code, err);
	return *text || *fatbin;
}

struct guest_module *guest_module_of_code(const void *code, struct err *err)
{
	const uint8_t *fatbin;
	const char *text;
	if (!find_code(code, &fatbin, &text, err))
		return NULL;
	struct guest_module *m = new_module();
	m->fatbin = fatbin;
	m->ptx = text;
	return m;
}

void **CUDARTAPI __cudaRegisterFatBinary(void *wrapper)
{
	struct guest_module *m = new_module();
	struct err err = { 0 };
	m->fatbin = fatbin_of_wrapper(wrapper, &err);
	m->parts = m->fatbin ? fatbin_parts(wrapper) : NULL;
	if (!m->fatbin) {
		m->tried = true;
		m->error = cudaErrorInvalidKernelImage;
		record_problem("device-code", &err);
	}
	return (void **)m;
}

void CUDARTAPI __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

void CUDARTAPI __cudaUnregisterFatBinary(void **handle)
{
	(void)handle; /* at the program's end: its last launches may still be looked at */
}

/* --- functions and variables --- */

static int by_host(const void *a, const void *b)
{
	const struct guest_function *const *x = a, *const *y = b;
	return (x[0]->host > y[0]->host) - (x[0]->host < y[0]->host);
}

static struct guest_function *find_function(const void *host)
{
	size_t low = 0, high = guest.n_functions;
	while (low < high) {
		const size_t mid = (low + high) / 2;
		if (guest.functions[mid]->host == host)
			return guest.functions[mid];
		if ((uintptr_t)guest.functions[mid]->host < (uintptr_t)host)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* @host NULL: a kernel that is known by its handle only. */
static struct guest_function *add_function(struct guest_module *m, const void *host,
                                           const char *name)
{
	if (guest.n_functions == guest.cap_functions) {
		guest.cap_functions = guest.cap_functions ? 2 * guest.cap_functions : 64;
		guest.functions =
			mem_realloc(guest.functions, guest.cap_functions, sizeof *guest.functions);
	}
	struct guest_function *f = mem_zalloc(sizeof *f);
	*f = (struct guest_function){
		.host = host ? host : f,
		.name = mem_strdup(name),
		.module = m,
		.carveout = -1,
	};
	guest.functions[guest.n_functions++] = f;
	qsort(guest.functions, guest.n_functions, sizeof(struct guest_function *), by_host);
	return f;
}

void CUDARTAPI __cudaRegisterFunction(void **handle, const char *host, char *device,
                                      const char *name, int thread_limit, void *tid, void *bid,
                                      void *block, void *grid, int *wsize)
{
	(void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)wsize;
	add_function((struct guest_module *)handle, host, name);
}

static void add_variable(void **handle, const void *host, void **managed, const char *name,
                         size_t bytes, bool constant)
{
	if (guest.n_variables == guest.cap_variables) {
		guest.cap_variables = guest.cap_variables ? 2 * guest.cap_variables : 64;
		guest.variables =
			mem_realloc(guest.variables, guest.cap_variables, sizeof *guest.variables);
	}
	guest.variables[guest.n_variables++] = (struct guest_variable){
		.host = host,
		.name = mem_strdup(name),
		.bytes = bytes,
		.constant = constant,
		.managed = managed,
		.module = (struct guest_module *)handle,
	};
}

void CUDARTAPI __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                                 size_t bytes, int constant, int global)
{
	(void)device, (void)ext, (void)global;
	add_variable(handle, host, NULL, name, bytes, constant != 0);
}

void CUDARTAPI __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                                        int ext, size_t bytes, int constant, int global)
{
	(void)device, (void)ext, (void)global;
	add_variable(handle, host, host, name, bytes, constant != 0);
}

void CUDARTAPI __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes)
{
	add_variable(handle, host, NULL, name, bytes, false);
}

cudaError_t CUDARTAPI __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
	*kernel = (cudaKernel_t)(uintptr_t)host;
	return cudaSuccess;
}

/* --- loading --- */

/* The program reads managed variables through pointers of its own. */
static void point_managed(const struct guest_module *m)
{
	for (size_t i = 0; i < guest.n_variables; i++) {
		const struct guest_variable *v = &guest.variables[i];
		uint64_t address, bytes;
		if (v->module == m && v->managed &&
		    emu_module_variable(m->loaded, v->name, &address, &bytes)) {
			emu_device_host_writes(guest.device, address, true);
			*v->managed = (void *)(uintptr_t)address;
		}
	}
}

static cudaError_t load_text(struct guest_module *m, const char *text, size_t bytes)
{
	struct err err = { 0 };
	char name[32];
	snprintf(name, sizeof name, "module %u", m->id);
	const bool ok = emu_module_load(guest.device, text, name, &m->loaded, &err);
	record_module(m, text, bytes, NULL);
	m->error = ok                         ? cudaSuccess
	           : strstr(text, ".version") ? cudaErrorInvalidPtx
	                                      : cudaErrorInvalidKernelImage; /* no PTX at all */
	if (!ok) {
		snprintf(m->why, sizeof m->why, "%.511s", err.msg);
		return record_problem("device-code", &err), m->error;
	}
	if (guest.config.level != RUN_LEVEL_PTX && !m->machine_code) {
		m->text = mem_strndup(text, bytes);
		m->text_bytes = strlen(m->text);
	}
	point_managed(m);
	return cudaSuccess;
}

/* The PTX of a container for this device; NULL with the reason. @cubin: machine code for it. */
static char *ptx_of(const uint8_t *fatbin, struct fatbin_entry *cubin, struct err *err)
{
	struct fatbin_entry ptx;
	const unsigned cc = (unsigned)(guest.gpu.cc_major * 10 + guest.gpu.cc_minor);
	if (!fatbin_choose(fatbin, 0, cc, &ptx, cubin, err))
		return NULL;
	if (ptx.payload)
		return fatbin_unpack(&ptx, err);
	err_set(err, ERR_UNSUPPORTED, "the program holds machine code for sm_%u%s only, no PTX",
	        cubin->arch, cubin->suffix);
	err_remedy(err, "compile it with nvcc -arch=compute_%u%s", *cubin->suffix ? cubin->arch : cc,
	           cubin->suffix);
	return NULL;
}

char *guest_ptx_of_code(const void *code, struct err *err)
{
	const uint8_t *fatbin;
	const char *text;
	struct fatbin_entry cubin;
	if (!find_code(code, &fatbin, &text, err))
		return NULL;
	return fatbin ? ptx_of(fatbin, &cubin, err) : mem_strdup(text);
}

/* Relocatable code: what the linker made is machine code, but the parts still have their PTX. One
 * without is left out (NVIDIA's own, for launches by kernels): its functions are then missing. */
static char *linked_ptx(const struct guest_module *m, struct err *err)
{
	unsigned n = 0, got = 0;
	while (m->parts[n])
		n++;
	char **texts = mem_calloc(n + 1u, sizeof *texts), *all = NULL;
	struct fatbin_entry cubin;
	for (unsigned i = 0; i < n; i++)
		got += (texts[got] = ptx_of(m->parts[i], &cubin, err)) != NULL;
	if (got)
		all = ptx_join(got, (const char *const *)texts, err);
	for (unsigned i = 0; i < got; i++)
		free(texts[i]);
	free(texts);
	return all;
}

static cudaError_t load(struct guest_module *m)
{
	struct fatbin_entry cubin = { 0 };
	struct err err = { 0 };
	m->tried = true;
	if (m->ptx)
		return load_text(m, m->ptx, strlen(m->ptx));
	m->error = cudaErrorNoKernelImageForDevice;
	char *text = m->parts ? linked_ptx(m, &err) : ptx_of(m->fatbin, &cubin, &err);
	if (!text) {
		snprintf(m->why, sizeof m->why, "%.511s", err.msg);
		return record_problem("device-code", &err), m->error;
	}
	if (m->parts) {
		struct fatbin_entry ptx;
		const unsigned cc = (unsigned)(guest.gpu.cc_major * 10 + guest.gpu.cc_minor);
		if (!fatbin_choose(m->fatbin, 0, cc, &ptx, &cubin, NULL))
			cubin.payload = NULL;
	}
	if (cubin.payload) {
		m->machine_code = fatbin_unpack(&cubin, NULL);
		m->machine_code_bytes = m->machine_code ? cubin.bytes : 0;
	}
	load_text(m, text, strlen(text));
	free(text);
	return m->error;
}

/* Registers of a kernel, as the assembler gave them; 0 = there is no machine code for this GPU. */
static unsigned registers_of(const struct guest_module *m, const char *name)
{
	struct cubin c;
	unsigned registers = 0;
	if (!m->machine_code || !cubin_read(&c, m->machine_code, m->machine_code_bytes, NULL))
		return 0;
	const struct cubin_func *f = cubin_func(&c, name);
	if (f && f->registers != CUBIN_NO_COUNT)
		registers = f->registers;
	cubin_free(&c);
	return registers;
}

cudaError_t guest_module_need(struct guest_module *m)
{
	return m->tried ? m->error : load(m);
}

cudaError_t guest_load_managed(void)
{
	for (size_t i = 0; i < guest.n_variables; i++)
		if (guest.variables[i].managed)
			guest_module_need(guest.variables[i].module);
	return cudaSuccess;
}

struct guest_function *guest_function_of(const void *host, cudaError_t *why)
{
	struct guest_function *f = find_function(host);
	*why = cudaErrorInvalidDeviceFunction;
	if (!f)
		return NULL;
	*why = guest_module_need(f->module);
	if (*why != cudaSuccess)
		return NULL;
	if (!f->loaded) {
		f->loaded = emu_module_function(f->module->loaded, f->name);
		f->registers = registers_of(f->module, f->name);
	}
	*why = f->loaded ? cudaSuccess : cudaErrorInvalidDeviceFunction;
	return f->loaded ? f : NULL;
}

struct guest_function *guest_function_named(struct guest_module *m, const char *name)
{
	cudaError_t why;
	for (size_t i = 0; i < guest.n_functions; i++)
		if (guest.functions[i]->module == m && !strcmp(guest.functions[i]->name, name))
			return guest_function_of(guest.functions[i]->host, &why);
	if (!m->loaded || !emu_module_function(m->loaded, name))
		return NULL;
	return guest_function_of(add_function(m, NULL, name)->host, &why);
}

struct guest_variable *guest_variable_of(const void *host, uint64_t *address, cudaError_t *why)
{
	for (size_t i = 0; i < guest.n_variables; i++) {
		struct guest_variable *v = &guest.variables[i];
		/* a managed one is named by its pointer or by what that points to */
		if (v->host != host && (!v->managed || *v->managed != host))
			continue;
		uint64_t bytes;
		*why = guest_module_need(v->module);
		if (*why != cudaSuccess)
			return NULL;
		if (emu_module_variable(v->module->loaded, v->name, address, &bytes))
			return v;
		break;
	}
	*why = cudaErrorInvalidSymbol;
	return NULL;
}
