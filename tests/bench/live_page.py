# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The live page in headless Chromium: first paint, a second's delta, and steps of pan and zoom."""

import http.server
import os
import struct
import subprocess
import sys
import threading

import measure

sys.path.insert(0, os.path.join(measure.ROOT, "tests/ui"))

from browser import Browser, installed_browser  # noqa: E402

ROUNDS = 3
STEPS = 60
# The size is given in nodes of the profile; inlined frames make more nodes on the page.
SIZES = {"100,000": 65_000, "1,000,000": 656_000}
HEADER = 4 + 32

WATCH = """new MutationObserver((_, watch) => {
    if (!document.documentElement?.dataset.refreshes)
        return;
    watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => { window.painted = performance.now(); }));
}).observe(document, {attributes: true, subtree: true, attributeFilter: ['data-refreshes']})"""

STEP = """new Promise(done => {
    const canvas = document.querySelector('canvas');
    let left = %d;
    const step = () => {
        canvas.dispatchEvent(new WheelEvent('wheel', {clientX: 600, clientY: 500, cancelable: true, %s}));
        left-- ? requestAnimationFrame(step) : done();
    };
    requestAnimationFrame(step);
})"""


def versions(data):
    """Splits deltas, with their sizes, behind each one that is complete."""
    at = begin = 0
    while at < len(data):
        size, = struct.unpack_from("<I", data, at)
        complete, = struct.unpack_from("<H", data, at + 10)
        at += 4 + size
        if complete:
            yield data[begin:at]
            begin = at


class PageServer(http.server.ThreadingHTTPServer):
    """Serves a page, and the deltas that send() of a subclass writes."""

    daemon_threads = True

    def __init__(self, page):
        super().__init__(("127.0.0.1", 0), Handler)
        self.page = page
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # pylint: disable=invalid-name
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        if not self.path.endswith("deltas"):
            self.wfile.write(self.server.page)
            return
        try:
            self.server.send(self.wfile)
        except OSError:
            pass

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass


class Server(PageServer):
    """Sends the first version at once, each other one when `more` is released."""

    def __init__(self, page, deltas):
        self.deltas, self.more = list(versions(deltas)), threading.Semaphore(0)
        super().__init__(page)

    def send(self, out):
        for delta in self.deltas:
            out.write(delta)
            self.more.acquire()


def busy(browser):
    """Returns seconds of CPU time of the main thread, and of those script, style and layout."""
    metrics = {m["name"]: m["value"] for m in browser.call("Performance.getMetrics")["metrics"]}
    return metrics["TaskDuration"], sum(
        metrics[name] for name in ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration"))


# Without polling, which takes time of the main thread.
REFRESHED = """new Promise(done => {
    const root = document.documentElement, painted = () => requestAnimationFrame(() => setTimeout(done));
    if (Number(root.dataset.refreshes) >= %d)
        painted();
    new MutationObserver((_, watch) => {
        if (Number(root.dataset.refreshes) < %d)
            return;
        watch.disconnect();
        painted();
    }).observe(root, {attributes: true, attributeFilter: ['data-refreshes']});
})"""


def measure_page(page, deltas):
    server = Server(page, deltas)
    result = {}
    with Browser() as browser:
        browser.screen(1400, 900)
        browser.call("Performance.enable", timeDomain="threadTicks")
        browser.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        browser.call("Page.navigate", url=f"http://127.0.0.1:{server.server_port}/")
        browser.wait_for("window.painted")
        result["paint"] = browser.evaluate("window.painted") / 1000
        result["nodes"] = int(browser.evaluate("document.documentElement.dataset.ready"))
        begin = busy(browser)
        for number in range(1, len(server.deltas)):
            server.more.release()
            browser.evaluate(REFRESHED % (number + 1, number + 1))
        result["delta"], result["script"] = (
            (end - start) / (len(server.deltas) - 1) * 1000 for start, end in zip(begin, busy(browser)))
        for name, wheel in (("zoom", "ctrlKey: true, deltaY: left % 2 ? -60 : 50"),
                            ("pan", "deltaX: left % 20 > 9 ? 30 : -30")):
            _, begin = busy(browser)
            browser.evaluate(STEP % (STEPS, wheel))
            result[name] = (busy(browser)[1] - begin) / STEPS * 1000
    server.more.release()
    server.shutdown()
    server.server_close()
    return result


def report(bench, table):
    for program in ("make_page", "make_deltas"):
        measure.make(bench, f"tests/ui/{program}")
    table.heading("The live page in headless Chromium, without a GPU, 1400 x 900")
    if not installed_browser():
        table.note("there is no chromium")
        return
    run = [os.path.join(bench.build, "tests/ui", name) for name in ("make_page", "make_deltas")]
    page = subprocess.run([run[1], "page", "-"], check=True, stdout=subprocess.PIPE).stdout
    for name, nodes in SIZES.items():
        deltas = subprocess.run([run[0], "deltas", str(nodes)], check=True, stdout=subprocess.PIPE).stdout
        rows = [measure_page(page, deltas) for _ in range(ROUNDS)]
        table.add(f"first paint, {rows[0]['nodes']:,} nodes", [row["paint"] for row in rows], "s", 3,
                  aim="1" if name == "1,000,000" else "")
        table.add("  main thread, for a second of 2,000 samples", [row["delta"] for row in rows], "ms", 1, aim="50")
        table.add("  script and layout of that", [row["script"] for row in rows], "ms", 1)
        for what in ("zoom", "pan"):
            table.add(f"  script and layout of a step of {what}", [row[what] for row in rows], "ms", 1,
                      aim="16" if name == "100,000" else "")
