#!/bin/sh
# Simplified Chinese in a real terminal: wide characters where they belong, no locale of that name
# installed; key A changes the language at once and for the next time; a click finds its tab.
. "$(dirname "$0")/tmux.sh"

start 24 80
type "LC_ALL=zh_CN.UTF-8 $PMPP sgemm/tiled M=64 N=64 K=64 --gpu a100 --backend emu; echo left with \$?"
check panel see '^ 1 *占用率* 2 *屋顶'
check verified see '✓ 精确'
check key_bar see '? 帮助  q 退出'
check names_stay see '^ sgemm / tiled '
press 3
check columns_meet see '^    行  源码  *发散  *执行次数  *效率'
press '?'
check frame_is_closed see '^│  分支发散  *[█│]*│$'
press Escape
press p
check presets see '向量加法：从一个线程到整块芯片'
press Escape

# the seventh tab, where its text stands now
column=$(screen | sed -n 4p | sed 's/7 *源码.*//' | LC_ALL=C awk '{
	wide = gsub(/[\200-\377]/, "") / 3 # of three bytes each
	print length($0) + 2 * wide + 3
}')
click 4 "$column"
check click_on_a_tab see '__syncthreads'

press A
check english_at_once see '^ 1 *Occ'
check english_says_so see 'English; --lang en starts with it'
press A
check chinese_again see '^ 1 *占用'
check chinese_says_so see '简体中文；--lang zh_CN'
press A
see 'English; --lang en'
press_q
see 'left with 0'
check kept_for_the_next_time grep -q '^lang = en' "$XDG_CONFIG_HOME/pmpp-explore/settings"

# ASCII knows no Chinese
start 24 80
type "clear; LC_ALL=zh_CN.UTF-8 PMPP_ASCII=1 $PMPP vec_add N=1024 --gpu a100 --backend emu; echo left with \$?"
check ascii_is_english see '^ 1 *Occ'
press A
check ascii_says_why see 'need a terminal with UTF-8'
press_q
check left see 'left with 0'
