/*
 * Fuzz target: what a person's program writes to the explorer. The program may write anything: it
 * has the descriptor. Of the input: a kind and a length, then so many bytes; where the kind is a
 * struct of known size, they are that struct's first ones, and zeros follow.
 */
#include "target.h"

#include "base/mem.h"
#include "model/gpu.h"
#include "model/whole_program.h"
#include "runtime/program_collect.h"

/* Bytes of the struct that a kind's frame begins with; 0 = something else, or it may be anything.
 */
static size_t struct_bytes(uint32_t kind)
{
	switch ((enum record_kind)kind) {
	case RECORD_MODULE: return sizeof(struct record_module);
	case RECORD_KERNEL: return sizeof(struct record_kernel);
	case RECORD_LAUNCH: return sizeof(struct record_launch);
	case RECORD_COPY:
	case RECORD_SET: return sizeof(struct record_copy);
	case RECORD_EVENT: return sizeof(struct record_event);
	case RECORD_FINDING: return sizeof(struct record_finding);
	case RECORD_PROGRESS: return sizeof(struct record_progress);
	case RECORD_END: return sizeof(struct record_end);
	default: return 0;
	}
}

static void put_frame(struct wire_msg *m, const uint8_t *bytes, size_t n)
{
	static uint8_t whole[8192];
	const size_t all = struct_bytes(m->type & 0x7f);
	m->type &= 0x7f;
	if (!all || all > sizeof whole) {
		wire_put(m, bytes, n);
		return;
	}
	memset(whole, 0, all);
	memcpy(whole, bytes, n < all ? n : all);
	wire_put_blob(m, whole, all);
	if (n > all)
		wire_put(m, bytes + all, n - all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };
	struct program *p = mem_zalloc(sizeof *p);
	p->gpu = gpu_find("a100");
	bool going = true;
	while (going && in.at < in.end) {
		struct wire_msg m;
		struct err err = { 0 };
		wire_begin(&m, (uint32_t)input_number(&in, 1));
		size_t n = (size_t)input_number(&in, 1);
		n = n < (size_t)(in.end - in.at) ? n : (size_t)(in.end - in.at);
		put_frame(&m, in.at, n);
		in.at += n;
		going = program_collect(p, &m, &err);
		if (!going)
			promise_refusal(&err);
		wire_free(&m);
	}
	program_sum_up(p);
	promise(program_errors(p) <= p->n_findings, "errors are findings");
	program_free(p);
	free(p);
	return 0;
}
