#!/bin/sh
# Fetches the tools of make format and make lint: lint.sh build/lint/tools
# They come from PyPI, pinned in src/setup/lint-wheels.txt; nothing outside that folder changes.
set -u
out=$1
wheels=src/setup/lint-wheels.txt

die() {
	printf 'lint: %s\n' "$1" >&2
	shift
	for line; do printf '      %s\n' "$line" >&2; done
	exit 1
}

machine=$(uname -s)-$(uname -m)
[ "$machine" = Linux-x86_64 ] ||
	die "the tools are pinned for Linux-x86_64 only, and this is $machine."
command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1 ||
	die "python3 with pip is needed to fetch the tools. Run this, then make again:" \
		"  apt-get install python3 python3-pip"
rm -rf "$out" "$out.tmp"
mkdir -p "$out.tmp"
printf '  FETCH   %s (60 MB from PyPI)\n' "$out"
if ! PIP_USER=0 PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet \
	--disable-pip-version-check --no-input --no-deps --no-compile --only-binary :all: \
	--require-hashes --no-warn-conflicts --target "$out.tmp" -r "$wheels" \
	>"$out.log" 2>&1 </dev/null
then
	grep -v '^WARNING: Retrying' "$out.log" | tail -n 12 >&2
	rm -rf "$out.tmp"
	die "pip could not fetch the tools; its words are above and in $out.log." \
		"Make PyPI reachable (https_proxy, PIP_INDEX_URL), then run make again."
fi
cp "$wheels" "$out.tmp/wheels.txt"
mv "$out.tmp" "$out"
