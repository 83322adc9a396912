/* printf of device code: its formats over its argument buffer. */
#ifndef PMPP_EMU_GUEST_PRINT_H
#define PMPP_EMU_GUEST_PRINT_H

#include "emu/vm/warp.h"

struct guest_string {
	const char *text; /* in device memory */
	size_t n;
};

/* Host address of what lane @lane of @w sees at the generic address, and the bytes from there to
 * the end of that memory; NULL or 0 bytes = nothing lies there. */
const void *vm_guest_bytes(const struct warp *w, unsigned lane, uint64_t address, uint64_t *n);
/* False: no memory there, or no end. */
bool vm_guest_string(const struct warp *w, unsigned lane, uint64_t address, struct guest_string *s);

/* Appends what printf() makes of @format and the buffer at @arguments to @out as a piece of the
 * block; *@result: number of arguments. False: *@bad is an address that it cannot read. */
bool guest_print(const struct warp *w, unsigned lane, const struct guest_string *format,
                 uint64_t arguments, struct printed_text *out, uint64_t *result, uint64_t *bad);

#endif
