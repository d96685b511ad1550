#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_explain.py BUILD: the terms of a summary are explained, and `report --json` has no others."""

import json
import pathlib
import re
import subprocess
import sys
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"
LIMIT_S = 60
NO_TERMS = {"version", "run", "events", "processes"}


def jitbpf(*arguments, **environment):
    return subprocess.run([str(BUILD / "jitbpf"), *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=LIMIT_S, check=False, **environment)


def paths(value, before=""):
    """Yields the path of each number in a JSON object."""
    for key, member in value.items():
        if isinstance(member, dict):
            yield from paths(member, f"{before}{key}.")
        else:
            yield before + key


class Explain(unittest.TestCase):
    def explained(self, *term):
        done = jitbpf("explain", *term)
        self.assertEqual((done.returncode, done.stderr), (0, ""), term)
        return done.stdout

    def test_all_terms_are_listed_and_explained(self):
        rows = self.explained().splitlines()[1:]
        self.assertGreater(len(rows), 80)
        for row in rows:
            key, words = re.split(r"  +", row.strip(), maxsplit=1)
            self.assertIn(f"({key})\n", self.explained(key))
            self.assertIn(f"({key})\n", self.explained(*words.split(" ")))
            self.assertTrue(all(len(line) <= 80 for line in self.explained(key).splitlines()[1:]))

    def test_every_number_of_the_json_is_a_term(self):
        for path in GOLDEN.glob("*.jitbpf"):
            summary = json.loads(jitbpf("report", "--json", str(path)).stdout)
            numbers = {key: member for key, member in summary.items() if key not in NO_TERMS}
            for key in paths(numbers):
                self.explained("throttled" if key.startswith("throttled.") else key)

    def test_every_line_of_a_summary_is_a_term(self):
        lines = 0
        for path in GOLDEN.glob("*.jitbpf"):
            text = jitbpf("report", str(path)).stdout.split("\n\n")[1]
            for line in text.splitlines():
                reason = re.fullmatch(r" +[\d,]+  (\S.*)", line)
                label = re.match(r" *(\S.*?)  +[\d,]+(  |$)", line)
                if "explain TERM" not in line and not re.match(r"to look into$| +(in /|next: )", line):
                    self.explained(*(reason or label)[1].split(" "))
                    lines += 1
        self.assertGreater(lines, 10)

    def test_an_unknown_term_is_an_error_that_names_the_next_one(self):
        for said, meant in (("no_rlue", "no_rule"), ("stack cot", "stack cut"), ("unwind_evictet", "unwind_evicted"),
                            ("left_otu", "left_out")):  # a key in two groups
            done = jitbpf("explain", said)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"unknown term '{said}': did you mean '{meant}'?", done.stderr)
        self.assertEqual(jitbpf("explain", "x" * 1000).returncode, 2)

    def test_a_part_of_one_term_is_enough(self):
        for said, key in (("Mapped files NOT used", "counters.files_unverified"), ("no_rul", "samples.cut.no_rule"),
                          ("[others of user 1000]", "others_of_user"), ("others of", "others_of_user")):
            self.assertIn(f"({key})\n", self.explained(said))
            self.assertEqual(self.explained(said).count("Why: "), 1)

    def test_every_heading_is_a_term(self):
        for by in ("comm", "pid", "tid", "container"):
            for kind in ("summary", "top"):
                text = jitbpf("report", "-f", kind, "--by", by, str(GOLDEN / "both.jitbpf")).stdout
                for line in re.findall(r"^ *[A-Z]+(?:  ?[A-Z]+)+$", text, re.M):
                    for heading in re.split(r"  +", line.strip()):
                        if heading not in ("PID", "TID", "PROCESS", "THREAD", "FUNCTION", "TREE", "SAMPLES"):
                            self.explained(*heading.removesuffix(" SAMPLES").split(" "))

    def test_what_outputs_show_is_found(self):
        for said, key in (("[cut]", "samples.stack_cut"), ("[too many call paths]", "samples.cut.left_out"),
                          ("1,024  samples without names of functions", "unnamed"), ("  12  no unwind rule", "samples.cut.no_rule"),
                          ("code of another segment", "samples.cut.compat")):
            self.assertIn(f"({key})\n", self.explained(said))
        self.assertEqual(jitbpf("explain", "[none such]").returncode, 2)

    def test_a_part_of_several_terms_is_an_error_that_lists_them(self):
        done = jitbpf("explain", "unknown")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("\n  [unknown] code  (samples.code_unknown)\n", done.stderr)
        rows = done.stderr.splitlines()[1:]
        self.assertGreater(len(rows), 1)
        self.assertTrue(all("unknown" in row.lower() for row in rows))

    def test_the_manual_page_has_the_same_texts(self):
        shown = subprocess.run(["mandoc", "-T", "ascii", "-O", "width=200", str(BUILD / "man" / "jitbpf-explain.1")],
                               capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout
        page = re.sub(r"\s+", " ", re.sub(".\b", "", shown))
        for term in ("jit.sequence_gaps", "counters.samples_ring_full", "samples.cut.bad_frame"):
            for line in self.explained(term).splitlines():
                self.assertIn(re.sub(r"\s+", " ", line).strip(), page)

    def test_keys_are_completed(self):
        offered = jitbpf("complete", "fish", "0", "explain", "samples.cut.no_").stdout
        self.assertIn("samples.cut.no_rule\tno unwind rule\n", offered)


if __name__ == "__main__":
    unittest.main(verbosity=2)
