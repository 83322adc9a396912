#!/bin/sh
# Memory: a launch that does not fit what is left is refused with figures; a failed allocation ends
# the program with a message and a status, and nothing is cut off (a sample of `make oom`).
. "$(dirname "$0")/lib.sh"

limited() { # NAME STATUS KIBIBYTES ARG...
	name=$1 want=$2 limit=$3
	shift 3
	(ulimit -v "$limit" && exec "$PMPP" "$@") >"$dir/out" 2>"$dir/err" </dev/null
	same "$name" "$want" $?
}
if limits_hold; then
	limited fits 0 2000000 run vec_add N=1M --threads 1
	limited fits-not 3 2000000 run vec_add N=256M --threads 1
	says fits-not-says 'need 9 GiB' 'ulimit -v' 'choose a smaller problem size'
else
	echo 'skip limited: the program does not start under a limit of addresses (a sanitizer)'
fi

if cc -shared -fPIC -o "$dir/fail_nth.so" "$TEST_ROOT/tests/oom/fail_nth.c" 2>"$dir/err" &&
	LD_PRELOAD=$dir/fail_nth.so "$PMPP" --version >/dev/null 2>&1; then
	sh "$TEST_ROOT/tests/oom/sweep.sh" "$PMPP" "$dir/fail_nth.so" 12 list gpus export reopen tui
	# what makes the document comes last
	OOM_LAST=1000 sh "$TEST_ROOT/tests/oom/sweep.sh" "$PMPP" "$dir/fail_nth.so" 12 json | sed 's/ok json/ok json-document/'
else
	echo 'skip sweep: nothing can be preloaded here'
fi

# a whole program: what this machine has not is refused by the call, and said with figures
if command -v nvcc >/dev/null && limits_hold 3000000; then
	cat >"$dir/big.cu" <<-'CU'
		int main()
		{
			void *p;
			int n = 0;
			while (cudaMalloc(&p, (size_t)1 << 29) == cudaSuccess)
				n++;
			return n < 1 || n > 6 || cudaGetLastError() != cudaErrorMemoryAllocation;
		}
	CU
	limited program-is-told 1 3000000 launches "$dir/big.cu" --gpu h200
	grep -q 'exit 0' "$dir/err" "$dir/out" && ok program-goes-on || not_ok program-goes-on "$(cat "$dir/err")"
	grep -q '512 MiB of GPU memory are asked for, beside .* in use; .*ulimit -v' "$dir/err" "$dir/out" &&
		ok program-is-told-figures || not_ok program-is-told-figures "$(cat "$dir/err" "$dir/out")"
	limited program-without-launch 3 3000000 run "$dir/big.cu" --gpu h200
	grep -q 'launched no kernel: .*512 MiB of GPU memory are asked for' "$dir/err" && ok program-without-launch-why ||
		not_ok program-without-launch-why "$(cat "$dir/err")"
else
	echo 'skip program-is-told: no nvcc here, or a sanitizer'
fi
