# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""jitbpf live: the page that shows the flame graph while it happens, and what its server refuses."""

import os
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import harness
import recording
from test_roles import children, status

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ui"))
import page_data  # pylint: disable=wrong-import-position,import-error
from browser import Browser  # pylint: disable=wrong-import-position,import-error

ROOT = "document.documentElement"
CANVAS = ("(() => { const b = document.querySelector('canvas').getBoundingClientRect();"
          "return [b.left, b.top, b.width, b.height]; })()")
STRIP = CANVAS.replace("canvas", "#strip")
ROW = 19


def text(identity):
    return f"document.getElementById('{identity}').textContent"


def of_first_trace(name):
    """TRACE-2$mandelbrot$11 becomes TRACE$mandelbrot$11 with a second trace from there."""
    return re.sub(r"^TRACE-\d+\$", "TRACE$", name)


class LiveTest(harness.KernelTest):
    def start(self, argv, **options):
        """Starts jitbpf, and returns it and the address of its page."""
        messages = open(os.path.join(self.folder, "messages"), "w+b")
        self.addCleanup(messages.close)
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=messages, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        address = self.wait_for(lambda: re.search(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/",
                                                  self.said()))
        self.url, self.port, self.token = address.group(), int(address.group(1)), address.group(2)
        return process

    def said(self):
        with open(os.path.join(self.folder, "messages"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def stop(self, process):
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 0, self.said())
        return self.said()

    def refreshes(self, browser):
        return browser.evaluate(f"Number({ROOT}?.dataset.refreshes ?? 0)")

    def wait_for_refreshes(self, browser, count):
        wanted = self.refreshes(browser) + count
        browser.wait_for(f"Number({ROOT}?.dataset.refreshes ?? 0) >= {wanted}")


class GraphTest(LiveTest):
    """What a person does with the graph, and sees there."""

    def samples(self, browser):
        return int(re.match(r"([\d,]+) samples? taken", browser.evaluate(
            text("ledger"))).group(1).replace(",", ""))

    def zoom_to(self, browser, wanted):
        """Goes down the widest frames to one whose name matches, zooms into it, and returns its
        name."""
        for _ in range(40):  # names may come late
            browser.evaluate("document.getElementById('reset').click()")
            browser.evaluate("document.getElementById('graph').focus()")
            browser.key("Home")
            for _ in range(100):
                browser.key("ArrowDown")
                name = browser.evaluate(text("detail")).split(" · ")[0]
                if re.match(wanted, name):
                    browser.key("Enter")
                    time.sleep(0.4)  # it moves
                    return name
            self.wait_for_refreshes(browser, 1)
        return self.fail(f"no frame {wanted} below the root")

    def row_of(self, browser, name):
        """Returns the vertical position of the frame that is as wide as the page."""
        left, top, width, height = browser.evaluate(CANVAS)
        for row in range(int(height // ROW)):
            y = top + (row + .5) * ROW
            names = []
            for x in (left + 3, left + width - 3):
                browser.mouse(x, y)
                names.append(of_first_trace(browser.evaluate(text("detail")).split(" · ")[0]))
            if names == 2 * [of_first_trace(name)]:
                return y
        return None

    def settled_row_of(self, browser, name):
        """Functions that are inlined into its callers, whose names come late, move a frame down."""
        before, y = None, self.row_of(browser, name)
        while y != before:
            self.wait_for_refreshes(browser, 4)
            before, y = y, self.row_of(browser, name)
        return y

    def total(self, browser):
        """What the page says of all samples."""
        browser.evaluate("document.getElementById('graph').focus()")
        browser.key("Home")
        return browser.evaluate(text("detail"))

    @staticmethod
    def samples_of(said):
        return int(re.search(r"([\d,]+) samples", said).group(1).replace(",", ""))

    def wait_for_end(self, browser, said):
        """The samples of the page are those of the ledger that jitbpf prints."""
        count = re.search(r"samples taken +([\d,]+)", said).group(1)
        found = re.search(r"  lost +([\d,]+)", said)  # no row without any
        lost = int(found.group(1).replace(",", "")) if found else 0
        browser.wait_for(f"{text('ledger')}.startsWith('{count} samples taken')")
        browser.evaluate("document.getElementById('search').select()")
        browser.type(".")
        delivered = int(count.replace(",", "")) - lost
        self.assertEqual(browser.evaluate(text("matched")), f"matched 100.0 %, {delivered:,} samples")
        self.assertEqual(page_data.PageData(browser.saved("save-page")).total, delivered)


class Page(GraphTest):
    def test_php(self):
        """JIT frames appear. A zoom, a selection and a search stay where they were in ten
        refreshes. In the end, the page has the samples of the summary."""
        live = self.start([harness.JITBPF, "live", "-F", "499", "--interpreter", "yes", "--",
                           *harness.php("tracing", 60)])
        with Browser() as browser:
            browser.screen(1280, 800)
            browser.call("Page.navigate", url=self.url)
            self.wait_for_refreshes(browser, 2)
            self.assertLess(browser.evaluate(CANVAS)[1], 120)
            name = self.zoom_to(browser, "TRACE")
            browser.evaluate("document.getElementById('search').focus()")
            browser.type("TRACE")
            y = self.settled_row_of(browser, name)
            self.assertIsNotNone(y)
            before = self.samples(browser)
            self.wait_for_refreshes(browser, 10)
            self.assertGreater(self.samples(browser), before)
            self.assertEqual(self.row_of(browser, name), y)
            self.assertEqual(browser.evaluate("document.getElementById('search').value"), "TRACE")
            self.assertRegex(browser.evaluate(text("matched")), r"matched \d+\.\d+ %, [\d,]+ samples")
            self.check_pause(browser)
            self.check_reload(browser, name)
            self.check_time(browser)
            self.assertEqual(browser.problems, [])
            said = self.stop(live)
            browser.wait_for(f"{ROOT}.dataset.live === 'ended'")
            self.wait_for_end(browser, said)
            self.check_narrow(browser)
            self.assertIsNone(browser.evaluate(f"{ROOT}.dataset.error"))
            outside = [url for url in browser.requests if not url.startswith((self.url, "about:", "blob:"))]
            self.assertEqual(outside, [])

    def check_time(self, browser):
        """A range of time keeps its samples in further refreshes; one without an end grows. The
        slices have all samples: those before a moment and those from then on."""
        browser.key("Escape")
        browser.key("Escape")
        left, top, width, _ = browser.evaluate(STRIP)
        browser.drag(left, top + 12, width / 2, 0)
        end = re.fullmatch(r"#range=0-([\d.]+)", browser.evaluate("location.hash")).group(1)
        first = self.total(browser)
        self.assertRegex(first, r"^all · .*[\d,]+ samples, 100.0 %")
        self.wait_for_refreshes(browser, 3)
        self.assertEqual(self.total(browser), first)
        browser.evaluate(f"location.hash = '#range={end}-'")
        browser.wait_for(f"{text('range')}.startsWith('{end} ')")
        later = self.samples_of(self.total(browser))
        self.wait_for_refreshes(browser, 3)
        self.assertGreater(self.samples_of(browser.evaluate(text("detail"))), later)  # what is selected has its present samples
        browser.evaluate("document.getElementById('pause').click()")
        later = self.samples_of(self.total(browser))
        browser.evaluate("location.hash = ''")
        browser.wait_for(f"{text('range')} === ''")
        self.assertEqual(self.samples_of(self.total(browser)), self.samples_of(first) + later)
        browser.evaluate(f"location.hash = '#range={end}-&baseline=0-{end}'")
        browser.wait_for(f"{text('range')}.startsWith('before')")
        self.assertRegex(self.total(browser), rf"before {self.samples_of(first):,}, 100.0 % · after {later:,}, ")
        browser.evaluate("document.getElementById('pause').click()")
        browser.evaluate("document.getElementById('all-time').click()")
        self.wait_for_refreshes(browser, 1)

    def check_pause(self, browser):
        browser.evaluate("document.getElementById('pause').click()")
        self.assertIn("paused", browser.evaluate(text("live")))
        shown = self.refreshes(browser)
        time.sleep(1.5)
        self.assertEqual(self.refreshes(browser), shown)
        browser.evaluate("document.getElementById('pause').click()")
        self.wait_for_refreshes(browser, 1)

    def check_reload(self, browser, name):
        """The address has the zoom as a path of names, and a new page finds it."""
        address = browser.evaluate("location.href")
        self.assertIn("path=", address)
        browser.call("Page.navigate", url="about:blank")
        browser.call("Page.navigate", url=address)
        browser.wait_for(f"Number({ROOT}?.dataset.refreshes ?? 0) >= 2")
        browser.evaluate("document.getElementById('graph').focus()")
        browser.key("Home")
        self.assertEqual(browser.evaluate(text("detail")).split(" · ")[0], name)
        self.assertEqual(browser.evaluate("document.getElementById('search').value"), "TRACE")

    def check_narrow(self, browser):
        browser.key("Escape")
        browser.screen(400, 700)
        browser.wait_for("innerWidth === 400")
        self.assertLess(browser.evaluate(CANVAS)[1], 200)
        self.assertTrue(browser.evaluate(f"{ROOT}.scrollWidth <= innerWidth"))


class Remote(LiveTest):
    def test_tunnel(self):
        """In an SSH session, also below sudo, which removes the variable, the tunnel's command is said."""
        live = ["env", "-u", "SSH_CONNECTION", harness.JITBPF, "live", "--", harness.ENGINE, "hot", "--seconds", "60"]
        for here, there in (({}, False), ({"SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"}, True)):
            environment = {name: value for name, value in os.environ.items() if name != "SSH_CONNECTION"}
            shell = self.start(["sh", "-c", '"$@" & wait', "sh", *live], env={**environment, **here}, start_new_session=True)
            self.wait_for(lambda: any(status(pid)["Name"] == "jit-engine" for pid in children(shell.pid)))
            self.assertEqual(f"ssh -N -L {self.port}:127.0.0.1:{self.port} HOST" in self.said(), there)
            os.killpg(shell.pid, signal.SIGTERM)
            shell.wait(60)


class Counts(LiveTest):
    def ledger(self, browser):
        return browser.evaluate(text("ledger"))

    def test_equal(self):
        """Samples on the page are those of the ledger and of the recording, also on a page that
        was paused. No code event is lost."""
        argv = self.record_argv(["--live", "-F", "499"], (".jitbpf",))
        live = self.start([*argv, "--", *harness.php("tracing", 60)])
        with Browser() as watching, Browser() as pausing:
            for browser in (watching, pausing):
                browser.screen(1280, 800)
                browser.call("Page.navigate", url=self.url)
                self.wait_for_refreshes(browser, 2)
            pausing.evaluate("document.getElementById('pause').click()")
            shown = self.ledger(pausing)
            self.wait_for_refreshes(watching, 6)
            said = self.stop(live)
            for browser in (watching, pausing):
                browser.wait_for(f"{ROOT}.dataset.live === 'ended'")
            self.assertEqual(self.ledger(pausing), shown)
            pausing.evaluate("document.getElementById('pause').click()")
            run = harness.Run(self.folder, 0, b"", said)
            summary = self.check_ledger(run)
            taken = summary["samples"]["taken"]
            delivered = taken - summary["samples"]["lost"]
            for browser in (watching, pausing):
                browser.wait_for(f"{text('ledger')}.startsWith('{taken:,} samples taken')")
                self.assertEqual(page_data.PageData(browser.saved("save-page")).total, delivered)
                self.assertEqual(browser.problems, [])
        self.assertEqual(int(re.search(r"samples taken +([\d,]+)", said).group(1).replace(",", "")), taken)
        self.assertEqual(len(recording.samples(run.path(".jitbpf"))), delivered)
        for lost in ("sequence_gaps", "left_out", "in_gap"):
            self.assertEqual(summary["jit"][lost], 0)
        for lost in ("jit_ring_full", "jit_over_share", "sideband_lost"):
            self.assertEqual(summary["counters"][lost], 0)


HOSTILE = ("<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "'><svg/onload=alert(3)>",
           "javascript:alert(4)", "&lt;b&gt;${alert(5)}", "red\x1b[31m\x07\x01", "\u202egnp.exe\u2066",
           "\u05e9\u05dc\u05d5\u05dd 12 \u05e2\u05d5\u05dc\u05dd", "e" + "\u0301" * 300, "L" * 10000)
CUT = 3000  # letters of names that are compared: jitbpf and the page cut longer ones
# Elements that the page never has, and how many scripts.
FOREIGN = "[document.querySelectorAll('img, svg, iframe, object, embed, link, base').length, document.scripts.length]"
SHOWN = "[...document.querySelectorAll('#table tbody th')].map(cell => cell.textContent)"
INSIDE = """(() => { const box = document.getElementById('%s'), at = box.getBoundingClientRect();
    return !box.hidden && at.left >= 0 && at.top >= 0 && at.right <= innerWidth && at.bottom <= innerHeight; })()"""
# Each part of a description begins behind the one before.
IN_ORDER = """(() => { const parts = [...document.querySelectorAll('#detail bdi')].map(part => part.getClientRects());
    return parts.length > 2 && parts.every((part, i) => { const before = parts[i - 1]?.[parts[i - 1].length - 1];
        return !before || part[0].top > before.top || part[0].left >= before.right; }); })()"""
MENU = """document.querySelector('canvas').dispatchEvent(new MouseEvent('contextmenu',
    {clientX: %f, clientY: %f, bubbles: true, cancelable: true}))"""


class Names(LiveTest):
    """Names that attack the page, on a page that is open when they come."""

    def run_engine(self, browser):
        live = self.start([harness.JITBPF, "live", "-F", "499", "--", harness.ENGINE, "api", "--slots", "64"],
                          stdin=subprocess.PIPE)
        browser.call("Page.navigate", url=self.url)
        self.wait_for_refreshes(browser, 1)
        for i, name in enumerate(HOSTILE):
            live.stdin.write(f'code @{64 * i} {i}\nload {i + 1} "{name}" @{64 * i} 64 - "{name[:200]}"\n'.encode())
        runs = "".join(f"run @{64 * i} 50\n" for i in range(len(HOSTILE)))
        live.stdin.write(8 * runs.encode())
        live.stdin.flush()
        return live

    def check_width(self, browser):
        self.assertTrue(browser.evaluate(f"{ROOT}.scrollWidth <= innerWidth"))

    def point(self, browser, row, share):
        """Points into a row of the graph. Returns the position and what is said of the frame."""
        left, top, width, _ = browser.evaluate(CANVAS)
        x, y = left + share * width, top + (row + .5) * ROW
        browser.mouse(x, y)
        return x, y, browser.evaluate(text("detail"))

    def visit(self, browser, names):
        """Points at each of the frames, and opens its menu."""
        def named(said):
            return next((name for name in names if said.startswith(name)), None)
        rows = range(int(browser.evaluate(CANVAS)[3] // ROW))
        row = next(row for row in rows if any(named(self.point(browser, row, n / 8 + .06)[2]) for n in range(8)))
        found = set()
        for step in range(180):
            x, y, said = self.point(browser, row, (step + .5) / 180)
            name = named(said)
            if not name or name in found:
                continue
            found.add(name)
            self.assertTrue(browser.evaluate(IN_ORDER), name)
            self.assertTrue(browser.evaluate(INSIDE % "tip"), name)
            browser.evaluate(MENU % (x, y))
            self.assertTrue(browser.evaluate(INSIDE % "menu"), name)
            self.check_width(browser)
            browser.key("Escape")
        self.assertEqual(found, names)

    @harness.slow
    def test_hostile(self):
        names = {page_data.visible(name)[:CUT] for name in HOSTILE}
        with Browser() as browser:
            browser.screen(1280, 700)
            live = self.run_engine(browser)
            before = browser.evaluate(FOREIGN)
            browser.evaluate("document.getElementById('table-view').click()")
            self.wait_for(lambda: names <= {name[:CUT] for name in browser.evaluate(SHOWN)})
            self.wait_for_refreshes(browser, 1)
            browser.evaluate("document.getElementById('pause').click()")
            for width in (1280, 400):
                browser.screen(width, 700)
                browser.wait_for(f"innerWidth === {width}")
                browser.evaluate("document.getElementById('table-view').click()")
                self.check_width(browser)
                browser.evaluate("document.getElementById('graph-view').click()")
                for opened in ("true", "false"):
                    browser.evaluate(f"document.querySelector('#ledger details').open = {opened}")
                    self.check_width(browser)
                self.assertLess(browser.evaluate(CANVAS)[1], 200)
                self.visit(browser, names)
            self.assertEqual(browser.evaluate(FOREIGN), before)
            self.assertEqual(browser.problems, [])
            live.stdin.close()
            self.assertEqual(live.wait(60), 0)


class Stream(threading.Thread):
    """Reads the deltas, and checks that each continues from the one before."""

    def __init__(self, test):
        super().__init__(daemon=True)
        self.state, self.snapshots, self.broken = 0, 0, False
        self.connection = test.connect(f"GET /{test.token}/deltas HTTP/1.0\r\n"
                                       f"Host: 127.0.0.1:{test.port}\r\n\r\n")
        self.file, self.deltas, self.ended = self.connection.makefile("rb"), 0, False
        self.status = self.file.readline()
        while self.file.readline().strip():
            pass
        self.start()

    def run(self):
        while True:
            size = self.file.read(4)
            if len(size) < 4:
                return
            size, = struct.unpack("<I", size)
            if not size:
                self.ended = True
                return
            delta = self.file.read(size)
            if not delta.startswith(b"JTLD"):
                return
            begin, state = struct.unpack_from("<II", delta, 16)
            self.snapshots += not begin
            self.broken |= begin not in (0, self.state)
            self.state = state
            self.deltas += 1


class Streams(LiveTest):
    def connect(self, request=""):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        self.addCleanup(connection.close)
        try:
            connection.sendall(request.encode())
        except OSError:
            pass  # it is refused before all is sent
        return connection

    def wait_for_deltas(self, stream, count):
        wanted = stream.deltas + count
        self.wait_for(lambda: stream.deltas >= wanted, 30)


class Many(Streams):
    @harness.slow
    def test_twenty(self):
        """20 browsers: one reads nothing, one comes again later. All others get each delta, and
        all end in the same state, in which the one that came again is by a snapshot."""
        live = self.start([harness.JITBPF, "live", "-F", "499", "--", harness.ENGINE, "storm", "--seconds", "60"])
        streams = [Stream(self) for _ in range(18)]
        unread = self.connect(f"GET /{self.token}/deltas HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n")
        self.assertIn(b" 200 ", unread.recv(16))
        leaving = Stream(self)
        for stream in (*streams, leaving):
            self.assertIn(b" 200 ", stream.status)
            self.wait_for_deltas(stream, 2)
        leaving.connection.shutdown(socket.SHUT_RDWR)
        leaving.join(30)
        self.wait_for_deltas(streams[0], 5)
        again = self.wait_for(self.come_again)
        self.wait_for_deltas(again, 3)
        self.stop(live)
        for stream in (*streams, again):
            stream.join(30)
            self.assertTrue(stream.ended)
            self.assertFalse(stream.broken)
            self.assertEqual(stream.state, again.state)
        self.assertGreater(again.snapshots, 0)
        self.assertLess(again.deltas, streams[0].deltas)

    def come_again(self):
        """A stream, once the server has seen that the one before is closed."""
        stream = Stream(self)
        return stream if b" 200 " in stream.status else None


class BadInput(Streams):
    def answer(self, request):
        """Returns the status, or "" if the connection is closed without one."""
        answer = b""
        try:
            with self.connect(request) as connection:
                while chunk := connection.recv(65536):
                    answer += chunk
        except ConnectionError:
            pass
        return answer.split(b"\r\n")[0].decode().partition(" ")[2][:3]

    def get(self, path, host=None, more=""):
        host = f"Host: {host or f'127.0.0.1:{self.port}'}\r\n"
        return self.answer(f"GET {path} HTTP/1.1\r\n{host}{more}\r\n")

    def check_requests(self):
        page, deltas = f"/{self.token}/", f"/{self.token}/deltas"
        ours = f"Host: 127.0.0.1:{self.port}\r\n"
        self.assertEqual(self.get(page), "200")
        self.assertEqual(self.get(page, f"localhost:{self.port}"), "200")
        self.assertEqual(self.get(page, more=f"Origin: http://localhost:{self.port}\r\n"), "200")
        self.assertEqual(self.get("/"), "404")
        self.assertEqual(self.get("/" + "0" * 32 + "/"), "404")
        self.assertEqual(self.get(page, f"attacker.example:{self.port}"), "403")
        self.assertEqual(self.get(page, "127.0.0.1"), "403")
        self.assertEqual(self.get(deltas, more="Origin: http://attacker.example\r\n"), "403")
        self.assertEqual(self.get(deltas, more="Sec-Fetch-Site: cross-site\r\n"), "403")
        self.assertEqual(self.get(page, more=ours), "400")
        self.assertEqual(self.answer(f"GET {page} HTTP/1.1\r\n\r\n"), "400")
        self.assertEqual(self.answer(f"GET {page} HTTP/1.0\r\n\r\n"), "400")
        self.assertEqual(self.answer(f"POST {page} HTTP/1.1\r\n{ours}Content-Length: 3\r\n\r\nabc"), "405")
        self.assertEqual(self.answer(f"HEAD {page} HTTP/1.1\r\n{ours}\r\n"), "405")
        for malformed in ("\1\2 \3\r\n\r\n", "GET\r\n\r\n", f"GET {page} HTTP/9.9\r\n{ours}\r\n",
                          f"GET /{'x' * 1000000} HTTP/1.1\r\n{ours}\r\n",
                          f"GET {page} HTTP/1.1\r\n{ours}X: {'x' * 1000000}\r\n\r\n",
                          f"GET {page} HTTP/1.1\r\n{ours}" + "X: x\r\n" * 100000 + "\r\n"):
            self.assertRegex(self.answer(malformed), r"^(4..|5..|)$", malformed[:60])

    def check_streams(self, stream):
        """No more than 20, and one that nobody reads does not delay the others."""
        unread = [self.connect(f"GET /{self.token}/deltas HTTP/1.1\r\n"
                               f"Host: 127.0.0.1:{self.port}\r\n\r\n") for _ in range(19)]
        for connection in unread:
            self.assertIn(b" 200 ", connection.recv(16))
        self.assertEqual(self.get(f"/{self.token}/deltas"), "503")
        self.wait_for_deltas(stream, 2)
        for connection in unread:
            connection.close()

    def connect_often(self, count):
        """Opens connections that send nothing, without waiting for the server to accept them."""
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(limit[0], count + 200), max(limit[1], count + 200)))
        connections = [socket.socket() for _ in range(count)]
        for connection in connections:
            connection.setblocking(False)
            connection.connect_ex(("127.0.0.1", self.port))
        return connections

    def drip(self, connection):
        """Sends a request that never ends. Returns when the server closes the connection."""
        end = time.monotonic() + 60
        connection.settimeout(0.5)
        try:
            while time.monotonic() < end:
                connection.sendall(b"X")
                try:
                    if not connection.recv(1000):
                        break
                except TimeoutError:
                    pass
        except OSError:
            pass
        self.closed_after = 60 - (end - time.monotonic())

    def test_requests(self):
        """What is refused, and that neither the profile nor a browser suffers from it."""
        argv = self.record_argv(["--live", "-F", "499"], (".jitbpf",))
        live = self.start([*argv, "--", harness.ENGINE, "hot", "--seconds", "60", "--name", "hot"])
        stream = Stream(self)
        self.assertIn(b" 200 ", stream.status)
        endless = self.connect(f"GET /{self.token}/ HTTP/1.1\r\nX: ")
        dripping = threading.Thread(target=self.drip, args=(endless,), daemon=True)
        dripping.start()
        self.check_requests()
        self.check_streams(stream)
        idle = self.connect_often(2000)
        self.wait_for_deltas(stream, 2)
        for connection in idle:
            connection.close()
        self.wait_for(lambda: self.get(f"/{self.token}/") == "200")
        dripping.join(60)
        self.assertLess(self.closed_after, 50)
        said = self.stop(live)
        stream.join(30)
        self.assertTrue(stream.ended)
        self.assertGreater(int(re.search(r"refused (\d+) requests", said).group(1)), 15)
        run = harness.Run(self.folder, 0, b"", said)
        samples = self.check_ledger(run)["samples"]
        self.assertGreater(samples["resolved"], 0.8 * samples["taken"])

    def test_server_ends(self):
        """The recording goes on without the server. The next port is taken if the first is."""
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            argv = self.record_argv(["--live", "-F", "199", "--port", str(port)], (".jitbpf",))
            live = self.start([*argv, "--", harness.ENGINE, "hot", "--seconds", "60", "--name", "hot"])
            self.assertGreater(self.port, port)
            self.assertIn(f"port {port} is taken", self.said())
        stream = Stream(self)
        self.wait_for_deltas(stream, 1)
        server = next(pid for pid in children(live.pid) if status(pid)["Name"] == "jitbpf-serve")
        os.kill(server, signal.SIGKILL)
        self.wait_for(lambda: "the run goes on" in self.said())
        stream.join(30)
        self.assertFalse(stream.ended)
        said = self.stop(live)
        self.assertEqual(said.count("the run goes on"), 1)
        self.check_ledger(harness.Run(self.folder, 0, b"", said))
