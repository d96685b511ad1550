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

/* The same with the running kernel's BTF. Returns a descriptor of a memfd, or a negative errno. */
int kernel_types_open(const char *const *names, size_t count);

#endif
