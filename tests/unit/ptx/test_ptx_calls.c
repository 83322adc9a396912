/* Which functions of the system a kernel may come to. */
#include "ptx_fixture.h"

#define SYSTEM                                                      \
	HEAD ".extern .func (.param .b64 r) malloc (.param .b64 n) ;\n" \
		 ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a) ;\n"
#define CALL \
	"{ .param .b64 n; .param .b64 r; st.param.b64 [n], %rd1; call.uni (r), malloc, (n); }\n"
#define FUNC(name, body) ".func " name " () {\n" REGS body "ret;\n}\n"
#define ENTRY(name, body) ".visible .entry " name " () {\n" REGS body "ret;\n}\n"

static bool is_malloc(const char *name)
{
	return !strcmp(name, "malloc");
}

static bool is_vprintf(const char *name)
{
	return !strcmp(name, "vprintf");
}

static bool leads(const struct ptx_module *m, const char *entry, bool (*to)(const char *name))
{
	return ptx_func_calls(m, ptx_entry(m, entry), to);
}

TEST(through_others)
{
	struct ptx_module m =
		parsed(SYSTEM FUNC("inner", CALL) FUNC("outer", "call.uni inner;\n") ENTRY("near", CALL)
	               ENTRY("far", "call.uni outer;\n") ENTRY("never", ""));
	assert_true(leads(&m, "near", is_malloc));
	assert_true(leads(&m, "far", is_malloc));
	assert_false(leads(&m, "never", is_malloc));
	assert_false(leads(&m, "near", is_vprintf));
	ptx_free(&m);
}

TEST(by_pointer)
{
	struct ptx_module m = parsed(SYSTEM FUNC("inner", CALL) ENTRY(
		"k", "mov.u64 %rd2, inner;\nproto: .callprototype () _ ();\ncall %rd2, (), proto;\n"));
	assert_true(leads(&m, "k", is_malloc));
	ptx_free(&m);
}

TEST(calls_itself)
{
	struct ptx_module m =
		parsed(SYSTEM FUNC("round", "call.uni round;\n") ENTRY("k", "call.uni round;\n"));
	assert_false(leads(&m, "k", is_malloc));
	ptx_free(&m);
}
