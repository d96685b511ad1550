/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * In the kernel, and in code that the kernel maps into programs.
 *
 * stack: _start system main asks_time system
 * stack: _start system main reads system
 * stack: _start system main maps system
 * stack: _start system main maps touch
 * stack: _start system main system
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/stacks/stacks.h"

#define PAGE 4096

FUNCTION long asks_time(int times)
{
	struct timespec now;
	long sum = 0;

	for (int i = 0; i < times; i++) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		sum += now.tv_nsec;
	}
	return sum;
}

FUNCTION long reads(int fd)
{
	char room[PAGE];

	return read(fd, room, sizeof(room)) + room[0];
}

FUNCTION void touch(volatile char *page)
{
	*page = 1;
}

FUNCTION int maps(int pages)
{
	char *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	for (int i = 0; i < pages; i++)
		touch(memory + i * PAGE);
	return munmap(memory, pages * PAGE);
}

int main(void)
{
	int fd = open("/dev/zero", O_RDONLY);

	for (;;) {
		asks_time(1000);
		for (int i = 0; i < 20; i++)
			reads(fd);
		maps(20);
	}
}
