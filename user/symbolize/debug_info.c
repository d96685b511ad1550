/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/debug_info.h"

#include <string.h>

#include "symbolize/debug_index.h"

_Static_assert(DEBUG_FRAMES_MAX == DEBUG_CHAIN_MAX, "a frame for each scope");

#define REFERENCES_MAX 16 /* from a DIE to the one that has its name */
#define OVERLAPS_MAX   4  /* units that are asked for one address */

struct debug_info {
	struct blob blob;
	struct section_budget budget;
	struct dwarf_file file;
	struct debug_index index;
	struct debug_info *alternate; /* or NULL */
	uint64_t calls;
	size_t unit_bytes;
	struct dwarf_path strings; /* of the frames of the last call */
};

/* A frame whose strings are still moving: their places in `strings`, + 1; 0: none. */
struct unsettled_frame {
	size_t name, file;
	uint32_t line;
};

int debug_info_create(struct blob *blob, uint64_t text_start, struct debug_info **ret)
{
	CLEANUP(debug_info_destroyp) struct debug_info *info = calloc(1, sizeof(*info));
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	int err;

	if (!info) {
		blob_close(blob);
		return -ENOMEM;
	}
	info->blob = *blob;
	*blob = (struct blob){0};
	info->budget = (struct section_budget){
		.work_bytes = DEBUG_INFO_WORK_MAX,
		.inflate_bytes = DEBUG_INFO_INFLATED_MAX,
	};
	err = elf_file_init_debug(&elf, &info->blob);
	err = err ?: dwarf_file_init(&info->file, &elf, &info->budget);
	err = err ?: debug_index_init(&info->index, &info->file, text_start);
	if (err)
		return err;
	*ret = TAKE_PTR(info);
	return 0;
}

void debug_info_destroy(struct debug_info *info)
{
	if (!info)
		return;
	vec_for_each (entry, &info->index.units)
		debug_unit_destroy(entry->unit);
	debug_index_deinit(&info->index);
	dwarf_file_deinit(&info->file);
	blob_close(&info->blob);
	vec_deinit(&info->strings.text);
	debug_info_destroy(info->alternate);
	free(info);
}

void debug_info_set_alternate(struct debug_info *info, struct debug_info *alternate)
{
	debug_info_destroy(info->alternate);
	info->alternate = alternate;
	info->file.alternate = alternate ? &alternate->file : NULL;
}

size_t debug_info_bytes(const struct debug_info *info)
{
	return sizeof(*info) + info->unit_bytes + dwarf_file_bytes(&info->file) +
	       debug_index_bytes(&info->index) + info->strings.text.capacity +
	       (info->alternate ? debug_info_bytes(info->alternate) : 0);
}

/* Let go of the units unused for longest, but for those of this call. */
static void make_room(struct debug_info *info)
{
	while (info->unit_bytes > DEBUG_INFO_UNITS_MAX) {
		struct debug_index_unit *oldest = NULL;

		vec_for_each (entry, &info->index.units) {
			if (entry->unit && entry->used != info->calls &&
			    (!oldest || entry->used < oldest->used))
				oldest = entry;
		}
		if (!oldest)
			return;
		info->unit_bytes -= oldest->unit->bytes;
		debug_unit_destroy(oldest->unit);
		oldest->unit = NULL;
	}
}

/* The unit, read if it is not at present; what has failed once is not tried again. */
static int read_unit(struct debug_info *info, struct debug_index_unit *entry,
		     struct debug_unit **ret)
{
	int err;

	if (entry->failed)
		return -EBADMSG;
	entry->used = info->calls;
	if (!entry->unit) {
		err = debug_unit_create(&info->file, entry->offset, &entry->unit);
		entry->failed = err && err != -ENOMEM;
		if (err)
			return err;
		info->unit_bytes += entry->unit->bytes;
	}
	*ret = entry->unit;
	return 0;
}

static int strings_add(struct debug_info *info, const char *s, size_t *ret)
{
	size_t begin = info->strings.text.size, size_bytes = strlen(s) + 1;

	if (vec_reserve(&info->strings.text, begin + size_bytes))
		return -ENOMEM;
	memcpy(info->strings.text.data + begin, s, size_bytes);
	info->strings.text.size += size_bytes;
	*ret = begin + 1;
	return 0;
}

/* On the way to a name, from DIE to DIE. */
struct name_search {
	struct debug_info *info; /* whose the DIE at offset is */
	uint64_t offset;
	bool named; /* by the source already */
};

/* Where the DIE's own name is to be looked for; false: nowhere. */
static bool search_next(struct name_search *search, const struct dwarf_die *die)
{
	struct dwarf_value next = die->values[DWARF_SLOT_ABSTRACT_ORIGIN];

	if (!next.class)
		next = die->values[DWARF_SLOT_SPECIFICATION];
	if (next.class == DWARF_ALT_REFERENCE)
		search->info = search->info->alternate;
	else if (next.class != DWARF_REFERENCE)
		return false;
	search->offset = next.u;
	return search->info;
}

/*
 * The name of a DIE, by way of its abstract instance and its declaration: the
 * one that it is linked by where any of them has it, else the first of the source.
 */
static int find_name(struct debug_info *info, uint64_t offset, size_t *ret)
{
	struct name_search search = {.info = info, .offset = offset};
	size_t begin = info->strings.text.size;
	struct debug_index_unit *entry;
	struct debug_unit *unit;
	struct dwarf_die die;
	const char *name;
	int err;

	for (unsigned i = 0; i < REFERENCES_MAX; i++) {
		entry = debug_index_at(&search.info->index, search.offset);
		if (!entry)
			return 0;
		err = read_unit(search.info, entry, &unit);
		err = err
			      ?: dwarf_die_at(&search.info->file, &unit->header, &unit->abbrevs,
					      search.offset, &die);
		if (err)
			return err;
		err = dwarf_string(&search.info->file, &unit->header,
				   die.values[DWARF_SLOT_LINKAGE_NAME], &name);
		if (!err) {
			info->strings.text.size = begin;
			return strings_add(info, name, ret);
		}
		if (!search.named)
			err = dwarf_string(&search.info->file, &unit->header,
					   die.values[DWARF_SLOT_NAME], &name);
		if (!search.named && !err) {
			search.named = true;
			err = strings_add(info, name, ret);
		}
		if (err == -ENOMEM || !search_next(&search, &die))
			return err;
	}
	return 0;
}

static int find_file(struct debug_info *info, const struct debug_unit *unit, uint64_t number,
		     size_t *ret)
{
	size_t begin = info->strings.text.size;
	int err =
		dwarf_lines_path(&info->file, &unit->header, &unit->lines, number, &info->strings);

	if (!err)
		*ret = begin + 1;
	return err == -ENOMEM ? err : 0;
}

/* Each scope's name, with the place in it: the code's own line, then that of each call. */
static int fill_frames(struct debug_info *info, const struct debug_unit *unit, uint64_t address,
		       const struct debug_chain *chain, struct unsettled_frame *frames)
{
	const struct dwarf_row *row = dwarf_lines_find(&unit->lines, address);
	const struct debug_scope *inner = NULL;
	int err = 0;

	for (uint32_t i = 0; i < chain->count && !err; i++) {
		const struct debug_scope *scope = chain->scopes[i];
		struct unsettled_frame *frame = &frames[i];

		*frame = (struct unsettled_frame){0};
		if (scope && find_name(info, scope->die, &frame->name) == -ENOMEM)
			return -ENOMEM;
		/* What was called there has been left out. */
		if (chain->cut && i + 1 == chain->count)
			break;
		if (inner) {
			frame->line = inner->call_line;
			err = find_file(info, unit, inner->call_file, &frame->file);
		} else if (row) {
			frame->line = row->line;
			err = find_file(info, unit, row->file, &frame->file);
		}
		if (!frame->file)
			frame->line = 0;
		inner = scope;
	}
	return err;
}

/* What one unit knows of an address. Nothing is no error. */
static int unit_frames(struct debug_info *info, struct debug_unit *unit, uint64_t address,
		       struct unsettled_frame frames[DEBUG_FRAMES_MAX], uint32_t *ret_count)
{
	struct debug_chain chain = {.count = 0};
	int err = debug_unit_chain(&info->file, unit, address, &chain);

	if (err == -ENOMEM)
		return err;
	/* Code without a function, as assembly is, may have lines all the same. */
	if (err == -ENOENT && dwarf_lines_find(&unit->lines, address))
		chain.count = 1;
	err = fill_frames(info, unit, address, &chain, frames);
	if (!err)
		*ret_count = chain.count;
	return err;
}

static void settle_frames(const struct debug_info *info, const struct unsettled_frame *from,
			  uint32_t count, struct debug_frame *to)
{
	const char *text = info->strings.text.data;

	for (uint32_t i = 0; i < count; i++)
		to[i] = (struct debug_frame){
			.name = from[i].name ? text + from[i].name - 1 : "",
			.file = from[i].file ? text + from[i].file - 1 : NULL,
			.line = from[i].line,
		};
}

int debug_info_frames(struct debug_info *info, uint64_t address,
		      struct debug_frame frames[DEBUG_FRAMES_MAX], uint32_t *ret_count)
{
	struct unsettled_frame found[DEBUG_FRAMES_MAX];
	struct debug_index_unit *entry;
	struct debug_unit *unit;
	uint32_t count = 0;
	int err = 0;

	info->calls++;
	if (info->alternate)
		info->alternate->calls++;
	info->strings.text.size = 0;
	for (uint32_t i = 0; i < OVERLAPS_MAX && !count && err != -ENOMEM; i++) {
		entry = debug_index_find(&info->index, address, i);
		if (!entry)
			break;
		err = read_unit(info, entry, &unit);
		if (err)
			continue;
		info->unit_bytes -= unit->bytes;
		err = debug_unit_scan(&info->file, unit, info->index.text_start);
		err = err ?: unit_frames(info, unit, address, found, &count);
		info->unit_bytes += unit->bytes;
	}
	if (err == -ENOMEM)
		return err;
	settle_frames(info, found, count, frames);
	*ret_count = count;
	make_room(info);
	if (info->alternate)
		make_room(info->alternate);
	return 0;
}
