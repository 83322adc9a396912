#!/bin/sh
# A snapshot says that it is from a file, whose, when and of which version; its digest shows a
# change, its signature who stands by it.
. "$(dirname "$0")/lib.sh"
export PMPP_AUTHOR='alice@laptop' PMPP_ALLOWED_SIGNERS="$dir/allowed" HOME="$dir"

run export 0 export vec_add N=1k --gpu a100 --out "$dir/s.json"
same says-who alice@laptop "$(field "$dir/s.json" written by)"
case $(field "$dir/s.json" written at) in
20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z) ok says-when ;;
*) not_ok says-when "$(field "$dir/s.json" written at)" ;;
esac
run open 0 export "$dir/s.json" --format md --out "$dir/s.md"
says open-says 'from a file, written by alice@laptop at 20' 'with pmpp-explore' 'its digest holds' 'not signed'
grep -q "^$(field "$dir/s.json" digest)" "$dir/s.md" && ok notes-carry-the-digest ||
	not_ok notes-carry-the-digest "$(tail -3 "$dir/s.md")"

# a digest is of what is said, not of how it is spaced; opened and kept, it stays its writer's
tr -d '\n' <"$dir/s.json" >"$dir/dense.json"
run dense 0 export "$dir/dense.json" --out "$dir/again.json"
says dense-says 'its digest holds'
PMPP_AUTHOR=bob run again 0 export "$dir/s.json" --out "$dir/again.json"
same stays-its-writers "$(cat "$dir/s.json")" "$(cat "$dir/again.json")"

# one figure more is a change
sed 's/"origin": "counted"/"origin": "measured"/' "$dir/s.json" >"$dir/edited.json"
run edited 0 export "$dir/edited.json" --format txt --out "$dir/edited.txt"
says edited-says 'CHANGED since it was written'
run diff-edited 0 diff "$dir/s.json" "$dir/edited.json"
says diff-edited-says 's.json: from a file, written by alice@laptop' 'edited.json: from a file' 'CHANGED since it was written'
tr -d '\n' <"$dir/s.json" | sed 's/, *"digest": *"[^"]*"//' >"$dir/none.json"
run no-digest 0 export "$dir/none.json" --format txt --out "$dir/none.txt"
says no-digest-says 'it has no digest'

# so do the other forms, by their last line
for form in md csv txt; do
	run "out-$form" 0 export "$dir/s.json" --format $form --out "$dir/out.$form"
	run "check-$form" 0 export --check "$dir/out.$form"
	sed 's/counted/measured/; s/ = / ● /' "$dir/out.$form" >"$dir/altered.$form"
	run "check-forged-$form" 1 export --check "$dir/altered.$form"
	grep -q 'CHANGED since' "$dir/out" && ok "forged-$form-says" || not_ok "forged-$form-says" "$(cat "$dir/out")"
	sed '$d' "$dir/out.$form" >"$dir/cut.$form"
	run "check-cut-$form" 3 export --check "$dir/cut.$form"
done
run check-snapshot 0 export --check "$dir/s.json"
grep -q 'its digest holds' "$dir/out" && ok check-snapshot-says || not_ok check-snapshot-says "$(cat "$dir/out")"
run check-edited 1 export --check "$dir/edited.json"
run check-none 3 export --check "$dir/none.json"
run check-what 2 export --check

# signatures
command -v ssh-keygen >/dev/null || { echo 'skip signed: there is no ssh-keygen here'; exit 0; }
ssh-keygen -q -t ed25519 -N '' -f "$dir/key"
run sign 0 export vec_add N=1k --gpu a100 --out "$dir/signed.json" --sign "$dir/key"
run stranger 0 export "$dir/signed.json" --format txt --out "$dir/x.txt"
says stranger-says 'signed with a key that you have not named: ED25519 key SHA256:'
printf 'alice@example.org %s\n' "$(cat "$dir/key.pub")" >"$dir/allowed"
run named 0 export "$dir/signed.json" --format txt --out "$dir/x.txt"
says named-says 'signed by alice@example.org'
run sign-again 0 export vec_add N=1k --gpu a100 --out "$dir/signed.json" --sign "$dir/key"
sed 's/"origin": "counted"/"origin": "measured"/' "$dir/signed.json" >"$dir/forged.json"
cp "$dir/signed.json.sig" "$dir/forged.json.sig"
run forged 3 export "$dir/forged.json" --format txt --out "$dir/forged.txt"
says forged-says 'forged.json is not what' 'changed since'
[ ! -e "$dir/forged.txt" ] && ok forged-not-opened || not_ok forged-not-opened 'it was exported'
run diff-forged 2 diff "$dir/signed.json" "$dir/forged.json"
says diff-forged-says 'forged.json is not what' 'changed since'
ssh-keygen -q -t ed25519 -N '' -f "$dir/other"
ssh-keygen -Y sign -q -n pmpp-explore -f "$dir/other" <"$dir/signed.json" >"$dir/signed.json.sig" 2>"$dir/err"
run other 0 export "$dir/signed.json" --format txt --out "$dir/x.txt"
says other-says 'a key that you have not named'
run no-key 3 export vec_add N=1k --gpu a100 --out "$dir/unsigned.json" --sign "$dir/none"
says no-key-says 'written, but not signed' 'ssh-keygen'
run sign-notes 2 export vec_add N=1k --format md --out "$dir/n.md" --sign "$dir/key"
