/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/walked_stack.h"

#include "decode/record/sample_parts.h"

/* A file that is identified late gets another module; the file is the same. */
static bool is_same_file(const struct mapping *x, const struct mapping *y)
{
	const struct module *a, *b;

	if (x->module == y->module)
		return true;
	if (x->module == MAPPING_ANON || y->module == MAPPING_ANON)
		return false;
	a = module_table_get(x->modules, x->module);
	b = module_table_get(y->modules, y->module);
	return a && b && a->inode && a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && (!a->inode_generation || !b->inode_generation);
}

static bool is_same(const struct space_entry *a, const struct space_entry *b)
{
	const struct mapping *x = (const struct mapping *)a->value;
	const struct mapping *y = (const struct mapping *)b->value;

	return x == y || (is_same_file(x, y) && x->shared == y->shared &&
			  (x->module == MAPPING_ANON ||
			   x->address - x->file_offset == y->address - y->file_offset));
}

/*
 * Returns true if the mapping at an address at time_ns was the same at known_ns. A change of
 * protection is reported as a new mapping of the same file and offset, which counts as the same
 * mapping.
 */
static bool was_there(const struct process *process, uint64_t address, uint64_t time_ns,
		      uint64_t known_ns)
{
	struct space_entry is, was;

	if (!space_map_find(process->mappings, address, time_ns, &is))
		return false;
	return is.from_ns <= known_ns ||
	       (space_map_find(process->mappings, address, known_ns, &was) && is_same(&is, &was));
}

uint32_t walked_stack_sound(const struct process *process, const struct jitbpf_sample *sample)
{
	const struct frame_words user = sample_user_frames(sample);
	uint64_t time_ns = sample->h.time_ns, known_ns = time_ns - sample->mappings_age_ns;

	if (!sample->mappings_age_ns || !process->mappings || process->mapped_ns <= known_ns)
		return user.count;
	/* The last frame's rules were not used to find a caller. */
	for (uint32_t i = 0; i + 1 < user.count; i++) {
		if (!was_there(process, user.words[i] - !!i, time_ns, known_ns))
			return i + 1;
	}
	return user.count;
}
