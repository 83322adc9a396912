# Shared by the command-line tests: reading JSON, comparing, reporting. Sourced, not run.
#
# The program prints one JSON token per line, indented by one blank per level, so that a path can
# be followed with awk: field OBJECT.json metrics 'mem.ld_sectors' value

set -u
dir=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-cli-XXXXXX") || exit 1
trap 'chmod -R u+rwx "$dir"; rm -rf "$dir"' EXIT

# field FILE KEY...: the value at that path, strings without quotes; array elements by number.
field() {
	file=$1
	shift
	awk -v want="$(printf '/%s' "$@")" '
	{
		line = $0
		match(line, /^ */)
		depth = RLENGTH
		text = substr(line, depth + 1)
		sub(/,$/, "", text)
		if (text ~ /^[\]}]/) next
		if (text ~ /^"([^"\\]|\\.)*": /) {
			match(text, /^"([^"\\]|\\.)*": /)
			key[depth] = substr(text, 2, RLENGTH - 4)
			text = substr(text, RLENGTH + 1)
		} else {
			key[depth] = n[depth]++
		}
		n[depth + 1] = 0
		path = ""
		for (i = 1; i <= depth; i++) path = path "/" key[i]
		if (path == want) {
			if (text ~ /^"/) text = substr(text, 2, length(text) - 2)
			print text
			exit
		}
	}' "$file"
}

# Does the program start under a limit of addresses? With a sanitizer's in it, it does not.
limits_hold() { (ulimit -v "${1:-2000000}" && "$PMPP" --version) >/dev/null 2>&1; }

ok() { echo "ok $1"; }
not_ok() { echo "not ok $1: $2"; }

# same NAME WANT GOT
same() {
	if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "want '$2', got '$3'"; fi
}

# near NAME WANT GOT PERCENT
near() {
	if awk -v w="$2" -v g="$3" -v p="$4" 'BEGIN { d = g - w; if (d < 0) d = -d; m = w < 0 ? -w : w
	    exit !(g != "" && d <= m * p / 100) }'; then
		ok "$1"
	else
		not_ok "$1" "want $2 within $4 %, got '$3'"
	fi
}

# run NAME STATUS ARG...: runs the program into $dir/out and $dir/err and checks the status.
run() {
	name=$1
	want=$2
	shift 2
	"$PMPP" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	got=$?
	if [ "$got" -ne "$want" ]; then
		not_ok "$name" "exit status $got, want $want: $(cat "$dir/err")"
		return 1
	fi
	ok "$name"
}

# says NAME WORDS...: every one of them is in the message.
says() {
	name=$1
	shift
	for words; do
		if ! grep -qF -e "$words" "$dir/err"; then
			not_ok "$name" "no '$words' in: $(cat "$dir/err")"
			return 1
		fi
	done
	ok "$name"
}
