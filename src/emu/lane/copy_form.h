/*
 * How machine code says which lanes of a copy to shared memory only write zeros. An H200 counts the
 * wavefronts of copies past L1 differently for each, whatever lanes these are (count/copy_waves.c).
 */
#ifndef PMPP_EMU_COPY_FORM_H
#define PMPP_EMU_COPY_FORM_H

enum copy_form {
	COPY_AS_READ,  /* not at all, or in !P0 */
	COPY_NOT_READ, /* in P0 */
	COPY_APART,    /* in another predicate, negated or not */
	COPY_TWICE     /* in a register, with how much each copies: .ZFILL */
};

#endif
