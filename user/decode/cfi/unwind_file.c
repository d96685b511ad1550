/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/cfi/unwind_file.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>

#include "base/scope.h"
#include "decode/elf/elf_file.h"
#include "decode/cfi/code_ranges.h"
#include "decode/cfi/fde_table.h"
#include "decode/cfi/row_corrections.h"
#include "decode/cfi/signal_return.h"

#define WORK_BYTES    (4u << 20) /* work budget of one page */
#define INFLATE_BYTES (64u << 20)

struct unwind_file {
	const struct blob *blob; /* borrowed */
	bool narrow;		 /* of 32-bit code */
	struct code_ranges ranges;
	struct section_budget budget;
	/* .eh_frame and .debug_frame; the second fills gaps of the first */
	struct fde_table tables[2];
	uint32_t table_count;
	/* of code in the gaps of all tables */
	struct unwind_gap_source sources[UNWIND_GAP_SOURCES_MAX];
	uint32_t source_count;
	struct row_corrections corrections;
};

DEFINE_CLEANUP(struct unwind_file *, unwind_file_destroy);

static int tables_read(struct unwind_file *file, const struct elf_file *elf)
{
	struct fde_table *table = file->tables;
	uint64_t low, high;
	int err;

	code_ranges_bounds(&file->ranges, &low, &high);
	err = fde_table_init_eh(table, elf, low, high, &file->budget);
	if (!err)
		table = &file->tables[++file->table_count];
	if (!err || err == -ENOENT)
		err = fde_table_init_debug(table, elf, low, high, &file->budget);
	if (!err)
		file->table_count++;
	return err == -ENOENT || err == -ENOTSUP || err == -EBADMSG ? 0 : err;
}

int unwind_file_create(const struct blob *blob, struct unwind_file **ret)
{
	CLEANUP(unwind_file_destroyp) struct unwind_file *file = calloc(1, sizeof(*file));
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	int err;

	if (!file)
		return -ENOMEM;
	file->blob = blob;
	file->budget.inflate_bytes = INFLATE_BYTES;
	err = elf_file_init_any(&elf, blob);
	if (!err && elf.type == ET_REL)
		err = -ENOEXEC;
	file->narrow = !err && elf.machine == EM_386;
	if (!err)
		err = code_ranges_init(&file->ranges, &elf);
	if (!err)
		err = tables_read(file, &elf);
	if (!err)
		err = row_corrections_init(&file->corrections, &elf);
	if (err)
		return err;
	*ret = TAKE_PTR(file);
	return 0;
}

void unwind_file_destroy(struct unwind_file *file)
{
	if (!file)
		return;
	for (uint32_t i = 0; i < ARRAY_SIZE(file->tables); i++)
		fde_table_deinit(&file->tables[i]);
	row_corrections_deinit(&file->corrections);
	code_ranges_deinit(&file->ranges);
	free(file);
}

const struct blob *unwind_file_blob(const struct unwind_file *file)
{
	return file->blob;
}

size_t unwind_file_bytes(const struct unwind_file *file)
{
	size_t bytes = sizeof(*file) + code_ranges_bytes(&file->ranges);

	for (uint32_t i = 0; i < file->table_count; i++)
		bytes += fde_table_bytes(&file->tables[i]);
	return bytes + row_corrections_bytes(&file->corrections);
}

void unwind_file_add_source(struct unwind_file *file, const struct unwind_gap_source *source)
{
	if (file->source_count < UNWIND_GAP_SOURCES_MAX)
		file->sources[file->source_count++] = *source;
}

static struct frame_window window_part(const struct frame_window *of, uint64_t start, uint64_t end)
{
	return (struct frame_window){
		.start = start,
		.end = end,
		.offset = of->offset + (uint32_t)(start - of->start),
		.rows = of->rows,
	};
}

/* A walk over the functions of one table. */
struct walk {
	struct unwind_file *file;
	uint32_t table; /* index in unwind_file.tables */
	const struct frame_window *window;
	uint64_t at; /* rows are complete up to this address */
	/* The code around `at` that the tables before this one do not cover, nor this one so far.
	 */
	uint64_t low, high;
};

static int rows_by_tables(struct unwind_file *file, uint32_t table, const struct unwind_gap *gap);

static int rows_without_tables(struct unwind_file *file, const struct unwind_gap *gap)
{
	int err = -ENOENT;

	/* The sources read 64-bit code. */
	for (uint32_t i = 0; i < file->source_count && !file->narrow && err == -ENOENT; i++)
		err = file->sources[i].add(file->sources[i].context, gap, &file->budget.work_bytes);
	if (err != -ENOENT && err != -E2BIG)
		return err;
	return frame_window_add(
		gap->window, gap->window->start,
		UNWIND_CFA_COMMAND(err == -E2BIG ? UNWIND_UNKNOWN : UNWIND_FRAME_POINTER),
		UNWIND_RBP_KEPT);
}

/* Fill the gap up to `end` from the next table. This table's next function starts at `high`. */
static int walk_gap(struct walk *walk, uint64_t end, uint64_t high)
{
	struct frame_window part;
	struct unwind_gap gap = {
		.window = &part,
		.low = walk->low,
		.high = high < walk->high ? high : walk->high,
	};

	if (end <= walk->at)
		return 0;
	part = window_part(walk->window, walk->at, end);
	walk->at = end;
	return rows_by_tables(walk->file, walk->table + 1, &gap);
}

/* Add the rows of a function and of the gap before it. -EBADMSG: the FDE contradicts the table. */
static int walk_function(struct walk *walk, const struct fde_table_entry *entry, uint64_t limit)
{
	struct fde_table *table = &walk->file->tables[walk->table];
	struct frame_window part;
	struct call_frame frame;
	uint64_t end, ignored;
	int err;

	err = call_frame_read(&table->section, entry->fde, &frame, &ignored);
	if (err == -ENOENT || (!err && frame.start != entry->start))
		err = -EBADMSG;
	if (err)
		return err;
	end = frame.end < limit ? frame.end : limit;
	if (end > frame.start && end <= walk->at && end > walk->low)
		walk->low = end;
	if (end > walk->window->end)
		end = walk->window->end;
	if (end <= walk->at || end <= frame.start)
		return 0;
	err = walk_gap(walk, frame.start, frame.start);
	if (err)
		return err;
	walk->low = end;
	part = window_part(walk->window, walk->at, end);
	walk->at = end;
	return row_corrections_function(&walk->file->corrections, &frame, table->section.is_eh,
					code_ranges_offset(&walk->file->ranges, frame.start),
					&part);
}

/*
 * Add rows for all of the window: from this table, and in its gaps from the
 * next one. Returns -EBADMSG only if the table is an invalid .eh_frame_hdr.
 */
static int rows_by_tables(struct unwind_file *file, uint32_t table, const struct unwind_gap *gap)
{
	const struct frame_window *window = gap->window;
	struct walk walk = {
		.file = file,
		.table = table,
		.window = window,
		.at = window->start,
		.low = gap->low,
		.high = gap->high,
	};
	struct fde_table *t = &file->tables[table];
	struct fde_table_entry entry, next;
	uint64_t i = 0;
	int err;

	if (table == file->table_count)
		return rows_without_tables(file, gap);
	err = fde_table_find(t, window->start, &i);
	if (!err && i < t->count)
		err = fde_table_at(t, i, &entry);
	for (; !err && i < t->count && entry.start < window->end; i++, entry = next) {
		next.start = UINT64_MAX;
		if (i + 1 < t->count)
			err = fde_table_at(t, i + 1, &next);
		if (!err && next.start < entry.start)
			err = -EBADMSG;
		if (!err)
			err = walk_function(&walk, &entry, next.start);
		if (err == -EBADMSG && !fde_table_has_header(t))
			err = 0;
	}
	if (err)
		return err;
	return walk_gap(&walk, window->end, i < t->count ? entry.start : UINT64_MAX);
}

static int rows_add_command(struct unwind_rows *rows, uint32_t offset, enum unwind_command command)
{
	return unwind_rows_add(rows, offset, UNWIND_CFA_COMMAND(command), UNWIND_RBP_KEPT);
}

static void rows_drop(struct unwind_rows *rows, uint32_t offset)
{
	while (rows->rows.size && rows->rows.data[rows->rows.size - 1].offset >= offset)
		rows->rows.size--;
}

/* Add rows for all of the window. */
static int rows_add(struct unwind_file *file, const struct frame_window *window)
{
	struct unwind_gap all = {window, window->start, window->end};
	uint32_t offset = window->offset;
	int err;

	if (window->start >= window->end)
		return 0;
	vec_for_each (range, &file->ranges.ranges) {
		if (window->start - range->address < range->size_bytes &&
		    window->end - range->address <= range->size_bytes) {
			all.low = range->address;
			all.high = range->address + range->size_bytes;
		}
	}
	err = rows_by_tables(file, 0, &all);
	if (err == -EBADMSG) {
		err = fde_table_make_index(&file->tables[0]);
		if (err)
			return err;
		rows_drop(window->rows, offset);
		file->budget.work_bytes = WORK_BYTES;
		err = rows_by_tables(file, 0, &all);
	}
	if (err != -E2BIG)
		return err;
	/* The budget is spent: code after the last row is unknown. */
	if (window->rows->rows.size)
		offset = window->rows->rows.data[window->rows->rows.size - 1].offset;
	return rows_add_command(window->rows, offset > window->offset ? offset : window->offset,
				UNWIND_UNKNOWN);
}

/* Call signal_return_find() if the budget allows. */
static int signals_find(struct unwind_file *file, uint64_t start, uint64_t end,
			struct signal_return *ret)
{
	if (file->budget.work_bytes < UNWIND_PAGE_BYTES) {
		*ret = (struct signal_return){.start = end, .end = end};
		return 0;
	}
	file->budget.work_bytes -= UNWIND_PAGE_BYTES;
	return signal_return_find(file->blob, file->narrow, start, end, ret);
}

/*
 * Add the rows of file range [*start, end) up to the end of the next signal
 * trampoline. Sets *start to the end of the trampoline.
 */
static int page_part_add(struct unwind_file *file, const struct code_range *range,
			 uint64_t page_start, uint64_t *start, uint64_t end,
			 struct unwind_rows *rows)
{
	struct frame_window window = {.rows = rows};
	struct signal_return signal;
	uint64_t part_end;
	int err;

	err = signals_find(file, *start, end, &signal);
	if (err)
		return err;
	part_end = signal.start > *start ? signal.start : *start;
	window.start = range->address + (*start - range->file_offset);
	window.end = window.start + (part_end - *start);
	window.offset = (uint32_t)(*start - page_start);
	err = rows_add(file, &window);
	if (!err && signal.start < end)
		err = unwind_rows_add(rows, (uint32_t)(part_end - page_start), signal.cfa,
				      UNWIND_RBP_KEPT);
	*start = signal.end;
	return err;
}

static int page_add(struct unwind_file *file, uint64_t page_start, struct unwind_rows *ret)
{
	uint64_t page_end = page_start + UNWIND_PAGE_BYTES;
	int err = rows_add_command(ret, 0, UNWIND_FRAME_POINTER);

	vec_for_each (range, &file->ranges.ranges) {
		uint64_t start = range->file_offset, end = start + range->size_bytes;

		start = start > page_start ? start : page_start;
		end = end < page_end ? end : page_end;
		if (start >= end)
			continue;
		while (!err && start < end)
			err = page_part_add(file, range, page_start, &start, end, ret);
		if (!err && end < page_end)
			err = rows_add_command(ret, (uint32_t)(end - page_start),
					       UNWIND_FRAME_POINTER);
	}
	return err;
}

int unwind_file_page(struct unwind_file *file, uint32_t page, struct unwind_rows *ret)
{
	uint64_t page_start = (uint64_t)page << UNWIND_PAGE_SHIFT;
	int err = row_corrections_begin(&file->corrections, page_start);

	file->budget.work_bytes = WORK_BYTES;
	err = err ?: page_add(file, page_start, ret);
	err = err ?: row_corrections_page(&file->corrections, page_start, ret);
	row_corrections_end(&file->corrections);
	return err;
}

int unwind_file_rows(struct unwind_file *file, const struct frame_window *window)
{
	file->budget.work_bytes = WORK_BYTES;
	return rows_add(file, window);
}
