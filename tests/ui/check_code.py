#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The code pane of the flame graph page, used like a user: check_code.py PAGE.html RECORDED.html
[FOLDER for screenshots]. PAGE has no code, so this adds some, with hostile texts. RECORDED has that
of a recording.
"""
import json
import os
import re
import sys
import tempfile

from browser import Browser
from check_page import Page, check, choose, text
from page_data import INLINED, PageData, numbers, visible

HOSTILE = "<img src=x onerror='document.title=1'></script>\u202e\x1b[2J\x07"
LONG = "y" * 10_000
ROWS = ("[...document.querySelectorAll('#code-{} [role=option]')].map(r => [...r.children].map(c => c.textContent)"
        ".concat(r.className))")
CHAIN = "document.querySelector('#code .chain').textContent"
NOTE = "document.querySelector('#code .note').textContent"
TABS = "[...document.querySelectorAll('#code [role=tab]')].map(t => t.textContent)"


def annotation(samples, **more):
    """Instructions of four bytes, of which two have an inlined frame; the last one jumps to the second."""
    strings = ["", "outer " + HOSTILE, "/src/" + HOSTILE + ".c", "inner", "/src/inner.h", "mov " + HOSTILE, LONG, "jmp 0x4", "/dev/fifo"]
    return {"skipped": 0, "unshown": 0, "strings": strings,
            "frames": [[1, 2, 10], [3, 4, 3, 1, 2, 11], [1, 2, 12], [1, 8, 5]],
            "instructions": [[4 * i, count, 4, 7 if i == len(samples) - 1 else 5 + i % 2, (1, 2, 2, 3, 4)[i % 5],
                              4 if i == len(samples) - 1 else -1, "90909090"] for i, count in enumerate(samples)],
            "lines": [[2, line, HOSTILE + f"line {line}" if line != 12 else LONG] for line in range(8, 15)] + [[4, 3, "\tinlined;"]],
            "troubles": [[8, "it is not a regular file"]], **more}


GENERATIONS = [
    {"samples": 36, "tier": "compiled", "address": "0x7f0000001000", "bytes": 20, "loaded_ns": 500_000_000, "ended_ns": 1_250_000_000,
     "code": annotation([1, 0, 20, 5, 10])},
    {"samples": 90, "address": "0x7f0000002000", "bytes": 24, "loaded_ns": 1_250_000_000, "live": True,
     "code": annotation([3, 80, 0, 2, 4, 1])},
    {"samples": 7, "before_run": True, "address": "0x7f0000003000", "bytes": 24},
]


# Of a runtime, source lines instead of instructions; and the JIT code that ran for it.
LINES = {"skipped": 0, "unshown": 0, "strings": ["/src/" + HOSTILE + ".py"], "instructions": [], "frames": [],
         "sampled": [[0, 0, 4, 4], [0, 7, 0, 60], [0, 9, 12, 30]],
         "lines": [[0, line, HOSTILE + f"line {line}"] for line in range(4, 13)], "troubles": []}
RUNTIME = [
    {"samples": 16, "name": "/src/b.py", "total": 70, "code": LINES},
    {"samples": 0, "name": "/src/c.py", "total": 20, "code": {**LINES, "sampled": [[0, 7, 0, 20]], "lines": []}},
    {"samples": 4, "name": "JIT$f", "address": "0x7f0000001000", "bytes": 20, "loaded_ns": 500_000_000, "live": True,
     "code": annotation([4])},
]


def with_code(source, folder):
    """Returns a copy of a page with code of the functions that it has samples in, and of a hostile name."""
    page = open(source, encoding="utf-8").read()
    begin, data, end = re.split(r'(?<=id="profile">)(.*?)(?=</script>)', page, maxsplit=1, flags=re.S)
    data, seen = json.loads(data), PageData(source)
    modules, files = (numbers(data["labels"], key) for key in ("module", "file"))
    functions = []
    for label in {node.label for node in seen.nodes if seen.kinds[node.label] == 3 and node.total > seen.total * .02}:
        functions.append({"name": seen.names[label], "module": data["strings"][modules[label]], "kind": "JIT",
                          "file": data["strings"][files[label]], "samples": 133, "more": 2, "generations": GENERATIONS})
    native = next(node.label for node in seen.nodes if seen.kinds[node.label] == 2 and node.total > seen.total * .02)
    functions.append({"name": seen.names[native], "module": data["strings"][modules[native]], "kind": "Python",
                      "samples": 16, "more": 0, "generations": RUNTIME})
    data["functions"] = {"total": 1000, "left_out": 5, "max_bytes": 8_388_608, "list": functions}
    made = os.path.join(folder, "code.html")
    with open(made, "w", encoding="utf-8") as out:
        out.write(begin + json.dumps(data).replace("<", "\\u003c") + end)
    return made




def rows(page, side):
    return page.say(ROWS.format(side))


def counted(page, side):
    return sum(int(row[0].replace(",", "") or 0) for row in rows(page, side))


def is_open(page):
    return not page.say("document.getElementById('code').hidden")


def open_code(page, node):
    page.browser.mouse(*page.point_of(node))
    page.press("a")
    check(is_open(page), f"a opens the code of {node.name!r}")


def jit_node(page):
    data = page.data
    return next(n for n in data.nodes if data.kinds[n.label] == 3 and n.total > data.total * .02)


def check_open(page):
    node = jit_node(page)
    open_code(page, node)
    check(page.say("document.querySelector('#code h2').textContent") == visible(node.name), "the pane names the function")
    check("code=" in page.say("location.hash"), "the address has the function")
    check(page.say("document.activeElement.id") == "code-machine", "the instructions have the focus")
    tabs = page.say(TABS)
    check(len(tabs) == 3 and tabs[0] == "1compiled · 20 B · 0.50 s – 1.25 s36 samples" and tabs[1] == "224 B · 1.25 s – the end90 samples" and
          tabs[2] == "324 B · before the run – ?7 samples", f"generations have size, life and samples: {tabs}")
    check(page.say("document.querySelector('#code [aria-selected=true]').textContent")[0] == "2", "the hottest one is shown")
    for side in ("source", "machine"):
        check(counted(page, side) == 90, f"the samples of the {side} add up: {rows(page, side)}")
    check([row[2] for row in rows(page, "machine")] == ["0", "4", "8", "c", "10", "14"], "instructions have offsets")
    current = [row for row in rows(page, "machine") if "current" in row[4]]
    check(len(current) == 1 and current[0][0] == "80", f"the hottest instruction is current: {current}")
    linked = [row[2] for row in rows(page, "source") if "current" in row[4] or "linked" in row[4]]
    check(sorted(linked) == ["11", "3"], f"its lines are marked: {linked}")
    chain = page.say(CHAIN)
    check(chain.startswith("innerinner.h:3‹ inlined intoouter <img") and "90 90 90 90" in chain, f"the chain of inlined functions: {chain!r}")
    check("/dev/fifo: it is not a regular file" in page.say(NOTE), f"a source that is not read: {page.say(NOTE)!r}")


def check_hostile(page):
    check(page.say("document.querySelectorAll('#code img, #code script').length") == 0 and page.say("document.title") != "1",
          "texts are no markup")
    every = page.say("document.getElementById('code').textContent")
    check("<img src=x" in every and "\\u{202e}" in every and "\\u{1b}" in every, "hostile texts are shown")
    check(not re.search("[\u202e\x1b\x07]", every), "nothing invisible is shown")
    check(LONG not in every and "y… (10,000 characters)" in every, "long texts are cut")
    check(page.say("document.documentElement.scrollWidth <= innerWidth"), "the page needs no horizontal scrolling")


def check_keys(page):
    page.press("Home")
    check(page.say(CHAIN).startswith("outer <img"), "Home goes to the first instruction")
    page.press("End", "Enter")
    current = [row[2] for row in rows(page, "machine") if "current" in row[4]]
    check(current == ["4"], f"Enter follows a jump: {current}")
    hot = []
    for _ in range(6):
        page.press("h")
        hot += [int(row[0]) for row in rows(page, "machine") if "current" in row[4]]
    check(hot == [4, 3, 2, 1, 80, 4], f"h goes to the next hottest one: {hot}")
    check(not page.say("location.hash.includes('hide')"), "keys in the list do nothing else")
    page.say("document.getElementById('code-source').focus()")
    page.press("Home", "ArrowDown", "ArrowDown", "ArrowDown")
    check([row[2] for row in rows(page, "source") if "current" in row[4]] == ["10"] or
          "current" in rows(page, "source")[3][4], f"arrows move: {rows(page, 'source')}")
    active = page.say("document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).ariaSelected")
    check(active == "true", "the current row is told to screen readers")


def check_generations(page):
    page.say("document.querySelector('#code [aria-selected=true]').focus()")
    page.press("ArrowLeft")
    check("generation=1" in page.say("location.hash") and counted(page, "machine") == 36, "another generation is shown")
    page.open(page.say("location.hash"))
    check(is_open(page) and counted(page, "machine") == 36, "a link shows it, too")
    page.say("document.querySelector('#code [aria-selected=true]').focus()")
    page.press("ArrowLeft")
    check(not rows(page, "machine") and "no room" in page.say(NOTE), f"code that the page lacks: {page.say(NOTE)!r}")
    page.press("ArrowLeft")
    choose(page, page.data.threads[0])
    check("those of the whole profile" in page.say(NOTE) or page.say("document.querySelector('#code .note').hidden") is False,
          "samples do not depend on the choice of threads")
    choose(page, "")
    page.press("Escape")
    check(not is_open(page) and "code=" not in page.say("location.hash"), "Escape closes the pane")
    check(page.say("document.activeElement.id") == "graph", "and the graph has the focus")
    page.say("history.back()")
    page.settle()
    check(is_open(page), "back opens it again")
    page.click("code-close")
    check(not is_open(page), "a button closes it")


def check_runtime(page):
    """A function of a runtime: lines with samples of their own and in all, without instructions."""
    node = next(n for n in page.data.nodes if page.data.kinds[n.label] == 2 and n.total > page.data.total * .02)
    open_code(page, node)
    tabs = page.say(TABS)
    check(tabs == ["1b.py70 samples", "2c.py20 samples", "3JIT$f · 20 B · 0.50 s – the end4 samples"], f"files, and code: {tabs}")
    check(page.say("document.getElementById('code-machine').hidden"), "there are no instructions")
    lines = page.say(ROWS.format("source"))
    check([(row[0], row[2], row[4]) for row in lines if row[2]] == [("4", "4", ""), ("", "60", "7"), ("12", "30", "9")],
          f"lines have their own samples and totals: {lines}")
    check([row[4] for row in lines] == [""] + [str(line) for line in range(4, 13)] and lines[4][5].endswith("line 7"), f"and texts: {lines}")
    check("current" in lines[4][6], f"the line with most samples is current: {lines[4]}")
    facts = page.say("document.querySelector('#code .head').textContent")
    check("70 samples with what it calls, 7.0 %" in facts and "16 in itself, 1.6 %" in facts, f"what the function has: {facts!r}")
    page.press("h")
    check(page.say(CHAIN) == "Line 9: 12 samples in the line itself, 30 with what it calls", f"the next line: {page.say(CHAIN)!r}")
    for tab, hidden in ((2, True), (3, False), (1, True)):
        page.say(f"document.querySelector('#code [role=tab]:nth-child({tab})').click()")
        check(page.say("document.getElementById('code-machine').hidden") is hidden, f"instructions in tab {tab}")
    page.browser.screen(400, 800)
    check(not page.say("document.getElementById('code-source').hidden") and page.say("document.getElementById('code-source').clientHeight") > 200,
          "the lines are shown in a narrow window")
    page.browser.screen(1280, 800)
    page.press("Escape")


def check_without(page):
    """Frames without code, and a page without any."""
    data = page.data
    kernel = max((n for n in data.nodes if data.kinds[n.label] == 1), key=lambda n: n.total)
    open_code(page, kernel)
    own = sum(n.self for n in data.nodes if n.label == kernel.label)
    check(("left out" if own else "No sample was taken in this function itself") in page.say(NOTE), f"{kernel.name}: {page.say(NOTE)!r}")
    page.press("Escape")
    process = max((n for n in data.nodes if n.depth == 1), key=lambda n: n.total)
    open_code(page, process)
    check("no function" in page.say(NOTE), f"a process has no code: {page.say(NOTE)!r}")
    page.open("#code=nothing~1&generation=9")
    check(is_open(page) and "no function of this name" in page.say(NOTE), "a link to what is not there")
    page.open()
    inlined = max((n for n in data.nodes if data.kinds[n.label] & INLINED and n.total > data.total * .02), key=lambda n: n.total)
    open_code(page, inlined)
    if "inlined" in page.say(NOTE):
        name = page.say("document.querySelector('#code .note button').textContent")
        page.say("document.querySelector('#code .note button').click()")
        page.settle()
        check(page.say("document.querySelector('#code h2').textContent") == name, "a button shows the caller's code")
    page.press("Escape")


def check_none(page):
    open_code(page, jit_node(page))
    check("jitbpf report --code" in page.say(NOTE), f"a page without code says what to do: {page.say(NOTE)!r}")


def check_menu(page):
    x, y = page.point_of(jit_node(page))
    for kind in ("mousePressed", "mouseReleased"):
        page.browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="right", clickCount=1)
    page.settle()
    item = "[...document.querySelectorAll('#menu button')].find(b => b.textContent.startsWith('Code'))"
    check(page.say(f"Boolean({item})"), "the menu of a frame has its code")
    page.say(f"{item}.click()")
    page.settle()
    check(is_open(page), "it opens the pane")


def check_sizes(page, folder):
    fragment = page.say("location.hash")
    for width, dark in ((1280, False), (1280, True), (400, False), (400, True)):
        page.browser.screen(width, 800, dark)
        page.open(fragment)
        shown = page.say("['source', 'machine'].filter(s => document.querySelector('#code .' + s).clientWidth > 100)")
        check(shown == (["source", "machine"] if width > 800 else ["machine"]), f"{width}: lists that are shown: {shown}")
        check(page.say("document.documentElement.scrollWidth <= innerWidth"), f"{width}: no horizontal scrolling")
        if folder:
            page.browser.screenshot(f"{folder}/code-{width}{'-dark' if dark else ''}.png")
    page.say("document.querySelector('#code [data-side=source]').click()")
    page.settle()
    check(page.say("document.querySelector('#code .source').clientWidth > 300"), "a button shows the source")
    if folder:
        page.browser.screenshot(f"{folder}/code-400-source.png")
    page.browser.screen(1280, 800)


def check_recorded(page):
    """The samples of a recorded function, of which each generation is at another address."""
    data = page.data
    own = {}
    for node in data.nodes:
        if data.kinds[node.label] == 3:
            own[node.label] = own.get(node.label, 0) + node.self
    label = max(own, key=own.get)
    node = next(n for n in data.nodes if n.label == label)
    open_code(page, node)
    check(f"{own[label]:,} sample" in page.say("document.querySelector('#code .head').textContent"), "the samples of the function")
    check(counted(page, "machine") == own[label], f"{counted(page, 'machine')} samples of {own[label]}")
    texts = [row[3] for row in rows(page, "machine")]
    number = int(node.name.split("_")[1])
    check(f"mov $0x{0x6a69740000000000 | number:x}, %r15" in texts, f"the code of {node.name}: {texts}")


def main():
    folder = sys.argv[3] if len(sys.argv) > 3 else None
    with Browser() as browser, tempfile.TemporaryDirectory() as made:
        browser.screen(1280, 800)
        check_none(Page(browser, sys.argv[1]))
        page = Page(browser, with_code(sys.argv[1], made))
        for one in (check_open, check_hostile, check_keys, check_generations, check_runtime, check_without, check_menu):
            one(page)
        check_sizes(page, folder)
        check_recorded(Page(browser, sys.argv[2]))
        check(not browser.problems, f"the browser reports no problem: {browser.problems}")
        check(all(request.startswith(("file:", "about:")) for request in browser.requests), "the page requests nothing")
    print("code: ok")


if __name__ == "__main__":
    main()
