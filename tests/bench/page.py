# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The flame graph page in headless Chromium: first paint, and frames during interaction."""

import os
import subprocess
import sys

import measure

sys.path.insert(0, os.path.join(measure.ROOT, "tests/ui"))

from browser import Browser, installed_browser  # noqa: E402

ROUNDS = 5
# The size is given in nodes of the profile; inlined frames make more nodes on the page.
SIZES = {"100,000": 65_000, "1,000,000": 656_000}

# Seconds between frames while an action is performed before each frame.
FRAMES = """new Promise(done => {
    const canvas = document.querySelector('canvas'), gaps = [];
    let left = 90, before = 0;
    const step = now => {
        if (before)
            gaps.push((now - before) / 1000);
        before = now;
        canvas.dispatchEvent(new WheelEvent('wheel', {clientX: 600, clientY: 500, cancelable: true, %s}));
        left-- ? requestAnimationFrame(step) : done(gaps);
    };
    requestAnimationFrame(step);
})"""
ZOOM, PAN = "ctrlKey: true, deltaY: left > 45 ? -16 : 16", "deltaX: left > 45 ? 12 : -12"

# Seconds until a file is saved, those of them in which the page does nothing else, and its size.
SAVE = """new Promise(done => {
    const begun = performance.now(), seconds = () => (performance.now() - begun) / 1000, make = URL.createObjectURL;
    let busy = 0, bytes = 0;
    URL.createObjectURL = file => {
        bytes = file.size;
        return make.call(URL, file);
    };
    HTMLAnchorElement.prototype.click = () => done([seconds(), busy, bytes]);
    document.getElementById('%s').click();
    busy = seconds();
})"""


def shown(browser, path):
    """Returns (seconds from the start of loading until the graph is visible, nodes)."""
    browser.open("file://" + path)
    browser.wait_for("performance.getEntriesByName('shown').length")
    return (browser.evaluate("performance.getEntriesByName('shown')[0].startTime") / 1000,
            int(browser.evaluate("document.documentElement.dataset.ready")))


def percentile(values, share):
    return sorted(values)[int(len(values) * share)]


def frames(browser, what):
    gaps = browser.evaluate(FRAMES % what)
    return 1 / (sum(gaps) / len(gaps)), percentile(gaps, .95) * 1000


def report(bench, table):
    make_page = os.path.join(bench.build, "tests/ui/make_page")
    measure.make(bench, "tests/ui/make_page")
    table.heading("The page in headless Chromium, without a GPU, 1400 x 900")
    if not installed_browser():
        table.note("there is no chromium")
        return
    for name, nodes in SIZES.items():
        path = bench.path(f"{nodes}.html")
        with open(path, "wb") as out:
            subprocess.run([make_page, "html", str(nodes)], check=True, stdout=out)
        with Browser() as browser:
            browser.screen(1400, 900)
            seconds, counts = zip(*(shown(browser, path) for _ in range(ROUNDS)))
            table.add(f"first paint, {counts[0]:,} nodes", seconds, "s", 3,
                      aim="0.3" if name == "100,000" else "3")
            table.add("  file", [os.path.getsize(path) / 1e6], "MB", 1)
            for what, wheel in (("zoom", ZOOM), ("pan", PAN)):
                if what == "pan":  # panning needs a zoomed view
                    browser.evaluate("document.querySelector('canvas').dispatchEvent(new WheelEvent("
                                     "'wheel', {clientX: 600, cancelable: true, ctrlKey: true, deltaY: -300}))")
                rates, slow = zip(*(frames(browser, wheel) for _ in range(3)))
                table.add(f"  {what}", rates, "frames/s", 1, aim="60")
                table.add("  95th percentile of its frames", slow, "ms", 1)
            for what in ("pprof", "firefox"):
                took, busy, size = zip(*(browser.evaluate(SAVE % f"save-{what}") for _ in range(3)))
                table.add(f"  save for {what}", took, "s", 2)
                table.add("  of it, without other work", busy, "s", 2)
                table.add("  file", [size[0] / 1e6], "MB", 1)
