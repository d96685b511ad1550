# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One function, one row: what differs between two builds of a program, or two runs of a Java program, is
not compared."""

import os
import re
import subprocess
import unittest

import harness
import jdks

AGENT = os.path.join(os.path.dirname(harness.SHIM), "libjitbpf-jvmti.so")

# Each has code that the compiler gives a name of its own with the options of the first build: a clone
# for one value of an argument, and a part that it takes for unlikely.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>

volatile unsigned long sink;

static __attribute__((noinline)) unsigned long cloned(unsigned long n, int step)
{
	unsigned long sum = n;

	for (unsigned long i = 0; i < n; i++)
		sum = sum * 31 / (i + (unsigned long)step) + i;
	return sum;
}

static __attribute__((noinline, cold)) void unlikely(void) { sink++; }

static __attribute__((noinline)) unsigned long parted(unsigned long n)
{
	unsigned long sum = n;

	if (n > 2) {
		unlikely();
		for (unsigned long i = 0; i < n; i++)
			sum = sum * 17 / (i + 1) + 1;
	}
	return sum;
}

int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[1]); i++) {
		sink += cloned(argc * 10000, 7);
		sink += parted(argc * 10000);
		sink += cloned(argc * 10000, 7);
		sink += parted(argc * 10000);
	}
	return 0;
}
"""
BUILDS = (["-O2"], ["-O2", "-fno-ipa-cp", "-fno-ipa-sra", "-fno-reorder-blocks-and-partition"])

LAMBDAS = """
import java.util.function.LongUnaryOperator;
public class Lambdas {
    static long sink;
    static long spin(LongUnaryOperator op) {
        long sum = 0;
        for (long i = 0; i < 100000; i++) sum += op.applyAsLong(i);
        return sum;
    }
    public static void main(String[] args) {
        LongUnaryOperator[] earlier = { x -> x + 1, x -> x * 3, x -> x ^ 5 };
        // As many classes of lambdas are made before the two that count.
        for (int i = 0; i < Integer.parseInt(args[0]); i++) sink += earlier[i].applyAsLong(i);
        LongUnaryOperator add = x -> { long r = x; for (int j = 0; j < 20; j++) r = r * 31 + j; return r; };
        LongUnaryOperator divide = x -> { long r = x; for (int j = 0; j < 30; j++) r = r / (j + 1) + j; return r; };
        for (int i = 0; i < 250; i++) sink += spin(add) + spin(divide);
        System.out.println(sink);
    }
}
"""


class Compared(harness.KernelTest):
    def rows(self, paths, *options):
        """Returns {function: (total before, total after)} of the table of a difference."""
        done = subprocess.run([harness.JITBPF, "diff", "--rows", "0", *options, *paths], stdout=subprocess.PIPE,
                              check=True)
        rows = {}
        for line in done.stdout.decode().splitlines():
            match = re.match(r" *([\d.]+)% +([\d.]+)% +[-+][\d.]+~? +([\d.]+)% +([\d.]+)% +[-+][\d.]+~? +(.*) \(.*\)$",
                             line)
            if match:
                rows[match[5]] = (float(match[3]), float(match[4]))
        self.assertTrue(rows)
        return rows


class Twins(harness.KernelTest):
    TWIN = "static __attribute__((noinline)) unsigned twin(unsigned n)\n{{\n" \
        "\tfor (unsigned i = 0; i < 200000000; i++) {{ n = n * {factor} + i; __asm__ volatile(\"\"); }}\n\treturn n;\n}}\n" \
        "unsigned {name}(unsigned n) {{ return twin(n) + 1; }}\n"
    MAIN = "unsigned a(unsigned), b(unsigned);\nint main(int argc, char **argv) { return a((unsigned)argc) + b((unsigned)argc) == 7; }\n"

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def build(self, *options):
        """Static functions of one name in two source files."""
        for name, text in (("a", self.TWIN.format(name="a", factor=33)), ("b", self.TWIN.format(name="b", factor=35)), ("m", self.MAIN)):
            self.write(name + ".c", text)
        subprocess.run(["gcc", "-O2", *options, "-o", "twins", "a.c", "b.c", "m.c"], cwd=self.folder, check=True)
        return self.record([os.path.join(self.folder, "twins")], ["-F", "999"])

    def test_pieces(self):
        """annotate lists both, with what tells them apart, and shows each."""
        path = self.build("-g").path(".jitbpf")
        done = subprocess.run([harness.JITBPF, "annotate", "twin", path], capture_output=True, check=False)
        self.assertEqual(done.returncode, 1)
        for file in ("a.c", "b.c"):
            self.assertRegex(done.stderr.decode(), rf"twin of {file} ")
        for file, factor, other in (("a.c", 33, 35), ("b.c", 35, 33)):
            done = subprocess.run([harness.JITBPF, "annotate", "-d", file, "twin", path], stdout=subprocess.PIPE, check=True)
            self.assertIn(f"n * {factor} + i", done.stdout.decode())
            self.assertNotIn(f"n * {other} + i", done.stdout.decode())

    def shares(self, run):
        """Returns {function: share of its own samples} of the functions named twin in the table."""
        lines = run.report("-f", "top", "--rows", "0").stdout.decode().splitlines()
        found = [re.match(r" *([\d.]+)% .* (twin( of \S+)?)( {.*})?$", line) for line in lines]
        return {match[2]: float(match[1]) for match in found if match and "native" in match[0]}

    def assert_two(self, run):
        shares = self.shares(run)
        self.assertEqual(set(shares), {"twin of a.c", "twin of b.c"})
        self.assertTrue(all(25 < share < 75 for share in shares.values()), shares)

    def test_rows(self):
        """Each is a function, by debug info and by symbols alone; its parts and inlined calls are its own."""
        for options in (["-g"], ["-g", "-gdwarf-4"], []):
            with self.subTest(options=options):
                self.assert_two(self.build(*options))

    def test_differences(self):
        """diff compares each with itself, also without debug info on one side."""
        with_debug, without = self.build("-g").path(".jitbpf"), self.build().path(".jitbpf")
        done = subprocess.run([harness.JITBPF, "diff", "--rows", "0", with_debug, without], stdout=subprocess.PIPE,
                              check=True)
        rows = re.findall(r"^ *([\d.]+)% +([\d.]+)% .* (twin.*) \(twins\)$", done.stdout.decode(), re.M)
        self.assertEqual({row[2] for row in rows}, {"twin of a.c", "twin of b.c"}, done.stdout.decode())
        for before, after, name in rows:
            self.assertTrue(25 < float(before) < 75 and 25 < float(after) < 75, rows)

    def test_libraries(self):
        """What the module tells apart needs no file."""
        for name, factor in (("a", 33), ("b", 35)):
            self.write(name + ".c", self.TWIN.format(name=name, factor=factor))
            subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", f"lib{name}.so", name + ".c"], cwd=self.folder, check=True)
        self.write("m.c", self.MAIN)
        subprocess.run(["gcc", "-O2", "-o", "libs", "m.c", "-L.", "-la", "-lb", "-Wl,-rpath,$ORIGIN"], cwd=self.folder, check=True)
        run = self.record([os.path.join(self.folder, "libs")], ["-F", "999"])
        self.assertEqual(set(self.shares(run)), {"twin"})
        lines = run.report("-f", "top", "--rows", "0").stdout.decode()
        for library in ("liba.so", "libb.so"):
            self.assertRegex(lines, rf"native +{library} +twin\b")


class Builds(Compared):
    def build(self, number, options):
        """Returns the path of a build, and the names of its functions."""
        folder = os.path.join(self.folder, str(number))
        os.mkdir(folder)
        path = os.path.join(folder, "program")
        subprocess.run(["gcc", *options, "-xc", "-", "-o", path], input=PROGRAM.encode(), check=True)
        names = subprocess.run(["nm", path], stdout=subprocess.PIPE, check=True).stdout.decode()
        return path, {line.split()[-1] for line in names.splitlines()}

    def test_two_builds(self):
        recordings = []
        for number, options in enumerate(BUILDS):
            path, names = self.build(number, options)
            marked = {name for name in names if re.match(r"(cloned|parted)\.", name)}
            self.assertEqual(len(marked), (2, 0)[number], f"gcc named other code: {sorted(names)}")
            run = self.record([path, "2000"], ["-F", "999"])
            recordings.append(run.path(".jitbpf"))
            os.rename(recordings[-1], f"{path}.jitbpf")
            recordings[-1] = f"{path}.jitbpf"
        rows = self.rows(recordings)
        for name in ("cloned", "parted"):
            self.assertGreater(min(rows[name]), 20, rows)
            self.assertFalse([row for row in rows if row.startswith(f"{name}.")], rows)
        exact = self.rows(recordings, "--merge=none")
        for name in ("cloned", "parted"):
            whole, = (row for row in exact if row.startswith(f"{name}."))
            self.assertEqual(exact[whole][1], 0, exact)
            self.assertGreater(exact[whole][0], 20, exact)
            self.assertLess(exact.get(name, (0, 0))[0], 5, exact)


@unittest.skipUnless(os.path.exists(AGENT), "built without a JDK: no libjitbpf-jvmti.so")
@jdks.needs_jdk
class Lambdas(Compared):
    JDK = jdks.JDK

    def test_two_runs(self):
        with open(os.path.join(self.folder, "Lambdas.java"), "w", encoding="utf-8") as file:
            file.write(LAMBDAS)
        self.compile_java([os.path.join(self.folder, "Lambdas.java")])
        recordings = []
        for earlier in ("1", "3"):
            # Methods wait for the compiler, whatever else runs, and the proxies have frames of their own.
            run = self.record([os.path.join(self.JDK, "bin/java"), "-Xbatch", "-XX:-Inline", "-cp", self.folder,
                               "Lambdas", earlier], ["-F", "999"])
            recordings.append(os.path.join(self.folder, f"run{earlier}.jitbpf"))
            os.rename(run.path(".jitbpf"), recordings[-1])
        rows = {name: row for name, row in self.rows(recordings).items() if "Lambda" in name and "$$" in name}
        exact = {name: row for name, row in self.rows(recordings, "--merge=none").items()
                 if "Lambdas$$Lambda" in name}
        own, = (row for name, row in rows.items() if re.match(r"Lambdas\$\$Lambda.*\.applyAsLong", name))
        self.assertGreater(min(own), 20, rows)
        # By whole names, no proxy is on both sides.
        self.assertGreater(len(exact), 1)
        self.assertFalse([name for name, row in exact.items() if min(row)], exact)


if __name__ == "__main__":
    harness.main()
