#!/bin/bash
# The README's two commands on a bare machine: check-bare.sh [RELEASE] (default bookworm)
#
# A chroot of the release (releases.txt) is made by debootstrap with what a new machine has, HEAD is
# cloned into it, and new-user.sh does there what a new user would. Nothing else of this machine is
# in it but the way to the networks: DNS, certificates, proxies, apt's and pip's settings.
#
#   TESTS=quick     the build and the unit tests only; TESTS=build: not even those;
#                   TESTS=programs: the build, and the tests of whole programs
#   WITHOUT=WHEEL   takes this wheel out of src/setup/cuda-wheels.txt: the check must then fail
#   FALLBACK=no     exit status 3 where no chroot can be made; else include-path.sh is run instead
#   BARE_MIRROR     the release's archive, where the default is not reachable
# The base system, packages and wheels are kept in ${XDG_CACHE_HOME:-~/.cache}/pmpp-explore/bare.
set -euo pipefail
cd "$(dirname "$0")/../.."
release=${1:-bookworm}
here=tests/bare
base_packages=make,git,ca-certificates
cache=${XDG_CACHE_HOME:-$HOME/.cache}/pmpp-explore/bare
log=$PWD/build/bare/$release.log
work=
trap 'say "stopped by an error in line $LINENO of $0"' ERR
# Ubuntu signs with keys that Debian does not carry; they come from Ubuntu's package, by its hash.
ubuntu_mirror=http://archive.ubuntu.com/ubuntu
ubuntu_keys=pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1_all.deb
ubuntu_keys_sha256=36de43b15853ccae0028e9a767613770c704833f82586f28eb262f0311adb8a8

say() { printf 'check-bare: %s\n' "$*"; }
# Where there can be no chroot: the reason, then what can be tested without.
cannot() {
	say "no chroot of $release here: $1"
	[ "${FALLBACK:-yes}" != no ] || exit 3
	say "instead, on this machine, a build that finds only the packages' and the wheels' headers"
	[ -z "$work" ] || rm -rf --one-file-system "$work"
	exec bash "$here/include-path.sh"
}

read -r distribution components as < <(awk -v r="$release" '$1 == r { print $2, $3, $4 }' \
	"$here/releases.txt") || {
	say "unknown release $release; there are: $(sed '/^#/d; s/ .*//' "$here/releases.txt" | xargs)"
	exit 2
}
[ "$(id -u)" = 0 ] || cannot "only root can make one"
command -v debootstrap >/dev/null || cannot "debootstrap is missing: apt-get install debootstrap"
unshare --mount --pid --fork true 2>/dev/null || cannot "this machine allows no mounts"

if [ "$distribution" = ubuntu ]; then
	mirror=${BARE_MIRROR:-$ubuntu_mirror}
	script=gutsy
	keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg
else
	# shellcheck disable=SC2016
	here_from=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' |
		grep '/debian/*$' | head -n 1 || true)
	mirror=${BARE_MIRROR:-${here_from:-http://deb.debian.org/debian}}
	script=sid
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
fi
mirror=${mirror%/}
[ ! -e "/usr/share/debootstrap/scripts/$release" ] || script=$release
mkdir -p "$cache/debs-$release" "$cache/pip-$as" "${log%/*}"
: >"$log"
work=$(mktemp -d "${TMPDIR:-/tmp}/pmpp-bare-XXXXXX")
# (what is mounted in it is mounted in a namespace of its own, which is gone by then)
trap 'rm -rf --one-file-system "$work"' EXIT

# --- the base system, once per list of packages ---
key=$(printf '%s %s %s' "$base_packages" "$components" "$mirror" | sha256sum | cut -c 1-12)
base=$cache/base-$release-$key.tar
exec 9>"$cache/lock-$release"
flock 9
if [ ! -e "$base" ]; then
	if [ "$distribution" = ubuntu ] && [ ! -e "$keyring" ]; then
		keyring=$cache/keys/usr/share/keyrings/ubuntu-archive-keyring.gpg
		wget -q -T 30 -t 2 -O "$work/keys.deb" "$ubuntu_mirror/$ubuntu_keys" ||
			cannot "$ubuntu_mirror is not reachable"
		printf '%s  %s\n' "$ubuntu_keys_sha256" "$work/keys.deb" | sha256sum -c --quiet -
		dpkg-deb -x "$work/keys.deb" "$cache/keys"
	fi
	wget -q -T 30 -t 2 -O /dev/null "$mirror/dists/$release/InRelease" ||
		cannot "its archive is not reachable (BARE_MIRROR names another)"
	say "making the base system of $release"
	if ! debootstrap --variant=minbase --include="$base_packages" --components="$components" \
		--keyring="$keyring" "$release" "$work/base" "$mirror" "$script" >>"$log" 2>&1
	then
		tail -n 5 "$log" "$work/base/debootstrap/debootstrap.log" 2>/dev/null || true
		cannot "debootstrap failed (all of its words: $log)"
	fi
	rm -rf "$work"/base/var/cache/apt/archives/*.deb "$work"/base/var/lib/apt/lists/*
	tar -C "$work/base" -cf "$base.tmp" .
	mv "$base.tmp" "$base"
	rm -rf "$work/base"
fi
exec 9>&-

# --- a machine from it, with a clone ---
root=$work/root
mkdir "$root"
tar -C "$root" -xf "$base"
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
[ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/"
certificates=/etc/ssl/certs/ca-certificates.crt
[ ! -e "$certificates" ] || cp -L "$certificates" "$root$certificates"
for file in /etc/apt/apt.conf /etc/apt/apt.conf.d/*; do
	! grep -qisE 'acquire|proxy' "$file" || cp "$file" "$root/etc/apt/apt.conf.d/90host-${file##*/}"
done
[ ! -d /etc/apt/auth.conf.d ] || cp -r /etc/apt/auth.conf.d "$root/etc/apt/"
chroot "$root" useradd --create-home --shell /bin/sh new
home=/root
[ "$as" = root ] || home=/home/new
# as the owner of the clone may be another user: git is told that this is meant
printf '[safe]\n\tdirectory = *\n' >"$work/.gitconfig"
HOME=$work XDG_CONFIG_HOME=$work git clone -q --depth 1 "file://$PWD" "$root$home/pmpp-explore"
[ -z "$(git -c safe.directory='*' status --porcelain 2>/dev/null)" ] ||
	say "what is not committed is not in the clone"
if [ -n "${WITHOUT:-}" ]; then
	list=$root$home/pmpp-explore/src/setup/cuda-wheels.txt
	grep -q "^$WITHOUT==" "$list" || { say "src/setup/cuda-wheels.txt has no $WITHOUT"; exit 2; }
	sed -i "/^$WITHOUT==/d" "$list"
	say "without the wheel $WITHOUT"
fi
mkdir -p "$root$home/.cache/pip"
[ "$as" = root ] || {
	chroot "$root" chown -R new: "$home"
	chown -R "$(chroot "$root" id -u new)" "$cache/pip-$as"
}

# --- the new user's session ---
# (a test that hangs is stopped; one on a busy machine is not)
env=(HOME="$home" TERM=xterm-256color TEST_TIMEOUT="${TEST_TIMEOUT:-600}")
env+=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY PIP_INDEX_URL \
	PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST PIP_CERT PIP_DEFAULT_TIMEOUT; do
	[ -z "${!name:-}" ] || env+=("$name=${!name}")
done
# (only whether it can be built is asked: not how quick the program then is)
[ "${TESTS:-all}" != build ] || env+=(CFLAGS='-O1 -g0' SIMD_OPT=-O1)
say "$release: a new machine, its user is $as; log: build/bare/$release.log"
status=0
unshare --mount --pid --fork --kill-child bash "$here/boot.sh" "$root" "$cache/debs-$release" \
	"$cache/pip-$as" env -i "${env[@]}" \
	sh -c "cd && cd pmpp-explore && exec sh $here/new-user.sh $as ${TESTS:-all}" \
	</dev/null 2>&1 | tee -a "$log" || status=$?
if [ "$status" = 0 ]; then
	say "$release: ok" | tee -a "$log"
else
	say "$release: FAILED" | tee -a "$log"
fi
exit "$status"
