# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The panel of JIT methods of the live page, which a click on the lane of JIT code opens. With SCREENSHOTS=FOLDER in the
environment, pictures of it are kept there."""
import json
import os
import re
import time

import harness
import test_live
import test_live_code
from test_live import ROOT, STRIP, Browser, page_data, text

CELLS = "[...document.querySelectorAll('#lives tbody tr')].map(r => [...r.children].map(c => c.textContent))"
FACTS = "document.querySelector('#lives .facts').textContent"
FOCUSED = "document.activeElement.id || document.activeElement.textContent"
ALL = "0/4294967295"
JIT, INTERPRETED, INLINED = 3, 4, 128  # kinds of labels


def number(cell):
    return int(cell.replace(",", ""))


class MethodsTest(test_live.GraphTest):
    """What a person does with the panel."""

    def open_page(self, browser, fragment=""):
        browser.screen(1280, 800)
        browser.call("Page.navigate", url=self.url + fragment)
        browser.wait_for(f"Number({ROOT}?.dataset.refreshes ?? 0) >= 3")

    def click_lane(self, browser, part):
        if browser.evaluate("document.getElementById('unfold').ariaExpanded") != "true":
            browser.evaluate("document.getElementById('unfold').click()")
            self.wait_for_refreshes(browser, 1)
        left, top, width, height = browser.evaluate(STRIP)
        browser.mouse(left + part * width, top + height - 10, click=True)

    def rows(self, browser):
        return browser.evaluate(CELLS)

    def open_methods(self, browser, methods="0-"):
        """Lists the methods of a range of time, by its address."""
        browser.evaluate(f"location.hash = 'methods={methods}'")
        browser.wait_for(f"{CELLS}.length > 0")

    def tree_samples(self, browser):
        """Samples by name in the own instructions of JIT code, as the graph has them. Inlined methods are in the code of
        their callers."""
        tree = page_data.PageData(browser.saved("save-page"), merged=False)
        sums = {}
        for node in tree.nodes:
            samples = node.self
            while tree.kinds[node.label] & INLINED:
                node = node.parent
            if samples and tree.kinds[node.label] in (JIT, INTERPRETED):
                sums[node.name] = sums.get(node.name, 0) + samples
        return sums

    def check_samples(self, browser):
        """Nothing runs any more: the samples in the table are those of the graph."""
        tree = self.tree_samples(browser)
        self.assertGreater(sum(tree.values()), 50)
        wanted = json.dumps(dict(sorted(tree.items(), key=lambda item: -item[1])[:150]))
        browser.wait_for(f"(wanted => {{ const rows = {CELLS}, sums = {{}};"
                         "for (const [name, samples] of rows) sums[name] = (sums[name] ?? 0) + Number(samples.replace(/,/g, ''));"
                         f"return Object.entries(wanted).every(([name, n]) => sums[name] === n); }})({wanted})")
        rows = self.rows(browser)
        if len(rows) < 200:
            self.assertEqual(sum(number(row[1]) for row in rows), sum(tree.values()))

    def wait_for_quiet(self, browser):
        """Waits until the program has ended: no sample comes for some seconds, and the table is newer than that."""
        before = None
        while before != (before := self.samples(browser)):
            self.wait_for_refreshes(browser, 12)

    def open_first(self, browser):
        """Opens the first method with the keyboard, and returns its lives."""
        name = self.rows(browser)[0][0]
        browser.evaluate("document.querySelector('#lives tbody button').focus()")
        browser.key("Enter")
        browser.wait_for("location.hash.includes('method=') && document.querySelector('#lives h2').textContent === "
                         f"{json.dumps(name)} && {CELLS}.length > 0")
        lives = self.rows(browser)
        said = re.search(r"([\d,]+) samples?", browser.evaluate(FACTS)).group(1)
        self.assertEqual(sum(number(life[5]) for life in lives), number(said))
        return lives

    def check_code(self, browser):
        """The code of a life that has samples, and the way back."""
        samples = browser.evaluate("document.querySelector('#lives td button').closest('tr').children[5].textContent")
        browser.evaluate("document.querySelector('#lives td button').click()")
        browser.wait_for(test_live_code.ROWS.format("machine") + ".length > 0")
        browser.wait_for(f"{test_live_code.SAMPLED} >= {number(samples)}")
        self.assertTrue(all(re.match("[a-z(]", row[3]) for row in browser.evaluate(test_live_code.ROWS.format("machine"))))
        browser.key("Escape")
        browser.wait_for("!document.getElementById('lives').hidden && document.getElementById('code').hidden")

    def picture(self, browser, name):
        folder = os.environ.get("SCREENSHOTS")
        for width, height in ((1280, 800), (400, 700)) if folder else ():
            for dark in (False, True):
                browser.screen(width, height, dark)
                time.sleep(0.5)
                browser.screenshot(os.path.join(folder, f"{name}-{width}-{'dark' if dark else 'light'}.png"))
        browser.screen(1280, 800)

    def check_problems(self, browser):
        self.assertEqual([each for each in browser.problems if "net::ERR_" not in each], [])
        self.assertIsNone(browser.evaluate(f"{ROOT}.dataset.error"))


@harness.slow
class Storm(MethodsTest):
    def test_refreshes(self):
        """A click lists the methods of a moment. Rows, focus and scroll positions stay where they are while code is loaded; in
        the end, samples are those of the graph."""
        storm = f"{harness.ENGINE} storm --rate 10 --slots 4 --seconds 25"
        live = self.start([harness.JITBPF, "live", "-F", "499", "--", "sh", "-c", storm + "; sleep 300"])
        with Browser() as browser:
            self.open_page(browser)
            browser.wait_for(f"Number({ROOT}.dataset.refreshes) >= 8")
            self.click_lane(browser, .5)
            browser.wait_for(f"{CELLS}.length > 0")
            self.assertRegex(browser.evaluate("location.hash"), r"methods=[\d.]+-[\d.]+$")
            browser.wait_for(f"({FOCUSED}) === {CELLS}[0][0]")  # of a click on the lane, the first row has it
            self.assertTrue(all(re.fullmatch(r"gen_\d+", row[0]) and row[2] in "01" and row[6].startswith("jit-engine ")
                                for row in self.rows(browser)), self.rows(browser))
            browser.key("Escape")
            self.assertTrue(browser.evaluate("document.getElementById('lives').hidden"))

            self.open_methods(browser)
            browser.wait_for(f"{CELLS}.length > 25")
            before = self.rows(browser)
            browser.evaluate("document.querySelector('#lives .scroll').scrollTop = 200;"
                             "document.querySelectorAll('#lives tbody button')[12].focus()")
            place = browser.evaluate("document.querySelector('#lives .scroll').scrollTop")
            self.assertGreater(place, 100)
            browser.wait_for(f"{CELLS}.length > {len(before) + 15}")
            after = self.rows(browser)
            self.assertEqual([row[0] for row in after[:len(before)]], [row[0] for row in before])
            self.assertTrue(all(number(new[1]) >= number(old[1]) for new, old in zip(after, before)))
            self.assertEqual(browser.evaluate(FOCUSED), before[12][0])
            self.assertEqual(browser.evaluate("document.querySelector('#lives .scroll').scrollTop"), place)

            # When it has ended: the same samples as in the graph, in order on demand.
            browser.wait_for(f"{CELLS}.length === 200 && {CELLS}.every(row => row[3] === '1')")
            self.wait_for_quiet(browser)
            browser.evaluate("document.getElementById('lives-sort').click()")
            self.assertTrue(browser.evaluate("document.getElementById('lives-sort').hidden"))
            samples = [number(row[1]) for row in self.rows(browser)]
            self.assertEqual(samples, sorted(samples, reverse=True))
            self.check_samples(browser)
            self.picture(browser, "methods")
            self.open_first(browser)
            self.picture(browser, "method")
            self.check_code(browser)
            self.stop(live)
            browser.wait_for(f"{ROOT}.dataset.live === 'ended'")
            self.assertGreater(len(self.rows(browser)), 0)  # what is known stays
            browser.key("Escape")
            browser.wait_for(f"{CELLS}.length === 200")
            self.check_problems(browser)

    def test_rewritten(self):
        """A method with many lives, each with its own times and samples; a link restores them."""
        self.start([harness.JITBPF, "live", "-F", "499", "--", harness.ENGINE, "storm", "--rate", "4",
                    "--slots", "2", "--name", "rewritten", "--seconds", "120"])
        with Browser() as browser:
            self.open_page(browser)
            self.open_methods(browser)
            lives = self.open_first(browser)
            browser.wait_for(f"{CELLS}.length >= {len(lives) + 6}")
            after = self.rows(browser)
            self.assertEqual([life[0] for life in after[:len(lives)]], [life[0] for life in lives])
            loaded = [float(life[0].split()[0]) for life in after if life[0].endswith(" s")]
            self.assertEqual(loaded, sorted(loaded))
            ended = [life for life in after if life[2] != "still live"]
            self.assertGreater(len(ended), 4)
            self.assertLess(len(ended), len(after))  # the others are still live
            self.assertGreater(sum(number(life[5]) for life in ended), 0)
            self.check_code(browser)
            address = browser.evaluate("location.href")
            browser.call("Page.navigate", url="about:blank")
            browser.call("Page.navigate", url=address)
            browser.wait_for(f"{CELLS}.length >= {len(after)}")
            self.assertEqual(browser.evaluate("document.querySelector('#lives h2').textContent"), "rewritten")
            self.check_problems(browser)

    def test_rotated(self):
        """The panel keeps the methods of a recording that was closed, says so, and lists those of the next one on demand."""
        path = os.path.join(self.folder, "out.jitbpf")
        self.start([harness.JITBPF, "record", "--live", "-F", "199", "--rotate", "12", "-o", path, "--",
                    harness.ENGINE, "storm", "--rate", "10", "--slots", "4", "--seconds", "120"])
        with Browser() as browser:
            self.open_page(browser)
            self.open_methods(browser, "0-5")
            note = "document.querySelector('#lives .note').textContent"
            browser.wait_for(f"{CELLS}.length > 3")
            browser.evaluate("document.querySelectorAll('#lives tbody button')[2].focus()")
            focused = browser.evaluate(FOCUSED)
            browser.wait_for(f"{note}.includes('a recording that was closed')")
            before = self.rows(browser)
            self.assertGreater(len(before), 3)
            self.assertEqual(browser.evaluate(FOCUSED), focused)
            self.wait_for_refreshes(browser, 5)
            self.assertEqual(self.rows(browser), before)
            browser.evaluate("document.querySelector('#lives tbody button').click()")
            browser.wait_for("location.hash.includes('method=')")
            self.assertEqual(len(self.rows(browser)), 1)  # of what it had
            browser.evaluate("document.getElementById('lives-back').click()")
            self.assertEqual(self.rows(browser), before)
            browser.evaluate("document.getElementById('lives-renew').click()")
            browser.wait_for(f"{CELLS}.length > 0 && !{note}.includes('a recording that was closed')")
            self.assertFalse({row[0] for row in self.rows(browser)} & {row[0] for row in before[:-8]})
            self.check_problems(browser)


class Requests(test_live_code.LiveCode):
    """Of numbers that nobody should send. Only this test runs here."""
    test_rewritten = test_native = test_php = test_python = None

    def test_requests(self):
        self.start([harness.JITBPF, "live", "-F", "499", "--", harness.ENGINE, "hot", "--seconds", "60", "--name", "hot"])
        for path in ("methods", "methods/", "methods/0/0/1", "methods/0/0/1/", "methods/0/0/1/2/", "methods/0/-1/1/0",
                     "methods/0/0/4294967296/0", "methods/0/0/x/0", "methods/0/0/1/0x1"):
            self.assertEqual(self.get(path)[0], 404, path)
        self.assertEqual(self.get(f"methods/0/{ALL}/0", Origin="http://attacker.example")[0], 403)
        self.assertEqual(self.get(f"methods/0/{ALL}/0", **{"Sec-Fetch-Site": "cross-site"})[0], 403)
        for path in (f"methods/1/{ALL}/0", f"methods/4294967295/{ALL}/0", f"methods/0/{ALL}/4294967295", f"methods/0/{ALL}/77777"):
            self.assertEqual(self.patient(path), (200, b""), path)

        def found():
            answer = json.loads(self.patient(f"methods/0/{ALL}/0")[1] or "{}")
            return answer if answer.get("lives", {}).get("rows") and answer["total"] > 200 else None
        answer = self.wait_for(found, 60)
        self.assertIn("hot", answer["strings"])
        lives = [dict(zip(("number", "samples", "bytes"), row)) for row in zip(
            *(page_data.numbers(answer["lives"], key) for key in ("number", "samples", "bytes")))]
        self.assertEqual(len(lives), 1)
        self.assertTrue(0 < lives[0]["samples"] <= answer["total"] and lives[0]["bytes"] > 0, lives)
        one = json.loads(self.patient(f"methods/0/{ALL}/{lives[0]['number']}")[1])
        self.assertGreaterEqual(page_data.numbers(one["lives"], "samples")[0], lives[0]["samples"])
        for place in ("0/0/0", "4294967294/4294967295/0", "4294967295/0/0"):
            self.assertEqual(json.loads(self.patient(f"methods/0/{place}")[1])["lives"]["rows"], 0, place)


@harness.needs_php_api
class OfRuntimes(MethodsTest):
    """JIT code that ran for functions of a runtime: these are in the graph, the JIT code is not."""
    def check_hidden(self, mode, wanted):
        self.start([harness.JITBPF, "live", "-F", "499", "--", *harness.php(mode, 120)])
        with Browser() as browser:
            self.open_page(browser)
            self.open_methods(browser)
            row = f"{CELLS}.findIndex(row => row[0].startsWith('{wanted}') && Number(row[1].replace(/,/g, '')) > 50)"
            browser.wait_for(row + " >= 0")
            name = self.rows(browser)[browser.evaluate(row)][0]
            browser.evaluate(f"document.querySelectorAll('#lives tbody button')[{row}].click()")
            browser.wait_for("document.querySelectorAll('#lives td button').length > 0")
            self.check_code(browser)
            browser.evaluate("document.querySelector('#lives td button').click()")
            address = browser.evaluate("location.href")
            browser.call("Page.navigate", url="about:blank")
            browser.call("Page.navigate", url=address)
            browser.wait_for(f"{test_live_code.SAMPLED} > 50")
            self.assertEqual(browser.evaluate("document.querySelector('#code h2').textContent"), name)
            self.check_problems(browser)

    def test_traces(self):
        self.check_hidden("tracing", "TRACE-")

    @harness.slow
    def test_functions(self):
        self.check_hidden("function", "JIT$mandelbrot")


@harness.slow
class Engines(MethodsTest):
    def drive(self, command, wanted):
        """A program with a compiler of its own runs for a while; then nothing changes the samples any more."""
        live = self.start([harness.JITBPF, "live", "-F", "499", *harness.WITH_CODE, "--",
                           "sh", "-c", f"{command}; sleep 300"])
        with Browser() as browser:
            self.open_page(browser)
            self.open_methods(browser)
            browser.wait_for(f"{CELLS}.some(row => /{wanted}/.test(row[0]))")
            browser.wait_for(f"{CELLS}.every(row => Number(row[2]) + Number(row[3]) >= 1)")
            self.wait_for_quiet(browser)
            browser.evaluate("document.getElementById('lives-sort').click()")
            self.check_samples(browser)
            lives = self.open_first(browser)
            self.assertTrue(all(number(life[5]) >= 0 and life[6] for life in lives))
            self.check_code(browser)
            self.stop(live)
            self.check_problems(browser)

    def test_php(self):
        self.drive(" ".join(harness.php("tracing", 8)), "TRACE-")

    def test_java(self):
        import test_java  # pylint: disable=import-outside-toplevel
        if not os.path.exists(test_java.AGENT):
            self.skipTest("built without a JDK: there is no libjitbpf-jvmti.so")
        self.compile_java([test_java.SOURCE])
        self.drive(f"timeout 10 java -cp {self.folder} Fill 1000000", r"Fill\.")


# Base classes are no tests.
del MethodsTest
