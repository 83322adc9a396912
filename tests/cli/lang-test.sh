#!/bin/sh
# The language of help and errors: by option, setting and environment, with no such locale installed;
# what machines read stays English; and every message is translated.
. "$(dirname "$0")/lib.sh"

# lang NAME STATUS WORDS ENVIRONMENT... -- ARGUMENT...: what is printed has the words.
lang() {
	name=$1 want=$2 words=$3
	shift 3
	n=$#
	while [ "$n" -gt 0 ] && [ "$1" != -- ]; do
		environment="${environment:-} $1"
		shift
		n=$((n - 1))
	done
	shift
	# shellcheck disable=SC2086
	env -u LC_ALL -u LC_MESSAGES -u LANG -u LANGUAGE ${environment:-} "$PMPP" "$@" \
		>"$dir/out" 2>"$dir/err" </dev/null
	got=$?
	environment=
	if [ "$got" -ne "$want" ]; then
		not_ok "$name" "exit status $got, want $want: $(cat "$dir/err")"
	elif ! cat "$dir/out" "$dir/err" | grep -qF -e "$words"; then
		not_ok "$name" "no '$words' in: $(cat "$dir/out" "$dir/err")"
	else
		ok "$name"
	fi
}

zh='是否想用“run”'
en="did you mean 'run'"
lang no-such-locale-needed 2 "$zh" LC_ALL=zh_CN.UTF-8 -- rum
lang locale-of-messages 2 "$zh" LC_ALL= LC_MESSAGES=zh_CN.UTF-8 LANG=en_US.UTF-8 LC_CTYPE=C.UTF-8 -- rum
lang locale 2 "$zh" LANG=zh_CN.UTF-8 -- rum
lang list-of-languages 2 "$zh" LANG=en_US.UTF-8 LANGUAGE=fr:zh_CN:en -- rum
lang locale-c 2 "$en" LC_ALL=C LANG=zh_CN.UTF-8 LANGUAGE=zh_CN -- rum
lang locale-c-utf8 2 "$en" LC_ALL=C.UTF-8 -- rum
lang no-locale 2 "$en" -- rum
lang no-utf8 2 "$en" LC_ALL=zh_CN.GB18030 -- rum
lang option 2 "$zh" LC_ALL=C.UTF-8 -- --lang zh_CN rum
lang option-with-equals 2 "$zh" LC_ALL=C.UTF-8 -- rum --lang=zh
lang option-to-english 2 "$en" LC_ALL=zh_CN.UTF-8 -- rum --lang en
lang option-unknown 2 'there are: en, zh_CN' LC_ALL=C -- --lang fr
lang option-alone 2 "needs a value" LC_ALL=C -- list --lang
mkdir -p "$dir/config/pmpp-explore"
echo 'lang = zh_CN' >"$dir/config/pmpp-explore/settings"
lang setting 2 "$zh" LC_ALL=C.UTF-8 XDG_CONFIG_HOME="$dir/config" -- rum
lang option-before-setting 2 "$en" LC_ALL=C.UTF-8 XDG_CONFIG_HOME="$dir/config" -- rum --lang en
lang help 0 '用法： pmpp-explore run' LC_ALL=zh_CN.UTF-8 -- run --help
lang help-of-all 0 '退出状态：0' LC_ALL=zh_CN.UTF-8 -- --help
# what verbs print for people: sentences, and tables whose columns stand below each other
lang result 0 '结果：✓ 已验证' LC_ALL=zh_CN.UTF-8 -- run vec_add/one_thread N=4096
lang table-cells 0 '理论占用率                                    50.0 %  ~' LC_ALL=zh_CN.UTF-8 -- run vec_add/one_thread N=4096
lang table-heads 0 '占峰值 %' LC_ALL=zh_CN.UTF-8 -- ladder vec_add N=4096
lang occupancy-table 0 '线程块槽       1       32      32' LC_ALL=zh_CN.UTF-8 -- occupancy --block 256 --regs 40
lang sweep-said 0 '已运行 2 / 2 种组合' LC_ALL=zh_CN.UTF-8 -- sweep vec_add/per_element N=4096 block=64,128
lang list-gpus 0 'A100-SXM4-40GB           Ampere        8.0     108       19 500' LC_ALL=zh_CN.UTF-8 -- list gpus
lang list-kernels 0 'W=1000      1 至 32768            图像宽度' LC_ALL=zh_CN.UTF-8 -- list kernels
lang list-views 0 'occupancy         占用率    一个 SM 能容纳' LC_ALL=zh_CN.UTF-8 -- list views
lang doctor 0 '内置内核  程序内含' LC_ALL=zh_CN.UTF-8 -- doctor
lang diff 1 '个指标变了' LC_ALL=zh_CN.UTF-8 -- diff vec_add/chunks vec_add/per_element N=4096
lang preset-text 0 '分支发散：每条路径走一趟' LC_ALL=zh_CN.UTF-8 -- preset divergence --step 2
lang preset-claims 0 '1 / 1 步符合预期' LC_ALL=zh_CN.UTF-8 -- preset divergence --step 2 --check
lang program-consent 0 '拥有您的全部权限' LC_ALL=zh_CN.UTF-8 -- launches /bin/true
lang csv-is-english 0 'occ.theoretical_pct,50,pct,modelled,theoretical occupancy' LC_ALL=zh_CN.UTF-8 -- run vec_add/one_thread N=4096 --csv
if LC_ALL=zh_CN.UTF-8 "$PMPP" occupancy --block 256 --regs 40 | python3 -c '
import re, sys, unicodedata
def columns(s):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in s)
rows = [r.rstrip("\n") for r in sys.stdin if r.startswith("  ")]
ends = {columns(r[:list(re.finditer(r"\S+(?: \S+)*", r))[2].end()]) for r in rows}
sys.exit(len(rows) != 6 or len(ends) != 1)'; then ok columns; else not_ok columns 'not below each other'; fi
lang refusal 2 '参数“block”：4096' LC_ALL=zh_CN.UTF-8 -- run vec_add block=4096

# only ASCII where the locale is C
LC_ALL=C "$PMPP" --help >"$dir/out" 2>&1
if LC_ALL=C grep -q '[^ -~]' "$dir/out"; then not_ok ascii-in-c 'bytes above ASCII'; else ok ascii-in-c; fi

# JSON is the same in every language, errors included
for args in 'list kernels --json' 'run vec_add block=4096 --json' 'occupancy --block 256 --regs 32 --json'; do
	# shellcheck disable=SC2086
	LC_ALL=C.UTF-8 "$PMPP" $args >"$dir/en.json" 2>/dev/null
	# shellcheck disable=SC2086
	LC_ALL=zh_CN.UTF-8 "$PMPP" $args >"$dir/zh.json" 2>/dev/null
	if cmp -s "$dir/en.json" "$dir/zh.json" && [ -s "$dir/en.json" ]; then
		ok "json-is-english ($args)"
	else
		not_ok "json-is-english ($args)" "$(diff "$dir/en.json" "$dir/zh.json" | head -3)"
	fi
done

# the build's own compiler of catalogues says where one is wrong
po_table=$(dirname "$PMPP")/po_table
wrong() { # NAME WORDS PO-TEXT
	printf '%b' "$3" >"$dir/xx.po"
	if "$po_table" "$dir/xx.po" >"$dir/out" 2>"$dir/err"; then
		not_ok "$1" 'it is taken'
	else
		says "$1" "$2"
	fi
}
wrong other-conversions 'xx.po:3: the conversions' 'msgid "%u of %s"\nmsgstr "%s"\n\n'
wrong swapped-conversions 'xx.po:3: the conversions' 'msgid "%u of %s"\nmsgstr "%s %u"\n\n'
wrong open-quote 'xx.po:1: the quote' 'msgid "a\nmsgstr "b"\n'
wrong no-catalogue 'xx.po:1: neither a comment' 'a: b\n'
wrong twice 'translated twice: a' 'msgid "a"\nmsgstr "b"\nmsgid "a"\nmsgstr "c"\n'

if ! command -v python3 >/dev/null; then
	echo 'skip every-message-is-translated: no python3 on this machine'
else
	cd "$TEST_ROOT" || exit 1
	if python3 -B src/lang/lang.py check >"$dir/out"; then
		ok every-message-is-translated
	else
		not_ok every-message-is-translated "make lang, and translate: $(head -20 "$dir/out")"
	fi
fi
