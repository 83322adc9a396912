/* Tries a launch of a person's own kernel on a few blocks in the emulator, for suggestions. */
#ifndef PMPP_LAB_USER_TRIAL_H
#define PMPP_LAB_USER_TRIAL_H

#include "userkernel/user_file.h"

/* For user_spec.trial. Takes seconds at most. */
void user_trial_run(const struct kernel_desc *k, struct user_trial *out);

#endif
