/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's description of its types (BTF), reduced to those that the BPF programs name.
 * libbpf scans all of the kernel's types, about 100,000, for each type that a program names; the
 * reduction takes one scan, which also finds the hook of the BPF iterators.
 */
#ifndef JITBPF_AGENT_KERNEL_BPF_KERNEL_TYPES_H
#define JITBPF_AGENT_KERNEL_BPF_KERNEL_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

typedef VEC(uint8_t) kernel_types_bytes;

/* The kernel's structs, and the function (NULL: none), that the BPF programs need. */
struct kernel_types_wanted {
	const char *const *structs;
	size_t count;
	const char *function;
};

/*
 * Add to *ret the BTF of the structs, and of what they hold; what they point to is void.
 * *ret_function: the function's number among the kernel's types, 0: it is not there. Returns 0,
 * -EBADMSG (also: of a later version), or -ENOMEM; the outputs are unchanged then.
 */
int kernel_types_reduce(const void *btf, size_t size_bytes,
			const struct kernel_types_wanted *wanted, kernel_types_bytes *ret,
			uint32_t *ret_function);

/*
 * Add to *ret the kernel's BTF with that of a module, which continues it: numbers of types and
 * offsets of strings go on. Returns 0, -EBADMSG, or -ENOMEM; *ret is unchanged then.
 */
int kernel_types_join(const void *kernel, size_t kernel_bytes, const void *module,
		      size_t module_bytes, kernel_types_bytes *ret);

#endif
