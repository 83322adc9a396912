/* See shared_memory.h. */
#define _GNU_SOURCE /* memfd_create, F_ADD_SEALS */
#include "base/shared_memory.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool shared_memory_make(struct shared_memory *m, size_t bytes, const char *what, struct err *err)
{
	*m = (struct shared_memory){ 0 };
	const int fd = memfd_create("pmpp-buffers", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *data = MAP_FAILED;
	if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
		data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED) {
		const int e = errno;
		char size[32];
		if (fd >= 0)
			close(fd);
		return err_set(err, ERR_IO, "%s of shared memory for %s: %s",
		               fmt_bytes(size, sizeof size, (double)bytes), what, strerror(e));
	}
	/* neither side can make it smaller under the other */
	(void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
	*m = (struct shared_memory){ .fd = fd, .data = data, .bytes = bytes };
	return true;
}

void shared_memory_drop(struct shared_memory *m)
{
	if (!m->data)
		return;
	munmap(m->data, m->bytes);
	close(m->fd);
	*m = (struct shared_memory){ 0 };
}
