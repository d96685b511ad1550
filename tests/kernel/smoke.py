# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A short run on the current kernel, with its findings as one line of JSON.

Run by tools/kernel-matrix.sh on emulated machines, so no limit depends on speed. Not part of
`make kernel-test`, whose tests check more of the same.
"""

import glob
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import engine_truth
import harness
import test_choice

SITE = bytes.fromhex("900f1f440000662e0f1f840000000000c3")  # of jitapi-shim, unpatched
SECONDS = 4
FEW = 20  # samples that any machine takes in that time
FAULTING_PAGES, SLEEPS = 10000, 50
FAULTS = f"""
import mmap, time
memory = mmap.mmap(-1, {FAULTING_PAGES} * mmap.PAGESIZE)
memory.madvise(mmap.MADV_NOHUGEPAGE)
for page in range({FAULTING_PAGES}):
    memory[page * mmap.PAGESIZE] = 1
for _ in range({SLEEPS}):
    time.sleep(0.001)
"""

facts = {"kernel": os.uname().release}


def engine_pid():
    for link in glob.glob("/proc/[0-9]*/exe"):
        try:
            if os.readlink(link) == harness.ENGINE:
                return int(link.split("/")[2])
        except OSError:
            pass  # exited, or a kernel thread
    return None


def probe_site(pid):
    """Returns the bytes of the probe site in the process, as the kernel has patched them."""
    offset = open(harness.SHIM, "rb").read().index(SITE)
    for line in open(f"/proc/{pid}/maps", encoding="utf-8"):
        fields = line.split()
        start, end = (int(x, 16) for x in fields[0].split("-"))
        from_offset = int(fields[2], 16)
        if len(fields) > 5 and fields[5] == harness.SHIM and \
           from_offset <= offset < from_offset + end - start:
            with open(f"/proc/{pid}/mem", "rb") as memory:
                memory.seek(start + offset - from_offset)
                return memory.read(len(SITE))
    return b""


def describe_site(code):
    """Returns the nop that holds the probe, and whether the kernel placed a call or a trap."""
    if len(code) != len(SITE):
        return "no site"
    at = next((i for i in range(len(SITE)) if code[i] != SITE[i]), None)
    if at is None:
        return "nothing"
    return f"+{at} {'trap' if code[at] == 0xcc else 'call'}"


def verified_instructions(pid):
    """Returns the verifier's count for the largest program of the process (Linux 5.16 or later)."""
    most = 0
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        try:
            for line in open(path, encoding="utf-8"):
                if line.startswith("verified_insns:"):
                    most = max(most, int(line.split()[1]))
        except OSError:
            pass
    return most


def observe(start):
    """Runs beside a recording: waits for the start of the engine, and inspects the probe site."""
    pid = None
    while not pid:
        time.sleep(0.02)
        if time.monotonic() - start > 60:
            return
        pid = engine_pid()
    facts["start_s"] = round(time.monotonic() - start, 1)
    time.sleep(SECONDS / 2)
    try:
        facts["probe"] = describe_site(probe_site(pid))
        parent = int(open(f"/proc/{pid}/stat", encoding="utf-8").read().rsplit(")")[1].split()[1])
        facts["verified"] = verified_instructions(parent)
    except OSError:
        pass  # it ended early; the test reports why


class Smoke(harness.KernelTest):
    def check_nothing_lost(self, run, loads):
        summary = self.check_ledger(run)
        jit = summary["jit"]
        self.assertEqual(summary["samples"]["lost"], 0)
        self.assertEqual(summary["counters"]["jit_hits"], loads)
        self.assertEqual(jit["methods"], loads)
        for key in ("malformed", "invalid", "incomplete", "sequence_gaps"):
            self.assertEqual(jit[key], 0, key)
        return summary

    def test_1_storm(self):
        """Profiles a command: each sample has the generation that ran."""
        observer = threading.Thread(target=observe, args=(time.monotonic(),), daemon=True)
        observer.start()
        run = self.record([harness.ENGINE, "storm", "--rate", "100", "--seconds", str(SECONDS)],
                          ["-F", "99", "--user-regs"])
        loads = int(run.stdout.decode().split("loads ")[1].split()[0])
        right, unnamed, wrong = engine_truth.generations(run)
        facts["storm"] = f"{right}/{right + unnamed + wrong} of {loads} loads"
        self.assertGreater(right, FEW)
        self.assertEqual((unnamed, wrong), (0, 0))
        self.check_nothing_lost(run, loads)
        observer.join()

    def test_2_hot(self):
        """Profiles the whole system: one function, always named, called by main()."""
        run = self.record([harness.ENGINE, "hot", "--name", "hot_one", "--seconds", str(SECONDS)],
                          ["-a", "-F", "99"])
        arena = [int(x, 16) for x in run.stdout.decode().split("arena ")[1].split()[:2]]
        named = whole = unnamed = 0
        for sample in run.script():
            frame = harness.leaf_jit(sample)
            if not frame or sample.comm != "jit-engine" or \
               not arena[0] <= frame.address < arena[1]:
                continue
            named += frame.name == "hot_one" and frame.module == "[jit]"
            unnamed += frame.name != "hot_one"
            whole += any(frame.name == "main" for frame in sample.frames)
        facts["hot"] = f"{named}/{named + unnamed}, {whole} whole"
        self.assertGreater(named, FEW)
        self.assertEqual(unnamed, 0)
        summary = self.check_nothing_lost(run, 1)
        # Emulated machines may make unwind rows more slowly than deferred stacks wait.
        self.assertGreater(whole, FEW)
        self.assertGreater(whole + summary["counters"]["stacks_late"], 0.9 * named)
        facts["event"] = summary["run"]["event"]


    def cgroup_mount(self):
        """Returns the mount of cgroup version 2, and mounts it if there is none."""
        mount = test_choice.mount_of_cgroups()
        if mount:
            return mount
        done = self.record(["true"], ["-G", "any"], status=77)
        self.assertIn("need cgroup version 2, which is not mounted", done.stderr)
        facts["no_cgroup2"] = done.stderr.strip()
        subprocess.run(["mount", "-t", "cgroup2", "none", "/sys/fs/cgroup"], check=True)
        return "/sys/fs/cgroup"

    def start_in(self, mount, name):
        """Starts an engine in a cgroup of its own."""
        folder = os.path.join(mount, f"smoke-{os.getpid()}-{name}")
        os.mkdir(folder)
        self.addCleanup(os.rmdir, folder)
        engine = subprocess.Popen([harness.ENGINE, "hot", "--name", f"hot_{name}", "--seconds",
                                   "600"], stdout=subprocess.DEVNULL,
                                  env={**os.environ, "INTEL_JIT_PROFILER64": harness.SHIM})
        self.addCleanup(engine.wait)
        self.addCleanup(engine.kill)
        with open(os.path.join(folder, "cgroup.procs"), "w", encoding="ascii") as procs:
            procs.write(str(engine.pid))
        return engine, folder

    def test_3_chosen(self):
        """Profiles one of two cgroups with the same program, and by name and user."""
        mount = self.cgroup_mount()
        (mine, folder), (other, _) = self.start_in(mount, "mine"), self.start_in(mount, "other")
        for options, count in ((["-G", folder], 1), (["-p", "jit-engine"], 2), (["-u", "0"], 2)):
            run = self.record((), [*options, "-d", str(SECONDS), "-F", "99"])
            taken = {row["pid"]: row["samples"]["taken"]
                     for row in self.check_ledger(run)["processes"]
                     if row["pid"] in (mine.pid, other.pid)}
            names = {frame.name for sample in run.script() for frame in sample.frames}
            # Files of processes that run already may be read too late on an emulated machine.
            facts.setdefault("chosen", []).append(
                f"{options[0]} {len(taken)}{' named' if 'hot_mine' in names else ''}")
            self.assertEqual(len(taken), count, options)
            self.assertGreater(taken[mine.pid], FEW)
            if count == 1:
                self.assertNotIn("hot_other", names)
        facts["chosen"] = ", ".join(facts["chosen"])

    def test_4_events(self):
        """Samples page faults and context switches beside CPU time."""
        run = self.record([sys.executable, "-c", FAULTS], ["-e", "page-faults:10",
                                                           "-e", "context-switches:1"])
        self.check_ledger(run)
        weights = {event["name"]: event["weight"] for event in run.summary()["events"]}
        facts["events"] = f"{weights['page-faults']}/{FAULTING_PAGES} " \
                          f"{weights['context-switches']}/{SLEEPS}"
        for event in ("page-faults", "context-switches"):
            summary = json.loads(run.report("-e", event, "--json").stdout)
            samples = summary["samples"]
            self.assertEqual(samples["taken"], summary["counters"]["samples_taken"])
            self.assertEqual(samples["taken"], sum(samples[fate] for fate in (
                "resolved", "code_unknown", "stack_cut", "lost")))
        # At its start, the program has further ones.
        self.assertGreater(weights["page-faults"], 0.9 * FAULTING_PAGES)
        self.assertLess(weights["page-faults"], 2 * FAULTING_PAGES)
        self.assertGreaterEqual(weights["context-switches"], SLEEPS)


def main(path):
    # The user's message if jitbpf does not start.
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([harness.JITBPF, "record", "-q", "--", "true"], cwd=folder,
                              capture_output=True, check=False, timeout=120)
    facts["message"] = done.stderr.decode(errors="replace").strip()
    if done.returncode == 0:
        suite = unittest.defaultTestLoader.loadTestsFromTestCase(Smoke)
        result = unittest.TextTestRunner(stream=sys.stdout).run(suite)
        bad = result.failures or result.errors or not result.testsRun
        facts["verdict"] = "failed" if bad else "ok"
    else:
        facts["verdict"] = f"refused ({done.returncode})"
    with open(path, "w", encoding="utf-8") as out:
        out.write(json.dumps(facts) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
