#!/usr/bin/env python3
"""A session of the real program as an asciicast (version 2), on stdout: `asciinema play FILE`.

cast.py COLS ROWS KEYS PROGRAM [ARGUMENT...]
KEYS: names and characters between blanks; "~2" waits 2 seconds. Each key waits 0.8 s."""
import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios
import time

NAMES = {"enter": "\r", "esc": "\x1b", "tab": "\t", "right": "\x1bOC", "left": "\x1bOD",
         "down": "\x1bOB", "up": "\x1bOA", "pgdn": "\x1b[6~"}
EVERY_S = 0.8


def record(fd, began, until, decoder):
    """Prints what the program writes until that time; False: it has ended."""
    while (left := until - time.monotonic()) > 0:
        if not select.select([fd], [], [], left)[0]:
            return True
        try:
            data = os.read(fd, 65536)
        except OSError:
            return False
        text = decoder.decode(data)
        if text:
            print(json.dumps([round(time.monotonic() - began, 3), "o", text], ensure_ascii=False))
    return True


def main():
    import codecs

    cols, rows, keys, program = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    pid, fd = pty.fork()
    if not pid:
        os.environ["TERM"] = "xterm-256color"
        time.sleep(0.2)  # the size is set by then
        os.execvp(program[0], program)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
    print(json.dumps({"version": 2, "width": cols, "height": rows, "title": "pmpp-explore"}))
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    began = now = time.monotonic()
    for key in keys.split():
        wait = float(key[1:]) if key[0] == "~" and key[1:] else EVERY_S
        if key[0] != "~" or not key[1:]:
            os.write(fd, NAMES.get(key, key).encode())
        now = max(now, time.monotonic()) + wait
        if not record(fd, began, now, decoder):
            break
    os.close(fd)
    return 0 if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) in (0, -1, 129) else 1


if __name__ == "__main__":
    sys.exit(main())
