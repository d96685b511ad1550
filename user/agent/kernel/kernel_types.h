/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's description of its types (BTF), reduced to those that the BPF programs name.
 * libbpf scans all of the kernel's types, about 100,000, for each type that a program names; the
 * reduction takes one scan.
 */
#ifndef JITBPF_AGENT_KERNEL_KERNEL_TYPES_H
#define JITBPF_AGENT_KERNEL_KERNEL_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

typedef VEC(uint8_t) kernel_types_bytes;

/*
 * Add to *ret the BTF of the structs with one of `names`, and of what they hold; what they point
 * to is void. Returns 0, -EBADMSG (also: of a later version), or -ENOMEM; *ret is unchanged then.
 */
int kernel_types_reduce(const void *btf, size_t size_bytes, const char *const *names, size_t count,
			kernel_types_bytes *ret);

/*
 * Add a module's BTF, which continues that of the kernel: numbers of types and offsets of strings
 * go on. Returns 0, -EBADMSG, or -ENOMEM; *btf is unchanged then.
 */
int kernel_types_join(kernel_types_bytes *btf, const void *module, size_t size_bytes);

/*
 * The same with the BTF of the running kernel and of overlayfs, which may be a module. Returns a
 * descriptor of a memfd, or a negative errno.
 */
int kernel_types_open(const char *const *names, size_t count);

#endif
