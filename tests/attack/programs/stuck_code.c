// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stuck_code USERFAULTFD_DEVICE: reports code through the JIT API, and runs a part of it. The rest
 * of the code has no pages, and a userfaultfd that nobody answers is behind it: who reads it
 * remotely waits. Regions are reported, run for 5 ms each, and replaced for ever. Prints a line
 * when it begins.
 */
#include <dlfcn.h>
#include <err.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jitapi-shim/payload.h"

#define REGIONS	     64
#define REGION_BYTES (128u << 10)
#define PRESENT	     (64u << 10) /* offset of the only page that is there */

typedef unsigned int (*notify_fn)(unsigned int event, void *data);

static notify_fn open_api(void)
{
	const char *path = getenv("INTEL_JIT_PROFILER64");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	unsigned int (*initialize)(void) = library ? dlsym(library, "Initialize") : NULL;

	if (!initialize || initialize() != 1)
		errx(1, "no collector");
	return (notify_fn)dlsym(library, "NotifyEvent");
}

static int open_faults(const char *device)
{
	struct uffdio_api api = {.api = UFFD_API};
	int dev = open(device, O_RDWR | O_CLOEXEC), fd;

	if (dev < 0)
		err(1, "%s", device);
	fd = ioctl(dev, USERFAULTFD_IOC_NEW, O_CLOEXEC);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		err(1, "userfaultfd");
	return fd;
}

/* push rbp; pop rbp; ... dec edi; jne start; ret */
static void write_loop(uint8_t *at)
{
	uint8_t *start = at;
	int32_t back;

	for (int i = 0; i < 500; i++) {
		*at++ = 0x55;
		*at++ = 0x5d;
	}
	*at++ = 0xff;
	*at++ = 0xcf;
	*at++ = 0x0f;
	*at++ = 0x85;
	back = (int32_t)(start - (at + 4));
	memcpy(at, &back, sizeof(back));
	at[4] = 0xc3;
}

/* Make a region of which one page is there. Faults on the rest wait. */
static uint8_t *make_region(int faults)
{
	struct uffdio_register all = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	uint8_t *region = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (region == MAP_FAILED)
		err(1, "mapping");
	write_loop(region + PRESENT);
	all.range.start = (uintptr_t)region;
	all.range.len = REGION_BYTES;
	if (ioctl(faults, UFFDIO_REGISTER, &all))
		err(1, "registering");
	return region;
}

/* Another process, as another place to read from, every second. */
static void run_a_second(notify_fn notify, int faults)
{
	uint8_t *regions[REGIONS] = {0};
	time_t end = time(NULL) + 1;

	for (uint32_t id = 1; time(NULL) <= end; id++) {
		uint8_t **region = &regions[id % REGIONS];
		struct jitapi_load load = {
			.method = {.id = id, .name = "attacker_code", .size_bytes = REGION_BYTES},
		};

		if (*region)
			munmap(*region, REGION_BYTES);
		*region = make_region(faults);
		load.method.address = (uintptr_t)*region;
		notify(JIT_EVENT_LOAD, &load);
		((void (*)(int))(uintptr_t)(*region + PRESENT))(10000);
	}
}

int main(int argc, char **argv)
{
	notify_fn notify = open_api();
	pid_t pid;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	puts("ready");
	fflush(stdout);
	while ((pid = fork()))
		waitpid(pid, NULL, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_a_second(notify, open_faults(argc > 1 ? argv[1] : "/dev/userfaultfd"));
	return 0;
}
