# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The machine code of engines is the same with the variables of `jitbpf env` and without them.

So is their speed, which is printed, and asserted with a wide bound only.
"""

import os
import re
import statistics
import subprocess
import unittest

import harness
import published

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROUNDS = 3      # interleaved
SLOWER_MAX = 1.4
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def environment(*options):
    """Returns the environment after `eval "$(jitbpf env)"`."""
    text = subprocess.run([harness.JITBPF, "env", *options], check=True, capture_output=True,
                          text=True).stdout
    printed = subprocess.run(["sh", "-c", text + "env -0"], check=True, capture_output=True,
                             text=True).stdout
    return dict(line.split("=", 1) for line in printed.split("\0") if line)


class EngineTest(harness.KernelTest):
    """Programs take the amount of work and a file for their code, and print their CPU time."""

    def run_once(self, name, command, env):
        path = os.path.join(self.folder, name)
        # All addresses are the same: no randomization, and the shim is loaded in both cases.
        done = subprocess.run(["setarch", "-R", *(word.replace("FILE", path)
                                                  for word in command)], check=True,
                              env={**env, "LD_PRELOAD": harness.SHIM, "PYTHONHASHSEED": "0"},
                              stdout=subprocess.PIPE, text=True, cwd=self.folder)
        return self.code(path), float(done.stdout)

    def code(self, path):
        with open(path, "rb") as file:
            return file.read()

    def compare(self, name, before, after):
        """Runs two pairs of command and environment. Returns whether their code is the same, and
        the ratio of CPU times."""
        codes, seconds = [None, None], [[], []]
        for _ in range(ROUNDS):
            for side, (command, env) in enumerate((before, after)):
                code, taken = self.run_once(str(side), command, env)
                self.assertGreater(len(code), 500)
                self.assertIn(codes[side], (None, code), "not the same each time")
                codes[side] = code
                seconds[side].append(taken)
        ratio = statistics.median(seconds[1]) / statistics.median(seconds[0])
        print(f"{name}: {ratio:.2f} times the CPU time; {len(codes[0])} and {len(codes[1])} bytes "
              "that describe the code")
        return codes[0] == codes[1], ratio

    def check(self, name, command, with_command=None):
        same, ratio = self.compare(name, (command, dict(os.environ)),
                                   (with_command or command, environment()))
        self.assertTrue(same, "the environment changes the engine's code")
        self.assertLess(ratio, SLOWER_MAX)


class SameCode(EngineTest):
    def test_numba(self):
        self.check("numba", published.command("numba_code.py", 20000, "FILE"))

    def test_numba_debug(self):
        """The option that costs speed: it does what it says, and no more is set without it."""
        command = published.command("numba_code.py", 2000, "FILE")
        same, _ratio = self.compare("numba, --jit-debug", (command, environment()),
                                    (command, environment("--jit-debug")))
        self.assertFalse(same)

    def test_opencl(self):
        self.check("OpenCL", published.command("opencl_code.py", 20, "FILE"))

    def test_wasmtime(self):
        self.check("wasmtime", published.command("wasmtime_code.py", 300, "FILE", 0),
                   published.command("wasmtime_code.py", 300, "FILE", 2))


class SameInstructions(EngineTest):
    """PHP writes its whole memory for JIT code, which has a few addresses of the heap."""

    def code(self, path):
        text = subprocess.run(["objdump", "-D", "-b", "binary", "-m", "i386:x86-64",
                               "--no-show-raw-insn", path], check=True, capture_output=True,
                              text=True).stdout
        lines = (line.partition("\t")[2] for line in text.splitlines())
        return "\n".join(ADDRESS.sub("ADDRESS", line) for line in lines)

    def test_php(self):
        script = os.path.join(FOLDER, "php_code.php")
        self.check("PHP", ["php", "-d", "opcache.enable_cli=1", "-d", "opcache.jit_buffer_size=4M",
                           "-d", "opcache.jit=tracing", "-d", "opcache.file_update_protection=0",
                           script, "500", "FILE"])


class SameSizes(EngineTest):
    """V8 logs the size of each function's code, in all tiers."""

    def code(self, path):
        with open(path, encoding="utf-8", errors="replace") as log:
            return "\n".join(sorted(
                ",".join((kind, tier, size, name)) for kind, tier, size, name in re.findall(
                    r"^code-creation,(\w+),(\w+),\d+,0x\w+,(\d+),(.*node_code.js[^,]*),",
                    log.read(), re.MULTILINE)))

    def test_node(self):
        script = os.path.join(FOLDER, "node_code.js")
        # On one thread, what is compiled when does not depend on time.
        options = ["--predictable", "--log-code", "--no-logfile-per-isolate", script, "500"]
        self.check("Node.js", ["node", "--logfile=FILE", *options],
                   ["node", "--logfile=FILE", "--perf-prof", *options])


if __name__ == "__main__":
    unittest.main()
