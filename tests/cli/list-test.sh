#!/bin/sh
# Lists and doctor: everything that is a file is listed, and every answer is valid JSON.
. "$(dirname "$0")/lib.sh"

# names NAME LIST FILE...: the list names every file of a folder
names() {
	name=$1
	list=$2
	shift 2
	"$PMPP" list "$list" >"$dir/out" || { not_ok "$name" failed; return; }
	missing=
	for file; do
		base=${file##*/}
		base=${base%.*}
		grep -Eq "(^|[^A-Za-z0-9_])$base([^A-Za-z0-9_]|\$)" "$dir/out" || missing="$missing $base"
	done
	same "$name" '' "$missing"
}
names kernels kernels "$TEST_ROOT"/kernels/*.cu
names gpus gpus "$TEST_ROOT"/presets/gpus/*.yaml
names views views "$TEST_ROOT"/views/*.c
names presets presets "$TEST_ROOT"/presets/*.yaml
for metric in time.kernel_ns roof.bound mem.ld_sectors_per_request; do
	"$PMPP" list metrics | grep -q "^$metric" && ok "metric-$metric" || not_ok "metric-$metric" missing
done
"$PMPP" list backends | grep -q '^emu .*emulator' && ok emulator || not_ok emulator missing

# JSON by whichever judge is there; the unit tests judge it in any case
judge=
if command -v jq >/dev/null; then
	judge='jq -e .'
elif command -v python3 >/dev/null; then
	judge='python3 -m json.tool'
fi
for args in 'list kernels' 'list gpus' 'list metrics' 'list presets' 'list views' 'list backends' \
	doctor 'occupancy --block 256 --regs 32' 'run vec_add N=1000' 'run nothing' 'preset vec_add'; do
	# word splitting is meant
	# shellcheck disable=SC2086
	"$PMPP" $args --json >"$dir/out" 2>/dev/null
	same "schema-$args" pmpp-explore/1 "$(field "$dir/out" schema)"
	if [ -z "$judge" ]; then
		echo "skip json-$args: neither jq nor python3 here"
	elif $judge <"$dir/out" >/dev/null 2>"$dir/err"; then
		ok "json-$args"
	else
		not_ok "json-$args" "$(cat "$dir/err")"
	fi
done

# doctor looks at everything, and a missing NVRTC is a state with a reason and a remedy
"$PMPP" doctor >"$dir/out"
for what in terminal locale compiler 'compile cache' emu; do
	grep -q "$what" "$dir/out" && ok "doctor-$what" || not_ok "doctor-$what" "$(cat "$dir/out")"
done

# doctor --ptx: kernel by kernel, with instruction, line and section of the PTX ISA; the good one stays good
cat >"$dir/two.ptx" <<'PTX'
.version 8.0
.target sm_80
.address_size 64
.visible .entry good()
{
	ret;
}
.visible .entry bad()
{
	.reg .f32 %f<4>;
	.reg .b32 %r<2>;
	tcgen05.wait::ld.sync.aligned;
	ret;
}
PTX
run doctor-ptx 3 doctor --ptx "$dir/two.ptx"
for words in good "'tcgen05.wait::ld.sync.aligned'" 'PTX line 12' 'PTX ISA 9.7.16' '1 of 2 kernels would run'; do
	grep -qF -e "$words" "$dir/out" && ok "doctor-ptx-$words" || not_ok "doctor-ptx-$words" "$(cat "$dir/out")"
done
run doctor-ptx-json 3 doctor --json --ptx "$dir/two.ptx"
same doctor-ptx-kernel bad "$(field "$dir/out" kernels 1 kernel)"
same doctor-ptx-line 12 "$(field "$dir/out" kernels 1 refusals 0 ptx_line)"
same doctor-ptx-in-the-way 'tcgen05.wait::ld.sync.aligned 1' "$(field "$dir/out" in_the_way 0 instruction) $(field "$dir/out" in_the_way 0 kernels)"
echo '.version 8.0' >"$dir/none.ptx"
run doctor-ptx-parse 2 doctor --ptx "$dir/none.ptx"
run doctor-ptx-none 3 doctor --ptx "$dir/absent.ptx"
# a folder: all of its files, those that cannot be read with the reason; names of C++ as written
mkdir -p "$dir/several" "$dir/empty"
sed 's/good/_ZN4deep5scaleIfEEvPT_/' "$dir/two.ptx" >"$dir/several/a.ptx"
sed '/entry bad/,$d' "$dir/two.ptx" >"$dir/several/b.ptx"
run doctor-ptx-folder 3 doctor --ptx "$dir/several"
for words in 'several/a.ptx' '2 of 3 kernels of 2 files would run' "'tcgen05.wait::ld.sync.aligned'"; do
	grep -qF -e "$words" "$dir/out" && ok "doctor-ptx-folder-$words" || not_ok "doctor-ptx-folder-$words" "$(cat "$dir/out")"
done
# what stands in the way of how many kernels, the most first
sed 's/bad/worse/' "$dir/two.ptx" >"$dir/several/d.ptx"
run doctor-ptx-by-instruction 3 doctor --ptx "$dir/several"
grep -q "^ *2  'tcgen05.wait::ld.sync.aligned': " "$dir/out" && ok doctor-ptx-counted || not_ok doctor-ptx-counted "$(cat "$dir/out")"
rm "$dir/several/d.ptx"
if ls /usr/lib/*/libstdc++.so.6 >/dev/null 2>&1; then
	grep -qF '_ZN4deep5scaleIfEEvPT_: void deep::scale<float>(float*)' "$dir/out" && ok doctor-ptx-name || not_ok doctor-ptx-name "$(cat "$dir/out")"
fi
cp "$dir/none.ptx" "$dir/several/c.ptx"
run doctor-ptx-folder-part 2 doctor --ptx "$dir/several" --json
same doctor-ptx-folder-good good "$(field "$dir/out" files 1 kernels 0 kernel)"
field "$dir/out" files 2 error | grep -qF target && ok doctor-ptx-folder-error || not_ok doctor-ptx-folder-error "$(cat "$dir/out")"
run doctor-ptx-folder-empty 2 doctor --ptx "$dir/empty"
