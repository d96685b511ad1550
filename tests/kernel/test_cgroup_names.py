# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Names of containers and units: of each sample, in all outputs, live and replayed."""

import collections
import contextlib
import json
import os
import secrets
import shutil
import subprocess

import harness
from pprof_file import Profile
from test_choice import FREQ_HZ, Loads, mount_of_cgroups

IDS = [secrets.token_hex(32) for _ in range(2)]  # other tests run beside these
DOCKER = "/var/lib/docker/containers"


class Cgroups(Loads):
    """Cgroups of a test, and names of their containers."""

    def setUp(self):
        super().setUp()
        mount = mount_of_cgroups()
        if not mount:
            self.skipTest("cgroup version 2 is not mounted")
        self.made = []
        self.addCleanup(self.remove)
        self.top = self.make(os.path.join(mount, f"jitbpf-names-{os.getpid()}"))

    def make(self, path):
        os.mkdir(path)
        self.made.append(path)
        return path

    def remove(self):
        for path in reversed(self.made):
            if os.path.exists(path):
                os.rmdir(path)

    def remove_empty(self, path):
        with contextlib.suppress(OSError):
            os.removedirs(path)

    def below(self, *names):
        return [self.make(os.path.join(self.top, name)) for name in names]

    def usage(self, cgroup):
        with open(os.path.join(cgroup, "cpu.stat"), encoding="ascii") as stat:
            return int(stat.read().split("usage_usec ")[1].split()[0]) / 1e6

    def path(self, ending):
        return os.path.join(self.folder, "out" + ending)

    def text_of(self, *options):
        return subprocess.run([harness.JITBPF, "report", *options, self.path(".jitbpf")],
                              check=True, capture_output=True, text=True).stdout

    def by_container(self, folded):
        """Returns samples by first frame."""
        samples = collections.Counter()
        for line in folded.splitlines():
            samples[line.split(";", 1)[0]] += int(line.rsplit(" ", 1)[1])
        return samples

    def name_container(self, number, name):
        """Notes a name as Docker does. Other tests have containers in the same folder."""
        self.note(os.path.join(DOCKER, number), name)

    def note(self, path, name):
        while not os.path.exists(path):
            with contextlib.suppress(FileNotFoundError):  # another test has removed a parent
                os.makedirs(path)
        self.addCleanup(self.remove_container, path)
        with open(os.path.join(path, "config.v2.json"), "w", encoding="ascii") as file:
            json.dump({"ID": os.path.basename(path), "Name": "/" + name}, file,
                      separators=(",", ":"))

    def remove_container(self, path):
        """With the parents, while they are empty."""
        shutil.rmtree(path)
        self.remove_empty(os.path.dirname(path))


class Names(Cgroups):
    def completed(self, *words):
        """Returns the candidates of the shell's completion, for the last word of a report."""
        done = subprocess.run([harness.JITBPF, "complete", "zsh", "", "report", *words],
                              cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout.splitlines()[1:]

    def test_all_outputs(self):
        web = f"jitbpf-test-{os.getpid()}"
        number = f"{os.getpid():064x}"
        self.name_container(number, web)
        cgroups = self.below(f"docker-{number}.scope", f"docker-{IDS[1]}.scope", "cron.service",
                             "plain\x1b[31m")
        names = [web, IDS[1][:12], "cron.service", os.path.join("/", *cgroups[3].split("/")[-2:])]
        loads = [self.start(f"{cgroup}=1") for cgroup in cgroups]
        rows, run = self.run_loads(loads, ["--by", "container", "-o", self.path(".folded"),
                                           "-o", self.path(".pb.gz"), "-o",
                                           self.path(".html")])
        for load in loads:
            self.assertGreater(rows[load.pid], 100)
        pids = {row["pid"]: row for row in json.loads(self.text_of("--json"))["processes"]}
        self.assertEqual([pids[load.pid].get(key) for load, key in zip(
            loads, ("container", "container", "unit", "cgroup"))], names)
        with open(self.path(".folded"), encoding="utf-8") as file:
            folded = file.read()
        self.assertEqual(self.text_of("-f", "folded", "--by", "container"), folded)
        samples = self.by_container(folded)
        self.assertLessEqual(sum(samples.values()), sum(rows.values()))
        for load, name in zip(loads, names):
            # Some samples can be older than the name.
            count = samples[name.replace("\x1b", "?")]
            self.assertTrue(0 < count <= rows[load.pid], (name, count))
            chosen = json.loads(self.text_of("--json", "--container", name))["processes"]
            found = {row["pid"]: row["samples"]["taken"] - row["samples"]["lost"]
                     for row in chosen if row["samples"]["taken"]}
            self.assertEqual(found, {load.pid: count})
        completed = self.completed("out.jitbpf", "--container", "")
        self.assertLessEqual(set(names[:3]), set(completed))
        self.assertFalse("\x1b" in "".join(completed))
        self.assertEqual(self.completed("out.jitbpf", f"--container={names[2][:3]}"),
                         [f"--container={names[2]}"])
        self.assertEqual(self.completed("--container", "cron"), [])  # no profile.jitbpf yet
        os.symlink(self.path(".jitbpf"), os.path.join(self.folder, "profile.jitbpf"))
        self.assertEqual(self.completed("--container", "cron"), ["cron.service"])
        profile = Profile(self.path(".pb.gz"))
        labels = collections.Counter()
        for sample in profile.samples:
            labels[profile.labels(sample).get("container")] += 1
        self.assertGreater(labels[names[0]], 0)
        self.assertIn(names[0], run.stderr)
        self.assertNotIn("\x1b", run.stderr)

    def test_container_of_a_user(self):
        """Its name is in the home of the user whose session the cgroup is in."""
        home = os.path.expanduser("~root")
        number = f"{os.getpid():064x}"
        session = os.path.join(mount_of_cgroups(), "user.slice/user-0.slice")
        self.addCleanup(self.remove_empty, session)
        os.makedirs(session, exist_ok=True)
        self.addCleanup(self.remove)  # before the session
        self.top = session
        self.note(os.path.join(home, ".local/share/docker/containers", number), "at-home")
        load = self.start(f"{self.below(f'docker-{number}.scope')[0]}=0.5")
        self.run_loads([load], [])
        pids = {row["pid"]: row for row in json.loads(self.text_of("--json"))["processes"]}
        self.assertEqual(pids[load.pid]["container"], "at-home")

    def test_unit_of_a_user(self):
        """The owner of a unit may name a cgroup in it like a unit of the system."""
        name = f"jitbpf-test-{os.getpid()}.service"
        units = self.below(name, "user@7.service", f"user@7.service/{name}")
        loads = [self.start(f"{unit}=0.5") for unit in (units[0], units[2])]
        self.run_loads(loads, [])
        for label, load in ((name, loads[0]), (f"user@7.service/{name}", loads[1])):
            shown = json.loads(self.text_of("--json", "--container", label))["processes"]
            self.assertEqual([(row["pid"], row["unit"]) for row in shown if row["samples"]["taken"]],
                             [(load.pid, label)])
        loads = [self.start(f"{unit}=0.3") for unit in (units[0], units[2])]
        rows, _run = self.run_loads(loads, ["-G", name])
        self.assertEqual(list(rows), [loads[0].pid])

    def test_process_that_moves(self):
        """Each sample counts for the cgroup that the process had then, or is older than its
        name."""
        a, b = self.below("a.service", "b.service")
        load = self.start(f"{a}=1", f"{b}=0.5", f"{a}=1")
        self.run_loads([load], [])
        samples = self.by_container(self.text_of("-f", "folded", "--by", "container"))
        unknown = samples["[unknown cgroup]"] / FREQ_HZ
        for cgroup, name in ((a, "a.service"), (b, "b.service")):
            share = samples[name] / FREQ_HZ / self.usage(cgroup)
            self.assertLess(share, 1.08)
            self.assertGreater(share, 0.92 - unknown / self.usage(cgroup))
        self.assertGreater(samples["a.service"] + samples["b.service"], 0)

    def test_removed_at_once(self):
        """Cgroups that are gone before they are read have no name or their own, and no sample is
        lost."""
        names = [f"{i}-{'x' * 200}.service" for i in range(40)]
        parts = [f"{cgroup}=0.02" for cgroup in self.below(*names)]
        load = self.start(*parts, f"{self.below('last.service')[0]}=0.3")
        self.run_loads([load], [])
        known = self.by_container(self.text_of("-f", "folded", "--by", "container", "--pid",
                                               str(load.pid)))
        own = sum(count for name, count in known.items()
                  if name in names or name in ("last.service", "[unknown cgroup]"))
        self.assertGreaterEqual(own, sum(known.values()) * 0.95)
        self.assertGreater(own, 300)

    def test_version_1_only(self):
        argv = self.record_argv(["--by", "container"], (".jitbpf",))
        mount = mount_of_cgroups()
        done = subprocess.run(["unshare", "-m", "sh", "-c", 'umount -l "$0" && exec "$@"', mount,
                               *argv, "--", "true"], capture_output=True, check=False)
        run = self.finished(done.returncode, done.stdout, done.stderr)
        self.assertIn("cgroup version 2 is not mounted", run.stderr)

    def test_list(self):
        """Of processes that run."""
        number = f"{os.getpid():064x}"
        self.name_container(number, "web")
        cgroups = self.below(f"docker-{number}.scope", "listed.service")
        engines = []
        for cgroup in cgroups:
            engines.append(subprocess.Popen(
                ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', cgroup, harness.ENGINE,
                 "hot", "--seconds", "60"],
                env={**os.environ, "INTEL_JIT_PROFILER64": harness.SHIM},
                stdout=subprocess.DEVNULL))
            self.addCleanup(engines[-1].wait)
            self.addCleanup(engines[-1].kill)
        pids = ",".join(str(engine.pid) for engine in engines)
        listed = [harness.JITBPF, "list", "-p", pids]

        def rows():
            done = subprocess.run([*listed, "--json"], check=True, capture_output=True)
            rows = {row["pid"]: row for row in json.loads(done.stdout)["engines"]}
            return len(rows) == 2 and rows

        found = self.wait_for(rows)
        self.assertEqual(found[engines[0].pid]["container"], "web")
        self.assertEqual(found[engines[1].pid]["unit"], "listed.service")
        text = subprocess.run(listed, check=True, capture_output=True, text=True).stdout
        self.assertRegex(text, r"CONTAINER OR UNIT +PUBLISHES\n")
        self.assertRegex(text, rf"\n *{engines[0].pid} .* web +shim")
        self.assertRegex(text, rf"\n *{engines[1].pid} .* listed.service +shim")
