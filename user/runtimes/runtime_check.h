/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The check word of a function object, as a BPF program computes it at a sample. */
#ifndef JITBPF_RUNTIMES_RUNTIME_CHECK_H
#define JITBPF_RUNTIMES_RUNTIME_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "runtimes/process_memory.h"
#include "uapi/runtime_recipe.h"

/*
 * Set *ret to the check of the object; its lowest bit is 0. Returns 0, -EFAULT (a word cannot be
 * read), -EINVAL (the check has too many words) or an error that ends the reading.
 */
int runtime_check_read(const struct process_memory *memory, const struct runtime_check *check,
		       uint64_t object, bool is_native, uint64_t *ret);

/*
 * Fold the words of a function's owner into *check. An owner 0 changes nothing. Returns 0, -EFAULT,
 * -EINVAL (it has too many words) or an error that ends the reading.
 */
int runtime_check_add_owner(const struct process_memory *memory, const struct runtime_owner *owner,
			    uint64_t address, uint64_t *check);

/*
 * Read the name of a file, and set *ret_check to its check (struct runtime_sections). Returns 0,
 * -EFAULT, -EBADMSG (the text is too long) or an error that ends the reading.
 */
int runtime_check_text(const struct process_memory *memory, const struct runtime_sections *sections,
		       uint64_t address, char ret[RUNTIME_OBJECT_BYTES_MAX], uint64_t *ret_check);

#endif
