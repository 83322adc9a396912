/* How the rows of record tables are written, private to record_*.c; T is the struct they speak of.
 */
#ifndef PMPP_MODEL_RECORD_ROWS_H
#define PMPP_MODEL_RECORD_ROWS_H

#include "base/text.h"

#define PLACE(m) .offset = offsetof(struct T, m), .size = sizeof(((struct T *)0)->m)
/* A member called as in the struct, in a snapshot. */
#define FIELD(m, kind_, ...) { .key = #m, PLACE(m), .kind = FIELD_##kind_, __VA_ARGS__ }
/* A member of another name. */
#define NAMED(key_, m, kind_, ...) { .key = key_, PLACE(m), .kind = FIELD_##kind_, __VA_ARGS__ }
/* The same, and in `run --json` under this key. */
#define SHOWN(m, run_, kind_, ...) NAMED(#m, m, kind_, .run_key = run_, __VA_ARGS__)
/* What a snapshot's reader makes again: in `run --json` only. */
#define DERIVED(run_, m, kind_, ...) \
	{ .run_key = run_, PLACE(m), .kind = FIELD_##kind_, __VA_ARGS__ }
/* A member by a codec, under one key in both. */
#define CODED(key_, codec_, ...) \
	{ .key = key_, .run_key = key_, .kind = FIELD_CODED, .codec = codec_, __VA_ARGS__ }
/* The same in `run --json` only, from a function that makes its JSON. */
#define COMPUTED(run_, write_)                                                      \
	{                                                                               \
		.run_key = run_, .kind = FIELD_CODED, .codec = &(const struct record_codec) \
		{                                                                           \
			.write = write_                                                         \
		}                                                                           \
	}
#define TABLE(name_, about_, fields_, ...) \
	{ .name = name_,                       \
	  .about = about_,                     \
	  .size = sizeof(struct T),            \
	  .fields = fields_,                   \
	  .n = ARRAY_LEN(fields_),             \
	  __VA_ARGS__ }

#endif
