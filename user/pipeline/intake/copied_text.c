/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs that copy their own text to anonymous memory at the same addresses, to have large pages.
 * Where the process had a file at the addresses of new anonymous memory, and the bytes are equal,
 * the finished mapping is of that file. The last event of such a copy, a change of protection,
 * comes when the copy is complete.
 */
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "pipeline/intake/intake_state.h"
#include "state/process/replaced_file.h"

#define EXECUTABLE 4u /* PROT_EXEC */

/* Make a record of a file's mapping, at the memory of `from`. Returns NULL without memory. */
static struct jitbpf_mapping *mapping_of_file(const struct jitbpf_mapping *from,
					      const struct mapping *mapping,
					      const struct module *module)
{
	size_t path_bytes = strlen(module->path) + 1;
	struct jitbpf_mapping *ret = malloc(sizeof(*ret) + path_bytes);

	if (!ret)
		return NULL;
	*ret = *from;
	ret->h.size_bytes = (uint32_t)(sizeof(*ret) + path_bytes);
	ret->file_offset = from->address - mapping->address + mapping->file_offset;
	ret->inode = module->inode;
	ret->inode_generation = module->inode_generation;
	ret->dev_major = module->dev_major;
	ret->dev_minor = module->dev_minor;
	ret->build_id_bytes = module->build_id_bytes;
	memcpy(ret->build_id, module->build_id, sizeof(ret->build_id));
	memcpy(ret->path, module->path, path_bytes);
	return ret;
}

/*
 * Emit the beginning of new anonymous memory, up to where its file changes. *from is the record of
 * the rest, and becomes that of what is left.
 */
static int take_piece(struct intake *intake, struct jitbpf_mapping *from)
{
	const struct process *process =
		process_table_find(intake->processes, from->pid, from->start_ns, from->h.time_ns);
	uint64_t left = from->size_bytes, address = from->address;
	AUTO_FREE struct jitbpf_mapping *text = NULL;
	const struct module *module;
	struct space_entry file;
	int err;

	if (process && replaced_file_find(process, address, from->h.time_ns, &file)) {
		const struct mapping *mapping = (const struct mapping *)file.value;

		module = module_table_get(intake->modules, mapping->module);
		if (file.end - address < from->size_bytes)
			from->size_bytes = file.end - address;
		if (module && module->inode) {
			text = mapping_of_file(from, mapping, module);
			if (!text)
				return -ENOMEM;
		}
	}
	if (text && intake->texts.equals(intake->texts.context, text))
		err = intake_emit(intake, &text->h);
	else
		err = intake_emit(intake, &from->h);
	from->address = address + from->size_bytes;
	from->size_bytes = left - from->size_bytes;
	return err;
}

static bool may_be_copy(const struct jitbpf_mapping *mapping)
{
	return mapping->protection & EXECUTABLE &&
	       (mapping->inode ? begins_with(mapping->path, HUGE_MEMORY_PATH)
			       : !strcmp(mapping->path, "//anon"));
}

int intake_take_mapping(struct intake *intake, const struct jitbpf_mapping *mapping)
{
	AUTO_FREE struct jitbpf_mapping *left = NULL;
	int err = 0;

	if (!intake->texts.equals || !may_be_copy(mapping))
		return intake_emit(intake, &mapping->h);
	left = malloc(mapping->h.size_bytes);
	if (!left)
		return -ENOMEM;
	memcpy(left, mapping, mapping->h.size_bytes);
	do {
		err = take_piece(intake, left);
	} while (!err && left->size_bytes);
	return err;
}
