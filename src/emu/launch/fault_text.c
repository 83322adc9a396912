/* What went wrong in a kernel, in words: where, who, which address, and what to do about it. */
#include "emu/launch/fault_text.h"

#include "ptx/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ir_inst *inst_of(const struct emu_launch *l, uint32_t xop)
{
	return &l->image.ir.insts[l->image.ir.ops[xop].pc];
}

/* The source line of an operation; of one without, as compilers leave what they move, that of the
 * next one in its block, or of the one before. 0 = there is none. */
static uint32_t line_of(const struct emu_launch *l, uint32_t xop)
{
	const struct ir *ir = &l->image.ir;
	uint32_t line = inst_of(l, xop)->line, b = 0;
	while (!line && b < ir->n_blocks &&
	       xop - ir->blocks[b].first >= ir->blocks[b].end - ir->blocks[b].first)
		b++;
	for (uint32_t o = xop; !line && b < ir->n_blocks && o < ir->blocks[b].end; o++)
		line = inst_of(l, o)->line;
	for (uint32_t o = xop; !line && b < ir->n_blocks && o-- > ir->blocks[b].first;)
		line = inst_of(l, o)->line;
	return line;
}

struct place {
	char text[160];
};

/* "line 12"; without source lines that of the listing */
static struct place line_place(const struct emu_launch *l, uint32_t xop)
{
	const uint32_t line = line_of(l, xop);
	struct place s;
	if (line)
		snprintf(s.text, sizeof s.text, "line %u", line);
	else
		snprintf(s.text, sizeof s.text, l->image.ir.func ? "PTX line %u" : "offset 0x%x",
		         inst_of(l, xop)->listing);
	return s;
}

static struct place thread_place(const struct emu_launch *l, uint64_t block, uint32_t warp,
                                 uint32_t lane)
{
	const struct launch_plan *p = l->req->plan;
	const uint64_t t = (uint64_t)warp * 32 + lane;
	struct place s;
	snprintf(s.text, sizeof s.text, "block (%llu,%llu,%llu), thread (%llu,%llu,%llu)",
	         (unsigned long long)(block % p->grid.x),
	         (unsigned long long)(block / p->grid.x % p->grid.y),
	         (unsigned long long)(block / p->grid.x / p->grid.y),
	         (unsigned long long)(t % p->block.x),
	         (unsigned long long)(t / p->block.x % p->block.y),
	         (unsigned long long)(t / p->block.x / p->block.y));
	return s;
}

#define NULL_PAGES 65536 /* at address 0 nothing is ever allocated, nor a little behind it */

static bool is_null(const struct emu_fault *f)
{
	return f->space == SPACE_GLOBAL && f->address < NULL_PAGES;
}

/* "A[1048577], 4 bytes past the end of A (1048576 f32)" */
static struct place data_place(const struct emu_launch *l, const struct emu_fault *f)
{
	struct place s;
	if (f->space == SPACE_SHARED || f->space == SPACE_LOCAL) {
		const bool shared = f->space == SPACE_SHARED;
		const uint64_t top = f->address >> CLUSTER_SHIFT;
		const unsigned rank = shared && top <= l->grid.cluster_blocks ? (unsigned)top : 0;
		const int n = snprintf(
			s.text, sizeof s.text, "%s memory offset %lld of %u bytes", shared ? "shared" : "local",
			(long long)(rank ? f->address & CLUSTER_OFFSET : f->address),
			shared ? l->grid.shared_bytes - l->grid.reserved_bytes : l->grid.local_bytes);
		if (rank)
			snprintf(s.text + n, sizeof s.text - (size_t)n, " of block %u of the cluster",
			         rank - 1);
		return s;
	}
	const struct arena_region *r = arena_near(&l->device->arena, f->address);
	if (!r) {
		snprintf(s.text, sizeof s.text,
		         is_null(f) ? "address 0x%llx, of a null pointer" : "address 0x%llx",
		         (unsigned long long)f->address);
		return s;
	}
	const int64_t offset = (int64_t)(f->address - r->base);
	char made[32];
	snprintf(made, sizeof made, "allocation %llu", (unsigned long long)r->serial);
	const char *name = r->name ? r->name : made;
	const int64_t elem = (int64_t)r->elem_bytes;
	const int64_t index = offset >= 0 ? offset / elem : -((-offset + elem - 1) / elem);
	int n = snprintf(s.text, sizeof s.text, "%s[%lld] at 0x%llx", name, (long long)index,
	                 (unsigned long long)f->address);
	const uint64_t end = (uint64_t)offset + f->bytes;
	if (offset < 0)
		snprintf(s.text + n, sizeof s.text - (size_t)n, ", %lld bytes before %s",
		         (long long)-offset, name);
	else if (end > r->size)
		snprintf(s.text + n, sizeof s.text - (size_t)n, ", %llu bytes past the end of %s (%llu %s)",
		         (unsigned long long)(end - r->size), name,
		         (unsigned long long)(r->size / r->elem_bytes), r->elem);
	return s;
}

static const char *access_verb(const struct emu_fault *f)
{
	return f->store ? "store" : "load";
}

/* Lanes that go where they should not, or nowhere. */
static bool report_flow(const struct emu_launch *l, const struct emu_fault *f, const char *where,
                        const char *who, struct err *err)
{
	switch (f->kind) {
	case FAULT_WARP_UNNAMED:
		err_set(
			err, ERR_FAULT,
			"%s: warp divergence: this %s is for lanes %08llx of warp %u, and %s, which is none "
			"of them, executes it: on a GPU anything may come of it",
			where, l->image.ir.insts[l->image.ir.ops[f->xop].pc].text,
			(unsigned long long)f->address, f->warp, who);
		return err_remedy(err, "name every lane that comes there in the mask, or let only lanes "
		                       "come there that are named");
	case FAULT_WARP_UNREAD:
		err_set(
			err, ERR_FAULT,
			"%s: this %s reads lane %llu of warp %u, which its mask does not name; %s gets what "
			"happens to be there",
			where, l->image.ir.insts[l->image.ir.ops[f->xop].pc].text,
			(unsigned long long)f->address, f->warp, who);
		return err_remedy(err,
		                  "name the lane that is read in the mask, and let it come there, too");
	case FAULT_ENDLESS:
		err_set(err, ERR_TIMEOUT,
		        "%s: this loop never ends: it touches no memory, and all lanes of warp %u that run "
		        "in it hold again what they held before; %s",
		        where, f->warp, who);
		return err_remedy(err, "look at the condition by which the loop ends: for these threads it "
		                       "never holds");
	default: return err_set(err, ERR_INTERNAL, "%s: stopped without a reason", where);
	}
}

/* Faults of textures, calls and the device's own library: nothing is said of data. */
static bool report_without_data(const struct emu_launch *l, const struct emu_fault *f,
                                const char *where, const char *who, struct err *err)
{
	switch (f->kind) {
	case FAULT_DIVISION:
		err_set(err, ERR_FAULT, "%s: integer division by zero; %s", where, who);
		return err_remedy(err, "the GPU goes on with a value that means nothing: compare the "
		                       "divisor with 0 first");
	case FAULT_TEXTURE:
		err_set(err, ERR_FAULT, "%s: the handle is of no texture or surface that exists; %s", where,
		        who);
		return err_remedy(err, "create it before the launch, destroy it behind, and keep textures "
		                       "and surfaces apart");
	case FAULT_SURFACE_BOUNDS:
		err_set(err, ERR_FAULT, "%s: outside the surface; %s", where, who);
		return err_remedy(err, "x counts bytes, not elements; cudaBoundaryModeZero and "
		                       "cudaBoundaryModeClamp allow accesses outside");
	case FAULT_TENSOR_MAP:
		err_set(err, ERR_FAULT, "%s: there is no tensor map at 0x%llx; %s", where,
		        (unsigned long long)f->address, who);
		return err_remedy(err, "make it by cuTensorMapEncodeTiled() and pass it as a const "
		                       "__grid_constant__ parameter, 64-byte aligned");
	case FAULT_TENSOR_START:
		err_set(err, ERR_FAULT,
		        "%s: the box of a tensor begins %u bytes behind a multiple of 16, by its innermost "
		        "coordinate; %s",
		        where, f->bytes, who);
		return err_remedy(err, "hardware ends the launch with an illegal instruction: give an "
		                       "innermost coordinate that is a multiple of 16 bytes");
	case FAULT_TENSOR_BEFORE:
		err_set(err, ERR_FAULT,
		        "%s: a box that is stored or added begins before the tensor, by coordinate %u; %s",
		        where, f->bytes, who);
		return err_remedy(err,
		                  "hardware ends the launch with an illegal instruction: only loads may "
		                  "begin before a tensor; stores may reach beyond its end");
	case FAULT_NO_CLUSTER:
		err_set(err, ERR_FAULT, "%s: an asynchronous store in a launch without clusters; %s", where,
		        who);
		return err_remedy(err, "hardware ends the launch with an illegal instruction: launch with "
		                       "cudaLaunchAttributeClusterDimension, or give the kernel "
		                       "__cluster_dims__(1)");
	case FAULT_INDEX:
		err_set(err, ERR_FAULT, "%s: branch table index out of range; %s", where, who);
		return err_remedy(err, "the switch of that line gets a value it has no case for");
	case FAULT_STACK:
		err_set(err, ERR_FAULT, "%s: recursion deeper than %u calls; %s", where,
		        l->image.ir.call_depth, who);
		return err_remedy(err,
		                  "look for a recursion that never ends, or keep the work in an array");
	case FAULT_FUNCTION:
		err_set(err, ERR_FAULT, "%s: call through a pointer to no function: 0x%llx; %s", where,
		        (unsigned long long)f->address, who);
		return err_remedy(err, "take the function's address in device code; the host's is another");
	case FAULT_ASSERT:
		err_set(err, ERR_FAULT, "%s: %s", where, f->waiting);
		return err_remedy(err, "a condition that the kernel states does not hold there");
	case FAULT_FREE:
		err_set(err, ERR_FAULT,
		        "%s: free() of 0x%llx, which malloc() of device code did not give; %s", where,
		        (unsigned long long)f->address, who);
		return err_remedy(err, "free what malloc() gave, and only once; cudaMalloc()'s memory is "
		                       "for cudaFree()");
	default: return report_flow(l, f, where, who, err);
	}
}

/* What a product of a warp group (wgmma) reads. */
static bool is_product(const struct xop *x)
{
	return x->kind == X_SYSTEM && x->op == SYSTEM_MATRIX;
}

/* A bulk copy: of all other calls of the system only they use memory that is looked at. */
static bool is_bulk(const struct xop *x)
{
	return x->kind == X_SYSTEM && x->op >= SYSTEM_BULK_LOAD && x->op <= SYSTEM_REMOTE_STORE;
}

static bool is_remote_store(const struct xop *x)
{
	return x->kind == X_SYSTEM && x->op == SYSTEM_REMOTE_STORE;
}

/* One side of a race, which @x is */
static const char *race_verb(const struct xop *x, bool store, bool atomic)
{
	if (is_remote_store(x))
		return "asynchronous store";
	if (is_product(x))
		return "load of a wgmma";
	if (is_bulk(x))
		return store ? "store of a bulk copy" : "load of a bulk copy";
	if (atomic || x->kind == X_ATOM || x->kind == X_RED)
		return "atomic";
	return store ? "store" : "load";
}

/* Blocks that share global memory do not wait for one another's copies. */
static bool waits_missing(const struct emu_fault *f, const struct xop *other)
{
	return (is_bulk(other) || is_product(other)) &&
	       (f->other_block == f->block || f->space == SPACE_SHARED);
}

static bool bulk_remedy(const struct xop *other, bool store, struct err *err)
{
	if (is_product(other))
		return err_remedy(err,
		                  "wait for the product (wgmma.commit_group, wgmma.wait_group), then put "
		                  "__syncthreads() or an mbarrier between the two accesses");
	const bool out = other->op == SYSTEM_BULK_STORE || other->op == SYSTEM_BULK_REDUCE ||
	                 other->op == SYSTEM_TENSOR_STORE || other->op == SYSTEM_TENSOR_REDUCE;
	if (out && store)
		return err_remedy(err, "let the thread that began the copy wait for it "
		                       "(cp.async.bulk.wait_group 0), and order the other one behind it");
	if (out)
		return err_remedy(err, "let the thread that began the copy wait until it has read "
		                       "(cp.async.bulk.wait_group.read 0), then put __syncthreads() in "
		                       "front of the store");
	return err_remedy(err, "wait for the copy's mbarrier (mbarrier.try_wait, "
	                       "cuda::barrier::wait()) in every thread that uses what it brings, or "
	                       "in one with __syncthreads() behind it");
}

static bool race_remedy(const struct emu_launch *l, const struct emu_fault *f, struct err *err)
{
	const struct xop *other = &l->image.ir.ops[f->other_op];
	const bool between = f->other_block != f->block;
	if (race_custom(l, f))
		return err_remedy(err, "%s", race_custom(l, f));
	if (f->scope)
		return err_remedy(err, "give both the scope of the device: atomicAdd(), not "
		                       "atomicAdd_block()");
	if (f->proxy)
		return err_remedy(err,
		                  "put fence.proxy.async (cuda::ptx::fence_proxy_async()) behind the "
		                  "store and in front of the barrier: bulk copies and wgmma go another "
		                  "way to memory, and may not see it otherwise");
	if (waits_missing(f, other))
		return bulk_remedy(other, f->other_store, err);
	if (other->kind == X_ASYNC && f->other_store)
		return err_remedy(err, "wait for the copy (cp.async.wait_group, __pipeline_wait_prior()), "
		                       "then put __syncthreads() between the two accesses");
	if (between && f->space == SPACE_SHARED)
		return err_remedy(err, "put cluster.sync() (barrier.cluster) between the two accesses, or "
		                       "use an atomic");
	if (between)
		return err_remedy(err, "use an atomic; or let one block finish first: write, "
		                       "__threadfence(), then set a flag by an atomic that the other "
		                       "block reads before its own __threadfence(); or split the kernel");
	if (fault_in_warp(f) && !is_product(&l->image.ir.ops[f->xop]))
		return err_remedy(err, "put __syncwarp() between the two accesses, since the threads of "
		                       "a warp need not run in lockstep, or use an atomic");
	return err_remedy(err, "put __syncthreads() between the two accesses, or use an atomic");
}

static bool report_race(const struct emu_launch *l, const struct emu_fault *f, const char *where,
                        struct err *err)
{
	const struct place other = line_place(l, f->other_op);
	const bool between = f->other_block != f->block;
	const struct xop *mine = &l->image.ir.ops[f->xop], *theirs = &l->image.ir.ops[f->other_op];
	const struct place who = thread_place(l, f->block, f->warp, f->lane), what = data_place(l, f);
	const struct place them =
		thread_place(l, f->other_block, f->other_thread / 32, f->other_thread % 32);
	const bool copied = theirs->kind == X_ASYNC && f->other_store;
	err_set(err, ERR_FAULT, "%s: %s-memory race at %s: this %s by %s meets the %s of %s by %s, %s",
	        where, f->space == SPACE_SHARED ? "shared" : "global", what.text,
	        race_verb(mine, f->store, f->atomic), who.text,
	        race_verb(theirs, f->other_store, false), other.text,
	        between ? them.text : strstr(them.text, "thread"),
	        f->scope                   ? "atomic only within one block"
	        : f->proxy                 ? "with no fence.proxy.async between"
	        : is_product(theirs)       ? "with no wait for that product between"
	        : waits_missing(f, theirs) ? "with no wait for that copy between"
	        : copied                   ? "with no wait for that copy and barrier between"
	        : between                  ? "and nothing orders the two blocks"
	        : fault_in_warp(f) && !is_product(mine) ? "with no __syncwarp() between"
	                                                : "with no barrier between");
	return race_remedy(l, f, err);
}

static bool lacks_dynamic_shared(const struct emu_launch *l)
{
	const struct ptx_module *m = l->module ? l->module->ptx : NULL;
	bool has = false;
	for (unsigned i = 0; m && i < m->n_vars; i++)
		has |= m->vars[i].is_extern && !m->vars[i].size;
	return has && !l->req->plan->dynamic_shared_bytes;
}

/* The name of a register of PTX, of the entry or of a function that it calls. */
static const char *register_name(const struct ir *ir, uint32_t reg)
{
	for (unsigned i = 0; ir->linked && i < ir->linked->n_parts; i++) {
		const struct link_part *p = &ir->linked->part[i];
		if (reg - p->first_reg < p->f->n_regs)
			return p->f->regs[reg - p->first_reg].name;
	}
	return !ir->linked && ir->func && reg < ir->func->n_regs ? ir->func->regs[reg].name : "(none)";
}

static void say_where(const struct emu_launch *l, uint32_t xop, char *where, size_t n)
{
	const uint32_t line = line_of(l, xop);
	size_t len;
	const char *own = ptx_short_name(l->func->name, &len);
	char name[256];
	snprintf(name, sizeof name, "%.*s", (int)len, own);
	if (line)
		snprintf(where, n, "%s:%u: %s", l->source_file, line, name);
	else
		snprintf(where, n, l->image.ir.func ? "%s: %s, PTX line %u" : "%s: %s, offset 0x%x",
		         l->source_file, name, inst_of(l, xop)->listing);
}

bool fault_report(const struct emu_launch *l, const struct emu_fault *f, struct err *err)
{
	const struct ir_inst *in = inst_of(l, f->xop);
	const struct place who = thread_place(l, f->block, f->warp, f->lane), what = data_place(l, f);
	char where[320];
	say_where(l, f->xop, where, sizeof where);
	switch (f->kind) {
	case FAULT_BOUNDS:
		err_set(err, ERR_FAULT, "%s: %s of %u bytes out of bounds: %s; %s", where, access_verb(f),
		        f->bytes, what.text, who.text);
		if (is_null(f))
			return err_remedy(err, "give the kernel memory of cudaMalloc(), and look whether that "
			                       "and the copies of pointers succeeded");
		return f->space == SPACE_SHARED && lacks_dynamic_shared(l)
		           ? err_remedy(err, "the kernel has an extern __shared__ array, and the launch "
		                             "gives it no bytes: --shared BYTES, or the third number "
		                             "between <<< and >>>")
		           : err_remedy(err,
		                        "compare the index with the size before the access, or correct "
		                        "the index");
	case FAULT_ALIGN:
		err_set(err, ERR_FAULT, "%s: misaligned %s of %u bytes: %s; %s", where, access_verb(f),
		        f->bytes, what.text, who.text);
		return err_remedy(err, "an access of %u bytes needs an address that is a multiple of %u",
		                  f->bytes, f->bytes);
	case FAULT_READ_ONLY:
		err_set(err, ERR_FAULT, "%s: store to read-only memory: %s; %s", where, what.text,
		        who.text);
		return err_remedy(err, "inputs of this kernel must not change");
	case FAULT_UNINITIALISED:
		err_set(err, ERR_FAULT, "%s: reads memory that was never written: %s; %s", where, what.text,
		        who.text);
		return err_remedy(err, f->space == SPACE_SHARED
		                           ? "write this element of shared memory first, and put "
		                             "__syncthreads() between if another thread does"
		                           : "write this element before it is read");
	case FAULT_UNDEFINED:
		err_set(err, ERR_FAULT,
		        "%s: reads register %s, which nothing writes (%s): it holds 0 here, on a GPU "
		        "anything",
		        where, register_name(&l->image.ir, (uint32_t)f->address), in->text);
		return err_remedy(err, "give the variable a value before it is read");
	case FAULT_RACE: return report_race(l, f, where, err);
	case FAULT_BARRIER_DIVERGED:
		err_set(err, ERR_FAULT,
		        "%s: barrier divergence: only some threads of warp %u reach this barrier; %s is "
		        "among those that do",
		        where, f->warp, who.text);
		return err_remedy(err, "move __syncthreads() out of the branch or loop that only some "
		                       "threads take");
	case FAULT_WARP_DIVERGED:
		err_set(err, ERR_FAULT,
		        "%s: warp divergence: at this %s lanes of warp %u, %s among them, wait for lanes "
		        "%08llx, which do not come there: on a GPU they wait for ever",
		        where, in->text, f->warp, who.text, (unsigned long long)f->address);
		return err_remedy(err, "name only the lanes that come there, or let all that are named "
		                       "come there");
	case FAULT_BARRIER_STUCK:
		err_set(err, ERR_FAULT,
		        "%s: barrier divergence in block %llu: not all threads reach the "
		        "same barrier: %s",
		        where, (unsigned long long)f->block, f->waiting);
		return err_remedy(err, "every thread of the block that has not ended must reach the same "
		                       "__syncthreads()");
	case FAULT_BARRIER_ENDED:
		err_set(err, ERR_FAULT,
		        "%s: barrier divergence in block %llu: %llu threads of it have ended, or gone "
		        "around this barrier to their end",
		        where, (unsigned long long)f->block, (unsigned long long)f->address);
		return err_remedy(err, "a GPU lets that pass, CUDA does not promise it: have every thread "
		                       "reach __syncthreads(), and put the condition around the work");
	case FAULT_TRAP:
		err_set(err, ERR_FAULT, "%s: trap: the kernel stopped itself; %s", where, who.text);
		return err_remedy(err,
		                  "look at the assertion or unreachable code of that line; grid.sync() "
		                  "stops so, too, without cudaLaunchCooperativeKernel()");
	default: return report_without_data(l, f, where, who.text, err);
	}
}
