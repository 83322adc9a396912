/* What people mean by the names of a kernel's parameters. Private to src/userkernel/. */
#ifndef PMPP_USERKERNEL_USER_MEANING_H
#define PMPP_USERKERNEL_USER_MEANING_H

enum meaning { MEANS_UNKNOWN, MEANS_SIZE, MEANS_SMALL, MEANS_ZERO, MEANS_ONE };

/* Of a whole number: "numRows" is a size. @usual: a value, of MEANS_SMALL. */
enum meaning name_meaning(const char *name, unsigned *usual);
/* Which way does a side of this name run? 0 = x, 1 = y, -1 = the name does not say. */
int name_axis(const char *name);

#endif
