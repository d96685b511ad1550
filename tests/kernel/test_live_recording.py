# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The recording of a run, as a browser saves it from the live page while the run goes on."""
import glob
import http.client
import json
import os
import shlex
import socket
import struct
import subprocess
import time

import harness
import recording
import test_live

SIZE = struct.Struct("<Q")


class Copies(test_live.LiveTest):
    def connect(self):
        """Asks for the recording, and returns the connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        self.addCleanup(connection.close)
        connection.request("GET", f"/{self.token}/recording")
        return connection

    def get(self, name="copy.jitbpf"):
        """Saves the recording as of now. Returns its path, or None if the answer is empty."""
        body = self.connect().getresponse().read()
        if not body:
            return None
        self.assertEqual(SIZE.unpack_from(body)[0], len(body) - SIZE.size)
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(body[SIZE.size:])
        return path

    def report(self, path, *args):
        """Reports a complete recording: of others, jitbpf says so."""
        done = subprocess.run([harness.JITBPF, "report", *args, path], capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode()

    def summary(self, path):
        summary = json.loads(self.report(path, "--json"))
        counts = summary["samples"]
        self.assertEqual(counts["taken"], sum(
            counts[key] for key in ("resolved", "code_unknown", "stack_cut", "lost")))
        return counts

    def wait_for_copy(self, samples, name="copy.jitbpf"):
        """Saves the recording as soon as it has so many samples."""
        def has():
            path = self.get(name)
            return path and self.summary(path)["taken"] >= samples and path
        return self.wait_for(has)


class Saved(Copies):
    def test_without_an_output(self):
        """`jitbpf live` writes no file. What is saved names JIT code, and grows with the run."""
        live = self.start([harness.JITBPF, "live", "-F", "499", "--", *harness.php("tracing", 60)], cwd=self.folder)
        first = self.wait_for_copy(300)
        second = self.wait_for_copy(900, "second.jitbpf")
        self.assertIn("TRACE$", self.report(second, "-f", "folded", "--interpreter", "yes"))
        before, after = recording.samples(first), recording.samples(second)
        self.assertGreater(len(after), len(before))
        self.assertEqual(after[:len(before)], before)
        taken = self.summary(second)["taken"]
        said = self.stop(live)
        self.assertGreaterEqual(int(said.split("samples taken")[1].split()[0].replace(",", "")), taken)
        self.assertEqual(sorted(glob.glob(os.path.join(self.folder, "*.jitbpf*"))), [first, second])

    def test_beside_an_output(self):
        """Copies do not change the recording that they are made of."""
        argv = self.record_argv(["--live", "-F", "499"], (".jitbpf",))
        live = self.start([*argv, "--", *harness.php("tracing", 60)])
        copy = self.wait_for_copy(300)
        for _ in range(5):
            self.assertIsNotNone(self.get("another.jitbpf"))
        said = self.stop(live)
        run = harness.Run(self.folder, 0, b"", said)
        self.check_ledger(run)
        self.report(run.path(".jitbpf"))
        before = recording.samples(copy)
        self.assertEqual(recording.samples(run.path(".jitbpf"))[:len(before)], before)

    def test_rotation(self):
        """What is saved is the recording of now, which replays alone."""
        argv = self.record_argv(["--live", "-F", "499", "--rotate", "2"], (".jitbpf",))
        live = self.start([*argv, "--", *harness.php("tracing", 60)])
        self.wait_for(lambda: len(glob.glob(os.path.join(self.folder, "out.*.jitbpf"))) >= 3)
        copy = self.wait_for_copy(200)
        self.assertIn("TRACE$", self.report(copy, "-f", "folded", "--interpreter", "yes"))
        samples = recording.samples(copy)
        self.stop(live)
        files = [recording.samples(path) for path in glob.glob(os.path.join(self.folder, "out.*.jitbpf"))]
        self.assertEqual(sum(file[:len(samples)] == samples for file in files), 1)

    def test_limit(self):
        """At --max-size, the run goes on without it, and what it has can still be saved."""
        live = self.start([harness.JITBPF, "live", "-a", "-F", "9999", "--max-size", "1M", "--user-regs", "--",
                           *harness.php("tracing", 120)])
        self.wait_for(lambda: "the recording that the live page saves ends here, with 1.0 MB (--max-size)" in self.said())
        path = self.get()
        self.assertGreater(os.path.getsize(path), 900_000)
        saved = self.summary(path)["taken"]
        self.assertEqual(self.summary(self.get())["taken"], saved)
        said = self.stop(live)
        self.assertGreater(int(said.split("samples taken")[1].split()[0].replace(",", "")), saved)


SAYS = test_live.text("save-says")


class Menu(Copies):
    """The page's menu."""

    def open(self, browser):
        browser.screen(1280, 800)
        browser.call("Page.navigate", url=self.url)
        self.wait_for_refreshes(browser, 2)
        browser.evaluate("document.querySelector('.drop').open = true")

    def test_same_stacks(self):
        """The program has ended, but not the run: the recording has the stacks that the page shows,
        and a file for each of the other formats has as many samples."""
        program = shlex.join(harness.php("tracing", 2)) + "; sleep 100"
        live = self.start([harness.JITBPF, "live", "-F", "499", "--", "sh", "-c", program])
        with test_live.Browser() as browser:
            self.open(browser)
            stacks = self.wait_for(self.settled)
            browser.wait_for(f"{test_live.text('ledger')}.startsWith('{sum(stacks.values()):,} samples taken')")
            for _ in range(4):  # Chromium lets a page save ten files that nobody has asked for
                shown, path = recording.folded(browser.saved("save-folded")), browser.saved("save-recording")
                if shown == self.folded(path):
                    break
                time.sleep(1)  # for names that are late
            self.assertEqual(shown, self.folded(path))
            self.assertIn("TRACE$", self.report(path, "-f", "folded", "--interpreter", "yes"))
            for kind in ("pprof", "firefox"):
                self.assertGreater(os.path.getsize(browser.saved("save-" + kind)), 1000)
            self.assertFalse(browser.evaluate("document.querySelector('.drop').open"))
            self.assertEqual(browser.problems, [])
        self.stop(live)

    def settled(self):
        """Returns the stacks of the recording, if the program has ended."""
        before = self.folded(self.get())
        time.sleep(1)
        return sum(before.values()) > 300 and before == self.folded(self.get()) and before

    def folded(self, path):
        folded = os.path.join(self.folder, "copy.folded")
        self.report(path, "-f", "folded", "-o", folded)
        return recording.folded(folded)

    def test_none(self):
        """The page says why it has no recording, and stays as it is."""
        path = os.path.join(self.folder, "mount.jitbpf")
        with open(path, "wb"):
            pass
        subprocess.run(["mount", "--bind", path, path], check=True)
        self.addCleanup(subprocess.run, ["umount", path], check=True)
        live = self.start([harness.JITBPF, "record", "--live", "-o", path, "--", *harness.php("tracing", 60)])
        with test_live.Browser() as browser:
            self.open(browser)
            browser.evaluate("document.getElementById('save-recording').click()")
            browser.wait_for(f"{SAYS}.includes('this run has none that can be read')")
            self.stop(live)
            browser.wait_for(f"{test_live.ROOT}.dataset.live === 'ended'")
            browser.wait_for("!document.getElementById('save-recording').disabled")
            browser.evaluate("document.getElementById('save-recording').click()")
            # A test beside this one can have got the port of the run that has ended.
            browser.wait_for(f"/the run has ended|another run of jitbpf has/.test({SAYS})")
            self.assertIsNone(browser.evaluate(f"{test_live.ROOT}.dataset.error"))


class Refused(Copies):
    def test_file_that_cannot_be_read(self):
        """A recording that is written in place, into a file that was there, has no copy."""
        path, link = os.path.join(self.folder, "file.jitbpf"), os.path.join(self.folder, "mount.jitbpf")
        for name in (path, link):
            with open(name, "wb"):
                pass
        subprocess.run(["mount", "--bind", path, link], check=True)
        self.addCleanup(subprocess.run, ["umount", link], check=True)
        live = self.start([harness.JITBPF, "record", "--live", "-o", link, "--", *harness.php("tracing", 60)])
        self.wait_for(lambda: os.path.getsize(path) > 0)
        self.assertIsNone(self.get())
        self.stop(live)
        self.report(path)

    def test_no_file(self):
        """Nothing can be written in /var/tmp and /tmp: the page works, and a line says what it lacks."""
        live = self.start(["unshare", "-m", "sh", "-ec", "for folder in /var/tmp /tmp; do mount --bind $folder $folder; "
                           'mount -o remount,bind,ro $folder; done; exec "$@"', "sh", harness.JITBPF, "live", "-a"])
        self.assertIn("the live page cannot save a recording, since no file can be created", self.said())
        self.assertIsNone(self.get())
        self.assertIn("samples taken", self.stop(live))

    def slow(self):
        """Asks for the recording, and reads nothing of it but the head."""
        connection = socket.socket()
        self.addCleanup(connection.close)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", self.port))
        connection.sendall(f"GET /{self.token}/recording HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())
        return connection

    def test_slow_browsers(self):
        """Two that do not read take all the room for copies, but nothing else: a third one is
        refused, no sample is lost, and the run ends in time."""
        argv = self.record_argv(["--live", "-a", "-F", "4999", "--user-regs", "--sample-ring", "64M"], (".jitbpf",))
        live = self.start([*argv, "--", *harness.php("tracing", 120)])
        recording_path = os.path.join(self.folder, "out.jitbpf")
        # The recording gets its name when samples can be taken, which may be after the page's address.
        self.wait_for(lambda: os.path.exists(recording_path))
        self.wait_for(lambda: os.path.getsize(recording_path) > 4 << 20, 110)  # more than a socket takes
        slow = [self.slow(), self.slow()]
        for connection in slow:
            self.assertIn(b" 200 ", connection.recv(64))
        self.assertEqual(self.connect().getresponse().status, 503)
        deltas = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        self.addCleanup(deltas.close)
        deltas.sendall(f"GET /{self.token}/deltas HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())
        self.assertIn(b" 200 ", deltas.recv(64))
        slow[0].close()
        self.wait_for(lambda: self.connect().getresponse().status == 200)
        said = self.stop(live)
        run = harness.Run(self.folder, 0, b"", said)
        self.assertEqual(self.check_ledger(run)["samples"]["lost"], 0)


if __name__ == "__main__":
    harness.main()
