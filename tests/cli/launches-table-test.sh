#!/bin/sh
# launches for people: a long table folds the rows of a kernel of many grids; how a program ended;
# an executable that may not be run, or is named without its folder.
. "$(dirname "$0")/lib.sh"
command -v nvcc >/dev/null || {
	echo 'skip launches-table: no nvcc here to compile programs'
	exit 0
}
cd "$dir" || exit 1
cat >many.cu <<'EOF2'
#include <cstdlib>
__global__ void grows(int *x) { x[0] = 1; }
__global__ void once(int *x) { x[1] = 1; }
__global__ void at_fault(int *x, int n) { x[n] = 1; }
int main(int argc, char **argv)
{
	int *x;
	cudaMalloc(&x, 2 * sizeof(int));
	for (int i = 1; i <= atoi(argv[1]); i++)
		grows<<<i, 32>>>(x);
	once<<<1, 32>>>(x);
	at_fault<<<1, 1>>>(x, argc);
	cudaDeviceSynchronize();
	if (argc > 2)
		*(volatile int *)0 = 1;
	cudaFree(x);
}
EOF2
nvcc -arch=sm_90 -cudart shared -o many many.cu || exit 1
# rows: lines of the table that name the kernel
rows() { grep -c "^ .* $1 " err; }

"$PMPP" launches --gpu h200 --no-races ./many 60 >out 2>err
same folded '6 1 1' "$(rows grows) $(rows once) $(rows at_fault)"
grep -q '^ *grows  *+ 55  *55 ' err && ok folded-row || not_ok folded-row "$(cat err)"
grep -q -e '--all shows each' err && ok folded-said || not_ok folded-said "$(cat err)"
"$PMPP" launches --gpu h200 --no-races --all ./many 60 >out 2>err
same all '60 1' "$(rows grows) $(rows once)"
grep -q -e '--all' err && not_ok all-says-nothing "$(cat err)" || ok all-says-nothing
"$PMPP" launches --gpu h200 --no-races ./many 30 >out 2>err
same short-table '30 1' "$(rows grows) $(rows once)"
"$PMPP" launches --gpu h200 --no-races --json ./many 60 >o.json 2>err
same json-has-all '62' "$(field o.json launches 61 number)"

"$PMPP" launches --gpu h200 --no-races ./many 1 crash >out 2>err
grep -q 'ended by signal 11 (SIGSEGV)' err && ok signal-named || not_ok signal-named "$(cat err)"

cp many stays
chmod a-x stays
run may-not-be-run 2 launches ./stays
grep -q "may not be run" "$dir/err" && grep -q 'chmod +x ./stays' "$dir/err" && ok may-not-be-run-said ||
	not_ok may-not-be-run-said "$(cat "$dir/err")"
run without-its-folder 2 many 3
grep -q 'pmpp-explore ./many' "$dir/err" && ok without-its-folder-said || not_ok without-its-folder-said "$(cat "$dir/err")"
mkdir folder.cu
run folder-as-source 2 launches folder.cu
grep -q "'folder.cu' is a folder" "$dir/err" && ok folder-as-source-said || not_ok folder-as-source-said "$(cat "$dir/err")"
