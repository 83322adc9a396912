/* Memory in reserve: the allocation that fails gets it, once; the next one ends the program. */
#include "../unit.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static size_t addresses_in_use(void)
{
	char line[200] = "";
	FILE *f = fopen("/proc/self/statm", "re");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof line, f));
	fclose(f);
	return strtoul(line, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

/* The status with which a process ends that has room for little more than its reserve. */
static int with_reserve(size_t reserve, size_t first, size_t second)
{
	const pid_t pid = fork();
	if (!pid) {
		if (freopen("/dev/null", "w", stderr) == NULL)
			_exit(9);
		if (reserve)
			mem_keep_reserve(reserve);
		const struct rlimit most = { addresses_in_use() + 2 * MIB, RLIM_INFINITY };
		setrlimit(RLIMIT_AS, &most);
		char *p = mem_alloc(first);
		p[first - 1] = 1;
		if (!mem_was_short() || mem_was_short())
			_exit(8);
		char *q = mem_alloc(second);
		q[second - 1] = p[first - 1];
		_exit(0);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(a_reserve_is_used_once)
{
	if (UNIT_ASAN || UNIT_TSAN)
		skip(); /* sanitizers take all addresses there are */
	assert_int_equal(with_reserve(32 * MIB, 16 * MIB, 1000), 0);
	assert_int_equal(with_reserve(32 * MIB, 16 * MIB, 32 * MIB), 3);
	assert_int_equal(with_reserve(32 * MIB, 64 * MIB, 1000), 3);
	assert_int_equal(with_reserve(0, 16 * MIB, 1000), 3);
}
