# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Python's own functions are in the stacks: from the start, late, of threads, of children, and of
short runs."""

import ctypes
import glob
import os
import shutil
import subprocess
import sys
import unittest

import harness
import run_for
import runtime_truth

SOURCE = os.path.join(harness.ROOT, "tests/programs/workloads/python_frames.py")
PYTHON = sys.executable
FIELDS = ["-F", "499", "--fields", "+srcline"]
COMMS = {"python3", "python", os.path.basename(os.path.realpath(PYTHON))}

FORKING = """
import os, runpy, sys
children = []
for _ in range(3):
    pid = os.fork()
    if not pid:
        sys.argv = [sys.argv[1], "0.7"]
        runpy.run_path(sys.argv[0], run_name="__main__")
        os._exit(0)
    children.append(pid)
for pid in children:
    os.waitpid(pid, 0)
"""


# No unwind rule holds in this code: its callers are not found.
NO_RULE = r"""
__asm__(".text\n.globl no_rule\n.type no_rule, @function\nno_rule:\n"
	"pushq %rbp\nmovq %rsp, %xmm0\nandq $-4096, %rsp\nxorl %ebp, %ebp\n"
	"0: incq %rbp\ncmpq %rbp, %rdi\njne 0b\n"
	"movq %xmm0, %rsp\npopq %rbp\nret\n.size no_rule, .-no_rule\n");
"""

CALLING = """
import ctypes, sys, time

no_rule = ctypes.CDLL(sys.argv[1]).no_rule
no_rule.argtypes = [ctypes.c_long]


def native__main():
    no_rule(10_000_000)


def main(seconds):
    while time.process_time() < seconds:
        native__main()


main(float(sys.argv[2]))
"""


# Runs Python twice. Between, its library is not mapped, and other memory may be in its place.
UNLOADING = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static __attribute__((noinline)) void native(double seconds)
{
	for (double end = cpu() + seconds; cpu() < end;)
		for (volatile int i = 0; i < 100000; i++)
			;
}

static int run(const char *library, const char *name)
{
	void *python = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
	char code[512];

	if (!python)
		return 1;
	snprintf(code, sizeof(code), "import time\ndef %s():\n  for i in range(20000): pass\n"
		 "end = time.process_time() + 0.6\nwhile time.process_time() < end: %s()\n", name, name);
	((void (*)(void))dlsym(python, "Py_Initialize"))();
	((int (*)(const char *))dlsym(python, "PyRun_SimpleString"))(code);
	((int (*)(void))dlsym(python, "Py_FinalizeEx"))();
	dlclose(python);
	return dlopen(library, RTLD_NOW | RTLD_NOLOAD) != NULL;
}

int main(int argc, char **argv)
{
	void *filled;

	if (run(argv[1], "python_first"))
		return 1;
	filled = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(filled, 0x41, 64 << 20);
	native(0.6);
	return run(argv[1], "python_second");
}
"""


def python_library():
    """The library of Python, or None: it is not installed."""
    name = "libpython{}.{}.so.1.0".format(*sys.version_info)
    try:
        ctypes.CDLL(name)
    except OSError:
        return None
    return name


def python_with_trampolines():
    """A Python that has -X perf, or None."""
    builds = [sys.executable, *glob.glob(os.path.expanduser("~/.pyenv/versions/3.1[2-9].*/bin/python3"))]
    code = "import sys; sys.exit(not sys.is_stack_trampoline_active())"
    return next((python for python in builds
                 if not subprocess.run([python, "-X", "perf", "-c", code], check=False,
                                       stderr=subprocess.DEVNULL).returncode), None)


class Unloaded(harness.KernelTest):
    @unittest.skipUnless(python_library(), "the library of Python is not installed")
    def test_unloaded(self):
        """A runtime that is unmapped has no functions, and has them again when it is mapped again."""
        source, program = (os.path.join(self.folder, name) for name in ("unloading.c", "unloading"))
        with open(source, "w", encoding="ascii") as file:
            file.write(UNLOADING)
        subprocess.run(["gcc", "-O1", "-o", program, source, "-ldl"], check=True)
        run = self.record([program, python_library()], ["-F", "499"])
        stacks = run.report("-f", "folded", "--comm", "unloading").stdout.decode().splitlines()
        counts = {name: sum(int(line.rsplit(" ", 1)[1]) for line in stacks if f";{name}" in line)
                  for name in ("python_first", "python_second", "native")}
        self.assertTrue(all(count > 150 for count in counts.values()), counts)
        self.assertEqual([line for line in stacks if ";native" in line and "python_" in line], [])
        self.check_missing(run, counts["native"])

    def check_missing(self, run, native):
        """Samples of native code have no functions that could not be read."""
        rows = [row for row in run.summary()["processes"] if row["comm"] == "unloading"]
        self.assertEqual(len(rows), 1, rows)
        self.assertLess(rows[0]["samples"]["runtime_cut"], 0.2 * native, rows)


class PythonFrames(harness.KernelTest):
    def verdict(self, run, tops=("<module>",)):
        return runtime_truth.verdict_of(run.path(".txt"), SOURCE, COMMS, tops)

    def check(self, verdict, visible=0.99):
        self.assertGreater(verdict.samples, 100, verdict)
        self.assertEqual(verdict.wrong[:5], [], verdict)
        self.assertGreaterEqual(verdict.visible, visible * verdict.samples, verdict)
        self.assertGreaterEqual(verdict.whole, visible * verdict.samples, verdict)

    def test_from_the_start(self):
        """The runtime starts, too: some samples are before the first function."""
        run = self.record([PYTHON, SOURCE, "2"], FIELDS)
        self.check(self.verdict(run))
        self.check_ledger(run)
        self.check_root(run)

    def check_root(self, run):
        """Samples with functions begin like those from before the first one."""
        lines = run.report("-f", "folded").stdout.decode(errors="replace").splitlines()
        stacks = [line.rsplit(" ", 1)[0].split(";") for line in lines]
        self.assertTrue(any("<module>_[p]" in stack for stack in stacks))
        for stack in stacks:
            if "<module>_[p]" in stack and "[cut]" not in stack:
                self.assertEqual(stack[1], "_start", stack)
            self.assertNotEqual(stack[1], "__libc_start_main", stack)

    @harness.slow
    def test_one_after_another(self):
        """Short programs, but the first one of their file, have functions from their first sample
        in the loop on. If recipes come late, each lacks them in its first samples. On a busy
        machine, some end before the recorder has a turn."""
        loop = 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do "$0" -c pass; sleep 0.08; done'
        run = self.record(["sh", "-c", loop, PYTHON], ["-F", "999"])
        shown = runtime_truth.shown_by_process(run.path(".txt"), "_PyEval_EvalFrameDefault")
        self.assertGreater(sum(map(len, shown)), 30, shown)
        self.assertGreaterEqual(sum(map(all, shown[1:])), len(shown) // 2, shown)

    def test_renamed(self):
        """The file is a runtime by what it exports, whatever its name."""
        program = os.path.join(self.folder, "server")
        shutil.copy(os.path.realpath("/usr/bin/python3"), program)
        run = self.record([program, SOURCE, "1"], FIELDS)
        stacks = [[frame.name for frame in frames]
                  for _, frames in runtime_truth.stacks(run.path(".txt"))]
        with_functions = sum("<module>" in names and "main" in names for names in stacks)
        self.assertGreater(with_functions, 100)
        self.assertGreater(with_functions, 0.8 * len(stacks))

    def test_sub_interpreter(self):
        """A thread has two states. Functions are placed where their own interpreter's code runs,
        or nowhere."""
        source = os.path.join(os.path.dirname(SOURCE), "sub_interpreter.py")
        run = self.record([PYTHON, source, "2"], ["-F", "999"])
        lines = run.report("-f", "folded").stdout.decode(errors="replace").splitlines()
        if not any("PyRun_StringFlags" in line for line in lines):
            self.skipTest("this Python calls the code of an interpreter in another way")
        locked = placed = 0
        for line in lines:
            stack, count = line.rsplit(" ", 1)
            frames = stack.split(";")
            names = [frame.removesuffix("_[p]") for frame in frames]
            if "PyRun_StringFlags" not in names:
                continue
            at = len(names) - names[::-1].index("PyRun_StringFlags")
            inside, outside = frames[at:], frames[:at]
            self.assertFalse(any(name.startswith("outer_") for name in names[at:]), line)
            self.assertFalse(any(name.startswith("inner_") for name in names[:at]), line)
            if "deflate" in names or not any("EvalFrame" in frame for frame in outside):
                continue
            locked += int(count)
            # inner_free() does more than deflate().
            placed += int(count) if any(name.startswith("inner_") for name in inside) else 0
        self.assertGreater(locked, 100, lines)
        self.assertGreater(placed, 0.9 * locked, lines)

    def test_late(self):
        engine = subprocess.Popen([PYTHON, SOURCE, "60"])
        self.addCleanup(engine.wait)
        self.addCleanup(engine.kill)
        self.wait_for(lambda: run_for.cpu_seconds(engine.pid) > 0.5)
        verdict = self.verdict(self.record_process(engine.pid, 2, FIELDS))
        self.check(verdict)
        self.assertGreater(verdict.lines, 0.99 * verdict.frames, verdict)

    def test_trampolines(self):
        """The code that -X perf calls each function by has a frame of its own, which is hidden. It
        is no end of the stack."""
        python = python_with_trampolines()
        if not python:
            self.skipTest("no Python with -X perf")
        run = self.record([python, "-X", "perf", SOURCE, "2"], FIELDS)
        self.check(runtime_truth.verdict_of(
            run.path(".txt"), SOURCE, {os.path.basename(os.path.realpath(python)), "python3"},
            ("<module>",)))
        samples = run.summary()["samples"]
        self.assertGreater(samples["resolved"], 0.9 * samples["taken"], samples)

    def test_threads(self):
        run = self.record([PYTHON, SOURCE, "0.5", "4"], FIELDS)
        verdict = self.verdict(run, ("main", "<module>"))
        self.check(verdict, 0.95)

    def test_children(self):
        """They have the recipe of their parent. The begin and end of each child count, too."""
        run = self.record([PYTHON, "-c", FORKING, SOURCE], FIELDS)
        self.check(self.verdict(run), 0.95)

    def test_behind_a_cut(self):
        """The functions that called native code are known without its frames."""
        paths = [os.path.join(self.folder, name) for name in ("no_rule.c", "no_rule.so", "call.py")]
        for path, text in (paths[0], NO_RULE), (paths[2], CALLING):
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", paths[1], paths[0]], check=True)
        run = self.record([PYTHON, paths[2], paths[1], "1"], FIELDS)
        stacks = [[frame.name for frame in frames]
                  for _, frames in runtime_truth.stacks(run.path(".txt"))]
        cut = [names for names in stacks if any(name == "no_rule" for name in names)]
        # The first samples can come before the kernel has the recipe.
        begun = [names[-1] == "<module>" for names in cut].index(True)
        self.assertLess(begun, 0.05 * len(cut))
        self.assertGreater(len(cut), 100)
        for names in cut[begun:]:
            self.assertEqual(names[-5:], ["no_rule", "[cut]", "native__main", "main", "<module>"])
