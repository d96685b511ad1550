/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/vdso_image.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/files/helper/process_maps.h"
#include "base/scope.h"
#include "decode/text/proc_maps.h"

#define MAP_VDSO_32   0x2002 /* ARCH_MAP_VDSO_32 */
#define IMAGE_MAX     (64u << 10)
#define VDSO_MAPPINGS 8 /* limit: the image, and the data before it */

struct vdso_range {
	uintptr_t start, end;
};

int vdso_image_open(struct blob *ret)
{
	const Elf64_Ehdr *vdso = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);

	if (!vdso)
		return -ENOENT;
	/* The section headers are at its end. */
	*ret = blob_of_memory(vdso, vdso->e_shoff + (size_t)vdso->e_shnum * vdso->e_shentsize);
	return 0;
}

/* Returns the number of mappings of our vDSO: its image, "[vdso]", and data, such as "[vvar]". */
static size_t find_own(struct vdso_range ret[VDSO_MAPPINGS])
{
	process_text text = {0};
	struct cursor lines;
	struct proc_map map;
	size_t count = 0;
	int got = process_text_read(&text, (uint32_t)getpid(), "maps") ? 0 : 1;

	lines = cursor_of(text.data, text.size);
	while (got && count < VDSO_MAPPINGS && (got = proc_maps_next(&lines, &map)) != 0) {
		if (got > 0 && map.path_bytes > 5 &&
		    (!memcmp(map.path, "[vdso", 5) || !memcmp(map.path, "[vvar", 5)))
			ret[count++] = (struct vdso_range){map.start, map.end};
	}
	vec_deinit(&text);
	return count;
}

/*
 * The child: it has one thread, and no vDSO after the first call. The kernel maps image and data in
 * the same order as it did ours, at the address that we suggest if it is free.
 */
static _Noreturn void write_image(int fd, const struct vdso_range *own, size_t count)
{
	const void *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	uintptr_t start = UINTPTR_MAX;
	long size_bytes;

	for (size_t i = 0; i < count; i++) {
		start = own[i].start < start ? own[i].start : start;
		munmap((void *)own[i].start, own[i].end - own[i].start);
	}
	size_bytes = syscall(SYS_arch_prctl, MAP_VDSO_32, start);
	if (size_bytes > 0)
		_exit(write(fd, image, (size_t)size_bytes) != size_bytes);
	_exit(1);
}

static int read_image(int fd, struct blob *ret)
{
	AUTO_FREE uint8_t *bytes = malloc(IMAGE_MAX);
	const Elf32_Ehdr *header = (const Elf32_Ehdr *)bytes;
	size_t size_bytes = 0;
	ssize_t got;

	if (!bytes)
		return -ENOMEM;
	while (size_bytes < IMAGE_MAX) {
		got = TEMP_FAILURE_RETRY(read(fd, bytes + size_bytes, IMAGE_MAX - size_bytes));
		if (got <= 0)
			break;
		size_bytes += (size_t)got;
	}
	if (size_bytes < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_ident[EI_CLASS] != ELFCLASS32)
		return -ENOENT;
	*ret = blob_of_memory(TAKE_PTR(bytes), size_bytes);
	ret->close = free;
	return 0;
}

int vdso_image_open_narrow(struct blob *ret)
{
	struct vdso_range own[VDSO_MAPPINGS];
	size_t count = find_own(own);
	int fds[2], err;
	pid_t child;

	if (!count)
		return -ENOENT;
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	child = fork();
	if (!child)
		write_image(fds[1], own, count);
	err = child < 0 ? -errno : 0;
	close(fds[1]);
	err = err ?: read_image(fds[0], ret);
	close(fds[0]);
	if (child > 0)
		TEMP_FAILURE_RETRY(waitpid(child, NULL, 0));
	return err;
}
