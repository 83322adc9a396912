/*
 * Fuzz target: what a person's program writes to the explorer. The program may write anything: it
 * has the descriptor. Frames of the input: a kind, a length of two bytes, so many bytes.
 */
#include "target.h"

#include "base/mem.h"
#include "model/gpu.h"
#include "model/whole_program.h"
#include "runtime/program_collect.h"

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
		size_t n = (size_t)input_number(&in, 2);
		n = n < (size_t)(in.end - in.at) ? n : (size_t)(in.end - in.at);
		wire_put(&m, in.at, n);
		in.at += n;
		going = program_collect(p, &m, &err);
		if (!going)
			promise_refusal(&err);
		wire_free(&m);
	}
	program_sum_up(p);
	promise(program_errors(p) <= p->n_findings, "errors are findings");
	program_free(p);
	return 0;
}
