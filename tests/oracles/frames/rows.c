/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rows FILE: writes the unwind rows of all code of an ELF file, one per line:
 * address, CFA, rbp. The time and memory used are written to stderr.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/scope.h"
#include "decode/elf/elf_file.h"
#include "decode/cfi/unwind_file.h"

static int file_read(void *fd, uint64_t offset, void *buf, size_t size_bytes)
{
	ssize_t n = pread((int)(intptr_t)fd, buf, size_bytes, (off_t)offset);

	return n == (ssize_t)size_bytes ? 0 : -EIO;
}

static int file_open(const char *path, struct blob *ret)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat))
		return -errno;
	ret->size_bytes = (uint64_t)stat.st_size;
	ret->read = file_read;
	ret->context = (void *)(intptr_t)TAKE_FD(fd);
	return 0;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void write_row(uint64_t address, const struct unwind_wide_row *row)
{
	static const char *const commands[] = {
		"not-made",	 "unknown",	"root",	    "plt",   "signal",
		"frame-pointer", "interpreter", "switched", "saved", "frozen"};
	/* A function that cannot return has the same frame as one that can. */
	static const char *const cfa[] = {"rsp%+d",	  "rbp%+d", "*(rbp%+d)",
					  "*(rsp%+d)%+d", "rsp%+d", "rbp%+d"};
	int offset = row->cfa & ~UNWIND_RULE_MASK, rule = row->cfa & UNWIND_RULE_MASK;
	bool by_slot = rule == UNWIND_CFA_SAVED_RSP;

	printf("%" PRIx64 " ", address);
	if (rule == UNWIND_COMMAND)
		printf("%s\n", commands[UNWIND_COMMAND_OF(row->cfa)]);
	else if (printf(cfa[rule], by_slot ? UNWIND_SLOT(row->cfa) : offset,
			UNWIND_SLOT_DISTANCE(row->cfa)) &&
		 row->rbp != UNWIND_RBP_KEPT)
		printf(" %s%+d\n", rule == UNWIND_CFA_SAVED ? "rbp" : "cfa", row->rbp * 8);
	else
		puts("");
}

/* Rows of a page have file offsets; write those of the segment by address. */
static void write_rows(const struct unwind_rows *rows, uint64_t page_start,
		       const struct elf_segment *segment)
{
	uint64_t end = segment->file_offset + segment->file_bytes;

	vec_for_each (row, &rows->rows) {
		uint64_t offset = page_start + row->offset;
		bool last = row + 1 == rows->rows.data + rows->rows.size;
		uint64_t row_end =
			last ? page_start + UNWIND_PAGE_BYTES : page_start + row[1].offset;

		if (offset < segment->file_offset)
			offset = segment->file_offset;
		if (offset < row_end && offset < end)
			write_row(segment->address + (offset - segment->file_offset), row);
	}
}

struct figures {
	double ms, most_ms;
	uint32_t pages;
	size_t rows;
};

static int write_segment(struct unwind_file *file, const struct elf_segment *segment,
			 struct figures *figures)
{
	uint64_t end = segment->file_offset + segment->file_bytes;

	for (uint64_t page = segment->file_offset >> UNWIND_PAGE_SHIFT;
	     page << UNWIND_PAGE_SHIFT < end; page++) {
		CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0};
		double ms = now_ms();
		int err = unwind_file_page(file, (uint32_t)page, &rows);

		if (err)
			return err;
		ms = now_ms() - ms;
		figures->ms += ms;
		figures->most_ms = ms > figures->most_ms ? ms : figures->most_ms;
		figures->pages++;
		figures->rows += rows.rows.size;
		write_rows(&rows, page << UNWIND_PAGE_SHIFT, segment);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct figures figures = {0};
	struct unwind_file *file;
	struct elf_file elf;
	struct blob blob = {0};
	double ms;
	int err = argc == 2 ? file_open(argv[1], &blob) : -EINVAL;

	if (!err)
		err = elf_file_init(&elf, &blob);
	ms = now_ms();
	if (!err)
		err = unwind_file_create(&blob, &file);
	if (err) {
		fprintf(stderr, "rows FILE: %s\n", strerror(-err));
		return 1;
	}
	ms = now_ms() - ms;
	vec_for_each (segment, &elf.segments) {
		if (segment->executable && !err)
			err = write_segment(file, segment, &figures);
	}
	fprintf(stderr,
		"opened in %.3f ms, %zu kB; %u pages, %.3f ms each, at most %.3f; %zu rows\n", ms,
		unwind_file_bytes(file) / 1000, figures.pages,
		figures.pages ? figures.ms / figures.pages : 0, figures.most_ms, figures.rows);
	unwind_file_destroy(file);
	elf_file_deinit(&elf);
	return err ? 1 : 0;
}
