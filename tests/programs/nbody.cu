// Bodies that attract each other: structs, float4 in shared memory, rsqrtf, a loop of steps.
#include "check.h"
#define BLOCK 64

struct body {
	float4 position; // w: mass
	float3 velocity;
};

__device__ float3 pull(float3 a, float4 me, float4 other)
{
	float3 r = make_float3(other.x - me.x, other.y - me.y, other.z - me.z);
	float d = r.x * r.x + r.y * r.y + r.z * r.z + 0.01f;
	float inverse = rsqrtf(d);
	float s = other.w * inverse * inverse * inverse;
	return make_float3(a.x + r.x * s, a.y + r.y * s, a.z + r.z * s);
}

__global__ void step(const body *in, body *out, int n, float dt)
{
	__shared__ float4 tile[BLOCK];
	int i = blockIdx.x * BLOCK + threadIdx.x;
	body me = in[i];
	float3 a = make_float3(0, 0, 0);
	for (int t = 0; t < n; t += BLOCK) {
		tile[threadIdx.x] = in[t + threadIdx.x].position;
		__syncthreads();
		for (int k = 0; k < BLOCK; k++)
			a = pull(a, me.position, tile[k]);
		__syncthreads();
	}
	me.velocity.x += a.x * dt;
	me.velocity.y += a.y * dt;
	me.velocity.z += a.z * dt;
	me.position.x += me.velocity.x * dt;
	me.position.y += me.velocity.y * dt;
	me.position.z += me.velocity.z * dt;
	out[i] = me;
}

int main()
{
	const int n = 256, steps = 4;
	std::vector<body> bodies(n);
	unsigned seed = 99;
	for (body &b : bodies) {
		b.position = make_float4(next_random(seed) % 100 * 0.1f, next_random(seed) % 100 * 0.1f,
		                         next_random(seed) % 100 * 0.1f, 1.0f + next_random(seed) % 3);
		b.velocity = make_float3(0, 0, 0);
	}
	double before[3] = { 0 }, after[3] = { 0 };
	body *a, *b;
	CHECK(cudaMalloc(&a, n * sizeof(body)));
	CHECK(cudaMalloc(&b, n * sizeof(body)));
	CHECK(cudaMemcpy(a, bodies.data(), n * sizeof(body), cudaMemcpyHostToDevice));
	for (int s = 0; s < steps; s++) {
		step<<<n / BLOCK, BLOCK>>>(a, b, n, 0.001f);
		std::swap(a, b);
	}
	std::vector<body> now(n);
	CHECK(cudaMemcpy(now.data(), a, n * sizeof(body), cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++) { // momentum stays
		after[0] += now[i].velocity.x * now[i].position.w;
		after[1] += now[i].velocity.y * now[i].position.w;
		after[2] += now[i].velocity.z * now[i].position.w;
	}
	bool good = true;
	for (int k = 0; k < 3; k++)
		good = good && fabs(after[k] - before[k]) < 1e-2;
	printf("%d bodies, %d steps\n", n, steps);
	CHECK(cudaFree(a));
	CHECK(cudaFree(b));
	return finish("nbody", good);
}
