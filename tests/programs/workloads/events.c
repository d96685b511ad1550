/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * events PAGES ROUNDS: touches PAGES new pages in touch_pages(), and then passes a byte back and
 * forth between two processes ROUNDS times, in ping() and pong(). Both processes run on one CPU, so
 * each byte takes a context switch. Prints what the kernel has counted for them: page faults,
 * context switches, and ns of CPU time.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE   __attribute__((noipa))
#define PAGE_BYTES 4096
#define PIECE	   10000 /* pages */

static void require(int ok)
{
	if (!ok)
		abort();
}

NOINLINE static void touch_pages(long count)
{
	char *memory = mmap(NULL, (size_t)count * PAGE_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	require(memory != MAP_FAILED);
	madvise(memory, (size_t)count * PAGE_BYTES, MADV_NOHUGEPAGE);
	for (long i = 0; i < count; i++)
		((volatile char *)memory)[i * PAGE_BYTES] = 1;
	munmap(memory, (size_t)count * PAGE_BYTES);
}

NOINLINE static void ping(long rounds, int from, int to)
{
	char byte = 0;

	for (long i = 0; i < rounds; i++)
		require(write(to, &byte, 1) == 1 && read(from, &byte, 1) == 1);
}

NOINLINE static void pong(long rounds, int from, int to)
{
	char byte;

	for (long i = 0; i < rounds; i++)
		require(read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1);
}

static void stay_on_one_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static long long ns(struct timeval time)
{
	return time.tv_sec * 1000000000ll + time.tv_usec * 1000ll;
}

int main(int argc, char **argv)
{
	long pages = argc > 1 ? atol(argv[1]) : 0, rounds = argc > 2 ? atol(argv[2]) : 0;
	int there[2], back[2], child;
	struct rusage self, other;

	require(!pipe(there) && !pipe(back));
	stay_on_one_cpu();
	for (long done = 0; done < pages; done += PIECE)
		touch_pages(pages - done < PIECE ? pages - done : PIECE);
	child = fork();
	if (!child) {
		pong(rounds, there[0], back[1]);
		return 0;
	}
	ping(rounds, back[0], there[1]);
	waitpid(child, NULL, 0);
	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &other);
	printf("%ld %ld %lld\n",
	       self.ru_minflt + self.ru_majflt + other.ru_minflt + other.ru_majflt,
	       self.ru_nvcsw + self.ru_nivcsw + other.ru_nvcsw + other.ru_nivcsw,
	       ns(self.ru_utime) + ns(self.ru_stime) + ns(other.ru_utime) + ns(other.ru_stime));
	return 0;
}
