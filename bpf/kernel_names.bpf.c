/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks the kernel for the name of an address. User space writes the address,
 * runs the program and reads the answer, all in memory that it has mapped: one
 * question at a time.
 */
#include "bpf/kernel_types.h"

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A symbol has up to 511 bytes, a module's name 55; two numbers and their marks. */
#define KERNEL_NAME_BYTES 1024

__u64 kernel_name_address = 0;
char kernel_name[KERNEL_NAME_BYTES] = {};

/* Returns how long the answer is with its NUL, also where it had to be cut; or negative errno. */
SEC("syscall")
int name_kernel_address(void *context)
{
	static const char format[] = "%pS";
	__u64 address = kernel_name_address;

	return (int)bpf_snprintf(kernel_name, sizeof(kernel_name), format, &address,
				 sizeof(address));
}
