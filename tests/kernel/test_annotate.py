# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""jitbpf annotate: instructions and lines of a function. Their samples add up to what the report
counts for it."""

import collections
import json
import os
import re
import subprocess
import sys
import unittest

import harness

sys.path.insert(0, os.path.join(harness.ROOT, "tests/programs/workloads"))

AGENT = os.path.join(os.path.dirname(harness.SHIM), "libjitbpf-jvmti.so")
AS_SUDO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "as_sudo.py")
JAVA_SOURCE = os.path.join(harness.ROOT, "tests/programs/workloads/Fill.java")

PROGRAM = """
#include <stdlib.h>
#include <time.h>
static inline unsigned square(unsigned x)
{
	return x * x + 3; /* line 6 */
}
__attribute__((noinline)) unsigned hot_loop(const volatile unsigned *a, unsigned n)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < n; i++)
		sum += square(a[i]) / (i + 1); /* line 12 */
	return sum;
}
int main(int argc, char **argv)
{
	static volatile unsigned a[4096];
	while (clock() < atof(argv[1]) * CLOCKS_PER_SEC)
		for (int i = 0; i < 20; i++)
			a[0] += hot_loop(a, 4096);
}
"""


class Annotate(harness.KernelTest):
    def annotate(self, run, function, *options, status=0, command=()):
        done = subprocess.run([*command, harness.JITBPF, "annotate", *options, function,
                               run.path(".jitbpf")],
                              capture_output=True, check=False, text=True, errors="replace")
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def annotation(self, run, function, *options):
        return json.loads(self.annotate(run, function, "-f", "json", *options).stdout)

    def page_code(self, run, *options, command=()):
        """The functions with their code in a page, by name; and the text of the page."""
        page = os.path.join(self.folder, "page.html")
        with open(page, "wb") as out:  # by us, also if another user runs the command
            done = subprocess.run([*command, harness.JITBPF, "report", "-f", "html", *options,
                                   run.path(".jitbpf")], stdout=out, stderr=subprocess.PIPE,
                                  check=False, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        data = json.loads(re.search(r'id="profile">(.*?)</script>', text, re.S)[1])
        return {function["name"]: function
                for function in data.get("functions", {"list": []})["list"]}, text

    def self_samples(self, run):
        """The samples of each function itself, of which inlined ones are a part."""
        done = run.report("-f", "folded", "--no-inline", *harness.WITH_CODE)
        counts = collections.Counter()
        for line in done.stdout.decode(errors="replace").splitlines():
            stack, count = line.rsplit(" ", 1)
            counts[re.sub(r"_\[[a-z]\]$", "", stack.rsplit(";", 1)[-1])] += int(count)
        return counts

    def check_sums(self, run, name):
        """Returns each piece of code, with what is known of it."""
        whole = self.annotation(run, name)
        first, numbers = whole["pieces"][0], range(1, len(whole["generations"]) + 1)
        every = [{**life, **piece} for life, piece in
                 zip(whole["generations"], sorted(whole["pieces"], key=lambda piece: piece["number"]))]
        self.assertEqual([one["number"] for one in every], list(numbers))
        for number in {1, first["number"], numbers[-1]}:
            only, = self.annotation(run, name, "-g", str(number))["pieces"]
            self.assertEqual({**whole["generations"][number - 1], **only}, every[number - 1])
        for one in every:
            if "instructions" in one:  # not source lines of what was interpreted
                self.assertEqual(sum(i["samples"] for i in one["instructions"]), one["samples"])
            self.assertEqual(sum(line["samples"] for line in one["lines"]), one["samples"])
            instructions = one.get("instructions", [])
            for before, after in zip(instructions, instructions[1:]):
                self.assertEqual(before["offset"] + len(before.get("code", "")) // 2
                                 if "code" in before and "code" in after else after["offset"],
                                 after["offset"])
        # With its code, what was interpreted is the interpreter's.
        self.assertEqual(sum(one["samples"] for one in every if "instructions" in one),
                         self.self_samples(run)[name])
        self.assertEqual(first["samples"], max(one["samples"] for one in every))
        return every

    def build(self):
        self.source, program = (os.path.join(self.folder, name) for name in ("hot.c", "hot"))
        with open(self.source, "w", encoding="ascii") as file:
            file.write(PROGRAM)
        subprocess.run(["cc", "-O2", "-g", "-Wl,--build-id", "-o", program, self.source],
                       check=True)
        return program


class Native(Annotate):
    def setUp(self):
        super().setUp()
        self.program = self.build()
        self.run_ = self.record([self.program, "1"], ["-F", "999"], endings=(".jitbpf",))

    def objdump(self, name):
        """The offsets of a function's instructions, as objdump finds them."""
        done = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={name}",
                               self.program], capture_output=True, check=True, text=True)
        lines = [line.split(":\t") for line in done.stdout.splitlines() if ":\t" in line]
        addresses = [int(line[0], 16) for line in lines]
        return [address - addresses[0] for address in addresses], \
            [line[1].split()[0] for line in lines]

    def test_function(self):
        self.check_truth()
        self.check_text()
        self.check_choice()

    def check_truth(self):
        only, = self.check_sums(self.run_, "hot_loop")
        self.assertGreater(only["samples"], 300)
        self.assertEqual(only["code"], "known")
        offsets, mnemonics = self.objdump("hot_loop")
        self.assertEqual([i["offset"] for i in only["instructions"]], offsets)
        # The division takes most of the time; the clock's interrupt comes behind it.
        hottest = max(only["instructions"], key=lambda i: i["samples"])
        at = offsets.index(hottest["offset"])
        self.assertTrue(any(m.startswith("div") for m in mnemonics[max(0, at - 2):at + 1]),
                        mnemonics)
        inlined = [i["frames"] for i in only["instructions"] if len(i["frames"]) == 2]
        self.assertTrue(inlined)
        for chain in inlined:
            self.assertEqual([(frame["name"], frame["line"]) for frame in chain],
                             [("square", 6), ("hot_loop", 12)])

    def check_text(self):
        said = self.annotate(self.run_, "hot_loop")
        self.assertIn("sum += square(a[i]) / (i + 1);", said.stdout)
        self.assertIn("square hot.c:6 < hot_loop hot.c:12", said.stdout)
        self.assertNotIn("\x1b", said.stdout)
        self.assertEqual(said.stderr, "")
        said = self.annotate(self.run_, "hot_loop", "--lines")
        self.assertRegex(said.stdout, r"hot\.c:12 .*sum \+=")
        self.assertNotIn("div", said.stdout.split("\n\n")[-1])
        said = self.annotate(self.run_, "hot_loop", "--asm", "-M", "intel")
        self.assertRegex(said.stdout, r"div ecx|div e..|div dword")
        self.assertNotIn("sum", said.stdout)

    def check_choice(self):
        said = self.annotate(self.run_, "o", status=1)
        self.assertIn("functions match 'o'", said.stderr)
        self.assertRegex(said.stderr, r"hot_loop \(/.*/hot\)")
        said = self.annotate(self.run_, "no_such_thing", status=1)
        self.assertIn("no function 'no_such_thing'", said.stderr)
        said = self.annotate(self.run_, "hot_loop", "-g", "2", status=1)
        self.assertIn("there is no generation 2", said.stderr)

    def check_file_changed(self):
        """The samples are shown, but not the instructions of another program."""
        with open(self.source, "a", encoding="ascii") as file:
            file.write("unsigned more(unsigned x) { return x + 1; }\n")
        subprocess.run(["cc", "-O0", "-g", "-Wl,--build-id", "-o", self.program, self.source],
                       check=True)
        said = self.annotate(self.run_, "hot_loop")
        self.assertIn("not the one that was recorded", said.stdout)
        self.assertNotIn("div", said.stdout)
        self.assertIn(f"source {self.source}: changed after the recording", said.stderr)
        self.check_sums(self.run_, "hot_loop")

    def check_source(self, words):
        said = self.annotate(self.run_, "hot_loop")
        self.assertIn(f"source {self.source}: {words}", said.stderr)
        self.assertIn("hot.c:12", said.stdout)
        self.assertNotIn("sum +=", said.stdout)

    def check_page(self):
        """The page has no source line without --code, and then the same samples as here."""
        functions, text = self.page_code(self.run_)
        self.assertEqual(functions, {})
        self.assertNotIn("sum +=", text)
        os.chmod(self.folder, 0o700)  # which others cannot enter
        self.check_page_source("not everybody may read it")
        os.chmod(self.folder, 0o755)
        functions, text = self.page_code(self.run_, "--code")
        only, = self.check_sums(self.run_, "hot_loop")
        code = functions["hot_loop"]["generations"][0]["code"]
        self.assertEqual([(i["offset"], i["samples"]) for i in only["instructions"]],
                         [tuple(i[:2]) for i in code["instructions"]])
        chains = [code["frames"][i[4] - 1] for i in code["instructions"] if i[4]]
        self.assertIn(["square", 6, "hot_loop", 12],
                      [[code["strings"][c[0]], c[2], code["strings"][c[3]], c[5]]
                       for c in chains if len(c) == 6])
        lines = {line: text for _, line, text in code["lines"]}
        self.assertIn("return x * x + 3;", lines[6])
        self.assertIn("sum += square(a[i]) / (i + 1);", lines[12])
        self.assertEqual(code["troubles"], [])

    def check_page_source(self, words, *options, command=()):
        """No source line is in the page, and it says why."""
        functions, text = self.page_code(self.run_, "--code", *options, command=command)
        code = functions["hot_loop"]["generations"][0]["code"]
        self.assertEqual([said for _, said in code["troubles"] if words in said],
                         [said for _, said in code["troubles"]])
        self.assertTrue(code["troubles"])
        self.assertNotIn("sum +=", text)

    def check_page_rights(self):
        """A page is passed on: it has no line of a file that not everybody may read, unless the
        user names its folder; and none that the user cannot read."""
        sudo = [sys.executable, AS_SUDO, "nobody"]
        os.chmod(self.source, 0o600)
        self.check_page_source("not everybody may read it")
        self.check_page_source("Permission denied", command=sudo)
        functions, text = self.page_code(self.run_, "--code", "--source", self.folder)
        self.assertIn("sum +=", text)
        os.chmod(self.source, 0o644)
        self.assertIn("sum +=", self.page_code(self.run_, "--code", command=sudo)[1])

    def test_files(self):
        self.check_page()
        self.check_rights()
        self.check_page_rights()
        self.check_file_changed()
        os.remove(self.source)
        self.check_source("it was not found (--source DIR searches in DIR, too)")
        os.mkfifo(self.source)
        self.check_source("it is not a regular file")
        self.check_page_source("it is not a regular file")
        os.remove(self.source)
        with open(self.source, "wb") as file:
            file.truncate(2 << 30)
        self.check_source("it is too large")
        self.check_page_source("it is too large")

    def check_rights(self):
        """The source is read with the rights of the user who called sudo."""
        os.chmod(self.folder, 0o755)
        os.chmod(self.source, 0o600)
        sudo = [sys.executable, AS_SUDO, "nobody"]
        said = self.annotate(self.run_, "hot_loop", command=sudo)
        self.assertIn(f"source {self.source}: Permission denied", said.stderr)
        self.assertNotIn("sum +=", said.stdout)
        os.chmod(self.source, 0o644)
        self.assertIn("sum +=", self.annotate(self.run_, "hot_loop", command=sudo).stdout)


class Jit(Annotate):
    def check_known(self, every):
        """The code was kept, and each sample is at an instruction of it."""
        known = [one for one in every if one.get("code") == "known"]
        # On a busy machine, the code of a short-lived one may come too late.
        self.assertGreaterEqual(sum(one["samples"] for one in known),
                                0.8 * sum(one["samples"] for one in every), every)
        bad = [i for one in known for i in one["instructions"]
               if i["samples"] and i["text"].startswith(".byte")]
        self.assertEqual(bad, [])

    def test_overwritten(self):
        """Functions replace each other at 16 addresses. Each has its number in its code, which is
        kept as it was."""
        command = [harness.ENGINE, "storm", "--rate", "100", "--seconds", "1"]
        run = self.record(command, ["-F", "1999", "--code"], endings=(".jitbpf",))
        counts = [(name, count) for name, count in self.self_samples(run).most_common()
                  if name.startswith("gen_")]
        self.assertGreater(len(counts), 30, run.stderr)
        every = [one for name, _count in counts[:4] + counts[-4:]
                 for one in self.check_sums(run, name)]
        self.check_known(every)
        for one in every:
            if one["code"] == "known":
                texts = [i["text"] for i in one["instructions"]]
                tag = 0x6a69740000000000 | int(one["name"][4:])
                self.assertIn(f"mov $0x{tag:x}, %r15", texts)
                self.assertEqual(texts[0], "push %rbp")
        # All but the last ones at the addresses were replaced while they were recorded.
        last = max(int(name[4:]) for name, _count in counts)
        lives = [one for one in every if int(one["name"][4:]) < last - 20]
        self.assertTrue(lives)
        for life in lives:
            self.assertLess(life["loaded_ns"], life["ended_ns"])
            self.assertLess(life["ended_ns"] - life["loaded_ns"], 60e9)

    def test_php(self):
        run = self.record(harness.php("function", 1.5), ["-F", "999", "--code"],
                          endings=(".jitbpf",))
        name, samples = max(((name, count) for name, count in self.self_samples(run).items()
                             if name.startswith("JIT$") or "numbers.php" in name or
                             name in ("mandelbrot", "collatz")),
                            key=lambda item: item[1], default=(None, 0))
        self.assertIsNotNone(name, self.self_samples(run).most_common(9))
        self.assertGreater(samples, 50)
        self.check_known(self.check_sums(run, name))

    @unittest.skipUnless(os.path.exists(AGENT), "built without a JDK: no libjitbpf-jvmti.so")
    def test_java(self):
        self.compile_java([JAVA_SOURCE])
        command = ["java", f"-agentpath:{AGENT}", "-cp", self.folder, "Fill", "800"]
        run = self.record(command, ["-F", "999", "--code"], endings=(".jitbpf",))
        every = self.check_sums(run, "Fill.fillArray")
        self.check_known(every)
        hottest = max(every, key=lambda one: one["samples"])
        self.assertGreater(hottest["samples"], 50)
        lines = {line.get("line") for line in hottest["lines"] if line["samples"]}
        self.assertTrue(lines & {13, 14, 20, 21}, lines)
