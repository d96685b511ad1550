# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The code pane of the live page: code that is rewritten meanwhile, and requests that nobody should
make."""
import json
import os
import re
import socket
import subprocess
import urllib.error
import urllib.request

import harness
import test_live
from test_live import ROOT, Browser, text

ROWS = ("[...document.querySelectorAll('#code-{} [role=option]')].map(r => "
        "[...r.children].map(c => c.textContent))")
SAMPLED = ROWS.format("machine") + ".reduce((n, r) => n + Number(r[0].replace(/,/g, '')), 0)"
TABS = "[...document.querySelectorAll('#code [role=tab]')].map(t => t.textContent)"
HOT = """
#include <stdlib.h>
#include <time.h>
__attribute__((noinline)) unsigned hot_loop(const volatile unsigned *a, unsigned n)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < n; i++)
		sum += a[i] / (i + 1); /* line 8 */
	return sum;
}
int main(void)
{
	static volatile unsigned a[4096];
	for (;;)
		a[0] += hot_loop(a, 4096);
}
"""


class LiveCode(test_live.LiveTest):
    def open_page(self, browser):
        browser.screen(1280, 800)
        browser.call("Page.navigate", url=self.url)
        browser.wait_for(f"Number({ROOT}?.dataset.refreshes ?? 0) >= 2")

    def open_code(self, browser, wanted):
        """Goes down to a function whose name matches, and opens its code with a key. Returns the name."""
        def is_there():
            browser.evaluate("document.getElementById('graph').focus()")
            browser.key("Home")
            for _ in range(40):
                name = browser.evaluate(text("detail")).split(" · ")[0]
                if re.fullmatch(wanted, name):
                    return name
                browser.key("ArrowDown")
            return None
        name = self.wait_for(is_there)  # on a busy machine, names come late
        browser.key("a")
        browser.wait_for(ROWS.format("machine") + ".length > 0")
        return name

    def rows(self, browser, side="machine"):
        """Returns (samples, offset or line, text) of each."""
        return [(int(row[0].replace(",", "") or 0), row[2], row[3])
                for row in browser.evaluate(ROWS.format(side))]

    def mark(self, browser):
        """Returns the number that the code of a generation has in itself."""
        marks = [row[2] for row in self.rows(browser) if row[2].startswith("mov $0x6a697400")]
        self.assertEqual(len(marks), 1, self.rows(browser))
        return marks[0]

    def check_old(self, browser, number):
        """The code of a generation that was replaced is there, with its samples and its end."""
        browser.evaluate(f"document.querySelectorAll('#code [role=tab]')[{number - 1}].click()")
        browser.wait_for(f"{ROWS.format('machine')}.some(r => r[3].startsWith('mov $0x6a697400')) && "
                         f"document.querySelector('#code [aria-selected=true] b').textContent === '{number}'")
        tab = browser.evaluate(TABS)[number - 1]
        self.assertRegex(tab, r"64 B · (\d+\.\d+ s|before the run) – \d+\.\d+ s\d+ sample")
        samples = int(re.search(r"(\d+) samples?$", tab).group(1))
        self.assertEqual(sum(row[0] for row in self.rows(browser)), samples)
        return self.mark(browser)

    def test_rewritten(self):
        """A function gets new code at the same addresses, twice a second."""
        self.start([harness.JITBPF, "live", "-F", "499", "--", harness.ENGINE, "storm", "--rate", "2",
                    "--slots", "2", "--name", "rewritten", "--seconds", "120"])
        with Browser() as browser:
            self.open_page(browser)
            self.open_code(browser, "rewritten")
            browser.wait_for(f"{TABS}.length >= 4 && {TABS}.slice(0, 2).every(t => !t.includes('the end'))")
            self.assertIn("code=rewritten", browser.evaluate("location.hash"))
            first, second = self.check_old(browser, 1), self.check_old(browser, 2)
            self.assertNotEqual(first, second)
            self.assertEqual(self.check_old(browser, 1), first)
            # What a person looks at stays in refreshes, while generations are added.
            browser.evaluate("document.getElementById('code-machine').focus()")
            browser.key("End")
            before, tabs = browser.evaluate("document.querySelector('#code-machine .current').textContent"), \
                len(browser.evaluate(TABS))
            browser.wait_for(f"{TABS}.length > {tabs}")
            self.assertEqual(browser.evaluate("document.querySelector('#code-machine .current').textContent"), before)
            self.assertEqual(browser.evaluate("document.activeElement.id"), "code-machine")
            self.assertEqual(self.mark(browser), first)
            self.assertEqual(browser.problems, [])
            self.assertIsNone(browser.evaluate(f"{ROOT}.dataset.error"))

    @harness.slow
    def test_native(self):
        """Samples grow; lines are read with the rights of the invoking user."""
        source, program = (os.path.join(self.folder, name) for name in ("hot.c", "hot"))
        with open(source, "w", encoding="ascii") as file:
            file.write(HOT.lstrip())
        subprocess.run(["cc", "-O2", "-g", "-o", program, source], check=True)
        self.start([harness.JITBPF, "live", "-F", "499", "-d", "60", "--", program])
        with Browser() as browser:
            self.open_page(browser)
            self.open_code(browser, "hot_loop")
            lines = {row[1]: row for row in self.rows(browser, "source")}
            self.assertIn("sum += a[i] / (i + 1);", lines["7"][2])
            self.assertTrue(any(row[2].startswith("div") for row in self.rows(browser)))
            before = sum(row[0] for row in self.rows(browser))
            self.assertEqual(sum(row[0] for row in self.rows(browser, "source")), before)
            browser.wait_for(f"{ROWS.format('machine')}.reduce((n, r) => n + Number(r[0].replace(/,/g, '')), 0) > {before}")
            self.assertEqual(browser.problems, [])

    @harness.slow
    def test_php(self):
        """A trace of PHP's JIT: instructions, whose samples grow and are those of its tabs, also after a reload."""
        live = self.start([harness.JITBPF, "live", "-F", "499", *harness.WITH_CODE, "--", *harness.php("tracing", 120)])
        with Browser() as browser:
            self.open_page(browser)
            name = self.open_code(browser, r"TRACE-.*")
            address = browser.evaluate("location.href")
            self.assertIn("code=TRACE%24mandelbrot%24", address)
            self.assertEqual(browser.evaluate("document.querySelector('#code h2').textContent"), name)
            before = 0
            for _ in range(3):
                browser.wait_for(f"{SAMPLED} > {before}")
                # Both of one answer.
                before, tab, rows = browser.evaluate(f"[{SAMPLED}, document.querySelector('#code [aria-selected=true]').textContent, "
                                                     f"{ROWS.format('machine')}]")
                self.assertEqual(int(re.search(r"([\d,]+) samples?$", tab).group(1).replace(",", "")), before)
            codes = [row[3] for row in rows]
            self.assertGreater(len(codes), 10)
            self.assertTrue(all(re.match(r"[a-z]", code) for code in codes), codes)
            self.assertTrue(any(re.match(r"j|call", code) for code in codes), codes)
            browser.call("Page.navigate", url="about:blank")
            browser.call("Page.navigate", url=address)
            browser.wait_for(f"{SAMPLED} > {before}")
            self.assertEqual(browser.evaluate("document.querySelector('#code h2').textContent"), name)
            self.stop(live)
            browser.wait_for(f"{ROOT}.dataset.live === 'ended'")
            self.assertGreater(browser.evaluate(SAMPLED), 0)  # the code stays
            self.assertEqual([each for each in browser.problems if "net::ERR_" not in each], [])
            self.assertIsNone(browser.evaluate(f"{ROOT}.dataset.error"))

    @harness.slow
    def test_python(self):
        """Source lines of a function that only calls another one: its samples grow with what it calls."""
        program = os.path.join(self.folder, "lines.py")
        with open(program, "w", encoding="ascii") as file:
            file.write("def inner():\n    return sum(i * i for i in range(1000))\n\n"
                       "def outer():\n    while True:\n        inner()\n\nouter()\n")
        os.chmod(self.folder, 0o755)
        os.chmod(program, 0o644)
        live = self.start([harness.JITBPF, "live", "-F", "499", "--", "python3", program])
        with Browser() as browser:
            self.open_page(browser)
            browser.evaluate("document.getElementById('graph').focus()")
            rows = ROWS.format("source")
            self.wait_for(lambda: self.choose(browser, "outer"))
            browser.key("a")
            total = f"Number({rows}.find(row => row[4] === '6')?.[2].replace(',', '') ?? 0)"
            before = 0
            for _ in range(3):
                browser.wait_for(f"{total} > {before}")
                before = browser.evaluate(total)
            line = next(row for row in browser.evaluate(rows) if row[4] == "6")
            self.assertEqual(line[5].strip(), "inner()")
            self.assertTrue(browser.evaluate("document.getElementById('code-machine').hidden"))
            self.stop(live)
            self.assertEqual([each for each in browser.problems if "net::ERR_" not in each], [])

    def choose(self, browser, wanted):
        """Goes down from the root to a function of that name. Returns whether it is there."""
        browser.evaluate("document.getElementById('graph').focus()")
        browser.key("Home")
        for _ in range(40):
            if browser.evaluate(text("detail")).split(" · ")[0] == wanted:
                return True
            browser.key("ArrowDown")
        return False

    def get(self, path, **headers):
        """Returns the status and the body."""
        request = urllib.request.Request(self.url + path, headers=headers)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=30) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, b""

    def patient(self, path):
        """Requests again while the server is busy."""
        answer = None

        def get():
            nonlocal answer
            answer = self.get(path)
            return answer[0] != 503
        self.wait_for(get)
        return answer

    def flood(self, count):
        """Requests at the same time. Returns the beginnings of the answers."""
        request = (f"GET /{self.token}/code/0/1/0 HTTP/1.1\r\n"
                   f"Host: 127.0.0.1:{self.port}\r\n\r\n").encode()
        connections = [socket.create_connection(("127.0.0.1", self.port), timeout=30)
                       for _ in range(count)]
        for connection in connections:
            connection.sendall(request)
        answers = []
        for connection in connections:
            with connection:
                try:
                    answers.append(connection.recv(16))
                except OSError:
                    pass  # closed: there were too many
        return answers

    def test_requests(self):
        """Numbers of nothing have an empty answer, and a flood of requests is refused."""
        argv = self.record_argv(["--live", "-F", "499"], (".jitbpf",))
        live = self.start([*argv, "--", harness.ENGINE, "hot", "--seconds", "60", "--name", "hot"])
        for path in ("code", "code/", "code/0/1", "code/0/x/0", "code/0/4294967296/0", "code/0/1/0/", "code/0/1/-1"):
            self.assertEqual(self.get(path)[0], 404, path)
        self.assertEqual(self.get("code/0/1/0", Origin="http://attacker.example")[0], 403)
        for path in ("code/0/4294967295/0", "code/4294967295/0/0", "code/7/1/1"):
            self.assertEqual(self.patient(path), (200, b""), path)

        def found():
            for location in range(40):
                body = self.patient(f"code/0/{location}/0")[1]
                if body and json.loads(body)["function"]["name"] == "hot":
                    return json.loads(body)
            return None
        answer = self.wait_for(found, 60)
        generation, = answer["function"]["generations"]
        self.assertEqual(sum(i[1] for i in generation["code"]["instructions"]), generation["samples"])
        self.assertGreater(len(generation["code"]["instructions"]), 5)
        self.assertIn(b" 503 ", b"".join(self.flood(30)))
        said = self.stop(live)
        run = harness.Run(self.folder, 0, b"", said)
        samples = self.check_ledger(run)["samples"]
        self.assertGreater(samples["resolved"], 0.8 * samples["taken"])
        # The code is for the page: the recording has none without --code.
        done = subprocess.run([harness.JITBPF, "annotate", "hot", run.path(".jitbpf")],
                              capture_output=True, check=True, text=True)
        self.assertIn("the recording has no code of this function", done.stdout)
