/* Device memory that several processes have; the rest of it is in emu/device.h. */
#ifndef PMPP_EMU_SHARED_PAGES_H
#define PMPP_EMU_SHARED_PAGES_H

#include <stdint.h>

struct emu_device;
struct shared_pages;
struct shared_pages *shared_pages_new(void);
void shared_pages_free(struct shared_pages *s);
/* [base, base + size) is given back: no other process sees what comes there. */
void shared_pages_drop(struct emu_device *d, uint64_t base, uint64_t size);

#endif
