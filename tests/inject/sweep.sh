#!/bin/sh
# No failure ends with status 0: every call of a function that can fail does so once, over every verb.
# Each time: a status other than 0 and a message; or status 0, and what is said names the failure
# (a note, n/a with its reason), or the same output as ever (another way led there).
#
#   sweep.sh PROGRAM [VERB...]      PROGRAM is the one with wrappers; prints "ok NAME", "not ok NAME: why"
set -u
PMPP=$1
shift
dir=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-inject-XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
export XDG_CACHE_HOME="$dir/cache" XDG_CONFIG_HOME="$dir/config" LC_ALL=C.UTF-8
mkdir "$dir/work"
cd "$dir/work" || exit 1

verb() {
	case $1 in # (variants are named: else the first that can be launched would do)
	run) set -- run sgemm/tiled M=32 N=32 K=32 --gpu a100 --threads 1 ;;
	json) set -- run vec_add/per_element N=256 --gpu own.yaml --json --threads 1 ;;
	csv) set -- run vec_add/per_element N=256 --csv --threads 1 ;;
	own) set -- run own.cu --kernel k --grid n/32 --block 32 n=64 'a=f32[n]:zero' --threads 1 ;;
	plugin) set -- run plugin.cu --plugin N=256 --threads 1 ;;
	export) set -- export vec_add N=256 --gpu a100 --out out.json ;;
	notes) set -- export whole.json --format md --out - ;;
	panels) set -- export whole.json --format txt --out - ;;
	diff) set -- diff whole.json whole.json ;;
	occupancy) set -- occupancy --block 256 --regs 32 ;;
	preset) set -- preset race --check ;;
	ladder) set -- ladder transpose W=64 H=64 --gpu a100 ;;
	sweep) set -- sweep vec_add/per_element block=32,64 N=1k --gpu a100 ;;
	gpus) set -- list gpus ;;
	recordings) set -- list recordings ;;
	ptx) set -- doctor --ptx own.ptx ;;
	launches) set -- launches ./program --json ;;
	esac
	timeout 60 "$PMPP" "$@" >"$dir/out" 2>"$dir/err" </dev/null
}
# without times and other figures, which differ from run to run
words() { sed 's/[0-9.]*//g; s/ *[numks]*s\>//g' "$dir/out"; }

cp "$TEST_ROOT/kernels/vec_add.cu" plugin.cu
sed 's/^id:.*/id: own/' "$TEST_ROOT/presets/gpus/a100.yaml" >own.yaml
echo '__global__ void k(float *a, int n) { a[blockIdx.x * blockDim.x + threadIdx.x] = n; }' >own.cu
printf '.version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n' >own.ptx
echo 'int main(void) { return 0; }' >program.c
verbs='run json csv own plugin export notes panels diff occupancy preset ladder sweep gpus recordings ptx'
if cc -o program program.c 2>"$dir/err"; then verbs="$verbs launches"; fi
"$PMPP" export vec_add N=256 --gpu a100 --out whole.json 2>"$dir/err" || exit 1
points=0
wrong=0
for name in ${*:-$verbs}; do
	bad=0
	verb "$name" # so that compiled code is kept
	rm -f "$dir/calls" out.json
	PMPP_INJECT_LOG=$dir/calls verb "$name"
	status=$?
	if [ "$status" -ne 0 ] || [ ! -s "$dir/calls" ]; then
		echo "not ok $name: status $status without a failure: $(head -1 "$dir/err")"
		wrong=$((wrong + 1))
		continue
	fi
	words >"$dir/want"
	n=$(wc -l <"$dir/calls")
	# every function, at its first, second and last call
	awk '{ k = ++seen[$0]; last[$0] = NR; if (k <= 2) print NR } END { for (f in last) print last[f] }' \
		"$dir/calls" | sort -nu >"$dir/points"
	while read -r at; do
		points=$((points + 1))
		rm -f out.json
		PMPP_INJECT=$at verb "$name"
		status=$?
		f=$(sed -n "${at}p" "$dir/calls")
		# what falls back, and shows it: PTX is counted where machine code is not to be read; a
		# panel has no occupancy
		case $f in elf64_open | occ_compute) [ "$status" -ne 0 ] || continue ;; esac
		if [ "$status" -ge 124 ]; then
			why="status $status"
		elif [ "$status" -ne 0 ]; then
			why=
			words >"$dir/got"
			[ -s "$dir/err" ] || ! cmp -s "$dir/want" "$dir/got" || why="status $status without a word"
		elif grep -q injected "$dir/out" "$dir/err"; then
			why=
		elif [ "$name" = export ] && [ ! -s out.json ]; then
			why='status 0, and no file'
		else
			words >"$dir/got"
			why=$(diff "$dir/want" "$dir/got" | sed -n '2,4p' | tr '\n' ' ')
			# no timeline: tables without a column for reasons show n/a
			[ "$f" != stream_run ] || ! grep -q 'n/a\|none' "$dir/out" || why=
			# a map's point that cannot be launched is drawn and counted as one
			[ "$name" != panels ] || ! grep -q ' ran, [0-9]* not possible' "$dir/out" || why=
			[ -z "$why" ] || why="status 0, and another output: $why"
		fi
		[ -z "$why" ] || { bad=$((bad + 1)); echo "not ok $name-$f: call $at of $n fails: $why"; }
	done <"$dir/points"
	wrong=$((wrong + bad))
	[ "$bad" -gt 0 ] || echo "ok $name ($(wc -l <"$dir/points" | tr -d ' ') of $n calls)"
done
echo "# $points failures, $wrong that are not told"
[ "$wrong" -eq 0 ] && [ "$points" -gt 0 ]
