#!/bin/sh
# Programs that link their kernels while they run, by nvJitLink: what it makes is machine code, and
# the PTX of its parts is what runs. The linker here is a stand-in, which hands out bytes that look
# like machine code; the parts tell what they are by their kind.
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip jit-link: no nvcc here to compile programs'
	exit 0
}
cd "$dir" || exit 1
export XDG_CACHE_HOME="$dir/cache"
cat >linker.c <<'EOF2'
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
struct link {
	char *lto;
	int ptx;
};
static unsigned made;
int nvJitLinkCreate(struct link **out, uint32_t n, const char *const *options)
{
	*out = calloc(1, sizeof **out);
	(*out)->ptx = n && !strcmp(options[n - 1], "-ptx");
	return 0;
}
int nvJitLinkAddData(struct link *l, int type, const void *data, size_t n, const char *name)
{
	(void)name;
	if (type == 3)
		l->lto = strndup(data, n);
	return type == 3 || !l->ptx ? 0 : 3;
}
int nvJitLinkAddFile(struct link *l, int type, const char *path) { return !l || !type || !path; }
int nvJitLinkComplete(struct link *l) { return !l; }
int nvJitLinkGetLinkedCubinSize(struct link *l, size_t *n) { return *n = 96, !l; }
int nvJitLinkGetLinkedCubin(struct link *l, char *to)
{
	memset(to, 0, 96);
	memcpy(to, "\177ELF", 4);
	to[90] = (char)++made;
	return !l;
}
int nvJitLinkGetLinkedPtxSize(struct link *l, size_t *n) { return *n = strlen(l->lto) + 1, 0; }
int nvJitLinkGetLinkedPtx(struct link *l, char *to) { return strcpy(to, l->lto + 1), 0; }
int nvJitLinkDestroy(struct link **l) { return free(*l), 0; }
int __nvJitLinkAddData_13_0(struct link *l, int t, const void *d, size_t n, const char *name)
{
	return nvJitLinkAddData(l, t, d, n, name);
}
EOF2
cat >linked.cu <<'EOF2'
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda.h>
struct link;
extern "C" {
int nvJitLinkCreate(link **, uint32_t, const char *const *);
int __nvJitLinkAddData_13_0(link *, int, const void *, size_t, const char *);
int nvJitLinkAddFile(link *, int, const char *);
int nvJitLinkComplete(link *);
int nvJitLinkGetLinkedCubin(link *, void *);
int nvJitLinkDestroy(link **);
}
#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
static const char function[] = HEAD ".visible .func (.param .b32 r) more(.param .b32 x)\n{\n"
	".reg .b32 %r<3>;\nld.param.u32 %r1, [x];\nadd.u32 %r2, %r1, 5;\nst.param.b32 [r], %r2;\nret;\n}\n";
static const char kernel[] = HEAD ".extern .func (.param .b32 r) more(.param .b32 x);\n"
	".visible .entry set(.param .u64 to)\n{\n.reg .b32 %r<3>;\n.reg .b64 %d<2>;\n"
	"ld.param.u64 %d1, [to];\n{\n.param .b32 a;\nst.param.b32 [a], 37;\n.param .b32 b;\n"
	"call.uni (b), more, (a);\nld.param.b32 %r1, [b];\n}\nst.global.u32 [%d1], %r1;\nret;\n}\n";
/* @kind of the kernel's part: 2 PTX, 3 LTO-IR (its text behind one byte), 0 a file of it. */
static void run(const char *name, int kind)
{
	const char *options[] = { "-arch=sm_90" };
	char cubin[96], lto[2000];
	link *l;
	CUmodule m;
	CUfunction f;
	CUdeviceptr d;
	int value = 0;
	snprintf(lto, sizeof lto, "L%s", kernel);
	int bad = nvJitLinkCreate(&l, 1, options);
	bad |= __nvJitLinkAddData_13_0(l, 2, function, strlen(function), "function");
	if (kind == 0)
		bad |= nvJitLinkAddFile(l, 2, "kernel.ptx");
	else if (kind == 3)
		bad |= __nvJitLinkAddData_13_0(l, 3, lto, strlen(lto), "kernel");
	else
		bad |= __nvJitLinkAddData_13_0(l, kind, kernel, strlen(kernel), "kernel");
	bad |= nvJitLinkComplete(l) | nvJitLinkGetLinkedCubin(l, cubin) | nvJitLinkDestroy(&l);
	bad |= cuModuleLoadData(&m, cubin);
	if (bad) {
		printf("%s: refused\n", name);
		return;
	}
	cuModuleGetFunction(&f, m, "set");
	cuMemAlloc(&d, 4);
	void *args[] = { &d };
	cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args, 0);
	cuMemcpyDtoH(&value, d, 4);
	printf("%s: %d\n", name, value);
	cuMemFree(d);
}
int main()
{
	CUdevice d;
	CUcontext c;
	cuInit(0);
	cuDeviceGet(&d, 0);
	cuDevicePrimaryCtxRetain(&c, d);
	cuCtxSetCurrent(c);
	FILE *f = fopen("kernel.ptx", "w");
	fputs(kernel, f);
	fclose(f);
	run("text", 2);
	run("lto", 3);
	run("file", 0);
	run("object", 5); /* of a host: nothing says what is in it */
	return 0;
}
EOF2
cc -shared -fPIC -o liblinker.so linker.c &&
	nvcc -cudart shared -arch=sm_90 -o linked linked.cu -L. -llinker -lcuda \
		-Xlinker -rpath="$dir" || exit 1
run jit-link-runs 1 launches ./linked --gpu h200
same jit-link-values 'text: 42 lto: 42 file: 42 object: refused' "$(tr '\n' ' ' <out | sed 's/ *$//')"
says jit-link-refusal 'the program loads machine code'
