/* What the memory system would see of one warp access: pure functions of the lanes' addresses. */
#ifndef PMPP_EMU_PROBE_H
#define PMPP_EMU_PROBE_H

#include <stdbool.h>
#include <stdint.h>

struct global_probe {
	uint32_t sectors, lines, bytes; /* distinct 32-byte sectors, 128-byte lines, bytes */
	uint32_t n;                     /* distinct lines with their touched sectors, by first lane */
	uint64_t line[32];
	uint8_t sector_mask[32];
};
struct shared_probe {
	uint32_t waves, ideal;
};
/* How the lanes of @mask lie: all at one place, in a row, or anyhow. */
enum access_shape { SHAPE_ANY, SHAPE_SAME, SHAPE_ROW };
enum access_shape probe_shape(const uint64_t *address, uint32_t mask, unsigned access);
/* @access: bytes of each lane, aligned to their size; lanes outside @mask are ignored; @shape: that
 * of probe_shape(), or SHAPE_ANY for one that is not known. */
void probe_global(const uint64_t *address, uint32_t mask, unsigned access, enum access_shape shape,
                  struct global_probe *p);
struct shared_probe probe_shared(const uint64_t *address, uint32_t mask, unsigned access,
                                 enum access_shape shape, bool store);

#endif
