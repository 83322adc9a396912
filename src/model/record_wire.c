/* Records as messages by their tables; see record_wire.h. */
#include "model/record_wire.h"

#include "base/intern.h"
#include "base/mem.h"

#include <stdint.h>
#include <string.h>

static void put_items(struct wire_msg *m, const struct record_table *t, const char *items,
                      unsigned n)
{
	for (; n; n--, items += t->size)
		record_put(m, t, items);
}

static void put_field(struct wire_msg *m, const struct record_field *f, const void *record)
{
	const char *at = (const char *)record + f->offset;
	void *pointer;
	switch (f->kind) {
	case FIELD_UNSIGNED:
	case FIELD_NAME:
	case FIELD_BOOL:
	case FIELD_INDEX:
	case FIELD_DOUBLE:
	case FIELD_VECTOR: wire_put(m, at, f->size); break;
	case FIELD_CHARS: wire_put_str(m, at); break;
	case FIELD_TEXT:
		memcpy(&pointer, at, sizeof pointer);
		wire_put_str(m, pointer);
		break;
	case FIELD_RECORD: record_put(m, f->table, at); break;
	case FIELD_LIST:
		memcpy(&pointer, at, sizeof pointer);
		wire_put_u32(m, record_length(f, record));
		put_items(m, f->table, pointer, record_length(f, record));
		break;
	case FIELD_ARRAY:
	case FIELD_MAP:
		wire_put_u32(m, record_length(f, record));
		put_items(m, f->table, at, record_length(f, record));
		break;
	case FIELD_POINTER:
	case FIELD_CODED: m->bad = true; break; /* wire_send() refuses it */
	case FIELD_OTHER: break;
	}
}

void record_put(struct wire_msg *m, const struct record_table *t, const void *x)
{
	for (const struct record_field *f = t->fields; f < t->fields + t->n; f++)
		if (f->key)
			put_field(m, f, x);
}

/* The fewest bytes that a record takes: memory is taken only for what the frame can hold. */
static size_t least_bytes(const struct record_table *t)
{
	size_t sum = 0;
	for (const struct record_field *f = t->fields; f < t->fields + t->n; f++) {
		if (!f->key)
			continue;
		switch (f->kind) {
		case FIELD_RECORD: sum += least_bytes(f->table); break;
		case FIELD_CHARS:
		case FIELD_TEXT: sum += sizeof(uint64_t); break; /* its length */
		case FIELD_LIST:
		case FIELD_ARRAY:
		case FIELD_MAP: sum += sizeof(uint32_t); break;
		default: sum += f->size; break;
		}
	}
	return sum;
}

static void get_items(struct wire_msg *m, const struct record_table *t, char *items, unsigned n)
{
	for (; n; n--, items += t->size)
		record_get(m, t, items);
}

/* LIST, ARRAY and MAP. */
static void get_list(struct wire_msg *m, const struct record_field *f, char *record)
{
	char *items = record + f->offset;
	const size_t room = f->kind == FIELD_LIST ? f->most : record_room(f);
	const unsigned n = wire_get_upto(m, (uint32_t)room);
	if (n * least_bytes(f->table) > m->len - m->at)
		m->bad = true;
	if (m->bad)
		return;
	if (f->kind == FIELD_LIST) {
		items = n ? mem_calloc(n, f->table->size) : NULL;
		*(void **)(void *)(record + f->offset) = items;
	}
	*(unsigned *)(void *)(record + f->count_offset) = n;
	get_items(m, f->table, items, n);
}

static void get_text(struct wire_msg *m, char *at)
{
	char text[512];
	wire_get_str(m, text, sizeof text);
	const char *kept = intern(text);
	memcpy(at, &kept, sizeof kept);
}

static void get_field(struct wire_msg *m, const struct record_field *f, char *record)
{
	char *at = record + f->offset;
	uint8_t byte = 0;
	switch (f->kind) {
	case FIELD_UNSIGNED:
	case FIELD_INDEX:
	case FIELD_DOUBLE:
	case FIELD_VECTOR: wire_get(m, at, f->size); break;
	case FIELD_NAME:
		wire_get(m, at, f->size);
		if (record_load(at, f->size) >= f->names->n) {
			m->bad = true;
			memset(at, 0, f->size);
		}
		break;
	case FIELD_BOOL:
		wire_get(m, &byte, 1);
		m->bad = m->bad || byte > 1;
		*(bool *)at = byte == 1;
		break;
	case FIELD_CHARS: wire_get_str(m, at, f->size); break;
	case FIELD_TEXT: get_text(m, at); break;
	case FIELD_RECORD: record_get(m, f->table, at); break;
	case FIELD_LIST:
	case FIELD_ARRAY:
	case FIELD_MAP: get_list(m, f, record); break;
	case FIELD_POINTER:
	case FIELD_CODED:
	case FIELD_OTHER: break;
	}
}

bool record_get(struct wire_msg *m, const struct record_table *t, void *x)
{
	for (const struct record_field *f = t->fields; f < t->fields + t->n; f++)
		if (f->key)
			get_field(m, f, x);
	return !m->bad;
}
