#!/bin/sh
# A screen as a picture: colours of the palette, bold, reverse; bars and braille as rectangles; every
# cell where it stands; what SVG means by < and & is written out.
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-picture-XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
if ! command -v python3 >/dev/null 2>&1; then
	echo "skip picture: python3 is not installed"
	exit 0
fi
printf 'a<&\033[1;38;5;210mB\033[0m \033[7mr\033[0m\n\342\226\210\342\240\203\033[48;5;22m \033[0mz\n' |
	python3 "$here/picture.py" >"$dir/dark.svg" || echo "not ok picture-made"
printf 'a\n' | python3 "$here/picture.py" --background light >"$dir/light.svg"
has() { # NAME FILE TEXT
	if grep -qF -e "$3" "$dir/$2"; then echo "ok $1"; else echo "not ok $1: no '$3' in $(cat "$dir/$2")"; fi
}
has size dark.svg 'width="48" height="34"'
has escaped dark.svg '&lt;</text>'
has ampersand dark.svg '&amp;</text>'
has palette_bold dark.svg '<text x="24" y="13" fill="#ff8787" font-weight="bold">B</text>'
has reverse dark.svg '<rect x="40" y="0" width="8" height="17" fill="#dcdcdc"/>'
has reverse_ink dark.svg '<text x="40" y="13" fill="#101216">r</text>'
has block dark.svg '<rect x="0" y="17" width="8" height="17" fill="#dcdcdc"/>'
has braille dark.svg '<rect x="9.2" y="18.4" width="1.8" height="1.8" fill="#dcdcdc"/>'
has background dark.svg '<rect x="16" y="17" width="8" height="17" fill="#005f00"/>'
has cell dark.svg '<text x="24" y="30" fill="#dcdcdc">z</text>'
printf '\347\272\277z\n' | python3 "$here/picture.py" >"$dir/wide.svg" # a character of two cells
has wide wide.svg '<text x="16" y="13" fill="#dcdcdc">z</text>'
has light light.svg '<text x="0" y="13" fill="#1c1c1c">a</text>'
python3 - "$dir/dark.svg" <<'PY' && echo "ok well_formed" || echo "not ok well_formed"
import sys
import xml.etree.ElementTree
xml.etree.ElementTree.parse(sys.argv[1])
PY

# a session as an asciicast: every line is JSON, times go up, what the program wrote is in it
PMPP=${PMPP:-build/pmpp-explore}
XDG_CONFIG_HOME=$dir LC_ALL=C.UTF-8 python3 "$here/cast.py" 80 24 '~2 4 q q' "$PMPP" vec_add/per_element N=4096 \
	>"$dir/a.cast" && echo 'ok cast_made' || echo 'not ok cast_made'
python3 - "$dir/a.cast" <<'PY' && echo 'ok cast_is_one' || echo 'not ok cast_is_one'
import json
import sys
head, *events = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
times = [e[0] for e in events]
text = "".join(e[2] for e in events)
sys.exit(not (head["version"] == 2 and head["width"] == 80 and times == sorted(times)
              and "per_element" in text and "sectors/req" in text))
PY
