#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Opens the page of a difference in a real browser: check_diff.py DIFF.html [FOLDER for screenshots]
"""
import os
import sys

from browser import Browser
from check_page import CANVAS, ROW, TABLE, Page, check, text
from page_data import PageData


class Sides:
    """Both sides of a difference, and the positions of nodes, by shares or by numbers."""

    def __init__(self, path):
        self.before, self.after = PageData(path, side=0), PageData(path, side=1)

    def pairs(self):
        return zip(self.before.nodes, self.after.nodes)

    def points(self, before, after):
        return 100 * (after.total / self.after.total - before.total / self.before.total)

    def place(self, before, after, absolute, across=.5):
        """Returns a place on the frame; `across` is 0 at its left end, 1 at its right end."""
        scales = (1, 1) if absolute else (1 / self.before.total, 1 / self.after.total)
        whole = self.before.total * scales[0] + self.after.total * scales[1]
        return sum((node.left + node.total * across) * scale for node, scale in zip((before, after), scales)) / whole

    def extremes(self, absolute):
        """Returns the nodes that shrank and grew most."""
        def change(pair):
            return pair[1].total - pair[0].total if absolute else self.points(*pair)
        return [pick((pair for pair in self.pairs() if 0 < pair[0].depth < 12), key=change) for pick in (min, max)]


def hover(page, sides, pair, absolute):
    left, top, width, _ = page.say(CANVAS)
    x, depth = left + sides.place(*pair, absolute) * width, pair[0].depth
    page.browser.mouse(x, top + (depth + .5) * ROW)
    red, _, blue = page.say(
        "(() => { const c = document.querySelector('canvas'), r = c.width / c.clientWidth;"
        f"return [...c.getContext('2d').getImageData({x - left} * r, {depth * ROW + 3} * r, 1, 1).data].slice(0, 3); }})()")
    return page.detail(), red - blue


def signed(number, form):
    return ("+" if number > 0 else "\u2212" if number < 0 else "\u00b1") + format(abs(number), form)


def check_frames(page, sides, absolute):
    coloured = 0
    for pair in sides.extremes(absolute):
        before, after = pair
        said, redness = hover(page, sides, pair, absolute)
        more = after.total - before.total
        check(said.startswith(before.name) and f"before {before.total:,}, " in said and f"after {after.total:,}, " in said,
              f"{before.name}: {before.total} and {after.total}: {said!r}")
        check(f"{signed(sides.points(*pair), '.2f')} points, {signed(more, ',')}" in said, f"the tip has the difference: {said!r}")
        change = more if absolute else sides.points(*pair)
        if (more ** 2 <= 4 * (before.total + after.total) if absolute
                else "within the random error" in said.partition(" · self: ")[0]):
            check(redness == 0, f"grey within the random error: {redness}")
        else:
            check(change and redness * change > 0, f"red where it grew, blue where it shrank: {redness} for {change}")
            coloured += 1
    check(coloured or absolute, "a change is beyond the random error")


def check_widths(page, sides, absolute):
    left, top, width, _ = page.say(CANVAS)
    for pair in (pair for pair in sides.pairs() if pair[0].depth == 1):
        for across, inward in ((0, 2), (1, -2)):
            page.browser.mouse(left + sides.place(*pair, absolute, across) * width + inward, top + 1.5 * ROW)
            check(page.detail().startswith(pair[0].name), f"{pair[0].name} is as wide as its share: {page.detail()!r}")


def check_sorted_column(page):
    """Both changes are in view on all screens; the table is sorted by one of them."""
    for width in (1400, 640, 400):
        page.browser.screen(width, 800)
        page.open("#table=1")
        shown = page.say("(() => { const end = document.getElementById('table').getBoundingClientRect().right;"
                         "return [...document.querySelectorAll('#table thead th')].filter(th => th.getBoundingClientRect().right <= end)"
                         ".map(th => th.textContent + (th.ariaSort ?? '')); })()")
        check("Self points ▾descending" in shown, f"{width}: the sorted column is shown: {shown}")
        check(sum("points" in heading for heading in shown) == 2, f"{width}: changes are shown: {shown}")
    page.browser.screen(1400, 900)


def check_table(page, sides):
    page.open("#table=1")
    before, after = sides.before.functions(), sides.after.functions()
    points = {label: 100 * (after[label][0] / sides.after.total - before[label][0] / sides.before.total)
              for label in set(before) | set(after)}
    rows = page.say(TABLE)
    check(len(rows) == 200, "functions of both sides are listed")
    shown = [float(row[1].rstrip("~\u2007").replace("\u2212", "-").replace("\u00b1", "")) for row in rows]
    check([abs(p) for p in shown] == sorted((abs(p) for p in shown), reverse=True), "the largest changes come first")
    wanted = sorted(points.values(), key=lambda p: -abs(p))[:200]
    check(sorted(f"{abs(p):.2f}" for p in wanted) == sorted(f"{abs(p):.2f}" for p in shown), f"the changes are right: {shown[:5]}")
    numbers = {(f"{before[label][0]:,}", f"{after[label][0]:,}", f"{before[label][1]:,}", f"{after[label][1]:,}")
               for label in points}
    check(all((row[3], row[5], row[7], row[9]) in numbers for row in rows), "the table has the numbers of both sides")
    check_sorted_column(page)
    page.open("#table=1&absolute=1")
    row = page.say(TABLE)[0]
    change = int(row[5].replace(",", "")) - int(row[3].replace(",", ""))
    check(row[1].rstrip("~\u2007") == signed(change, ","), f"absolute numbers: {row}")
    biggest = max(abs(after[label][0] - before[label][0]) for label in points)
    check(abs(change) == biggest, "absolute numbers: the largest change comes first")


def check_difference(page, shots):
    sides = Sides(page.path)
    check(len(page.data.runs) == 2, "there are two runs")
    for side, run in zip((sides.before, sides.after), page.data.runs):
        check(side.total == run["samples"]["taken"] - run["samples"]["lost"], "all samples of each are in the graph")
        check(f"{run['samples']['taken']:,} samples taken" in page.say(text("ledger")), "both ledgers are shown")
    check(page.say("document.getElementById('threads').hidden"), "no threads can be selected")
    check_frames(page, sides, absolute=False)
    check_widths(page, sides, absolute=False)
    page.browser.mouse(1, 1)
    page.press("n")
    check("absolute" in page.say("location.hash"), "n switches to absolute numbers")
    check_frames(page, sides, absolute=True)
    check_widths(page, sides, absolute=True)
    page.open("#search=HashMap")
    said = page.say(text("matched"))
    check(all(f"{side.matched('HashMap'):,} samples" in said for side in (sides.before, sides.after)),
          f"a search counts both sides: {said}")
    check_table(page, sides)
    for name, dark in (("light", False), ("dark", True)):
        for view in ("", "#table=1", "#callers=1"):
            page.browser.screen(400, 800, dark=dark, touch=True)
            page.open(view)
            check(page.say("document.documentElement.scrollWidth <= innerWidth"), f"{name} {view}: the page needs no horizontal scrolling")
            page.browser.screen(1400, 900, dark=dark)
            page.open(view)
            if shots:
                page.browser.screenshot(os.path.join(shots, f"diff-{name}{view.strip('#=1')}.png"))


def main():
    with Browser() as browser:
        browser.screen(1400, 900)
        check_difference(Page(browser, sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
        # caused by this test
        problems = [said for said in browser.problems if "getImageData" not in said]
        check(not problems, f"the browser reports no problem: {problems}")
    print("difference: ok")


if __name__ == "__main__":
    main()
