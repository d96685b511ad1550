#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The heat maps of single processes on the time line of the flame graph page, used like a user:
check_process_maps.py PAGE.html ONE-PROCESS.html [FOLDER for screenshots]
"""
import base64
import collections
import json
import os
import re
import sys
import tempfile

from browser import Browser
from check_page import Page, check, text
from check_time import CELL, CELLS_TOP, GRAPH, STRIP, check_whole, drag, ticks_of
from page_data import PageData, numbers

FIRST, HIGH, GAP, ROWS = CELLS_TOP + 20 * CELL + 4, 10 * CELL, 4, 10  # pixels
PER_SECOND = 20  # ticks
STRONGEST = [[11, 79, 138], [154, 208, 250]]  # --cell in page.css, light and dark
BUTTONS = ("[...document.querySelectorAll('#processes button:not([hidden])')].map(button => {"
           "const b = button.getBoundingClientRect();"
           "return [[...button.children].map(c => c.textContent).join(' '), button.title, b.left, b.top, b.right, b.bottom]; })")
OTHERS = "document.querySelector('#processes .others')?.textContent ?? ''"
# Read from a copy: Chromium reports a problem if a canvas is read several times.
PIXEL = ("(() => {{ const c = document.querySelector('#strip canvas'), ratio = c.width / c.clientWidth, copy = document.createElement('canvas');"
         "copy.width = copy.height = 1;"
         "const pen = copy.getContext('2d'); pen.drawImage(c, {} * ratio, {} * ratio, 1, 1, 0, 0, 1, 1);"
         "return [...pen.getImageData(0, 0, 1, 1).data]; }})()")


def pid_of(thread):
    return int(thread.split(".")[0])


def by_process(data):
    sums = collections.Counter()
    for thread, samples in data.by_thread.items():
        sums[pid_of(thread)] += samples
    return sums


def cells_of(data, pid):
    """Returns {(second, row): samples}."""
    cells = collections.Counter()
    for (tick, thread, _), samples in data.slices.items():
        if pid_of(thread) == pid:
            cells[tick // PER_SECOND, tick % PER_SECOND * ROWS // PER_SECOND] += samples
    return cells


class Maps:
    """Where the cells of the page are. A page of less than 300 s has a column for each second."""

    def __init__(self, page):
        self.left, self.top, self.width, self.height = page.say(STRIP)
        self.ticks = max(tick for tick, _, _ in page.data.slices) + 1

    def place(self, index, second, row):
        """Returns the middle of a cell of the process with this index."""
        end = min((second + 1) * PER_SECOND, self.ticks)
        return ((second * PER_SECOND + end) / 2 / self.ticks * self.width, FIRST + index * (HIGH + GAP) + (row + .5) * CELL)


def check_names(page, order):
    """There is a button beside each map, with the name of the process, which the list of processes has, too."""
    entries = dict(re.match(r"(.* (\d+)) – ", entry).groups()[::-1] for entry in page.say(
        "[...document.querySelectorAll('#threads > option')].map(o => o.textContent)")[1:] if entry[0] != "\u2003")
    buttons, left = page.say(BUTTONS), page.say(STRIP)[0]
    check([button[0] for button in buttons] == [entries[str(pid)] for pid, _ in order],
          f"the processes with most samples have maps: {buttons} {order}")
    for i, ((pid, samples), button) in enumerate(zip(order, buttons)):
        check(button[1] == f"Only {entries[str(pid)]}: {samples:,} sample" + "s" * (samples != 1), f"a button says how many: {button}")
        top = page.say(STRIP)[1] + FIRST + i * (HIGH + GAP)
        check(0 <= button[2] < button[4] <= left and abs(button[3] - top) < 1 and abs(button[5] - top - HIGH) < 1,
              f"a button is beside its map, and hides nothing of it: {button}, {left} {top}")
    return [entries[str(pid)] for pid, _ in order]


def check_cells(page, order, names):
    """Each map has its own scale, and its cells say how many samples they have."""
    maps = Maps(page)
    for index, ((pid, _), name) in enumerate(zip(order, names)):
        cells = cells_of(page.data, pid)
        most = max(cells, key=cells.get)
        some = sorted(cells)[len(cells) // 3]
        none = next((s, r) for s in range(maps.ticks // PER_SECOND) for r in range(ROWS) if not cells[s, r]) if index else some
        for second, row in (most, some, none):
            x, y = maps.place(index, second, row)
            page.browser.mouse(maps.left + x, maps.top + y)
            said, samples = page.detail(), cells[second, row]
            check(said == f"{name} · {second + row / ROWS:.5g} – {second + (row + 1) / ROWS:.5g} s · {samples:,} sample{'s' * (samples != 1)} · "
                  f"strongest colour: {cells[most]:,} sample{'s' * (cells[most] != 1)} in a cell", f"a cell of {pid}: {said!r}, {second} {row} {samples} {cells[most]}")
        for dark in (False, True):
            page.browser.screen(1280, 800, dark=dark)
            page.settle()
            x, y = maps.place(index, *most)
            pixel = page.say(PIXEL.format(int(x), int(y)))
            check(pixel[3] == 255 and pixel[:3] == STRONGEST[dark], f"the largest cell of {pid} has the strongest colour: {pixel}")
        page.browser.screen(1280, 800)


def check_drag(page):
    """A drag from a cell of one process to a cell of another one selects what is between them."""
    maps = Maps(page)
    (x, y), (end_x, end_y) = maps.place(1, 3, 2), maps.place(2, 4, 6)
    page.browser.drag(maps.left + x, maps.top + y, end_x - x, end_y - y)
    page.settle()
    check(ticks_of(page) == (64, 94), f"cells from 3.2 s to 4.7 s: {ticks_of(page)}")
    check_whole(page, PageData(page.path, ticks=(64, 94)), "cells of processes")
    check(len(page.say(BUTTONS)) == 4, "a range leaves the maps")
    page.browser.mouse(maps.left + x, maps.top + y, click=True)
    page.settle()
    check(not ticks_of(page), "a click on a map shows all of the time")


def check_choice(page, order, names):
    """A click on a name, or Enter, chooses the process. The maps go, and come again."""
    height = page.say(STRIP)[3]
    graph = page.say(GRAPH)
    for index, enter in ((1, False), (3, True)):
        pid = order[index][0]
        if enter:
            page.say(f"document.querySelectorAll('#processes button')[{index}].focus()")
            page.press("Enter")
        else:
            button = page.say(BUTTONS)[index]
            page.browser.mouse(button[2] + 9, button[3] + 9, click=True)
            page.settle()
        check(f"threads={pid}" in page.say("location.hash").replace("#", "&").split("&"), f"{pid} is chosen: {page.say('location.hash')}")
        check(page.say("document.getElementById('threads').value") == str(pid), "the list of processes has the choice")
        check(names[index] in page.say(text("status")), f"the choice is announced: {page.say(text('status'))!r}")
        check(page.say("document.activeElement.id") == "strip", "the focus is on the time line")
        check_whole(page, PageData(page.path, threads={t for t in page.data.by_thread if pid_of(t) == pid}), f"the graph is of {pid}")
        check(not page.say(BUTTONS) and page.say("document.getElementById('processes').hidden"), "one process needs no comparison")
        check(page.say(STRIP)[3] == height - 4 * (HIGH + GAP), "the graph gets the room of the maps")
        page.say("history.back()")
        page.browser.wait_for("document.querySelectorAll('#processes button:not([hidden])').length === 4")
        page.settle()
        check(page.say(GRAPH) == graph, "the maps are there again")
    tree = page.browser.call("Accessibility.getFullAXTree")["nodes"]
    named = [node["name"]["value"] for node in tree if not node["ignored"] and node["role"]["value"] == "button" and node.get("name")]
    check(all(any(said.startswith(f"Only {name}: ") for said in named) for name in names), f"the buttons have names: {named}")


def check_sizes(page, shots):
    for width, height in ((1280, 800), (640, 800), (400, 700)):
        for dark in (False, True):
            page.browser.screen(width, height, dark=dark)
            page.open("#unfolded=1")
            check(page.say("document.documentElement.scrollWidth <= innerWidth"), f"{width}: the page needs no horizontal scrolling")
            left, _, wide, _ = page.say(STRIP)
            check(wide > 200 and all(0 <= button[2] and button[4] <= left for button in page.say(BUTTONS)), f"{width}: maps and names have room")
            check(page.say(GRAPH)[3] > 200, f"{width}: the graph has room")
            if shots:
                page.say("document.getElementById('time').scrollIntoView()")
                page.settle()
                page.browser.screenshot(os.path.join(shots, f"process-maps-{width}-{'dark' if dark else 'light'}.png"))
    page.browser.screen(1280, 800)


def with_pids(path, folder, pid_of_row):
    """Writes the page with other processes, and returns its path."""
    with open(path, encoding="utf-8") as file:
        page = file.read()
    begin, text_, end = re.search(r'(<script type="application/json" id="profile">)(.*?)(</script>)', page, re.S).groups()
    data, out = json.loads(text_), bytearray()
    for row, _ in enumerate(numbers(data["threads"], "pid")):
        value = pid_of_row(row)
        while value > 127:
            out.append(value & 127 | 128)
            value >>= 7
        out.append(value)
    data["threads"]["pid"] = base64.b64encode(out).decode()
    made = os.path.join(folder, "pids.html")
    with open(made, "w", encoding="utf-8") as file:
        file.write(page.replace(begin + text_ + end, begin + json.dumps(data).replace("<", "\\u003c") + end))
    return made


def check_many(browser, path):
    """Words say how many processes have no map. Those without a pid are counted together."""
    with tempfile.TemporaryDirectory() as folder:
        for lowest, expected in ((1, "and {} more processes"), (0, "and {} more processes and those counted together")):
            page = Page(browser, with_pids(path, folder, lambda row, lowest=lowest: row + lowest))
            order = by_process(page.data).most_common()
            if not lowest:  # the pid 0 is that of a process without a map
                fewest = order[-1][0]
                page = Page(browser, with_pids(path, folder, lambda row, fewest=fewest: 0 if row == fewest else row or fewest))
                order = by_process(page.data).most_common()
                check(order[-1][0] == 0, "processes counted together have fewest samples")
            page.open("#unfolded=1")
            check([int(button[0].split()[-1]) for button in page.say(BUTTONS)] == [pid for pid, _ in order[:4]], f"{page.say(BUTTONS)} {order}")
            more = len(order) - 4 - (not lowest)
            check(more > 1 and page.say(OTHERS) == expected.format(more), f"{more} more: {page.say(OTHERS)!r}")
            page.open("")
            check(not page.say(OTHERS) and page.say("document.getElementById('processes').hidden"), "a folded time line has no maps")


def main():
    with Browser() as browser:
        browser.screen(1280, 800)
        page = Page(browser, sys.argv[1])
        order = by_process(page.data).most_common(4)
        check(len(order) == 4 and order[0][1] > 9 * order[3][1], f"four processes, one with few samples: {order}")
        check(not page.say(BUTTONS), "the time line is folded")
        drag(page, .25, .5)
        page.click("all-time")
        page.click("unfold")
        names = check_names(page, order)
        check(page.say(OTHERS) == "", "no other process has samples")
        check_cells(page, order, names)
        check_drag(page)
        check_choice(page, order, names)
        check_sizes(page, sys.argv[3] if len(sys.argv) > 3 else None)
        check_many(browser, sys.argv[1])
        one = Page(browser, sys.argv[2])
        check(len(by_process(one.data)) == 1, "the other page has one process")
        one.open("#unfolded=1")
        check(not one.say(BUTTONS), "one process has no map of its own")
        check(not browser.problems, f"the browser reports no problem: {browser.problems}")
    print("process maps in the browser: ok")


if __name__ == "__main__":
    main()
