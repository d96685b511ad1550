# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How long a new method takes from its first sample to its name on the live page, in headless Chromium.

A program runs one new method after the other. The page's search waits for one that has no samples yet;
when the page says that it matches, and has painted that, the next wait begins. The recording that runs
beside the page has the time of the first sample. All programs and rounds take seven minutes.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time

import measure

sys.path.insert(0, os.path.join(measure.ROOT, "tests/ui"))

from browser import Browser, installed_browser  # noqa: E402

METHODS = 900   # of a program, which is ended before
SECONDS = 40    # of a run
ROUNDS = 3
SKIPPED = 10    # most methods between two that are measured

# Waits for methods: `wanted` is the number of the one in the search.
WATCH = """new Promise(done => {
    const pattern = %s, search = document.getElementById('search'), seen = {};
    const matches = () => /[1-9]/.test(document.getElementById('matched').textContent);
    let wanted = 0, asked = false;
    const ask = () => {
        asked = false;
        do {
            wanted += 1 + Math.floor(Math.random() * %d);    // any phase of what is periodic
            search.value = pattern.replace('#', wanted);
            search.dispatchEvent(new Event('input'));
        } while (matches());
        asked = true;
    };
    new MutationObserver(() => {
        if (!asked || !matches())
            return;
        const name = wanted;
        requestAnimationFrame(() => setTimeout(() => { seen[name] = Date.now(); }));
        ask();
    }).observe(document.documentElement, {attributes: true, attributeFilter: ['data-refreshes']});
    ask();
    setTimeout(() => done(seen), %d);
})"""


def php(bench):
    """Each function's loop is compiled as a trace of its own."""
    functions = "".join(f"function step{i}() {{ for ($s = $k = 0; $k < 5000000; $k++) $s += $k * $k % 7; "
                        "return $s; }\n" for i in range(METHODS))
    path = bench.path("steps.php")
    with open(path, "w", encoding="ascii") as file:
        file.write(f"<?php\n{functions}for ($i = 0; $i < {METHODS}; $i++) (\"step\" . $i)();\n")
    return ["php", "-d", "opcache.enable_cli=1", "-d", "opcache.jit_buffer_size=64M",
            "-d", "opcache.jit=tracing", "-d", "opcache.file_update_protection=0", path], r"TRACE-\d+\$step#\$"


def java(bench):
    methods = "".join(f"static long step{i}() {{ long s = 0; for (long k = 0; k < 40000000L; k++) "
                      "s += k * (s | 1); return s; }\n" for i in range(METHODS))
    calls = "".join(f"s += step{i}();\n" for i in range(METHODS))
    path = bench.path("Steps.java")
    with open(path, "w", encoding="ascii") as file:
        file.write(f"public class Steps {{\n{methods}public static void main(String[] a) {{ long s = 0;\n{calls}"
                   "System.out.println(s); } }\n")
    measure.run(["javac", "-d", bench.scratch, path])
    return ["java", "-XX:+UseSerialGC", "-cp", bench.scratch, "Steps"], r"Steps\.step#$"


def engine(bench):
    return [bench.engine, "storm", "--rate", "10", "--iterations", "60000000", "--slots", "512",
            "--seconds", str(SECONDS + 5)], r"gen_#$"


PROGRAMS = {"the test engine": (engine, None), "PHP": (php, "php"), "Java": (java, "javac")}


def first_samples(bench, recording, pattern):
    """Returns {number: seconds since the epoch} of the first samples with a method in their stacks."""
    text = subprocess.run([bench.jitbpf, "report", "-f", "script", "--fields", "time,sym", recording], check=True,
                          stdout=subprocess.PIPE).stdout.decode(errors="replace")
    wall, found, at = time.time() - time.monotonic(), {}, 0.0
    method = re.compile(pattern.replace("#", r"(\d+)"))
    for line in text.splitlines():
        if header := re.match(r" *(\d+\.\d+):", line):
            at = float(header[1])
        elif name := method.search(line):
            found.setdefault(int(name[1]), at + wall)
    return found


def run(bench, command, pattern):
    """Returns latencies in seconds."""
    recording, messages = bench.path("beside.jitbpf"), bench.path("messages")
    with open(messages, "w", encoding="ascii") as out:
        process = measure.start([bench.jitbpf, "record", "--live", "-F", "997", "-o", recording, "--", *command],
                                stderr=out, cwd=bench.scratch)
    while not (address := re.search(r"http://\S+/", open(messages, encoding="utf-8").read())):
        time.sleep(.05)
    with Browser() as browser:
        browser.screen(1400, 900)
        browser.call("Page.navigate", url=address.group())
        browser.wait_for("Number(document.documentElement?.dataset.refreshes) >= 1")
        seen = browser.evaluate(WATCH % (json.dumps(pattern), SKIPPED, SECONDS * 1000))
    measure.interrupt(process)
    process.wait()
    first = first_samples(bench, recording, pattern)
    return [at / 1000 - first[int(number)] for number, at in seen.items()]


def percentile(values, share):
    return sorted(values)[int(len(values) * share)]


def report(bench, table):
    table.heading("From a new method's first sample to its name on the live page")
    if not installed_browser():
        table.note("there is no chromium")
        return
    for name, (program, needed) in PROGRAMS.items():
        if needed and not shutil.which(needed):
            table.note(f"there is no {needed}")
            continue
        rows = [run(bench, *program(bench)) for _ in range(ROUNDS)]
        if not all(rows):
            table.note(f"{name}: no names on the page")
            continue
        table.add(f"{name}, median", [percentile(row, .5) for row in rows], "s", 2)
        table.add("  95th percentile", [percentile(row, .95) for row in rows], "s", 2, aim="<= 1.2")
        table.note(f"  {', '.join(str(len(row)) for row in rows)} methods")
