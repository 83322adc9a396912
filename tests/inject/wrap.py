"""Wrappers that make the n-th call of an err-capable function fail.

    wrap.py SRC OUT     for every "bool f(..., struct err *err)" that a header of SRC declares

Writes OUT/wrap_LAYER.c, OUT/inject.c and OUT/wrap.ld, the linker's options --wrap=f. A function
fails by err_set(), as it would itself, before it does anything. PMPP_INJECT=n says which call of
all; PMPP_INJECT_LOG=FILE is where the functions called are named, one a line.
"""
import glob
import re
import sys

INJECT = """/* Made by tests/inject/wrap.py. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

bool inject_now(const char *name);
bool inject_now(const char *name)
{
	static atomic_long calls;
	const char *at = getenv("PMPP_INJECT"), *log = getenv("PMPP_INJECT_LOG");
	const long n = atomic_fetch_add(&calls, 1) + 1;
	FILE *f = log ? fopen(log, "a") : NULL;
	if (f) {
		fprintf(f, "%s\\n", name);
		fclose(f);
	}
	return at && n == atol(at);
}
"""
BODY = """
bool __real_{name}({params});
bool __wrap_{name}({params});
bool __wrap_{name}({params})
{{
	if (inject_now("{name}"))
		return err_set({last}, ERR_IO, "injected failure of {name}");
	return __real_{name}({args});
}}
"""
PROTOTYPE = re.compile(r"^bool (\w+)\(([^;{}]*?struct err \*\w+)\)\s*;", re.M)
# What sets errors does not fail; two are given the reason why something else did.
NOT_WRAPPED = {"err_set", "err_remedy", "err_prefix",
               "occ_sheet_known"}  # says beside the error which figure it means


def name_of(parameter):
    return re.search(r"(\w+)\s*(\[[^\]]*\])?$", parameter.strip()).group(1)


def layer_of(header, source):
    return header[len(source) + 1:].split("/")[0]


def main():
    source, out = sys.argv[1:]
    layers, wrapped = {}, []
    for header in sorted(glob.glob(source + "/**/*.h", recursive=True)):
        text = re.sub(r"/\*.*?\*/", "", open(header, encoding="utf-8").read(), flags=re.S)
        found = [m for m in PROTOTYPE.finditer(text)
                 if m[1] not in NOT_WRAPPED and "(" not in m[2] and "/guest/" not in header]
        layer = layers.setdefault(layer_of(header, source), ([], []))
        if found:
            layer[0].append('#include "%s"\n' % header[len(source) + 1:])
        for m in found:
            names = [name_of(p) for p in m[2].split(",")]
            layer[1].append(BODY.format(name=m[1], params=m[2], last=names[-1],
                                        args=", ".join(names)))
            wrapped.append(m[1])
    for name, (headers, bodies) in layers.items():
        if bodies:
            with open("%s/wrap_%s.c" % (out, name), "w", encoding="utf-8") as f:
                f.write("".join(headers) + "bool inject_now(const char *name);\n" + "".join(bodies))
    with open(out + "/inject.c", "w", encoding="utf-8") as f:
        f.write(INJECT)
    with open(out + "/wrap.ld", "w", encoding="utf-8") as f:
        f.write("".join("-Wl,--wrap=%s\n" % name for name in wrapped))


main()
