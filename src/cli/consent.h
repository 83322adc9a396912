/*
 * May code of a person's file run on this machine? A descriptor, inside this program: asked on the
 * terminal, or said beforehand. A whole program: announced, and put into a sandbox on request.
 */
#ifndef PMPP_CLI_CONSENT_H
#define PMPP_CLI_CONSENT_H

#define PLUGIN_OPTION "--plugin"
#define SANDBOX_OPTION "--sandbox"

/* From now on descriptors of files ask here (user_plugin.h). */
void consent_open(void);
/* PLUGIN_OPTION: every file of this command line may. */
void consent_given(void);
/* SANDBOX_OPTION: programs of this command line run in a sandbox only (runtime/sandbox.h). */
void consent_in_sandbox(void);
/* One line on standard error: which program is about to run here, with which rights. */
void consent_announce(const char *program);

#endif
