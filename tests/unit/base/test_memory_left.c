/* Memory that is left, from folders as /proc and /sys/fs/cgroup have them: the least counts. */
#include "../unit.h"
#include "base/mem.h"
#include "base/memory_left.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[200];

static void put(const char *path, const char *text)
{
	char *at = mem_printf("%s/%s", root, path);
	for (char *slash = at + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(at, 0700);
	}
	FILE *f = fopen(at, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	free(at);
}

static void left(double bytes, const char *whose)
{
	char *proc = mem_printf("%s/proc", root), *cgroup = mem_printf("%s/cgroup", root);
	const struct memory_left m = memory_left_in(proc, cgroup);
	free(proc);
	free(cgroup);
	assert_float_equal(m.bytes, bytes, 0);
	assert_non_null(strstr(m.whose, whose));
}

static void begin(void)
{
	const char *tmp = getenv("TMPDIR");
	snprintf(root, sizeof root, "%.150s/pmpp-left-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(root));
}

static void forget(void)
{
	char *command = mem_printf("rm -rf '%s'", root);
	assert_int_equal(system(command), 0);
	free(command);
}

TEST(the_least_of_machine_and_containers)
{
	begin();
	left(1e18, "to be had");
	put("proc/meminfo", "MemTotal:  9000 kB\nMemFree:  1 kB\nMemAvailable:  4000 kB\n");
	left(4096000, "on this machine");
	put("proc/self/cgroup", "1:name=x:/other\n0::/user/job\n");
	put("cgroup/user/job/memory.max", "max\n");
	put("cgroup/user/job/memory.current", "500\n");
	left(4096000, "on this machine");
	put("cgroup/user/memory.max", "3000000\n");
	put("cgroup/user/memory.current", "2000000\n");
	put("cgroup/user/memory.stat", "anon 5\ninactive_file 300000\nactive_file 9\n");
	left(1300000, "container");
	put("cgroup/user/job/memory.max", "400\n");
	left(0, "container");
	forget();
}

TEST(containers_of_version_1)
{
	begin();
	put("proc/meminfo", "MemAvailable:  4000 kB\n");
	put("proc/self/cgroup", "9:cpu,memoryless:/no\n4:cpuset,memory:/box/own\n0::/elsewhere\n");
	put("cgroup/memory/box/own/memory.limit_in_bytes", "9223372036854771712\n");
	put("cgroup/memory/box/own/memory.usage_in_bytes", "500\n");
	left(4096000, "on this machine");
	put("cgroup/memory/no/memory.limit_in_bytes", "1000\n");
	put("cgroup/memory/no/memory.usage_in_bytes", "500\n");
	left(4096000, "on this machine");
	put("cgroup/memory/box/memory.limit_in_bytes", "3000000\n");
	put("cgroup/memory/box/memory.usage_in_bytes", "2000000\n");
	put("cgroup/memory/box/memory.stat", "inactive_file 7\ntotal_inactive_file 300000\n");
	left(1300000, "container");
	/* in a container the path is the machine's, and the mount is the container's own */
	put("cgroup/memory/memory.limit_in_bytes", "600\n");
	put("cgroup/memory/memory.usage_in_bytes", "500\n");
	left(100, "container");
	forget();
}
