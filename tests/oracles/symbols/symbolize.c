/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symbolize FILE <addresses: writes what the symbolizer finds for each address
 * of a file, in the format of "addr2line -a -f -i -C -e FILE", for comparison.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decode/elf/elf_file.h"
#include "symbolize/symbolizer.h"

static int file_read(void *fd, uint64_t offset, void *buf, size_t size_bytes)
{
	ssize_t n = pread((int)(intptr_t)fd, buf, size_bytes, (off_t)offset);

	return n == (ssize_t)size_bytes ? 0 : -EIO;
}

static void file_close(void *fd)
{
	close((int)(intptr_t)fd);
}

static int file_open(const char *path, struct blob *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat stat;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat) || !S_ISREG(stat.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	*ret = (struct blob){
		.size_bytes = (uint64_t)stat.st_size,
		.read = file_read,
		.close = file_close,
		.context = (void *)(intptr_t)fd,
	};
	return 0;
}

static int open_module(void *context, const struct module *module, struct blob *ret)
{
	return file_open(module->path, ret);
}

static int open_debug(void *context, const struct module *module, const char *path, bool ours,
		      struct blob *ret)
{
	return ours ? file_open(path, ret) : -ENOENT;
}

static int write_frames(struct symbolizer *symbolizer, const struct module *module,
			const struct elf_file *elf, uint64_t address)
{
	struct symbol_frame frames[SYMBOL_FRAMES_MAX] = {{.name = ""}};
	uint32_t count = 1;
	uint64_t offset;
	int err = 0;

	if (elf_file_offset(elf, address, &offset))
		err = symbolizer_native(symbolizer, module, offset, frames, &count);
	printf("0x%016" PRIx64 "\n", address);
	for (uint32_t i = 0; i < count && !err; i++)
		printf("%s\n%s:%u\n", *frames[i].name ? frames[i].name : "??",
		       frames[i].file ? frames[i].file : "??", frames[i].line);
	return err;
}

int main(int argc, char **argv)
{
	struct file_source source = {.open_module = open_module, .open_debug = open_debug};
	struct module module = {.number = 1};
	struct symbolizer *symbolizer;
	struct elf_file elf;
	struct blob blob;
	char path[4096], line[64];
	int err;

	if (argc != 2 || !realpath(argv[1], path) || file_open(path, &blob) ||
	    elf_file_init_any(&elf, &blob) || symbolizer_create(&source, &symbolizer))
		return 2;
	module.path = path;
	module.build_id_bytes = elf_file_build_id(&elf, module.build_id);
	for (err = 0; !err && fgets(line, sizeof(line), stdin);)
		err = write_frames(symbolizer, &module, &elf, strtoull(line, NULL, 16));
	symbolizer_destroy(symbolizer);
	elf_file_deinit(&elf);
	blob_close(&blob);
	return err ? 1 : 0;
}
