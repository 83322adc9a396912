#!/bin/sh
# Whole programs count their machine code, as the card did: instructions, divergence, requests,
# floating-point operations; results, constants and addresses of variables among them.
. "$(dirname "$0")/lib.sh"
programs=$TEST_ROOT/tests/programs
recorded=$(dirname "$(ls "$TEST_ROOT"/tests/gpu/h200-*/programs/symbols.out | tail -n 1)")

command -v nvcc >/dev/null || {
	echo 'skip machine-code: no nvcc here to compile programs'
	exit 0
}
"$PMPP" sass "$TEST_ROOT/tests/data/sass/tiny_sm_90.cubin" >/dev/null 2>"$dir/err" || {
	echo "skip machine-code: $(head -n 1 "$dir/err")"
	exit 0
}

# bank 3 and 4, divergence, several kernels with shared memory, halves, groups of a warp, bulk copies,
# groups of lanes that WARPSYNC.EXCLUSIVE takes apart (a branch each time)
# (the card's requests are ours less those of bulk.*)
python3 "$TEST_ROOT/tests/gpu/programs_compare.py" "$PMPP" "$programs" "$recorded" h200 \
	symbols cholesky bitonic half_dot warp_intrinsics device_assert bulk_copies cooperative_tiles \
	>"$dir/out" 2>&1 && ok as-on-the-card ||
	not_ok as-on-the-card "$(cat "$dir/out")"
same all-machine-code 0 "$(grep -c 'the emulator does not know' "$dir/out")"

# lanes that leave loops and functions at several places
python3 "$TEST_ROOT/tests/gpu/parts_check.py" "$PMPP" \
	"$TEST_ROOT/tests/gpu/h200-2026-11-29/micro/leaving.counters.jsonl" \
	--only search stack virtual two_ways fib_sum fib_leaf >"$dir/out" 2>&1
same leaving-as-on-the-card '96 launches, 0 differ' "$(tail -n 1 "$dir/out")"

# what the listing says of each instruction, times how often it ran, makes up the counts
status=0
python3 -B "$TEST_ROOT/tests/sass/reckon.py" "$PMPP" "$programs" bitonic matrix half_dot >"$dir/out" 2>&1 ||
	status=$? # 1 as well where it found no kernel
same reckoned-from-the-listing "0 $(grep ', 0 differ' "$dir/out")" "$status $(tail -n 1 "$dir/out")"

# an exit under two predicates (@P0 EXIT P2): faces of a surface, cell by cell
cat >"$dir/faces.cu" <<'EOF'
struct Tri { float3 a, b, c; };
__constant__ int tet[6][4] = { { 0, 5, 1, 6 }, { 0, 1, 2, 6 }, { 0, 2, 3, 6 }, { 0, 3, 7, 6 }, { 0, 7, 4, 6 }, { 0, 4, 5, 6 } };
__device__ float3 mix(float3 p, float u, float3 q, float v)
{
	float t = u / (u - v);
	return make_float3(p.x + t * (q.x - p.x), p.y + t * (q.y - p.y), p.z + t * (q.z - p.z));
}
__global__ void faces(const float *f, int n, Tri *out)
{
	int c = blockIdx.x * blockDim.x + threadIdx.x, m = n - 1;
	if (c >= m * m * m)
		return;
	float3 P[8];
	float v[8];
	for (int i = 0; i < 8; i++) {
		int x = c % m + ((i & 1) ^ (i >> 1 & 1)), y = c / m % m + (i >> 1 & 1), z = c / m / m + (i >> 2);
		P[i] = make_float3(x, y, z);
		v[i] = f[(z * n + y) * n + x];
	}
	for (int t = 0, k = 12 * c; t < 6; t++) {
		int in[4], o[4], ni = 0, no = 0;
		for (int i = 0; i < 4; i++) {
			int q = tet[t][i];
			if (v[q] < 0)
				in[ni++] = q;
			else
				o[no++] = q;
		}
		int nt = ni == 2 ? 2 : ni == 1 || ni == 3;
		if (nt) {
			Tri *w = out + k;
			if (ni == 1 || ni == 3) {
				int s = ni == 1 ? in[0] : o[0], *r = ni == 1 ? o : in;
				*w = Tri{ mix(P[s], v[s], P[r[0]], v[r[0]]), mix(P[s], v[s], P[r[1]], v[r[1]]), mix(P[s], v[s], P[r[2]], v[r[2]]) };
			} else {
				float3 b = mix(P[in[0]], v[in[0]], P[o[1]], v[o[1]]), d = mix(P[in[1]], v[in[1]], P[o[0]], v[o[0]]);
				w[0] = Tri{ mix(P[in[0]], v[in[0]], P[o[0]], v[o[0]]), b, d };
				w[1] = Tri{ b, d, mix(P[in[1]], v[in[1]], P[o[1]], v[o[1]]) };
			}
		}
		k += nt;
	}
}
int main()
{
	const int n = 9, m = n - 1;
	float h[n * n * n];
	for (int i = 0; i < n * n * n; i++)
		h[i] = (i % n - 4) * (i % n - 4) + (i / n % n - 4) * (i / n % n - 4) + (i / n / n - 4) * (i / n / n - 4) - 10.5f;
	float *f;
	Tri *t;
	cudaMalloc(&f, sizeof h);
	cudaMalloc(&t, 12 * m * m * m * sizeof *t);
	cudaMemset(t, 0, 12 * m * m * m * sizeof *t);
	cudaMemcpy(f, h, sizeof h, cudaMemcpyHostToDevice);
	faces<<<m * m * m / 128, 128>>>(f, n, t);
	cudaFree(f);
	cudaFree(t);
	return cudaGetLastError();
}
EOF
nvcc -arch=sm_80 -cubin "$dir/faces.cu" -o "$dir/faces.cubin" && "$PMPP" sass "$dir/faces.cubin" >"$dir/out" 2>&1
if grep -q '@!*P[0-6] EXIT !*P[0-6]' "$dir/out"; then
	"$PMPP" launches "$dir/faces.cu" --gpu a100 --backend emu >"$dir/out" 2>&1
	same two-predicates '0 0' "$? $(grep -c 'not machine code\|other bytes' "$dir/out")"
	status=0
	python3 -B "$TEST_ROOT/tests/sass/reckon.py" "$PMPP" "$dir" faces >"$dir/out" 2>&1 || status=$?
	same two-predicates-reckoned "0 $(grep ', 0 differ' "$dir/out")" "$status $(tail -n 1 "$dir/out")"
else
	echo 'skip two-predicates: this compiler makes no such exit'
fi
# an executable without machine code for the GPU: registers of what its PTX became
nvcc -arch=compute_75 "$dir/faces.cu" -o "$dir/faces" &&
	"$PMPP" launches "$dir/faces" --gpu a100 --backend emu --json >"$dir/out" 2>/dev/null
same registers-of-its-ptx counted "$(field "$dir/out" launches 0 metrics launch.registers_per_thread origin)"

# a guard by which no lane leaves the kernel loses none
run guard 0 run vec_add/per_element N=4096 --backend emu --gpu a100 --json
guard=0
for line in 0 1 2 3 4 5; do
	guard=$((guard + $(field "$dir/out" lines $line counts branch_idle_lanes)))
done
same guard-loses-nothing 4096 "$guard"

# blocks that draw a number each run in another order each time: that is no fault of a level
for turn in 1 2 3 4 5 6 7 8; do
	run ticket 0 run latency/ticket --backend emu --gpu a100 --json
	field "$dir/out" run note
done >"$dir/notes"
same order-is-no-fault 0 "$(grep another "$dir/notes" | grep -v -c 'as it may: that depends on the order')"

# what a card counts differently each time is named, with line and reason, to people and to scripts
run varying 0 launches --json --gpu h200 "$programs/cooperative_tiles.cu" -O1
same varies 'compact places mem.st_sectors' "$(python3 -c '
import json, sys
for l in json.load(sys.stdin)["launches"]:
    for v in l.get("varies", []):
        print(l["kernel"], v["why"], *v["metrics"])' <"$dir/out")"
"$PMPP" launches --gpu h200 "$programs/cooperative_tiles.cu" -O1 >/dev/null 2>"$dir/err"
same varies-in-words 'line 46: mem.st_sectors' \
	"$(sed -n '/may count differently/,$s/^ *\(line.*\)/\1/p' "$dir/err")"

# one function, called ahead of a loop and in it: where the one call goes on is no way from the other
cat >"$dir/divides.cu" <<'EOF'
__global__ void divides(int n, int edges, const int *__restrict__ a, unsigned char *out)
{
	const float mean = (float)edges / n;
	for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x) {
		int x = 1;
		const int degree = a[i + 1] - a[i];
		if (degree > 0)
			x = int(mean * 3 / (mean + degree)) * 2 + 1;
		out[i] = x;
	}
}
int main()
{
	int *a;
	unsigned char *out;
	cudaMalloc(&a, 2001 * sizeof *a);
	cudaMalloc(&out, 2000);
	cudaMemset(a, 0, 2001 * sizeof *a);
	divides<<<4, 256>>>(2000, 16000, a, out);
	return cudaDeviceSynchronize();
}
EOF
for gpu in a100 h200; do
	run "calls-$gpu" 0 launches --json --gpu $gpu "$dir/divides.cu"
	same "calls-ask-nobody-$gpu" 0 "$(grep -c '"varies"' "$dir/out")"
	same "calls-are-machine-code-$gpu" 1 "$(grep -c '"level": "sm_.*machine code' "$dir/out")"
done

# a launch that counts its PTX is told below the table, with the reason; where
# none does, nothing is
fallbacks() { # program, status, nvcc's options
	"$PMPP" launches --gpu h200 "$programs/$1.cu" -O1 ${3:-} >/dev/null 2>"$dir/told"
	run "fallen-$1" "$2" launches --json --gpu h200 "$programs/$1.cu" -O1 ${3:-}
	fallen=$(grep -c '"level": "PTX"' "$dir/out")
}
cache=${XDG_CACHE_HOME:-$HOME/.cache}
export PMPP_NVDISASM="$dir/nowhere" XDG_CACHE_HOME="$dir/no-listings"
fallbacks vector_add 0 # nobody reads its machine code
unset PMPP_NVDISASM
export XDG_CACHE_HOME="$cache"
same fallbacks-are-told 1 "$(grep -c "^  $fallen of .* counted launches: PTX, not machine code" "$dir/told")"
same fallbacks-say-why 1 "$(grep -c 'add (launch 1): ' "$dir/told")"
fallbacks mipmaps 0
same nothing-falls-back 0 "$fallen"
same no-fallback-is-told 0 "$(grep -c 'PTX, not machine code' "$dir/told")"

# machine code, PTX, and one for which only PTX is there
run machine 0 launches --json --gpu h200 "$programs/symbols.cu" -O1
level() { field "$dir/out" launches 0 level; }
case $(level) in
'sm_90 machine code, ptxas '*) ok machine-level ;;
*) not_ok machine-level "$(level)" ;;
esac
warp=$(field "$dir/out" launches 0 metrics inst.warp_executed value)
[ "$(field "$dir/out" launches 0 metrics inst.mix.load value)" -gt 0 ] && ok machine-mix || not_ok machine-mix "$(field "$dir/out" launches 0 metrics inst.mix.load reason)"
run ptx 0 launches --json --gpu h200 --level ptx "$programs/symbols.cu" -O1
same ptx-level PTX "$(level)"
[ "$warp" != "$(field "$dir/out" launches 0 metrics inst.warp_executed value)" ] && ok levels-differ ||
	not_ok levels-differ "both $warp"
run other 0 launches --json --gpu a100 "$programs/symbols.cu" -O1 -gencode arch=compute_75,code=compute_75
case $(level) in
'sm_80 machine code, ptxas '*) ok assembled-level ;;
*) not_ok assembled-level "$(level)" ;;
esac
# a compare-and-swap that answers with a predicate, as from sm_100 on
run predicate 0 launches --json --gpu rtx5090 "$programs/kmeans.cu" -O1 -gencode arch=compute_120,code=sm_120
case $(level) in
'sm_120 machine code, ptxas '*) ok predicate-level ;;
*) not_ok predicate-level "$(level)" ;;
esac
run wrong 2 launches --level cubin "$programs/symbols.cu"

# machine code that gives a program its results: what the program checks and prints is the same
results_hold() { # program, GPU, nvcc's options
	name=$1 gpu=$2
	shift 2
	PMPP_RESULTS_OF=sass "$PMPP" launches --json --gpu "$gpu" "$programs/$name.cu" -O1 "$@" >"$dir/out" 2>"$dir/err"
	field "$dir/out" stdout >"$dir/printed"
	if [ "$(field "$dir/out" exit)" = 0 ] && grep -q "$name: passed" "$dir/printed" && ! grep -q '"level": "PTX"' "$dir/out"; then
		ok "results-$name-$gpu"
	else
		not_ok "results-$name-$gpu" "$(grep -h -e level_note -e '"text"' "$dir/out" | head -n 3) $(cat "$dir/printed" "$dir/err")"
	fi
}
for name in barriers_in_calls block_barrier bulk_copies calls cluster_launch constant_coordinates cooperative_tiles divergent_barriers graph_conditions handles_of_lanes hopper_gemm matrix mipmaps nested_launches nested_sort resident_texels surfaces tensor_maps textures warp_group_products; do
	results_hold $name h200 $(sed -n 's,^// nvcc: ,,p' "$programs/$name.cu")
done
# constants that lie elsewhere: addresses of parameters, what a grid's barrier needs
results_hold tensor_maps b200 -arch=sm_100
results_hold grid_sync b200 -arch=sm_100
results_hold mipmaps b200 -arch=sm_100
results_hold handles_of_lanes b200 -arch=sm_100
# lanes of a warp that wait for one another in loops, and that meet at several places
for on in 't4 -arch=sm_75' 'a100 -arch=sm_80' 'h200 -arch=sm_90' 'rtx5090 -arch=sm_120'; do
	results_hold lanes_wait $on
	results_hold lanes_in_turn $on
	results_hold warp_meetings $on
done

# forms of instructions: PTX and machine code give a program the same, on old and new architectures
same_of_both() { # name, GPU, architecture; sass: PTX that knows what the assembler fused
	"$PMPP" launches --json --gpu "$2" --level "${4:-ptx}" "$TEST_ROOT/tests/data/machine/$1.cu" ${3:+-arch=$3} >"$dir/ptx" 2>"$dir/err"
	PMPP_RESULTS_OF=sass "$PMPP" launches --json --gpu "$2" --level sass "$TEST_ROOT/tests/data/machine/$1.cu" ${3:+-arch=$3} >"$dir/out" 2>>"$dir/err"
	field "$dir/ptx" stdout >"$dir/want"
	field "$dir/out" stdout >"$dir/printed"
	if [ -s "$dir/want" ] && cmp -s "$dir/want" "$dir/printed" && ! grep -q '"level": "PTX"' "$dir/out"; then
		ok "both-$1-$2"
	else
		not_ok "both-$1-$2" "$(diff "$dir/want" "$dir/printed" | head -n 4) $(grep -h '"text"' "$dir/out" | head -n 2) $(cat "$dir/err")"
	fi
}
same_of_both small_floats h200
same_of_both shapes h200
same_of_both copies h200
same_of_both one_lane h200 sm_90
same_of_both one_lane b200 sm_100
same_of_both small_floats a100
same_of_both shapes a100
for on in 't4 sm_75' 'h200 sm_90' 'rtx5090 sm_120'; do
	same_of_both calls $on
	same_of_both conversions $on
	same_of_both gradients $on
	same_of_both launch_words $on
	same_of_both switches $on sass
	same_of_both quotients $on sass
	same_of_both parameters $on
done
same_of_both waits a100 sm_80
same_of_both generators h200
# code whose subroutines all lead to one another is looked through in time, too: else PTX stands for it
run long-code 0 launches --json --gpu h200 "$TEST_ROOT/tests/data/machine/generators.cu"
case $(level) in
'sm_90 machine code, ptxas '*) ok long-code-level ;;
*) not_ok long-code-level "$(level): $(grep -h level_note "$dir/out")" ;;
esac
same_of_both choices a100 sm_80 sass
same_of_both choices h200 sm_90 sass
same_of_both half_sums a100 sm_80 sass
same_of_both half_sums h200 sm_90 sass
same_of_both half_sums rtx5090 sm_120 sass
same_of_both packed t4 sm_75
same_of_both packed a100 sm_80
same_of_both packed h200 sm_90
same_of_both packed b200 sm_100
same_of_both wide_accesses b200 sm_100
same_of_both wide_accesses rtx5090 sm_120
same_of_both packed rtx5090 sm_120

# PTX cases as machine code: what the PTX gives, bit for bit
cases=$(dirname "$PMPP")/unit/emu/test_ptx_cases
as_machine_code() { # sm, case ...
	sm=$1
	shift
	for case in "$@"; do
		PTX_CASE="$case" PTX_CASE_SM=$sm "$cases" >"$dir/out" 2>&1
		grep -q "sm_$sm $case: as machine code" "$dir/out" && ok "case-$case-$sm" ||
			not_ok "case-$case-$sm" "$(grep -h -e " sm_$sm $case" -e 'machine code)' "$dir/out" | head -n 3)"
	done
}
if [ -x "$cases" ]; then
	as_machine_code 80 f16_ftz
	as_machine_code 75 f32_decided cvt_f16 mem_isspacep mma_m8n8k4 mma_m8n8k4_f16 mma_m8n8k4_turned
	as_machine_code 90 cvt_fp8_f16x2 cvt_pack cvt_tf32_round cvt_f64_numbers cvt_half_number cvt_float_narrow_int int_add_sat f32_min_max_xorsign \
		call_divergent cluster_shared bulk_copy mem_cp_async mbarrier_bytes atom_vectors mma_b1_k256 mma_sp_f16_k32 mma_sp_s8_k64 cvt_f16 wgmma_f16
	as_machine_code 100 f32_pairs redux_f32 cluster_none cluster_registers mma_b1_k256 int_video_one
	as_machine_code 120 f32_decided bulk_copy bulk_copy_other int_add_sat mma_e4m3 cvt_bf16 int_carry_64 int_video_shift_mad_set mma_wmma_b1
else
	echo 'skip ptx-cases: make test-programs builds them'
fi

# what both leave in memory is compared: sm_100's assembler fuses pairs that state a rounding
run pairs 0 launches --json --gpu b200 "$TEST_ROOT/tests/data/machine/pairs.cu"
grep -q '"level_note": "the machine code leaves other bytes in memory than the PTX' "$dir/out" && ok compared-differs ||
	not_ok compared-differs "$(grep -h level_note "$dir/out" | head -n 2)"
# a product and a difference of float64 that state none are fused in both
run fused 0 launches --json --gpu h200 "$programs/cholesky.cu" -O1
grep -q level_note "$dir/out" && not_ok compared-fused "$(grep -h level_note "$dir/out" | head -n 2)" || ok compared-fused
run same 0 launches --json --gpu h200 "$programs/symbols.cu" -O1
grep -q level_note "$dir/out" && not_ok compared-same "$(grep -h level_note "$dir/out" | head -n 2)" || ok compared-same

# PTX of a later compiler than the assembler here, for one architecture only
echo 'extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }' >"$dir/twice.cu"
nvcc -ptx -arch=sm_90 -o "$dir/twice.ptx" "$dir/twice.cu"
sed -e 's/^\.version .*/.version 99.1/' -e 's/^\.target sm_90.*/.target sm_90a/' "$dir/twice.ptx" >"$dir/later.ptx"
same later-asks 1 "$(grep -c '^.version 99.1' "$dir/later.ptx")"
run later 0 run "$dir/later.ptx" --kernel twice --grid 1 --block 32 'p0=f32[32]:iota' --gpu h200 --dump p0
grep -q 'max 62' "$dir/out" && ok later-result || not_ok later-result "$(cat "$dir/out")"

# random launches as the card counted them; a branch under a guard whose operand is a predicate
python3 "$TEST_ROOT/tests/gpu/counters_check.py" "$PMPP" h200 --only transpose/quads >"$dir/out" 2>&1
same counters-as-recorded 0 $?
grep -q '^5 launches, 0 differ; [0-9]* figures, 0 differ' "$dir/out" && ok counters-compared || not_ok counters-compared "$(cat "$dir/out")"
# one figure of a record is another one
grep '"variant":"quads"' "$TEST_ROOT/tests/gpu/h200-2026-11-23/random/random-115.jsonl" | head -n 1 |
	sed 's/"mem.st_sectors":/&1/' >"$dir/other.jsonl"
python3 "$TEST_ROOT/tests/gpu/counters_check.py" "$PMPP" h200 "$dir/other.jsonl" >"$dir/out" 2>&1
same counters-differ 1 $?
grep -q '^transpose/quads .*mem.st_sectors [0-9]* here, 1[0-9]* there' "$dir/out" && ok counters-named || not_ok counters-named "$(cat "$dir/out")"

# what a cubin holds that the emulator does not know
nvcc -cubin -arch=sm_90 -o "$dir/symbols.cubin" "$programs/symbols.cu"
run examine 0 doctor --ptx "$dir/symbols.cubin"
grep -q '1 of 1 kernels would run' "$dir/out" && ok examined || not_ok examined "$(cat "$dir/out")"
# one without a kernel
echo '__device__ int nothing;' >"$dir/none.cu"
nvcc -cubin -arch=sm_90 -o "$dir/none.cubin" "$dir/none.cu"
run examine-none 3 doctor --ptx "$dir/none.cubin"
grep -q 'none.cubin: there is no machine code in it' "$dir/err" && ok examined-none || not_ok examined-none "$(cat "$dir/err")"

# HADD2.F32, HMUL2.F32 and HFMA2.F32 of sm_75 round halves once, to float32; PTX does so, too
cat >"$dir/wide.cu" <<'CUDA'
#include <cuda_fp16.h>
#include <cstdio>
__global__ void wide(float *o, int n)
{
	int t = threadIdx.x;
	__half a = __float2half((t * 37 % 101) * 0.1371f - n), b = __float2half(t * 0.3f), u = __hmul(a, b);
	o[t] = __half2float(__hadd(a, b)) + __half2float(__hsub(b, a)) * __half2float(__hadd(u, a));
	o[t + 256] = __half2float(__hmul(a, a)) + __half2float(__hadd_rn(a, b));
}
int main()
{
	float *o, r[512], sum = 0;
	cudaMalloc(&o, sizeof r);
	wide<<<1, 256>>>(o, 5);
	cudaMemcpy(r, o, sizeof r, cudaMemcpyDeviceToHost);
	for (float v : r)
		sum += v;
	printf("sum %a\n", sum);
	return cudaFree(o);
}
CUDA
run wide-halves 0 launches "$dir/wide.cu" --gpu t4 --level sass
grep -q 'PTX, not machine code\|other bytes' "$dir/out" && not_ok wide-halves-equal "$(cat "$dir/out")" || ok wide-halves-equal
sum=$(grep '^sum' "$dir/out")
run halves 0 launches "$dir/wide.cu" --gpu a100 --level sass
[ -n "$sum" ] && [ "$sum" != "$(grep '^sum' "$dir/out")" ] && ok wide-halves-wider || not_ok wide-halves-wider "$sum"

# ptxas loads 16 bytes at once where the last 8 of a shared array are wanted: a block has whole units
cat >"$dir/end.cu" <<'CUDA'
#include <cstdio>
__global__ void nearest(const float3 *p, int n, float *out)
{
	__shared__ float3 t[50];
	const float3 me = p[threadIdx.x];
	float d[5] = { 9e9f, 9e9f, 9e9f, 9e9f, 9e9f };
	for (int first = 0; first < n; first += 50) {
		__syncthreads();
		if (threadIdx.x < 50 && first + threadIdx.x < n)
			t[threadIdx.x] = p[first + threadIdx.x];
		__syncthreads();
		for (int i = 0; i < min(50, n - first); i++) {
			const float x = t[i].x - me.x, y = t[i].y - me.y, z = t[i].z - me.z, s = x * x + y * y + z * z;
			if (s >= d[4])
				continue;
			int j = 4;
			for (; j > 0 && d[j - 1] > s; j--)
				d[j] = d[j - 1];
			d[j] = s;
		}
	}
	out[threadIdx.x] = d[0] + d[1] + d[2] + d[3] + d[4];
}
int main()
{
	float h[360], *p, *o, sum = 0;
	for (int i = 0; i < 360; i++)
		h[i] = i * 37 % 101 * 0.25f;
	cudaMalloc(&p, sizeof h);
	cudaMalloc(&o, 256);
	cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice);
	nearest<<<1, 64>>>((float3 *)p, 120, o);
	cudaMemcpy(h, o, 256, cudaMemcpyDeviceToHost);
	for (int i = 0; i < 64; i++)
		sum += h[i];
	printf("sum %g\n", sum);
	return cudaDeviceSynchronize();
}
CUDA
run past-the-end 0 launches "$dir/end.cu" --gpu h200 --level sass
grep -q 'PTX, not machine code' "$dir/out" && not_ok past-the-end-counted "$(cat "$dir/out")" ||
	ok past-the-end-counted
sum=$(grep '^sum' "$dir/out")
run past-the-end-ptx 0 launches "$dir/end.cu" --gpu h200 --level ptx
same past-the-end-sum "$sum" "$(grep '^sum' "$dir/out")"
[ "${sum#sum }" != 0 ] && ok past-the-end-adds || not_ok past-the-end-adds "$sum"

# S-137: a division by a number that is not known until the kernel runs is a sequence of instructions:
# one of special functions, two conversions, some twenty in all; on 16 integer lanes a quarter of an SM,
# tens of cycles
executed() { awk -F, -v key="$1" '$1 == key { print $2 }' "$dir/out"; }
run division 0 run transpose/div_mod W=512 H=512 block=256 --backend emu --gpu a100 --csv
warps=$((512 * 512 / 32))
all=$(executed inst.warp_executed)
same division-function $warps "$(executed inst.mix.sfu)"
same division-conversions $((2 * warps)) "$(executed inst.mix.convert)"
run no-division 0 run transpose/naive W=512 H=512 block_x=32 block_y=8 --backend emu --gpu a100 --csv
more=$(((all - $(executed inst.warp_executed)) / warps))
[ "$more" -ge 10 ] && [ "$more" -lt 100 ] && ok division-instructions ||
	not_ok division-instructions "$more more per warp"
same no-division-function 0 "$(executed inst.mix.sfu)"
