# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""PHP's own functions are in the stacks: with and without its JIT, from the start, late, and of a
process that does not answer."""

import collections
import os
import subprocess

import harness
import run_for
import runtime_truth

SOURCE = os.path.join(harness.ROOT, "tests/programs/workloads/php_frames.php")
SWITCHES = os.path.join(harness.ROOT, "tests/programs/workloads/php_switch.php")
TOPS = ("{main}",)

# Has the symbols of PHP, of which the globals are served by a userfaultfd that nobody answers.
IMPOSTOR = r"""
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

char executor_globals[PAGE] __attribute__((aligned(PAGE)));
char zend_ce_generator[8] __attribute__((aligned(PAGE))) = {1};
static const char version[] = "Zend Engine v4.2.7, Copyright (c) Zend Technologies";

const char *get_zend_version(void)
{
	return version;
}

__attribute__((noinline)) void execute_ex(void)
{
	for (volatile int i = 0; i < 10000000; i++)
		;
}

int main(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register missing = {
		.range = {(unsigned long)executor_globals, PAGE},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &missing))
		return 1;
	for (;;)
		execute_ex();
}
"""


def php(*options):
    return ["php", "-d", "opcache.enable_cli=0", *options]


def has_callers_of_switch(names):
    """Returns true if frames of php_switch.php have their callers, up to a mark."""
    names = ["Fiber::resume" if name == "Fiber::start" else name for name in names]
    if "switch__fiber" in names:
        callers = names[names.index("switch__fiber") + 1:]
        wanted = ["{internal}", "Fiber::resume", "resume__main"]
    else:
        # On the stack that the program has begun with; or on that of a fiber that has no function
        # yet, which is behind no _start.
        callers = names[names.index("Fiber::resume") + 1:]
        wanted = ["resume__main", "{main} php_switch.php"]
        if "[cut]" not in names and names[-1] not in ("_start", "__libc_start_main", wanted[-1]):
            return False
    known = callers[:callers.index("[cut]")] if "[cut]" in callers else callers[:len(wanted)]
    return known[:len(wanted)] == wanted[:len(known)] and ("[cut]" in callers or known == wanted)


class PhpFrames(harness.KernelTest):
    def check(self, run, visible=0.99):
        verdict = runtime_truth.verdict_of(run.path(".txt"), SOURCE, {"php"}, TOPS)
        self.assertGreater(verdict.samples, 100, verdict)
        self.assertEqual(verdict.wrong[:5], [], verdict)
        self.assertGreaterEqual(verdict.visible, visible * verdict.samples, verdict)
        self.assertGreaterEqual(verdict.whole, visible * verdict.samples, verdict)
        return verdict

    def record_php(self, command, seconds=2):
        return self.record([*command, SOURCE, str(seconds)], ["-F", "499", "--fields", "+srcline"])

    def test_plain(self):
        verdict = self.check(self.record_php(php()))
        self.assertGreater(verdict.lines, 0.99 * verdict.frames, verdict)

    def test_fibers_and_closures(self):
        """A fiber is called by who resumed it, and has a function without a name between both."""
        run = self.record_php(php())
        stacks = [[frame.name for frame in frames]
                  for _, frames in runtime_truth.stacks(run.path(".txt"))]
        fibers = [names[names.index("fiber__resume"):] for names in stacks
                  if "fiber__resume" in names]
        self.assertGreater(len(fibers), 5)
        known = [["{internal}", f"Fiber::{how}", "resume__main", "main"] for how in ("start", "resume")]
        # In the few instructions of a switch, the frames of the fiber end with a mark.
        wrong = [names for names in fibers
                 if names[1:5] not in known and names[1:2] != ["[cut]"]
                 and names[1:3] != ["{internal}", "[cut]"]]
        self.assertFalse(wrong)
        mapped = [names[names.index("spin_mapped") + 1] for names in stacks
                  if "spin_mapped" in names]
        self.assertGreater(len(mapped), 50)
        # A closure is known from the function that makes it, however short its life, but for one
        # whose end the frame outlives by some instructions.
        self.assertLessEqual(set(mapped), {"{closure}", "[unknown php function]"})
        self.assertGreaterEqual(mapped.count("{closure}"), 0.98 * len(mapped),
                                f"of {len(mapped)}")
        # So is a closure of a method: convert__main() makes a new one each time.
        converted = collections.Counter(names[names.index("Shop::convert__main") - 2]
                                        for names in stacks if "Shop::convert__main" in names[2:])
        self.assertGreater(converted["Shop::first_class__convert"], 10, converted)
        self.assertLessEqual(converted["[unknown php function]"],
                             0.1 * converted["Shop::first_class__convert"], converted)

    def test_fiber_switch(self):
        """While the thread is between two native stacks, no frame has a caller of the other one."""
        run = self.record([*php(), SWITCHES, "2"], ["-F", "1999"])
        stacks = [[frame.name for frame in frames]
                  for _, frames in runtime_truth.stacks(run.path(".txt"))]
        stacks = [names for names in stacks if {"switch__fiber", "Fiber::resume"} & {*names}]
        wrong = [names for names in stacks if not has_callers_of_switch(names)]
        self.assertGreater(len(stacks), 200)
        self.assertEqual(wrong[:5], [], f"{len(wrong)} of {len(stacks)}")
        # With PHP 8.4, the native stack of a fiber is cut at its end.
        cut = [names for names in stacks
               if "[cut]" in names and names[names.index("[cut]") + 1:][:1] != ["{internal}"]]
        self.assertLess(len(cut), 0.4 * len(stacks), cut[:5])

    def test_jit(self):
        """A leaf of compiled code has no line."""
        for mode in "tracing", "function":
            self.check(self.record_php(harness.php_jit(mode)))

    def test_late(self):
        engine = subprocess.Popen([*php(), SOURCE, "60"], stdout=subprocess.DEVNULL)
        self.addCleanup(engine.wait)
        self.addCleanup(engine.kill)
        self.wait_for(lambda: run_for.cpu_seconds(engine.pid) > 0.5)
        self.check(self.record_process(engine.pid, 1, ["-F", "499", "--fields", "+srcline"]))

    def test_late_with_code_of_its_jit(self):
        """Nobody has published the JIT code, but the frames that it runs for are known."""
        command = [*harness.php_jit("tracing")[:-2], SOURCE, "60"]
        engine = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.addCleanup(engine.wait)
        self.addCleanup(engine.kill)
        self.wait_for(lambda: run_for.cpu_seconds(engine.pid) > 0.5)
        run = self.record_process(engine.pid, 2, ["-F", "499"])
        samples = run.summary()["samples"]
        self.assertGreater(samples["taken"], 100)
        self.assertGreater(samples["runtime_functions"], 0.9 * samples["taken"])
        self.assertLess(samples["code_unknown"], 0.15 * samples["taken"])

    def test_memory_that_does_not_answer(self):
        """It costs its own process only: another one has its functions meanwhile."""
        folder = os.path.join(self.folder, "impostor")
        os.mkdir(folder)
        source, impostor = os.path.join(folder, "php.c"), os.path.join(folder, "php")
        with open(source, "w", encoding="ascii") as file:
            file.write(IMPOSTOR)
        subprocess.run(["cc", "-O1", "-rdynamic", "-o", impostor, source], check=True)
        stuck = subprocess.Popen([impostor])
        self.addCleanup(stuck.wait)
        self.addCleanup(stuck.kill)
        engine = subprocess.Popen([*php(), SOURCE, "60"], stdout=subprocess.DEVNULL)
        self.addCleanup(engine.wait)
        self.addCleanup(engine.kill)
        self.wait_for(lambda: run_for.cpu_seconds(stuck.pid) > 0.1)
        self.wait_for(lambda: run_for.cpu_seconds(engine.pid) > 0.3)
        run = self.record_process(engine.pid, 2, ["-F", "499", "--fields", "+srcline"],
                                  others=(stuck.pid,))
        self.check_ledger(run)
        functions = runtime_truth.functions_of(SOURCE)
        verdict = runtime_truth.Verdict()
        leaves = []
        for _, frames in runtime_truth.stacks(run.path(".txt")):
            names = [frame.name for frame in frames]
            if "execute_ex" in names[:1] and not any(frame.file == SOURCE for frame in frames):
                leaves.append(names[0])
            else:
                runtime_truth.check(verdict, frames, SOURCE, functions, TOPS)
        self.assertGreater(len(leaves), 100)
        # The first request of the impostor delays that of the engine by up to 0.2 s.
        self.assertGreaterEqual(verdict.visible, 0.9 * verdict.samples, verdict)
        self.assertEqual(verdict.wrong[:5], [], verdict)
