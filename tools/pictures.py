#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""pictures.py BUILD FOLDER: makes the pictures of the documentation: records the program of `make
demo` in an empty folder, and photographs the page and `jitbpf top` with headless Chromium. Needs root,
PHP up to 8.3, Chromium and tmux. The machine has the name "example" in the pictures."""

import ctypes
import html
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from urllib.parse import quote

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/ui"))
sys.dont_write_bytecode = True

from browser import Browser  # pylint: disable=wrong-import-position

CLONE_NEWUTS = 0x4000000
COMMAND = ["php", "-d", "opcache.enable_cli=1", "-d", "opcache.jit_buffer_size=64M", "-d",
           "opcache.jit=function", "-d", "pcre.jit=0", "shop.php"]
FUNCTION = "JIT$Catalog::search"  # that the sandwich is of
TOP_S = 6  # until `top` has enough samples
COLUMNS, ROWS = 110, 28
WIDTH, HEIGHT = 1200, 640
COLOURS = ("#000000", "#c01c28", "#26a269", "#a2734c", "#12488b", "#a347ba", "#2aa1b3", "#d0cfcc",
           "#5e5c64", "#f66151", "#33da7a", "#e9ad0c", "#2a7bde", "#c061cb", "#33c7de", "#ffffff")
DARK, LIGHT = "#1e1e1e", "#d0cfcc"
FONT = "font: 14px/18px 'DejaVu Sans Mono', monospace"


class Style:
    """The state of a terminal's colours, as CSS."""

    def __init__(self):
        self.set("0")

    def set(self, codes):
        numbers = [int(code or 0) for code in codes.split(";")]
        while numbers:
            number = numbers.pop(0)
            if number == 0:
                self.colour, self.ground, self.bold, self.reverse = LIGHT, DARK, False, False
            elif number in (1, 7):
                setattr(self, "bold" if number == 1 else "reverse", True)
            elif number in (22, 27):
                setattr(self, "bold" if number == 22 else "reverse", False)
            elif number in (38, 48):  # 38;5;N
                colour = COLOURS[numbers[1] & 15]
                setattr(self, "colour" if number == 38 else "ground", colour)
                del numbers[:2]
            elif number in (39, 49):
                setattr(self, "colour" if number == 39 else "ground", LIGHT if number == 39 else DARK)
            elif 30 <= number < 38 or 90 <= number < 98:
                self.colour = COLOURS[number % 10 + 8 * (number >= 90)]
            elif 40 <= number < 48 or 100 <= number < 108:
                self.ground = COLOURS[number % 10 + 8 * (number >= 100)]

    def css(self):
        colour, ground = (self.ground, self.colour) if self.reverse else (self.colour, self.ground)
        return f"color:{colour};background:{ground};font-weight:{'bold' if self.bold else 'normal'}"


def text_of(name, module):
    """Returns the text of a function in an address of the page (user/sink/page/path_text.ts)."""
    number = 0x811c9dc5
    for character in f"{name}\n{module}":
        number = (number ^ ord(character)) * 0x01000193 & 0xffffffff
    number = (number ^ number >> 16) * 0x85ebca6b & 0xffffffff
    number, digits = number ^ number >> 13, ""
    while number:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return f"{name[:40]}~{digits}"


def terminal_page(text):
    """Returns the HTML page of what a terminal shows, with its colours."""
    style, out = Style(), []
    for part in re.split(r"(\x1b\[[\d;]*m)", re.sub(r"\x1b[()]B|[\x0e\x0f]", "", text)):
        if part.startswith("\x1b"):
            style.set(part[2:-1])
        else:
            out.append(f'<span style="{style.css()}">{html.escape(part)}</span>')
    return (f"<!doctype html><meta charset=utf-8><body style='margin:0;background:{DARK}'>"
            f"<pre style=\"{FONT};margin:12px\">{''.join(out)}</pre>")


class Pictures:
    def __init__(self, build, folder, scratch):
        self.jitbpf, self.folder, self.scratch = str(build / "jitbpf"), folder, scratch
        self.page = scratch / "profile.html"
        shutil.copy(ROOT / "tests/programs/workloads/shop.php", scratch)
        hour_ago = time.time() - 3600  # opcache leaves out scripts of just now
        os.utime(scratch / "shop.php", (hour_ago, hour_ago))

    def record(self):
        subprocess.run([self.jitbpf, "record", "-q", "-F", "499", "-o", str(self.page), "--",
                        *COMMAND, "8"], cwd=self.scratch, check=True, stdout=subprocess.DEVNULL)

    def top_screen(self):
        """Returns what `jitbpf top` shows, with escape sequences."""
        def tmux(*arguments):
            return subprocess.run(["tmux", "-L", f"jitbpf-pictures-{os.getpid()}", *arguments],
                                  cwd=self.scratch, check=True, capture_output=True, text=True).stdout

        tmux("-f", "/dev/null", "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), "env",
             "LANG=C.UTF-8", "TERM=screen-256color", self.jitbpf, "top", "-F", "499", "--", *COMMAND,
             str(10 * TOP_S))
        try:
            time.sleep(TOP_S)
            tmux("send-keys", "2")
            time.sleep(2)
            return tmux("capture-pane", "-p", "-e")
        finally:
            tmux("kill-server")

    def settle(self, browser):
        browser.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def open(self, browser, fragment=""):
        browser.screen(WIDTH, HEIGHT)
        browser.open(self.page.as_uri() + fragment)
        self.settle(browser)

    def save(self, browser, name):
        browser.mouse(1, 1)
        self.settle(browser)
        browser.screenshot(str(self.folder / f"{name}.png"))

    def take(self, browser):
        self.open(browser)
        self.save(browser, "flamegraph")

        browser.evaluate("document.getElementById('unfold').click()")
        self.settle(browser)
        left, top, width = browser.evaluate(
            "(b => [b.x, b.y, b.width])(document.querySelector('#strip').getBoundingClientRect())")
        browser.drag(left + width * .3, top + 12, width * .25, 0)
        self.save(browser, "timeline")

        self.open(browser, fragment=f"#sandwich={quote(text_of(FUNCTION, '[jit]'))}")
        assert not browser.evaluate("document.getElementById('callees').hidden"), FUNCTION
        self.save(browser, "sandwich")

        (self.scratch / "top.html").write_text(terminal_page(self.top_screen()), encoding="utf-8")
        browser.screen(int(COLUMNS * 8.43) + 24, ROWS * 18 + 24)
        browser.open((self.scratch / "top.html").as_uri())
        self.save(browser, "top")


def main(build, folder):
    ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUTS)
    socket.sethostname("example")
    with tempfile.TemporaryDirectory(prefix="jitbpf-pictures-") as scratch, Browser() as browser:
        pictures = Pictures(pathlib.Path(build).resolve(), pathlib.Path(folder).resolve(),
                            pathlib.Path(scratch))
        pictures.record()
        pictures.take(browser)


if __name__ == "__main__":
    if len(sys.argv) != 3 or os.geteuid():
        sys.exit(__doc__)
    main(*sys.argv[1:])
