#!/bin/sh
# Five first journeys of somebody who knows no key but those that the key bar and '?' name, at 80x24
# in a real terminal: why is occupancy low, what does a branch cost, what is coalescing, what do
# tiles bring, and what does my own program do.
. "$(dirname "$0")/tmux.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-journeys-XXXXXX") || exit 1
trap 'finish; rm -rf "$work"' EXIT
settled() { see '✓ exact ·'; }
open_here() { type "clear; cd $work; $PMPP $* --gpu a100 --backend emu; echo left with \$?"; }
leave() {
	press_q
	see 'left with 0'
}

start 24 80

# --- occupancy: blocks too small, the reason and the arithmetic beside it, the cure by one key
open_here vec_add/per_element N=1048576 block=32
check occupancy-opens settled
check occupancy-is-half see 'theoretical  *50.0 %'
check occupancy-names-the-limit see 'block slots  *1  *32  *32  ◀ limits'
check occupancy-compares-with-the-book see 'book .* ¶ *hardware'
for _ in 1 2 3 4 5 6; do
	screen | grep -q 'block \[32\]' && break
	press Right
	sleep 0.1
done
press +
check occupancy-follows-at-once see 'theoretical  *100.0 %.*was 50.0 % ▲'
check occupancy-says-what-it-brought see '×1\.[0-9]* ▲'
press '?'
check occupancy-is-explained see 'theoretical occupancy'
press Escape
check occupancy-leaves leave

# --- divergence: from the panel's figure to the line, from the line to its lanes, and the cure
open_here reduction/simple N=256 block=128
check divergence-opens settled
press 3
check divergence-has-a-figure see 'SIMD efficiency  *[0-9.]* % ='
check divergence-names-lines see 'if (threadIdx.x % stride'
check divergence-starts-at-the-worst see '▸.*[0-9.]* % ✗'
press Enter
check divergence-shows-lanes see '0 lanes ─.* 31'
press PageDown # later in the warp's time: half of the lanes, then a quarter
check divergence-shows-a-hole see '█·*█·*█·'
press Escape
press v
check divergence-next-variant see '^ reduction / convergent'
settled
check divergence-was-worse see 'SIMD efficiency .* was [0-9.]* % ▲'
check divergence-leaves leave

# --- coalescing: 32 addresses of a warp, what is wasted, and the variant that reads along rows
open_here sgemm/naive_col M=256 N=256 K=256
check coalescing-opens settled
press 4
check coalescing-has-a-figure see 'loads  *9.0 = sectors/req'
press Enter
check coalescing-shows-all-lanes see '24-31 '
check coalescing-says-what-is-wasted see 'sectors 16, needed 2'
press Escape
press v
check coalescing-next-variant see '^ sgemm / naive '
check coalescing-was-worse see 'loads .*was 9.0'
check coalescing-leaves leave

# --- the tiling ladder: a lesson from its list, its claims, the ladder with every rung's rate
open_here sgemm/naive M=256 N=256 K=256
check tiling-opens settled
press p
check tiling-list see 'choose a preset'
press s g e m m Enter
check tiling-lesson-begins see '1 of [0-9]* '
check tiling-claims-hold see '✓ all [0-9]* claims of this step hold'
press ']'
check tiling-next-step see '2 of [0-9]* '
check tiling-holds-too see '✓ all [0-9]* claims of this step hold'
press 6
check tiling-ladder see 'variant  *time'
check tiling-rungs-run gone 'not run yet'
check tiling-says-the-gain see 'tiled  .* × '
check tiling-leaves leave

# --- a program of one's own: its launches, its source, an edit, what it brought
if command -v nvcc >/dev/null 2>&1; then
	cat >"$work/mine.cu" <<'EOF'
#include <cstdio>
__global__ void twice(const float *x, float *y, int n, int by)
{
	int i = (blockIdx.x * blockDim.x + threadIdx.x) * by;
	if (i < n)
		y[i] = 2 * x[i];
}
int main()
{
	float *x, *y;
	cudaMalloc(&x, 4 << 16);
	cudaMalloc(&y, 4 << 16);
	cudaMemset(x, 0, 4 << 16);
	for (int k = 0; k < 3; k++)
		twice<<<64, 128>>>(x, y, 1 << 16, 8);
	cudaDeviceSynchronize();
	printf("done\n");
	return 0;
}
EOF
	type "clear; $PMPP mine.cu --gpu a100"
	check own-opens see 'twice' 60
	check own-lists-launches see '64 *· 128\|64·128\|64 × 128' 60
	press 5
	check own-is-scattered see 'loads *32.0 = sectors'
	sed -i 's/, 8);/, 1);/' "$work/mine.cu"
	check own-edit-is-seen see 'loads *4.0 = sectors' 60
	press_q
	check own-leaves see 'ready:'
	check own-terminal-is-fine restored
else
	echo 'skip own: no nvcc here to compile a program'
fi
