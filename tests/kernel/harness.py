# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Shared by the kernel tests: runs jitbpf on real engines, and reads its outputs."""

import contextlib
import ctypes
import fcntl
import functools
import glob
import hashlib
import json
import os
import re
import reprlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import unittest

import recording
import run_for

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))

import run_tests  # pylint: disable=wrong-import-position

BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
# jitbpf may be of another build, with a sanitizer, and the shim is what lies beside it.
JITBPF = os.path.join(ROOT, os.environ.get("JITBPF") or os.path.join(BUILD, "jitbpf"))
SHIM = os.path.join(os.path.dirname(JITBPF), "libjitbpf.so")
ENGINE = os.path.join(BUILD, "tests/programs/engine/jit-engine")
ENGINE_MUSL = ENGINE + "-musl"
CONFORMANCE = os.path.join(BUILD, "tests/programs/engine/conformance-client")
ONEDNN = os.path.join(BUILD, "tests/programs/workloads/onednn")
LARGE = os.path.join(BUILD, "tests/programs/workloads/large")
PHP_SCRIPT = os.path.join(ROOT, "tests/programs/workloads/numbers.php")

CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000

libc = ctypes.CDLL(None, use_errno=True)


@functools.cache
def php_has_api():
    """PHP's JIT publishes through the JIT API up to 8.3, and from then on by jitdump files only."""
    return not subprocess.run(["php", "-r", "exit(PHP_VERSION_ID < 80400 ? 0 : 1);"],
                              check=False).returncode


def limit_files(pid, count):
    """Changes the soft limit of open files, as the user of the process: root may lack the right to."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        user = int(re.search(r"^Uid:\t(\d+)", file.read(), re.MULTILINE)[1])
    subprocess.run(["prlimit", f"--pid={pid}", f"--nofile={count}:"], check=True, user=user,
                   group=user, extra_groups=())


def needs_php_api(test):
    """Marks a test method, or a class of them, about how PHP uses the JIT API."""
    return unittest.skipUnless(php_has_api(), "this PHP lacks the JIT API: from 8.4 on, it "
                                              "publishes by jitdump files only")(test)


def php_jit(mode):
    """A command line of PHP with its JIT, which publishes by the API if this PHP has it."""
    return ["php", "-d", "opcache.enable_cli=1", "-d", "opcache.jit_buffer_size=64M",
            "-d", f"opcache.jit={mode}",
            "-d", f"opcache.jit_debug={128 if php_has_api() else 32}"]


def php(mode, seconds):
    return [*php_jit(mode), PHP_SCRIPT, str(seconds)]


# Options of a command whose output is to have the machine code that runs functions of PHP or Python,
# such as PHP's JIT code and the loops of the interpreters. By default, it has the functions alone.
WITH_CODE = ("--interpreter", "yes")


class Run:
    """A finished `jitbpf record`: its outputs by extension, its exit status and messages."""

    def __init__(self, folder, status, stdout, stderr):
        self.folder, self.status, self.stdout, self.stderr = folder, status, stdout, stderr

    def path(self, ending):
        return os.path.join(self.folder, "out" + ending)

    def script(self):
        return recording.script(self.path(".txt"))

    def folded(self):
        return recording.folded(self.path(".folded"))

    def samples(self):
        return recording.samples(self.path(".jitbpf"))

    def report(self, *args):
        return subprocess.run([JITBPF, "report", *args, self.path(".jitbpf")],
                              capture_output=True, check=False)

    def summary(self):
        done = self.report("--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


class KernelTest(unittest.TestCase):
    """Records into a temporary directory of the test."""

    hides_tmp = False  # a test mounts another folder over /tmp

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="jitbpf-test-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.files_before = {}

    def copy_for_others(self, *files):
        """Copies files to where every user may read them, and returns their paths."""
        os.chmod(self.folder, 0o755)
        return [shutil.copy(file, self.folder) for file in files]

    def compile_java(self, sources, options=(), javac="javac"):
        """Puts the classes of sources, which have no package, into the test's folder. They are
        compiled once for all tests: a compiler can take more CPU time than the test."""
        compiler = os.path.realpath(shutil.which(javac))
        about = hashlib.sha256(repr((compiler, os.stat(compiler).st_mtime_ns, options)).encode())
        for source in sources:
            with open(source, "rb") as file:
                about.update(file.read())
        classes = os.path.join(BUILD, "tests/classes", about.hexdigest())
        os.makedirs(os.path.dirname(classes), exist_ok=True)
        with open(classes + ".lock", "wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.isdir(classes):
                shutil.rmtree(classes + ".part", True)
                subprocess.run([compiler, *options, "-d", classes + ".part", *sources],
                               check=True, timeout=60)
                os.rename(classes + ".part", classes)
        for name in os.listdir(classes):
            shutil.copyfile(os.path.join(classes, name), os.path.join(self.folder, name))

    def record_argv(self, options, endings):
        argv = [JITBPF, "record", *options]
        for ending in endings:
            argv += ["-o", os.path.join(self.folder, "out" + ending)]
            self.files_before["out" + ending] = self.file_number("out" + ending)
        return argv

    def file_number(self, name):
        """Returns the inode number of a file of the test, or None."""
        with contextlib.suppress(FileNotFoundError):
            return os.stat(os.path.join(self.folder, name)).st_ino
        return None

    def finished(self, status, stdout, stderr, expected=0):
        text = stderr.decode(errors="replace")
        self.assertEqual(status, expected, text)
        text = re.sub(r"(?m)^jitbpf: wrote .*\n", "", text)  # a matter of test_outputs
        return Run(self.folder, status, stdout, text)

    def record(self, command=(), options=(), endings=(".jitbpf", ".txt"), status=0, **kwargs):
        argv = self.record_argv(options, endings)
        if command:
            argv += ["--", *command]
        done = subprocess.run(argv, capture_output=True, check=False, **kwargs)
        return self.finished(done.returncode, done.stdout, done.stderr, status)

    def record_process(self, pid, seconds, options=(), endings=(".jitbpf", ".txt"), others=(),
                       **kwargs):
        """Records processes until the first one has taken so much CPU time, however long that
        takes."""
        begin = []

        def took():
            begin[:] = begin or [run_for.cpu_seconds(pid)]
            return run_for.cpu_seconds(pid) - begin[0] >= seconds

        return self.record_until(took, [*options, "-p", ",".join(map(str, (pid, *others)))],
                                 endings, **kwargs)

    def record_until(self, condition, options, endings=(".jitbpf", ".txt"), seconds=60, command=(),
                     status=0, **kwargs):
        """Records until the condition is met, which counts from the first sample on. The
        condition can look at said() and at self.recorder. It fails if that takes too many
        seconds."""
        argv = self.record_argv(options, endings) + (["--", *command] if command else [])
        with tempfile.TemporaryFile() as self.messages, \
                subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=self.messages,
                                 **kwargs) as process:
            self.recorder = process
            try:
                self.wait_for(lambda: process.poll() is not None or self.takes_samples())
                if process.poll() is None:
                    self.wait_for(condition, seconds)
            finally:
                process.send_signal(signal.SIGINT)
                stdout = process.communicate()[0]
            return self.finished(process.returncode, stdout, self.said().encode(), status)

    def takes_samples(self, name="out.jitbpf"):
        """Returns true once a recording takes samples: then its file gets its name. A file of an
        earlier recording of the same test does not count."""
        return self.file_number(name) not in (None, self.files_before.get(name))

    def said(self):
        """Returns the messages of record_until() so far."""
        size = os.fstat(self.messages.fileno()).st_size
        return os.pread(self.messages.fileno(), size, 0).decode(errors="replace")

    def wait_for(self, condition, seconds=60, pause=0.05):
        """Returns the value of the condition once it is true. All waits of the tests are this
        one: its limit is for what hangs, and does not count the time of a busy machine
        (run_tests.Patience)."""
        patience = run_tests.Patience(seconds)
        while not (value := condition()):
            if patience.left() <= 0:
                return self.fail(f"the condition was not met in {seconds} s")
            time.sleep(pause)
        return value

    def methods(self, pid):
        """Returns the number of live methods in a process's journal, from `jitbpf list`."""
        done = subprocess.run([JITBPF, "list", "--json", "-p", str(pid)], capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return sum(row.get("methods", 0) for row in json.loads(done.stdout)["engines"])

    def check_ledger(self, run):
        """Checks that the fates add up to the kernel's count, in total and per process."""
        summary = run.summary()
        samples = summary["samples"]
        fates = [samples[key] for key in ("resolved", "code_unknown", "stack_cut", "lost")]
        self.assertEqual(samples["taken"], sum(fates))
        self.assertEqual(samples["taken"], summary["counters"]["samples_taken"])
        for process in summary["processes"]:
            row = process["samples"]
            self.assertEqual(row["taken"], row["resolved"] + row["code_unknown"] +
                             row["stack_cut"] + row["lost"])
        self.assertEqual(samples["taken"],
                         sum(p["samples"]["taken"] for p in summary["processes"]))
        return summary


def leaf_jit(sample):
    """Returns the innermost user frame of a script sample, or None."""
    for frame in sample.frames:
        if frame.address < 1 << 63:
            return frame
    return None


def alone(test):
    """Marks a test method, or a class of them, that no other test may run beside.

    That is what records the whole system, or looks at how fast jitbpf is.
    """
    test.alone = True
    return test


def slow(test):
    """Marks a test method, or a class of them, that `make check` leaves out, since others of its
    kind run. A subclass of a marked class is not marked."""
    test.is_slow = True
    return test


def is_marked(case, mark):
    """Returns true if a decorator has set `mark` on the method or on its very class."""
    method = getattr(case, case._testMethodName)
    return getattr(method, mark, vars(type(case)).get(mark, False))


def is_in_check(case):
    return not is_marked(case, "is_slow")


class OverTime(Exception):
    """The runner has asked the test to end: cleanups still run."""


def end_test(*_):
    raise OverTime


def variables(trace):
    """Returns the local variables of a test's frames, in short: "0 not greater than 50" says little
    without them."""
    short = reprlib.Repr()
    short.maxstring = short.maxother = 300
    return "".join(
        f"  {frame.f_code.co_name}: {name} = {short.repr(value)}\n"
        for frame, _line in traceback.walk_tb(trace)
        if frame.f_code.co_filename.startswith(os.path.join(ROOT, "tests"))
        for name, value in frame.f_locals.items() if name != "self")


class Result(unittest.TestResult):
    def _exc_info_to_string(self, err, test):
        return super()._exc_info_to_string(err, test) + variables(err[2])


def run_case(case):
    """Runs one test method, in a process and a mount namespace of its own."""
    libc.unshare(CLONE_NEWNS)
    libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    signal.signal(signal.SIGTERM, end_test)
    result = Result()
    case.run(result)
    for test, text in result.failures + result.errors:
        print(f"{test}\n{text}")
    for _test, text in result.skipped:
        print(text)
    if not result.wasSuccessful():
        return 1
    return run_tests.NOT_APPLICABLE if result.skipped else 0


def cases_in(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from cases_in(test)
        else:
            yield test


def main(folder=os.path.dirname(os.path.abspath(__file__)), in_check=is_in_check):
    if os.geteuid() != 0:
        sys.exit("the kernel tests need root")
    suites = []
    for pattern in os.environ.get("TESTS", "test_*.py").split():
        pattern += "" if pattern.endswith(".py") else ".py"
        if not glob.glob(os.path.join(folder, pattern)):
            sys.exit(f"no file of tests has the name {pattern}")
        suites.append(unittest.defaultTestLoader.discover(folder, pattern))
    wanted, tests, hides_tmp = re.compile(os.environ.get("ONLY", "")), [], False
    some = bool(os.environ.get("CHECK"))
    for case in filter(lambda case: wanted.search(case.id()), cases_in(suites)):
        if some and not in_check(case):
            continue
        method = getattr(case, case._testMethodName)
        hides_tmp |= getattr(case, "hides_tmp", False)
        tests.append(run_tests.Test(case.id(), functools.partial(run_case, case),
                                    getattr(method, "alone", getattr(case, "alone", False))))
    if not tests:
        sys.exit(f"no test matches {wanted.pattern!r}")
    if hides_tmp:
        run_tests.refuse_below_tmp()
    lanes = int(os.environ.get("LANES", "1"))
    runner = run_tests.Runner("kernel", bool(os.environ.get("VERBOSE")))
    sys.exit(0 if runner.run(tests, lanes) else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
