/*
 * What the host only reads, which content does not tell: by the marks that the processor leaves in
 * page tables (Linux: /proc/self/clear_refs and smaps). Where the system shows no marks, nothing is
 * known, which looks as if the host had read nothing.
 */
#ifndef PMPP_EMU_HOST_READS_H
#define PMPP_EMU_HOST_READS_H

#include <stdbool.h>
#include <stdint.h>

/* Memory whose pages are looked at; whole pages, which hold nothing else. */
struct host_range {
	const uint8_t *at;
	uint64_t bytes;
	uint64_t touched; /* the answer: bytes of pages that were read or written since */
};
/* Sees to it that ranges have marks of their own, and takes all marks away; false: it cannot be. */
bool host_reads_begin(const struct host_range *range, unsigned n);
/* Fills @touched; false, with zeros: nothing is known. */
bool host_reads_since(struct host_range *range, unsigned n);

#endif
