/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/code/code_page.h"

#include "locate/code_site.h"
#include "state/code/code_region.h"
#include "state/process/process_code.h"

static int add_command(struct unwind_rows *rows, uint64_t offset, enum unwind_command command)
{
	return unwind_rows_add(rows, (uint32_t)offset, UNWIND_CFA_COMMAND(command),
			       UNWIND_RBP_KEPT);
}

/* Add the rows of size_bytes of a region, from offset `from` in the region, at `offset`. */
static int add_rows(const struct unwind_rows *region, uint64_t from, uint64_t size_bytes,
		    uint64_t offset, struct unwind_rows *ret)
{
	struct unwind_row row = unwind_rows_at(region, (uint32_t)from);
	int err = unwind_rows_add(ret, (uint32_t)offset, row.cfa, row.rbp);
	size_t i = unwind_rows_behind(region, (uint32_t)from);

	for (; !err && i < region->rows.size; i++) {
		const struct unwind_wide_row *wide = &region->rows.data[i];

		if (wide->offset - from >= size_bytes)
			break;
		err = unwind_rows_add(ret, (uint32_t)(offset + wide->offset - from), wide->cfa,
				      wide->rbp);
	}
	return err;
}

static int add_region(const struct unwind_regions *regions, const struct code_site *site,
		      uint64_t size_bytes, uint64_t offset, struct unwind_rows *ret)
{
	const struct unwind_region *region =
		unwind_regions_find(regions, code_region_identity(site->region));

	if (!region)
		return add_command(ret, offset, UNWIND_NOT_MADE);
	if (region->state == UNWIND_REGION_UNREAD || site->offset > UINT32_MAX - size_bytes)
		return add_command(ret, offset, UNWIND_FRAME_POINTER);
	if (region->state != UNWIND_REGION_KNOWN)
		return add_command(ret, offset, UNWIND_NOT_MADE);
	return add_rows(&region->rows, site->offset, size_bytes, offset, ret);
}

/*
 * Frames return to the start of such code without a call before it, so a caller is looked up at the
 * byte before.
 */
static int add_before(const struct code_site *site, uint64_t offset, struct unwind_rows *ret)
{
	return offset && code_site_is_returned_to(site)
		       ? add_command(ret, offset - 1, UNWIND_FROZEN)
		       : 0;
}

int code_page_rows(const struct unwind_regions *regions, const struct process *process,
		   uint64_t start, bool finds_code, uint32_t *budget, struct unwind_rows *ret)
{
	uint64_t at = start, end, page_end = start + UNWIND_PAGE_BYTES;
	bool may_come = finds_code || process_code_is_late(process);
	int err = 0;

	for (; !err && at < page_end && *budget; --*budget, at = end) {
		struct code_site site = code_site_now(process, at, &end);

		if (end > page_end)
			end = page_end;
		err = add_before(&site, at - start, ret);
		if (err)
			break;
		if (site.kind == LOCATION_JIT)
			err = add_region(regions, &site, end - at, at - start, ret);
		else
			err = add_command(ret, at - start,
					  site.kind == LOCATION_ANON && !may_come
						  ? UNWIND_FRAME_POINTER
						  : UNWIND_NOT_MADE);
	}
	if (!err && at < page_end) {
		err = add_command(ret, at - start, UNWIND_NOT_MADE);
	} else if (!err) {
		struct code_site next = code_site_now(process, page_end, &end);

		err = add_before(&next, UNWIND_PAGE_BYTES, ret);
	}
	return err;
}
