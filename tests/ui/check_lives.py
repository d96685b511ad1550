#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The panel of methods that were loaded or ended, which the lane of JIT code opens, used like a user:
check_lives.py JIT.html CODE.html PIECES.html PLAIN.html [FOLDER for screenshots]. PIECES has code of functions with several
names; PLAIN has no lives.
"""
import base64
import json
import os
import re
import sys
import tempfile

from browser import Browser
from check_page import Page, check, text
from page_data import numbers, visible

HOSTILE = "<img src=x onerror='document.title=1'></script>\u202e\x1b[2J\x07"
LONG = "y" * 10_000
BOX = ("(() => { const b = document.getElementById('strip').getBoundingClientRect();"
       "return [b.left, b.top, b.width, b.height]; })()")
ROWS = "[...document.querySelectorAll('#lives tbody tr')].map(r => [...r.children].map(c => c.textContent))"
TICK_NS = 50_000_000
KEYS = ("name", "module", "comm", "pid", "address", "bytes", "loaded", "ended", "samples")


def data_of(path):
    page = open(path, encoding="utf-8").read()
    return json.loads(re.search(r'id="profile">(.*?)</script>', page, re.S)[1])


def lives_of(path):
    """Returns [{key: value}] with names as texts."""
    data = data_of(path)
    columns = {key: numbers(data["lives"], key) for key in KEYS}
    lives = [dict(zip(KEYS, row)) for row in zip(*columns.values())]
    for life in lives:
        life["name"] = data["strings"][life["name"]]
    return lives


def methods_of(lives, first, end):
    """Returns {name: [samples, loads, ends, bytes]} of a range in ticks; names differ in these recordings."""
    out = {}
    for life in lives:
        loaded, ended = (life[key] and first * TICK_NS <= life[key] - 1 < end * TICK_NS for key in ("loaded", "ended"))
        if loaded or ended:
            method = out.setdefault(life["name"], [0, 0, 0, 0])
            for i, value in enumerate((life["samples"], bool(loaded), bool(ended), life["bytes"])):
                method[i] += value
    return out


def range_of(page, key="methods"):
    found = re.search(rf"{key}=([\d.]+)-([\d.]*)", page.say("location.hash"))
    return found and tuple(round(float(part) * 1e9 / TICK_NS) if part else 1 << 40 for part in found.groups())


def click_lane(page, part):
    left, top, width, height = page.say(BOX)
    page.browser.mouse(left + part * width, top + height - 10, click=True)
    page.settle()


def is_open(page):
    return not page.say("document.getElementById('lives').hidden")


def focused(page):
    return page.say("document.activeElement.id || document.activeElement.textContent")


def check_rows(page, lives, first, end):
    methods, rows = methods_of(lives, first, end), page.say(ROWS)
    check(len(rows) == min(200, len(methods)) > 0, f"the panel has the methods of {first}-{end}: {len(rows)} of {len(methods)}")
    for name, samples, loads, ends, size, *_ in rows:
        check([int(n.replace(",", "")) for n in (samples, loads, ends)] == methods[name][:3], f"{name}: {methods[name]}, {loads} {ends}")
        check(size == f"{methods[name][3]} B" or methods[name][3] >= 1000, f"the size of {name}: {size}")
    order = [(-methods[row[0]][0], -methods[row[0]][3]) for row in rows]
    check(order == sorted(order), "methods with samples come first, then large ones")


def check_methods(page):
    lives = lives_of(page.path)
    page.click("unfold")
    click_lane(page, .9)
    first, end = range_of(page)
    check(is_open(page) and 0 < first < end < 1 << 40, f"a click opens the bin: {first} {end}")
    check_rows(page, lives, first, end)
    in_bin = sum(method[1] for method in methods_of(lives, first, end).values())
    check(in_bin == sum(loads for bin_, (loads, _, _) in page.data.code.items() if first <= bin_ < end),
          "the panel has the loads of the lane")
    check(focused(page) == page.say(ROWS)[0][0], f"the first row has the focus: {focused(page)}")
    page.press("ArrowDown")
    check(focused(page) == page.say(ROWS)[1][0], "the arrow keys go from row to row")
    fragment, shown = page.say("location.hash"), page.say(ROWS)
    page.open(fragment)
    check(is_open(page) and page.say(ROWS) == shown, "a link restores the panel")
    page.press("Escape")
    check(not is_open(page) and page.say("location.hash") == "#unfolded=1", "Escape closes it")


def check_range(page):
    """A selected range wins over the bin of a click."""
    lives = lives_of(page.path)
    page.open("#range=0.3-0.45")
    page.click("unfold")
    click_lane(page, .9)
    check(range_of(page, "range") == (6, 9) == range_of(page), f"the click keeps the range: {page.say('location.hash')}")
    check_rows(page, lives, 6, 9)
    page.say("document.getElementById('all-time').click()")
    page.click("lives-close")
    check(focused(page) == "strip", "closing it goes back to the time line")
    page.press("Enter")
    check(range_of(page) == (0, 1 << 40), "Enter lists the methods of all of the time")
    check_rows(page, lives, 0, 1 << 40)
    page.click("lives-close")


def check_lives(page):
    lives = lives_of(page.path)
    most = max(lives, key=lambda life: life["samples"])
    page.open("#methods=0-")
    page.say("document.querySelector('#lives tbody button').focus()")
    page.press("Enter")
    check("method=" in page.say("location.hash"), "Enter on a row opens the method")
    row = page.say(ROWS)[0]
    check(most["name"] in page.say("document.querySelector('#lives h2').textContent"), "its name is the title")
    check(row[0] == f"{(most['loaded'] - 1) / 1e9:.3f} s" and row[2] == f"{(most['ended'] - 1) / 1e9:.3f} s", f"its times: {row}, {most}")
    check(row[4] == f"{most['bytes']} B" and row[5] == str(most["samples"]), f"its size and samples: {row}")
    fragment = page.say("location.hash")
    page.open(fragment)
    check(page.say(ROWS)[0] == row, "a link restores the method")
    check(row[1] == "Code", "it has a way to its code")
    page.say("document.querySelector('#lives td button').click()")
    page.settle()
    check(not is_open(page) and not page.say("document.getElementById('code').hidden"), "the code pane opens")
    facts = page.say("document.querySelector('#code .facts').textContent")
    check(f"{most['samples']} samples" in facts and f"{most['bytes']} B" in facts, f"with the code of this life: {facts}")
    page.press("Escape")
    check(is_open(page) and page.say(ROWS)[0] == row, "Escape goes back to the lives")
    page.press("Escape")
    check(is_open(page) and "method=" not in page.say("location.hash"), "then to the methods")
    page.press("Escape")
    check(not is_open(page), "then to the graph")
    for wrong in ("methods=x", "methods=5-2", "method=gone~1", "methods=0-&method=%00", "method=%3Cimg%3E"):
        page.open("#" + wrong)
        check(is_open(page) and not page.say("document.documentElement.dataset.error"), f"{wrong} causes no error")


def check_pieces(page, least):
    """The code of each method, although functions have code of several names, or no stack has the code."""
    page.open("#methods=0-")
    found = [row for row in page.say(ROWS) if int(row[1].replace(",", ""))]
    check(len(found) >= least, f"methods with samples: {len(found)}")
    for i, (name, samples, *_) in enumerate(found):
        page.open("#methods=0-")
        page.say(f"document.querySelectorAll('#lives tbody button')[{i}].click()")
        page.settle()
        page.say("document.querySelector('#lives td button').click()")
        page.settle()
        title, facts = (page.say(f"document.querySelector('#code {part}').textContent") for part in ("h2", ".facts"))
        check(title == name, f"the code pane has the code of {name}: {title}")
        check(re.search(rf"\b{samples} samples? ", facts), f"{name} has {samples} samples: {facts}")


def hidden(data):
    """A function of which no label is left, as of JIT code that ran for a function of a runtime."""
    strings, function = data["strings"], max(data["functions"]["list"], key=lambda each: each["kind"] == "JIT")
    names, old = numbers(data["lives"], "name"), strings.index(function["name"])
    strings.append("JIT$" + function["name"])
    data["lives"]["name"] = base64.b64encode(leb128([len(strings) - 1 if name == old else name for name in names])).decode()
    function["name"] = strings[-1]


def leb128(values):
    out = bytearray()
    for value in values:
        while value >= 128:
            out.append(value & 127 | 128)
            value >>= 7
        out.append(value)
    return out


def made(source, folder, change):
    """Returns a copy of a page whose data change() has changed."""
    page, data = open(source, encoding="utf-8").read(), data_of(source)
    change(data)
    begin, _, end = re.split(r'(?<=id="profile">)(.*?)(?=</script>)', page, maxsplit=1, flags=re.S)
    path = os.path.join(folder, "made.html")
    with open(path, "w", encoding="utf-8") as out:
        out.write(begin + json.dumps(data).replace("<", "\\u003c") + end)
    return path


def hostile(data):
    """1,000 methods, of which the first ones have hostile names; one is loaded 300 times."""
    count, strings = 1300, len(data["strings"])
    data["strings"] += [HOSTILE, LONG, HOSTILE + LONG] + [f"m{i}" for i in range(997)]
    columns = {"name": [strings + min(i, 999) for i in range(count)], "module": [strings] * count, "comm": [strings] * count,
               "pid": [7] * count, "address": [0x7f0000000000 + 64 * i for i in range(count)], "bytes": [64] * count,
               "loaded": [1 + 1_000_000 * (i % 300) for i in range(count)],
               "ended": [0 if i % 2 else 2 + 1_000_000 * (i % 300 + 1) for i in range(count)], "samples": [max(0, 5 - i) for i in range(count)]}
    data["lives"] = {"rows": count, "left_lives": 4321, "left_bytes": 5_000_000, "forgotten_lives": 12, "forgotten_bytes": 3000,
                     **{key: base64.b64encode(leb128(values)).decode() for key, values in columns.items()}}


def check_hostile(page, shots):
    page.open("#methods=0-")
    rows, title = page.say(ROWS), page.say("document.title")
    check(len(rows) == 200 and "and 800 more, " in page.say(text("lives")), f"the rows are bounded: {len(rows)}")
    check("4,321 loads (5.0 MB)" in page.say(text("lives")) and "12 loads (3.0 KB) were forgotten" in page.say(text("lives")),
          "what is left out is said")
    names = [row[0] for row in rows]
    check(visible(HOSTILE) in names and all(len(name) <= 300 for name in names), "names are harmless, and shortened")
    check(page.say("document.querySelectorAll('#lives img').length") == 0, "names are text")
    check(page.say("document.documentElement.scrollWidth <= innerWidth"), "long names need no horizontal scrolling of the page")
    for index in range(3):
        page.open("#methods=0-")
        page.say(f"document.querySelectorAll('#lives tbody button')[{index}].click()")
        page.settle()
        check(len(page.say(ROWS)) == 1, f"a hostile name opens: {len(page.say(ROWS))}")
        check(page.say("document.title") == title, "names do nothing")
    page.open("#methods=0-")
    page.say("[...document.querySelectorAll('#lives tbody button')].find(b => b.textContent === 'm996').click()")
    page.settle()
    check(len(page.say(ROWS)) == 200 and "and 101 more with fewer samples" in page.say(text("lives")), "lives are bounded")
    page.open("#methods=0-")
    if shots:
        take_pictures(page, shots, "lives-hostile")


def check_saved(page):
    data, saved = data_of(page.path)["lives"], data_of(page.browser.saved("save-page"))["lives"]
    check(data == saved, "a page that is saved keeps the lives")


def check_without(page):
    page.open("#methods=0-")
    check("recordings only" in page.say(text("lives")), "a page without lives says how to get them")


def take_pictures(page, shots, name):
    for dark in (False, True):
        for width, height in ((1280, 800), (400, 700)):
            page.browser.screen(width, height, dark=dark)
            page.settle()
            page.browser.screenshot(os.path.join(shots, f"{name}-{width}-{'dark' if dark else 'light'}.png"))
    page.browser.screen(1280, 800)


def main():
    jit, code, pieces, plain, shots = (*sys.argv[1:5], sys.argv[5] if len(sys.argv) > 5 else None)
    with Browser() as browser, tempfile.TemporaryDirectory() as folder:
        browser.screen(1280, 800)
        check_methods(Page(browser, jit))
        check_range(Page(browser, jit))
        check_lives(Page(browser, code))
        check_pieces(Page(browser, pieces), 5)
        check_pieces(Page(browser, made(code, folder, hidden)), 1)
        check_saved(Page(browser, code))
        check_hostile(Page(browser, made(jit, folder, hostile)), shots)
        check_without(Page(browser, made(jit, folder, lambda data: data.pop("lives"))))
        check("lives" not in data_of(plain), "a profile without JIT code has no table")
        check(not browser.problems, f"the browser reports no problem: {browser.problems}")
    print("lives: ok")


if __name__ == "__main__":
    main()
