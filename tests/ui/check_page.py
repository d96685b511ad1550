#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Opens flame graph pages in a real browser and uses them like a user:
check_page.py EMPTY.html SMALL.html LARGE.html [FOLDER for screenshots]
"""
import json
import os
import re
import sys
import urllib.parse

from browser import Browser
from page_data import PageData, visible

DRAWN = "Number(document.documentElement.dataset.drawn)"
TIP = "document.getElementById('tip')"
CANVAS = ("(() => { const b = document.querySelector('canvas').getBoundingClientRect();"
          "return [b.left, b.top, b.width, b.height]; })()")
TABLE = "[...document.querySelectorAll('#table tbody tr')].map(r => [...r.children].map(c => c.textContent))"
ROW = 19


def check(condition, what):
    if not condition:
        sys.exit("check_page: not so: " + what)


def text(identity):
    return f"document.getElementById('{identity}').textContent"


class Page:
    def __init__(self, browser, path, **options):
        self.browser, self.path, self.data = browser, path, PageData(path, **options)
        self.open()

    def open(self, fragment=""):
        self.browser.open("file://" + os.path.abspath(self.path) + fragment)
        self.browser.wait_for("document.documentElement.dataset.ready")
        self.settle()

    def settle(self):
        """Waits until the page has drawn nothing for six frames."""
        self.browser.evaluate("""new Promise(done => {
            let quiet = 0;
            const drawn = new MutationObserver(() => { quiet = 0; });
            drawn.observe(document.documentElement, {attributeFilter: ['data-drawn']});
            const frame = () => {
                if (quiet++ < 6)
                    return requestAnimationFrame(frame);
                drawn.disconnect();
                done();
            };
            requestAnimationFrame(frame);
        })""")

    def say(self, expression):
        return self.browser.evaluate(expression)

    def detail(self):
        return self.say(text("detail"))

    def press(self, *keys):
        for key in keys:
            self.browser.key(key)
        self.settle()

    def click(self, identity):
        self.say(f"document.getElementById('{identity}').click()")
        self.settle()

    def point(self, depth, left, width):
        """Returns the position of a node in the unzoomed view."""
        x, y, wide, _ = self.say(CANVAS)
        return x + (left + width / 2) / self.data.total * wide, y + (depth + .5) * ROW

    def point_of(self, node):
        return self.point(node.depth, node.left, node.total)

    def can_reset(self):
        return not self.say("document.getElementById('reset').disabled")

    def some_node(self):
        """Returns a node that is large enough for a mouse."""
        whole = self.data.total
        return next(n for n in self.data.nodes if n.depth > 4 and whole * .02 < n.total < whole * .5 and
                    len(n.source) > len("src/app/Main.java:9999"))


def check_ledger(page):
    samples = page.data.runs[0]["samples"]
    check(page.data.total == samples["taken"] - samples["lost"], "the graph has all samples that were delivered")
    check(f"{samples['taken']:,} samples taken" in page.say(text("ledger")), "the ledger is shown")
    share = 100 * samples["named"] / page.data.total
    check(f"{share:.1f} % named" in page.say(text("ledger")) and 50 < share < 99, f"{share:.1f} % have names: {page.say(text('ledger'))}")
    check("unknown kind" in page.say(text("legend")) and "named" not in page.say(text("legend")),
          f"the share that has no kind is not called as the one without names: {page.say(text('legend'))}")
    page.say("document.querySelector('details').open = true")
    page.settle()
    check("jitbpf env" in page.say(text("ledger")), "the ledger says what helps")
    cut = page.say("[...document.querySelectorAll('.tables .advice, .tables td:nth-child(3):last-child')].filter(c => c.scrollWidth > c.clientWidth).length")
    check(not cut, f"{cut} advices are cut off")
    said = page.say("[...document.querySelectorAll('.tables tbody:has(.advice)')].map(b => [b.rows[0].textContent, b.rows.length])")
    check(said and len({advice for advice, _ in said}) == len(said) and max(rows for _, rows in said) > 2,
          f"rows with the same advice are below one line with it: {said}")
    page.say("document.querySelector('details').open = false")
    page.settle()
    page.browser.mouse(*page.point_of(page.data.nodes[0]))
    check(f"{page.data.total:,} samples, 100.0 %" in page.detail(), f"the root has all of them: {page.detail()}")


def check_search(page):
    page.press("/")
    page.browser.type("OrderBook")
    page.settle()
    samples, said = page.data.matched("OrderBook"), page.say(text("matched"))
    check(f"{samples:,} samples" in said, f"search says {said!r}, there are {samples:,}")
    check(re.match(r"matched \d+\.\d+ %", said), "the search shows a share of the samples")
    check("search=OrderBook" in page.say("location.hash"), "the address keeps the search")
    page.say("document.getElementById('search').select()")
    page.browser.type("((")
    check("not a regular expression" in page.say(text("matched")), "an invalid expression is reported")
    page.press("Escape")
    check(page.say(text("matched")) == "", "Escape ends the search")
    check(page.say("document.activeElement.id") == "graph", "Escape moves the focus to the graph")


def check_fills(page, node):
    """A zoomed node is as wide as the page."""
    left, top, width, _ = page.say(CANVAS)
    for across in (left + 3, left + width - 3):
        page.browser.mouse(across, top + (node.depth + .5) * ROW)
        check(page.detail().startswith(node.name), "it is zoomed to " + node.name)


def check_zoom(page):
    node = page.some_node()
    x, y = page.point_of(node)
    page.browser.mouse(x, y)
    tip = page.say(TIP + ".textContent")
    check(tip.startswith(node.name) and f"{node.total:,} sample" in tip and f"self {node.self:,}" in tip,
          f"the tip names {node.name!r}: {tip!r}")
    check("src/app/Main.java:" in node.source and node.source in tip and "JIT" in tip, f"the tip has the source line and the kind: {tip!r}")
    page.browser.mouse(x, y, click=True)
    page.settle()
    check_fills(page, node)
    check("100.0 % of what is in view" in page.detail(), f"a share of what is in view: {page.detail()!r}")
    page.browser.mouse(*page.point_of(page.data.nodes[0]))
    check(page.detail().startswith("all") and "in view" not in page.detail(), f"a caller is not in view as a whole: {page.detail()!r}")
    check(page.can_reset(), "the zoom can be reset")
    fragment = page.say("location.hash")
    page.open(fragment)
    check_fills(page, node)
    page.click("reset")
    page.browser.mouse(x, y)
    check(page.detail().startswith(node.name) and not page.can_reset(), "reset shows everything again")
    page.say("history.back()")
    page.settle()
    check_fills(page, node)
    page.press("Escape")
    check(page.say("location.hash") == "", "the address has no zoom after going back")
    page.browser.mouse(1, 1)


def check_moving(page):
    """Wheel and drag move the view without zooming into a frame."""
    left, top, width, _ = page.say(CANVAS)
    node = page.data.nodes[0]
    page.browser.wheel(left + width / 2, top + 60, dy=-300, ctrl=True)
    check(page.can_reset(), "Ctrl and the wheel zoom")
    first = [n for n in node.children if n.total][0]
    page.browser.mouse(left + 2, top + 1.5 * ROW)
    check(page.detail().startswith(first.name), "the zoomed view shows the middle")
    page.browser.drag(left + 300, top + 60, -700, 0)
    page.browser.drag(left + 900, top + 60, -700, 0)
    page.browser.mouse(left + width - 3, top + 1.5 * ROW)
    last = [n for n in node.children if n.total][-1]
    check(page.detail().startswith(last.name) or page.detail() == "", f"dragging moves the view: {page.detail()!r}")
    check(page.say("location.hash") == "", "a drag is not a click")
    page.press("Escape")
    check(not page.can_reset(), "Escape shows everything again")


def check_keys(page):
    page.say("document.getElementById('graph').focus()")
    names = []
    for key in ["Escape"] + ["ArrowUp"] * 6 + ["ArrowDown", "ArrowLeft", "ArrowRight"]:
        page.browser.key(key)
        names.append(page.detail().split(" · ")[0])
    processes = [n for n in page.data.nodes[0].children if n.total]
    biggest = max(processes, key=lambda n: n.total)
    check(names[6] == "all", f"up leads to the root: {names}")
    check(names[7] == biggest.name, f"down leads to the widest: {names}")
    check(names[9] in [n.name for n in processes] and page.say(text("status")).startswith(names[9]),
          f"right leads to the neighbour, which is announced: {names}")
    page.press("Enter")
    check(page.can_reset() and "zoom=" in page.say("location.hash"), "Enter zooms")
    page.press("ArrowDown", "Enter", "Backspace")
    check(page.can_reset(), "Backspace goes back one step")
    page.press("Backspace")
    check(not page.can_reset(), "Backspace goes back a second step")
    page.press("+")
    check(page.can_reset(), "+ zooms in")
    page.press("-", "-")
    check(not page.can_reset(), "- zooms out")
    page.press("?")
    check(page.say("document.getElementById('help').open"), "? lists the keys")
    for size in ((1280, 800), (400, 700)):
        page.browser.screen(*size)
        page.press("Escape", "?")
        check(page.say("document.getElementById('help').scrollTop") == 0, f"{size}: the help begins with its begin")
        fits = page.say("(box => box.scrollHeight <= box.clientHeight)(document.getElementById('help'))")
        check(fits or size[0] == 400, f"{size}: the help fits the screen")
    page.browser.screen(1400, 900)
    page.press("t")
    check(not page.say("location.hash.includes('table')"), "keys in the help dialog do not affect the page")
    page.press("Escape")
    check(not page.say("document.getElementById('help').open"), "Escape closes the help dialog")


def check_description(page):
    """A description that is cut is whole once its line is clicked, tapped or reached by Tab. It moves nothing."""
    box = "document.getElementById('detail')"
    cut = f"(d => Math.max(d.scrollWidth - d.clientWidth, d.scrollHeight - d.clientHeight))({box})"
    for size, reach in (((640, 800), page.browser.tap), ((1024, 700), lambda x, y: page.browser.mouse(x, y, click=True)),
                        ((1024, 700), lambda *_: page.say(box + ".focus()")), ((400, 700), None)):
        page.browser.screen(*size, touch=reach == page.browser.tap)
        page.open()
        page.say("document.getElementById('graph').focus()")
        page.press("Home", *["ArrowDown"] * 9)
        if not reach:
            check(page.say(cut) <= 0, f"{size}: no description is cut: {page.detail()!r}")
            continue
        said, canvas = page.detail(), page.say(CANVAS)
        check(page.say(cut) > 0, f"{size}: a long description is cut: {said!r}")
        left, top, right, bottom = page.say(f"(r => [r.left, r.top, r.right, r.bottom])({box}.getBoundingClientRect())")
        reach(left + 9, bottom - 9)
        page.browser.wait_for("document.activeElement.id === 'detail'")
        page.settle()
        check(page.detail() == said and page.say(cut) <= 0, f"{size}: it is whole: {page.detail()!r}")
        now = page.say(f"(r => [r.left, r.top, r.right, r.bottom])({box}.getBoundingClientRect())")
        check(now[1] < top and now[::2] == [left, right] and now[3] == bottom, f"{size}: it grows upwards: {now}")
        check(page.say(CANVAS) == canvas, f"{size}: it does not move the graph")
        page.say("document.getElementById('graph').focus()")
        check(page.say(cut) > 0, f"{size}: it is a line again")
    page.browser.screen(1400, 900)
    page.open()


def check_flipped(page):
    page.press("f")
    for size in ((1400, 900), (1400, 700), (1400, 900)):
        page.browser.screen(*size)
        page.settle()
        left, top, width, height = page.say(CANVAS)
        page.browser.mouse(left + width / 2, top + height - ROW / 2)
        check(page.detail().startswith("all"), f"the root is at the bottom at {size}: {page.detail()!r}")
    page.browser.mouse(1, 1)
    page.press("f")
    check("flipped" not in page.say("location.hash"), "the root is at the top again")


def check_callers(page):
    data = page.data
    expected = data.callers()
    page.press("i")
    top = sorted((label for label, *more in expected if not more), key=lambda label: (-expected[label,], label))
    left = 0
    for label in top[:3]:
        page.browser.mouse(*page.point(1, left, expected[label,]))
        said = page.detail()
        check(said.startswith(visible(data.names[label])) and f"{expected[label,]:,} sample" in said,
              f"leaves come first: {data.names[label]} {expected[label,]}: {said!r}")
        pairs = sorted((pair for pair in expected if len(pair) == 2 and pair[0] == label),
                       key=lambda pair: (-expected[pair], pair))
        if expected[pairs[0]] > data.total / 400:
            page.browser.mouse(*page.point(2, left, expected[pairs[0]]))
            said = page.detail()
            check(said.startswith(visible(data.names[pairs[0][1]])) and f"{expected[pairs[0]]:,} sample" in said,
                  f"callers follow their leaves: {said!r}")
        left += expected[label,]
    page.browser.mouse(*page.point(1, 0, expected[top[0],]), click=True)
    page.settle()
    fragment = page.say("location.hash")
    check("callers" in fragment and "zoom=" in fragment, "the address keeps view and zoom")
    page.press("i")
    page.browser.mouse(1, 1)
    check(page.detail() == "", f"another view describes no frame of the one before: {page.detail()!r}")
    page.open(fragment)
    x, y, wide, _ = page.say(CANVAS)
    page.browser.mouse(x + wide - 3, y + 1.5 * ROW)
    check(page.detail().startswith(visible(data.names[top[0]])), "a link restores view and zoom")
    # A stack with few samples, from its leaf up: far narrower than what is expanded by default.
    node = min((n for n in data.nodes if n.self and n.depth > 9 and n.path[1] is data.nodes[1]), key=lambda n: n.self)
    page.open("#callers=1&zoom=" + ".".join(str(n.label) for n in reversed(node.path[1:])))
    page.say("document.getElementById('graph').focus()")
    page.press("Home")
    check(page.say(text("status")).startswith(f"{visible(data.nodes[1].name)}, process, {node.self:,} sample"),
          f"a link can zoom to a leaf: {page.say(text('status'))!r}")
    page.open()


def choose(page, key):
    page.say(f"(() => {{ const s = document.getElementById('threads'); s.value = '{key}';"
             "s.dispatchEvent(new Event('change')); })()")
    page.settle()


def check_threads(page):
    data = page.data
    options = page.say("[...document.getElementById('threads').options].map(o => o.value)")
    pids = {thread.split(".")[0] for thread in data.threads}
    names = [option for option in options if option.startswith("=")]
    options = [option for option in options if option not in names]
    check(set(options) >= pids | {""}, f"all processes can be selected: {options}")
    check(set(options) - pids - {""} <= set(data.threads) and len(options) > len(pids) + 3, "their threads can be selected")
    busiest = max(data.by_thread, key=data.by_thread.get)
    for key in (busiest, busiest.split(".")[0]):
        wanted = {t for t in data.threads if t == key or t.split(".")[0] == key}
        only = PageData(page.path, threads=wanted)
        page.open()
        choose(page, key)
        page.browser.mouse(*page.point_of(data.nodes[0]))
        check(f"{only.total:,} samples, 100.0 %" in page.detail(), f"{key} has {only.total}: {page.detail()!r}")
        page.open(page.say("location.hash") + "&search=HashMap")
        check(f"{only.matched('HashMap'):,} samples" in page.say(text("matched")), "a search counts samples of the selected threads only")
        page.open(f"#threads={key}&table=1")
        check_table_rows(page, only)
    page.open()


def check_table_rows(page, data, under=None):
    rows = page.say(TABLE)
    wanted = data.functions(under)
    top = sorted(wanted, key=lambda label: (-wanted[label][0], label))[:len(rows)]
    for row, label in zip(rows, top):
        own, total = wanted[label]
        check([row[1], row[3]] == [f"{own:,}", f"{total:,}"], f"the table has {row}, there are {own} and {total}")
    check(len(rows) == min(200, len(wanted)), "the table has a row per function, at most 200")
    whole = under.total if under else data.total
    check(f"{len(wanted):,} functions, of {whole:,} samples" in page.say("document.querySelector('caption').textContent"),
          "the caption has the numbers of functions and samples")


def check_table(page):
    page.press("t")
    check(page.say("document.getElementById('graph').hidden"), "the table replaces the graph")
    check(page.say("document.activeElement.id") == "table", "the table has the focus")
    check_table_rows(page, page.data)
    check(page.say("document.querySelectorAll('#table th[scope=col]').length") == 8 and
          page.say("document.querySelectorAll('#table tbody th[scope=row]').length") == 200, "the table has column and row headings")
    tree = page.browser.call("Accessibility.getFullAXTree")["nodes"]
    roles = [(node["role"]["value"], node.get("name", {}).get("value")) for node in tree if not node["ignored"]]
    check(("columnheader", "Self ▾") in roles and ("rowheader", "line\\u{a}break") in roles and
          any(role == "table" and "functions, of" in name for role, name in roles), "the accessibility tree has the table")
    check(page.say("document.querySelector('[aria-sort]').textContent").startswith("Self"), "the table is sorted by self samples")
    radius = page.say("getComputedStyle(document.querySelector('#table tbody button')).borderBottomLeftRadius")
    check(radius == "0px", f"no round corner cuts off the underscore that a name begins with: {radius}")
    page.say("document.querySelectorAll('#table thead button')[3].click()")
    totals = [int(row[3].replace(",", "")) for row in page.say(TABLE)]
    check(totals == sorted(totals, reverse=True) and totals[0] > 0, "a click on a heading sorts")
    page.say("document.querySelectorAll('#table thead button')[3].click()")
    check(page.say("document.querySelector('th[aria-sort]').ariaSort") == "ascending", "a second click reverses the order")
    totals = [int(row[3].replace(",", "")) for row in page.say(TABLE)]
    check(totals == sorted(totals), "the rows are in ascending order")
    page.say("document.querySelector('#table .more').click()")
    check(page.say(TABLE + ".length") == 400, "a button adds rows")
    check(page.say("document.activeElement.closest('tbody') !== null"), "the focus moves to the added rows")
    name = page.say("document.querySelector('#table tbody button').textContent")
    page.say("document.querySelector('#table tbody button').click()")
    page.settle()
    check(not page.say("document.getElementById('graph').hidden"), "a click on a function shows the graph")
    check(f"{page.data.matched('^' + re.escape(name) + '$'):,} sample" in page.say(text("matched")), "the function is highlighted in the graph")
    node = page.some_node()
    page.open("#table=1&zoom=" + ".".join(str(n.label) for n in node.path[1:]))
    check_table_rows(page, page.data, node)
    page.open("#table=1&search=HashMap")
    rows = page.say(TABLE)
    check(rows and all("hashmap" in row[0].lower() for row in rows), "a search leaves the matching functions")
    page.open()


def root_of(page, identity="graph"):
    """Returns the description of the root, which is at the bottom of a flipped graph."""
    x, y, width, height = page.say(CANVAS.replace("'canvas'", f"'#{identity} canvas'"))
    page.browser.mouse(x + width / 2, y + (height - ROW / 2 if identity == "graph" else ROW / 2))
    return page.detail()


def named_once(page):
    """Returns a node whose function has one label: it is not inlined elsewhere."""
    data = page.data
    return next(n for n in data.nodes if n.depth > 3 and data.total * .02 < n.total < data.total * .5 and data.names.count(n.name) == 1)


def check_sandwich(page):
    node = named_once(page)
    whole = page.data.functions()[page.data.function_of[node.label]][1]
    page.browser.mouse(*page.point_of(node))
    page.press("s")
    for _ in range(2):  # the second time, from the address
        for pane in ("graph", "callees"):
            said = root_of(page, pane)
            check(said.startswith(node.name) and f"{whole:,} samples, 100.0 %" in said, f"{pane} is of {node.name}: {said!r}")
        check(node.name in page.say(text("chips")), "the sandwich is named above")
        page.open(page.say("location.hash"))
    page.say("document.getElementById('callees').focus()")
    page.press("ArrowDown", "ArrowDown")
    callee = page.detail().split(" · ")[0]
    check(callee != node.name and page.say(text("status")).startswith(callee), f"keys move among the callees: {callee!r}")
    page.press("Enter")
    check(page.say(text("chips")).startswith("Sandwich of") and node.name not in page.say(text("chips")), "Enter goes to a callee")
    page.say("history.back()")
    page.settle()
    x, y, width, height = page.say(CANVAS)
    page.browser.mouse(x + width / 2, y + height - 1.5 * ROW, click=True)
    page.settle()
    caller = page.say(text("chips"))
    check(caller.startswith("Sandwich of") and node.name not in caller, f"a click on a caller goes to it: {caller!r}")
    page.press("Escape")
    check(page.say("location.hash") == "" and page.say("document.getElementById('callees').hidden"), "Escape ends it")


def check_exact(page):
    """Functions, with all their code; code instead of functions; and back."""
    exact, data = PageData(page.path, merged=False), page.data
    node = next(n for n in data.nodes if len({e.name for e in exact.nodes if exact.function_of[e.label] == n.label}) > 1)
    code = [n for n in exact.nodes if exact.function_of[n.label] == node.label]
    check(len(exact.nodes) > len(data.nodes) and node.total == sum(n.total for n in code), "the graph merges")
    page.browser.mouse(*page.point_of(node))
    check(page.detail().startswith(f"{node.name} · JIT") and f"{node.total:,} samples" in page.detail(),
          f"all code of a function is one frame: {page.detail()!r}")
    check(" · trace · " in page.detail(), f"its tier is shown: {page.detail()!r}")
    page.press("e")
    check(page.say("location.hash") == "#exact=1", "the address has it")
    check(page.say("document.getElementById('exact').ariaPressed") == "true", "the switch is on")
    for _ in range(2):  # the second time, from the address
        for one in code:
            page.browser.mouse(*page.point_of(one))
            check(page.detail().startswith(f"{one.name} · JIT") and f"{one.total:,} sample" in page.detail() and " · trace · " in page.detail(),
                  f"code has frames of its own: {page.detail()!r}")
        page.open(page.say("location.hash"))
    page.press("e")
    check(page.say("location.hash") == "", "functions again")
    page.browser.mouse(*page.point_of(node))
    check(page.detail().startswith(f"{node.name} · JIT"), f"its function is one frame again: {page.detail()!r}")
    page.press("t")
    row = next(row for row in page.say(TABLE) if row[0] == node.name)
    check("trace" in row, f"the table has the tier: {row}")
    page.open()


def check_filters(page):
    data, node = page.data, named_once(page)
    exact = "^" + re.escape(node.name) + "$"
    page.browser.mouse(*page.point_of(node))
    page.press("h")
    fragment = page.say("location.hash")
    page.open(fragment + "&search=" + urllib.parse.quote(exact))
    check(page.say(text("matched")) == "matched 0.0 %, 0 samples", f"a function is left out: {page.say(text('matched'))!r}")
    page.browser.mouse(*page.point_of(data.nodes[0]))
    check(f"{data.total:,} samples" in page.detail(), "all samples are there without it")
    page.say("document.querySelector('#chips button').click()")
    page.settle()
    check(f"{data.matched(exact):,} sample" in page.say(text("matched")), "a click on its name brings it back")
    page.open()
    page.browser.mouse(*page.point_of(node))
    page.press("m")
    check(page.say("document.activeElement.role") == "menuitem", "a menu opens")
    page.press("ArrowDown", "ArrowDown", "Enter")
    said = root_of_whole(page)
    whole = data.functions()[data.function_of[node.label]][1]
    check(f"{whole:,} samples, 100.0 %" in said, f"only stacks with {node.name}: {said!r}")
    page.open()
    page.press("k", "c")
    check("nokernel" in page.say("location.hash") and "modules" in page.say("location.hash"), "the address has them")
    said = page.say(text("legend"))
    check("kallsyms" not in said and "engine.so" in said, f"colours are of modules: {said!r}")
    page.press("c")
    check("kernel 0.0 %" in page.say(text("legend")), "frames of the kernel are left out")
    page.open()


def root_of_whole(page):
    page.browser.mouse(*page.point_of(page.data.nodes[0]))
    return page.detail()


def check_saved(page):
    """Files that the page makes: all of it, or what is shown."""
    data = page.data
    saved = Page(page.browser, page.browser.saved("save-page"))
    check(saved.data.total == data.total and saved.data.by_thread == data.by_thread, "a saved page has all samples")
    check(saved.data.functions().keys() and sorted(map(tuple, saved.data.functions().values())) ==
          sorted(map(tuple, data.functions().values())), "a saved page has all functions")
    said = root_of_whole(saved)
    check(f"{data.total:,} samples, 100.0 %" in said, f"a saved page is shown: {said!r}")
    check("connect-src 'none'" in open(saved.path, encoding="utf-8").read(), "a saved page connects to nothing")
    node = named_once(page)
    page.open()
    page.browser.mouse(*page.point_of(node))
    page.press("o")
    whole = data.functions()[data.function_of[node.label]][1]
    with open(page.browser.saved("save-folded"), encoding="utf-8") as file:
        stacks = [line.rsplit(" ", 1) for line in file.read().splitlines()]
    check(sum(int(count) for _, count in stacks) == whole and all(node.name in stack for stack, _ in stacks),
          "folded stacks are those that are shown")
    with open(page.browser.saved("save-speedscope"), encoding="utf-8") as file:
        scope = json.load(file)
    check(sum(scope["profiles"][0]["weights"]) == scope["profiles"][0]["endValue"] == whole and
          len(scope["profiles"][0]["samples"]) == len(stacks), "speedscope has the samples that are shown")
    page.open()


def check_names(page):
    check(page.say("document.images.length") == 0, "no name has become an element")
    check("owned" not in page.say("document.title"), "no name has run as script")
    check("</title><img src=x" in page.say("document.title"), "the command is shown unchanged")
    page.say("document.querySelector('details').open = true")
    for fragment in ("", "#table=1"):
        page.open(fragment)
        page.say("document.querySelector('details').open = true")
        check("\u202e" not in page.say("document.body.innerText"), "no name changes the direction of text")
        check("</script><script>alert(1)</script>" in page.say("document.body.innerText"), "names are shown unchanged")
        check(page.say("document.images.length") == 0, "no name has become an element")
    page.open()
    node = next(n for n in page.data.nodes if len(n.name) == 100000)
    page.browser.mouse(*page.point_of(node))
    check("xxx… (100,000 characters)" in page.detail() and len(page.detail()) < 5000, "a very long name is cut, and its length is shown")
    node = next(n for n in page.data.nodes if n.depth == 2 and "<img src=x" in n.name)
    page.browser.mouse(*page.point_of(node))
    check(node.name in page.say(TIP + ".textContent"), "the tip shows the name unchanged")
    check(page.say(TIP + ".querySelector('img')") is None, "the tip contains text only")


def check_layout(page, shots):
    browser = page.browser
    for name, size in (("wide", (1400, 900)), ("narrow", (400, 800))):
        for dark in (False, True):
            for view in ("", "#table=1", "#callers=1"):
                browser.screen(*size, dark=dark, ratio=2 if size[0] < 600 else 1, touch=size[0] < 600)
                page.open(view)
                check(page.say("document.documentElement.scrollWidth <= innerWidth"), f"{name} {view}: the page needs no horizontal scrolling")
                check(view == "#table=1" or page.say("document.querySelector('canvas').width") ==
                      page.say("Math.round(document.getElementById('graph').clientWidth * devicePixelRatio)"),
                      f"{name}: the canvas has the screen's own pixels")
                if shots:
                    browser.screenshot(os.path.join(
                        shots, f"{name}-{'dark' if dark else 'light'}{view.strip('#=1') and '-'}{view.strip('#=1')}.png"))
    browser.screen(1400, 900)
    page.open()


def check_rooms(page):
    """What is always in sight, on screens of three widths."""
    for size, top in (((1280, 800), 120), ((640, 800), 200), ((400, 700), 200)):
        page.browser.screen(*size)
        page.open("#table=1")
        wide = page.say("document.querySelector('#table tbody .name').getBoundingClientRect().width")
        check(wide >= 150, f"{size}: names in the table have {wide} pixels")
        page.open()
        check(page.say(CANVAS)[1] < top, f"{size}: the graph begins at {page.say(CANVAS)[1]}")
        page.open("#search=OrderBook")
        check(page.say(CANVAS)[1] < top, f"{size}: beside a search, the graph begins at {page.say(CANVAS)[1]}")
        page.open()
        hidden = page.say("(() => { const box = document.querySelector('.fates'), end = box.getBoundingClientRect().bottom + 1;"
                          "return [...box.children].slice(0, 6).filter(c => c.getBoundingClientRect().bottom > end).length; })()")
        check(not hidden, f"{size}: the ledger's line lacks {hidden} of its parts")
        page.say("document.querySelector('.drop').open = true")
        box = page.say("(() => { const b = document.querySelector('.drop > div').getBoundingClientRect();"
                       "return [b.left, b.right, innerWidth]; })()")
        check(0 <= box[0] < box[1] <= box[2], f"{size}: the menu has its place: {box}")
    page.browser.screen(1400, 900)
    page.open()


def check_small(page, shots):
    check(page.say(DRAWN) > 100, "frames are drawn")
    for one in (check_ledger, check_search, check_zoom, check_moving, check_keys, check_description, check_flipped, check_callers,
                check_threads, check_table, check_sandwich, check_filters, check_saved, check_names):
        one(page)
    page.open("#search=OrderBook")
    check("matched" in page.say(text("matched")), "a link can hold a search")
    page.open("#zoom=9.9.x.1e9&threads=no&search=%E0%A4%A")
    check(page.say(DRAWN) >= 0 and not page.say("document.documentElement.dataset.error"), "an invalid link causes no error")
    page.browser.mouse(*page.point_of(page.data.nodes[0]))
    check(f"{page.data.total:,} samples" in page.detail(), "an unknown thread selects all")
    page.open()
    check_rooms(page)
    check_layout(page, shots)


def main():
    empty, small, large, functions = paths = sys.argv[1:5]
    shots = sys.argv[5] if len(sys.argv) > 5 else None
    with Browser() as browser:
        browser.screen(1400, 900)
        check_exact(Page(browser, functions))
        page = Page(browser, empty)
        check("0 samples taken" in page.say("document.body.innerText"), "a page without samples says so")
        page.press("i", "t")
        check("0 functions" in page.say(text("table")), "all views of an empty page work")
        check_small(Page(browser, small), shots)
        page = Page(browser, large)
        check(page.say("Number(document.documentElement.dataset.ready)") == len(page.data.nodes) >= 50000,
              "a large page shows all its nodes")
        check(100 < page.say(DRAWN) < 20000, "a large page draws visible nodes only")
        check_search(page)
        check_zoom(page)
        check_callers(page)
        own = ["about:blank"] + ["file://" + os.path.abspath(path) for path in paths]
        outside = [url for url in browser.requests if url.split("#")[0] not in own and
                   not url.startswith(("file://" + browser.profile, "blob:null/"))]
        check(not outside, f"the page requests nothing from outside: {outside}")
        check(not browser.problems, f"the browser reports no problem: {browser.problems}")
    print("page: ok")


if __name__ == "__main__":
    main()
