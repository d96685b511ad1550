# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The outermost frames of a live page, by --by: those of a report of the recording of the same run."""

import collections
import os
import secrets
import subprocess
import sys

import harness
import test_cgroup_names
from test_live import LiveTest, ROOT, text

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ui"))
import page_data  # pylint: disable=wrong-import-position,import-error
from browser import Browser  # pylint: disable=wrong-import-position,import-error

# Threads with names of their own take CPU time in turn.
THREADS = """
import threading, time
input()
def run(name):
    with open("/proc/thread-self/comm", "w") as comm:
        comm.write(name)
    end = time.thread_time() + 0.4
    while time.thread_time() < end:
        pass
for name in ("first", "second"):
    thread = threading.Thread(target=run, args=(name,))
    thread.start()
    thread.join()
"""


class By(LiveTest, test_cgroup_names.Cgroups):
    start_load = test_cgroup_names.Cgroups.start
    start = LiveTest.start

    def name_by_nerdctl(self, number, name):
        """Notes a name as nerdctl does."""
        path = f"/var/lib/nerdctl/{number[:8]}/names/default/{name}"
        os.makedirs(os.path.dirname(path))
        self.addCleanup(self.remove_empty, os.path.dirname(path))
        self.addCleanup(os.unlink, path)
        with open(path, "w", encoding="ascii") as file:
            file.write(number)

    def outermost(self, path):
        """Returns samples of a page by outermost frame."""
        return collections.Counter({page_data.visible(node.name): node.total
                                    for node in page_data.PageData(path).nodes
                                    if node.depth == 1 and node.total})

    def reported(self, by):
        """The same of a report of the recording, as its page has them."""
        path = os.path.join(self.folder, f"by-{by}.html")
        self.text_of("-f", "html", "--by", by, "-o", path)
        return self.outermost(path)

    def live_run(self, options, run):
        """Calls run() while a page shows a run. Returns samples by outermost frame as the page has
        them in the end."""
        live = self.start(self.record_argv(["--live", "-F", "499", *options],
                                           (".jitbpf", ".html")))
        with Browser() as browser:
            browser.screen(1280, 800)
            browser.call("Page.navigate", url=self.url)
            self.wait_for_refreshes(browser, 1)
            run()
            self.wait_for_refreshes(browser, 2)
            said = self.stop(live)
            browser.wait_for(f"{ROOT}.dataset.live === 'ended'")
            taken = harness.Run(self.folder, 0, b"", said).summary()["samples"]["taken"]
            browser.wait_for(f"{text('ledger')}.startsWith('{taken:,} samples taken')")
            self.assertEqual(browser.problems, [])
            shown = self.outermost(browser.saved("save-page"))
        self.assertEqual(shown, self.outermost(self.path(".html")))
        return shown

    def run_all(self, loads):
        for load in loads:
            load.stdin.write(b"\n")
        for load in loads:
            load.wait()

    def test_container(self):
        """Containers with and without a name, a unit, and a process that moves between them. A name
        with a control character stays text."""
        web, number = f"jitbpf-live-{os.getpid()}", secrets.token_hex(32)
        other = secrets.token_hex(32)
        self.name_container(number, web)
        by_nerdctl = secrets.token_hex(32)
        self.name_by_nerdctl(by_nerdctl, f"nerd-{os.getpid()}")
        cgroups = self.below(f"docker-{number}.scope", f"docker-{other}.scope", "live.service",
                             "plain\x1b[31m", f"nerdctl-{by_nerdctl}.scope")
        loads = [self.start_load(f"{cgroup}=0.6") for cgroup in cgroups]
        loads.append(self.start_load(f"{cgroups[0]}=0.4", f"{cgroups[2]}=0.4", f"{cgroups[0]}=0.4"))
        shown = self.live_run(["--by", "container"], lambda: self.run_all(loads))
        self.assertEqual(shown, self.reported("container"))
        for name in (web, other[:12], "live.service", f"nerd-{os.getpid()}"):
            self.assertGreater(shown[name], 50, shown)
        self.assertEqual([name for name in shown if "plain" in name],
                         [os.path.join("/", os.path.basename(self.top), "plain\\u{1b}[31m")])

    @harness.slow
    def test_thread(self):
        # pylint: disable=consider-using-with
        load = subprocess.Popen([sys.executable, "-c", THREADS], stdin=subprocess.PIPE, bufsize=0)
        for clean in (load.wait, load.kill, load.stdin.close):
            self.addCleanup(clean)
        shown = self.live_run(["--by", "tid"], lambda: self.run_all([load]))
        self.assertEqual(shown, self.reported("tid"))
        self.assertLessEqual({"first", "second"}, {name.rsplit("-", 1)[0] for name in shown})
