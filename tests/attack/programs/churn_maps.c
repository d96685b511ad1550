// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* churn_maps: a process with tens of thousands of mappings, which change while they are read. */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#define MAPPINGS 60000
#define STEP	 8192

int main(void)
{
	char *all = mmap(NULL, (size_t)MAPPINGS * STEP, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (all == MAP_FAILED)
		return 1;
	/* Every second page: each is a mapping of its own. */
	for (size_t i = 0; i < MAPPINGS / 2; i++)
		mprotect(all + i * STEP, STEP / 2, PROT_READ | PROT_EXEC);
	puts("ready");
	fflush(stdout);
	for (size_t i = 0;; i = (i + 7919) % (MAPPINGS / 2)) {
		munmap(all + i * STEP, STEP / 2);
		mmap(all + i * STEP, STEP / 2, PROT_READ | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
}
