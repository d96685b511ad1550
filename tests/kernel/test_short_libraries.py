# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Libraries that are loaded for some milliseconds, from files that are then deleted."""

import os
import re
import subprocess

from harness import KernelTest

LIBRARY = """
volatile unsigned long count;
__attribute__((noinline)) void NAME(unsigned long turns) { while (turns--) count++; }
void run(unsigned long turns) { NAME(turns); count++; }
"""
# Loads copies of a library, one after the other; each runs for 5 ms of CPU time, but the first one
# for half a second. "deleted": each copy has a path of its own. "replaced": all have the same path.
# "different": each has a path and a build ID of its own. "kept": one copy, all the time.
LOADER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

static void copy(const char *from, const char *to, int id)
{
	static const char note[] = "\\4\\0\\0\\0\\x14\\0\\0\\0\\3\\0\\0\\0GNU";
	int in = open(from, O_RDONLY), out = open(to, O_CREAT | O_RDWR | O_TRUNC, 0755);
	struct stat st;
	char head[4096];
	char *at;

	if (fstat(in, &st) || sendfile(out, in, NULL, st.st_size) != st.st_size)
		exit(2);
	if (id) {
		if (pread(out, head, sizeof(head), 0) != sizeof(head) ||
		    !(at = memmem(head, sizeof(head), note, sizeof(note))) ||
		    pwrite(out, &id, sizeof(id), at + sizeof(note) - head) != sizeof(id))
			exit(3);
	}
	close(in);
	close(out);
}

static void load(const char *path, double seconds)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*run)(unsigned long) = library ? dlsym(library, "run") : NULL;
	double begin = cpu_seconds();

	if (!run)
		exit(4);
	while (cpu_seconds() - begin < seconds)
		run(20000);
	dlclose(library);
}

int main(int argc, char **argv)
{
	const char *library = argv[1], *folder = argv[2], *how = argv[3];
	double seconds = atof(argv[4]), first = atof(argv[5]);
	char path[4096], part[4096];

	for (int i = 1; cpu_seconds() < seconds; i++) {
		snprintf(path, sizeof(path), "%s/copy%d.so", folder, *how == 'r' ? 0 : i);
		snprintf(part, sizeof(part), "%s/part", folder);
		copy(library, part, *how == 'd' && how[1] == 'i' ? i : 0);
		if (rename(part, path))
			return 5;
		load(path, *how == 'k' ? seconds : i == 1 ? first : 0.005);
		if (*how != 'r' && unlink(path))
			return 6;
	}
}
"""
USER, OTHER = 61301, 61302


class ShortLibraries(KernelTest):
    def setUp(self):
        super().setUp()
        self.library = self.build("hot_in_short_library")
        self.loader = os.path.join(self.folder, "loader")
        subprocess.run(["cc", "-O1", "-x", "c", "-o", self.loader, "-", "-ldl"],
                       input=LOADER.encode(), check=True)

    def build(self, name):
        path = os.path.join(self.folder, f"{name}.so")
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", f"-DNAME={name}",
                        "-Wl,--build-id=0x" + "5e" * 20, "-x", "c", "-o", path, "-"],
                       input=LIBRARY.encode(), check=True)
        return path

    def argv(self, how, first=0.5, *, library=None, uid=None, seconds=4):
        """The command of a loader, in a folder of its own, which belongs to the user."""
        folder = os.path.join(self.folder, f"copies-{how}-{uid}")
        os.mkdir(folder)
        argv = [self.loader, library or self.library, folder, how, str(seconds), str(first)]
        if uid is None:
            return argv
        os.chmod(self.folder, 0o755)
        os.chown(folder, uid, uid)
        return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *argv]

    def frames(self, run):
        """Returns the names of the frames in the copies of this test, of all samples."""
        copies = re.compile(rf"\t.*\({self.folder}/[^/]+/copy[0-9]+\.so\)$")
        with open(run.path(".txt"), encoding="utf-8", errors="replace") as file:
            return [line.split()[1] for line in file
                    if copies.match(line.rstrip())]

    def check_named(self, run, alone=True):
        self.check_ledger(run)
        frames = self.frames(run)
        named = sum("hot_in_short_library" in name or name.startswith("run") for name in frames)
        self.assertGreater(len(frames), 500)
        self.assertGreater(named, 0.9 * len(frames), run.stderr)
        samples = run.summary()["samples"]
        if alone:
            self.assertGreater(samples["resolved"], 0.8 * samples["taken"])

    def test_deleted(self):
        self.check_named(self.record(self.argv("deleted"), ["-F", "499"]))

    def test_replaced(self):
        self.check_named(self.record(self.argv("replaced"), ["-F", "499"]))

    def test_all_processes(self):
        """Those of a user, in a recording of the machine."""
        self.check_named(self.record(self.argv("deleted", uid=USER), ["-F", "499", "-a"]), False)

    def test_different(self):
        """What cannot be known has no names, and the reason is the true one."""
        run = self.record(self.argv("different", 0.005), ["-F", "499"])
        counters = self.check_ledger(run)["counters"]
        self.assertGreater(counters["files_gone"], 20)
        self.assertEqual(counters["files_unverified"], 0)
        self.assertIn("mapped files gone before they were opened", run.stderr)
        self.assertIn("samples without names of functions", run.stderr)
        self.assertIn("keep them at their paths", run.stderr)
        self.assertNotIn("install", run.stderr)
        self.assertNotIn("upgrade", run.stderr)

    def test_build_id_of_others(self):
        """A user's library has the build ID of another user's, and other names."""
        hostile = self.build("hostile_in_short_library")
        attacker = self.argv("kept", library=hostile, uid=OTHER, seconds=60)
        victim = self.argv("deleted", 0.005, uid=USER)
        script = f'"${{@:1:{len(attacker)}}}" & "${{@:{len(attacker) + 1}}}"; kill $!'
        run = self.record(["bash", "-c", script, "bash", *attacker, *victim], ["-F", "499"])
        with open(run.path(".txt"), encoding="utf-8", errors="replace") as file:
            samples = file.read().split("\n\n")
        of_victim = [sample for sample in samples if f"/copies-deleted-{USER}/" in sample]
        self.assertTrue(any("hostile_in_short_library" in sample for sample in samples))
        self.assertTrue(any("hot_in_short_library" in sample for sample in of_victim))
        self.assertEqual(sum("hostile" in sample for sample in of_victim), 0)
