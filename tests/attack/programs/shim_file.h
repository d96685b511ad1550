/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The shim as an attacker maps it, without loading it. */
#ifndef JITBPF_TESTS_ATTACK_SHIM_FILE_H
#define JITBPF_TESTS_ATTACK_SHIM_FILE_H

#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static inline void *read_whole(const char *path, size_t *ret_bytes)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	void *bytes;

	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", path);
	bytes = malloc((size_t)st.st_size);
	if (!bytes || read(fd, bytes, (size_t)st.st_size) != st.st_size)
		err(1, "%s", path);
	close(fd);
	*ret_bytes = (size_t)st.st_size;
	return bytes;
}

/* Map the segments as the dynamic linker does, apart from their places. */
static inline void map_segments(int fd, const void *bytes)
{
	const Elf64_Ehdr *head = bytes;
	const Elf64_Phdr *segments = (const void *)((const char *)bytes + head->e_phoff);

	for (int i = 0; i < head->e_phnum; i++) {
		const Elf64_Phdr *segment = &segments[i];
		size_t more = segment->p_offset & 4095;
		int protection = PROT_READ | (segment->p_flags & PF_X ? PROT_EXEC : 0) |
				 (segment->p_flags & PF_W ? PROT_WRITE : 0);

		if (segment->p_type == PT_LOAD &&
		    mmap(NULL, segment->p_filesz + more, protection, MAP_PRIVATE, fd,
			 (off_t)(segment->p_offset - more)) == MAP_FAILED)
			err(1, "mapping");
	}
}

#endif
