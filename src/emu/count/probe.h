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
	uint32_t wavefronts, ideal;
};
/* How the lanes of @mask lie: all at one place, in a row, or anyhow. */
enum lane_layout { LAYOUT_ANY, LAYOUT_SAME, LAYOUT_ROW };
enum lane_layout probe_layout(const uint64_t *address, uint32_t mask, unsigned access);
/* @access: bytes of each lane, aligned to their size; lanes outside @mask are ignored; @layout:
 * that of probe_layout(), or LAYOUT_ANY for one that is not known. */
void probe_global(const uint64_t *address, uint32_t mask, unsigned access, enum lane_layout layout,
                  struct global_probe *p);
struct shared_probe probe_shared(const uint64_t *address, uint32_t mask, unsigned access,
                                 enum lane_layout layout, bool store);

#endif
