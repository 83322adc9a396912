#define _GNU_SOURCE /* memfd_create */
/* Signing and checking; see session_sign.h. What is checked is what was read, not the file anew. */
#include "session_sign.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/plain.h"
#include "base/text.h"
#include "base/tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LIMIT_S 60
#define MAX_KEY_BYTES ((size_t)1 << 20) /* of a key or a signature, and far more than they have */
#define NAME "pmpp-explore"             /* the signatures' name space */

static const char signing[] = "exec ssh-keygen -Y sign -q -n " NAME " -f \"$1\" \"$2\"";
static const char checking[] =
	"command -v ssh-keygen >/dev/null || { printf 'its signature was NOT checked: no ssh-keygen';"
	" exit 0; }\n"
	"who=$([ ! -r \"$2\" ] || ssh-keygen -Y find-principals -s \"$1\" -f \"$2\" 2>/dev/null |"
	" head -n 1)\n"
	"if [ -n \"$who\" ]; then\n"
	"ssh-keygen -Y verify -q -f \"$2\" -I \"$who\" -n " NAME " -s \"$1\" <&3 >&2 &&"
	" printf 'signed by %s' \"$who\"\n"
	"else\n"
	"key=$(ssh-keygen -Y check-novalidate -n " NAME " -s \"$1\" <&3) &&"
	" printf 'signed with a key that you have not named: %s' \"${key##* with }\"\n"
	"fi";

static bool run_script(const char *script, const char *first, const char *second, int fd,
                       const atomic_bool *cancel, struct text *out, struct err *err)
{
	const char *const argv[] = { "ssh-keygen", "-c", script, "sh", first, second, NULL };
	const struct tool_request req = {
		.path = "/bin/sh",
		.argv = argv,
		.fd = fd,
		.limit_s = LIMIT_S,
		.max_bytes = 4096,
		.cancel = cancel,
	};
	return tool_run(&req, out, err);
}

bool session_sign(const char *path, const char *key, struct err *err)
{
	struct text out = { 0 };
	char *const signature = mem_printf("%s.sig", path);
	const bool gone = !unlink(signature) || errno == ENOENT;
	const bool ok = gone ? file_check(key, MAX_KEY_BYTES, err) &&
	                           run_script(signing, key, path, -1, NULL, &out, err)
	                     : err_set(err, ERR_IO, "%s: %s", signature, strerror(errno));
	free(signature);
	text_free(&out);
	if (ok)
		return true;
	err_prefix(err, "%s was written, but not signed: ", path);
	return err_remedy(err, "--sign wants the file of an SSH key (ssh-keygen -t ed25519 makes one); "
	                       "one with a passphrase must be in the agent (ssh-add)");
}

static char *allowed_signers(void)
{
	const char *named = getenv("PMPP_ALLOWED_SIGNERS"), *home = getenv("HOME");
	if (named || !home)
		return mem_strdup(named ? named : "");
	char *const own = mem_printf("%s/.config/" NAME "/allowed_signers", home);
	if (!access(own, R_OK))
		return own;
	free(own);
	return mem_printf("%s/.ssh/allowed_signers", home);
}

static int in_memory(const char *text, size_t len)
{
	const int fd = memfd_create("snapshot", MFD_CLOEXEC);
	size_t at = 0;
	while (fd >= 0 && at < len) {
		const ssize_t n = write(fd, text + at, len - at);
		if (n <= 0) {
			close(fd);
			return -1;
		}
		at += (size_t)n;
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

bool session_signer(const char *path, const char *text, size_t len, const atomic_bool *cancel,
                    char *out, size_t n, struct err *err)
{
	char *const signature = mem_printf("%s.sig", path);
	snprintf(out, n, "not signed");
	bool ok = true;
	if (!access(signature, F_OK)) {
		struct text said = { 0 };
		char *const allowed = allowed_signers();
		const int fd = in_memory(text, len);
		ok = fd >= 0 ? file_check(signature, MAX_KEY_BYTES, err) &&
		                   (access(allowed, R_OK) || file_check(allowed, MAX_KEY_BYTES, err)) &&
		                   run_script(checking, signature, allowed, fd, cancel, &said, err)
		             : err_set(err, ERR_IO, "memory for %s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		snprintf(out, n, "%s", said.s ? plain_text(said.s) : "");
		text_free(&said);
		free(allowed);
	}
	if (!ok) {
		err_prefix(err, "%s is not what %s was made for: ", path, signature);
		err_remedy(err, "one of them was changed since; remove %.200s to open the file unsigned",
		           signature);
	}
	free(signature);
	return ok;
}
