#!/bin/sh
# From api.def: names.sh header|entries API.DEF; from driver/driver.def: names.sh aliases DRIVER.DEF
#
# header:  our C functions get names of their own (guest_cudaMalloc), because one symbol cannot be
#          defined under several versions
# entries: assembler; each exported name jumps to ours, in every version that programs ask for
# aliases: assembler; the other names of the driver's functions, which have no versions
set -u
rows() { sed -n 's/^\(API\|ALIAS\|STUB\)(\([A-Za-z0-9_]*\), *\([A-Za-z0-9_]*\))$/\1 \2 \3/p; s/^STUB(\([A-Za-z0-9_]*\))$/STUB \1 -/p' "$1"; }
case $1 in
header)
	echo '/* Made by src/runtime/guest/names.sh from api.def. */'
	rows "$2" | while read -r kind name of; do
		[ "$kind" != API ] || printf '#pragma redefine_extname %s guest_%s\n' "$name" "$name"
	done
	;;
entries)
	echo '.text'
	rows "$2" | while read -r kind name of; do
		[ "$kind" = ALIAS ] || of=$name
		printf '.globl entry_%s\n.type entry_%s, @function\nentry_%s: jmp guest_%s\n' \
			"$name" "$name" "$name" "$of"
		printf '.size entry_%s, . - entry_%s\n' "$name" "$name"
		for version in @libcudart.so.11.0 @libcudart.so.12 @@libcudart.so.13; do
			printf '.symver entry_%s, %s%s\n' "$name" "$name" "$version"
		done
	done
	echo '.section .note.GNU-stack,"",%progbits'
	;;
aliases)
	echo '.text'
	rows "$2" | while read -r kind name of; do
		[ "$kind" = ALIAS ] || continue
		printf '.globl %s\n.type %s, @function\n%s: jmp %s@PLT\n' "$name" "$name" "$name" "$of"
		printf '.size %s, . - %s\n' "$name" "$name"
	done
	echo '.section .note.GNU-stack,"",%progbits'
	;;
esac
