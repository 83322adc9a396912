#define _GNU_SOURCE /* memfd_create() */
/* Memory of a launch; see guest_reach.h. */
#include "runtime/guest/guest_reach.h"
#include "runtime/guest/guest_record.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Serials of allocations that pointers lead to: they are told once. */
struct told {
	uint64_t serial[RECORD_MAX_RANGES];
	unsigned n;
};

static bool was_told(const struct told *t, uint64_t serial)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->serial[i] == serial)
			return true;
	return false;
}

/* Pointers are eight bytes at a multiple of eight. */
static void tell_argument(const struct guest_op *op, unsigned i, struct told *told)
{
	unsigned offset, bytes;
	emu_function_param(op->u.launch.function->loaded, i, &offset, &bytes);
	for (unsigned at = 0; at + 8 <= bytes; at += 8) {
		struct emu_allocation a;
		uint64_t address;
		memcpy(&address, (const char *)op->u.launch.params + offset + at, sizeof address);
		if (!address || !emu_device_find(guest.device, address, &a))
			continue;
		const struct record_memory r = {
			.param = (int)i,
			.param_offset = at,
			.address = address,
			.bytes = a.bytes - (address - a.address),
			.serial = a.serial,
		};
		if (told->n < RECORD_MAX_RANGES)
			told->serial[told->n++] = a.serial;
		record_memory(&r);
	}
}

static void tell_variables(const struct guest_module *m)
{
	for (size_t i = 0; i < guest.n_variables; i++) {
		const struct guest_variable *v = &guest.variables[i];
		struct record_memory r = { .param = -1, .constant = v->constant };
		if (v->module != m || !m->loaded ||
		    !emu_module_variable(m->loaded, v->name, &r.address, &r.bytes) || !r.bytes)
			continue;
		record_plain_name(v->name, r.variable, sizeof r.variable);
		record_memory(&r);
	}
}

void reach_tell(const struct guest_op *op)
{
	struct emu_function_info info;
	struct emu_allocation a;
	struct told told = { .n = 0 };
	emu_function_info(op->u.launch.function->loaded, &info);
	for (unsigned i = 0; i < info.n_params; i++)
		tell_argument(op, i, &told);
	tell_variables(op->u.launch.function->module);
	for (size_t i = 0; emu_device_allocation(guest.device, i, &a); i++) {
		const struct record_memory r = {
			.param = -1, .address = a.address, .bytes = a.bytes, .serial = a.serial
		};
		/* what no call has made is the runtime's own */
		if (a.kind != EMU_MEMORY_VARIABLE && a.caller && a.bytes && !was_told(&told, a.serial))
			record_memory(&r);
	}
}

static bool lies_in_one(const struct record_range *r)
{
	struct emu_allocation a;
	return emu_device_find(guest.device, r->address, &a) &&
	       r->bytes <= a.bytes - (r->address - a.address);
}

void reach_set(const struct record_range *r)
{
	if (!lies_in_one(r))
		return;
	memcpy((void *)(uintptr_t)r->address, r->data, r->bytes);
	emu_device_mark_written(guest.device, r->address, r->bytes);
}

void reach_give(const struct record_range *r)
{
	const int fd = lies_in_one(r) ? memfd_create("contents", MFD_CLOEXEC) : -1;
	uint64_t done = 0;
	while (fd >= 0 && done < r->bytes) {
		const ssize_t n =
			write(fd, (const char *)(uintptr_t)r->address + done, (size_t)(r->bytes - done));
		if (n <= 0)
			break;
		done += (uint64_t)n;
	}
	if (fd >= 0 && done == r->bytes)
		record_contents(r, fd);
	if (fd >= 0)
		close(fd);
}
