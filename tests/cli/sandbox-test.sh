#!/bin/sh
# Code of others: a program is announced before it runs; --sandbox keeps it from network, files,
# sockets and processes, and nothing runs where there is no sandbox.
. "$(dirname "$0")/lib.sh"

cat >"$dir/curious.c" <<'EOF'
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char *word(int failed) { return failed ? "no" : "yes"; }

int main(int argc, char **argv)
{
	const struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(53),
	                                .sin_addr.s_addr = htonl(0xc0000201) };
	struct sockaddr_un agent = { .sun_family = AF_UNIX };
	if (argc < 4)
		abort();
	snprintf(agent.sun_path, sizeof agent.sun_path, "%s", argv[3]);
	printf("writes %s\n", word(creat(argv[1], 0600) < 0));
	printf("outside %s\n", word(access(getenv("OUTSIDE"), W_OK)));
	printf("network %s\n", word(connect(socket(AF_INET, SOCK_DGRAM, 0),
	                                    (const struct sockaddr *)&to, sizeof to)));
	printf("agent %s\n", word(connect(socket(AF_UNIX, SOCK_STREAM, 0),
	                                  (const struct sockaddr *)&agent, sizeof agent)));
	printf("signals %s\n", word(kill(atoi(argv[2]), 0)));
	printf("tmp %s\n", word(creat("/tmp/pmpp-sandbox-own", 0600) < 0));
	printf("reads %s\n", word(access(argv[0], R_OK)));
	fflush(stdout);
	return argc > 4 ? raise(SIGUSR1) : 7;
}
EOF
if ! cc -o "$dir/curious" "$dir/curious.c" 2>"$dir/log"; then
	echo "skip sandbox: no program could be built: $(head -1 "$dir/log")"
	exit 0
fi
# a folder that can be written to, and that no sandbox hides
export OUTSIDE=/
for folder in "$TEST_ROOT" "$HOME" /var/lib; do
	case $folder in /tmp/* | /run/* | /var/tmp/* | /dev/shm/*) continue ;; esac
	[ -w "$folder" ] && OUTSIDE=$folder && break
done
mkdir "$dir/none"
cd "$dir" || exit 1

# announced before its first output
"$PMPP" launches "$dir/curious" -- "$dir/written" $$ /run/none >"$dir/both" 2>&1 </dev/null
head -1 "$dir/both" | grep -q 'curious.* runs here as a program, with your rights' &&
	ok announced || not_ok announced "$(head -3 "$dir/both")"
grep -q '^writes yes' "$dir/both" && ok not-in-a-sandbox || not_ok not-in-a-sandbox "$(cat "$dir/both")"
rm -f "$dir/written" /tmp/pmpp-sandbox-own

# the runtime that it loads is this program's, byte for byte, whatever lies in its place in the cache
export XDG_CACHE_HOME="$dir/cache"
own_runtime() { # NAME: a run puts it in order
	"$PMPP" launches "$dir/curious" -- "$dir/written" $$ /run/none >"$dir/both" 2>&1 </dev/null
	[ -n "$want" ] || want=$(cksum <"$library")
	if grep -q '^writes yes' "$dir/both" && [ "$(cksum <"$library")" = "$want" ] &&
		[ -f "$library" ] && [ ! -h "$library" ] && [ "$(stat -c %A "$library" | cut -c 9)" = - ] &&
		[ "$(readlink "$there/libcuda.so.1")" = libcudart.so.13 ]; then
		ok "runtime-$1"
	else
		not_ok "runtime-$1" "$(ls -l "$there"; cat "$dir/both")"
	fi
}
"$PMPP" launches "$dir/curious" -- "$dir/written" $$ /run/none >/dev/null 2>&1 </dev/null
there=$(echo "$dir/cache/pmpp-explore/runtime-"*)
library=$there/libcudart.so.13
want=
own_runtime new
printf 'X' | dd of="$library" bs=1 seek=5000 conv=notrunc 2>/dev/null
own_runtime altered
cp "$library" "$dir/other" && ln -sf "$dir/other" "$library"
own_runtime link
chmod 666 "$library"
own_runtime writable
ln -sf "$dir/other" "$there/libcuda.so.1"
own_runtime name
chmod 777 "$there"
run runtime-folder 3 launches "$dir/curious" -- "$dir/written" $$ /run/none
says runtime-folder-says 'programs need the cache folder' 'no folder of yours alone'
chmod 755 "$there"
rm -f "$dir/written" /tmp/pmpp-sandbox-own

# refused where there is none
PATH=$dir/none run no-bubblewrap 3 launches "$dir/curious" --sandbox -- "$dir/written" $$ /run/none
says no-bubblewrap-says 'no bubblewrap' 'nothing was run' 'apt-get install bubblewrap'
printf '#!/bin/sh\necho no name spaces >&2\nexit 1\n' >"$dir/none/bwrap"
chmod +x "$dir/none/bwrap"
PATH=$dir/none:$PATH run no-sandbox 3 run --sandbox "$dir/curious" -- "$dir/written" $$ /run/none
says no-sandbox-says 'can make no sandbox here' 'no name spaces' '--security-opt'
[ ! -e "$dir/written" ] && ok nothing-ran || not_ok nothing-ran 'the program wrote its file'
run no-program 2 run vec_add --sandbox

if ! bwrap --unshare-all --ro-bind / / --proc /proc /bin/true 2>"$dir/log"; then
	echo "skip sandbox-walls: bubblewrap makes none here: $(head -1 "$dir/log")"
	exit 0
fi
cat >"$dir/agent.c" <<'EOF'
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const int s = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(a.sun_path, sizeof a.sun_path, "%s", argc > 1 ? argv[1] : "");
	if (bind(s, (const struct sockaddr *)&a, sizeof a) || listen(s, 8))
		return 1;
	puts("ready");
	fclose(stdout);
	pause();
	return 0;
}
EOF
agents=$(mktemp -d /tmp/pmpp-agent-XXXXXX)
cc -o "$dir/agent" "$dir/agent.c" && { "$dir/agent" "$agents/s" >"$dir/ready" & agent=$!; }
trap 'kill $agent; chmod -R u+rwx "$dir"; rm -rf "$dir" "$agents"' EXIT
for _ in $(seq 100); do
	[ ! -s "$dir/ready" ] || break
	sleep 0.05
done

# the same program, with the walls and without
"$dir/curious" "$dir/written" $$ "$agents/s" >"$dir/free"
same free-agent 'outside yes agent yes' "$(grep -e outside -e agent "$dir/free" | tr '\n' ' ' | sed 's/ $//')"
rm -f "$dir/written" /tmp/pmpp-sandbox-own
"$PMPP" launches "$dir/curious" --sandbox -- "$dir/written" $$ "$agents/s" >"$dir/out" 2>"$dir/err" </dev/null
same sandbox-says 'writes no outside no network no agent no signals no tmp yes reads yes' \
	"$(tr '\n' ' ' <"$dir/out" | sed 's/ $//')"
says sandbox-announced 'in a sandbox: no network' 'exit 7'
[ ! -e "$dir/written" ] && [ ! -e /tmp/pmpp-sandbox-own ] && ok sandbox-left-nothing ||
	not_ok sandbox-left-nothing 'a file was written'
"$PMPP" launches "$dir/curious" --sandbox -- "$dir/written" $$ /run/none die >"$dir/out" 2>"$dir/err" </dev/null
says sandbox-signal 'signal 10'
