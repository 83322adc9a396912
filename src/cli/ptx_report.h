/* What the emulator would refuse of a PTX file, a cubin, or a folder of them. */
#ifndef PMPP_CLI_PTX_REPORT_H
#define PMPP_CLI_PTX_REPORT_H

#include "cli/cli.h"

/* Writes the report on @path; CLI_IMPOSSIBLE when a kernel of it would be refused. */
int ptx_report(struct cli *c, const char *path);

#endif
