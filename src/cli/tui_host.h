/* The session as the screen wants it: struct screen_host over struct app. */
#ifndef PMPP_CLI_TUI_HOST_H
#define PMPP_CLI_TUI_HOST_H

#include "lab/app.h"
#include "ui/screen.h"

void app_host(struct app *a, struct screen_host *host);

#endif
