/* The table of constants; see constants.def. */
#include "timemodel/constants.h"

#include "base/text.h"

#include <stddef.h>

const struct timing_constants timing = {
#define X(name_, value_, unit_, scope_, source_) .name_ = value_,
#include "timemodel/constants.def"
#undef X
};

static const struct timing_constant rows[] = {
#define X(name_, value_, unit_, scope_, source_) \
	{ #name_, value_, unit_, TIMING_##scope_, source_ },
#include "timemodel/constants.def"
#undef X
};

const struct timing_constant *timing_constant_at(unsigned i)
{
	return i < ARRAY_LEN(rows) ? &rows[i] : NULL;
}
