# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""JIT code in memory that does not answer delays its reader only."""

import os
import subprocess

from harness import KernelTest

# The second page of its code is served by a userfaultfd that nobody answers.
PROGRAM = r"""
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define METHOD_LOAD 13

struct method {
	unsigned id;
	char *name;
	void *address;
	unsigned bytes, line_count;
	void *lines;
	unsigned class_id;
	char *class_file, *source_file;
};

/* mov $1000000, %ecx; 1: dec %ecx; jnz 1b; ret */
static const unsigned char code[] = {0xb9, 0x40, 0x42, 0x0f, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3};

int main(void)
{
	void *shim = dlopen(getenv("INTEL_JIT_PROFILER64"), RTLD_NOW);
	unsigned (*initialize)(void) = (unsigned (*)(void))dlsym(shim, "Initialize");
	unsigned (*notify)(unsigned, void *) =
		(unsigned (*)(unsigned, void *))dlsym(shim, "NotifyEvent");
	char *memory = mmap(0, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register missing = {
		.range = {(unsigned long)memory + PAGE, PAGE},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct method method = {.id = 1, .name = "stuck_code", .address = memory, .bytes = 2 * PAGE};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	time_t end = time(0) + 5;

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &missing))
		return 1;
	memcpy(memory, code, sizeof(code));
	initialize();
	notify(METHOD_LOAD, &method);
	while (time(0) < end)
		((void (*)(void))memory)();
	return 0;
}
"""


class StuckMemory(KernelTest):
    def test_code(self):
        source, program = (os.path.join(self.folder, name) for name in ("stuck.c", "stuck"))
        with open(source, "w", encoding="ascii") as file:
            file.write(PROGRAM)
        subprocess.run(["cc", "-O1", "-o", program, source, "-ldl"], check=True)
        run = self.record([program], ["-F", "499"])
        self.check_ledger(run)
        leaves = [sample.frames[0].name for sample in run.script()
                  if sample.comm == "stuck" and sample.frames]
        self.assertGreater(leaves.count("stuck_code"), 100)
        self.assertEqual(run.stderr.count("no answer in time from the memory of process"), 1)
