/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/dwarf/dwarf_split.h"

#include "decode/dwarf/dwarf_constants.h"
#include "decode/dwarf/dwarf_data.h"

#define UNITS_MAX    4096 /* limit of a .dwo file; most of its units are type units */
#define COLUMNS_MAX  16
#define PROBES_MAX   4096
#define HEADER_BYTES 16

/* Offsets of one unit's contributions to the package's sections. All 0 for a .dwo file. */
struct parts {
	uint64_t info, abbrev, str_offsets, rnglists;
};

struct package {
	struct section_reader *index;
	uint32_t version, columns, units, slots;
};

static int package_read(struct section_reader *index, struct package *ret)
{
	uint64_t version, columns, units, slots;
	struct cursor c;
	int err = section_view(index, 0, HEADER_BYTES, &c);

	/*
	 * GNU's version 2 is a 4-byte field; DWARF 5 has 2 bytes and padding,
	 * which read the same.
	 */
	err = err ?: dwarf_read_uint(&c, 4, &version);
	err = err ?: dwarf_read_uint(&c, 4, &columns);
	err = err ?: dwarf_read_uint(&c, 4, &units);
	err = err ?: dwarf_read_uint(&c, 4, &slots);
	if (err)
		return err;
	if ((version != 2 && version != 5) || columns > COLUMNS_MAX || !slots ||
	    slots & (slots - 1))
		return -EBADMSG;
	*ret = (struct package){index, version, columns, units, slots};
	return 0;
}

static int package_uint(const struct package *package, uint64_t offset, size_t size_bytes,
			uint64_t *ret)
{
	struct cursor c;
	int err = section_view(package->index, offset, size_bytes, &c);

	return err ?: dwarf_read_uint(&c, size_bytes, ret);
}

/* Look up an id in the hash table: an array of ids, then one of row numbers counted from 1. */
static int package_row(const struct package *package, uint64_t id, uint64_t *ret)
{
	uint32_t mask = package->slots - 1, slot = id & mask, step = (id >> 32 & mask) | 1;

	for (uint32_t i = 0; i < package->slots && i < PROBES_MAX;
	     i++, slot = (slot + step) & mask) {
		uint64_t found, row;
		int err = package_uint(package, HEADER_BYTES + 8ull * slot, 8, &found);

		err = err
			      ?: package_uint(package,
					      HEADER_BYTES + 8ull * package->slots + 4ull * slot, 4,
					      &row);
		if (err)
			return err;
		if (!row)
			return -ENOENT;
		if (found == id) {
			*ret = row - 1;
			return row <= package->units ? 0 : -EBADMSG;
		}
	}
	return -ENOENT;
}

static int package_parts(const struct package *package, uint64_t row, struct parts *ret)
{
	/* The first row names the section of each column; a row of offsets per unit follows. */
	uint64_t columns = HEADER_BYTES + 12ull * package->slots;
	uint64_t offsets = columns + 4ull * package->columns * (row + 1);
	struct parts parts = {0};

	for (uint32_t i = 0; i < package->columns; i++) {
		uint64_t section, offset;
		int err = package_uint(package, columns + 4ull * i, 4, &section);

		err = err ?: package_uint(package, offsets + 4ull * i, 4, &offset);
		if (err)
			return err;
		if (section == DWARF_SECT_INFO)
			parts.info = offset;
		else if (section == DWARF_SECT_ABBREV)
			parts.abbrev = offset;
		else if (section == DWARF_SECT_STR_OFFSETS)
			parts.str_offsets = offset;
		else if (section == DWARF_SECT_RNGLISTS && package->version == 5)
			parts.rnglists = offset;
	}
	*ret = parts;
	return 0;
}

/* Read the unit at parts->info, and add the attributes that only the skeleton has. */
static int unit_read(struct dwarf_file *file, const struct dwarf_unit *skeleton,
		     const struct parts *parts, struct dwarf_unit *ret)
{
	int err = dwarf_unit_read(file, parts->info, ret);

	if (err)
		return err;
	ret->abbrev_offset += parts->abbrev;
	ret->addr_base = skeleton->addr_base;
	ret->base_address = skeleton->base_address;
	ret->rnglists_base += parts->rnglists;
	/* GNU's string offsets have no header, and its range lists are in the skeleton's file. */
	if (ret->version >= 5) {
		ret->str_offsets_base += parts->str_offsets;
		ret->ranges_base = parts->rnglists;
	} else {
		ret->str_offsets_base = parts->str_offsets;
		ret->ranges_base = skeleton->split_ranges_base;
	}
	return ret->type == DWARF_UNIT_SPLIT_TYPE ? 0 : dwarf_unit_root(file, ret);
}

static bool is_pair(const struct dwarf_unit *skeleton, const struct dwarf_unit *unit)
{
	return unit->type != DWARF_UNIT_SPLIT_TYPE && unit->dwo_id == skeleton->dwo_id;
}

/* Search a .dwo file, which has no index, unit by unit. */
static int find_among(struct dwarf_file *file, const struct dwarf_unit *skeleton,
		      struct dwarf_unit *ret)
{
	uint64_t size_bytes = file->sections[DWARF_INFO].size_bytes;
	struct dwarf_unit unit = {0};
	struct parts parts = {0};

	for (unsigned i = 0; i < UNITS_MAX && parts.info < size_bytes; i++, parts.info = unit.end) {
		int err = unit_read(file, skeleton, &parts, &unit);

		if (err)
			return err;
		if (is_pair(skeleton, &unit)) {
			*ret = unit;
			return 0;
		}
	}
	return -ENOENT;
}

int dwarf_split_find(struct dwarf_file *file, const struct dwarf_unit *skeleton,
		     struct dwarf_unit *ret)
{
	struct section_reader *index = &file->sections[DWARF_CU_INDEX];
	struct package package;
	struct dwarf_unit unit;
	struct parts parts;
	uint64_t row;
	int err;

	if (!index->size_bytes)
		return find_among(file, skeleton, ret);
	err = package_read(index, &package);
	err = err ?: package_row(&package, skeleton->dwo_id, &row);
	err = err ?: package_parts(&package, row, &parts);
	err = err ?: unit_read(file, skeleton, &parts, &unit);
	if (err)
		return err;
	if (!is_pair(skeleton, &unit))
		return -ENOENT;
	*ret = unit;
	return 0;
}
