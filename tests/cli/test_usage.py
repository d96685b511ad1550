#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_usage.py BUILD: what a new user types, without root: several outputs, no recording, words of perf."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"
PERF_WORDS = (("record -g -- true", "stacks are always recorded"), ("record --call-graph dwarf", "stacks are always"),
              ("record -ag -- true", "unknown option '-g' in '-ag': stacks are always"), ("top -ag", "stacks are always"),
              ("top -qae cycles", "jitbpf top: -e cycles: CPU time is always"),
              ("record -pid 1", "did you mean '--pid'?"), ("report -format=top", "did you mean '--format'?"),
              ("live -g", "stacks are always"), ("top --call-graph=fp", "stacks are always"),
              ("record -e cycles", "CPU time is always"), ("record --event=cpu-clock -a", "CPU time is always"),
              ("live --event=cycles", "jitbpf live: -e cycles: CPU time is always"),
              ("record -c 1000", "-F HZ"), ("record -t 1", "report --thread"), ("report -i x", "jitbpf report FILE"),
              ("report --stdio", "report -f top"), ("script", "jitbpf report -f script"),
              ("record -C 0 -a", "all CPUs are sampled"), ("top --cpu=1", "all CPUs are sampled"),
              ("record --all-cpus", "use -a"), ("report -n", "numbers of samples"), ("report -s sym", "--sort self"),
              ("report --no-children", "--sort self"), ("annotate -s main", "annotate FUNCTION"),
              ("load a.jitbpf", "report -o FILE.html"), ("archive", "copy it"),
              ("flamegraph", "jitbpf report -o"), ("help script", "jitbpf report -f script"))


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def jitbpf(self, *arguments):
        return subprocess.run([str(BUILD / "jitbpf"), *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False)

    def refused(self, words, *arguments):
        done = self.jitbpf(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class OlderRecordings(InFolder):
    """A recording that another version made: the message says which version reads it."""

    def with_version(self, version):
        recording = bytearray((GOLDEN / "php.jitbpf").read_bytes())
        recording[8:12] = version.to_bytes(4, "little")
        path = pathlib.Path(self.path("a.jitbpf"))
        path.write_bytes(recording)

    def test_all_commands_name_the_version(self):
        for version in (1, 2, 3):
            self.with_version(version)
            for command in (("report",), ("annotate", "main"), ("diff", "a.jitbpf")):
                done = self.jitbpf(*command, "a.jitbpf")
                self.assertEqual((done.returncode, done.stdout), (1, ""), command)
                self.assertEqual(done.stderr, f"jitbpf: a.jitbpf: a recording of format {version}, which only development "
                                 "versions before 0.1.0 read: use one of them, or record again\n")

    def test_newer(self):
        self.with_version(1000)
        done = self.jitbpf("report", "a.jitbpf")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (1, "", "jitbpf: a.jitbpf: made by a newer jitbpf: use that version to read it\n"))


class Outputs(InFolder):
    def setUp(self):
        super().setUp()
        shutil.copy(GOLDEN / "php.jitbpf", self.path("a.jitbpf"))

    def test_each_output_is_written_as_if_alone(self):
        names = ("a.speedscope.json", "x.html", "b.folded", "c.txt")
        done = self.jitbpf("report", *(word for name in names for word in ("-o", "all-" + name)), "a.jitbpf")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        for name in names:
            self.assertEqual(self.jitbpf("report", "-o", name, "a.jitbpf").returncode, 0)
            alone, together = (pathlib.Path(self.path(of)).read_bytes() for of in (name, "all-" + name))
            self.assertEqual(alone, together, name)

    def test_format_is_that_of_standard_output(self):
        done = self.jitbpf("report", "-o", "-", "-f", "folded", "-o", "x.speedscope.json", "a.jitbpf")
        self.assertEqual(done.stdout, (GOLDEN / "php.folded").read_text())
        json.loads(pathlib.Path(self.path("x.speedscope.json")).read_text())
        done = self.jitbpf("report", "-o", "y.folded", "-o", "-", "--no-packages", "a.jitbpf")
        self.assertEqual(done.stdout, (GOLDEN / "php.summary").read_text())

    def test_json_said_twice(self):
        done = self.jitbpf("report", "--json", "--no-packages", "-f", "json", "a.jitbpf")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, (GOLDEN / "php.json").read_text())
        self.refused("--json is for the summary", "report", "--json", "-f", "folded", "a.jitbpf")

    def test_outputs_that_do_not_fit_together(self):
        self.refused("given twice", "report", "-o", "-", "-o", "/dev/stdout", "a.jitbpf")
        self.refused("its extension", "report", "-o", "a.txt", "-o", "b.txt", "-f", "folded", "a.jitbpf")
        self.refused("its extension", "report", "-o", "a.txt", "-o", "b.txt", "--json", "a.jitbpf")
        self.refused("--code", "report", "-o", "a.txt", "-o", "b.folded", "--code", "a.jitbpf")
        done = self.jitbpf("report", "-o", "a.txt", "-o", "./a.txt", "a.jitbpf")
        self.assertIn("given twice", done.stderr)
        self.assertEqual(os.listdir(self.folder), ["a.jitbpf"])

    def test_a_second_value_does_not_replace_the_first(self):
        self.refused("another value already: '-o'", "diff", "-o", "a.txt", "-o", "b.txt", "a.jitbpf", "a.jitbpf")
        self.refused("another value already: '--format=top'", "report", "-f", "folded", "--format=top", "a.jitbpf")


class Selection(InFolder):
    def test_a_selection_without_samples_says_so(self):
        recording = str(GOLDEN / "php.jitbpf")
        for options in (["--comm", "nosuch"], ["--pid", "1"], ["--from", "5h", "-f", "folded"]):
            done = self.jitbpf("report", *options, recording)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stderr, r"\Ajitbpf: no sample of \S+ is selected by .*'jitbpf report -f top .*\n\Z")
        for options in ([], ["--comm", "php8.2"], ["--comm", "php"]):
            said = self.jitbpf("report", *options, recording)
            self.assertEqual("no sample of" in said.stderr, "samples taken  0" in re.sub("  +", "  ", said.stdout))

    def test_a_recording_without_samples_is_no_matter_of_the_selection(self):
        self.assertNotIn("no sample of", self.jitbpf("report", str(GOLDEN / "php.jitbpf")).stderr)


class Operands(InFolder):
    def test_the_default_recording(self):
        done = self.jitbpf("report")
        self.assertEqual(done.returncode, 1)
        self.assertIn("profile.jitbpf: No such file or directory: 'jitbpf record' makes a recording", done.stderr)
        shutil.copy(GOLDEN / "php.jitbpf", self.path("profile.jitbpf"))
        self.assertEqual(self.jitbpf("report", "--no-packages").stdout, (GOLDEN / "php.summary").read_text())
        self.refused("expected one recording", "report", "profile.jitbpf", "profile.jitbpf")

    def test_source_folders_are_for_the_live_page(self):
        self.refused("--source needs --live", "record", "--source", ".", "true")

    def test_function_and_recording_in_either_order(self):
        shutil.copy(GOLDEN / "code.jitbpf", self.path("code.jitbpf"))
        right = self.jitbpf("annotate", "gen_4", "code.jitbpf")
        self.assertEqual(right.returncode, 0, right.stderr)
        self.assertIn("gen_4", right.stdout)
        swapped = self.jitbpf("annotate", "code.jitbpf", "gen_4")
        self.assertEqual((swapped.returncode, swapped.stdout), (0, right.stdout), swapped.stderr)
        self.refused("a function is missing: jitbpf annotate FUNCTION code.jitbpf;", "annotate", "code.jitbpf")
        done = self.jitbpf("annotate", "x.jitbpf", "code.jitbpf")
        self.assertIn("no function 'x.jitbpf' with machine code or source lines has a sample in code.jitbpf", done.stderr)
        self.refused("expected a function", "annotate", "gen_4", "code.jitbpf", "more")

    def test_recording_that_is_cut_before_its_description(self):
        whole = (GOLDEN / "php.jitbpf").read_bytes()
        for size in (16, 17, 40, 200):
            pathlib.Path(self.path("cut.jitbpf")).write_bytes(whole[:size])
            for command in (["report", "cut.jitbpf"], ["report", "--json", "cut.jitbpf"], ["report", "-f", "top", "cut.jitbpf"],
                            ["report", "-o", "x.html", "cut.jitbpf"], ["annotate", "f", "cut.jitbpf"],
                            ["diff", "cut.jitbpf", str(GOLDEN / "php.jitbpf")]):
                done = self.jitbpf(*command)
                self.assertEqual((done.returncode, done.stdout), (1, ""), command)
                self.assertRegex(done.stderr, r"\Ajitbpf: cut.jitbpf is damaged at offset \d+: the recording was cut\n"
                                              r"jitbpf: nothing can be shown, .*: record again\n\Z")
        self.assertEqual(os.listdir(self.folder), ["cut.jitbpf"])


class List(InFolder):
    """Which processes are listed; they are the test's own, and have no JIT code."""

    def start(self, name):
        program = self.path(name)
        shutil.copy(shutil.which("sleep"), program)
        process = subprocess.Popen([program, "60"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        while pathlib.Path(f"/proc/{process.pid}/comm").read_text().strip() != name[:15]: # fork, then exec
            time.sleep(0.01)

    def test_names(self):
        self.start("of-a-long-name-sleeper")
        for name in ("of-a-long-name-sleeper", "of-a-long-name-"):
            done = self.jitbpf("list", "-p", name)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", "jitbpf: no JIT code found, and no runtime whose functions are shown\n"))
        done = self.jitbpf("list", "-p", "no-such-name,of-a-long-name-sleeper")
        self.assertEqual((done.returncode, done.stderr),
                         (0, "jitbpf: no process of the name 'no-such-name' runs\njitbpf: no JIT code found, and no runtime whose functions are shown\n"))
        done = self.jitbpf("list", "--json", "-p", "no-such-name")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (1, "", "jitbpf: no process of the name 'no-such-name' runs\n"))
        self.refused("cannot be combined", "list", "-p", f"{os.getpid()},no-such-name")
        self.refused("a pid or a name is missing", "list", "-p", "a,")


class Words(InFolder):
    def test_words_of_perf(self):
        for line, words in PERF_WORDS:
            with self.subTest(line):
                self.refused(words, *line.split())


class Choice(InFolder):
    """What an empty variable of a script leaves must not become the whole system."""

    def test_empty_values(self):
        self.refused("-p '': a pid or a name is missing", "record", "-p", "", "-d", "1")
        self.refused("-u '': a user is missing", "record", "-u", "", "-d", "1")
        for command in ("record", "live", "top"):
            self.refused(f"jitbpf {command}: a command is missing after '--'", command, "--")
        self.refused("a command is missing", "record", "-a", "-d", "1", "--")

    def test_pids_of_the_whole_system(self):
        for command in ("record", "live", "top"):
            self.refused(f"jitbpf {command}: -p with pids cannot be combined with -a", command, "-a", "-p",
                         str(os.getpid()))

    def test_control_characters_do_not_reach_the_terminal(self):
        """Who can write to a folder chooses the names there, which a shell may put into a command."""
        bad = "a\x1b]0;title\x07\x9b31m\njitbpf: b.jitbpf"
        (pathlib.Path(self.folder) / bad).write_bytes(b"JITBPF\r\n")
        for command in (["report", bad], ["report", "-f", "x" + bad, "a.jitbpf"], ["report", "no" + bad],
                        ["report", bad, bad], ["diff", bad, bad], ["annotate", "f", bad], ["annotate", bad],
                        ["report", "--no" + bad], ["record", "--", "no/" + bad],
                        ["report", "-o", bad + "/x.txt", "a.jitbpf"], ["live", "-F", bad], ["list", bad], [bad]):
            done = self.jitbpf(*command)
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, "^jitbpf[^\x00-\x09\x0b-\x1f]*\n\\Z", command)
            self.assertNotIn("\njitbpf: b", done.stderr, command)

    def test_messages_name_the_command(self):
        for command in ("record", "live"):
            self.refused(f"jitbpf {command}: -o - needs a format", command, "-o", "-", "true")


class By(InFolder):
    """Live pages, runs and the screen of top with root: kernel/test_live_by.py, kernel/test_top.py."""

    def test_outermost_frames_of_a_report(self):
        for by, expected in (("comm", r"php"), ("pid", r"php-\d+"), ("tid", r"php-\d+/\d+"),
                             ("container", r"\[unknown cgroup\];php")):
            done = self.jitbpf("report", "-f", "folded", "--by", by, str(GOLDEN / "php.jitbpf"))
            lines = done.stdout.splitlines()
            self.assertEqual([line for line in lines if not re.match(expected + ";", line)], [], by)
            self.assertTrue(lines)

    def test_values_that_cannot_be(self):
        self.refused("use --by pid, and T for one thread", "top", "--by", "tid", "--", "true")
        for command in ("record", "live", "top", "report"):
            self.refused("--by", command, "--by", "user")


if __name__ == "__main__":
    unittest.main(verbosity=2)
