/*
 * May code of a person's file run inside this program? Asked on the terminal, or said beforehand.
 */
#ifndef PMPP_CLI_CONSENT_H
#define PMPP_CLI_CONSENT_H

#define PLUGIN_OPTION "--plugin"

/* From now on descriptors of files ask here (user_plugin.h). */
void consent_open(void);
/* PLUGIN_OPTION: every file of this command line may. */
void consent_given(void);

#endif
