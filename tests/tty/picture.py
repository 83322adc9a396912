#!/usr/bin/env python3
"""A terminal's screen as a picture: `tmux capture-pane -e` on stdin, SVG on stdout.

Text is placed cell by cell; bars and braille are drawn as rectangles, so that the picture does not
depend on a font. --background dark|light is what the theme was made for."""
import argparse
import re
import sys
import unicodedata
from xml.sax.saxutils import escape

CELL_W, CELL_H, FONT = 8, 17, 13
FIRST = ["000000", "cd0000", "00cd00", "cdcd00", "0000ee", "cd00cd", "00cdcd", "e5e5e5",
         "7f7f7f", "ff0000", "00ff00", "ffff00", "5c5cff", "ff00ff", "00ffff", "ffffff"]
PAPER = {"dark": ("101216", "dcdcdc"), "light": ("ffffff", "1c1c1c")}
BRAILLE = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]


def palette(n):
    """xterm's palette of 256: 16 colours, a cube, greys."""
    if n < 16:
        return FIRST[n]
    if n < 232:
        cube = ((n - 16) // 36, (n - 16) // 6 % 6, (n - 16) % 6)
        level = [0 if v == 0 else 55 + 40 * v for v in cube]
        return "%02x%02x%02x" % tuple(level)
    return "%02x" % (8 + 10 * (n - 232)) * 3


def select(style, words):
    """Applies one SGR sequence to a style."""
    codes = [int(w or 0) for w in words.split(";")]
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = {}
        elif code in (1, 4, 7):
            style = {**style, code: True}
        elif code in (38, 48) and codes[:1] == [5]:
            style = {**style, code - 8: palette(codes[1])}
            codes = codes[2:]
        elif code in (38, 48) and codes[:1] == [2]:
            style = {**style, code - 8: "%02x%02x%02x" % tuple(codes[1:4])}
            codes = codes[4:]
        elif 30 <= code <= 37 or 40 <= code <= 47:
            style = {**style, code // 10 * 10: FIRST[code % 10]}
        elif 90 <= code <= 97:
            style = {**style, 30: FIRST[code - 82]}
        elif code in (39, 49):
            style = {k: v for k, v in style.items() if k != code - 9}
    return style


TOKEN = re.compile(r"\x1b\[([0-9;]*)m|(\x1b[^a-zA-Z]*[a-zA-Z]|\x0e|\x0f)|(.)")


def cells(line, style):
    """The characters of a row with their styles; the style it ends with."""
    row = []
    for code, other, char in TOKEN.findall(line):
        if char:
            row.append((char, style))
            if unicodedata.east_asian_width(char) in "WF":  # it takes the next cell, too
                row.append((" ", style))
        elif not other:
            style = select(style, code)
    return row, style


def box(x, y, w, h, fill):
    return f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="#{fill}"/>'


def glyph(char, x, y, ink):
    """What is drawn rather than written; None = a character of the font."""
    code = ord(char)
    if 0x2800 <= code <= 0x28FF:
        return "".join(box(x + 1.2 + 4 * dx, y + 1.4 + 4.2 * dy, 1.8, 1.8, ink)
                       for bit, (dx, dy) in enumerate(BRAILLE) if code >> bit & 1)
    if 0x2581 <= code <= 0x2588:
        high = CELL_H * (code - 0x2580) / 8
        return box(x, y + CELL_H - high, CELL_W, high, ink)
    if 0x2589 <= code <= 0x258F:
        return box(x, y, CELL_W * (0x2590 - code) / 8, CELL_H, ink)
    if char == "─":
        return box(x, y + 8, CELL_W, 1, ink)
    if char == "│":
        return box(x + 4, y, 1, CELL_H, ink)
    return None


def picture(text, background):
    paper, default_ink = PAPER[background]
    lines = text.rstrip("\n").split("\n")
    style, out, columns = {}, [], 1
    for number, line in enumerate(lines):
        row, style = cells(line, style)
        columns = max(columns, len(row))
        for at, (char, of) in enumerate(row):
            x, y = at * CELL_W, number * CELL_H
            ink, under = of.get(30, default_ink), of.get(40, paper)
            if of.get(7):
                ink, under = under, ink
            if under != paper:
                out.append(box(x, y, CELL_W, CELL_H, under))
            drawn = None if char == " " else glyph(char, x, y, ink)
            if drawn is not None:
                out.append(drawn)
            elif char != " ":
                bold = ' font-weight="bold"' if of.get(1) else ""
                out.append(f'<text x="{x}" y="{y + 13}" fill="#{ink}"{bold}>{escape(char)}</text>')
            if of.get(4):
                out.append(box(x, y + CELL_H - 2, CELL_W, 1, ink))
    width, height = columns * CELL_W, len(lines) * CELL_H
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                      f'font-family="DejaVu Sans Mono, monospace" font-size="{FONT}">',
                      box(0, 0, width, height, paper), *out, "</svg>", ""])


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--background", choices=PAPER, default="dark")
    sys.stdin.reconfigure(encoding="utf-8")
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(picture(sys.stdin.read(), words.parse_args().background))


if __name__ == "__main__":
    main()
