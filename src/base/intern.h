/* One lasting copy of each distinct string, for texts that are pointed to and never freed. */
#ifndef PMPP_BASE_INTERN_H
#define PMPP_BASE_INTERN_H

/* The copy lives as long as the program. Thread-safe. NULL stays NULL. */
const char *intern(const char *s);

#endif
