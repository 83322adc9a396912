/* A record's machine code: there with the record, later, or absent with the reason. */
#include "lab_wait.h"
#include "compile/disassemble.h"

enum { PTX = 1u << RUN_LEVEL_PTX, MACHINE = 1u << RUN_LEVEL_AUTO };

static bool has_code(const struct session *s)
{
	return s->now && s->now->code;
}

static bool instruction_there(const struct code_listing *c, const char *opcode)
{
	for (unsigned i = 0; i < c->n; i++)
		if (strstr(c->insts[i].text, opcode))
			return true;
	return false;
}

/* Without NVRTC the toy is not compiled, without nvdisasm there is no code. */
static bool disassembler_here(void)
{
	char path[4096];
	unsetenv("PMPP_NVDISASM");
	if (disassembler_find(path, sizeof path, NULL))
		return true;
	print_message("no nvdisasm here\n");
	skip();
	return false;
}

TEST(a_run_without_disassembler_says_so)
{
	struct lab *a = settled_lab();
	const struct run_record *r = lab_session(a)->now;
	assert_int_equal(fake.runs, 1);
	assert_int_equal(fake.levels, PTX);
	assert_non_null(r->code);
	assert_int_equal(r->code->n, 0);
	assert_non_null(strstr(r->code->why, "/nowhere/nvdisasm"));
	lab_free(a);
}

TEST(the_first_answer_does_not_wait_for_it)
{
	if (!disassembler_here())
		return;
	struct lab *a = settled_lab();
	struct session *s = lab_session(a);
	assert_int_equal(fake.runs, 2); /* PTX, then machine code */
	assert_int_equal(fake.levels, PTX | MACHINE);
	assert_null(s->before); /* one selection */
	assert_true(instruction_there(s->now->code, "STG"));
	assert_string_equal(s->now->code->why, "");
	assert_true(s->now->code->n_ptx > 4);
	/* from now on it is there at once: in this session, and in the next one */
	lab_param(a, TOY_N, 500);
	wait_for(a, settled);
	assert_int_equal(fake.runs, 3);
	assert_true(has_code(s));
	lab_free(a);
	setenv("PMPP_NVDISASM", "/nowhere/nvdisasm", 1);
	a = settled_lab();
	assert_int_equal(fake.runs, 1);
	assert_int_equal(fake.levels, MACHINE);
	assert_true(instruction_there(lab_session(a)->now->code, "STG"));
	lab_free(a);
}

/* Known code stands beside the sample's figures; nobody waits for all blocks to read it. */
TEST(a_sample_has_it_too)
{
	if (!disassembler_here())
		return;
	lab_free(settled_lab()); /* disassembled from here on */
	fake_reset();
	fake.block_us = 1500;
	struct lab *a = open_lab("a100", "emu");
	struct session *s = lab_session(a);
	lab_param(a, TOY_BLOCK, 32);
	lab_param(a, TOY_N, 32 * 300); /* 450 ms in all */
	lab_start(a);
	wait_for(a, has_code);
	assert_int_equal(s->state, RUN_RUNNING);
	assert_int_equal(s->now->verify, VERIFY_SAMPLED);
	assert_true(instruction_there(s->now->code, "STG"));
	lab_free(a);
	setenv("PMPP_NVDISASM", "/nowhere/nvdisasm", 1);
}

/* A GPU counts by itself: it runs once, and the code comes when it comes. */
TEST(a_device_runs_once)
{
	if (!disassembler_here())
		return;
	fake_reset();
	fake.device = true;
	struct lab *a = open_lab(NULL, "cuda");
	lab_param(a, TOY_W, 7); /* never disassembled */
	lab_start(a);
	wait_for(a, has_code);
	assert_int_equal(fake.runs, 1);
	assert_int_equal(lab_session(a)->state, RUN_DONE);
	lab_free(a);
	setenv("PMPP_NVDISASM", "/nowhere/nvdisasm", 1);
}

int main(void)
{
	return unit_run(own_cache, drop_cache);
}
