/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file of anonymous executable memory between mappings of a program or library: by the file's
 * program headers, its text belongs there. The memory is that text if the bytes are equal. Event
 * loop only.
 */
#ifndef JITBPF_AGENT_KERNEL_PROC_SURROUNDING_FILE_H
#define JITBPF_AGENT_KERNEL_PROC_SURROUNDING_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/files/file_store.h"
#include "agent/kernel/proc/mapping_record.h"
#include "decode/elf/elf_file.h"
#include "decode/text/proc_maps.h"

/* Returns true for memory without a file that a process may run, also of explicit huge pages. */
bool surrounding_file_may_be(const struct proc_map *map);

/*
 * Find the part of the memory [start, end) in which a file has its text, if the file is mapped at
 * near_address from near_offset on. Sets the start and size of the part, and its file offset.
 * Returns false if there is none.
 */
bool surrounding_file_text(const struct elf_file *elf, uint64_t near_address, uint64_t near_offset,
			   uint64_t start, uint64_t end, struct jitbpf_mapping *ret);

/*
 * Compare the memory of a record without a file with the file of a mapping near it. Returns 1 with
 * *ret set to a record like that one, but of the file, for the part that is text of the file;
 * 0 if there is none, or -ETIMEDOUT if the file did not answer in time. See also
 * copied_text_take().
 */
int surrounding_file_find(struct file_store *files, const struct jitbpf_mapping *anonymous,
			  const struct proc_map *near, struct mapping_record *ret);

#endif
