/* See code_answer.h. */
#include "runtime/code_answer.h"

#include "base/monotonic.h"
#include "base/text.h"
#include "compile/assemble.h"
#include "compile/disassemble.h"
#include "runtime/record.h"

#include <stdio.h>

void code_answer(int fd, struct wire_msg *m, const atomic_bool *cancel)
{
	struct record_code_request ask;
	struct record_code code = { .why = "" };
	struct text cubin = { 0 }, listing = { 0 };
	struct err err = { 0 };
	bool good = record_get_code_request(m, &ask);
	if (good && ask.cubin) {
		code.cubin = ask.cubin;
		code.cubin_bytes = ask.cubin_bytes;
	} else if (good) {
		good = assemble(ask.ptx, ask.ptx_bytes, ask.cc, cancel, &cubin, &err);
		code.cubin = cubin.s;
		code.cubin_bytes = cubin.len;
	}
	good = good && disassemble(code.cubin, code.cubin_bytes, cancel, &listing, &err);
	if (good) {
		code.listing = listing.s;
		code.listing_bytes = listing.len;
	} else {
		code.cubin = NULL;
		snprintf(code.why, sizeof code.why, "%.250s",
		         err.msg[0] ? err.msg : "a malformed request for machine code");
	}
	struct wire_msg answer;
	record_put_code(&answer, &code);
	wire_send(fd, &answer, -1, clock_now_s() + 60, cancel);
	wire_free(&answer);
	text_free(&cubin);
	text_free(&listing);
}
