/* The newest family of a person's own file; see user_list.h. */
#include "userkernel/user_list.h"

#include "base/asset.h"
#include "base/text.h"

#include <stdatomic.h>
#include <stdio.h>

static _Atomic(const struct kernel_desc *) newest_kernel;

const struct kernel_desc *user_kernel_newest(void)
{
	return atomic_load(&newest_kernel);
}

void user_kernel_publish(const struct kernel_desc *k)
{
	atomic_store(&newest_kernel, k);
}

static bool is_built_in(const char *name)
{
	char kernel[64];
	for (size_t i = 0; i < asset_count(); i++)
		if (asset_in(asset_at(i), "kernels", ".cu", kernel, sizeof kernel) && str_ieq(kernel, name))
			return true;
	return false;
}

void user_kernel_name(const char *name, char *out, size_t n)
{
	snprintf(out, n, "%s%s", is_built_in(name) ? "own_" : "", name);
}
