#!/bin/sh
# Prints assembly that holds the given files, NUL-terminated, and the table asset.c reads.
echo '.section .rodata'
i=0
for f; do
	printf 'p%d: .asciz "%s"\nd%d: .incbin "%s"\ne%d: .byte 0\n' $i "$f" $i "$f" $i
	i=$((i + 1))
done
printf '.section .data.rel.ro,"aw"\n.balign 8\n.globl asset_table\nasset_table:\n'
n=$i
i=0
while [ $i -lt $n ]; do
	printf '.quad p%d, d%d, e%d - d%d\n' $i $i $i $i
	i=$((i + 1))
done
printf '.globl asset_table_count\n.balign 8\nasset_table_count: .quad %d\n' "$n"
echo '.section .note.GNU-stack,"",%progbits'
