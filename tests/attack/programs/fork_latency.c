// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fork_latency: forks every millisecond. At the end of its standard input it prints the longest
 * fork in microseconds, and the number of forks over 100 ms, each without the time in which the
 * thread waited for a processor.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Time in which this thread could run, but had no processor. */
static uint64_t waited_us(int schedstat)
{
	unsigned long long ran_ns, waited_ns;
	char text[64] = "";

	if (pread(schedstat, text, sizeof(text) - 1, 0) < 0 ||
	    sscanf(text, "%llu %llu", &ran_ns, &waited_ns) != 2)
		return 0;
	return waited_ns / 1000;
}

int main(void)
{
	int schedstat = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	uint64_t longest_us = 0, slow = 0;

	while (!poll(&input, 1, 1)) {
		uint64_t waited_before_us = waited_us(schedstat), began_us = now_us();
		uint64_t took_us, waiting_us;
		pid_t child = fork();

		if (!child)
			_exit(0);
		took_us = now_us() - began_us;
		waiting_us = waited_us(schedstat) - waited_before_us;
		took_us -= waiting_us < took_us ? waiting_us : took_us;
		if (child > 0)
			waitpid(child, NULL, 0);
		longest_us = took_us > longest_us ? took_us : longest_us;
		slow += took_us > 100000;
	}
	printf("%llu %llu\n", (unsigned long long)longest_us, (unsigned long long)slow);
	return 0;
}
