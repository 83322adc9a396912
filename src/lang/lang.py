"""The messages of the program and its data, and the catalogues of their translations.

    lang.py update     take new messages into every src/lang/*.po, drop those that are gone
    lang.py check      every message is translated in every catalogue: exit status 1 and a list else
    lang.py list       the messages: file:line, text

What is a message: a text that a person reads, in the places that RULES names. Of C sources these
are arguments of functions ("canvas_printf:4": the fifth argument), rows of tables ("X:2") and
initializers ("{:1", or ".about"); of presets and pages what their authors wrote. A message without
a translation is shown in English. One that reads the same in the other language has itself as its
translation.
"""
import functools
import glob
import re
import sys

CATALOGUES = "src/lang/*.po"
TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|\n|[A-Za-z_]\w*|\S", re.S
)
TEXT = re.compile(r'"((?:\\.|[^"\\\n])*)"')
MACRO = re.compile(r'#define (\w+)[ \t\\\n]+((?:"(?:\\.|[^"\\\n])*"[ \t\\]*\n?[ \t]*)+)')
INTEGERS = {"PRId64": "ld", "PRIu64": "lu", "PRIx64": "lx", "PRIu32": "u", "PRIx32": "x"}
CONVERSION = re.compile(
    r"%(?:\d+\$)?[-+#0']*(?:\*|\d+)?(?:\.(?:\*|\d+)?)?(?:hh|h|ll|l|z|j|t)?[sdiuxXfgecp%]"
)
# Functions whose texts are names, keys or other programs' words.
NOT_READ = """include getenv strcmp strncmp memcmp strstr sscanf str_ieq panel_focused ends_in
    is_set theme_find setlocale capability add_restore json_pack json_object_get static_assert
    _Static_assert _Pragma digest_in find_in number_before entry_after note_errno cite
    asset_find fopen defined""".split()

# files: places. Places "*": all, "!place": but not this one; "words": single words as well.
RULES = """
views/*.c: words * !.name
src/ui/*.c: words * !.name !.digits
src/ui/keys.def: words KEY:3 KEY:7
src/ui/view.h: words X:2
src/model/metric.def: words METRIC:5 METRIC:6
src/model/variation.def: words WHY:2
src/model/metric.h: words X:1 X:4
src/model/occupancy.h: words X:1 X:2
src/model/stream*.h: words X:1 X:2
src/model/span.h: words X:1 X:2
src/model/whole_program.h: words X:1 X:2
src/model/*.h: X:1 X:2 X:3 X:4
src/model/perf.h: words X:1 X:2
src/model/ladder.c: words {:2
src/model/*.c: err_set:2 err_set:4 err_set:5 err_set:6 err_remedy:1 err_prefix:1
    reader_complain:2 walk_error:2 fail:1 refuse_formula:1 AT:2 kernel_refuse:3 SAY:1 say:1
    snprintf:2 metric_none:2 metrics_clear:1 place_error:3 count_set_unknown:2 snprintf:3 {:0
    {:1 {:4 yaml_error_at:5 .about
src/lab/*.c: err_set:2 err_set:4 err_remedy:1 err_prefix:1 snprintf:2 snprintf:3 {:0 {:1 {:4
    kernel_refuse:3 metrics_clear:1 buffer_looks_none:0
src/cli/tui_host.c: snprintf:2
src/userkernel/*.c: err_set:2 err_set:6 err_remedy:1 err_prefix:1 refuse_word:1 user_usage:2
    user_add_param:2 snprintf:2
kernels/*: words .title
kernels/*: .section
kernels/*: {:0 {:1 {:2 {:3 {:4 {:5 .title .idea .about .name kernel_refuse:3 KNOB:1 SIZE:1
    SIDE:1 snprintf:2 err_remedy:1 err_set:2
src/emu/*/*.c: err_set:2 err_set:11 err_remedy:1 low_refuse:1 sl_refuse:1 snprintf:2 snprintf:3
    snprintf:5 {:2
src/timemodel/*.c: err_set:2 snprintf:2 err_remedy:1
src/compile/*.c: err_set:2 err_set:5 err_set:8 err_remedy:1 err_prefix:1 note:0 note:1 note:2
    text_add:4 cuda_tool_or_named:2
src/cuda/*.c: err_set:2 fault_set:2 work_step:1 err_remedy:1 snprintf:2 {:1
src/cuda/cuda_fault.def: FAULT:2 FAULT:3
src/cuda/cuda_stall.def: STALL:2
src/ptx/*.c: fail_at:4 fail:1 {:2 expect:2 report_at:4 err_remedy:1 err_set:2 bad:2
    expect_name:2 expect_int:2 expect_uint:3 parse_constant:2 parse_count:2
src/sass/*.c: snprintf:2 err_set:2 err_remedy:1 wrong:2 strange:2
src/runtime/*.c: err_set:2 err_set:5 err_remedy:1 err_prefix:1 metrics_clear:1 metric_none:2
    count_set_unknown:2 snprintf:3 mem_strdup:0
src/runtime/guest/guest_[!s]*.c: snprintf:2 snprintf:3 snprintf:4 finding:1 finding:2
    finding:3 guest_find:2
src/runtime/guest/guest_start.c: snprintf:2
src/emu/backend_emu.c: snprintf:2 lacks_capability:2 lacks_capability:3
src/model/code_class.h: words X:1
src/base/*.c: err_set:2 err_remedy:1 at_most:2
src/cli/verb_doctor.c: words snprintf:2 snprintf:3 snprintf:4 snprintf:5 finding_of:1 {:0 {:1 {:2
    {:3 {:4
src/cli/verb_list.c: snprintf:2 snprintf:3
src/cli/*.c: words table_row:1 table_row:2 table_row:3 table_row:4 table_row:5 table_row:6
    table_row:7 table_row:8 table_row:9 add_row:1 cli_line:1 cli_line_in:2 cli_say:2
src/cli/*.[ch]: define:0 err_set:2 err_set:3 err_remedy:1 err_prefix:1 CLI_VERB:2
    CLI_VERB:4 {:4 {:3 {:2 lang_text:0 metrics_clear:1 metric_none:2 .about .help
"""
# What base/lang.c itself asks for: the language's name, and what stands between parts of a list.
OF_LANG = (
    "English|Origin:|, |; |%s pageable|%s pinned|preset %s|%s at %.1f GB/s|waited for %s on %s|"
    "waited for the host's call|exact|parameters|variants|kernels|Usage:|Options:"
)
# Texts that only machines read, though they stand where messages do.
NOISE = re.compile(
    r'is drawn over|begins outside|\\"type\\"|\\"description\\"|'
    r"^#(define|include|ifdef|ifndef)|^\{s|;s=|\$@|^[a-z_]+\((?!%u )|^--[a-z]+( [A-Za-z|]+)?$"
)
PRESET_KEYS = ("title", "about", "say", "reveal", "what", "unit", "note", "chapter")


def macros_of(source):
    return {name: "".join(TEXT.findall(texts)) for name, texts in MACRO.findall(source)}


@functools.lru_cache(1)
def shared_macros():
    """Texts that headers give a name."""
    headers = glob.glob("src/*/*.h")
    out = {}
    for path in headers:
        out.update(macros_of(open(path, encoding="utf-8").read()))
    return out


def c_texts(path):
    """(line, text, place) of every string literal; adjacent ones are one."""
    source = re.sub(r"\\\n", "  \n", open(path, encoding="utf-8").read())
    macros = {**shared_macros(), **macros_of(source), **INTEGERS}
    out, text, stack, before = [], None, [], []
    for match in TOKEN.finditer(source):
        token = match.group(0)
        if token == "\n" or token.startswith(("//", "/*")):
            continue
        line = source.count("\n", 0, match.start()) + 1
        is_text = token[0] == '"'
        is_macro = token in macros and (
            text or (token not in INTEGERS and before[-1:] != ["define"])
        )
        if is_text or is_macro:
            if text is None:
                head, at = stack[-1] if stack else ("", 0)
                place = f"{head}:{at}"
                if before[-1:] == ["="] and before[-3:-2] == ["."]:
                    place = "." + before[-2]
                elif before[-2:-1] == ["#"]:
                    place = "include:0"
                text = [line, "", place]
            text[1] += token[1:-1] if is_text else macros[token]
            continue
        if text:
            out.append(text)
            text = None
        if token in "({[":
            stack.append([before[-1] if token == "(" and before else token, 0])
        elif token in ")}]" and stack:
            stack.pop()
        elif token == "," and stack:
            stack[-1][1] += 1
        before = before[-5:] + [token]
    return out


def reads(text, words):
    """Has @text words that a person reads?"""
    plain = re.sub(r"\\.", " ", CONVERSION.sub(" ", text)).strip()
    if NOISE.search(text) or re.search(r"\\x|\\0|\\1", text):
        return False
    if words:
        name = re.fullmatch(r"[\w-]*[_.][\w./-]*", plain)
        return not name and bool(re.search(r"[A-Za-z]{2}", plain))
    return bool(re.search(r"[a-z]{2}", plain)) and " " in text.strip()


def unescaped(text):
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m.group(1), m.group(1)), text)


def bare(text):
    """Without the marks that base/lang.c leaves out as well (lang_trimmed), and keys.def's '&'."""
    return re.sub(r"^(! +)+", "", text.strip(" ·✓✗\n\t")).lstrip("&")


def of_sources():
    for rule in re.split(r"\n(?! )", RULES.strip("\n")):
        files, places = rule.split(": ", 1)
        allowed = places.split()
        words = "words" in allowed
        for path in sorted(glob.glob(files)):
            if path.endswith((".o", ".json")):
                continue
            for line, text, place in c_texts(path):
                function = place.rpartition(":")[0]
                if function in NOT_READ or "!" + place in allowed:
                    continue
                if ("*" in allowed or place in allowed) and reads(text, words):
                    yield path, line, bare(unescaped(text))


def scalar(lines, i, indent, rest):
    """The value of a YAML key at line i: plain, quoted, or folded over deeper lines."""
    words = [] if rest.rstrip() in (">", ">-", "|") else [rest.strip()]
    i += 1
    while i < len(lines) and lines[i].strip() and len(lines[i]) - len(lines[i].lstrip()) > indent:
        words.append(lines[i].strip())
        i += 1
    text = " ".join(words)
    if text[:1] == text[-1:] and text[:1] in "'\"" and len(text) > 1:
        text = text[1:-1].replace("''", "'") if text[0] == "'" else unescaped(text[1:-1])
    return text


def of_presets():
    for path in sorted(glob.glob("presets/*.yaml")):
        lines = open(path, encoding="utf-8").read().split("\n")
        for i, line in enumerate(lines):
            match = re.match(r"( *(?:- )?)([a-z]+): *(.*)$", line)
            if match and match.group(2) in PRESET_KEYS:
                text = scalar(lines, i, len(match.group(1)), match.group(3))
                if re.search(r"[A-Za-z]{2}", text):
                    yield path, i + 1, text


def of_pages():
    """The title; then paragraph by paragraph, rows of tables one by one, as the page is drawn."""
    for path in sorted(glob.glob("pages/*.txt")):
        lines = open(path, encoding="utf-8").read().split("\n")
        yield path, 1, lines[0].lstrip("# ")
        words, start = [], 0
        for i, line in enumerate(lines):
            head = i == 0 or line.startswith(("panels:", "seeds:"))
            if not head and line and line[0] != " ":
                start = start if words else i + 1
                words.append(line)
                continue
            if words:
                yield path, start, " ".join(words)
                words = []
            if not head and line.strip():
                yield path, i + 1, line.strip()


def of_lang():
    for text in OF_LANG.split("|"):
        yield "src/base/lang.c", 0, text


def messages():
    """English -> places, in the order of the sources."""
    out = {}
    for path, line, text in [*of_sources(), *of_presets(), *of_pages(), *of_lang()]:
        if text:
            out.setdefault(text, []).append(f"{path}:{line}" if line else path)
    return out


def quoted(text):
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    pieces = re.findall(r"[^\n]*\n|[^\n]+", text) or [""]
    pieces = [p.replace("\n", "\\n") for p in pieces]
    lines = []
    for piece in pieces:
        while len(piece) > 90 and " " in piece[60:90]:
            cut = piece.rindex(" ", 60, 90) + 1
            lines.append(piece[:cut])
            piece = piece[cut:]
        lines.append(piece)
    return '""\n' + "\n".join(f'"{x}"' for x in lines) if len(lines) > 1 else f'"{lines[0]}"'


def read(path):
    """(what stands before the messages, {English: translation})"""
    text = open(path, encoding="utf-8").read()
    if 'msgid ""' not in text:  # a new language
        code = re.sub(r".*/|\.po$", "", path)
        text = f'msgid ""\nmsgstr "Language: {code}\\n"\n\n'
    begin = text.index("\n\n", text.index('msgid ""')) + 2
    known = {}
    string = r'((?:"(?:\\.|[^"\\\n])*"\s*)+)'
    for match in re.finditer(r"^msgid " + string + r"msgstr " + string, text[begin:], re.M):
        en, said = (
            unescaped("".join(TEXT.findall(part))) for part in match.groups()
        )
        known[en] = said
    return text[:begin], known


def update():
    found = messages()
    for path in glob.glob(CATALOGUES):
        head, known = read(path)
        out = [head]
        for en, places in found.items():
            out.append(f"#: {places[0].rpartition(':')[0] or places[0]}\n")
            out.append(f"msgid {quoted(en)}\nmsgstr {quoted(known.get(en, ''))}\n\n")
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(out).rstrip("\n") + "\n")
        print(f"{path}: {sum(1 for en in found if known.get(en))} of {len(found)} messages")


def kinds(text):
    """The conversions by argument: {1: 's', 2: 'd'}."""
    out = {}
    for n, match in enumerate((m for m in CONVERSION.finditer(text) if m.group(0)[-1] != "%"), 1):
        at = re.match(r"%(\d+)\$", match.group(0))
        kind = match.group(0)[-1]
        kind = "d" if kind in "diuxXp" else "f" if kind in "fge" else kind
        out[int(at.group(1)) if at else n] = kind
    return out


def check():
    found, bad = messages(), 0
    for path in sorted(glob.glob(CATALOGUES)):
        known = read(path)[1]
        for en, places in found.items():
            said = known.get(en)
            if not said:
                print(f"{places[0]}: no translation in {path}: {en!r}")
            elif kinds(en) != kinds(said):
                print(f"{path}: other conversions than in English: {en!r}: {said!r}")
            else:
                continue
            bad += 1
    print(f"{len(found)} messages, {bad} without a translation that fits")
    return bad


if __name__ == "__main__":
    verb = sys.argv[1] if len(sys.argv) > 1 else ""
    if verb == "update":
        update()
    elif verb == "check":
        sys.exit(1 if check() else 0)
    elif verb == "list":
        for english, where in messages().items():
            print(f"{where[0]}\t{english!r}")
    else:
        sys.exit(__doc__)
