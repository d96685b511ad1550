# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The pprof output of a real engine agrees with the ledger and the script."""

import collections

import harness
import recording
from pprof_file import MAPPING, Profile, message, varints

class Pprof(harness.KernelTest):
    def check_samples(self, profile, run, taken):
        """Stacks and threads are those of the script."""
        expected, found = collections.Counter(), collections.Counter()
        for sample in run.script():
            names = recording.shown_names(sample)
            expected[sample.pid, sample.tid, sample.comm, names] += 1
        period, = profile.top[12]
        for sample in profile.samples:
            labels = profile.labels(sample)
            names = tuple(name for number in varints(b"".join(sample[1]))
                          for name in profile.names(profile.locations[number]))
            count, cpu_ns = varints(sample[2][0])
            self.assertEqual(cpu_ns, count * period)
            found[labels["pid"], labels["tid"], labels["thread"], names] += count
        self.assertEqual(sum(found.values()), taken)
        self.assertEqual(found, expected)

    def check_locations(self, profile):
        addresses = set()
        for location in profile.locations.values():
            self.assertTrue(location[4])
            if not location[2]:
                continue  # an unknown address
            mapping = profile.mappings[location[2][0]]
            address = location[3][0]
            self.assertTrue(mapping[2][0] <= address < mapping[3][0])
            if address < 1 << 63:  # kernel programs may reuse an address
                self.assertNotIn(address, addresses)
                addresses.add(address)

    def test_php(self):
        run = self.record(harness.php("tracing", 2), ["-F", "999", "--interpreter", "yes"],
                          endings=(".jitbpf", ".txt", ".pb.gz"))
        samples = self.check_ledger(run)["samples"]
        profile = Profile(run.path(".pb.gz"))
        self.check_samples(profile, run, samples["taken"] - samples["lost"])
        self.check_locations(profile)
        kinds = collections.Counter()
        for sample in profile.samples:
            kinds[profile.labels(sample)["kind"]] += varints(sample[2][0])[0]
        self.assertGreater(kinds["jit"], 300)
        program = message(profile.top[MAPPING][0])
        self.assertRegex(profile.text(program, 5), "/php[^/]*$")
        self.assertRegex(profile.text(program, 6), "^([0-9a-f]{2}){8,20}$")
        self.assertIn("[jit]", [profile.text(m, 5) for m in profile.mappings.values()])
        comments = [profile.strings[number] for number in profile.top[13]]
        self.assertTrue(any(c.startswith(f"samples taken: {samples['taken']} = "
                                         f"{samples['resolved']} resolved")
                            for c in comments), comments)

    @harness.alone
    def test_whole_system(self):
        """Many processes and threads; the recording yields the same bytes."""
        run = self.record([harness.ONEDNN, "2", "3"], ["-a", "-F", "499"],
                          endings=(".jitbpf", ".txt", ".pb.gz"))
        samples = self.check_ledger(run)["samples"]
        profile = Profile(run.path(".pb.gz"))
        values = [varints(sample[2][0])[0] for sample in profile.samples]
        self.assertEqual(sum(values), samples["taken"] - samples["lost"])
        self.assertEqual(sum(values), len(run.script()))
        self.check_locations(profile)
        threads = {profile.labels(sample)["tid"] for sample in profile.samples
                   if profile.labels(sample)["process"] == "onednn"}
        self.assertGreater(len(threads), 1)
        done = run.report("-f", "pprof")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, open(run.path(".pb.gz"), "rb").read())
