__constant__ int k[4];
extern "C" __global__ void tiny(int *a, int n) { __shared__ int s[32]; int i = threadIdx.x; s[i & 31] = a[i]; __syncthreads(); if (i < n) a[i] = s[(i + 1) & 31] + k[n & 3]; }
