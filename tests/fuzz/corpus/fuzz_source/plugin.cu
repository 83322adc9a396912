#include "model/kernel.h"
const struct kernel_desc kernel_mine = {
	.name = "mine",
};
