#!/bin/sh
# src/setup/setup.sh with a pretended machine: a compiler that finds no jansson.h until apt-get has run,
# and apt-get, id and sudo that only write down what they are asked.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin" "$work/tree/src/setup" "$work/cuda/include" "$work/cuda/lib64" "$work/cuda/bin"
cp "$TEST_ROOT"/src/setup/*.sh "$TEST_ROOT"/src/setup/*.txt "$work/tree/src/setup/"
for h in $(sed 's/#.*//' "$TEST_ROOT/src/setup/cuda-headers.txt"); do
	: >"$work/cuda/include/$h"
done
: >"$work/cuda/lib64/libnvrtc.so.13"
: >"$work/cuda/bin/nvdisasm"
chmod +x "$work/cuda/bin/nvdisasm"
cd "$work/tree" || exit 1

# tool NAME: an executable found before the real one, its body from stdin
tool() {
	{ echo '#!/bin/sh'; cat; } >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}
tool lacking-cc <<X
case "\$*" in *-E*)
	text=\$(cat)
	case \$text in *jansson.h*) [ -e "$work/installed" ] || exit 1 ;; esac
	printf '%s\n' "\$text" | exec gcc "\$@" ;;
esac
exec gcc "\$@"
X
tool apt-get <<X
echo "\$*" >>"$work/apt"
case "\$1" in install) [ ! -e "$work/works" ] || : >"$work/installed" ;; esac
exit 0
X
tool sudo <<X
exit 1
X
tool python3 <<X
exit 0
X

setup() {
	rm -f setup.mk "$work/apt"
	env -u CUDA_PATH PATH="$work/bin:$PATH" CUDA_HOME="$work/cuda" "$@" sh src/setup/setup.sh setup.mk \
		>"$work/out" 2>&1
	status=$?
}
verdict() { # NAME, then a command that must succeed
	name=$1
	shift
	if "$@"; then
		echo "ok $name"
	else
		echo "not ok $name (status $status)"
		cat "$work/out" "$work/apt" setup.mk 2>/dev/null
	fi
}
said() { grep -qF -e "$1" "$work/out"; }
quiet_and_done() {
	[ "$status" -eq 0 ] && [ ! -s "$work/out" ] && [ ! -e "$work/apt" ] &&
		grep -qx "CUDA_ROOT := $work/cuda" setup.mk
}
told_what_to_do() {
	[ "$status" -ne 0 ] && [ ! -e "$work/apt" ] && [ ! -e setup.mk ] &&
		said 'apt-get install -y --no-install-recommends libjansson-dev'
}
installed_it() {
	[ "$status" -eq 0 ] && grep -qx 'install -y --no-install-recommends libjansson-dev' "$work/apt" &&
		[ -e setup.mk ]
}
stopped() { [ "$status" -ne 0 ] && [ ! -e setup.mk ] && said "$1"; }

setup CC=gcc
verdict 'a complete machine: no apt, no words' quiet_and_done

echo 'echo 1000' | tool id
setup CC=lacking-cc
verdict 'without root the command is printed and nothing is done' told_what_to_do

echo 'echo 0' | tool id
: >"$work/works"
setup CC=lacking-cc
verdict 'as root exactly the missing package is installed' installed_it

rm -f "$work/works" "$work/installed"
setup CC=lacking-cc
verdict 'an installation that changes nothing is an error' stopped 'still not usable after installation: libjansson-dev'

setup CC=no-such-compiler
verdict 'a compiler that is not there is named' stopped 'CC=no-such-compiler'
