# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The live page whose connection is cut, or silent, for more than a minute, while the profile goes
on: it says so, and catches up by itself. And the page after its recorder has ended or was killed."""
import contextlib
import glob
import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import threading
import time

import harness
import test_live
from test_live import ROOT, Browser, page_data, text

AWAY_S = 65
STATE = f"{ROOT}.dataset.live"
OUTLINE = "getComputedStyle(document.getElementById('main')).outlineStyle"
SAVES = ("save-page", "save-speedscope", "save-folded")


class Tunnel(threading.Thread):
    """Passes a browser's connections on to the page's server, as ssh does. While it is "silent", it
    passes nothing on; while it is "cut", nobody listens."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.others, self.mode = server, {}, "open"
        self.begins = {}  # of connections, up to their first delta
        self.snapshots = []  # for each connection with deltas: whether they begin with a snapshot
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.start()

    def listen(self, wanted):
        if wanted and not self.listener:
            self.listener = socket.create_server(("127.0.0.1", self.port))
        elif not wanted and self.listener:
            self.listener.close()
            self.listener = None

    def accept(self):
        browser, _ = self.listener.accept()
        server = socket.create_connection(("127.0.0.1", self.server))
        self.others.update({browser: server, server: browser})

    def drop(self, connection):
        for end in (connection, self.others.pop(connection)):
            self.others.pop(end, None)
            end.close()

    def pass_on(self, connection):
        try:
            data = connection.recv(1 << 16)
            # The server accepts its own address only.
            data = data.replace(b"127.0.0.1:%d" % self.port, b"127.0.0.1:%d" % self.server)
            self.others[connection].sendall(data)
        except OSError:
            data = b""
        self.note(connection, data)
        if not data:
            self.drop(connection)

    def note(self, connection, data):
        """Looks at the first delta of a connection."""
        begin = self.begins.get(connection, b"")
        if begin is None or len(begin) > 4096:
            return
        begin += data
        at = begin.find(b"JTLD")
        if 0 <= at <= len(begin) - 20:
            self.snapshots.append(struct.unpack_from("<I", begin, at + 16) == (0,))
            begin = None
        self.begins[connection] = begin

    def run(self):
        while self.mode != "ended":
            self.listen(self.mode != "cut")
            if self.mode == "open":
                for connection in select.select([self.listener, *self.others], [], [], 0.05)[0]:
                    if connection is self.listener:
                        self.accept()
                    elif connection in self.others:
                        self.pass_on(connection)
            else:
                for connection in list(self.others) if self.mode == "cut" else ():
                    if connection in self.others:
                        self.drop(connection)
                time.sleep(0.05)
        self.listen(False)
        for connection in self.others:
            connection.close()


@harness.slow
class Away(test_live.GraphTest, test_live.Streams):
    def open_page(self, browser, url):
        browser.screen(1280, 800)
        browser.call("Page.navigate", url=url)
        self.wait_for_refreshes(browser, 2)

    def tunnel(self):
        tunnel = Tunnel(self.port)
        self.addCleanup(tunnel.join, 10)
        self.addCleanup(setattr, tunnel, "mode", "ended")
        return tunnel, f"http://127.0.0.1:{tunnel.port}/{self.token}/"

    def said_by_page(self, browser):
        return browser.evaluate(text("live"))

    def look(self, browser):
        """Zooms, searches and chooses a process. Returns what must stay."""
        name = self.zoom_to(browser, "TRACE")
        browser.evaluate("document.getElementById('search').focus()")
        browser.type("TRACE")
        browser.evaluate("(() => { const list = document.getElementById('threads');"
                         "list.value = [...list.options].find(o => o.text.startsWith('php')).value;"
                         "list.dispatchEvent(new Event('change')); })()")
        return name, self.settled_row_of(browser, name)

    def view(self, browser):
        return browser.evaluate("[decodeURIComponent(location.hash), document.getElementById('search').value,"
                                "document.getElementById('threads').value, document.getElementById('graph').scrollTop]")

    def go_away(self, browser, tunnel, mode, first, last):
        """Returns once the tunnel has been so for a while, and the page has said so."""
        begin = time.monotonic()
        tunnel.mode = mode
        browser.wait_for(f"{STATE} === '{first}'")
        self.assertLess(time.monotonic() - begin, 30)  # 4 s, on a quiet machine
        shown, view = browser.evaluate(text("ledger")), self.view(browser)
        browser.wait_for(f"{STATE} === '{last}'")
        self.assertRegex(self.said_by_page(browser), r"lost at \d\d:\d\d:\d\d, trying again")
        self.assertEqual(browser.evaluate(OUTLINE), "dashed")
        time.sleep(max(0, begin + AWAY_S - time.monotonic()))
        self.assertEqual(browser.evaluate(STATE), last)
        self.assertEqual(browser.evaluate(text("ledger")), shown)
        self.assertEqual(self.view(browser), view)
        tunnel.mode = "open"
        browser.wait_for(f"{STATE} === 'live'")
        away = int(re.fullmatch(r"live again, after (\d+) s", self.said_by_page(browser)).group(1))
        self.assertGreaterEqual(away, AWAY_S - 2)
        self.assertEqual(browser.evaluate(OUTLINE), "none")
        browser.wait_for(f"{text('live')} === 'live'")
        return view

    def check_place(self, browser, name, y, view):
        self.assertEqual(self.row_of(browser, name), y)
        self.assertEqual(self.view(browser), view)
        # Only failed requests of the time in between.
        self.assertEqual([each for each in browser.problems if "net::ERR_" not in each], [])

    def all_processes(self, browser):
        browser.evaluate("(() => { const list = document.getElementById('threads');"
                         "list.value = ''; list.dispatchEvent(new Event('change')); })()")

    def test_cut(self):
        """Nobody listens for a minute, while another reader gets each delta."""
        live = self.start([harness.JITBPF, "live", "-F", "199", *harness.WITH_CODE, "--",
                           *harness.php("tracing", 170)])
        tunnel, url = self.tunnel()
        watching = test_live.Stream(self)
        with Browser() as browser:
            self.open_page(browser, url)
            name, y = self.look(browser)
            before = self.samples(browser)
            view = self.go_away(browser, tunnel, "cut", "lost", "lost")
            self.check_place(browser, name, y, view)
            self.assertGreater(self.samples(browser), before + 199 * AWAY_S / 4)
            self.assertEqual(tunnel.snapshots, [True, True])
            self.all_processes(browser)
            said = self.stop(live)
            browser.wait_for(f"{STATE} === 'ended'")
            self.wait_for_end(browser, said)
            self.assertFalse(watching.broken)
            self.assertEqual(watching.snapshots, 1)

    def test_silent(self):
        """Nothing is passed on for a minute, while recordings are rotated."""
        path = os.path.join(self.folder, "out.jitbpf")
        live = self.start([harness.JITBPF, "record", "--live", "-F", "199", "--rotate", "20", "-o", path,
                           *harness.WITH_CODE, "--", *harness.php("tracing", 170)])
        tunnel, url = self.tunnel()
        with Browser() as browser:
            self.open_page(browser, url)
            name, y = self.look(browser)
            self.go_away(browser, tunnel, "silent", "late", "lost")
            self.settled_row_of(browser, name)
            self.assertEqual(self.row_of(browser, name), y)
            self.all_processes(browser)
            self.stop(live)
            browser.wait_for(f"{STATE} === 'ended'")
            last = sorted(glob.glob(path.replace(".jitbpf", ".*.jitbpf")))[-1]
            done = subprocess.run([harness.JITBPF, "report", "--json", last], capture_output=True, check=True)
            samples = json.loads(done.stdout)["samples"]
            browser.wait_for(f"{text('ledger')}.startsWith('{samples['taken']:,} samples taken')")
            self.assertEqual(page_data.PageData(browser.saved("save-page")).total, samples["taken"] - samples["lost"])
            self.assertGreater(len(glob.glob(path.replace(".jitbpf", ".*.jitbpf"))), 3)


class Ended(test_live.GraphTest):
    def check_saves(self, browser, samples):
        """All that can be saved has all samples."""
        page, speedscope, folded = (browser.saved(identity) for identity in SAVES)
        self.assertEqual(page_data.PageData(page).total, samples)
        with open(speedscope, encoding="utf-8") as file:
            self.assertEqual(sum(json.load(file)["profiles"][0]["weights"]), samples)
        with open(folded, encoding="utf-8") as file:
            self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in file), samples)

    def delivered(self, browser):
        return self.samples_of(self.total(browser))

    def test_killed(self):
        """The recorder is killed, and another one begins at the same port: the page says so, asks no
        more, and keeps what it has. So does the page of the other one, which ends."""
        hot = [harness.ENGINE, "hot", "--seconds", "60", "--name", "hot"]
        live = self.start([harness.JITBPF, "live", "-F", "499", "--", *hot])
        before, begun = self.url, list(test_live.children(live.pid))
        with Browser() as browser, Browser() as other:
            for one in (browser, other):
                one.screen(1280, 800)
            browser.call("Page.navigate", url=self.url)
            self.wait_for_refreshes(browser, 3)
            live.kill()
            live.wait()
            browser.wait_for(f"{STATE} === 'lost'")
            self.assertRegex(browser.evaluate(text("live")), "lost at .*, trying again")
            browser.wait_for(f"{ROOT}.dataset.due === 'false'")  # what came last is shown a little later
            samples = self.delivered(browser)
            for pid in begun:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            os.unlink(os.path.join(self.folder, "messages"))
            live = self.start([harness.JITBPF, "live", "-F", "499", "--port", str(self.port), "--", *hot])
            self.assertNotEqual(self.url, before)
            browser.wait_for(f"{STATE} === 'gone'")
            self.assertRegex(browser.evaluate(text("live")), r"the run is gone, since \d\d:\d\d:\d\d")
            asked = len(browser.requests)
            other.call("Page.navigate", url=self.url)
            self.wait_for_refreshes(other, 3)
            self.assertEqual(self.delivered(browser), samples)
            self.check_saves(browser, samples)
            self.assertEqual([url for url in browser.requests[asked:] if not url.startswith("blob:")], [])
            said = self.stop(live)
            other.wait_for(f"{STATE} === 'ended'")
            self.wait_for_end(other, said)
            self.assertEqual(other.evaluate(text("live")), "the run has ended")
            self.check_saves(other, self.delivered(other))
            for one in (browser, other):
                self.assertIsNone(one.evaluate(f"{ROOT}.dataset.error"))
