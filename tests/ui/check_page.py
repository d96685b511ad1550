#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Opens flame graph pages in a real browser and uses them as people do:
check_page.py EMPTY.html SMALL.html LARGE.html [FOLDER for screenshots]
"""
import json
import os
import re
import sys

from browser import Browser

DRAWN = "Number(document.documentElement.dataset.drawn)"
DETAIL = "document.getElementById('detail').textContent"
MATCHED = "document.getElementById('matched').textContent"
TIP = "document.getElementById('tip')"
ROW = 19


def check(condition, what):
    if not condition:
        sys.exit("check_page: not so: " + what)


def data_of(path):
    """The page's data, read by a JSON parser that is not ours."""
    page = open(path, encoding="utf-8").read()
    return json.loads(re.search(r'<script type="application/json" id="profile">(.*?)</script>', page, re.S)[1])


def tree_of(data):
    """(depth, name, left, total) of each node, worked out apart from the page's script."""
    nodes, names = data["nodes"], [data["strings"][i] for i in data["labels"]["name"]]
    count = len(nodes["depth"])
    total, left, path, parent = list(nodes["self"]), [0] * count, [], [-1] * count
    for i, depth in enumerate(nodes["depth"]):
        del path[depth:]
        parent[i] = path[-1] if path else -1
        path.append(i)
    for i in range(count - 1, 0, -1):
        total[parent[i]] += total[i]
    filled = [0] * count
    for i in range(1, count):
        left[i] = filled[i] = filled[parent[i]]
        filled[parent[i]] += total[i]
    return [(nodes["depth"][i], names[nodes["label"][i]], left[i], total[i]) for i in range(count)]


def matched_samples(tree, pattern):
    samples, until = 0, 0
    for _, name, left, total in tree:
        if left >= until and re.search(pattern, name, re.I):
            samples, until = samples + total, left + total
    return samples


class Page:
    def __init__(self, browser, path):
        self.browser, self.tree = browser, tree_of(data_of(path))
        self.open(path)

    def open(self, path, fragment=""):
        self.browser.open("file://" + os.path.abspath(path) + fragment)
        self.browser.wait_for("document.documentElement.dataset.ready")

    def settle(self):
        """Until what was asked for is drawn, and nothing moves any more."""
        self.browser.evaluate("new Promise(done => setTimeout(() => requestAnimationFrame(done), 350))")

    def point(self, node):
        """Where a node is while nothing is zoomed."""
        depth, _, left, total = self.tree[node]
        box = self.browser.evaluate("(() => { const b = document.querySelector('canvas').getBoundingClientRect();"
                                    "return [b.left, b.top, b.width]; })()")
        whole = self.tree[0][3]
        return box[0] + (left + total / 2) / whole * box[2], box[1] + (depth + .5) * ROW


def check_search(page, browser):
    browser.key("/")
    browser.type("OrderBook")
    page.settle()
    samples = matched_samples(page.tree, "OrderBook")
    text = browser.evaluate(MATCHED)
    check(f"{samples:,} samples" in text, f"search says {text!r}, there are {samples:,}")
    check(re.match(r"matched \d+\.\d+ %", text), "a share of the samples stands with it")
    browser.evaluate("document.getElementById('search').select()")
    browser.type("((")
    check("not a regular expression" in browser.evaluate(MATCHED), "a bad expression is said to be one")
    browser.key("Escape")
    page.settle()
    check(browser.evaluate(MATCHED) == "", "Escape ends the search")


def check_zoom(page, browser):
    node = next(i for i, (depth, _, _, total) in enumerate(page.tree)
                if depth == 4 and page.tree[0][3] * .02 < total < page.tree[0][3] * .5)
    depth, name, _, total = page.tree[node]
    x, y = page.point(node)
    browser.mouse(x, y)
    tip = browser.evaluate(TIP + ".textContent")
    check(tip.startswith(name) and f"{total:,} sample" in tip, f"the tip names {name!r}: {tip!r}")
    browser.mouse(x, y, click=True)
    page.settle()
    left, top, width = browser.evaluate("(() => { const b = document.querySelector('canvas').getBoundingClientRect();"
                                        "return [b.left, b.top, b.width]; })()")
    for across in (left + 3, left + width - 3):  # it is as wide as the page now
        browser.mouse(across, top + (depth + .5) * ROW)
        check(browser.evaluate(DETAIL).startswith(name), "a click zooms to " + name)
    check(not browser.evaluate("document.getElementById('reset').disabled"), "there is a way back")
    browser.evaluate("document.getElementById('reset').click()")
    page.settle()
    browser.mouse(x, y)
    check(browser.evaluate(DETAIL).startswith(name), "reset shows everything again")
    browser.mouse(1, 1)


def check_keys(page, browser):
    browser.evaluate("document.getElementById('graph').focus()")
    names = []
    for key in ("Escape", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown", "ArrowRight"):
        browser.key(key)
        names.append(browser.evaluate(DETAIL).split(" · ")[0])
    processes = [name for depth, name, _, _ in page.tree if depth == 1]
    check(names[6] == "all", f"up leads to the root: {names}")
    check(names[7] in processes and names[8] in processes and names[7] != names[8],
          f"down and right lead to processes: {names}")
    browser.key("Enter")
    page.settle()
    check(not browser.evaluate("document.getElementById('reset').disabled"), "Enter zooms")
    browser.key("Escape")
    page.settle()
    check(browser.evaluate("document.getElementById('reset').disabled"), "Escape goes back")


def check_names(page, browser):
    check(browser.evaluate("document.images.length") == 0, "no name has become an element")
    check("owned" not in browser.evaluate("document.title"), "no name has run as script")
    check("</title><img src=x" in browser.evaluate("document.title"), "the command is shown as it is")
    browser.evaluate("document.getElementById('more').open = true")
    check("\u202e" not in browser.evaluate("document.body.innerText"), "no name turns the page's direction")
    check("</script><script>alert(1)</script>" in browser.evaluate("document.getElementById('tables').textContent"),
          "names of processes are shown as they are")
    for node, (depth, name, _, total) in enumerate(page.tree):
        if depth == 2 and "<img src=x" in name:
            browser.evaluate("document.getElementById('more').open = false")
            page.settle()
            browser.mouse(*page.point(node))
            check(name in browser.evaluate(TIP + ".textContent"), "a frame's name is shown as it is")
            check(browser.evaluate(TIP + ".querySelector('img')") is None, "and is text only")
            break
    else:
        sys.exit("check_page: the page lacks the name that is to be tried")


def check_small(path, browser, shots):
    browser.screen(1400, 900)
    page = Page(browser, path)
    check(browser.evaluate(DRAWN) > 100, "frames are drawn")
    check_search(page, browser)
    check_zoom(page, browser)
    check_keys(page, browser)
    check_names(page, browser)
    page.open(path, "#search=OrderBook")
    check("matched" in browser.evaluate(MATCHED), "a link can hold a search")
    for name, size in (("wide", (1400, 900)), ("narrow", (400, 800))):
        for dark in (False, True):
            browser.screen(*size, dark=dark, ratio=2 if size[0] < 600 else 1, touch=size[0] < 600)
            page.open(path)
            page.settle()
            check(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name}: nothing sticks out")
            check(browser.evaluate("document.querySelector('canvas').width") ==
                  browser.evaluate("Math.round(document.getElementById('graph').clientWidth * devicePixelRatio)"),
                  f"{name}: the canvas has the screen's own pixels")
            if shots:
                browser.screenshot(os.path.join(shots, f"{name}-{'dark' if dark else 'light'}.png"))


def main():
    empty, small, large = pages = sys.argv[1:4]
    shots = sys.argv[4] if len(sys.argv) > 4 else None
    with Browser() as browser:
        browser.screen(1400, 900)
        Page(browser, empty)
        check("0 samples taken" in browser.evaluate("document.body.innerText"), "a page without samples says so")
        check_small(small, browser, shots)
        browser.screen(1400, 900)
        page = Page(browser, large)
        check(browser.evaluate("Number(document.documentElement.dataset.ready)") == len(page.tree) >= 50000,
              "a large page shows all its nodes")
        check(100 < browser.evaluate(DRAWN) < 20000, "and draws those that can be seen")
        check_search(page, browser)
        check_zoom(page, browser)
        own = ["about:blank"] + ["file://" + os.path.abspath(page) for page in pages]
        outside = [url for url in browser.requests if url.split("#")[0] not in own]
        check(not outside, f"the page asks for nothing: {outside}")
        check(not browser.problems, f"no complaint of the browser: {browser.problems}")
    print("page: ok")


if __name__ == "__main__":
    main()
