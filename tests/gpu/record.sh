#!/bin/sh
# Sessions of every preset on a real GPU: record.sh PROGRAM OUTPUT-FOLDER
# What it writes belongs into presets/GPU/ (GPU as its sheet is called: h200): the program then shows these figures
# beside its own. A preset that does not hold there leaves its messages in NAME.txt.
set -u
p=$1
out=$2
mkdir -p "$out"
for name in $("$p" list presets --json | tr ',{' '\n\n' | sed -n 's/.*"name": *"\([^"]*\)".*/\1/p'); do
	timeout 60 "$p" preset "$name" --check --backend cuda --record "$out/$name.json" > "$out/$name.txt" 2>&1
	rc=$?
	echo "$name: status $rc, $(tail -1 "$out/$name.txt")"
	[ $rc -eq 0 ] && rm "$out/$name.txt"
done
