#!/bin/sh
# Fetches the tools of make format and make lint: lint.sh build/lint/tools
# They come from PyPI, pinned in src/setup/lint-wheels.txt; nothing outside that folder changes.
set -u
out=$1
who=lint
log=$out.log
wheels=src/setup/lint-wheels.txt
. src/setup/wheels.sh

on_linux_x86_64 "the tools are"
need_pip "the tools"
rm -rf "$out" "$out.tmp"
mkdir -p "$out.tmp"
printf '  FETCH   %s (60 MB from PyPI)\n' "$out"
pip_into_or_say "$out.tmp" "$wheels" ||
	die "pip could not fetch the tools; its words are above and in $log." \
		"Make PyPI reachable (https_proxy, PIP_INDEX_URL), then run make again."
cp "$wheels" "$out.tmp/wheels.txt"
mv "$out.tmp" "$out"
