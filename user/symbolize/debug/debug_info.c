/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/debug/debug_info.h"

#include "symbolize/debug/debug_names.h"

_Static_assert(DEBUG_FRAMES_MAX == DEBUG_CHAIN_MAX, "a frame for each scope");

#define OVERLAPS_MAX 4 /* limit of units that are tried for one address */

struct debug_info {
	struct blob blob;
	struct debug_units units;
	struct debug_info *alternate; /* or NULL */
	struct dwarf_path strings;    /* strings of the last call's frames */
};

/* A frame while `strings` may still move: offset + 1 of each string in it, or 0 for none. */
struct found_frame {
	size_t name, file, decl_file;
	uint32_t line;
};

int debug_info_create(struct blob *blob, uint64_t text_start, struct debug_info **ret)
{
	CLEANUP(debug_info_destroyp) struct debug_info *info = calloc(1, sizeof(*info));
	int err;

	if (!info) {
		blob_close(blob);
		return -ENOMEM;
	}
	info->blob = *blob;
	*blob = (struct blob){0};
	err = debug_units_init(&info->units, &info->blob, text_start);
	if (err)
		return err;
	*ret = TAKE_PTR(info);
	return 0;
}

void debug_info_destroy(struct debug_info *info)
{
	if (!info)
		return;
	debug_units_deinit(&info->units);
	blob_close(&info->blob);
	vec_deinit(&info->strings.text);
	debug_info_destroy(info->alternate);
	free(info);
}

void debug_info_set_alternate(struct debug_info *info, struct debug_info *alternate)
{
	debug_info_destroy(info->alternate);
	info->alternate = alternate;
	info->units.alternate = alternate ? &alternate->units : NULL;
	info->units.file.alternate = alternate ? &alternate->units.file : NULL;
}

int debug_info_set_splits(struct debug_info *info, const struct file_source *source,
			  const struct module *module, const char *path)
{
	struct debug_splits splits;
	int err = debug_splits_init(&splits, source, module, path, &info->units.budget);

	if (err)
		return err;
	debug_splits_deinit(&info->units.splits);
	info->units.splits = splits;
	return 0;
}

bool debug_info_exhausted(const struct debug_info *info)
{
	return info->units.budget.spent || (info->alternate && info->alternate->units.budget.spent);
}

uint64_t debug_info_splits_missing(const struct debug_info *info)
{
	return info->units.splits.missing;
}

void debug_info_drop_cache(struct debug_info *info)
{
	debug_units_drop_cache(&info->units);
	vec_deinit(&info->strings.text);
	if (info->alternate)
		debug_info_drop_cache(info->alternate);
}

size_t debug_info_bytes(const struct debug_info *info)
{
	return sizeof(*info) + debug_units_bytes(&info->units) + info->strings.text.capacity +
	       (info->alternate ? debug_info_bytes(info->alternate) : 0);
}

static int find_name(struct debug_info *info, struct debug_unit *unit, uint64_t die, size_t *ret)
{
	size_t begin = info->strings.text.size;
	int err = debug_name_find(&info->units, unit, die, &info->strings);

	if (!err && info->strings.text.size > begin)
		*ret = begin + 1;
	return err;
}

static int find_decl_file(struct debug_info *info, struct debug_unit *unit, uint64_t die,
			  struct found_frame *ret)
{
	size_t begin = info->strings.text.size;
	int err = debug_decl_file_find(&info->units, unit, die, &info->strings);

	if (!err && info->strings.text.size > begin)
		ret->decl_file = begin + 1;
	return err;
}

static int find_file(struct debug_info *info, const struct debug_unit *unit, uint64_t number,
		     size_t *ret)
{
	size_t begin = info->strings.text.size;
	int err = dwarf_lines_path(unit->skeleton_file, &unit->skeleton, &unit->lines, number,
				   &info->strings);

	if (!err)
		*ret = begin + 1;
	return err == -ENOMEM ? err : 0;
}

/* Set the name of each scope, and its place: the line of the code, then the call sites. */
static int fill_frames(struct debug_info *info, struct debug_unit *unit, uint64_t address,
		       const struct debug_chain *chain, struct found_frame *frames)
{
	const struct dwarf_row *row = dwarf_lines_find(&unit->lines, address);
	const struct debug_scope *inner = NULL;
	int err = 0;

	for (uint32_t i = 0; i < chain->count && !err; i++) {
		const struct debug_scope *scope = chain->scopes[i];
		struct found_frame *frame = &frames[i];

		*frame = (struct found_frame){0};
		if (scope && (find_name(info, unit, scope->die, &frame->name) ||
			      find_decl_file(info, unit, scope->die, frame)))
			return -ENOMEM;
		/* The call site in the function belongs to a dropped frame. */
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

/* Find the frames of an address in one unit. Finding none is not an error. */
static int unit_frames(struct debug_info *info, struct debug_unit *unit, uint64_t address,
		       struct found_frame frames[DEBUG_FRAMES_MAX], uint32_t *ret_count)
{
	struct debug_chain chain = {.count = 0};
	int err = debug_unit_chain(unit, address, &chain);

	if (err == -ENOENT) {
		err = debug_unit_scan_inside(unit, info->units.index.text_start);
		err = err ?: debug_unit_chain(unit, address, &chain);
	}
	if (err == -ENOMEM)
		return err;
	/* Code outside functions, such as assembly, may still have lines. */
	if (err == -ENOENT && dwarf_lines_find(&unit->lines, address))
		chain.count = 1;
	err = fill_frames(info, unit, address, &chain, frames);
	if (!err)
		*ret_count = chain.count;
	return err;
}

static void point_at_strings(const struct debug_info *info, const struct found_frame *from,
			     uint32_t count, struct debug_frame *to)
{
	const char *text = info->strings.text.data;

	for (uint32_t i = 0; i < count; i++)
		to[i] = (struct debug_frame){
			.name = from[i].name ? text + from[i].name - 1 : "",
			.file = from[i].file ? text + from[i].file - 1 : NULL,
			.decl_file = from[i].decl_file ? text + from[i].decl_file - 1 : NULL,
			.line = from[i].line,
		};
}

/* Find the frames of an address in the units that are indexed. */
static int indexed_frames(struct debug_info *info, uint64_t address,
			  struct found_frame found[DEBUG_FRAMES_MAX], uint32_t *ret_count)
{
	struct debug_index_unit *entry;
	struct debug_unit *unit;
	int err = 0;

	for (uint32_t i = 0; i < OVERLAPS_MAX && !*ret_count && err != -ENOMEM; i++) {
		entry = debug_index_find(&info->units.index, address, i);
		if (!entry)
			break;
		err = debug_units_read(&info->units, entry, &unit);
		if (err)
			continue;
		err = debug_unit_scan(unit, info->units.index.text_start);
		err = err ?: unit_frames(info, unit, address, found, ret_count);
	}
	return err == -ENOMEM ? err : 0;
}

int debug_info_frames(struct debug_info *info, uint64_t address,
		      struct debug_frame frames[DEBUG_FRAMES_MAX], uint32_t *ret_count)
{
	struct found_frame found[DEBUG_FRAMES_MAX];
	uint32_t count = 0;
	int err;

	debug_units_begin(&info->units);
	if (info->alternate)
		debug_units_begin(&info->alternate->units);
	info->strings.text.size = 0;
	err = indexed_frames(info, address, found, &count);
	if (!err && !count && !info->units.index.complete) {
		err = debug_units_complete(&info->units);
		err = err ?: indexed_frames(info, address, found, &count);
	}
	if (err)
		return err;
	point_at_strings(info, found, count, frames);
	*ret_count = count;
	debug_units_end(&info->units);
	if (info->alternate)
		debug_units_end(&info->alternate->units);
	return 0;
}
