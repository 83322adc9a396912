/* See code_answer.h. */
#include "runtime/code_answer.h"

#include "base/mem.h"
#include "base/monotonic.h"
#include "base/text.h"
#include "compile/assemble.h"
#include "compile/disassemble.h"
#include "runtime/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A copy for the caller; @n bytes. */
static char *copy(const void *bytes, size_t n)
{
	char *to = mem_alloc(n + 1);
	memcpy(to, bytes, n);
	to[n] = '\0';
	return to;
}

static void keep(struct program *p, unsigned id, const struct record_code *code)
{
	struct program_module *m = program_module(p, id);
	if (!m || m->listing)
		return;
	free(m->cubin);
	m->cubin = copy(code->cubin, code->cubin_bytes);
	m->cubin_bytes = code->cubin_bytes;
	m->listing = copy(code->listing, code->listing_bytes);
	m->listing_bytes = code->listing_bytes;
}

void code_answer(int fd, struct wire_msg *m, struct program *p, const atomic_bool *cancel)
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
		keep(p, ask.id, &code);
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

bool code_need(const struct program *p, struct program_module *m, const atomic_bool *cancel,
               struct err *err)
{
	struct text cubin = { 0 }, listing = { 0 };
	const unsigned cc = (unsigned)(p->gpu->cc_major * 10 + p->gpu->cc_minor);
	if (m->listing)
		return true;
	if (!m->cubin) {
		if (!m->ptx)
			return err_set(err, ERR_UNAVAILABLE, "neither its PTX nor its machine code is known");
		if (!assemble(m->ptx, m->ptx_bytes, cc, cancel, &cubin, err))
			return false;
		m->cubin = cubin.s;
		m->cubin_bytes = cubin.len;
	}
	if (!disassemble(m->cubin, m->cubin_bytes, cancel, &listing, err))
		return false;
	m->listing = listing.s;
	m->listing_bytes = listing.len;
	return true;
}
