/* The program's version: `--version`, and what a snapshot says it was written by. */
#ifndef PMPP_BASE_VERSION_H
#define PMPP_BASE_VERSION_H

#define PMPP_VERSION "0.1.0"

#endif
