// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fork_latency: forks every millisecond. At the end of its standard input it prints the longest
 * fork in microseconds, and the number of forks over 100 ms.
 */
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

int main(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	uint64_t longest_us = 0, slow = 0;

	while (!poll(&input, 1, 1)) {
		uint64_t began_us = now_us(), took_us;
		pid_t child = fork();

		if (!child)
			_exit(0);
		took_us = now_us() - began_us;
		if (child > 0)
			waitpid(child, NULL, 0);
		longest_us = took_us > longest_us ? took_us : longest_us;
		slow += took_us > 100000;
	}
	printf("%llu %llu\n", (unsigned long long)longest_us, (unsigned long long)slow);
	return 0;
}
