/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/dwarf/dwarf_lines.h"

#include <string.h>

#include "base/scope.h"
#include "base/search.h"
#include "base/sort_keys.h"
#include "decode/dwarf/dwarf_line_program.h"

/* Sort the sequences by start. A search finds the last of several with equal starts. */
static int sort_sequences(struct dwarf_lines *lines)
{
	size_t count = lines->sequences.size;
	AUTO_FREE struct sort_key *keys = calloc(count ? count : 1, sizeof(*keys));
	AUTO_FREE struct dwarf_sequence *sorted = calloc(count ? count : 1, sizeof(*sorted));
	int err;

	if (!keys || !sorted)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){.key = lines->sequences.data[i].start, .item = i};
	err = sort_keys(keys, count);
	if (err)
		return err;
	for (size_t i = 0; i < count; i++)
		sorted[i] = lines->sequences.data[keys[i].item];
	if (count)
		memcpy(lines->sequences.data, sorted, count * sizeof(*sorted));
	return 0;
}

int dwarf_lines_read(struct dwarf_file *file, const struct dwarf_unit *unit,
		     struct dwarf_lines *ret)
{
	CLEANUP(dwarf_lines_deinit) struct dwarf_lines lines = {0};
	int err;

	if (unit->line_program.class != DWARF_OFFSET && unit->line_program.class != DWARF_NUMBER)
		return -ENOENT;
	err = dwarf_line_program_run(file, unit->line_program.u, &lines);
	err = err ?: sort_sequences(&lines);
	if (err)
		return err;
	vec_fit(&lines.rows);
	vec_fit(&lines.sequences);
	vec_fit(&lines.directories);
	vec_fit(&lines.files);
	*ret = lines;
	lines = (struct dwarf_lines){0};
	return 0;
}

void dwarf_lines_deinit(struct dwarf_lines *lines)
{
	vec_deinit(&lines->rows);
	vec_deinit(&lines->sequences);
	vec_deinit(&lines->directories);
	vec_deinit(&lines->files);
}

static const struct dwarf_sequence *find_sequence(const struct dwarf_lines *lines, uint64_t address)
{
	const struct dwarf_sequence *all = lines->sequences.data;
	size_t after = partition_point(0, lines->sequences.size, i, all[i].start <= address);

	return after && address < all[after - 1].end ? &all[after - 1] : NULL;
}

const struct dwarf_row *dwarf_lines_find(const struct dwarf_lines *lines, uint64_t address)
{
	const struct dwarf_sequence *sequence = find_sequence(lines, address);
	const struct dwarf_row *rows;

	if (!sequence)
		return NULL;
	rows = lines->rows.data + sequence->first;
	return &rows[partition_point(1, sequence->count, i, rows[i].address <= address) - 1];
}

/* Append a string and a trailing slash. Appends nothing for an empty string. */
static int path_add(struct dwarf_path *path, const char *s)
{
	size_t length = strlen(s);

	if (!length)
		return 0;
	if (vec_reserve(&path->text, path->text.size + length + 1))
		return -ENOMEM;
	memcpy(path->text.data + path->text.size, s, length);
	path->text.size += length;
	if (s[length - 1] != '/')
		path->text.data[path->text.size++] = '/';
	return 0;
}

/* Append a part of a path. An absolute part replaces the parts before it. */
static int path_add_value(struct dwarf_file *file, const struct dwarf_unit *unit,
			  struct dwarf_value value, size_t begin, struct dwarf_path *path)
{
	const char *s;
	int err;

	if (value.class == DWARF_NONE)
		return 0;
	err = dwarf_string(file, unit, value, &s);
	if (err == -ENOENT) /* in another file, which is unavailable */
		return 0;
	if (err)
		return err;
	if (*s == '/')
		path->text.size = begin;
	return path_add(path, s);
}

int dwarf_lines_path(struct dwarf_file *file, const struct dwarf_unit *unit,
		     const struct dwarf_lines *lines, uint64_t number, struct dwarf_path *to)
{
	/* Before DWARF 5, files are numbered from 1, and directory 0 is the unit's. */
	uint64_t file_index = lines->version < 5 ? number - 1 : number;
	const struct dwarf_line_file *named;
	struct dwarf_value directory = {0};
	size_t begin = to->text.size;
	uint64_t index;
	int err = 0;

	if (file_index >= lines->files.size)
		return -ENOENT;
	named = &lines->files.data[file_index];
	index = lines->version < 5 ? named->directory - 1 : named->directory;
	if (index < lines->directories.size)
		directory = lines->directories.data[index];
	/* In DWARF 5, directory 0 is the unit's directory itself. */
	if (lines->version < 5 || index || !directory.class)
		err = path_add_value(file, unit, unit->comp_dir, begin, to);
	err = err ?: path_add_value(file, unit, directory, begin, to);
	err = err ?: path_add_value(file, unit, named->name, begin, to);
	if (!err && to->text.size == begin)
		err = -ENOENT;
	if (err)
		to->text.size = begin;
	else
		to->text.data[to->text.size - 1] = '\0'; /* replaces the trailing slash */
	return err;
}

size_t dwarf_lines_bytes(const struct dwarf_lines *lines)
{
	return lines->rows.capacity * sizeof(*lines->rows.data) +
	       lines->sequences.capacity * sizeof(*lines->sequences.data) +
	       lines->directories.capacity * sizeof(*lines->directories.data) +
	       lines->files.capacity * sizeof(*lines->files.data);
}
