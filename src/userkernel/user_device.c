/* What of a person's file NVRTC compiles: device code, and stand-ins for host headers. See
 * user_scan.h. */
#include "userkernel/user_scan.h"
#include "userkernel/user_text.h"

#include <stdio.h>
#include <string.h>

/* Standard headers are not there for NVRTC; what kernels use of them is put in their place. */
static const struct {
	const char *header, *instead;
} headers[] = {
	{ "stdint.h", "typedef signed char int8_t; typedef short int16_t; typedef int int32_t; "
	              "typedef long long int64_t; typedef unsigned char uint8_t; "
	              "typedef unsigned short uint16_t; typedef unsigned uint32_t; "
	              "typedef unsigned long long uint64_t;" },
	{ "float.h", "static constexpr float FLT_MAX = 3.402823466e38f, FLT_MIN = 1.175494351e-38f, "
	             "FLT_EPSILON = 1.192092896e-7f; static constexpr double DBL_MAX = "
	             "1.7976931348623157e308, DBL_EPSILON = 2.2204460492503131e-16;" },
	{ "limits.h", "static constexpr int INT_MAX = 2147483647, INT_MIN = -2147483647 - 1; "
	              "static constexpr unsigned UINT_MAX = 4294967295u;" },
	{ "assert.h", "#define assert(x) ((x) ? (void)0 : __trap())" },
	{ "stdio.h", "" },
	{ "stdlib.h", "" },
	{ "string.h", "" },
	{ "math.h", "" },
	{ "time.h", "" },
	{ "stdbool.h", "" },
	{ "stddef.h", "" },
	{ "unistd.h", "" },
	{ "sys/time.h", "" },
	{ "cuda.h", "" },
	{ "cuda_runtime.h", "" },
	{ "cuda_runtime_api.h", "" },
	{ "device_launch_parameters.h", "" },
	{ "helper_cuda.h", "" },
	{ "helper_functions.h", "" },
};

static const char *instead_of(const char *name)
{
	char plain[64];
	/* C++ names: <cstdint> is stdint.h; other names without a dot are C++'s own */
	if (!strchr(name, '.') && !strchr(name, '/')) {
		for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
			snprintf(plain, sizeof plain, "%.60s.h", name + (name[0] == 'c'));
			if (!strcmp(plain, headers[i].header))
				return headers[i].instead;
		}
		return "";
	}
	for (size_t i = 0; i < ARRAY_LEN(headers); i++)
		if (!strcmp(name, headers[i].header))
			return headers[i].instead;
	return NULL;
}

void user_put_device(const char *s, struct text *out)
{
	while (*s) {
		const size_t len = strcspn(s, "\n");
		const char *p = s + strspn(s, " \t");
		char name[64];
		int used = 0;
		const char *stand_in = NULL;
		if (*p == '#' && sscanf(p, "# include < %63[^> ] >%n", name, &used) == 1 && used)
			stand_in = instead_of(name);
		if (stand_in)
			text_add(out, "%s", stand_in);
		else
			text_put(out, s, len);
		s += len;
		if (*s)
			text_put(out, s++, 1);
	}
}

bool user_includes_own(const char *s)
{
	for (; *s; s += *s == '\n') {
		char name[64];
		const size_t len = strcspn(s, "\n");
		const char *p = s + strspn(s, " \t");
		/* CUDA's own headers are found in any case */
		if (*p == '#' && sscanf(p, "# include \"%63[^\"\n]\"", name) == 1 && !instead_of(name) &&
		    strncmp(name, "cuda", 4) != 0)
			return true;
		s += len;
	}
	return false;
}

bool user_host_only(const char *code, size_t from, size_t to, size_t body, bool function)
{
	if (HAS_ANY(code, from, body, "__global__", "__device__", "__constant__", "__shared__",
	            "__managed__"))
		return false;
	if (HAS_ANY(code, from, to, "std", "FILE", "cudaEvent_t", "cudaStream_t", "cudaError_t",
	            "dim3") &&
	    !begins_with(code, from, "template"))
		return true;
	if (function)
		return !has_word(code, from, body, "constexpr");
	if (HAS_ANY(code, from, from + strcspn(code + from, " \t\n<{(;"), "typedef", "using", "struct",
	            "class", "union", "enum", "template", "static_assert", "constexpr", "const"))
		return false;
	return !HAS_ANY(code, from, body, "constexpr", "const");
}
