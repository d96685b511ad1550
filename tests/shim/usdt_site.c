/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/shim/usdt_site.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cursor.h"
#include "base/scope.h"

#define FILE_MAX_BYTES (64u << 20)
#define NT_STAPSDT     3

struct image {
	uint8_t *bytes;
	size_t size_bytes;
};

static int image_read(const char *path, struct image *ret)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	AUTO_FREE uint8_t *bytes = NULL;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size <= 0 || st.st_size > FILE_MAX_BYTES)
		return -EBADMSG;
	bytes = malloc((size_t)st.st_size);
	if (!bytes)
		return -ENOMEM;
	if (read(fd, bytes, (size_t)st.st_size) != st.st_size)
		return -EIO;
	ret->size_bytes = (size_t)st.st_size;
	ret->bytes = TAKE_PTR(bytes);
	return 0;
}

/* Get the bytes [offset, offset + size_bytes) of the file. */
static int image_range(const struct image *image, uint64_t offset, uint64_t size_bytes,
		       struct cursor *ret)
{
	if (offset > image->size_bytes || size_bytes > image->size_bytes - offset)
		return -EBADMSG;
	*ret = cursor_of(image->bytes + offset, size_bytes);
	return 0;
}

static int section_find(const struct image *image, const char *name, Elf64_Shdr *ret)
{
	struct cursor header = cursor_of(image->bytes, image->size_bytes);
	struct cursor table, names, string;
	Elf64_Shdr strings, section;
	const char *its_name;
	Elf64_Ehdr ehdr;
	uint16_t i;

	if (cursor_read(&header, &ehdr, sizeof(ehdr)) ||
	    memcmp(ehdr.e_ident, ELFMAG, SELFMAG) != 0 || ehdr.e_shentsize != sizeof(Elf64_Shdr) ||
	    ehdr.e_shstrndx >= ehdr.e_shnum ||
	    image_range(image, ehdr.e_shoff, (uint64_t)ehdr.e_shnum * sizeof(section), &table))
		return -EBADMSG;
	memcpy(&strings, table.begin + ehdr.e_shstrndx * sizeof(strings), sizeof(strings));
	if (image_range(image, strings.sh_offset, strings.sh_size, &names))
		return -EBADMSG;
	for (i = 0; i < ehdr.e_shnum; i++) {
		string = names;
		if (cursor_read(&table, &section, sizeof(section)) ||
		    cursor_skip(&string, section.sh_name) || cursor_string(&string, &its_name))
			return -EBADMSG;
		if (strcmp(its_name, name) == 0) {
			*ret = section;
			return 0;
		}
	}
	return -ENOENT;
}

struct note {
	uint64_t location;
	uint64_t base;
	uint64_t semaphore;
	const char *provider;
	const char *name;
	const char *arguments;
};

/* Skip an ELF note. Returns 1 if it describes a probe, else 0. */
static int note_read(struct cursor *section, struct note *ret)
{
	const void *owner, *description;
	struct cursor body;
	Elf64_Nhdr head;

	if (cursor_read(section, &head, sizeof(head)) ||
	    cursor_take(section, (head.n_namesz + 3ull) & ~3ull, &owner) ||
	    cursor_take(section, (head.n_descsz + 3ull) & ~3ull, &description))
		return -EBADMSG;
	if (head.n_type != NT_STAPSDT || head.n_namesz != sizeof("stapsdt") ||
	    memcmp(owner, "stapsdt", sizeof("stapsdt")) != 0)
		return 0;
	body = cursor_of(description, head.n_descsz);
	if (cursor_read(&body, &ret->location, 8) || cursor_read(&body, &ret->base, 8) ||
	    cursor_read(&body, &ret->semaphore, 8) || cursor_string(&body, &ret->provider) ||
	    cursor_string(&body, &ret->name) || cursor_string(&body, &ret->arguments))
		return -EBADMSG;
	return 1;
}

static int note_find(const struct image *image, const char *provider, const char *name,
		     struct note *ret)
{
	struct cursor section;
	Elf64_Shdr notes;
	struct note note;
	int err;

	err = section_find(image, ".note.stapsdt", &notes);
	if (!err)
		err = image_range(image, notes.sh_offset, notes.sh_size, &section);
	if (err)
		return err;
	while (cursor_left(&section)) {
		err = note_read(&section, &note);
		if (err < 0)
			return err;
		if (err && strcmp(note.provider, provider) == 0 && strcmp(note.name, name) == 0) {
			*ret = note;
			return 0;
		}
	}
	return -ENOENT;
}

int usdt_site_find(const void *symbol, const char *provider, const char *name,
		   struct usdt_site *ret)
{
	AUTO_FREE uint8_t *bytes = NULL;
	struct image image = {0};
	uint64_t moved;
	Elf64_Shdr base;
	struct note note;
	Dl_info info;
	int err;

	if (!dladdr(symbol, &info))
		return -ENOENT;
	err = image_read(info.dli_fname, &image);
	if (err)
		return err;
	bytes = image.bytes;
	err = note_find(&image, provider, name, &note);
	if (!err)
		err = section_find(&image, ".stapsdt.base", &base);
	if (err)
		return err;
	if (strlen(note.arguments) >= sizeof(ret->arguments))
		return -EBADMSG;
	moved = (uintptr_t)info.dli_fbase + base.sh_addr - note.base; /* a library begins at 0 */
	ret->location = (uint8_t *)(note.location + moved);
	ret->semaphore = note.semaphore ? (uint16_t *)(note.semaphore + moved) : NULL;
	strcpy(ret->arguments, note.arguments);
	return 0;
}
