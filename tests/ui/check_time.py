#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The time line of the flame graph page, used like a user, and its lane of JIT code:
check_time.py PAGE.html JIT.html [FOLDER for screenshots]
"""
import math
import os
import re
import sys

from browser import Browser
from check_page import Page, check, check_table_rows, choose, text
from page_data import PageData

BOX = ("(() => {{ const b = document.querySelector('{}').getBoundingClientRect();"
       "return [b.left, b.top, b.width, b.height]; }})()")
STRIP, GRAPH = BOX.format("#strip"), BOX.format("#graph canvas")
TICK = .05  # s
CELL, CELLS_TOP = 3, 40  # pixels of the heat map: the height of a row, and where the first one begins


def ticks_of(page, key="range"):
    """Returns the range in the address: the first tick, and the one behind the last."""
    found = re.search(rf"{key}=([\d.]+)-([\d.]*)", page.say("location.hash"))
    return found and (round(float(found[1]) / TICK), round(float(found[2]) / TICK) if found[2] else math.inf)


def drag(page, begin, end, shift=False, y=12):
    """Drags between two parts of the strip's width."""
    left, top, width, _ = page.say(STRIP)
    page.browser.drag(left + begin * width, top + y, (end - begin) * width, 0, shift=shift)
    page.settle()


def root(page):
    """Returns what the page says of all samples."""
    page.say("document.getElementById('graph').focus()")
    page.press("Home")
    said = page.detail()
    page.browser.mouse(1, 1)
    return said


def check_whole(page, only, what):
    check(f"{only.total:,} samples, 100.0 %" in root(page), f"{what}: {only.total:,} samples: {root(page)!r}")


def check_range(page):
    data = page.data
    last = max(tick for tick, _, _ in data.slices)
    check(last > 100 and sum(data.slices.values()) == data.total, "the slices have all samples")
    drag(page, .25, .5)
    first, end = ticks_of(page)
    check(abs(first - last * .25) < last / 50 and abs(end - last * .5) < last / 50, f"a drag selects a range: {first} {end}")
    only = PageData(page.path, ticks=(first, end))
    check(0 < only.total < data.total, "the range has some of the samples")
    check_whole(page, only, "the graph is of the range")
    check(f"{only.total:,} samples" in page.say(text("range")), f"the range is described: {page.say(text('range'))!r}")
    fragment = page.say("location.hash")
    page.open(fragment + "&table=1")
    check_table_rows(page, only)
    page.open(fragment + "&search=OrderBook")
    check(f"{only.matched('OrderBook'):,} samples" in page.say(text("matched")), "a search counts the samples of the range")
    busiest = max(data.by_thread, key=data.by_thread.get)
    page.open(fragment)
    choose(page, busiest)
    check_whole(page, PageData(page.path, threads={busiest}, ticks=(first, end)), "a thread's samples of the range")
    page.open(fragment + "&callers=1")
    check_whole(page, only, "callers of the range")
    page.press("Escape")
    check(not page.say("location.hash").count("range"), "Escape shows all of the time")
    page.open()


def check_end(page):
    """A range up to the end has no end."""
    drag(page, .5, 1.2)
    first, end = ticks_of(page)
    check(end == math.inf, f"the range goes on: {end}")
    check_whole(page, PageData(page.path, ticks=(first, end)), "up to the end")
    left, top, width, _ = page.say(STRIP)
    page.browser.mouse(left + width / 4, top + 12, click=True)
    page.settle()
    check(not ticks_of(page), "a click shows all of the time")
    check_whole(page, page.data, "all of the time")


def check_keys(page):
    page.say("document.getElementById('strip').focus()")
    page.press("ArrowRight", "ArrowRight")
    first, end = ticks_of(page)
    check(first > 0, f"the arrows move the range: {first} {end}")
    page.browser.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight", windowsVirtualKeyCode=39, modifiers=8)
    page.settle()
    check(ticks_of(page)[0] == first and ticks_of(page)[1] > end, "with Shift, they move its end")
    check("samples" in page.say(text("status")), "the range is announced")
    check_whole(page, PageData(page.path, ticks=ticks_of(page)), "the keys' range")
    before = ticks_of(page)
    page.say("document.getElementById('strip').focus()")
    page.press("b", "ArrowLeft")
    check(ticks_of(page, "baseline") == before and ticks_of(page)[1] == math.inf, f"b makes it the baseline: {page.say('location.hash')}")
    page.press("Escape")
    check(page.say("location.hash") == "", "Escape shows all of the time")
    tree = page.browser.call("Accessibility.getFullAXTree")["nodes"]
    names = [node.get("name", {}).get("value", "") for node in tree if not node["ignored"]]
    check(any(name.startswith("Time line.") for name in names), "the time line has a name")
    check(page.say("document.getElementById('unfold').ariaExpanded") == "false", "the heat map is folded")


def by_chance(counts, whole):
    shares = [count / all_ if all_ else 0 for count, all_ in zip(counts, whole)]
    return (shares[1] - shares[0]) ** 2 <= 4 * sum(s * (1 - s) / all_ for s, all_ in zip(shares, whole) if all_)


def check_baseline(page):
    drag(page, .6, .8)
    drag(page, .1, .4, shift=True)
    sides = [PageData(page.path, ticks=ticks_of(page, key)) for key in ("baseline", "range")]
    before, after = whole = [side.total for side in sides]
    check(f"before {before:,}, 100.0 % · after {after:,}, 100.0 %" in root(page), f"a difference of {whole}: {root(page)!r}")
    check("shrunk" in page.say(text("legend")), "the legend has the colours of changes")
    check(not page.say("document.getElementById('absolute').hidden"), "numbers instead of shares can be compared")
    fragment = page.say("location.hash")
    page.open(fragment + "&table=1")
    functions = [side.functions() for side in sides]
    expected = {}
    for label in functions[0].keys() | functions[1].keys():
        own = [side[label][0] if label in side else 0 for side in functions]
        expected.setdefault((f"{own[0]:,}", f"{own[1]:,}"), set()).add(by_chance(own, whole))
    rows = page.say("[...document.querySelectorAll('#table tbody tr')].map(r => [...r.children].map(c => c.textContent))")
    check(len(rows) > 100 and all((row[1].endswith("~")) in expected[row[3], row[5]] for row in rows),
          "changes within the random error are marked")
    check(len({row[1].endswith("~") for row in rows}) == 2, "some changes are marked, others are not")
    points = [abs(float(re.sub("[^0-9.]", "", row[1]))) for row in rows]
    check(points == sorted(points, reverse=True), "the largest changes come first")
    page.press("n")
    check("absolute" in page.say("location.hash"), "n compares numbers")
    page.open(fragment)
    check(f"before {before:,}, " in root(page), "a link restores both ranges")
    page.click("baseline")
    check(not ticks_of(page, "baseline") and f"{after:,} samples, 100.0 %" in root(page), "without the baseline, the range is left")
    page.open(fragment + "&table=1")
    page.click("all-time")
    check_table_rows(page, page.data)
    page.open()


def check_colours(page):
    """The scheme of colours changes while a difference is shown, of another tree than at first."""
    page.press("k")
    drag(page, .6, .8)
    drag(page, .1, .4, shift=True)
    for dark in (True, False):
        page.browser.screen(1280, 800, dark=dark)
        page.settle()
        check(not page.say("document.documentElement.dataset.error"), "other colours of a difference cause no error")
    page.open()


def check_heat_map(page, shots):
    page.click("unfold")
    left, top, width, height = page.say(STRIP)
    check(height > 80 and page.say("document.getElementById('unfold').ariaExpanded") == "true", "the heat map is shown")
    page.open(page.say("location.hash"))
    check(page.say(STRIP)[3] == height, "a link shows the heat map, too")
    label = page.say("(b => [b.left, b.right])(document.querySelector('#strip .label').getBoundingClientRect())")
    check(0 <= label[0] < label[1] <= left, f"a label is beside the heat map: {label}")
    seconds = max(tick for tick, _, _ in page.data.slices) * TICK
    wide = width / seconds
    x, y = left + 3.5 * wide, top + CELLS_TOP + 4.5 * CELL
    page.browser.mouse(x, y)
    said = page.detail()
    one = sum(n for (tick, _, _), n in page.data.slices.items() if tick == 64)
    check(said.startswith("3.2 – 3.25 s") and f"{one:,} sample" in said, f"a cell is a part of a second: {said!r}, {one}")
    page.browser.drag(x, y, wide, 3 * CELL)
    page.settle()
    check(ticks_of(page) == (64, 88), f"a drag from cell to cell selects what is between them: {ticks_of(page)}")
    check_whole(page, PageData(page.path, ticks=(64, 88)), "cells")
    if shots:
        for dark in (False, True):
            for name, size in (("wide", (1280, 800)), ("narrow", (400, 700))):
                page.browser.screen(*size, dark=dark)
                page.settle()
                page.browser.screenshot(os.path.join(shots, f"time-{name}-{'dark' if dark else 'light'}.png"))
        page.browser.screen(1280, 800)
    page.open()


def check_empty_lane(page):
    """A click where nothing was loaded says so, and nothing promises more."""
    left, top, width, height = page.say(STRIP)
    listed = 0
    for x in range(int(width) - 1, 0, -4):
        page.browser.mouse(left + x, top + height - 3)
        promised = page.detail()
        if "click" in promised and listed == 10:
            continue
        page.browser.mouse(left + x, top + height - 3, click=True)
        if "click" not in promised:
            check("No JIT code was loaded" in page.detail(), f"a click says that there is nothing: {page.detail()!r}")
            check(listed > 0, "the lane has a place with loads or ends")
            return
        check(not page.say("document.getElementById('lives').hidden"), f"a click lists methods, as {promised!r} says")
        page.press("Escape")
        listed += 1
    check(False, "the lane has a place without loads and ends")


def check_lane(page):
    """Loads and unloads of JIT code, and what is live."""
    data = page.data
    loads, unloads = (sum(bin_[i] for bin_ in data.code.values()) for i in (0, 1))
    check(loads > 0 and len(data.engines) > 0, "the recording has JIT code")
    page.click("unfold")
    left, top, width, height = page.say(STRIP)
    check(height > 130, f"the lane is shown: {height}")
    page.browser.mouse(left + 1, top + height - 3)
    check("JIT load" in page.detail() and "live JIT code: " in page.detail(), f"a place has loads: {page.detail()!r}")
    check_empty_lane(page)
    said = [0, 0]
    seen = set()
    for x in range(0, int(width), 2):
        page.browser.mouse(left + x + .5, top + 3)
        found = re.match(r"([\d.]+ – [\d.]+ s) .* ([\d,]+) JIT loads?, ([\d,]+) unload", page.detail())
        if found[1] not in seen:
            said = [n + int(found[i + 2].replace(",", "")) for i, n in enumerate(said)]
        seen.add(found[1])
    check(said == [loads, unloads], f"all intervals together have all loads: {said}, {[loads, unloads]}")


def check_axis(page):
    """Labels are at their times, within the strip, and do not cover one another."""
    for size in ((1280, 800), (640, 800), (400, 700)):
        page.browser.screen(*size)
        page.open()
        left, top, width, height = page.say(STRIP)
        check(height <= 24 + 14, f"{size}: the axis leaves the graph its height: {height}")
        labels = page.say("[...document.querySelectorAll('#strip .axis span')].map(label => {"
                          "const b = label.getBoundingClientRect(); return [label.textContent, b.left, b.right, b.top, b.bottom]; })")
        check(len(labels) > 2 and labels[0][0] == "0 s", f"{size}: the axis has times: {labels}")
        check(all(a[2] + 4 < b[1] for a, b in zip(labels, labels[1:])), f"{size}: labels are apart: {labels}")
        check(labels[-1][2] <= left + width and all(top < label[3] and label[4] <= top + height for label in labels),
              f"{size}: labels are within the strip: {labels}")
        near = .06 + 2 * float(labels[1][0].split()[0]) / (labels[1][1] - left)  # two pixels
        for name, at, _, _, _ in labels:
            page.browser.mouse(at + 1, top + 12)
            begin, end = map(float, re.match(r"([\d.]+) – ([\d.]+) s", page.detail()).groups())
            check(begin - near <= float(name.split()[0]) <= end + near, f"{size}: {name} is at its time: {page.detail()!r}")
    page.open("#range=10-30")
    drawn = page.say("(() => { const c = document.querySelector('#strip canvas'), ratio = c.height / c.clientHeight;"
                     "return c.getContext('2d').getImageData(0, 25 * ratio, c.width, 11 * ratio).data.some(value => value); })()")
    check(not drawn, "the frame of a range leaves the labels alone")
    page.browser.screen(1280, 800)
    page.open()


def check_detail(page):
    """The description of a frame is whole, also beside chips and a range; it moves nothing when it appears."""
    for fragment in ("#hide=fsort", "#range=10-39", "#range=10-39&hide=fsort"):
        page.open(fragment)
        before = page.say(GRAPH)
        page.browser.mouse(*page.point(3, 0, page.data.total * .4))
        cut, said = page.say("(d => [d.scrollWidth - d.clientWidth, d.textContent])(document.getElementById('detail'))")
        check(cut <= 0 and "self" in said, f"{fragment}: {cut} pixels are cut off: {said!r}")
        check(page.say(GRAPH) == before, f"{fragment}: a description does not move the graph")
    page.open()


def check_room(page):
    for size, limit in (((1280, 800), 120), ((400, 700), 200)):
        page.browser.screen(*size)
        page.open("#range=1-2&baseline=2-3")
        check(page.say(GRAPH)[1] < limit, f"{size}: the graph begins at {page.say(GRAPH)[1]}")
        check(page.say("document.documentElement.scrollWidth <= innerWidth"), f"{size}: the page needs no horizontal scrolling")
        left, _, width, _ = page.say(STRIP)
        check(left >= 0 and left + width <= size[0] and width > 200, f"{size}: the strip has room: {width}")
    page.browser.screen(1280, 800)
    for wrong in ("range=5-2", "range=x-1", "range=-", "baseline=1e99-", "range=1-2-3&baseline=", "range=99999-"):
        page.open("#" + wrong)
        check(not page.say("document.documentElement.dataset.error"), f"{wrong} causes no error")
    check("0 samples" in root(page), "a range behind the end is empty")
    page.open()


def main():
    with Browser() as browser:
        browser.screen(1280, 800)
        page = Page(browser, sys.argv[1])
        for one in (check_range, check_end, check_keys, check_baseline, check_colours, check_axis, check_detail, check_room):
            one(page)
        check_heat_map(page, sys.argv[3] if len(sys.argv) > 3 else None)
        check_lane(Page(browser, sys.argv[2]))
        check(not browser.problems, f"the browser reports no problem: {browser.problems}")
    print("time: ok")


if __name__ == "__main__":
    main()
