# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The views of a live page in headless Chromium: main thread's time for a second's delta in each of them."""

import os
import subprocess

import measure
from live_page import REFRESHED, SIZES, WATCH, Server, busy

from browser import Browser, installed_browser  # live_page has its folder

ROUNDS = 3
UP = ("ArrowUp",) * 5   # to the widest frame of a depth in the middle of stacks
# Of each view: the address, and keys on the graph.
VIEWS = {"the graph": ("", ()), "callers": ("#callers=1", ()), "a sandwich": ("", (*UP, "s")),
         "recursion folded": ("#collapse=1", ()), "without the kernel": ("#nokernel=1", ()),
         "a hidden function": ("", (*UP, "h")),
         "a range": ("#range=1-", ()), "a difference": ("#range=2-&baseline=1-2", ()),
         "a search": ("#search=find", ()), "the table": ("#table=1", ()),
         "callers of a range": ("#callers=1&range=1-", ()), "the unfolded time line": ("#unfolded=1", ())}


def measure_view(page, deltas, fragment, keys):
    """Returns ms of the main thread for each second's delta."""
    server = Server(page, deltas)
    with Browser() as browser:
        browser.screen(1400, 900)
        browser.call("Performance.enable", timeDomain="threadTicks")
        browser.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        browser.call("Page.navigate", url=f"http://127.0.0.1:{server.server_port}/{fragment}")
        browser.wait_for("window.painted")
        browser.evaluate("document.getElementById('graph').focus()")
        for key in keys:
            browser.key(key)
        took = []
        for number in range(1, len(server.deltas)):
            begin = busy(browser)[0]
            server.more.release()
            browser.evaluate(REFRESHED % (number + 1, number + 1))
            took.append((busy(browser)[0] - begin) * 1000)
    server.more.release()
    server.shutdown()
    server.server_close()
    return took


def report(bench, table):
    for program in ("make_page", "make_deltas"):
        measure.make(bench, f"tests/ui/{program}")
    table.heading("Views of the live page: main thread, for a second of 2,000 samples")
    if not installed_browser():
        table.note("there is no chromium")
        return
    run = [os.path.join(bench.build, "tests/ui", name) for name in ("make_page", "make_deltas")]
    page = subprocess.run([run[1], "page", "-"], check=True, stdout=subprocess.PIPE).stdout
    for name, nodes in SIZES.items():
        deltas = subprocess.run([run[0], "deltas", str(nodes)], check=True, stdout=subprocess.PIPE).stdout
        for view, where in VIEWS.items():
            rows = [sum(took) / len(took) for took in (measure_view(page, deltas, *where) for _ in range(ROUNDS))]
            table.add(f"{view}, {name} nodes", rows, "ms", 1, aim="50" if name == "1,000,000" else "")
