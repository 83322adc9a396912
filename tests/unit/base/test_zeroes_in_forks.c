/* Memory that copies of a process need not have: zeroes there, and the process keeps its own. */
#include "../unit.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE ((size_t)4096)
#define PAGES 8

/* The sum of what a copy of this process finds in the middle of the first and of the last page. */
static int seen_by_copy(const char *p)
{
	const pid_t pid = fork();
	if (!pid)
		_exit(p[PAGE / 2] + p[PAGES * PAGE - PAGE / 2]);
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(copies_find_zeroes_where_that_is_wished)
{
	char *p = mem_pages(PAGES * PAGE);
	memset(p, 7, PAGES * PAGE);
	assert_int_equal(seen_by_copy(p), 14);
	mem_wish_zeroes_in_forks(p, PAGES * PAGE, true);
	assert_int_equal(seen_by_copy(p), 0);
	assert_int_equal(p[PAGE / 2], 7);
	mem_wish_zeroes_in_forks(p, PAGES * PAGE, false);
	assert_int_equal(seen_by_copy(p), 14);
	/* only whole pages: what lies beside them is somebody else's */
	mem_wish_zeroes_in_forks(p + PAGE / 2, (PAGES - 1) * PAGE, true);
	assert_int_equal(seen_by_copy(p), 14);
	mem_wish_zeroes_in_forks(p + PAGE / 2, (PAGES - 1) * PAGE, false);
	free(p);
}
