/* Remembers one arrangement of lanes per instruction; see repeat.h. Knows no warp and no memory. */
#include "emu/count/repeat.h"

#include "emu/count/lane_wide.h"
#include "emu/lane/lane.h"

#include <string.h>

static unsigned first_lane(uint32_t mask)
{
	return (unsigned)__builtin_ctz(mask);
}

static void remember_lanes(struct repeat *r, const int32_t offset[32], uint32_t mask,
                           unsigned bytes)
{
	int32_t low = 0, high = 0, bits = 0;
	for (unsigned i = 0; i < 32; i++) {
		low = offset[i] < low ? offset[i] : low;
		high = offset[i] > high ? offset[i] : high;
		bits |= offset[i];
	}
	memcpy(r->offset, offset, sizeof r->offset);
	r->mask = mask;
	r->low = low;
	r->high = (int64_t)high + bytes;
	r->aligned = !((uint32_t)bits & (bytes - 1));
	r->has_shared = r->has_global = false;
}

bool repeat_look(struct repeat *r, const uint64_t address[32], uint32_t mask, unsigned bytes)
{
	const uint64_t first = address[first_lane(mask)];
	int32_t offset[32];
	uint64_t far = 0;
	uint32_t differ = mask ^ r->mask;
	bool same;
	if (mask == 0xffffffffu && lane_wide()) {
		if (!lane_wide_offsets(address, r->offset, offset, &same))
			return false;
		differ |= !same;
	} else if (mask == 0xffffffffu) {
		for (unsigned i = 0; i < 32; i++) {
			const uint64_t d = address[i] - first;
			offset[i] = (int32_t)(uint32_t)d;
			far |= d + 0x80000000u;
			differ |= (uint32_t)offset[i] ^ (uint32_t)r->offset[i];
		}
	} else {
		for (unsigned i = 0; i < 32; i++) {
			const uint64_t here = mask & lane_bit[i] ? UINT64_MAX : 0;
			const uint64_t d = (address[i] - first) & here;
			offset[i] = (int32_t)(uint32_t)d;
			far |= d + 0x80000000u;
			differ |= (uint32_t)offset[i] ^ (uint32_t)r->offset[i];
		}
	}
	if (far >> 32)
		return false;
	if (differ)
		remember_lanes(r, offset, mask, bytes);
	return true;
}

struct shared_probe repeat_shared(struct repeat *r, const uint64_t address[32], unsigned bytes,
                                  bool store)
{
	/* bytes and halves: which of them share a word depends on where the first lies in its word */
	const uint32_t in_word = (uint32_t)address[first_lane(r->mask)] & 3;
	if (!r->has_shared || (bytes < 4 && r->in_word != in_word))
		r->shared = probe_shared(address, r->mask, bytes, LAYOUT_ANY, store);
	r->in_word = in_word;
	r->has_shared = true;
	return r->shared;
}

const struct global_probe *repeat_global(struct repeat *r, const uint64_t address[32],
                                         unsigned bytes)
{
	const uint64_t first = address[first_lane(r->mask)];
	if (r->has_global && r->residue == (first & 127))
		return &r->global;
	probe_global(address, r->mask, bytes, LAYOUT_ANY, &r->global);
	for (unsigned i = 0; i < r->global.n; i++)
		r->global.line[i] -= first >> 7;
	r->residue = first & 127;
	r->has_global = true;
	return &r->global;
}
