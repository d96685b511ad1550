/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/debug/debug_names.h"

#include <string.h>

#include "base/path.h"
#include "decode/dwarf/dwarf_constants.h"
#include "symbolize/debug/debug_unit.h"

#define REFERENCES_MAX 16 /* references from a DIE to the DIE with its name */
#define DEPTH_MAX      16 /* scopes around a DIE; if there are more, the innermost ones are used */

struct place {
	struct debug_units *units;
	struct debug_unit *unit;
	uint64_t offset;
};

static int die_read(const struct place *at, struct dwarf_die *ret)
{
	return dwarf_die_at(at->unit->file, &at->unit->header, &at->unit->abbrevs, at->offset, ret);
}

/*
 * Follow the reference from a DIE to its abstract origin or specification.
 * Returns 0, -ENOENT (no reference), or debug_units_at()'s error; on failure
 * *at is unchanged.
 */
static int follow(struct place *at, const struct dwarf_die *die)
{
	struct dwarf_value next = die->values[DWARF_SLOT_ABSTRACT_ORIGIN];
	struct place to = *at;
	int err = 0;

	if (!next.class)
		next = die->values[DWARF_SLOT_SPECIFICATION];
	if (next.class == DWARF_ALT_REFERENCE)
		to.units = at->units->alternate;
	else if (next.class != DWARF_REFERENCE)
		return -ENOENT;
	to.offset = next.u;
	/* References in a split unit must stay inside the unit. */
	if (!to.units ||
	    (to.units == at->units && at->unit->file != at->unit->skeleton_file &&
	     next.u - at->unit->header.offset >= at->unit->header.end - at->unit->header.offset))
		return -ENOENT;
	if (to.units != at->units || next.u < at->unit->header.offset ||
	    next.u >= at->unit->header.end)
		err = debug_units_at(to.units, next.u, &to.unit);
	if (!err)
		*at = to;
	return err;
}

static int append(struct dwarf_path *to, const char *s, size_t size_bytes)
{
	if (!size_bytes)
		return 0;
	if (vec_reserve(&to->text, to->text.size + size_bytes))
		return -ENOMEM;
	memcpy(to->text.data + to->text.size, s, size_bytes);
	to->text.size += size_bytes;
	return 0;
}

static int append_value(const struct place *at, struct dwarf_value value, struct dwarf_path *to)
{
	const char *s;
	int err = dwarf_string(at->unit->file, &at->unit->header, value, &s);

	return err ?: append(to, s, strlen(s));
}

/*
 * Append the first name on the chain of references from a DIE to its
 * declaration, without a NUL, or nothing if there is none. linked: prefer a
 * linkage name. *at is then the declaration.
 */
static int name_on_the_way(struct place *at, bool linked, struct dwarf_path *to, bool *ret_linked)
{
	size_t begin = to->text.size;
	struct dwarf_die die;
	int err = 0;

	*ret_linked = false;
	for (unsigned i = 0; i < REFERENCES_MAX && !err; i++) {
		size_t named = to->text.size;

		err = die_read(at, &die);
		if (err)
			break;
		if (linked && die.values[DWARF_SLOT_LINKAGE_NAME].class) {
			to->text.size = begin;
			err = append_value(at, die.values[DWARF_SLOT_LINKAGE_NAME], to);
			*ret_linked = !err;
			if (*ret_linked || err == -ENOMEM)
				break;
			to->text.size = named;
		}
		if (to->text.size == begin)
			err = append_value(at, die.values[DWARF_SLOT_NAME], to);
		if (err == -ENOMEM)
			break;
		err = follow(at, &die);
	}
	if (err == -ENOMEM)
		to->text.size = begin;
	return err == -ENOMEM ? err : 0;
}

/* Returns true if the language has named scopes; searching them reads the whole unit. */
static bool has_scopes(const struct dwarf_unit *unit)
{
	switch (unit->language) {
	case DWARF_LANG_C89:
	case DWARF_LANG_C:
	case DWARF_LANG_C99:
	case DWARF_LANG_C11:
	case DWARF_LANG_C17:
	case DWARF_LANG_MIPS_ASSEMBLER:
		return false;
	default:
		return true;
	}
}

struct scope_place {
	struct place at;
	uint16_t tag;
};

/* Collect the scopes around a declaration, innermost first. */
static int scopes_gather(struct place at, struct scope_place scopes[DEPTH_MAX], uint32_t *ret_count)
{
	struct dwarf_path ignored = {0};
	uint32_t count = 0;
	int err = 0;

	while (count < DEPTH_MAX && !err && has_scopes(&at.unit->header)) {
		struct debug_enclosure around;
		bool linked;

		err = debug_scopes_find(&at.unit->scopes, at.unit->file, &at.unit->header,
					&at.unit->abbrevs, at.offset, &around);
		if (err)
			break;
		at.offset = around.die;
		scopes[count++] = (struct scope_place){at, around.tag};
		/* The scope may be declared elsewhere, inside further scopes. */
		err = name_on_the_way(&at, false, &ignored, &linked);
		ignored.text.size = 0;
	}
	vec_deinit(&ignored.text);
	*ret_count = count;
	return err == -ENOMEM ? err : 0;
}

/*
 * Returns the name to show for a scope without a name. callable: the function directly inside is
 * "operator()".
 */
static const char *name_of_nameless(uint16_t tag, bool callable)
{
	if (callable && tag != DWARF_TAG_NAMESPACE)
		return "{lambda}";
	switch (tag) {
	case DWARF_TAG_NAMESPACE:
		return "(anonymous namespace)";
	case DWARF_TAG_CLASS_TYPE:
		return "(anonymous class)";
	case DWARF_TAG_STRUCTURE_TYPE:
		return "(anonymous struct)";
	case DWARF_TAG_UNION_TYPE:
		return "(anonymous union)";
	default:
		return "(anonymous)";
	}
}

static int append_scopes(struct place declaration, bool callable, struct dwarf_path *to)
{
	struct scope_place scopes[DEPTH_MAX];
	uint32_t count;
	int err = scopes_gather(declaration, scopes, &count);

	while (!err && count--) {
		const char *nameless = name_of_nameless(scopes[count].tag, callable && !count);
		size_t begin = to->text.size;
		bool linked;

		err = name_on_the_way(&scopes[count].at, false, to, &linked);
		if (!err && to->text.size == begin)
			err = append(to, nameless, strlen(nameless));
		err = err ?: append(to, "::", 2);
	}
	return err;
}

int debug_name_find(struct debug_units *units, struct debug_unit *unit, uint64_t offset,
		    struct dwarf_path *to)
{
	struct place at = {units, unit, offset}, declaration;
	size_t begin = to->text.size;
	bool linked, callable;
	int err;

	err = name_on_the_way(&at, true, to, &linked);
	if (err || to->text.size == begin)
		return err;
	if (!linked && has_scopes(&at.unit->header)) {
		callable = to->text.size - begin >= 10 &&
			   !memcmp(to->text.data + begin, "operator()", 10);
		to->text.size = begin;
		declaration = at;
		at = (struct place){units, unit, offset};
		err = append_scopes(declaration, callable, to);
		err = err ?: name_on_the_way(&at, false, to, &linked);
	}
	err = err ?: append(to, "", 1);
	if (err)
		to->text.size = begin;
	return err;
}

/* Find the last DIE with a file on the chain of references, unless a DIE of it is external. */
static int find_declaration(struct place at, struct place *ret_place, uint64_t *ret_file)
{
	struct place place = {.unit = NULL};
	struct dwarf_die die;
	int err = 0;

	for (unsigned i = 0; i < REFERENCES_MAX && !err; i++) {
		err = die_read(&at, &die);
		if (err)
			break;
		if (die.values[DWARF_SLOT_EXTERNAL].class == DWARF_NUMBER &&
		    die.values[DWARF_SLOT_EXTERNAL].u)
			return 0;
		if (die.values[DWARF_SLOT_DECL_FILE].class == DWARF_NUMBER) {
			place = at;
			*ret_file = die.values[DWARF_SLOT_DECL_FILE].u;
		}
		err = follow(&at, &die);
	}
	*ret_place = place;
	return err == -ENOMEM ? err : 0;
}

int debug_decl_file_find(struct debug_units *units, struct debug_unit *unit, uint64_t offset,
			 struct dwarf_path *to)
{
	struct place declaration = {.unit = NULL};
	size_t begin = to->text.size;
	uint64_t file = 0;
	int err;

	err = find_declaration((struct place){units, unit, offset}, &declaration, &file);
	if (err || !declaration.unit)
		return err;
	err = debug_unit_read_lines(declaration.unit);
	err = err
		      ?: dwarf_lines_path(declaration.unit->skeleton_file,
					  &declaration.unit->skeleton, &declaration.unit->lines,
					  file, to);
	if (!err)
		to->text.size = begin + path_normalize(to->text.data + begin) + 1;
	return err == -ENOMEM ? err : 0;
}
