/* Which lane a lane reads from in shfl (PTX ISA 9.0, 9.7.9.6). */
#include "emu/lane/lane.h"

unsigned lane_shfl_source(enum ptx_mode mode, unsigned lane, uint32_t b, uint32_t c, bool *inside)
{
	const int32_t self = (int32_t)lane, by = (int32_t)(b & 31);
	const int32_t segment = (int32_t)(c >> 8 & 31), clamp = (int32_t)(c & 31);
	const int32_t low = self & segment, high = low | (clamp & ~segment);
	int32_t from;
	switch (mode) {
	case MODE_UP:
		from = self - by;
		*inside = from >= high;
		break;
	case MODE_DOWN:
		from = self + by;
		*inside = from <= high;
		break;
	case MODE_BFLY:
		from = self ^ by;
		*inside = from <= high;
		break;
	default:
		from = low | (by & ~segment);
		*inside = from <= high;
		break;
	}
	return *inside ? (unsigned)from : lane;
}
