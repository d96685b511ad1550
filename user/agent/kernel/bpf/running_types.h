/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The types of the running kernel that the BPF programs name. */
#ifndef JITBPF_AGENT_KERNEL_BPF_RUNNING_TYPES_H
#define JITBPF_AGENT_KERNEL_BPF_RUNNING_TYPES_H

#include "agent/kernel/bpf/kernel_types.h"

/*
 * kernel_types_reduce() for the running kernel and overlayfs, which may be a module. Returns a
 * descriptor of a memfd, or a negative errno.
 */
int running_types_open(const struct kernel_types_wanted *wanted, uint32_t *ret_function);

#endif
