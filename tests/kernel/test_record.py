# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""record and report: formats, equality of outputs, damage, refusals."""

import os
import re
import signal
import subprocess
import time

import harness
import recording

FORMATS = {".folded": "folded", ".html": "html", ".txt": "script"}


class Report(harness.KernelTest):
    def test_equals_record(self):
        run = self.record(harness.php("tracing", 2), ["-F", "499"],
                          endings=(".jitbpf", *FORMATS))
        for ending, name in FORMATS.items():
            done = run.report("-f", name)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, open(run.path(ending), "rb").read(), name)
        self.assertEqual(run.report("-f", "summary").stdout.decode(errors="replace"), run.stderr)
        self.assertEqual(sum(run.folded().values()), len(run.script()))
        samples = self.check_ledger(run)["samples"]
        self.assertEqual(samples["taken"] - samples["lost"], len(run.script()))

    def test_version(self):
        done = subprocess.run([harness.JITBPF, "--version"], check=True, stdout=subprocess.PIPE)
        self.assertRegex(done.stdout, rb"\Ajitbpf \d+\.\d+\.\d+\n\Z")

    def test_equals_record_where_stacks_were_finished(self):
        """Stacks that the kernel could not walk are complete in the recording, which has no
        copies."""
        program = ("import json, re, time\n"
                   "end = time.monotonic() + 1\n"
                   "while time.monotonic() < end:\n"
                   "    json.loads(json.dumps(['a' * 9] * 999)), re.sub('a+', 'b', 'aaab' * 99)\n")
        run = self.record(["sh", "-c", "for i in 1 2 3 4 5; do ls -lR /etc >/dev/null; done; "
                           'exec python3 -c "$0"', program], ["-F", "999", "--user-regs"],
                          endings=(".jitbpf", *FORMATS))
        for ending, name in FORMATS.items():
            done = run.report("-f", name)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, open(run.path(ending), "rb").read(), name)
        self.assertEqual(run.report("-f", "summary").stdout.decode(errors="replace"), run.stderr)
        self.assertGreater(self.check_ledger(run)["counters"]["stacks_finished"], 0)
        found = [(flags, body) for kind, flags, _time, body in recording.chunks(run.path(".jitbpf"))
                 if kind == recording.SAMPLE]
        self.assertEqual(len(found), len(run.script()))
        self.assertTrue(all(isinstance(body, recording.Sample) for _, body in found))  # are packed
        self.assertFalse(any(flags & recording.STACK_COPY for flags, _ in found))
        with_regs = sum(flags & recording.USER_REGS for flags, _ in found)
        self.assertGreater(with_regs, len(found) / 2)  # not those of exiting threads

    def test_views(self):
        """The same options yield the same bytes in every format; the recording holds everything."""
        options = ["--no-inline", "--kernel=no", "--by=tid", "--no-demangle",
                   "--fields=+srcline,-cpu"]
        formats = {**FORMATS, ".pb.gz": "pprof", ".json.gz": "firefox",
                   ".speedscope.json": "speedscope"}
        run = self.record(["sh", "-c", "dd if=/dev/zero of=/dev/null bs=1M count=8000 "
                           f"status=none & {harness.ENGINE} hot --seconds 1; wait"],
                          ["-F", "499", *options], endings=(".jitbpf", *formats))
        for ending, name in formats.items():
            done = run.report("-f", name, *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, open(run.path(ending), "rb").read(), name)
        self.assertEqual(run.report("-f", "summary", *options).stdout.decode(errors="replace"), run.stderr)
        plain = run.report("-f", "folded", "--merge=tables").stdout.decode(errors="replace")
        shown = open(run.path(".folded"), encoding="utf-8", errors="replace").read()
        for mark in ("_[k]", "_[i]"):
            self.assertIn(mark, plain)
            self.assertNotIn(mark, shown)
        self.assertRegex(shown, r"(?m)^dd-(\d+)/\1;")
        counts = [sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines())
                  for text in (plain, shown)]
        self.assertEqual(counts[0], counts[1])

    def test_on_another_machine(self):
        """Without root, and in a root without the files: the same bytes."""
        run = self.record(harness.php("tracing", 1), ["-F", "499"],
                          endings=(".jitbpf", *FORMATS))
        (jitbpf,) = self.copy_for_others(harness.JITBPF)
        os.chmod(run.path(".jitbpf"), 0o644)
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c",
             'mount -t tmpfs none /usr/lib/php && mount --bind /dev/null "$(readlink -f "$(which php)")" && '
             'exec setpriv --reuid 65534 --regid 65534 --clear-groups "$0" report -f folded "$1"',
             jitbpf, run.path(".jitbpf")], capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, open(run.path(".folded"), "rb").read())

    def test_damage(self):
        run = self.record([harness.ENGINE, "hot", "--seconds", "3"], ["-F", "499"])
        data = bytearray(open(run.path(".jitbpf"), "rb").read())
        whole = run.summary()["samples"]["taken"]
        cut = os.path.join(self.folder, "cut.jitbpf")
        segments = [at for at, _content in recording.segments(data)]
        middle = segments[len(segments) // 2] + 20
        for flip in (False, True):
            damaged = data[:middle] + data[middle:] * flip
            if flip:
                damaged[middle] ^= 0x10
            open(cut, "wb").write(damaged)
            done = subprocess.run([harness.JITBPF, "report", "-f", "script", cut],
                                  capture_output=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr.decode(), r"cut\.jitbpf is damaged at offset \d+: ")
            kept = len(re.findall(rb"^\S.*:\s*$", done.stdout, re.M))
            self.assertGreater(kept, 0)
            self.assertLess(kept, whole)
        open(cut, "wb").write(b"\x7fELF, not a recording, but long enough")
        done = subprocess.run([harness.JITBPF, "report", cut], capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertEqual(done.stderr, f"jitbpf: {cut}: not a jitbpf recording\n".encode())
        done = subprocess.run([harness.JITBPF, "report", self.folder], capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(f"jitbpf: {self.folder} is a folder: give a recording".encode(), done.stderr)


class Hostile(harness.KernelTest):
    def test_hostile_engine(self):
        """Invalid records are counted; the rest of the profile is right."""
        run = self.record([harness.ENGINE, "hostile", "--forge"], ["-F", "199"])
        summary = self.check_ledger(run)
        jit, counters = summary["jit"], summary["counters"]
        self.assertGreater(jit["invalid"], 0)
        self.assertGreater(jit["malformed"], 0)
        self.assertGreater(jit["incomplete"], 0)
        self.assertGreater(counters["jit_bad_size"], 0)
        self.assertGreater(counters["jit_unreadable"], 0)


class Ending(harness.KernelTest):
    def start(self, *args):
        return subprocess.Popen([harness.JITBPF, "record", *args], stderr=subprocess.PIPE,
                                cwd=self.folder)

    @harness.alone
    def test_interrupt_stops_and_writes(self):
        process = self.start("-a", "-F", "99")
        self.wait_for(lambda: self.takes_samples("profile.jitbpf"))
        process.send_signal(signal.SIGINT)
        stderr = process.communicate()[1]
        self.assertEqual(process.returncode, 0, stderr)
        done = subprocess.run([harness.JITBPF, "report", "-f", "summary",
                               os.path.join(self.folder, "profile.jitbpf")],
                              capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        # Of the whole system, there may be messages about other programs' files.
        summary = [line for line in stderr.splitlines() if not line.startswith(b"jitbpf: ")]
        self.assertEqual(done.stdout.splitlines(), summary)

    def test_duration(self):
        start = time.monotonic()
        self.record(["sleep", "30"], ["-d", "1"])
        self.assertLess(time.monotonic() - start, 10)

    def test_rotated_recordings_end(self):
        """The last files of a rotation are complete while names are still being resolved."""
        done = subprocess.run([harness.JITBPF, "record", "--rotate", "1", "-o",
                               os.path.join(self.folder, "r.jitbpf"), "--", *harness.php("tracing", 2)],
                              capture_output=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        paths = [name for name in os.listdir(self.folder) if name.endswith(".jitbpf")]
        self.assertGreaterEqual(len(paths), 2)
        for path in paths:
            done = subprocess.run([harness.JITBPF, "report", os.path.join(self.folder, path)],
                                  capture_output=True, check=False, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, b""), path)

    def test_an_unbounded_run_says_that_it_records(self):
        words = "jitbpf: recording until Ctrl-C"
        run = self.record_until(lambda: words in self.said(), ["-a"])
        os.remove(run.path(".jitbpf"))  # record_until() waits for it
        for run in (self.record_until(lambda: True, ["-a", "-q"]), self.record((), ["-a", "-d", "100ms"]),
                    self.record(["true"])):
            self.assertNotIn("recording until", run.stderr)

    def test_a_run_without_samples_says_why(self):
        words = "no sample was taken"
        idle = subprocess.Popen(["sleep", "60"])
        self.addCleanup(idle.wait)
        self.addCleanup(idle.kill)
        self.assertIn(f"{words} of process {idle.pid}: it used no CPU time, or too little for 99",
                      self.record((), ["-p", str(idle.pid), "-d", "100ms"]).stderr)
        self.assertIn(f"{words} of processes no such ?[1mprocess of user nobody: they used no CPU time",
                      self.record((), ["-p", "no such \033[1mprocess", "-u", "nobody", "-d",
                                       "100ms"]).stderr)
        self.assertNotIn(words, self.record((), ["-p", "no such process", "-d", "100ms", "-q"]).stderr)
        short = self.record(["sleep", "0"], ["-F", "1"])
        self.assertEqual("samples per second: use a higher -F" in short.stderr,
                         not short.summary()["samples"]["taken"], short.stderr)
        busy = self.record([harness.ENGINE, "hot", "--seconds", "1"])
        self.assertNotIn("no sample", busy.stderr)

    def test_a_rate_that_the_kernel_refuses(self):
        with open("/proc/sys/kernel/perf_event_max_sample_rate", encoding="utf-8") as file:
            largest = int(file.read())
        if largest >= 1000000:
            self.skipTest("the kernel allows any rate that -F takes")
        run = self.record(["true"], ["-qF", str(largest + 1)], status=1)
        self.assertRegex(run.stderr, rf"^jitbpf: -F {largest + 1} is too high: the kernel allows \d+ samples per second .*: "
                                     rf"use -F \d+, or .*max_sample_rate={largest + 1}\n$")

    def test_no_status_line_on_a_pipe(self):
        run = self.record([harness.ENGINE, "hot", "--seconds", "1"])
        self.assertNotIn("\r", run.stderr)
        self.assertNotIn("\033", run.stderr)

    def test_not_root(self):
        (jitbpf,) = self.copy_for_others(harness.JITBPF)
        os.chmod(self.folder, 0o777)
        done = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                               jitbpf, "record", "-d", "1"], capture_output=True,
                              cwd=self.folder, check=False)
        self.assertEqual(done.returncode, 77)
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.assertIn(b"root", done.stderr)

    def test_root_of_a_namespace_only(self):
        """One line that says what to do, for each kind of namespace root."""
        for unshare, word in ((["--user", "--map-root-user"], b"--privileged"),
                              (["--pid", "--fork"], b"mount -t proc")):
            done = subprocess.run(["unshare", *unshare, harness.JITBPF, "record", "-d", "1"],
                                  capture_output=True, cwd=self.folder, check=False)
            self.assertEqual(done.returncode, 77, done.stderr)
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
            self.assertIn(word, done.stderr)


class PidNamespace(harness.KernelTest):
    def test_pids_are_those_of_our_namespace(self):
        """Inside a pid namespace, jitbpf shows the pids of that namespace."""
        inside = os.path.join(self.folder, "in")
        done = subprocess.run(
            ["unshare", "--pid", "--fork", "--mount-proc", harness.JITBPF, "record", "-F", "499",
             "-o", inside + ".jitbpf", "-o", inside + ".txt", "--", harness.ENGINE, "hot",
             "--seconds", "1", "--name", "inner"], capture_output=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        samples = recording.script(inside + ".txt")
        self.assertGreater(len(samples), 20)
        self.assertTrue(all(sample.pid < 100 for sample in samples))
        self.assertTrue(any(harness.leaf_jit(s) and harness.leaf_jit(s).name == "inner"
                            for s in samples))
