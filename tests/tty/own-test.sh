#!/bin/sh
# A file edited in another terminal: r reads it again; errors show their line, and it recovers.
. "$(dirname "$0")/tmux.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-own-XXXXXX") || exit 1
trap 'finish; rm -rf "$work"' EXIT
cat >"$work/good.cu" <<'EOF'
__global__ void scale(int n, const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = 2 * x[i];
}
EOF
cp "$work/good.cu" "$work/mine.cu"
start 24 80
type "cd $work && $PMPP mine.cu --grid n/block --block 256 n=10000 'x=f32[n]:rand' 'y=f32[n]:zero'"
check own-opens see 'mine / scale'
check own-no-reference see 'no reference'
check own-grid see 'grid 40'
press +
check own-block-changes see 'block 128 *\[512\]\|\[512\]'
check own-grid-follows see 'grid 20'
sed 's/x\[i\]/x[i + 1]/' "$work/good.cu" >"$work/mine.cu"
press r
check own-fault-has-line see 'mine.cu:5: scale: load of 4 bytes out of bounds'
# saved: no key is needed
sed 's/2 \* x/2 x/' "$work/good.cu" >"$work/mine.cu"
check own-error-has-line see 'mine.cu:5: error'
sed 's/x\[i\]/x[n - 1 - i]/' "$work/good.cu" >"$work/mine.cu"
press r
check own-recovers see 'no reference · 20 blocks'
check own-keeps-block see '\[512\]'
press 7
check own-source-is-new see 'x\[n - 1 - i\]'
press e
check own-written see 'written: mine-scale-'
press_q
check own-ends see 'ready:'
mv "$work/mine.cu" "$work/other.cu"
type "clear; $PMPP mine-scale-*.json"
check own-snapshot-opens see '20 blocks run'
check own-snapshot-source see 'x\[n - 1 - i\]'
press +
check own-snapshot-runs see '10 blocks run'
press_q
check own-snapshot-ends see 'ready:'
type "clear; $PMPP other.cu --grid 1 --block 32 n=4 'x=f32[n]' 'y=f32[n]'"
check own-opens-again see 'other / scale'
rm "$work/other.cu"
press r
check own-file-gone see 'other.cu: '
press_q
check own-gone-ends see 'ready:'

# a descriptor runs inside the program: asked first, and no is the answer to anything but y
sed 's/kernel_latency/kernel_theirs/; s/\.name = "latency"/.name = "theirs"/' \
	"${TEST_ROOT:-.}/kernels/latency.cu" >"$work/theirs.cu"
type "clear; $PMPP theirs.cu"
check plugin-asks see 'kernel_theirs is a descriptor'
type ""
check plugin-refused see 'if you trust whoever wrote it'
type "clear; $PMPP theirs.cu"
see 'Run it?'
type y
check plugin-opens see 'theirs / chase'

# its compiler takes for ever: the screen goes on, c ends the compiler, and r tries again
mkdir "$work/bin" "$work/tmp"
printf '#!/bin/sh\nsleep 1000 &\necho $! >"%s/slow"\nwait\n' "$work" >"$work/bin/cc"
chmod +x "$work/bin/cc"
press_q
see 'ready:'
type "clear; PATH=$work/bin:\$PATH; export TMPDIR=$work/tmp; mv bin/cc bin/slow_cc; $PMPP theirs.cu --plugin"
see 'theirs / chase'
mv "$work/bin/slow_cc" "$work/bin/cc"
echo '// changed' >>"$work/theirs.cu"
press r
n=0
while [ ! -s "$work/slow" ] && [ $n -lt 3000 ]; do sleep 0.02; n=$((n + 1)); done
sleep 1.5 # the file's watch has seen the change by then, and waits for the compiler, too
press K
check slow-compiler-screen-goes-on see 'vec_add'
press Escape
press c
check slow-compiler-is-cancelled see 'cancelled'
n=0
while kill -0 "$(cat "$work/slow")" 2>/dev/null && [ $n -lt 3000 ]; do sleep 0.02; n=$((n + 1)); done
kill -0 "$(cat "$work/slow")" 2>/dev/null && echo 'not ok slow-compiler-ends: it still runs' || echo 'ok slow-compiler-ends'
rm "$work/bin/cc"
press r
check slow-compiler-again see 'exact'
# once the kernel is disassembled, too, which goes on after the run
n=0
while [ -n "$(ls "$work/tmp")" ] && [ $n -lt 1000 ]; do sleep 0.02; n=$((n + 1)); done
[ -z "$(ls "$work/tmp")" ] && echo 'ok slow-compiler-leaves-nothing' || echo "not ok slow-compiler-leaves-nothing: $(ls "$work/tmp")"
press_q
