#!/bin/sh
# What is killed leaves no process behind, and what it leaves on the disk goes with the next start.
. "$(dirname "$0")/lib.sh"
export TMPDIR="$dir/tmp"
mkdir "$dir/tmp" "$dir/bin"

# a C compiler that takes its time, and says that it has begun
printf '#!/bin/sh\nsleep 1000 &\necho $! >"%s.new"\nmv "%s.new" "%s"\nwait\n' "$dir/began" "$dir/began" "$dir/began" >"$dir/bin/cc"
chmod +x "$dir/bin/cc"
cp "$TEST_ROOT/kernels/vec_add.cu" "$dir/plugin.cu"
kill_compiling() { # SIGNAL
	rm -f "$dir/began"
	PATH=$dir/bin:$PATH "$PMPP" run "$dir/plugin.cu" --plugin N=256 >"$dir/out" 2>"$dir/err" </dev/null &
	running=$!
	while [ ! -e "$dir/began" ] && kill -0 $running 2>/dev/null; do sleep 0.02; done
	kill -"$1" $running
	wait $running 2>/dev/null
	# its compiler is told by the system: soon, and the test has a limit
	while kill -0 "$(cat "$dir/began")" 2>/dev/null; do sleep 0.02; done
}
for signal in KILL TERM HUP; do
	kill_compiling $signal
	ok "no-process-after-$signal"
done
ls "$dir/tmp" | grep -q . && ok killed-leaves-a-folder || not_ok killed-leaves-a-folder 'the test sees none'
mkdir "$dir/tmp/somebody-elses"
run next-start 0 list gpus
same swept somebody-elses "$(ls "$dir/tmp")"

# a compiler that fails or is not there
printf '#!/bin/sh\necho "plugin.cu:7: it is broken"\nexit 3\n' >"$dir/bin/cc"
PATH=$dir/bin:$PATH run broken 1 run "$dir/plugin.cu" --plugin N=256
says broken-says 'plugin.cu:7: it is broken'
rm "$dir/bin/cc"
PATH=$dir/bin run none 3 run "$dir/plugin.cu" --plugin N=256
says none-says 'no C compiler' 'apt-get install gcc'
same nothing-left somebody-elses "$(ls "$dir/tmp")"
