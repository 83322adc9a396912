#!/bin/sh
# The README's key table is the one in src/ui/keys.def. `readme-test.sh --table` prints it.
cd "$(dirname "$0")/../.." || exit 1

table() {
	printf '| key | what it does |\n|---|---|\n'
	# a row is two lines
	sed -n '/^KEY(/{N;s/\n *//;}; s/^KEY([A-Z_]*, "\([^"]*\)", "\([^"]*\)", "[^"]*",[^"]*"\([^"]*\)")$/\1\t\2\t\3/p' src/ui/keys.def |
	awk -F'\t' '{
		name["LEFT"] = "←"; name["RIGHT"] = "→"; name["UP"] = "↑"; name["DOWN"] = "↓"
		name["TAB"] = "Tab"; name["BTAB"] = "Shift-Tab"; name["ENTER"] = "Enter"; name["ESC"] = "Esc"
		name["BACKSPACE"] = "Backspace"; name["PGUP"] = "PgUp"; name["PGDN"] = "PgDn"; name["HOME"] = "Home"; name["END"] = "End"
		k = $1 in name ? name[$1] : $1
		also = $2 == "" ? "" : " `" $2 "`"
		printf "| `%s`%s | %s |\n", k, also, $3
	}'
}

if [ "${1-}" = --table ]; then
	table
	exit
fi
want=$(table)
have=$(sed -n '/^<!-- keys:/,/^<!-- end of keys -->/p' README.md | sed '1d;$d')
keys=$(grep -c '^KEY(' src/ui/keys.def)
rows=$(printf '%s\n' "$want" | grep -c '^| `')
if [ "$want" = "$have" ] && [ "$keys" = "$rows" ]; then
	echo "ok the README's keys are those of keys.def"
else
	printf '%s\n' "$have" > /tmp/readme.$$
	printf '%s\n' "$want" | diff /tmp/readme.$$ - | sed 's/^/  /'
	rm -f /tmp/readme.$$
	echo "not ok the README's keys are those of keys.def"
	exit 1
fi
# what it shows or points to is there
gone=$(grep -o '](\([^)#]*\)' README.md | sed 's/^](//' | grep -v '^http' | while read -r path; do [ -e "$path" ] || echo "$path"; done)
[ -z "$gone" ] && echo 'ok what README.md points to is there' || echo "not ok what README.md points to is there: $gone"
