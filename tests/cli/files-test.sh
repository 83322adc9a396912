#!/bin/sh
# Whatever takes a file: a pipe, a device and a huge file are refused, with a message, a status other
# than 0, and within 2 s. The verbs and their options come from the program's own tables (--help).
. "$(dirname "$0")/lib.sh"

cd "$dir" || exit 1
run snapshot 0 export vec_add N=64 --gpu a100 --out "$dir/good.json"
echo '__global__ void k(float *a) { a[threadIdx.x] = 1; }' >good.cu
for ending in .json .cu .ptx .cubin .yaml .npy .csv ''; do
	mkfifo "pipe$ending"
	ln -s /dev/zero "device$ending"
	truncate -s 8G "huge$ending" || exit 1
done
chmod +x pipe huge

# refused NAME ARG...: in time, and said: what is read without end takes processor time (2 s at
# most), what nobody writes takes the clock's, which other tests take, too.
refused() {
	name=$1
	shift
	(ulimit -t 2 && exec timeout -k 1 20 "$PMPP" "$@") >out 2>err </dev/null
	status=$?
	tried=$((tried + 1))
	if [ "$status" -ge 124 ]; then bad="$bad; $name: takes longer than 2 s, or waits for 20"
	elif [ "$status" -eq 0 ]; then bad="$bad; $name: status 0"
	elif [ ! -s err ]; then bad="$bad; $name: status $status without a word"
	fi
}
# done_with NAME: one line for what was tried since the last one
done_with() {
	if [ -z "$bad" ] && [ "$tried" -ge "$2" ]; then ok "$1"; else not_ok "$1" "$tried tried$bad"; fi
	bad=
	tried=0
}
bad=
tried=0

"$PMPP" --help >help
verbs=$(sed -n 's/^  pmpp-explore \([a-z]*\) .*/\1/p' help | sort -u)
same verbs-of-the-table yes "$([ "$(echo "$verbs" | wc -l)" -ge 11 ] && echo yes)"
# What a verb is given besides the option.
words() {
	case $1 in
	run | launches | ladder | export | sass) echo vec_add N=64 ;;
	occupancy) echo --block 256 --regs 32 ;;
	list) echo kernels ;;
	preset) echo vec_add ;;
	sweep) echo vec_add/per_element block=32,64 N=1k ;;
	diff) echo vec_add good.json ;;
	esac
}
for verb in $verbs; do
	# an option with a value has two words; what is written is no input
	"$PMPP" "$verb" --help | sed -n 's/^  \(--[a-z-]*\) \([A-Z][^ ]*\)  *\(.*\)/\1 \2 \3/p' >options
	while read -r option _ about; do
		case "$option $about" in
		*'file to write'* | *'also write'* | --dump*) continue ;;
		--block* | --regs*) [ "$verb" != occupancy ] || continue ;;
		esac
		for kind in pipe device huge; do
			for ending in '' .yaml .json .cu; do
				# shellcheck disable=SC2046 # words of the command
				refused "$verb $option $kind$ending" "$verb" $(words "$verb") "$option" "./$kind$ending"
			done
		done
	done <options
	# the word itself, whatever its ending says that it is
	for kind in pipe device huge; do
		for ending in .json .cu .ptx .cubin .yaml ''; do
			refused "$verb $kind$ending" "$verb" "./$kind$ending"
			[ "$verb" != diff ] || refused "diff with $kind$ending" diff good.json "./$kind$ending"
			[ "$verb" != export ] || refused "export --check $kind$ending" export --check "./$kind$ending"
		done
	done
	done_with "$verb" 18
done

# the screen, before it opens
for kind in pipe device huge; do
	for ending in .json .cu .ptx .yaml ''; do
		refused "screen $kind$ending" "./$kind$ending"
	done
	refused "screen --gpu $kind" --gpu "./$kind.yaml"
	refused "screen --preset $kind" --preset "./$kind.yaml"
done
done_with screen 21

# buffers, what a buffer is compared with, what a compiler is told to include
own='--kernel k --grid 1 --block 32'
for kind in pipe device huge; do
	for ending in .npy .csv ''; do
		# shellcheck disable=SC2086
		refused "buffer $kind$ending" run good.cu $own "a=@$dir/$kind$ending"
		# shellcheck disable=SC2086
		refused "dump $kind$ending" run good.cu $own 'a=f32[32]:zero' --dump "a-@$dir/$kind$ending"
	done
	# shellcheck disable=SC2086
	refused "include $kind" run good.cu $own 'a=f32[32]:zero' -include "$dir/$kind"
done
done_with buffers 21

# what lies beside a snapshot, and what the environment names
for kind in pipe device huge; do
	rm -f good.json.sig
	ln -s "$kind" good.json.sig
	refused "signature $kind" export good.json --format md --out -
	rm -f good.json.sig
	refused "key $kind" export vec_add N=64 --out signed.json --sign "./$kind"
done
done_with signatures 6

# a cache whose entries are pipes is no cache, and holds up nobody
PMPP_NO_SYSTEM_CUDA='' XDG_CACHE_HOME=$dir/cache "$PMPP" run good.cu $own 'a=f32[32]:zero' >out 2>err || cat err
find "$dir/cache" -type f ! -name '*lock*' >entries
same cache-has-entries yes "$([ -s entries ] && echo yes)"
while read -r entry; do
	rm "$entry" && mkfifo "$entry"
done <entries
XDG_CACHE_HOME=$dir/cache timeout -k 1 10 "$PMPP" run good.cu $own 'a=f32[32]:zero' >out 2>err
same cache-of-pipes 0 $?
