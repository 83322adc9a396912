#!/bin/bash
# The mounts that a machine in a folder needs, then its first command there, for check-bare.sh:
# boot.sh ROOT DEBS PIP-CACHE env -i HOME=... COMMAND...
#
# DEBS and PIP-CACHE are kept from one machine to the next. In mount and process namespaces of its
# own, so that everything is gone when it ends. No device but terminals: there is no GPU.
set -euo pipefail
root=$1
debs=$2
pip=$3
shift 3

mount --make-rprivate /
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/pts" "$root/dev/shm"
for name in null zero full random urandom tty; do
	: >"$root/dev/$name"
	mount --bind "/dev/$name" "$root/dev/$name"
done
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
ln -s fd/0 "$root/dev/stdin"
ln -s fd/1 "$root/dev/stdout"
ln -s fd/2 "$root/dev/stderr"
mount --bind "$debs" "$root/var/cache/apt/archives"
for word; do
	case $word in HOME=*) mount --bind "$pip" "$root${word#HOME=}/.cache/pip" && break ;; esac
done
exec chroot "$root" "$@"
