#pragma once
__device__ inline int times_factor(int value)
{
	return FACTOR * value;
}
int scaled_sum(int value, int n);
int host_part(int value);
