/*
 * Signatures of snapshots, by ssh-keygen -Y: FILE.sig beside FILE. A digest shows that a file was
 * changed; a signature shows who stands by it.
 */
#ifndef PMPP_LAB_SESSION_SIGN_H
#define PMPP_LAB_SESSION_SIGN_H

#include "base/err.h"

#include <stdatomic.h>
#include <stddef.h>

/* Signs with @key, the file of a private key, or of a public one that an agent holds. */
bool session_sign(const char *path, const char *key, struct err *err);
/*
 * What is to be said of @path's signature, whose contents are @text: who signed it, by
 * $PMPP_ALLOWED_SIGNERS, ~/.config/pmpp-explore/allowed_signers or ~/.ssh/allowed_signers; "not
 * signed". False: there is a signature, and it is not of this text. @cancel is polled; NULL =
 * never.
 */
bool session_signer(const char *path, const char *text, size_t len, const atomic_bool *cancel,
                    char *out, size_t n, struct err *err);

#endif
