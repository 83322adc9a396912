/* The session as the screen wants it: struct screen_host over struct lab. */
#ifndef PMPP_CLI_TUI_HOST_H
#define PMPP_CLI_TUI_HOST_H

#include "lab/lab.h"
#include "ui/screen.h"

void tui_host(struct lab *a, struct screen_host *host);

#endif
